//! Opening a database without a server.

use super::*;

#[test]
fn opening_needs_neither_a_server_nor_a_runtime() {
    let address = Address::parse("postgres://ada@127.0.0.1:1/shop").unwrap();
    let database = Database::open(address, Secret::None).unwrap();
    assert_eq!(database.dialer.timeouts.query, QUERY_TIME_MAX);
}
