-- The settings, purges and rules are a maintainer's. A writer may propose rules, but not change one
-- that was accepted or disabled.
--
-- Changes are JSON as the daemons write them: an array of objects with one key each. Of a repeated
-- key, the last one counts here; daemons read no such object. PostgreSQL cannot read the escape of
-- the character 0, which a text may contain.
CREATE FUNCTION anchord.elements(changes text) RETURNS SETOF json
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT json_array_elements(CASE json_typeof(it) WHEN 'array' THEN it ELSE '[]' END)
    FROM (SELECT replace(changes, '\u0000', '')::json) AS parsed (it)
$$;

CREATE FUNCTION anchord.check_changes() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found record;
    before text;
BEGIN
    FOR found IN
        SELECT a.project, a.seq, c.change, c.change #>> '{put,id}' AS id,
            c.change #>> '{put,body,rule,standing}' AS standing
        FROM added a, anchord.elements(a.changes) AS c (change)
        WHERE a.project NOT IN (SELECT anchord.projects_as('maintainer'))
            AND json_typeof(c.change) = 'object'
        ORDER BY a.seq
    LOOP
        IF found.change -> 'configure' IS NOT NULL THEN
            RAISE EXCEPTION 'only a maintainer changes the settings'
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF found.change -> 'purged' IS NOT NULL OR found.change -> 'team' IS NOT NULL
            OR coalesce(json_array_length(found.change #> '{tombstones,digests}'), 0) > 0
        THEN
            RAISE EXCEPTION 'only a maintainer purges'
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        CONTINUE WHEN found.change -> 'put' IS NULL;
        -- Daemons also read other forms of an id and of a record, but write only these.
        IF json_typeof(found.change -> 'put') <> 'object'
            OR coalesce(found.id, '') !~ '^[a-z][1-9][0-9]*$'
        THEN
            RAISE EXCEPTION 'only a maintainer writes records in another form'
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        CONTINUE WHEN found.id !~ '^r' AND found.change #> '{put,body,rule}' IS NULL;
        -- This is rare, so a look at all that names the rule is cheap enough.
        SELECT c.change #>> '{put,body,rule,standing}' INTO before
        FROM anchord.entries e, anchord.elements(e.changes) AS c (change)
        WHERE e.project = found.project AND e.seq < found.seq
            AND e.changes LIKE '%"' || found.id || '"%' AND c.change #>> '{put,id}' = found.id
        ORDER BY e.seq DESC LIMIT 1;
        IF found.id !~ '^r' OR found.standing IS DISTINCT FROM 'proposed'
            OR before <> 'proposed'
        THEN
            RAISE EXCEPTION 'only a maintainer changes rules'
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER check_changes AFTER INSERT ON anchord.entries
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION anchord.check_changes();
REVOKE ALL ON FUNCTION anchord.check_changes, anchord.elements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anchord.elements TO anchord_member;
