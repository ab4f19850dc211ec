//! Tests of the SQL for administrators. `tests/it/schema.rs` runs it.

use uuid::Uuid;

use super::{Role, block, invite_sql, remove_sql};

#[test]
fn the_sql_is_readable_and_has_no_password() {
    let sql = invite_sql(Uuid::nil(), "alpha", "carol", "Carol O'Neil", Role::Maintainer);
    assert_eq!(
        sql,
        "-- Invites \"carol\" to the project alpha as a maintainer.\n\
         -- Afterwards, in psql: \\password \"carol\"\n\
         BEGIN;\n\
         DO $$\n\
         BEGIN\n\
         \x20   IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'carol') THEN\n\
         \x20       CREATE ROLE \"carol\" LOGIN;\n\
         \x20   END IF;\n\
         END\n\
         $$;\n\
         GRANT anchord_member TO \"carol\";\n\
         INSERT INTO anchord.members (project, role_name, name, role)\n\
         VALUES ('00000000-0000-0000-0000-000000000000', 'carol', 'Carol O''Neil', 'maintainer')\n\
         ON CONFLICT (project, role_name)\n\
         DO UPDATE SET name = EXCLUDED.name, role = EXCLUDED.role;\n\
         COMMIT;\n"
    );
    let sql = remove_sql(Uuid::nil(), "alpha", "carol");
    assert!(sql.contains("REVOKE anchord_member FROM \"carol\""), "{sql}");
    assert!(sql.contains("AND EXISTS (SELECT FROM pg_catalog.pg_roles"), "the role may be gone");
}

#[test]
fn the_sql_that_takes_the_right_to_maintain_checks_for_another_maintainer() {
    let invite = |role| invite_sql(Uuid::nil(), "alpha", "carol", "Carol", role);
    let guard = "RAISE EXCEPTION 'the only maintainer stays";
    assert!(!invite(Role::Maintainer).contains(guard));
    for sql in
        [invite(Role::Writer), invite(Role::Reader), remove_sql(Uuid::nil(), "alpha", "carol")]
    {
        assert!(sql.contains(guard), "{sql}");
    }
}

#[test]
fn a_comment_ends_where_it_should() {
    let sql = invite_sql(Uuid::nil(), "a\nDROP", "r\r\nDROP", "n\nDROP", Role::Reader);
    let first = sql.lines().next().unwrap();
    assert!(first.contains("a?DROP") && first.contains("r??DROP"), "{first}");
}

#[test]
fn a_block_has_a_tag_of_its_own() {
    assert_eq!(block("x"), "DO $$\nx\n$$;\n");
    assert_eq!(block("$$ $anchord1$"), "DO $anchord2$\n$$ $anchord1$\n$anchord2$;\n");
}

#[test]
fn roles_include_those_before_them() {
    assert!(Role::Reader < Role::Writer && Role::Writer < Role::Maintainer);
    for role in [Role::Reader, Role::Writer, Role::Maintainer] {
        assert_eq!(Role::from_stored(&role.to_string()).unwrap(), role);
    }
    assert!(Role::from_stored("owner").is_err());
}
