//! Members and roles of a project, and the SQL that invites and removes them.
//!
//! A member is a database role of its own, in the group `anchord_member`. The group has access to
//! the tables; a row in `members` decides about the rows. No SQL here contains a password.

use postgres_protocol::escape::{escape_identifier, escape_literal};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::database::Database;
use crate::entry::check_text;
use crate::error::Error;
use crate::limits::{NAME_BYTES_MAX, ROLE_NAME_BYTES_MAX};
use crate::pool::Param;

/// The rights of a member. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads the journal.
    Reader,
    /// Appends to it.
    Writer,
    /// Manages members, and rewrites entries to purge them.
    Maintainer,
}

impl Role {
    /// Returns the name, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Maintainer => "maintainer",
        }
    }

    pub(crate) fn from_stored(name: &str) -> Result<Self, Error> {
        let all = [Self::Reader, Self::Writer, Self::Maintainer];
        let found = all.into_iter().find(|role| role.name() == name);
        found.ok_or_else(|| Error::Damaged("a member has an unknown role".to_owned()))
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

/// A member of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The database role.
    pub role_name: String,
    /// The name to show.
    pub name: String,
    /// The rights.
    pub role: Role,
}

/// Returns the SQL with which an administrator invites a member: a role that may log in, its place
/// in the group, and its row. Running it again changes the name and the rights. It fails where that
/// would take the right from the only maintainer.
pub fn invite_sql(
    project: Uuid,
    project_name: &str,
    role_name: &str,
    name: &str,
    role: Role,
) -> String {
    let quoted = escape_identifier(role_name);
    format!(
        "-- Invites {who} to the project {what} as a {role}.\n\
         -- Afterwards, in psql: \\password {who}\n\
         BEGIN;\n\
         {create}\
         GRANT anchord_member TO {quoted};\n\
         {row}\
         COMMIT;\n",
        who = in_comment(&quoted),
        what = in_comment(project_name),
        create = create_role_sql(role_name),
        row = member_sql(project, role_name, name, role),
    )
}

/// Returns the SQL with which an administrator removes a member. The role keeps its login, but
/// leaves the group if it is in no other project. The role may be gone. It fails for the only
/// maintainer.
pub fn remove_sql(project: Uuid, project_name: &str, role_name: &str) -> String {
    let quoted = escape_identifier(role_name);
    let literal = escape_literal(role_name);
    let body = format!(
        "BEGIN\n\
         \x20   IF NOT EXISTS (SELECT FROM anchord.members WHERE role_name = {literal})\n\
         \x20       AND EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {literal})\n\
         \x20   THEN\n\
         \x20       REVOKE anchord_member FROM {quoted};\n\
         \x20   END IF;\n\
         END"
    );
    format!(
        "-- Removes {who} from the project {what}.\n\
         -- Afterwards, to end the login: DROP ROLE {who};\n\
         BEGIN;\n\
         {guard}\
         DELETE FROM anchord.members WHERE project = '{project}' AND role_name = {literal};\n\
         {leave}\
         COMMIT;\n",
        who = in_comment(&quoted),
        what = in_comment(project_name),
        guard = guard_sql(project, role_name),
        leave = block(&body),
    )
}

/// Refuses to end a member's right to maintain a project if nobody else has it. Nobody could give
/// it back.
fn refuse_without_maintainer(members: &[Member], role_name: &str) -> Result<(), Error> {
    let mut maintainers = members.iter().filter(|member| member.role == Role::Maintainer);
    if maintainers.next().is_some_and(|member| member.role_name == role_name)
        && maintainers.next().is_none()
    {
        let why = format!(
            "{role_name} is the only maintainer; make another one first: `anchord team invite \
             OTHER --role maintainer`"
        );
        return Err(Error::Refused(why));
    }
    Ok(())
}

/// Returns the refusal of what only a maintainer does with a member.
fn may_not(what: &str) -> Error {
    Error::Refused(format!("only a maintainer {what} a member; ask one"))
}

impl Database {
    /// Invites a member, or changes its name and rights. Fails with [`Error::Refused`] if the
    /// caller is not a maintainer.
    ///
    /// A role that exists and is in the group needs only that. To create it, the caller also needs
    /// the right to create roles and to grant the group. Without it, an administrator runs
    /// [`invite_sql`].
    pub async fn invite(
        &self,
        project: Uuid,
        role_name: &str,
        name: &str,
        role: Role,
    ) -> Result<(), Error> {
        check_name(role_name, ROLE_NAME_BYTES_MAX)?;
        check_name(name, NAME_BYTES_MAX)?;
        if !self.may_manage(project).await? {
            return Err(may_not("invites"));
        }
        if role != Role::Maintainer {
            refuse_without_maintainer(&self.members(project).await?, role_name)?;
        }
        let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_auth_members m \
            JOIN pg_catalog.pg_roles g ON g.oid = m.roleid \
            JOIN pg_catalog.pg_roles r ON r.oid = m.member \
            WHERE g.rolname = 'anchord_member' AND r.rolname = $1)";
        let known = self.query(sql, &[(&role_name, Type::TEXT)]).await?;
        let is_known: bool = known.first().map_or(Ok(false), |row| row.try_get(0))?;
        let row = member_sql(project, role_name, name, role);
        let create = if is_known {
            String::new()
        } else {
            let quoted = escape_identifier(role_name);
            format!("{}GRANT anchord_member TO {quoted};\n", create_role_sql(role_name))
        };
        let invited = self.run(&format!("BEGIN;\n{create}{row}COMMIT")).await;
        invited.map_err(|error| match error {
            // The policy of the table of members, in the server's words.
            Error::Refused(why) if why.contains("row-level security") => may_not("invites"),
            error => error,
        })
    }

    /// Lists the members of a project, by database role. Fails with [`Error::NotAMember`] if the
    /// caller is not one of them.
    pub async fn members(&self, project: Uuid) -> Result<Vec<Member>, Error> {
        let sql = "SELECT role_name, name, role FROM anchord.members \
            WHERE project = $1 ORDER BY role_name";
        let rows = self.query(sql, &[(&project, Type::UUID)]).await?;
        if rows.is_empty() {
            return Err(Error::NotAMember);
        }
        rows.iter()
            .map(|row| {
                Ok(Member {
                    role_name: row.try_get(0)?,
                    name: row.try_get(1)?,
                    role: Role::from_stored(row.try_get(2)?)?,
                })
            })
            .collect()
    }

    /// Returns whether the server has a role of this name, in any group.
    pub async fn has_role(&self, role_name: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1";
        Ok(!self.query(sql, &[(&role_name, Type::TEXT)]).await?.is_empty())
    }

    /// Removes a member. Its access ends at once, also on connections that are open. The role keeps
    /// its login and its place in the group; see [`remove_sql`]. The only maintainer stays.
    pub async fn remove(&self, project: Uuid, role_name: &str) -> Result<(), Error> {
        // The locked rows keep two maintainers from removing each other at once.
        let sql = "WITH maintainers AS (SELECT role_name FROM anchord.members \
                WHERE project = $1 AND role = 'maintainer' FOR UPDATE) \
            DELETE FROM anchord.members m WHERE m.project = $1 AND m.role_name = $2 \
            AND (m.role <> 'maintainer' OR EXISTS (SELECT FROM maintainers o \
                WHERE o.role_name <> m.role_name)) \
            RETURNING role_name";
        let params: [Param<'_>; 2] = [(&project, Type::UUID), (&role_name, Type::TEXT)];
        let removed = self.query(sql, &params).await?;
        if removed.is_empty() {
            let members = self.members(project).await?;
            if !members.iter().any(|member| member.role_name == role_name) {
                return Err(Error::NoSuchMember(role_name.to_owned()));
            }
            if self.may_manage(project).await? {
                refuse_without_maintainer(&members, role_name)?;
            }
            // Row-level security hides a row from whoever may not delete it.
            return Err(may_not("removes"));
        }
        Ok(())
    }

    /// Returns whether the caller may change the members of a project. Others are not told how a
    /// maintainer would do it. An administrator is no member.
    async fn may_manage(&self, project: Uuid) -> Result<bool, Error> {
        let known = self.projects().await?;
        let own = known.iter().find(|known| known.id == project);
        Ok(own.is_none_or(|known| known.role == Role::Maintainer))
    }

    /// Runs statements on a connection of their own. What is open is rolled back on an error.
    async fn run(&self, sql: &str) -> Result<(), Error> {
        self.limited(async {
            let session = self.connect().await?;
            Ok(session.client.batch_execute(sql).await?)
        })
        .await
    }
}

fn create_role_sql(role_name: &str) -> String {
    let literal = escape_literal(role_name);
    let quoted = escape_identifier(role_name);
    block(&format!(
        "BEGIN\n\
         \x20   IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {literal}) THEN\n\
         \x20       CREATE ROLE {quoted} LOGIN;\n\
         \x20   END IF;\n\
         END"
    ))
}

/// Returns the SQL that fails if a member is the only maintainer. The locked rows keep two of them
/// from leaving at once.
fn guard_sql(project: Uuid, role_name: &str) -> String {
    let literal = escape_literal(role_name);
    block(&format!(
        "BEGIN\n\
         \x20   PERFORM FROM anchord.members\n\
         \x20   WHERE project = '{project}' AND role = 'maintainer' FOR UPDATE;\n\
         \x20   IF 'maintainer' = (SELECT role FROM anchord.members\n\
         \x20           WHERE project = '{project}' AND role_name = {literal})\n\
         \x20       AND NOT EXISTS (SELECT FROM anchord.members\n\
         \x20           WHERE project = '{project}' AND role = 'maintainer'\n\
         \x20               AND role_name <> {literal})\n\
         \x20   THEN\n\
         \x20       RAISE EXCEPTION 'the only maintainer stays; make another one first';\n\
         \x20   END IF;\n\
         END"
    ))
}

fn member_sql(project: Uuid, role_name: &str, name: &str, role: Role) -> String {
    let guard = match role {
        Role::Maintainer => String::new(),
        Role::Reader | Role::Writer => guard_sql(project, role_name),
    };
    format!(
        "{guard}\
         INSERT INTO anchord.members (project, role_name, name, role)\n\
         VALUES ('{project}', {role_name}, {name}, '{role}')\n\
         ON CONFLICT (project, role_name)\n\
         DO UPDATE SET name = EXCLUDED.name, role = EXCLUDED.role;\n",
        role_name = escape_literal(role_name),
        name = escape_literal(name),
    )
}

/// Quotes a block of PL/pgSQL with a tag that the block does not contain.
fn block(body: &str) -> String {
    let mut tag = "$$".to_owned();
    let mut number = 0_u32;
    while body.contains(&tag) {
        number += 1;
        tag = format!("$anchord{number}$");
    }
    format!("DO {tag}\n{body}\n{tag};\n")
}

/// Returns a text for a comment, which ends at a line break.
fn in_comment(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { '?' } else { char }).collect()
}

fn check_name(name: &str, bytes_max: usize) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Invalid("the name is empty".to_owned()));
    }
    check_text(name, bytes_max)
}

#[cfg(test)]
mod tests;
