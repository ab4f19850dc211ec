-- A project's journal, and its members.
--
-- Rights rest on `session_user`, the role that has logged in. SET ROLE does not change them, and
-- neither does a function that runs as its owner. Row-level security is forced on the owner too;
-- only a superuser and a role with BYPASSRLS see all rows, as a dump needs.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'anchord_member') THEN
        CREATE ROLE anchord_member NOLOGIN;
    END IF;
EXCEPTION
    -- Roles belong to the server, and another database may just have made it.
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- One row per project, the head of its journal. Each append writes it, so there is room for the
-- new version on the same page.
CREATE TABLE anchord.projects (
    id      uuid PRIMARY KEY,
    name    text NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 200),
    seq     bigint NOT NULL DEFAULT 0 CHECK (seq >= 0),
    digest  text NOT NULL DEFAULT repeat('0', 64) CHECK (octet_length(digest) = 64),
    epoch   bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    created timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE anchord.members (
    project   uuid NOT NULL REFERENCES anchord.projects,
    role_name text NOT NULL CHECK (octet_length(role_name) BETWEEN 1 AND 63),
    name      text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 200),
    role      text NOT NULL CHECK (role IN ('reader', 'writer', 'maintainer')),
    PRIMARY KEY (project, role_name)
);
CREATE INDEX members_role_name ON anchord.members (role_name);

CREATE TABLE anchord.entries (
    project   uuid NOT NULL REFERENCES anchord.projects,
    seq       bigint NOT NULL CHECK (seq >= 1),
    instance  text NOT NULL CHECK (octet_length(instance) BETWEEN 1 AND 200),
    number    bigint NOT NULL CHECK (number >= 0),
    machine   text NOT NULL CHECK (octet_length(machine) <= 200),
    member    text NOT NULL DEFAULT session_user,
    time_ms   bigint NOT NULL,
    session   text CHECK (octet_length(session) <= 200),
    operation text NOT NULL CHECK (octet_length(operation) <= 200),
    changes   text NOT NULL CHECK (octet_length(changes) <= 33554432),
    reply     text CHECK (octet_length(reply) <= 33554432),
    digest    text NOT NULL CHECK (octet_length(digest) = 64),
    PRIMARY KEY (project, seq),
    UNIQUE (project, instance, number)
);

-- The projects in which the caller has one of these roles. Policies call it in an uncorrelated
-- subquery, so it runs once per statement and not once per row.
CREATE FUNCTION anchord.projects_as(VARIADIC roles text[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.project FROM anchord.members m
    WHERE m.role_name = session_user::text AND m.role = ANY (roles)
$$;

-- Creates a project whose maintainer is the caller. Any member of a project may.
CREATE FUNCTION anchord.create_project(project uuid, project_name text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO anchord.projects (id, name) VALUES (project, project_name);
    INSERT INTO anchord.members (project, role_name, name, role)
    VALUES (project, session_user::text, session_user::text, 'maintainer');
$$;

-- Row-level security says who changes a row; this says how.
CREATE FUNCTION anchord.check_head() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.id <> OLD.id OR NEW.created <> OLD.created THEN
        RAISE EXCEPTION 'a project keeps its id and its time of creation'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.seq < OLD.seq OR NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'the head of a journal does not go back'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF (NEW.epoch <> OLD.epoch OR NEW.name <> OLD.name
            OR (NEW.digest <> OLD.digest AND NEW.seq = OLD.seq))
        AND NEW.id NOT IN (SELECT anchord.projects_as('maintainer'))
    THEN
        RAISE EXCEPTION 'only a maintainer renames a project or rewrites its journal'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER check_head BEFORE UPDATE ON anchord.projects
    FOR EACH ROW EXECUTE FUNCTION anchord.check_head();

-- At commit, the head is the last entry.
CREATE FUNCTION anchord.check_last_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM anchord.entries e
        WHERE e.project = NEW.id AND e.seq = NEW.seq AND e.digest = NEW.digest
    ) THEN
        RAISE EXCEPTION 'the head of a journal is its last entry'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER check_last_entry AFTER UPDATE ON anchord.projects
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.seq <> NEW.seq OR OLD.digest <> NEW.digest)
    EXECUTE FUNCTION anchord.check_last_entry();

-- The head is set before the entries are inserted. They follow the last entry without a gap and do
-- not go beyond the head; the check above then finds that they reach it. One check per statement
-- and not per row: its look-ups are subject to row-level security, which costs a large batch
-- seconds.
CREATE FUNCTION anchord.check_entries() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    batch record;
BEGIN
    FOR batch IN
        SELECT a.project, min(a.seq) AS first, max(a.seq) AS last, count(*) AS entries
        FROM added a GROUP BY a.project
    LOOP
        IF batch.last - batch.first + 1 <> batch.entries OR batch.first > 1 AND NOT EXISTS (
            SELECT FROM anchord.entries e
            WHERE e.project = batch.project AND e.seq = batch.first - 1
        ) OR NOT EXISTS (
            SELECT FROM anchord.projects p
            WHERE p.id = batch.project AND p.seq >= batch.last
        ) THEN
            RAISE EXCEPTION 'a journal has no gap and ends at its head'
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER check_entries AFTER INSERT ON anchord.entries
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION anchord.check_entries();

ALTER TABLE anchord.projects ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE anchord.members ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE anchord.entries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY reads ON anchord.projects FOR SELECT
    USING (id IN (SELECT anchord.projects_as('reader', 'writer', 'maintainer')));
CREATE POLICY appends ON anchord.projects FOR UPDATE
    USING (id IN (SELECT anchord.projects_as('writer', 'maintainer')));

CREATE POLICY reads ON anchord.entries FOR SELECT
    USING (project IN (SELECT anchord.projects_as('reader', 'writer', 'maintainer')));
CREATE POLICY appends ON anchord.entries FOR INSERT
    WITH CHECK (
        member = session_user::text
        AND project IN (SELECT anchord.projects_as('writer', 'maintainer'))
    );
CREATE POLICY purges ON anchord.entries FOR UPDATE
    USING (project IN (SELECT anchord.projects_as('maintainer')));

CREATE POLICY reads ON anchord.members FOR SELECT
    USING (project IN (SELECT anchord.projects_as('reader', 'writer', 'maintainer')));
CREATE POLICY invites ON anchord.members FOR INSERT
    WITH CHECK (project IN (SELECT anchord.projects_as('maintainer')));
CREATE POLICY changes ON anchord.members FOR UPDATE
    USING (project IN (SELECT anchord.projects_as('maintainer')));
CREATE POLICY removes ON anchord.members FOR DELETE
    USING (project IN (SELECT anchord.projects_as('maintainer')));

-- The functions above run as the owner, on whom row-level security is forced as well.
CREATE POLICY owner_reads ON anchord.members FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_creates ON anchord.members FOR INSERT TO CURRENT_USER WITH CHECK (true);
CREATE POLICY owner_creates ON anchord.projects FOR INSERT TO CURRENT_USER WITH CHECK (true);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA anchord FROM PUBLIC;
GRANT USAGE ON SCHEMA anchord TO anchord_member;
GRANT EXECUTE ON FUNCTION anchord.projects_as, anchord.create_project TO anchord_member;
GRANT SELECT ON anchord.schema_history TO anchord_member;
GRANT SELECT, UPDATE (name, seq, digest, epoch) ON anchord.projects TO anchord_member;
GRANT SELECT, INSERT, UPDATE (name, role), DELETE ON anchord.members TO anchord_member;
-- Not `member`, which is always the role that has logged in.
GRANT SELECT,
    INSERT (project, seq, instance, number, machine, time_ms, session, operation, changes, reply,
        digest),
    UPDATE (changes, reply, digest)
    ON anchord.entries TO anchord_member;
