//! Agents in containers: instances that environment and secrets files alone configure, as the
//! compose file does.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anchord_team::testing::Server;
use anchord_tests::{Agent, Instance, PATIENCE, Project, Shell, poll, skip, write};
use serde_json::{Value, json};

use crate::containers::{at, compose};
use crate::team::shared;

const CONTAINERS: usize = 10;

/// The file of the compose file's secret, at another place.
struct Secret(tempfile::TempDir);

impl Secret {
    fn new() -> Self {
        let secret = Self(tempfile::tempdir().unwrap());
        std::fs::write(secret.file(), "correct horse\n").unwrap();
        std::fs::set_permissions(secret.file(), PermissionsExt::from_mode(0o400)).unwrap();
        secret
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("agents")
    }
}

/// Returns a server as the compose file sets it up; `None`, after saying so, without PostgreSQL.
fn database(compose: &Value, secret: &Secret) -> Option<Server> {
    let Some(server) = Server::start() else {
        skip("PostgreSQL is not installed");
        return None;
    };
    let roles = at(compose, "/configs/roles/content").as_str().unwrap();
    let file = secret.file().display().to_string();
    let here = roles.replace("/run/secrets/agents", &file);
    assert_ne!(here, roles, "the roles get the password of the secret");
    server.restore(&here);
    server.require_passwords();
    Some(server)
}

/// A container: an instance and a directory, without a person.
struct Container {
    instance: Instance,
    work: Project,
    variables: Vec<(String, String)>,
}

impl Container {
    fn new(compose: &Value, server: &Server, secret: &Secret) -> Self {
        let variables = at(compose, "/services/memory/environment").as_object().unwrap();
        let variables = variables.iter().map(|(name, value)| {
            let value = match name.as_str() {
                "ANCHORD_TEAM_URL" => server.url("agents"),
                "ANCHORD_TEAM_PASSWORD_FILE" => secret.file().display().to_string(),
                _ => value.as_str().unwrap().to_owned(),
            };
            (name.clone(), value)
        });
        let variables = variables.collect();
        Self { instance: Instance::new(), work: Project::plain(), variables }
    }

    /// Starts the daemon in its directory, as the image does.
    fn start(&self) {
        let mut command = self.instance.anchord();
        command.arg("daemon").current_dir(self.work.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        self.instance.start_daemon_by(command);
    }

    fn shell(&self) -> Shell<'_> {
        Shell::new(&self.instance, self.work.path())
    }

    fn agent(&self) -> Agent {
        Agent::open(&self.instance, self.work.path())
    }

    /// Runs the health check of the compose file.
    fn health(&self, compose: &Value) -> (i32, String) {
        let check = at(compose, "/services/memory/healthcheck/test").as_array().unwrap();
        let words: Vec<&str> = check.iter().filter_map(Value::as_str).collect();
        self.shell().said(words.strip_prefix(&["CMD", "anchord"]).unwrap())
    }

    fn wait_ready(&self, compose: &Value) {
        poll(PATIENCE, "the container is ready", || (self.health(compose).0 == 0).then_some(()));
    }
}

#[test]
fn ten_containers_of_one_project_share_a_memory() {
    let (compose, secret) = (compose(), Secret::new());
    let Some(mut server) = database(&compose, &secret) else { return };
    // They start before their database does.
    server.stop_immediate();
    let containers: Vec<Container> =
        (0..CONTAINERS).map(|_| Container::new(&compose, &server, &secret)).collect();
    containers.iter().for_each(Container::start);
    for container in &containers {
        let why = poll(PATIENCE, "a reason", || {
            let (code, text) = container.health(&compose);
            assert_eq!(code, 1, "{text}");
            text.contains("reach the database").then_some(text)
        });
        assert!(!why.contains("correct horse"), "{why}");
    }
    let first = containers.first().unwrap();
    let refused = first.agent().call("memory_note", &json!({ "content": "Early." })).unwrap();
    assert!(refused.is_error && refused.text.contains("has not joined"), "{}", refused.text);

    server.restart();
    for container in &containers {
        container.wait_ready(&compose);
    }
    let titles: Vec<String> = (0..CONTAINERS).map(|at| format!("Decision {at}")).collect();
    let mut agents: Vec<Agent> = containers.iter().map(Container::agent).collect();
    std::thread::scope(|scope| {
        for (agent, title) in agents.iter_mut().zip(&titles) {
            scope.spawn(move || {
                let saved = agent.tool("memory_save", &write::save(title));
                assert!(saved.contains("Saved"), "{saved}");
            });
        }
    });
    let all = poll(PATIENCE, "equal memories with every decision", || {
        let memories: Vec<Vec<Value>> =
            containers.iter().map(|container| shared(&container.shell())).collect();
        let first = memories.first().unwrap().clone();
        let is_whole = titles.iter().all(|title| has(&first, title));
        (is_whole && memories.iter().all(|memory| *memory == first)).then_some(first)
    });
    let decisions = all.iter().filter(|record| record.to_string().contains("Decision")).count();
    assert!(decisions >= CONTAINERS, "{all:?}");
    assert!(!has(&all, "Early."), "what was refused is nowhere");
    let machines = "SELECT count(DISTINCT machine) FROM anchord.entries WHERE operation = 'save'";
    assert_eq!(server.psql(machines).trim(), CONTAINERS.to_string());
    assert_eq!(server.psql("SELECT count(*) FROM anchord.projects").trim(), "1");
}

#[test]
fn a_container_that_starts_again_needs_no_database() {
    let (compose, secret) = (compose(), Secret::new());
    let Some(mut server) = database(&compose, &secret) else { return };
    let container = Container::new(&compose, &server, &secret);
    container.start();
    container.wait_ready(&compose);
    container.shell().done(&["note", "Ours."]);
    container.instance.kill9();
    server.stop_immediate();
    container.start();
    // The first call waits for the look at the memory, and no longer.
    assert!(container.shell().done(&["load"]).contains("Ours."));
    let kept = container.agent().tool("memory_save", &write::save("Lock"));
    assert!(kept.contains("Kept here"), "{kept}");
}

/// The memory is on a volume, and the project's directory ends with the container.
#[test]
fn a_recreated_container_continues_with_the_memory_of_its_volume() {
    let (compose, secret) = (compose(), Secret::new());
    let Some(mut server) = database(&compose, &secret) else { return };
    let container = Container::new(&compose, &server, &secret);
    container.start();
    container.wait_ready(&compose);
    container.shell().done(&["note", "Ours."]);
    server.stop_immediate();
    let kept = container.agent().tool("memory_save", &write::save("Lock"));
    assert!(kept.contains("Kept here"), "{kept}");
    container.instance.kill9();
    let work = container.work.path();
    std::fs::rename(work, work.with_extension("before")).unwrap();
    std::fs::create_dir(work).unwrap();
    container.start();
    container.wait_ready(&compose);
    assert!(container.shell().done(&["load"]).contains("Ours."));
    let listed = container.shell().done(&["project", "list"]);
    assert!(listed.starts_with("1 project\n"), "{listed}");
    server.restart();
    poll(PATIENCE, "the save that waited", || {
        container.shell().done(&["load"]).contains("Lock").then_some(())
    });
    std::fs::remove_dir_all(work.with_extension("before")).unwrap();
}

#[test]
fn a_container_that_may_not_create_waits_for_who_does() {
    let (compose, secret) = (compose(), Secret::new());
    let Some(server) = database(&compose, &secret) else { return };
    let mut late = Container::new(&compose, &server, &secret);
    late.variables.retain(|(name, _)| name != "ANCHORD_TEAM_CREATE");
    late.start();
    poll(PATIENCE, "a reason", || {
        let (code, text) = late.health(&compose);
        assert_eq!(code, 1, "{text}");
        text.contains("schema").then_some(())
    });
    let first = Container::new(&compose, &server, &secret);
    first.start();
    first.wait_ready(&compose);
    late.wait_ready(&compose);
    first.shell().done(&["note", "Ours."]);
    poll(PATIENCE, "the note", || late.shell().done(&["load"]).contains("Ours.").then_some(()));
}

#[test]
fn an_environment_that_names_no_team_is_no_machine_of_its_own() {
    let (instance, work) = (Instance::new(), Project::plain());
    let mut command = instance.anchord();
    command.arg("daemon").env("ANCHORD_TEAM_URL", "postgres://agents@db.example.com/anchord");
    instance.start_daemon_by(command);
    let shell = Shell::new(&instance, work.path());
    let (code, text) = shell.said(&["status", "--ready"]);
    assert!(code == 1 && text.contains("ANCHORD_TEAM_PROJECT"), "{text}");
    let (code, text) = shell.said(&["note", "Lost with the container."]);
    assert!(code != 0 && text.contains("ANCHORD_TEAM_PROJECT"), "{text}");
    assert_eq!(files_with(&instance, "Lost with"), BTreeSet::new());
}

fn files_with(instance: &Instance, text: &str) -> BTreeSet<PathBuf> {
    instance.holding(text).into_iter().collect()
}

fn has(records: &[Value], text: &str) -> bool {
    records.iter().any(|record| record.to_string().contains(text))
}
