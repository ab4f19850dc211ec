//! The service managers' files. systemd's are verified by its own tool, launchd's by a plist
//! library. Both name the socket that the shims look for.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anchord_tests::skip;

#[test]
fn systemd_accepts_the_units() {
    let Some(out) = verify(|unit| unit) else { return };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8_lossy(&out.stderr), "", "not a word of warning");
}

#[test]
fn systemd_rejects_a_wrong_key() {
    let wrong = |unit: String| unit.replace("SocketMode=0600", "SocketModus=0600");
    let Some(out) = verify(wrong) else { return };
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("SocketModus"), "said only: {said}");
}

#[test]
fn the_socket_is_private_and_where_shims_expect_it() {
    let socket = std::fs::read_to_string(root().join("systemd/anchord.socket")).unwrap();
    for line in
        ["ListenStream=%h/.local/state/anchord/sock", "SocketMode=0600", "DirectoryMode=0700"]
    {
        assert!(socket.lines().any(|own| own == line), "no line {line}");
    }
}

#[test]
fn launchd_gets_a_plist_with_a_private_socket() {
    let text = std::fs::read_to_string(root().join("launchd/dev.anchord.daemon.plist")).unwrap();
    let value = plist::Value::from_reader_xml(text.replace("@HOME@", "/h").as_bytes()).unwrap();
    let top = value.as_dictionary().unwrap();
    let string = |key: &str| top.get(key).and_then(plist::Value::as_string);
    assert_eq!(string("Label"), Some("dev.anchord.daemon"));
    let arguments: Vec<_> = top["ProgramArguments"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(plist::Value::as_string)
        .collect();
    assert_eq!(arguments, ["/h/.cargo/bin/anchord", "daemon"]);
    let environment = top["EnvironmentVariables"].as_dictionary().unwrap();
    let name = environment["ANCHORD_LAUNCHD_SOCKET"].as_string().unwrap();
    let listeners = top["Sockets"].as_dictionary().unwrap()[name].as_dictionary().unwrap();
    assert_eq!(listeners["SockPathName"].as_string(), Some("/h/.local/state/anchord/sock"));
    assert_eq!(listeners["SockPathMode"].as_signed_integer(), Some(0o600));
    assert_eq!(top["Umask"].as_signed_integer(), Some(0o077));
}

/// Passes the units through `change` and runs `systemd-analyze verify` on them, in a home with the
/// binary. Returns `None` if the tool is missing.
fn verify(change: impl Fn(String) -> String) -> Option<Output> {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        skip("systemd-analyze is not installed");
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let binary = home.path().join(".cargo/bin/anchord");
    std::fs::create_dir_all(binary.parent().unwrap()).unwrap();
    std::fs::write(&binary, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&binary, PermissionsExt::from_mode(0o700)).unwrap();
    let units: Vec<PathBuf> = ["anchord.socket", "anchord.service"]
        .iter()
        .map(|name| {
            let unit = std::fs::read_to_string(root().join("systemd").join(name)).unwrap();
            let copy = home.path().join(name);
            std::fs::write(&copy, change(unit)).unwrap();
            copy
        })
        .collect();
    let out = Command::new("systemd-analyze")
        .args(["verify", "--user", "--man=no", "--recursive-errors=yes"])
        .args(units)
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .output()
        .unwrap();
    Some(out)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
