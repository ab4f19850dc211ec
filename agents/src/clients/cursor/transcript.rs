//! Cursor. This is from what others have published about it: Cursor documents no format.
//!
//! Its command line and newer versions of its editor write
//! `~/.cursor/projects/<directory>/agent-transcripts/<id>/<id>.jsonl`, a line for each message. A
//! line has no id and no time, but a prompt begins with the time in a tag. Results of tools are not
//! kept. So the outcome of a command is not known, and an edit counts once the agent has asked for
//! it. Subagents have a folder of their own, which is not read.
//!
//! Its editor keeps its conversations in a database, which has times and results. A conversation
//! that has both forms is read from there.

mod bubbles;
mod database;
mod workspaces;

use std::fs;
use std::path::{Path, PathBuf};

use anchord_memory::Timestamp;
use anchord_memory::lifecycle::{CommandRun, Event, ToolRun};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use serde_json::Value;

use self::bubbles::Bubbles;
use self::database::DATABASE;
use super::WRITES;
use crate::clients::opencode::transcript as opencode;
use crate::transcripts::{
    Kept, Origin, Reader, Transcripts, beside, directories, files, is_lines, prompted, text,
};

pub(super) const TRANSCRIPTS: [Transcripts; 3] = [
    LINES,
    Transcripts { folder: ".config/Cursor/User/globalStorage", ..ROWS },
    Transcripts { folder: "Library/Application Support/Cursor/User/globalStorage", ..ROWS },
];

const ROWS: Transcripts = Transcripts {
    folder: "",
    files: |folder| opencode::database(folder, "state.vscdb"),
    reader: |_| Box::new(Bubbles::default()),
    kept: Kept::Rows(DATABASE),
};

const LINES: Transcripts = Transcripts {
    folder: ".cursor",
    files: |folder| {
        let projects = folder.join("projects");
        let each = directories(&projects).into_iter();
        // A directory that cannot be listed stands for itself.
        each.flat_map(|each| if each == projects { vec![each] } else { of_project(&each) })
            .collect()
    },
    reader: |path| Box::new(Transcript { origin: origin(path) }),
    kept: Kept::Lines,
};

/// Returns a project's transcripts. Older versions kept them without a folder for each.
fn of_project(project: &Path) -> Vec<PathBuf> {
    let place = project.join("agent-transcripts");
    let each = directories(&place).into_iter().filter(|each| *each != place);
    let own = each.flat_map(|each| {
        let name = each.file_name().map(|name| format!("{}.jsonl", name.display()));
        files(&each, |file| Some(file) == name.as_deref())
    });
    own.chain(files(&place, is_lines)).collect()
}

/// The tags around a prompt, and around its time.
const PROMPT: (&str, &str) = ("<user_query>", "</user_query>");
const TIME: (&str, &str) = ("<timestamp>", "</timestamp>");

struct Transcript {
    origin: Origin,
}

impl Reader for Transcript {
    fn read(&mut self, line: &Value) -> Vec<Event> {
        let content = line.pointer("/message/content").and_then(Value::as_array);
        let content = content.map(Vec::as_slice).unwrap_or_default();
        match text(line, "role") {
            "user" => {
                let said = content.iter().map(|block| text(block, "text"));
                said.filter_map(|said| prompted(asked(said)?.to_owned())).collect()
            }
            "assistant" => content.iter().filter_map(of_agent).collect(),
            _ => Vec::new(),
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn time(&self, line: &Value) -> Option<Timestamp> {
        time_of(between(line.pointer("/message/content/0/text")?.as_str()?, TIME)?)
    }
}

fn of_agent(block: &Value) -> Option<Event> {
    if text(block, "type") == "tool_use" {
        let tool = text(block, "name").to_owned();
        let input = block.get("input")?;
        let mut run = ToolRun { tool, ..ToolRun::default() };
        if WRITES.contains(&run.tool.as_str()) {
            run.edited.extend(Some(text(input, "path").to_owned()).filter(|path| !path.is_empty()));
        } else if run.tool == "Shell" {
            run.command = Some(CommandRun::judge(text(input, "command").to_owned(), None, ""));
        }
        return Some(Event::ToolRan(run));
    }
    // Reasoning is replaced by this word.
    let said = text(block, "text").trim().trim_end_matches("[REDACTED]").trim_end().to_owned();
    (!said.is_empty()).then_some(Event::TurnEnded { last_message: Some(said) })
}

/// Returns what a person wrote. A text that begins with another tag is the client's own.
fn asked(text: &str) -> Option<&str> {
    let is_own = text.trim_start().starts_with('<');
    between(text, PROMPT).or_else(|| Some(text).filter(|_| !is_own))
}

/// Returns the text between two tags.
fn between<'t>(text: &'t str, (begin, end): (&str, &str)) -> Option<&'t str> {
    Some(text.split_once(begin)?.1.split_once(end)?.0.trim())
}

/// Returns a time such as `Friday, Jul 31, 2026, 5:10 PM (UTC-5)`. Zones with minutes are written
/// `UTC+5:30`.
fn time_of(text: &str) -> Option<Timestamp> {
    let (time, zone) = text.strip_suffix(')')?.split_once(" (UTC")?;
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let (hours, minutes): (i32, i32) = match hours {
        "" => (0, 0),
        _ => (hours.parse().ok()?, minutes.parse().ok()?),
    };
    let away = if zone.starts_with('-') { -minutes } else { minutes };
    let offset = Offset::from_seconds(hours.checked_mul(3_600)?.checked_add(away * 60)?).ok()?;
    let read = BrokenDownTime::parse("%A, %b %d, %Y, %I:%M %p", time).ok()?;
    let moment = offset.to_timestamp(read.to_datetime().ok()?).ok()?;
    Some(Timestamp(moment.as_millisecond()))
}

/// Returns the conversation of a transcript, by its name. Cursor's command line keeps its directory
/// in another file; otherwise it is found by the name of the folder.
fn origin(path: &Path) -> Origin {
    let mut origin = Origin::of_file(path);
    let Some(place) = path.ancestors().find(|each| each.ends_with("agent-transcripts")) else {
        return origin;
    };
    let project = place.parent();
    let root = project.and_then(|project| project.parent()?.parent());
    if let (Some(root), Some(session)) = (root, &origin.session) {
        let chats = directories(&root.join("chats")).into_iter();
        let mut about = chats.filter_map(|each| beside(&each.join(session).join("meta.json")));
        let about = about.find_map(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        origin.note(&about, "", "/cwd");
    }
    if origin.cwd.is_none() {
        let name = project.and_then(|project| project.file_name()?.to_str());
        let named = name.and_then(|name| directory_named(Path::new("/"), name));
        origin.cwd = named.and_then(|named| named.to_str().map(str::to_owned));
    }
    origin
}

/// Finds the directory with this name in Cursor's form, in which a dash stands for every separator
/// and odd character. Several directories may have one such name; the first is taken.
fn directory_named(within: &Path, name: &str) -> Option<PathBuf> {
    let mut children: Vec<PathBuf> =
        fs::read_dir(within).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    children.sort();
    children.into_iter().find_map(|child| {
        let own = folder_name(child.file_name()?.to_str()?);
        let rest = name.strip_prefix(own.as_str())?;
        if !child.is_dir() {
            return None;
        }
        if rest.is_empty() {
            return Some(child);
        }
        directory_named(&child, rest.strip_prefix('-')?)
    })
}

fn folder_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests;
