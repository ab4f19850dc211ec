//! `memory_get`: one record by id, at its newest or an earlier version, or an anchor's code as it
//! is now.

use std::fmt::Write as _;
use std::sync::Arc;

use anchord_memory::lines::LineRange;
use anchord_memory::{
    Anchor, AnchorState, Audience, Body, Kind, Reader, Record, RecordId, Timestamp, Version, find,
    is_expired, limits, plan_use, render, tokens,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::params::tokens_max;
use super::personal::of_key;
use crate::blocking::run_blocking;
use crate::bounded_fs;
use crate::clock;
use crate::limits::{ANCHOR_TIME_MAX, GET_IDS_MAX};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::Context;
use crate::mcp::error::ToolError;
use crate::mcp::tool::{Effect, ToolSpec};
use crate::projects::Excerpt;
use crate::sessions::{SessionLocation, View};

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// As b12, or several
    #[serde(default, rename = "id")]
    #[schemars(with = "Option<String>")]
    ids: Vec<String>,
    key: Option<String>,
    version: Option<u32>,
    #[serde(default)]
    expand: bool,
    max_tokens: Option<u32>,
    cursor: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_get",
        "One record, by id or key; expand: an anchor's code now.",
        Effect::Reads,
        run,
    )
}

/// The number of characters kept for remarks about a version after its text.
const MARKS_CHARS: usize = 400;

/// The number of characters kept to name what made room for an archived record.
const ROOM_CHARS: usize = 1_000;

/// The room kept to name records that did not fit or could not be given, in characters and tokens.
const LEFT_OUT_CHARS: usize = 1_000;
const LEFT_OUT_TOKENS: u32 = 150;

/// The characters of that room for records that could not be given.
const REFUSED_CHARS: usize = 500;

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let tokens = tokens_max(params.max_tokens).map_err(failed)?;
    let room = Room { chars: limits::ANSWER_CHARS_MAX, tokens };
    // Agents also write several ids into one text.
    let texts = params.ids.iter().flat_map(|text| text.split([',', ';', ' ', '\n']));
    let texts = texts.map(str::trim).filter(|text| !text.is_empty());
    let texts: Vec<&str> = texts.collect();
    // Loads show a fact by its key, so agents write that for its id.
    let as_key = match texts.as_slice() {
        [text] if text.parse::<RecordId>().is_err() => Some((*text).to_owned()),
        _ => None,
    };
    let ids = texts.iter().filter(|_| as_key.is_none()).map(|text| text.parse());
    let ids: Vec<RecordId> = ids.collect::<Result<_, _>>().map_err(failed)?;
    let Params { version, expand, cursor, .. } = params;
    let asked = Asked { version, expand, cursor };
    let asked_as_id = as_key.is_some() && params.key.is_none();
    match (ids.as_slice(), params.key.or(as_key)) {
        ([], Some(key)) if key.trim().is_empty() => {
            Err(failed("key is empty; give an id, or a fact's key"))
        }
        ([], Some(key)) => {
            let fact = of_key(&context, None, Context::keeper, &key).await?;
            let not_an_id = |why| match key.parse::<RecordId>() {
                Err(no_id) if asked_as_id => failed(format!("{no_id}; and {why}")),
                _ => failed(why),
            };
            let fact = fact.map_err(not_an_id)?;
            let hidden = fact.hidden();
            let named = NamedRecord::new(fact.context, fact.view, fact.id, hidden).await?;
            one(named, asked, room).await
        }
        ([], None) => Err(failed("give an id, or a fact's key")),
        ([id], _) => one(NamedRecord::by_id(&context, *id).await?, asked, room).await,
        (ids, _) => several(&context, ids, asked, room).await,
    }
}

/// The part of a record that a call asks for.
#[derive(Default)]
struct Asked {
    /// The newest version, if it names none.
    version: Option<u32>,
    /// Whether an anchor's code is wanted.
    expand: bool,
    /// The place in the text, if it does not begin at the start.
    cursor: Option<String>,
}

/// The record that a call names, in its memory.
struct NamedRecord {
    /// The call, made in that memory.
    context: Context,
    view: View,
    newest: Record,
    /// A remark if the key has a fact of the user's own too, or an empty text.
    hidden: String,
}

impl NamedRecord {
    async fn by_id(context: &Context, id: RecordId) -> Result<Self, ToolError> {
        let context = if id.is_personal() { context.personal() } else { context.clone() };
        let view = context.view().await?;
        Self::new(context, view, id, String::new()).await
    }

    async fn new(
        context: Context,
        view: View,
        id: RecordId,
        hidden: String,
    ) -> Result<Self, ToolError> {
        let shown: Vec<_> = view.memory.record(id).cloned().into_iter().collect();
        let view = view.with_anchors(&context.sessions, ANCHOR_TIME_MAX, &shown).await;
        let found = find(&view.memory, &context.keeper(), id);
        let mut newest = Record::clone(found.map_err(|refusal| context.refused("get", &refusal))?);
        if newest.is_head {
            newest = earlier(&view, newest.id, newest.version).await?.unwrap_or(newest);
        }
        Ok(Self { context, view, newest, hidden })
    }
}

/// Returns as many of these records as there is room for, and names the others. Fails only if none
/// of them can be given.
async fn several(
    context: &Context,
    ids: &[RecordId],
    asked: Asked,
    room: Room,
) -> Result<ToolAnswer, ToolError> {
    if ids.len() > GET_IDS_MAX {
        return Err(failed(format!("{} ids are too many; give at most {GET_IDS_MAX}", ids.len())));
    }
    if asked.version.is_some() || asked.cursor.is_some() {
        return Err(failed("version and cursor are of one record; give its id alone"));
    }
    let (mut all, mut refused) = (ToolAnswer::default(), Vec::new());
    let mut waiting = ids.iter();
    for id in waiting.by_ref() {
        let left = room.after(&all.text).without(LEFT_OUT_CHARS, LEFT_OUT_TOKENS);
        let expand = asked.expand && id.kind == Kind::Anchor;
        let asked = Asked { expand, ..Asked::default() };
        let given = match NamedRecord::by_id(context, *id).await {
            Ok(named) => one(named, asked, left).await,
            Err(error) => Err(error),
        };
        match given {
            Ok(answer) => {
                if !all.text.is_empty() {
                    all.text.push('\n');
                }
                all.text.push_str(&answer.text);
                all.records.extend(answer.records);
                all.truncated |= answer.truncated;
            }
            Err(ToolError::Caller(mistake)) => refused.push(mistake),
            Err(error) => return Err(error),
        }
        if !room.after(&all.text).without(LEFT_OUT_CHARS, LEFT_OUT_TOKENS).is_enough() {
            break;
        }
    }
    if all.records.is_empty() && !refused.is_empty() {
        return Err(ToolError::Caller(refused.swap_remove(0)));
    }
    if matches!(*context.audience, Audience::Person(_)) {
        all.refused = refused.drain(..).map(|mistake| mistake.to_string()).collect();
    }
    let left_out: Vec<String> = waiting.map(ToString::to_string).collect();
    if !refused.is_empty() || !left_out.is_empty() {
        all.text.push('\n');
    }
    let (mut refused, mut chars) = (refused.iter().map(ToString::to_string).peekable(), 0);
    while let Some(why) = refused.next_if(|why| chars + why.chars().count() < REFUSED_CHARS) {
        chars += why.chars().count();
        all.text.push_str(&why);
        all.text.push('\n');
    }
    if refused.peek().is_some() {
        let _ = writeln!(all.text, "{} more could not be given.", refused.count());
    }
    if !left_out.is_empty() {
        all.truncated = true;
        let _ =
            writeln!(all.text, "No room for {}: get them in another call.", left_out.join(", "));
    }
    Ok(all)
}

/// Returns one record, or the page of it that there is room for.
async fn one(named: NamedRecord, asked: Asked, room: Room) -> Result<ToolAnswer, ToolError> {
    let NamedRecord { context, view, newest, hidden } = named;
    let (reader, id) = (context.keeper(), newest.id);
    let mut record = asked_version(&view, &reader, &newest, asked.version).await?;
    // A call that fails does not count as use of a record, so everything that can fail comes first.
    let code = if asked.expand { Some(code(&view, &record).await?) } else { None };
    let (is_asked, now) = (asked.version.is_some(), clock::now());
    let currency = render::currency(&view.memory, &reader, &record, &newest, is_asked, now);
    let marks = hidden + &currency.unwrap_or_default() + &expired(&record, now);
    let by = context.session.provenance(now);
    let is_reactivated = plan_use(&view.memory, id, &by).is_some()
        && context.session.has_room_for(&context.sessions, &view.memory, &newest);
    let page = |record: &Record| {
        let kept = MARKS_CHARS + if is_reactivated { ROOM_CHARS } else { 0 };
        let Room { chars, tokens } = room.without(kept, tokens::count(&marks));
        render::record_page(record, asked.cursor.as_deref(), chars, tokens, &context.audience)
            .map_err(|refusal| context.refused("get", &refusal))
    };
    let (mut text, mut next) = page(&record)?;
    let mut current = view.memory.record(id).cloned();
    let mut made_room = String::new();
    if is_reactivated {
        made_room = context.used(id).await;
        if let Some(reactivated) = reactivated(&context, &newest).await {
            if record.version == newest.version {
                record.version = reactivated.version;
                (text, next) = page(&record)?;
            }
            current = Some(reactivated);
        }
    }
    text.push_str(&marks);
    if let Some(project) = &view.project {
        project.accessed(&[id], clock::now());
    }
    if room.after(&text).holds(&made_room) {
        text.push_str(&made_room);
    }
    if let Some(code) = code {
        text.push_str(&code.text(room.after(&text)));
    }
    let given = current.filter(|current| current.content_eq(&record));
    let answer = ToolAnswer::from(text).with_records([given.unwrap_or_else(|| record.into())]);
    Ok(answer.truncated(next.is_some()).with_rest(next, None))
}

fn failed(why: impl std::fmt::Display) -> ToolError {
    ToolError::failed("get", why)
}

/// Reads the code of an anchor that a call expands.
async fn code(view: &View, record: &Record) -> Result<Code, ToolError> {
    match &record.body {
        Body::Anchor(anchor) => Code::read(&view.place, anchor, record).await,
        _ => Err(failed(format!("{} is not an anchor; only anchors can be expanded", record.id))),
    }
}

/// Returns the version of a record that a call asks for; the newest if it names none.
async fn asked_version(
    view: &View,
    reader: &Reader,
    newest: &Record,
    version: Option<u32>,
) -> Result<Record, ToolError> {
    let version = version.map_or(newest.version, Version);
    if version == newest.version {
        return Ok(newest.clone());
    }
    // A version that a session wrote privately stays private after the record was shared.
    let owned = |record: &Record| reader.sees(record) || newest.owner().is_some();
    earlier(view, newest.id, version).await?.filter(owned).ok_or_else(|| {
        let (id, last) = (newest.id, newest.version.0);
        failed(format!("{id} has no version {}; versions go from 1 to {last}", version.0))
    })
}

/// Returns the line that warns of an expired note, or an empty text.
fn expired(record: &Record, now: Timestamp) -> String {
    match record.note().and_then(|note| note.expires) {
        Some(expires) if is_expired(record, now) => {
            let end = render::end(record, expires);
            format!("EXPIRED on {end}: check it before you rely on it.\n")
        }
        _ => String::new(),
    }
}

/// Returns a record after it was reactivated, so that an update can expect its version. `None` if
/// someone else changed it meanwhile, or if it cannot be read.
async fn reactivated(context: &Context, before: &Record) -> Option<Arc<Record>> {
    let view = context.view().await.ok()?;
    view.memory.record(before.id).filter(|now| now.content_eq(before)).cloned()
}

/// Finds a version in the journal.
async fn earlier(view: &View, id: RecordId, version: Version) -> Result<Option<Record>, ToolError> {
    let Some(project) = &view.project else { return Ok(None) };
    let look_up = project.owner.look_up()?;
    let found = run_blocking(move || look_up(&format!("{id}@{}", version.0))).await;
    let entry = found.map_err(|error| ToolError::Internal(error.to_string()))?;
    Ok(entry.and_then(|entry| {
        entry
            .changes
            .iter()
            .filter_map(|change| change.record())
            .find(|record| record.id == id && record.version == version)
            .map(|record| Record::clone(record))
    }))
}

/// The room left in an answer.
#[derive(Clone, Copy)]
struct Room {
    chars: usize,
    /// The tokens left; `None` if they are not limited.
    tokens: Option<u32>,
}

impl Room {
    /// Returns the room that is left beside so much more.
    fn without(self, chars: usize, tokens: u32) -> Self {
        Self {
            chars: self.chars.saturating_sub(chars),
            tokens: self.tokens.map(|left| left.saturating_sub(tokens)),
        }
    }

    /// Returns the room that is left after a text.
    fn after(self, text: &str) -> Self {
        self.without(text.chars().count(), tokens::count(text))
    }

    /// Returns whether a text's tokens fit. Characters are kept for it beforehand.
    fn holds(self, text: &str) -> bool {
        self.tokens.is_none_or(|left| tokens::count(text) <= left)
    }

    /// Returns whether another record fits, or a page of it.
    fn is_enough(self) -> bool {
        self.chars >= limits::ANSWER_CHARS_MIN + MARKS_CHARS + ROOM_CHARS
            && self.tokens.is_none_or(|left| left >= limits::ANSWER_TOKENS_MIN)
    }
}

/// The room kept for the line that says where an anchor's lines were cut, in characters and in
/// tokens.
const CUT_CHARS: usize = 80;
const CUT_TOKENS: u32 = 20;
/// The reason why no lines are given where the project's files cannot be seen.
const UNSEEN_FILES: &str = "the project's files cannot be seen from here; read the file";

/// An anchor's lines as they are now.
struct Code {
    file: String,
    first: u32,
    last: u32,
    excerpt: Excerpt,
}

impl Code {
    /// Reads the lines from the project's file, where they are now. Fails if that is not certain:
    /// no lines are better than wrong ones.
    async fn read(
        place: &Arc<SessionLocation>,
        anchor: &Anchor,
        of: &Record,
    ) -> Result<Self, ToolError> {
        let failed = |why: &dyn std::fmt::Display| {
            ToolError::failed(&format!("expand {}", anchor.file), why)
        };
        let LineRange::Span { first, last } = anchor.lines else {
            let why = format!("`{}` is not a line range; read the file", anchor.lines);
            return Err(ToolError::failed("expand", why));
        };
        let Some(root) = place.root() else {
            return Err(ToolError::failed("expand", UNSEEN_FILES));
        };
        match anchor.state {
            Some(AnchorState::Gone) => {
                return Err(failed(&"the code is not there any more; search for it"));
            }
            Some(AnchorState::Unchecked) => {
                let why = "it is not certain where the code is now; read the file, and store the \
                           anchor again";
                return Err(failed(&why));
            }
            Some(AnchorState::Fresh | AnchorState::Moved { .. } | AnchorState::Changed { .. })
            | None => {}
        }
        let (there, file) = (Arc::clone(place), anchor.file.clone());
        let reading = bounded_fs::run(root, move || {
            there.files().map(|files| files.read_lines(file.as_ref(), first, last))
        });
        match reading.await.map_err(|hangs| failed(&hangs))? {
            Some(Ok(excerpt)) if anchor.print.is_none() && excerpt.modified > of.updated.time => {
                let why = "the file changed after the anchor was written, and there is no fingerprint \
                           of its lines; read the file, and store the anchor again";
                Err(failed(&why))
            }
            Some(Ok(excerpt)) => Ok(Self { file: anchor.file.clone(), first, last, excerpt }),
            Some(Err(refusal)) => Err(failed(&refusal)),
            None => Err(ToolError::failed("expand", UNSEEN_FILES)),
        }
    }

    /// Returns as many lines as there is room for.
    fn text(&self, room: Room) -> String {
        let Self { file, first, last, excerpt } = self;
        let mut text = format!("\n{file} lines {first}-{last} now:\n");
        // Token counts of lines that begin with a number add up: no token spans the end of such a
        // line.
        let (mut chars, mut taken) = (text.chars().count(), tokens::count(&text));
        for (number, line) in (*first..).zip(&excerpt.lines) {
            let line = format!("{number}\t{line}\n");
            chars += line.chars().count();
            taken += if room.tokens.is_some() { tokens::count(&line) } else { 0 };
            let has_room = chars + CUT_CHARS <= room.chars
                && room.tokens.is_none_or(|max| taken + CUT_TOKENS <= max);
            if !has_room {
                let _ = writeln!(text, "… cut at line {number}; read the file from there");
                break;
            }
            text.push_str(&line);
        }
        text
    }
}
