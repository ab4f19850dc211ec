//! `anchord edit`: corrects what is stored, by options or in an editor.

mod editor;

use std::io::Write;

use anchord_daemon::api::ToolReply;
use anchord_memory::limits::{NOTE_BYTES_MAX, TEXT_BYTES_MAX};
use anchord_memory::{Body, Category, Record, RecordId};
use serde_json::{Map, Value, json};

use super::MemoryArg;
use super::add::CategoryParser;
use crate::exit::Error;
use crate::text::{self, Source};
use crate::tool::{self, Caller};
use editor::Draft;

/// Correct a record, in your editor or by options
///
/// Without options, $VISUAL or $EDITOR opens with the text of the record: the content of a note or
/// blueprint, or the concept of an anchor. For a lesson it is the summary, a blank line and the
/// detail. The record keeps its id and its earlier versions. If somebody else changed it meanwhile,
/// nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "What can be edited:
  note         content, summary, importance, expires, tags
  blueprint    title, category, content, tags
  lesson       summary, detail, files, tags
  anchor       file, lines, concept, tags

Examples:
  anchord edit b12
  anchord edit b12 --title 'Retry policy' --category convention
  anchord edit n3 --content - --expires 2w < notes.txt
  anchord edit l7 --detail 'Run them at night' --file db/migrate.rb --tag db
  EDITOR='code --wait' anchord edit test.command")]
pub(crate) struct Args {
    /// An id as `anchord list` shows it, or a fact's key
    #[arg(value_name = "ID|KEY")]
    name: String,
    /// Text of a note or blueprint; - reads standard input
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// Title of a blueprint
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Category of a blueprint
    #[arg(long, value_name = "CATEGORY", value_parser = CategoryParser)]
    category: Option<Category>,
    /// Summary of a note or lesson; '' removes that of a note
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Detail of a lesson; - reads standard input
    #[arg(long, value_name = "TEXT")]
    detail: Option<String>,
    /// File of an anchor or lesson, may be repeated for a lesson; replaces the current files
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Lines of an anchor: 42-67, or 42
    #[arg(long, value_name = "LINES")]
    lines: Option<String>,
    /// Concept of an anchor
    #[arg(long, value_name = "TEXT")]
    concept: Option<String>,
    /// Importance of a note: 1 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    importance: Option<u8>,
    /// Expiry of a note: 12h, 30d, tomorrow, 2026-12-01, or never
    #[arg(long, value_name = "WHEN", value_parser = text::when)]
    expires: Option<String>,
    /// Tag that replaces the current ones; may be repeated, '' removes all tags
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the text, and the record as it is now
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let field = if self.name.parse::<RecordId>().is_ok() { "id" } else { "key" };
        let mut caller = Caller::new(self.memory.resolve_for(&self.name)?)?;
        let reply = caller.call("memory_get", json!({ field: self.name }))?;
        let Some(record) = reply.records.into_iter().next() else {
            return Err(Error::failed("failed to edit: the daemon returned no record"));
        };
        let json = self.json;
        let changes = self.changes(&record)?;
        if !changes.is_empty() {
            let has_summary = changes.contains_key("summary");
            let reply = send(&mut caller, &record, changes)?;
            tool::print(out, &reply, json)?;
            return if json || has_summary { Ok(()) } else { say_lost(out, &record, &reply) };
        }
        let draft = Draft::open(&text_of(&record)?)?;
        let stored = draft.edited().and_then(|text| {
            let changes = text.map(|text| changes_from(&record, &text));
            changes.map(|changes| send(&mut caller, &record, changes)).transpose()
        });
        match stored {
            Ok(Some(reply)) => {
                tool::print(out, &reply, json)?;
                if json { Ok(()) } else { say_lost(out, &record, &reply) }
            }
            Ok(None) => Ok(writeln!(out, "Nothing was changed.")?),
            // A refusal must not lose a text that somebody took time to write.
            Err(error) => Err(draft.kept(error)),
        }
    }

    /// Collects the options as changes, under the field names of the tools.
    fn changes(self, record: &Record) -> Result<Map<String, Value>, Error> {
        self.fit(record)?;
        let bytes_max = if record.note().is_some() { NOTE_BYTES_MAX } else { TEXT_BYTES_MAX };
        let read = |text| Source::default().read(text, bytes_max);
        let mut changes = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            changes.extend(value.map(|value| (name.to_owned(), value)));
        };
        let files: Vec<String> =
            self.file.iter().map(|file| self.memory.project.file(file.clone())).collect();
        match (&record.body, files.as_slice()) {
            (_, []) => {}
            (Body::Anchor(_), [file]) => set("file", Some(json!(file))),
            (Body::Anchor(_), _) => return Err(Error::usage("an anchor has one file")),
            (_, files) => set("files", Some(json!(files))),
        }
        let tags: Vec<&String> = self.tag.iter().filter(|tag| !tag.is_empty()).collect();
        set("tags", (!self.tag.is_empty()).then(|| json!(tags)));
        set("category", self.category.map(|category| json!(category)));
        set("importance", self.importance.map(Value::from));
        set("content", read(self.content)?.map(Value::from));
        set("detail", read(self.detail)?.map(Value::from));
        for (name, text) in [
            ("title", self.title),
            ("summary", self.summary),
            ("lines", self.lines),
            ("concept", self.concept),
            ("expires", self.expires),
        ] {
            set(name, text.map(Value::from));
        }
        Ok(changes)
    }

    /// Refuses options for fields that a record of this kind does not have.
    fn fit(&self, record: &Record) -> Result<(), Error> {
        let noun = record.kind().noun();
        let given = [
            ("--content", "note blueprint", self.content.is_some()),
            ("--title", "blueprint", self.title.is_some()),
            ("--category", "blueprint", self.category.is_some()),
            ("--summary", "note lesson", self.summary.is_some()),
            ("--detail", "lesson", self.detail.is_some()),
            ("--file", "lesson anchor", !self.file.is_empty()),
            ("--lines", "anchor", self.lines.is_some()),
            ("--concept", "anchor", self.concept.is_some()),
            ("--importance", "note", self.importance.is_some()),
            ("--expires", "note", self.expires.is_some()),
        ];
        let misplaced =
            given.iter().find(|(_, of, given)| *given && !of.split(' ').any(|of| of == noun));
        let Some((option, of, _)) = misplaced else { return Ok(()) };
        let of: Vec<String> = of.split(' ').map(|kind| format!("{kind}s")).collect();
        let message = format!(
            "{option} applies only to {}, and {} is not one of them",
            of.join(" and "),
            record.id
        );
        Err(Error::usage(message).with_action("`anchord edit --help` lists what can be edited."))
    }
}

/// Returns the text that the editor opens with.
fn text_of(record: &Record) -> Result<String, Error> {
    match &record.body {
        Body::Note(note) => Ok(note.content.clone()),
        Body::Blueprint(blueprint) => Ok(blueprint.content.clone()),
        Body::Anchor(anchor) => Ok(anchor.concept.clone()),
        Body::Lesson(lesson) if lesson.detail.is_empty() => Ok(lesson.summary.clone()),
        Body::Lesson(lesson) => Ok(format!("{}\n\n{}", lesson.summary, lesson.detail)),
        _ => {
            let noun = record.kind().noun();
            Err(Error::usage(format!("{} is a {noun}, which only agents write", record.id)))
        }
    }
}

/// Returns the changes that an edited text makes to a record.
fn changes_from(record: &Record, text: &str) -> Map<String, Value> {
    let fields = match &record.body {
        Body::Lesson(_) => {
            let (summary, detail) = text.split_once('\n').unwrap_or((text, ""));
            json!({ "summary": summary, "detail": detail.trim() })
        }
        Body::Anchor(_) => json!({ "concept": text }),
        _ => json!({ "content": text }),
    };
    fields.as_object().cloned().unwrap_or_default()
}

/// Says that a note lost its summary with the content that it was of.
fn say_lost(out: &mut dyn Write, before: &Record, reply: &ToolReply) -> Result<(), Error> {
    let after = reply.records.first().and_then(Record::note);
    let is_lost = before.note().zip(after).is_some_and(|(before, after)| {
        !before.summary.is_empty() && after.summary.is_empty() && before.content != after.content
    });
    if is_lost {
        writeln!(
            out,
            "Its summary described the earlier text and was dropped; --summary sets one."
        )?;
    }
    Ok(())
}

/// Sends the changes. The daemon refuses them if the record has changed since it was read.
fn send(
    caller: &mut Caller,
    record: &Record,
    mut changes: Map<String, Value>,
) -> Result<ToolReply, Error> {
    changes.insert("id".to_owned(), record.id.to_string().into());
    changes.insert("expected_version".to_owned(), record.version.0.into());
    let tool = if record.note().is_some() { "memory_update" } else { "memory_rewrite" };
    caller.send(tool, changes.into())
}
