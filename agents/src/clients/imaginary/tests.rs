//! Everything that the shim, the daemon and the command line ask, answered for this client.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anchord_memory::lifecycle::{Answer, Event};

use super::CLIENT;
use crate::events::{Adapter, ParsedEvent};
use crate::setup::parts::{inspect, place};
use crate::setup::{Agent, Programs, Scope, Setting, UserEnvironment, Wishes, instruction_files};
use crate::transcripts::Places;
use crate::{Client, Environment, McpNames};

#[test]
fn variables_and_mcp_names_are_recognised() {
    let variable = |known: &'static str, value: &'static str| {
        move |name: &str| (name == known).then(|| value.to_owned())
    };
    let talk = Environment::session_in(variable("IMAGINARY_TALK", "t1"));
    assert_eq!(talk.as_deref(), Some("t1"));
    let directory = Environment::project_in(variable("IMAGINARY_DIR", "/src/app"));
    assert_eq!(directory.as_deref(), Some("/src/app"));
    let pid = Environment::process_in(Some("imaginary"), variable("IMAGINARY_PID", "7"));
    assert_eq!(pid.as_deref(), Some("7"));
    let field = |known: &'static str| move |name: &str| (name == known).then_some("x");
    assert_eq!(McpNames::conversation_in(field("imaginary/talk")), Some("x"));
    assert_eq!(McpNames::call_in(field("imaginary/call")), Some("x"));
    assert_eq!(McpNames::recorded("imaginary-tools"), "imaginary");
    let tokens = Client::named_over_mcp("Imaginary 1.0").unwrap().limits.session_tokens;
    assert_eq!(tokens, Some(40_000));
    assert!(Client::ends_session("talk.ends"));
}

#[test]
fn hooks_are_understood_and_answered() {
    let adapter = Adapter::of("imaginary").unwrap();
    let payload = br#"{"hook_event_name":"talk.asks","talk":"t1","words":"why?","cwd":"/src/app"}"#;
    let (read, unknown) = adapter.read(payload).unwrap();
    let ParsedEvent::Event(envelope) = read else { panic!("an event") };
    assert_eq!(envelope.event, Event::PromptSubmitted { prompt: "why?".to_owned() });
    assert_eq!((envelope.agent_session.as_str(), unknown.len()), ("t1", 0));
    let answer = Answer::Context("because".to_owned());
    assert_eq!(adapter.write(&envelope, &answer), r#"{"reply":"because"}"#);
}

#[test]
fn the_imaginary_client_is_set_up() {
    let agent = Agent::named("imaginary").unwrap();
    assert!(Agent::all().contains(&agent));
    assert!(instruction_files().contains(&"IMAGINARY.md"));
    let variables = BTreeMap::from([("IMAGINARY_HOME", PathBuf::from("/elsewhere"))]);
    let user = UserEnvironment { home: PathBuf::from("/home"), path: Vec::new(), variables };
    let setting = Setting {
        place: &user,
        scope: &Scope::User,
        programs: &Programs::on_path(),
        wishes: Wishes::default(),
    };
    let targets = agent.targets(&setting);
    let [target] = targets.as_slice() else { panic!("one file") };
    assert_eq!(target.path, Path::new("/elsewhere/imaginary.json"));
    let text = place(None, target.format, &target.parts).unwrap().text.unwrap();
    let found = inspect(&text, target.format, &target.parts).unwrap();
    assert_eq!(
        found.servers,
        [("anchord".to_owned(), vec!["anchord".to_owned(), "mcp".to_owned()])]
    );
    assert_eq!(found.hooks.len(), 4);
    assert!(found.hooks.iter().all(|hook| hook.words == ["anchord", "hook", "imaginary"]));
}

#[test]
fn transcripts_are_read() {
    let home = tempfile::tempdir().unwrap();
    let talks = home.path().join(".imaginary/talks");
    fs::create_dir_all(&talks).unwrap();
    let lines = r#"{"who":"person","words":"paint the moon","dir":"/src/app"}
{"who":"agent","words":"It is painted."}
"#;
    fs::write(talks.join("t1.jsonl"), lines).unwrap();
    let found = Places::by_variables(home.path(), |_| None).transcripts();
    let [transcript] = found.as_slice() else { panic!("one transcript") };
    assert_eq!(*transcript.client, CLIENT);
    let past = transcript.read().unwrap();
    assert_eq!((past.captured.key(), past.cwd.as_deref()), ("imaginary:t1", Some("/src/app")));
    insta::assert_snapshot!(past.captured.row_summary(), @r"
    Asked: paint the moon
    Said last: It is painted.
    ");
}
