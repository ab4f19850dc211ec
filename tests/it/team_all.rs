//! `anchord team … --all`: every project of a machine, and a creation that ends half-way.

use std::path::PathBuf;

use anchord_team::testing::{COMMIT, Cut, Proxy};
use anchord_tests::{Instance, PATIENCE, Project, Shell, poll};

use crate::team::{server, shared};

/// A machine with repositories of given names.
struct Desk {
    instance: Instance,
    roots: Vec<PathBuf>,
    _folder: Project,
}

impl Desk {
    fn new(names: &[&str]) -> Self {
        let folder = Project::plain();
        let root = |name: &&str| {
            folder.run_git(&["init", "--quiet", name]);
            folder.path().join(name)
        };
        let roots = names.iter().map(root).collect();
        Self { instance: Instance::new(), roots, _folder: folder }
    }

    /// Returns the file of the only project that a team shares.
    fn team_file(&self) -> PathBuf {
        let projects = std::fs::read_dir(self.instance.home().join("data/projects")).unwrap();
        let mut files = projects.map(|project| project.unwrap().path().join("team.json"));
        files.find(|file| file.exists()).unwrap()
    }

    fn shell(&self, name: &str) -> Shell<'_> {
        let root = self.roots.iter().find(|root| root.ends_with(name));
        Shell::new(&self.instance, root.unwrap())
    }
}

#[test]
fn every_project_is_shared_joined_and_left_by_its_name() {
    let Some(server) = server() else { return };
    let ada = Desk::new(&["api", "web", "lab"]);
    let bob = Desk::new(&["api", "web", "own"]);
    for name in ["api", "web"] {
        ada.shell(name).done(&["note", &format!("Of {name}.")]);
    }
    ada.shell("lab").done(&["team", "create", &server.url("ada"), "--name", "elsewhere"]);
    let created = ada.shell("api").done(&["team", "create", &server.url("ada"), "--all"]);
    assert!(created.contains("api: shared as api\n"), "{created}");
    assert!(created.contains("web: shared as web\n") && !created.contains("lab"), "{created}");
    let again = ada.shell("api").done(&["team", "create", &server.url("ada"), "--all"]);
    assert!(again.contains("nothing to do for any project"), "{again}");
    for name in ["api", "web"] {
        server.psql(&ada.shell(name).done(&["team", "invite", "bob"]));
    }

    // A memory of its own stands in the way, and the others are joined all the same.
    bob.shell("web").done(&["note", "Only here."]);
    bob.shell("own").done(&["note", "Not the team's."]);
    bob.shell("api").done(&["load"]);
    let join = ["team", "join", &server.url("bob"), "--all"];
    let (code, joined) = bob.shell("own").said(&join);
    assert_eq!(code, 1, "{joined}");
    assert!(joined.contains("web: this project has a memory of its own"), "{joined}");
    assert!(joined.contains("error: 1 of 1 project failed"), "{joined}");
    // Nothing was ever written there, so the machine does not know it as a project.
    assert!(joined.contains("api: no project of this name here"), "{joined}");
    let joined = bob.shell("own").done(&["team", "join", &server.url("bob"), "--all", "--merge"]);
    assert!(joined.contains("web: shared as web"), "{joined}");
    assert!(joined.contains("  the memory before is in "), "{joined}");
    let load = bob.shell("web").done(&["load"]);
    assert!(load.contains("Of web.") && load.contains("Only here."), "{load}");
    poll(PATIENCE, "equal records on both machines", || {
        (shared(&ada.shell("web")) == shared(&bob.shell("web"))).then_some(())
    });

    let status = bob.shell("own").done(&["team", "status", "--all"]);
    assert!(status.contains("web: shared as web") && !status.contains("own:"), "{status}");
    // A project that cannot be looked at is not one without a team.
    let config = bob.team_file();
    let text = std::fs::read(&config).unwrap();
    std::fs::write(&config, "{").unwrap();
    for command in [&["team", "status", "--all"][..], &["team", "leave", "--keep", "--all"]] {
        let (code, said) = bob.shell("own").said(command);
        assert!(code == 1 && said.contains("web: ") && said.contains("1 of 1 project"), "{said}");
    }
    std::fs::write(&config, text).unwrap();
    let left = bob.shell("own").done(&["team", "leave", "--keep", "--all"]);
    assert!(left.contains("web: this machine's own now"), "{left}");
    let status = bob.shell("own").done(&["team", "status", "--all"]);
    assert!(status.contains("web: no team shares this memory\n"), "{status}");
    assert!(status.contains(".aside-1") && !status.contains("own:"), "{status}");
    assert!(bob.shell("web").done(&["load"]).contains("Of web."));
    for name in ["api", "web"] {
        ada.shell(name).done(&["team", "remove", "bob", "--run"]);
    }
    let (_, said) = bob.shell("own").said(&join);
    assert!(said.contains("the database shows you no project; ask a maintainer"), "{said}");
}

#[test]
fn a_creation_that_ends_half_way_leaves_the_name_free() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(server.port());
    let ada = Desk::new(&["api"]);
    let shell = ada.shell("api");
    shell.done(&["note", "Before the team."]);
    // The tables are made by another project, and the commits of this one do not arrive.
    shell.done(&["team", "create", &server.url("ada"), "--name", "first"]);
    shell.done(&["team", "leave", "--keep"]);
    proxy.on(COMMIT, Cut::Stall);
    let (code, stalled) = shell.said(&["team", "create", &proxy.url("ada"), "--name", "api"]);
    assert_eq!(code, 4, "{stalled}");
    proxy.resume();
    assert!(shell.done(&["load"]).contains("Before the team."));
    let created = shell.done(&["team", "create", &proxy.url("ada"), "--name", "api"]);
    assert!(created.contains("shared as api"), "{created}");
    // An answer that is lost is asked for again.
    shell.done(&["team", "leave", "--keep"]);
    proxy.on(COMMIT, Cut::After);
    let created = shell.done(&["team", "create", &proxy.url("ada"), "--name", "second"]);
    assert!(created.contains("shared as second"), "{created}");
}
