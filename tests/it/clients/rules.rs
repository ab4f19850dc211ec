//! Rules before the tools of the real clients.

use serde_json::{Value, json};

use super::machine::{Client, Machine, said};
use super::model::{Model, Step, Turn};
use super::new;

/// Returns a run of one command by the client's own tool.
fn script(client: Client) -> Vec<Turn> {
    let line = "touch made.txt && git push --force";
    let (tool, input): (_, Value) = match client {
        Client::Cline => ("run_commands", json!({"commands": [line]})),
        Client::Codex => ("exec_command", json!({"cmd": line})),
        Client::Copilot => {
            ("bash", json!({"command": line, "description": "as said", "mode": "sync"}))
        }
        Client::Droid => (
            "Execute",
            json!({"command": line, "summary": "as said", "riskLevel": "low",
                "riskLevelReason": "as said"}),
        ),
        Client::Gemini => ("run_shell_command", json!({"command": line})),
        Client::Opencode | Client::Kilo | Client::Pi => {
            ("bash", json!({"command": line, "description": "as said"}))
        }
        Client::Qwen => ("run_shell_command", json!({"command": line, "is_background": false})),
        _ => ("Bash", json!({"command": line, "description": "as said"})),
    };
    let steps = vec![Step::Own(tool, input), Step::Say("I see.")];
    vec![Turn { prompt: "Push it.", steps }]
}

/// Runs the command under a rule. Returns the model's requests.
fn run(client: Client, effect: &str) -> Option<(Machine, Vec<String>)> {
    let machine = Machine::new(client, client.program()?, Model::start(script(client)));
    let mut add = machine.anchord();
    add.args(["rules", "add", "No force push", effect, "--command", "git push --force"]);
    let added = add.args(["--reason", "others build on it"]).output().unwrap();
    assert!(added.status.success(), "{}", said(&added));
    machine.run("Push it.", &new());
    let asked = machine.model.about("Push it.").into_iter().map(|asked| asked.text).collect();
    Some((machine, asked))
}

#[test]
fn a_denied_command_does_not_run_and_the_model_reads_why() {
    for client in Client::WITH_RULES {
        let Some((machine, asked)) = run(client, "--deny") else { continue };
        assert!(!machine.project.path().join("made.txt").exists(), "{client:?}: it ran");
        let last = asked.last().expect("the model was asked");
        assert!(last.contains("r1 No force push: others build on it."), "{client:?}: {last}");
    }
}

/// Headless, nobody can answer the prompt. So the command does not run either.
#[test]
fn a_command_to_ask_about_does_not_run_by_itself() {
    for client in [Client::ClaudeCode, Client::Codex] {
        let Some((machine, asked)) = run(client, "--ask") else { continue };
        assert!(!machine.project.path().join("made.txt").exists(), "{client:?}: it ran");
        let last = asked.last().expect("the model was asked");
        assert!(last.contains("No force push"), "{client:?}: {last}");
        if client == Client::Codex {
            assert!(last.contains("anchord approve "), "{last}");
        }
    }
}
