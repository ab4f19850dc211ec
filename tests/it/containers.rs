//! The image, the compose file and the manifests: whether they name what the programs have.

use std::collections::BTreeMap;
use std::path::Path;

use anchord_tests::{Instance, binaries};
use serde_json::Value;

use crate::tidy::{root, tree};

/// The compose file.
pub(crate) fn compose() -> Value {
    let mut documents = documents("packaging/compose.yaml");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// Returns what is at a pointer of a document.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).ok_or_else(|| format!("no {pointer} in {value}")).unwrap()
}

fn documents(path: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(path)).unwrap()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The variables of the image.
fn image() -> BTreeMap<String, String> {
    let file = text("packaging/Containerfile");
    let line = file.lines().find_map(|line| line.strip_prefix("ENV ")).unwrap();
    let pairs = line.split(' ').map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The daemon's container in the manifests.
fn sidecar() -> (Value, Value) {
    let set = documents("packaging/kubernetes.yaml");
    let set = set.into_iter().find(|document| at(document, "/kind") == "StatefulSet").unwrap();
    let pod = at(&set, "/spec/template/spec").clone();
    (at(&pod, "/initContainers/0").clone(), pod)
}

/// Returns the variables of a container in the manifests.
fn variables(container: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value, key: &str| at(value, key).as_str().unwrap().to_owned();
    let list = at(container, "/env").as_array().unwrap().iter();
    list.map(|pair| (text(pair, "/name"), text(pair, "/value"))).collect()
}

#[test]
fn every_variable_is_one_that_the_programs_read() {
    let sources = tree();
    let sources: Vec<_> = sources
        .iter()
        .filter(|file| ["daemon/src/", "proto/src/"].iter().any(|at| file.path.starts_with(at)))
        .filter(|file| !file.path.ends_with("tests.rs"))
        .collect();
    let named: Vec<String> = ["Containerfile", "compose.yaml", "kubernetes.yaml"]
        .iter()
        .flat_map(|file| variables_in(&text(&format!("packaging/{file}"))))
        .chain(variables_in(&text("docs/containers.md")))
        .collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        let constant = format!("\"{name}\"");
        assert!(sources.iter().any(|file| file.text.contains(&constant)), "nothing reads {name}");
    }
}

fn variables_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    words.filter(|word| word.starts_with("ANCHORD_")).map(str::to_owned).collect()
}

#[test]
fn every_command_is_one_that_the_program_has() {
    let compose = compose();
    let (sidecar, _) = sidecar();
    let health = at(&compose, "/services/memory/healthcheck/test").as_array().unwrap();
    let health = health.get(1..).unwrap().to_vec();
    let command = |pointer| at(&sidecar, pointer).as_array().unwrap().clone();
    let probes = ["/startupProbe/exec/command", "/livenessProbe/exec/command"].map(command);
    let instance = Instance::new();
    for command in [&[health][..], &probes].concat() {
        let words: Vec<&str> = command.iter().map(|word| word.as_str().unwrap()).collect();
        let [program, arguments @ ..] = words.as_slice() else { panic!("{words:?}") };
        assert_eq!(*program, "anchord");
        // No daemon runs. A command line that does not exist gives 2.
        let ended = instance.anchord().args(arguments).output().unwrap();
        assert_eq!(ended.status.code(), Some(3), "{words:?}: {ended:?}");
    }
}

#[test]
fn the_image_has_the_programs_and_puts_the_memory_into_its_volume() {
    let file = text("packaging/Containerfile");
    let built = binaries();
    for program in [&built.anchord, &built.anchord_mcp, &built.anchord_hook] {
        let name = program.file_name().unwrap().to_str().unwrap();
        assert!(file.contains(&format!("/bin/{name} ")), "{name}");
    }
    let image = image();
    let volume = file.lines().find_map(|line| line.strip_prefix("VOLUME ")).unwrap();
    for name in ["HOME", "ANCHORD_HOME"] {
        assert!(Path::new(image.get(name).unwrap()).starts_with(volume), "{name}");
    }
    // The volume gets the owner that the directory has in the image: the user named before it.
    let line = |start: &str| file.lines().position(|line| line.starts_with(start)).unwrap();
    assert!(line("USER ") < line(&format!("WORKDIR {volume}")), "{file}");
}

#[test]
fn the_secrets_are_where_the_variables_say_and_no_other_user_reads_them() {
    let user = text("packaging/Containerfile");
    let user = user.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    let (user, _) = user.split_once(':').unwrap();

    let compose = compose();
    let memory = at(&compose, "/services/memory");
    let file = at(memory, "/environment/ANCHORD_TEAM_PASSWORD_FILE").as_str().unwrap();
    let secret = at(memory, "/secrets/0");
    let source = at(secret, "/source").as_str().unwrap();
    assert_eq!(file, format!("/run/secrets/{source}"));
    // Docker 27 and older cannot give a file to a user in an image without programs.
    assert!(secret.get("uid").is_none() && secret.get("gid").is_none(), "{secret}");
    assert_eq!(at(secret, "/mode"), 0o440);
    assert_eq!(at(memory, "/group_add"), &Value::from(vec!["0"]));
    assert!(at(&compose, "/secrets").get(source).is_some());

    let (sidecar, pod) = sidecar();
    let mounts = at(&sidecar, "/volumeMounts").as_array().unwrap();
    let mount = mounts.iter().find(|mount| at(mount, "/name") == "secrets").unwrap();
    let file = variables(&sidecar).remove("ANCHORD_TEAM_PASSWORD_FILE").unwrap();
    assert!(Path::new(&file).starts_with(at(mount, "/mountPath").as_str().unwrap()), "{file}");
    assert_eq!(at(&pod, "/volumes/0/secret/defaultMode"), 0o440);
    for id in ["runAsUser", "runAsGroup", "fsGroup"] {
        let id = at(&pod, &format!("/securityContext/{id}"));
        assert_eq!(id.to_string(), user, "the socket admits one user");
    }
}

/// The agent finds the daemon and the project by these variables alone.
#[test]
fn an_agent_beside_the_daemon_finds_its_socket_and_its_project() {
    let (_, pod) = sidecar();
    let agent = variables(at(&pod, "/containers/0"));
    for name in ["ANCHORD_HOME", "ANCHORD_PROJECT"] {
        assert_eq!(agent.get(name), image().get(name), "{name}");
    }
}
