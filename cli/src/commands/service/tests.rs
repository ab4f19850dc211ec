//! The steps, and the files that service managers get.

use super::*;

const HOME: &str = "/home/ada";
const PROGRAM: &str = "/opt/my tools/50%/anchord";

fn file(manager: Manager, name: &str) -> String {
    let files = manager.files(Path::new(HOME), PROGRAM);
    files.into_iter().find(|(known, _)| *known == name).unwrap().1
}

fn lines(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| step.line(Path::new(HOME))).collect()
}

#[test]
fn units_run_this_program() {
    let service = file(Manager::Systemd, "anchord.service");
    assert!(service.contains("\nExecStart=\"/opt/my tools/50%%/anchord\" daemon\n"), "{service}");
    assert!(!service.contains(".cargo"), "{service}");
    let socket = file(Manager::Systemd, "anchord.socket");
    assert!(socket.starts_with("# Written by") && socket.contains("\n[Socket]\n"), "{socket}");
    assert!(socket.contains("\nListenStream=%h/.local/state/anchord/sock\n"), "{socket}");
    let plist = file(Manager::Launchd, "dev.anchord.daemon.plist");
    assert!(plist.contains("<string>/opt/my tools/50%/anchord</string>"), "{plist}");
    assert!(plist.contains("<string>/home/ada/.local/state/anchord/sock</string>"), "{plist}");
    assert!(!plist.contains("@HOME@/"), "{plist}");
}

#[test]
fn systemd_accepts_the_written_units() {
    if Process::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("my tools/anchord");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy("/bin/true", &program).unwrap();
    let mut units = Vec::new();
    for (name, text) in Manager::Systemd.files(home.path(), program.to_str().unwrap()) {
        let unit = home.path().join(name);
        fs::write(&unit, text).unwrap();
        units.push(unit);
    }
    let said = Process::new("systemd-analyze")
        .args(["verify", "--user", "--man=no", "--recursive-errors=yes"])
        .args(units)
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .output()
        .unwrap();
    assert_eq!((said.status.success(), String::from_utf8_lossy(&said.stderr).as_ref()), (true, ""));
}

/// The daemon is stopped twice. The first time is before anything is written, since one that hangs
/// cannot be stopped. The second is just before the socket is bound, since an agent may have
/// started another one.
#[test]
fn a_self_started_daemon_is_stopped_first_and_before_the_socket_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let home = Path::new(HOME);
    let stop = "stop the daemon, if one runs";
    let said = lines(&install(Manager::Systemd, folder.path(), home, PROGRAM).unwrap());
    assert_eq!(said[0], stop, "{said:?}");
    assert!(said[1].starts_with("write ") && said[2].ends_with("anchord.service"), "{said:?}");
    assert!(said[3].ends_with("daemon-reload"), "{said:?}");
    assert_eq!(said[4], stop, "{said:?}");
    assert!(said[6].ends_with("restart anchord.socket"), "{said:?}");
    let said = lines(&install(Manager::Launchd, folder.path(), home, PROGRAM).unwrap());
    assert_eq!(said[0], stop, "{said:?}");
    assert!(said[1].starts_with("write "), "{said:?}");
    assert!(said[2].starts_with("run launchctl bootout"), "{said:?}");
    assert_eq!(said[3], stop, "{said:?}");
    assert!(said[4].starts_with("run launchctl bootstrap gui/"), "{said:?}");
}

#[test]
fn only_installed_units_are_removed() {
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("systemd/user");
    let folder = folder.as_path();
    assert_eq!(uninstall(Manager::Systemd, folder).unwrap(), []);
    for step in install(Manager::Systemd, folder, Path::new(HOME), PROGRAM).unwrap() {
        if let Step::Write(edit) = step {
            edit.apply().unwrap();
        }
    }
    let again = install(Manager::Systemd, folder, Path::new(HOME), PROGRAM).unwrap();
    assert!(
        !again.iter().any(|step| matches!(step, Step::Write(_))),
        "a second time writes nothing"
    );
    assert!(matches!(again[0], Step::Run(_)), "units that are there may have to be mended first");
    // `systemctl enable` creates this link; it dangles once the unit is gone.
    let wanted = folder.join("sockets.target.wants");
    fs::create_dir(&wanted).unwrap();
    std::os::unix::fs::symlink(folder.join("anchord.socket"), wanted.join("anchord.socket"))
        .unwrap();
    let steps = uninstall(Manager::Systemd, folder).unwrap();
    assert_eq!(
        lines(&steps)[0],
        "run systemctl --user disable --now anchord.socket anchord.service"
    );
    for step in &steps {
        match step {
            Step::Write(edit) => edit.apply().unwrap(),
            Step::TryRun(_) => {}
            step => step.try_run(),
        }
    }
    assert_eq!(fs::read_dir(config.path()).unwrap().count(), 0, "no link, no empty folder");
}

#[test]
fn units_go_into_the_systemd_user_folder() {
    let folder =
        |config: Option<&str>| Manager::Systemd.folder(Path::new(HOME), config.map(OsString::from));
    assert_eq!(folder(None), Path::new("/home/ada/.config/systemd/user"));
    assert_eq!(folder(Some("/c")), Path::new("/c/systemd/user"));
    assert_eq!(folder(Some("c")), folder(None), "a relative one counts as none");
}
