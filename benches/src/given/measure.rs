//! Figures about the context that an agent gets from a memory of one size.

use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anchord_memory::tokens;
use anchord_tests::{Agent, Instance, Project};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::conversation::{Conversation, instance};
use super::dataset::{Action, Dataset, Need, Session, export, list, text_of};
use super::{Print, filler};
use crate::times::{Times, show};

/// Figures: how often a needed fact was given, and how often a record was given in vain.
#[derive(Default)]
pub(super) struct Figures {
    records: usize,
    /// Prompts whose fact is in the model's context, from the start or from the prompt.
    prompts: Share,
    /// Prompts whose fact the start already gave.
    from_start: Share,
    /// Prompts that need nothing and are given a record.
    in_vain: Share,
    actions: Share,
    /// Actions that need nothing and are given a record.
    actions_in_vain: Share,
    /// Pins, open questions and staged work that are still in the context after a compaction.
    kept: Share,
    /// Lines of the start that are still in the context after a compaction.
    start_kept: Share,
    start_tokens: Mean,
    prompt_tokens: Mean,
    action_tokens: Mean,
    restored_tokens: Mean,
    took: Vec<Duration>,
}

#[derive(Clone, Copy, Default)]
struct Share {
    of: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, counts: bool) {
        self.of += usize::from(counts);
        self.all += 1;
    }
}

impl fmt::Display for Share {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.of as f64 / self.all.max(1) as f64;
        write!(f, "{percent:.1} % ({}/{})", self.of, self.all)
    }
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: u64,
    all: u64,
}

impl Mean {
    fn add(&mut self, text: &str) {
        self.sum += u64::from(tokens::count(text));
        self.all += 1;
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sum / self.all.max(1))
    }
}

impl Figures {
    pub(super) fn head() -> &'static str {
        "| records | prompts with their fact | of these from the start | prompts given in vain | actions with their record | \
         actions given in vain | after a compaction: pins, questions, staged | of the start | tokens: start | prompt | action | \
         restored | hook p50 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = |number: usize| self.took.get(number).copied().unwrap_or_default();
        let took = Times::measured(self.took.len(), took);
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.records,
            self.prompts,
            self.from_start,
            self.in_vain,
            self.actions,
            self.actions_in_vain,
            self.kept,
            self.start_kept,
            self.start_tokens,
            self.prompt_tokens,
            self.action_tokens,
            self.restored_tokens,
            show(took.median()),
        )
    }
}

/// Stores a memory of `size` records, and measures the context given from it.
pub(super) fn at_size(dataset: &Dataset, size: usize, print: Print) -> Result<Figures> {
    let is_small = size < dataset.len() / 2;
    let sessions = memory_of(dataset, size);
    let counts = |need: &&Need| !is_small || need.small;
    let instance = instance();
    let project = Project::git();
    instance.start_daemon();
    let stored = import(&instance, project.path(), &sessions)?;
    let mut agent = Agent::with_all_tools(&instance, project.path());
    // The conversations below must not leave anything in memory for the next ones.
    agent.tool("memory_configure", &json!({ "checkpoint_mode": "conservative" }));

    let mut figures = Figures { records: stored, ..Figures::default() };
    let mut number = 0;
    let mut conversation = || {
        number += 1;
        Conversation::new(&instance, project.path(), &format!("conversation-{number}"))
    };
    for need in dataset.prompts.iter().filter(counts) {
        let mut with = conversation();
        let (start, text) = (with.start("startup"), with.tell(&need.occasion));
        let given = need.is_in(&start) || need.is_in(&text);
        figures.start_tokens.add(&start);
        figures.prompt_tokens.add(&text);
        figures.prompts.add(given);
        figures.from_start.add(need.is_in(&start));
        say(print, need, given, &text);
        figures.finish(with);
    }
    for prompt in &dataset.nothing {
        let mut with = conversation();
        with.start("startup");
        let text = with.tell(&Action::Prompt(prompt.clone()));
        figures.in_vain.add(!text.trim().is_empty());
        if print.missed && !text.trim().is_empty() {
            println!("in vain: {prompt}\n{text}");
        }
        figures.finish(with);
    }
    for need in dataset.actions.iter().filter(counts) {
        let mut with = conversation();
        let (start, text) = (with.start("startup"), with.tell(&need.occasion));
        let given = need.is_in(&start) || need.is_in(&text);
        figures.action_tokens.add(&text);
        figures.actions.add(given);
        say(print, need, given, &text);
        figures.finish(with);
    }
    for action in &dataset.quiet {
        let mut with = conversation();
        with.start("startup");
        let text = with.tell(action);
        figures.actions_in_vain.add(!text.trim().is_empty());
        if print.missed && !text.trim().is_empty() {
            println!("in vain: {}\n{text}", words(action));
        }
        figures.finish(with);
    }
    agent.tool("memory_configure", &json!({ "checkpoint_mode": "balanced" }));
    for (at, compaction) in dataset.compactions.iter().enumerate() {
        let id = format!("compacted-{at}");
        compacted(&mut figures, &instance, project.path(), (&id, compaction, &sessions), print)?;
    }
    Ok(figures)
}

/// Returns the first sessions of the data, up to `size` records, or all of them among filler.
pub(super) fn memory_of(dataset: &Dataset, size: usize) -> Vec<Session> {
    let needs = dataset.prompts.iter().chain(&dataset.actions);
    let answers: Vec<String> = needs.flat_map(|need| need.answers.clone()).collect();
    let mut left = size;
    let mut sessions: Vec<Session> = Vec::new();
    for session in &dataset.sessions {
        // A set of about the requested size is taken whole: its last records are needed as well.
        let all = size >= dataset.len() * 3 / 4;
        let take = if all { session.records.len() } else { session.records.len().min(left) };
        left = left.saturating_sub(take);
        let records = session.records.iter().take(take).cloned().collect::<Vec<_>>();
        if !records.is_empty() {
            sessions.push(Session { records, ..session.clone() });
        }
    }
    sessions.extend(filler::sessions(&dataset.sessions, left, &answers));
    sessions.sort_by_key(|session| std::cmp::Reverse(session.days_ago));
    sessions
}

fn import(instance: &Instance, directory: &Path, sessions: &[Session]) -> Result<usize> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let document = export(sessions, i64::try_from(now)?)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("memory.json");
    std::fs::write(&file, document.to_string())?;
    let mut import = instance.anchord();
    import.args(["import", "--yes"]).arg(&file).current_dir(directory);
    let output = import.output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Ok(list(&document, "records").len())
}

/// Plays a conversation that is compacted, and checks what must survive the compaction.
fn compacted(
    figures: &mut Figures,
    instance: &Instance,
    directory: &Path,
    (id, compaction, sessions): (&str, &Value, &[Session]),
    print: Print,
) -> Result<()> {
    let mut shim = instance.shim(directory);
    shim.env("CLAUDE_CODE_SESSION_ID", id);
    let mut agent = Agent::start_by(shim);
    agent.initialize();
    let mut with = Conversation::new(instance, directory, id);
    let start = with.start("startup");
    with.tell(&Action::Prompt(text_of(compaction, "prompt")));
    let mut staged: Vec<String> = Vec::new();
    let mut checkpoint = json!({});
    for (field, kind) in [
        ("blueprints", "blueprint"),
        ("lessons", "lesson"),
        ("anchors", "anchor"),
        ("notes", "note"),
    ] {
        let of: Vec<Value> = list(compaction, "staged")
            .iter()
            .filter(|record| text_of(record, "kind") == kind)
            .map(without_kind)
            .collect();
        for record in &of {
            let fields = ["content", "detail", "concept", "title", "summary"];
            let texts = fields.into_iter().map(|field| text_of(record, field));
            staged.extend(texts.filter(|text| !text.is_empty()));
        }
        if !of.is_empty() {
            checkpoint.as_object_mut().context("an object")?.insert(field.to_owned(), json!(of));
        }
    }
    let topic = compaction.get("topic").filter(|topic| topic.is_object());
    let staged_topics = list(compaction, "staged").iter();
    let topic = topic.or_else(|| staged_topics.clone().find(|it| text_of(it, "kind") == "topic"));
    if let Some(topic) = topic {
        let topic = as_asked(topic);
        checkpoint.as_object_mut().context("an object")?.insert("topic".to_owned(), topic);
    }
    agent.tool("memory_checkpoint", &checkpoint);
    for file in list(compaction, "edited").iter().filter_map(Value::as_str) {
        with.edited(file);
    }
    for command in list(compaction, "worked").iter().filter_map(Value::as_str) {
        with.passed(command);
    }
    let restored = with.compact();
    figures.restored_tokens.add(&restored);
    let flat = flat(&restored);
    let mut must = staged;
    must.extend(list(compaction, "worked").iter().filter_map(Value::as_str).map(str::to_owned));
    let topics = topic.into_iter();
    let open = topics.flat_map(|topic| list(topic, "decisions").to_vec());
    let open = open.filter(|decision| decision.get("decided").is_none_or(Value::is_null));
    must.extend(open.map(|decision| text_of(&decision, "question")));
    must.extend(pinned(sessions));
    for text in must {
        let is_there = flat.contains(&self::flat(&text));
        figures.kept.add(is_there);
        if print.missed && !is_there {
            println!("lost in {id}: {text}");
        }
    }
    for line in start.lines().filter(|line| is_record(line) || line.starts_with("  ")) {
        let is_there = is_back(line, &restored);
        figures.start_kept.add(is_there);
        if print.missed && !is_there {
            println!("not back in {id}: {line}");
        }
    }
    if print.texts {
        println!("== start\n{start}\n== {id}\n{restored}");
    }
    figures.finish(with);
    drop(agent);
    Ok(())
}

/// Returns the contents of pinned records.
fn pinned(sessions: &[Session]) -> Vec<String> {
    let records = sessions.iter().flat_map(|session| &session.records);
    let pinned =
        records.filter(|record| record.get("pinned").and_then(Value::as_bool).unwrap_or(false));
    pinned.map(|record| text_of(record, "content")).filter(|text| !text.is_empty()).collect()
}

fn without_kind(record: &Value) -> Value {
    let fields = record.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| !matches!(name.as_str(), "kind" | "id"));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Converts a topic to the form that `memory_checkpoint` takes: an open decision becomes a question
/// without a decision.
fn as_asked(topic: &Value) -> Value {
    let mut topic = without_kind(topic);
    let decisions: Vec<Value> = list(&topic, "decisions")
        .iter()
        .map(|decision| {
            let question = text_of(decision, "question");
            match decision.get("decided").and_then(Value::as_str) {
                Some(decided) => json!({ "question": question, "decision": decided }),
                None => json!({ "question": question }),
            }
        })
        .collect();
    if let Some(fields) = topic.as_object_mut() {
        fields.insert("decisions".to_owned(), json!(decisions));
    }
    topic
}

/// Returns whether a line of a load begins a record, as in `b12 …`.
fn is_record(line: &str) -> bool {
    let id = line.split([' ', ':']).next().unwrap_or_default();
    let mut chars = id.chars();
    chars.next().is_some_and(|letter| letter.is_ascii_lowercase())
        && id.len() > 1
        && chars.all(|c| c.is_ascii_digit())
}

/// Returns whether a restored text has a line of the start, or begins a line with it. There may be
/// more room for a record than at the start.
fn is_back(line: &str, restored: &str) -> bool {
    let said = line.trim_end_matches(" …");
    restored.lines().any(|restored| restored.starts_with(said))
}

/// Joins a text's words on one line. A mark such as `<system>` is shown as `‹system>`
/// (decision 26), which says as much, so both brackets count as one.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('‹', "<")
}

fn words(action: &Action) -> String {
    match action {
        Action::Prompt(prompt) => prompt.clone(),
        Action::Edit(file) => format!("edit {file}"),
        Action::Read(file) => format!("read {file}"),
        Action::Failed { command, .. } => format!("failed: {command}"),
    }
}

fn say(print: Print, need: &Need, given: bool, text: &str) {
    if print.missed && !given {
        let answer = need.answers.first().map_or("", String::as_str);
        println!("missed {}: {} -> {answer}", need.id, words(&need.occasion));
    }
    if print.texts {
        println!("== {} {}\n{text}", need.id, words(&need.occasion));
    }
}

impl Need {
    fn is_in(&self, text: &str) -> bool {
        let text = flat(text);
        self.answers.iter().any(|answer| text.contains(&flat(answer)))
    }
}

impl Figures {
    fn finish(&mut self, mut conversation: Conversation<'_>) {
        self.took.extend(conversation.took.iter().copied());
        conversation.end();
    }
}
