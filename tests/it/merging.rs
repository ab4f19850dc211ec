//! A text is merged into the brief by a model, played by a server on loopback. Whatever the model
//! does, the text stays appended.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, channel};

use anchord_tests::{Agent, Instance, PATIENCE, Project, poll};
use serde_json::{Value, json};

/// Makes a provider's reply of the state that it gets: a status and the model's text.
type Model = Box<dyn FnMut(Value) -> (u16, String) + Send>;

/// Serves a model. Hands over what it was asked.
fn serve(mut model: Model) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, questions) = channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut reader = BufReader::new(&stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let question =
                body.pointer("/messages/1/content").unwrap().as_str().unwrap().to_owned();
            let (from, to) = (question.find('{').unwrap(), question.find("\n}\n").unwrap() + 2);
            let (status, said) = model(serde_json::from_str(&question[from..to]).unwrap());
            // Once the test has seen enough, it does not listen any more.
            let _ = sender.send(question);
            let reply = json!({ "choices": [{
                "message": { "role": "assistant", "content": said }, "finish_reason": "stop",
            }] });
            let reply = reply.to_string();
            let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: ");
            let mut stream = &stream;
            // A caller that is out of patience has closed its end.
            let _ = stream.write_all(format!("{head}{}\r\n\r\n{reply}", reply.len()).as_bytes());
        }
    });
    (url, questions)
}

/// An instance that asks this model, and an agent with infinite-context's tools.
fn set_up(url: &str, more: &str) -> (Instance, Project, Agent) {
    let instance = Instance::new();
    let project = Project::git();
    let key = instance.home().parent().unwrap().join("provider.key");
    std::fs::write(&key, "key-1\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    instance.configure(&format!(
        "[merge]\norder = [\"local\"]\nretries = 0\ntime_limit_seconds = 20\n{more}\n\
         [merge.provider.local]\napi = \"openai\"\nmodel = \"m\"\nurl = \"{url}\"\nkey_file = \"{}\"\n",
        key.display()
    ));
    let mut command = instance.shim(project.path());
    command.args(["--tools", "infinite-context"]);
    let mut agent = Agent::start_by(command);
    agent.initialize();
    (instance, project, agent)
}

fn checkpoint(agent: &mut Agent, text: &str) -> String {
    agent.tool("checkpoint", &json!({ "context": text, "token_count": 1000 }))
}

/// Runs `anchord merge` for the newest text, and returns what it printed and whether it succeeded.
fn merge_by_hand(instance: &Instance, project: &Project) -> (String, bool) {
    let mut command = instance.anchord();
    let output = command.args(["merge", "--project"]).arg(project.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.success())
}

#[test]
fn a_model_merges_a_text_after_the_reply() {
    let (url, questions) = serve(Box::new(|mut state| {
        state["active_context"]["current_task"] = json!("Draining the last queue");
        (200, format!("```json\n{state}\n```"))
    }));
    let (_instance, _project, mut agent) = set_up(&url, "");
    let reply = checkpoint(&mut agent, "We drained all queues but the last.");
    assert!(reply.contains("A model merges the rest next."), "{reply}");
    let question = questions.recv_timeout(PATIENCE).unwrap();
    assert!(question.contains("We drained all queues but the last."), "{question}");
    poll(PATIENCE, "the model's state", || {
        agent.tool("resume", &json!({})).contains("Draining the last queue").then_some(())
    });
}

#[test]
fn a_state_that_drops_something_is_not_taken() {
    let (url, questions) = serve(Box::new(|mut state| {
        state["active_context"]["active_decisions"] = json!([]);
        state["project_context"]["architecture"] = json!("Short.");
        (200, state.to_string())
    }));
    let (instance, project, mut agent) = set_up(&url, "");
    let long = "Two daemons, one queue each, and a journal between them that both append to.";
    let text = format!("Architecture: {long}\n\nDecisions:\n- Which queue? sled\n\nMore was said.");
    checkpoint(&mut agent, &text);
    questions.recv_timeout(PATIENCE).unwrap();
    let (said, merged) = merge_by_hand(&instance, &project);
    assert!(!merged && said.contains("the model's state was not taken"), "{said}");
    assert!(said.contains("architecture has 6 of"), "{said}");
    let brief = agent.tool("resume", &json!({}));
    assert!(brief.contains(long) && brief.contains("Which queue?"), "{brief}");
}

#[test]
fn no_more_models_are_called_than_a_day_allows() {
    let (url, questions) = serve(Box::new(|_| (500, String::new())));
    let (instance, project, mut agent) = set_up(&url, "calls_per_day = 1");
    checkpoint(&mut agent, "One text.");
    questions.recv_timeout(PATIENCE).unwrap();
    let (said, merged) = merge_by_hand(&instance, &project);
    assert!(!merged && said.contains("all 1 calls of today are made"), "{said}");
    instance.kill9();
    let (said, _) = merge_by_hand(&instance, &project);
    assert!(said.contains("all 1 calls of today are made"), "also after a crash: {said}");
    assert!(agent.tool("resume", &json!({})).contains("One text."));
}

#[test]
fn a_brief_that_is_written_meanwhile_is_asked_for_once_more() {
    let (in_call, called) = channel();
    let (proceed, wait) = channel::<()>();
    let mut calls = 0;
    let (url, _questions) = serve(Box::new(move |mut state| {
        calls += 1;
        if calls == 1 {
            in_call.send(()).unwrap();
            wait.recv().unwrap();
        }
        let task = format!("merged by call {calls}");
        state["active_context"]["current_task"] = json!(task);
        (200, state.to_string())
    }));
    let (instance, project, mut agent) = set_up(&url, "");
    checkpoint(&mut agent, "A text that is to be merged.");
    called.recv_timeout(PATIENCE).unwrap();
    let mut other = Agent::with_all_tools(&instance, project.path());
    other.tool(
        "memory_topic",
        &json!({ "action": "write", "topic": { "name": "main", "history": ["Written meanwhile."] } }),
    );
    proceed.send(()).unwrap();
    poll(PATIENCE, "the second answer", || {
        agent.tool("resume", &json!({})).contains("merged by call 2").then_some(())
    });
    let brief = agent.tool("resume", &json!({}));
    assert!(brief.contains("Written meanwhile."), "{brief}");
}

#[test]
fn what_would_be_sent_can_be_seen_and_has_no_secret() {
    let (url, questions) = serve(Box::new(|state| (200, state.to_string())));
    let (instance, project, mut agent) = set_up(&url, "calls_per_day = 0");
    checkpoint(&mut agent, "The text of the day. password: hunter2hunter2");
    let mut command = instance.anchord();
    let output = command.args(["merge", "--dry-run", "--project"]).arg(project.path()).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(said.contains("This would be sent to local (m, http://127.0.0.1"), "{said}");
    assert!(said.contains("The text of the day.") && !said.contains("hunter2"), "{said}");
    assert!(questions.try_recv().is_err(), "nobody is called");
}

#[test]
fn an_exposed_key_is_reported_and_repaired() {
    let (instance, project, mut agent) = set_up("http://127.0.0.1:1/v1", "");
    let key = instance.home().parent().unwrap().join("provider.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    agent.tool("status", &json!({}));
    let doctor = |more: &[&str]| {
        let mut command = instance.anchord();
        let output = command.arg("doctor").args(more).current_dir(project.path()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let said = doctor(&[]);
    assert!(said.contains("local cannot be called") && said.contains("doctor --fix"), "{said}");
    doctor(&["--fix"]);
    let said = doctor(&[]);
    assert!(said.contains("local calls m of http://127.0.0.1:1/v1"), "{said}");
}
