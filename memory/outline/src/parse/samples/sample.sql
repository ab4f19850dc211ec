-- People who log in.
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE INDEX users_name ON users (name);

CREATE VIEW active_users AS SELECT * FROM users;

CREATE FUNCTION add(a integer, b integer) RETURNS integer
    AS 'select a + b;'
    LANGUAGE SQL;
