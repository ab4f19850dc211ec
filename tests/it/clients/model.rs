//! A model on loopback that follows a script. It speaks the Messages API for Claude Code, the
//! Responses API for Codex, generateContent for Gemini CLI, and Chat Completions for the others.
//!
//! It keeps no conversation. The ids of its own calls, and after a compaction its own summary, tell
//! it which step comes next. A repeated request therefore gets the same answer, and sessions may
//! run at the same time.

#![expect(clippy::indexing_slicing, reason = "JSON that was made here has the fields it was given")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// The prefix of each call's id, followed by the turn and the step. It has only letters and digits,
/// since some clients drop all else.
const CALL: &str = "callanchord";
/// The prefix of the script's state in a summary.
const STATE: &str = "script-state-";
/// Phrases with which clients ask for a summary.
const COMPACTION: [&str; 4] = [
    "create a detailed summary",
    "Your task is to create",
    "CONTEXT CHECKPOINT COMPACTION",
    "handoff summary",
];

/// The model's actions after one prompt.
#[derive(Debug)]
pub(super) struct Turn {
    /// The prompt, which is one line.
    pub(super) prompt: &'static str,
    pub(super) steps: Vec<Step>,
}

/// One answer of the model.
#[derive(Debug)]
pub(super) enum Step {
    /// A call of a tool of anchord.
    Call(&'static str, Value),
    /// A call of a tool of anchord, once the test allows it.
    CallWhenTold(&'static str, Value),
    /// A call of a tool of anchord, with a report of a nearly full context. The client compacts
    /// before it continues.
    CallAndFill(&'static str, Value),
    /// A call of one of the client's own tools.
    Own(&'static str, Value),
    /// A text that ends the turn.
    Say(&'static str),
    /// An answer that waits until the test allows it.
    Wait,
}

/// A request from a client.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The kind of answer that it asks for.
    pub(super) kind: Kind,
    /// The request's texts: instructions, context, messages, tool results.
    pub(super) text: String,
    /// The prompt that it is about; empty if the script has no such prompt.
    pub(super) prompt: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An answer.
    Answer,
    /// A summary of the conversation.
    Summary,
    /// A title or the like.
    Aside,
}

/// A running model. It ends with the process.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) port: u16,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    script: Vec<Turn>,
    asked: Mutex<Vec<Asked>>,
    gate: Mutex<bool>,
    opened: std::sync::Condvar,
}

impl Model {
    pub(super) fn start(script: Vec<Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner {
            script,
            asked: Mutex::default(),
            gate: Mutex::default(),
            opened: std::sync::Condvar::new(),
        });
        let model = Self { port, inner: Arc::clone(&inner) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let inner = Arc::clone(&inner);
                // Errors are ignored, since some tests are about a client that goes away midway.
                thread::spawn(move || inner.serve(&stream));
            }
        });
        model
    }

    /// Returns every request so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the requests for answers to one prompt.
    pub(super) fn about(&self, prompt: &str) -> Vec<Asked> {
        let mut asked = self.asked();
        asked.retain(|asked| asked.kind == Kind::Answer && asked.prompt == prompt);
        asked
    }

    /// Lets [`Step::Wait`] and [`Step::CallWhenTold`] continue.
    pub(super) fn go_on(&self) {
        *self.inner.gate.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.inner.opened.notify_all();
    }
}

impl Inner {
    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let path = line.split_whitespace().nth(1)?.split('?').next()?.to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (kind, reply) = if path.ends_with("/v1/messages") {
            self.messages(&body)
        } else if path.ends_with("/responses") {
            self.responses(&body)
        } else if path.ends_with("/chat/completions") {
            self.completions(&body)
        } else if path.ends_with("enerateContent") {
            self.contents(&body, path.contains(":stream"))
        } else if path.ends_with("/models") {
            ("application/json", json!({"object": "list", "data": [], "models": []}).to_string())
        } else {
            ("application/json", json!({"input_tokens": 1}).to_string())
        };
        let length = reply.len();
        let mut out = stream;
        write!(
            out,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{reply}"
        )
        .ok()
    }

    /// Records a request and returns its answer. `offers` is whether the request offers tools.
    fn next(&self, texts: &[String], calls: &[String], offers: bool) -> ModelOutput {
        let text = texts.join("\n");
        let (turn, step) = self.place(texts, calls);
        let prompt = turn.and_then(|at| self.script.get(at)).map_or("", |turn| turn.prompt);
        // Texts of hooks about the last tool may follow the client's question.
        let last = texts.iter().rev().take(3);
        let asks_summary =
            last.into_iter().any(|text| COMPACTION.iter().any(|words| text.contains(words)));
        let kind = match (asks_summary, offers) {
            (true, _) => Kind::Summary,
            (false, true) => Kind::Answer,
            (false, false) => Kind::Aside,
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(Asked { kind, text, prompt });
        drop(asked);
        match kind {
            Kind::Summary => {
                let turn = turn.unwrap_or_default();
                ModelOutput::Text(format!("The work so far, in short. {STATE}{turn}-{step}."))
            }
            Kind::Aside => ModelOutput::Text("a title".to_owned()),
            Kind::Answer => match turn.and_then(|at| self.script.get(at)?.steps.get(step)) {
                Some(Step::Say(text)) => ModelOutput::Text((*text).to_owned()),
                Some(step_now) => {
                    if let Step::Wait | Step::CallWhenTold(..) = step_now {
                        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
                        drop(self.opened.wait_while(gate, |open| !*open));
                    }
                    let id = format!("{CALL}{}S{step}E", turn.unwrap_or_default());
                    ModelOutput::of(step_now, id)
                }
                None => ModelOutput::Text("nothing more".to_owned()),
            },
        }
    }

    /// Returns the turn and the step that a request has reached.
    fn place(&self, texts: &[String], calls: &[String]) -> (Option<usize>, usize) {
        let turn = texts.iter().rev().find_map(|text| {
            let state = text.rsplit_once(STATE).and_then(|(_, rest)| rest.split_once('-'));
            let by_state = state.and_then(|(turn, _)| turn.parse().ok());
            let asks = |turn: &Turn| is_asked(text, turn.prompt);
            by_state.or_else(|| self.script.iter().position(asks))
        });
        let Some(turn) = turn else { return (None, 0) };
        let by_call = calls.iter().rev().find_map(|id| {
            // A client may put something before the id.
            let (_, rest) = id.split_once(&format!("{CALL}{turn}S"))?;
            rest.split('E').next()?.parse::<usize>().ok()
        });
        let by_state = texts.iter().rev().find_map(|text| {
            let (_, rest) = text.rsplit_once(&format!("{STATE}{turn}-"))?;
            rest.split('.').next()?.parse::<usize>().ok()
        });
        (Some(turn), by_call.map_or(0, |step| step + 1).max(by_state.unwrap_or_default()))
    }

    fn messages(&self, body: &Value) -> (&'static str, String) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        collect(body.get("system"), &mut texts, &mut calls);
        for message in array(body.get("messages")) {
            collect(message.get("content"), &mut texts, &mut calls);
        }
        let said = self.next(
            &texts,
            &calls,
            body.get("tools").is_some_and(|tools| !array(Some(tools)).is_empty()),
        );
        let (content, stop, tokens) = match said {
            ModelOutput::Text(text) => (json!({"type": "text", "text": text}), "end_turn", 100),
            ModelOutput::Call { id, tool, input, own, fills } => {
                let name = if own { tool.to_owned() } else { format!("mcp__anchord__{tool}") };
                let tokens = if fills { 995_000 } else { 100 };
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": input}),
                    "tool_use",
                    tokens,
                )
            }
        };
        let usage = json!({"input_tokens": tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 20});
        let message = json!({"id": "msg_script", "type": "message", "role": "assistant", "model": body.get("model"),
            "stop_sequence": null, "stop_reason": stop, "usage": usage, "content": [content]});
        if body.get("stream").and_then(Value::as_bool) != Some(true) {
            return ("application/json", message.to_string());
        }
        let mut begun = message.clone();
        begun["content"] = json!([]);
        begun["stop_reason"] = Value::Null;
        let mut block = content.clone();
        let delta = if content["type"] == "text" {
            block["text"] = json!("");
            json!({"type": "text_delta", "text": content["text"]})
        } else {
            block["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": content["input"].to_string()})
        };
        let events = events(&[
            json!({"type": "message_start", "message": begun}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
            json!({"type": "message_stop"}),
        ]);
        ("text/event-stream", events)
    }

    fn responses(&self, body: &Value) -> (&'static str, String) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        texts.extend(body.get("instructions").and_then(Value::as_str).map(str::to_owned));
        for item in array(body.get("input")) {
            collect(item.get("content"), &mut texts, &mut calls);
            collect(item.get("output"), &mut texts, &mut calls);
            calls.extend(item.get("call_id").and_then(Value::as_str).map(str::to_owned));
        }
        let tools = array(body.get("tools"));
        let said = self.next(&texts, &calls, !tools.is_empty());
        let (item, tokens) = match said {
            ModelOutput::Text(text) => (
                json!({"type": "message", "id": "msg_script", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}),
                100,
            ),
            ModelOutput::Call { id, tool, input, own, fills } => {
                let mut item = json!({"type": "function_call", "id": format!("fc{id}"), "call_id": id, "name": tool,
                    "arguments": input.to_string(), "status": "completed"});
                if !own {
                    item["namespace"] = namespace(tools).into();
                }
                (item, if fills { 200_000 } else { 100 })
            }
        };
        let mut response = json!({"id": "resp_script", "object": "response", "created_at": 0, "status": "completed",
            "model": body.get("model"), "output": [item],
            "usage": {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 20}});
        let completed = json!({"type": "response.completed", "response": response});
        response["output"] = json!([]);
        response["status"] = json!("in_progress");
        let events = events(&[
            json!({"type": "response.created", "response": response}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            completed,
        ]);
        ("text/event-stream", events)
    }
}

impl Inner {
    fn completions(&self, body: &Value) -> (&'static str, String) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for message in array(body.get("messages")) {
            collect(message.get("content"), &mut texts, &mut calls);
            collect(message.get("tool_calls"), &mut Vec::new(), &mut calls);
        }
        let tools = array(body.get("tools"));
        let said = self.next(&texts, &calls, !tools.is_empty());
        let (delta, stop) = match said {
            ModelOutput::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
            ModelOutput::Call { id, tool, input, own, .. } => {
                let name = if own { tool.to_owned() } else { offered(tools, tool) };
                let call = json!({"index": 0, "id": id, "type": "function",
                    "function": {"name": name, "arguments": input.to_string()}});
                (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
            }
        };
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
        let chunk = |choices: Value| {
            json!({"id": "chat_script", "object": "chat.completion.chunk", "created": 0,
                "model": body.get("model"), "choices": choices})
        };
        if body.get("stream").and_then(Value::as_bool) != Some(true) {
            let mut whole = chunk(json!([{"index": 0, "message": delta, "finish_reason": stop}]));
            whole["object"] = json!("chat.completion");
            whole["usage"] = usage;
            return ("application/json", whole.to_string());
        }
        let mut last = chunk(json!([]));
        last["usage"] = usage;
        let chunks = [
            chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])),
            chunk(json!([{"index": 0, "delta": {}, "finish_reason": stop}])),
            last,
        ];
        let chunks: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        ("text/event-stream", chunks + "data: [DONE]\n\n")
    }
}

impl Inner {
    /// Answers as Gemini. Its calls have no ids, so they are counted from the last prompt of the
    /// script.
    fn contents(&self, body: &Value, streams: bool) -> (&'static str, String) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        collect(body.pointer("/systemInstruction/parts"), &mut texts, &mut Vec::new());
        let (mut turn, mut step) = (None, 0);
        for content in array(body.get("contents")) {
            for part in array(content.get("parts")) {
                if part.get("functionCall").is_some() {
                    calls.extend(turn.map(|turn: usize| format!("{CALL}{turn}S{step}E")));
                    step += 1;
                }
                let output = part.pointer("/functionResponse/response");
                texts.extend(output.map(Value::to_string));
                let Some(text) = part.get("text").and_then(Value::as_str) else { continue };
                let asks = |turn: &Turn| is_asked(text, turn.prompt);
                if let Some(at) = self.script.iter().position(asks) {
                    (turn, step) = (Some(at), 0);
                    calls.clear();
                }
                texts.push(text.to_owned());
            }
        }
        let tools = array(body.pointer("/tools/0/functionDeclarations"));
        let part = match self.next(&texts, &calls, !tools.is_empty()) {
            ModelOutput::Text(text) => json!({ "text": text }),
            ModelOutput::Call { tool, input, own, .. } => {
                let mut names = tools.iter().filter_map(|it| it.get("name")?.as_str());
                let named = names.find(|name| !own && name.ends_with(tool)).unwrap_or(tool);
                json!({ "functionCall": { "name": named, "args": input } })
            }
        };
        let usage =
            json!({"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120});
        let candidate = json!({"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0});
        let reply = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "script",
            "responseId": "script"});
        if streams {
            return ("text/event-stream", format!("data: {reply}\r\n\r\n"));
        }
        ("application/json", reply.to_string())
    }
}

/// Returns whether a text has a prompt on a line of its own. Memory quotes the prompts of earlier
/// sessions within a line. opencode puts quotation marks around a prompt with blanks. OpenClaw puts
/// the time in brackets before it.
fn is_asked(text: &str, prompt: &str) -> bool {
    let plain = |line: &str| {
        let timed = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let said = timed.map_or(line, |(_, said)| said);
        said.trim_matches('"') == prompt
    };
    text.lines().any(|line| plain(line.trim()))
}

/// The content of the model's answer.
enum ModelOutput {
    Text(String),
    Call { id: String, tool: &'static str, input: Value, own: bool, fills: bool },
}

impl ModelOutput {
    fn of(step: &Step, id: String) -> Self {
        let (tool, input, own, fills) = match step {
            Step::Call(tool, input) | Step::CallWhenTold(tool, input) => {
                (*tool, input, false, false)
            }
            Step::CallAndFill(tool, input) => (*tool, input, false, true),
            Step::Own(tool, input) => (*tool, input, true, false),
            Step::Say(text) => return Self::Text((*text).to_owned()),
            Step::Wait => return Self::Text("waited".to_owned()),
        };
        Self::Call { id, tool, input: input.clone(), own, fills }
    }
}

/// Returns the name under which a client offers a tool of anchord's. Each has its own prefix. Qwen
/// Code and Droid offer tools of servers only in words.
fn offered(tools: &[Value], tool: &str) -> String {
    let names = || tools.iter().filter_map(|it| it.pointer("/function/name")?.as_str());
    let named = names().find(|name| name.ends_with(tool)).map(str::to_owned);
    let prefix =
        if names().any(|name| name == "ToolSearch") { "anchord___" } else { "mcp__anchord__" };
    named.unwrap_or_else(|| format!("{prefix}{tool}"))
}

/// Returns the namespace that Codex has put the server's tools in.
fn namespace(tools: &[Value]) -> String {
    let named = tools.iter().filter(|tool| tool["type"] == "namespace");
    let names = named.filter_map(|tool| tool["name"].as_str());
    names.into_iter().find(|name| name.contains("anchord")).unwrap_or("mcp__anchord").to_owned()
}

fn collect(content: Option<&Value>, texts: &mut Vec<String>, calls: &mut Vec<String>) {
    match content {
        Some(Value::String(text)) => texts.push(text.clone()),
        Some(Value::Array(parts)) => {
            for part in parts {
                calls.extend(part.get("id").and_then(Value::as_str).map(str::to_owned));
                texts.extend(part.get("text").and_then(Value::as_str).map(str::to_owned));
                collect(part.get("content"), texts, calls);
            }
        }
        _ => {}
    }
}

fn array(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn events(events: &[Value]) -> String {
    let line = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(line).collect()
}
