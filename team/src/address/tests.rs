//! Tests of addresses.

use tokio_postgres::config::Host;

use super::{Address, AddressError, Protection};

fn protections(url: &str) -> Vec<Protection> {
    Address::parse(url).unwrap().hosts().iter().map(|target| target.protection).collect()
}

#[test]
fn a_url_with_a_password_is_refused_and_not_repeated() {
    for url in [
        "postgres://user:hunter2@db.example/x",
        "postgres://user:hun/ter2@db.example/x",
        "postgres://user:hun?ter2@db.example/x",
        "postgres://user:@db.example/x",
        "postgresql://user:hunter2@/x?host=db.example",
        "postgres://db.example/x?user=u&password=hunter2",
        "postgres://db.example/x?pass%77ord=hunter2",
        "postgres://db.example/x?passfile=hunter2",
    ] {
        let refused = Address::parse(url).unwrap_err();
        assert!(!format!("{refused}{refused:?}").contains("unter2"), "{url}: {refused}");
        let is_named = matches!(refused, AddressError::Password | AddressError::Form(_));
        assert!(is_named, "{url}: {refused:?}");
    }
    let refused = Address::parse("postgres://u:p@h/d").unwrap_err();
    assert_eq!(refused, AddressError::Password);
    assert!(refused.to_string().contains("password file or command"));
}

#[test]
fn certificates_are_verified_outside_this_machine() {
    for mode in ["", "?sslmode=prefer", "?sslmode=require", "?sslmode=verify-full"] {
        let url = format!("postgres://u@db.example/x{mode}");
        assert_eq!(protections(&url), [Protection::Verified], "{url}");
        let url = format!("postgres://u@10.0.0.1,[2001:db8::1]:5433/x{mode}");
        assert_eq!(protections(&url), [Protection::Verified; 2], "{url}");
    }
    for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"] {
        let url = |mode: &str| format!("postgres://u@{host}:5433/x{mode}");
        assert_eq!(protections(&url("")), [Protection::Preferred]);
        assert_eq!(protections(&url("?sslmode=require")), [Protection::Verified]);
        assert_eq!(protections(&url("?sslmode=disable")), [Protection::Plain]);
    }
    let socket = "postgres://u@%2Frun%2Fpostgresql/x?sslmode=verify-full";
    assert_eq!(protections(socket), [Protection::Plain]);
    for url in [
        "postgres://u@db.example/x?sslmode=disable",
        "postgres://u@localhost,db.example/x?sslmode=disable",
        "postgres://u@localhost.example/x?sslmode=disable",
    ] {
        assert_eq!(Address::parse(url).unwrap_err(), AddressError::Plain, "{url}");
    }
    // The last one counts, as for the client. No spelling gets around the check.
    for url in [
        "postgres://u@db.example/x?sslmode=require&sslmode=disable",
        "postgres://u@db.example/x?ssl%6dode=disable",
        "postgres://u@localhost/x?hostaddr=10.0.0.1&sslmode=disable",
        "postgres://u@localhost/x?sslmode=disable&host=db.example",
        "postgres://u@localhost/x?sslmode=allow",
        "postgres://u@localhost/x?sslmode=",
    ] {
        let parsed = Address::parse(url);
        let is_safe = parsed.as_ref().map_or(true, |address| {
            address.hosts().iter().all(|target| target.protection == Protection::Verified)
        });
        assert!(is_safe, "{url}: {parsed:?}");
    }
}

#[test]
fn the_parts_of_an_address_reach_the_client() {
    let url = "postgres://us%65r@one:5433,two/base?application_name=x&sslrootcert=%2Fa%20b.pem";
    let address = Address::parse(url).unwrap();
    let [one, two] = address.hosts() else { panic!("{:?}", address.hosts()) };
    assert_eq!((&one.host, one.port), (&Host::Tcp("one".to_owned()), 5433));
    assert_eq!((&two.host, two.port), (&Host::Tcp("two".to_owned()), 5432));
    let config = address.config(two);
    assert_eq!(config.get_user(), Some("user"));
    assert_eq!(config.get_dbname(), Some("base"));
    assert_eq!(config.get_application_name(), Some("x"));
    assert_eq!(config.get_hosts(), [Host::Tcp("two".to_owned())]);
    assert_eq!(address.root_certificates().unwrap().to_str(), Some("/a b.pem"));
    assert_eq!(address.to_string(), url);
    assert_eq!(address.without_secrets(), url);
}

#[test]
fn other_forms_are_refused() {
    for url in [
        "",
        "host=localhost user=u",
        "mysql://u@localhost/x",
        "postgres:///x",
        "postgres://u@localhost:port/x",
        "postgres://u@localhost/x?sslrootcert=%zz",
        "postgres://u@localhost/x?unknown=1",
    ] {
        assert!(matches!(Address::parse(url), Err(AddressError::Form(_))), "{url}");
    }
}
