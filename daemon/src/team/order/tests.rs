//! Variables, and the order that they give.

use std::collections::BTreeMap;

use super::*;

const URL: (&str, &str) = (URL_VARIABLE, "postgres://agents@db/anchord");
const PROJECT: (&str, &str) = (PROJECT_VARIABLE, "api");

fn order(variables: &[(&str, &str)]) -> Result<Option<TeamOrder>, String> {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let value = |name: &str| variables.get(name).map(|value| (*value).to_owned());
    TeamOrder::of_environment(value, Path::new("/work"))
}

#[test]
fn an_order_has_a_database_and_a_project_there() {
    let least = order(&[URL, PROJECT]).unwrap().unwrap();
    assert_eq!((least.project.as_str(), least.create), ("/work", false));
    assert_eq!((least.place.url.as_str(), least.place.name.as_deref()), (URL.1, Some("api")));
    assert_eq!(least.place.secret, Secret::None);

    let file = (PASSWORD_FILE_VARIABLE, "/run/secrets/password");
    let more = [URL, PROJECT, file, (CREATE_VARIABLE, "1"), (DIRECTORY_VARIABLE, "/src")];
    let more = order(&more).unwrap().unwrap();
    assert_eq!((more.project.as_str(), more.create), ("/src", true));
    assert_eq!(more.place.secret, Secret::File(file.1.into()));
}

#[test]
fn without_a_database_there_is_no_order() {
    assert!(order(&[]).unwrap().is_none());
    assert!(order(&[(DIRECTORY_VARIABLE, "/src")]).unwrap().is_none());
    // Compose and Kubernetes set variables to nothing.
    assert!(order(&[(URL_VARIABLE, ""), (CREATE_VARIABLE, "")]).unwrap().is_none());
}

#[test]
fn an_incomplete_order_is_an_error_that_names_the_variable() {
    for (variables, named) in [
        (&[PROJECT][..], URL_VARIABLE),
        (&[URL], PROJECT_VARIABLE),
        (&[URL, PROJECT, (CREATE_VARIABLE, "yes")], CREATE_VARIABLE),
        (&[URL, PROJECT, (PASSWORD_FILE_VARIABLE, "password")], PASSWORD_FILE_VARIABLE),
    ] {
        let error = order(variables).unwrap_err();
        assert!(error.contains(named), "{error}");
    }
}
