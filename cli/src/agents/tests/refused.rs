//! Files that cannot be read or changed: each concerns its own agent alone.

use super::*;

/// Files that cannot be edited, each with its agent.
const BROKEN: [(&str, &str, &str); 4] = [
    ("codex", ".codex/config.toml", "a = \n"),
    ("gemini", ".gemini/settings.json", "{\"mcpServers\": {]"),
    ("claude-code", ".claude/settings.json", "{\"hooks\": []}"),
    ("openclaw", ".openclaw/openclaw.json", "{mcp: {servers: {anchord: {command: 'other'}}}}"),
];

#[test]
fn an_unreadable_file_keeps_only_its_own_agent_from_being_set_up() {
    for (id, name, text) in BROKEN {
        let home = Home::full();
        home.write(name, text);
        let before = home.files();
        let error = home.set_up(&mut RealDisk).unwrap_err();
        assert!(error.message.contains(name), "{error}");
        for other in Agent::all() {
            let state = State::of(other, &home.setting());
            assert_eq!(state.servers.is_empty(), other == agent(id), "{other:?} without {id}");
        }
        assert_eq!(home.text(name), text);
        home.take_back(&mut RealDisk).unwrap();
        assert_eq!(home.files(), before);
    }
}

#[test]
fn an_unreadable_file_keeps_no_other_from_being_taken_back() {
    for (id, name, text) in BROKEN.into_iter().take(2) {
        let home = Home::full();
        home.set_up(&mut RealDisk).unwrap();
        let set_up = home.text(name);
        home.write(name, text);
        let plans =
            plan::removal(&Agent::all(), &home.setting(), &Manifest::read(&home.dir).unwrap());
        let [refusal] = plans.refused.as_slice() else { panic!("{:?}", plans.refused) };
        assert!(refusal.agent == agent(id) && refusal.why.contains(name), "{refusal:?}");
        assert!(refusal.by_hand.contains("anchord"), "{refusal:?}");
        home.take_back(&mut RealDisk).unwrap_err();
        for (path, text) in home.files() {
            let is_left = path.ends_with(name) || path.ends_with(manifest::NAME);
            assert!(is_left || !text.contains("anchord"), "{}: {text}", path.display());
        }
        home.write(name, &set_up);
        home.take_back(&mut RealDisk).unwrap();
        let (_, before) = FILES.into_iter().find(|(file, _)| *file == name).unwrap();
        assert_eq!(home.text(name), before, "it is remembered until it can be taken back");
    }
}

#[test]
fn a_broken_file_without_anything_of_anchord_is_no_obstacle_to_a_removal() {
    let home = Home::empty();
    home.write(".gemini/settings.json", "{\"mcpServers\": {]");
    home.take_back(&mut RealDisk).unwrap();
}

/// A disk that refuses one file.
struct Refusing(&'static str);

impl Disk for Refusing {
    fn write(&mut self, edit: &Edit) -> Result<(), Error> {
        if edit.path.ends_with(self.0) {
            return Err(Error::failed(format!("cannot change {}", edit.path.display())));
        }
        edit.apply()
    }
}

#[test]
fn a_file_that_cannot_be_written_keeps_no_other_from_its_change() {
    let home = Home::full();
    let before = home.files();
    let name = ".gemini/settings.json";
    home.set_up(&mut Refusing(name)).unwrap_err();
    for other in Agent::all() {
        let state = State::of(other, &home.setting());
        assert_eq!(state.servers.is_empty(), other == agent("gemini"), "{other:?}");
    }
    home.set_up(&mut RealDisk).unwrap();
    let error = home.take_back(&mut Refusing(name)).unwrap_err();
    assert!(error.message.contains(name), "{error}");
    assert!(home.text(name).contains("anchord") && !home.text(".claude.json").contains("anchord"));
    home.take_back(&mut RealDisk).unwrap();
    assert_eq!(home.files(), before);
}
