//! Addresses of folders.

use serde_json::json;

use super::*;

#[test]
fn only_addresses_of_files_on_this_machine_have_a_path() {
    let path = |address: &str| local(address);
    let found = |path: &str| Some(path.to_owned());
    assert_eq!(path("file:///src/my%20app"), found("/src/my app"));
    assert_eq!(path("file:///src/caf%C3%A9"), found("/src/café"));
    assert_eq!(path("file:///src/100%"), found("/src/100%"));
    assert_eq!(path("file:///src/%zz"), found("/src/%zz"));
    for address in ["", "/src/app", "file://box/src", "vscode-remote://wsl%2Bu/src", "file:///%ff"]
    {
        assert_eq!(path(address), None, "{address}");
    }
}

#[test]
fn a_workspace_names_its_folder_with_its_scheme() {
    let of = |uri: Value| directory(&json!({ "id": "w1", "uri": uri }));
    assert_eq!(of(json!("file:///src/app")).as_deref(), Some("/src/app"));
    assert_eq!(of(json!({ "path": "/src/app" })).as_deref(), Some("/src/app"));
    let both = json!({ "scheme": "file", "fsPath": "/a", "path": "/b" });
    assert_eq!(of(both).as_deref(), Some("/a"));
    assert_eq!(of(json!({ "scheme": "vscode-remote", "path": "/src/app" })), None);
    assert_eq!(of(json!({ "scheme": "file", "fsPath": "c:\\src" })), None);
    assert_eq!(directory(&json!({ "id": "empty-window" })), None);
}

#[test]
fn the_name_of_a_workspace_leads_nowhere_else() {
    let scratch = tempfile::tempdir().unwrap();
    let storage = scratch.path().join("workspaceStorage");
    for place in [storage.join("w1"), scratch.path().join("elsewhere")] {
        std::fs::create_dir_all(&place).unwrap();
        let about = r#"{"folder": "file:///src/app"}"#;
        std::fs::write(place.join("workspace.json"), about).unwrap();
    }
    let workspaces = Workspaces::within(storage);
    assert_eq!(workspaces.folder("w1").as_deref(), Some("/src/app"));
    for name in ["w2", "..", "../elsewhere", "/etc", ""] {
        assert_eq!(workspaces.folder(name), None, "{name}");
    }
}
