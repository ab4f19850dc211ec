//! Comparison of names: `filePath`, `file-path` and `file_path` are the same, and so are `tag` and
//! `tags`.
//!
//! The reader of calls and the filter of secrets, which judges a text by its field's name, both use
//! it. A field that the reader takes under another spelling is therefore judged too.

/// Fields, and other names that agents give to them. A name that is itself a field of the call's
/// type, or such a field in another spelling, stands for that one. Otherwise it stands for the
/// first field of the type that has it here and is not given. Of several names of one field the
/// earliest counts. A plural is another name: `notes` are items, and `note` is a text.
pub(crate) const SYNONYMS: [(&str, &[&str]); 34] = [
    ("file", &["file_path", "path", "filename", "location"]),
    ("file_path", &["file", "path", "filename", "location"]),
    ("path", &["file", "file_path", "filename", "location"]),
    ("related_files", &["files", "affected_files", "file", "path"]),
    ("files", &["related_files", "affected_files", "file_path", "path"]),
    ("lines", &["line_range", "line_number"]),
    ("line_range", &["lines", "line_number"]),
    ("start_line", &["start", "first_line", "from_line", "line_start"]),
    ("end_line", &["end", "last_line", "to_line", "line_end"]),
    ("concept", &["description", "label", "name", "title", "summary", "purpose", "note"]),
    ("title", &["name", "headline", "topic"]),
    (
        "content",
        &[
            "text",
            "note",
            "body",
            "message",
            "value",
            "fact",
            "memory",
            "description",
            "detail",
            "rule",
            "statement",
            "decision",
        ],
    ),
    ("reason", &["rationale", "why", "because", "justification"]),
    ("summary", &["session_summary", "title", "name", "headline", "lesson"]),
    ("session_summary", &["summary", "message", "text"]),
    ("detail", &["description", "explanation", "content", "body", "text", "note"]),
    ("problem", &["symptom", "issue", "error", "failure"]),
    ("cause", &["root_cause", "reason", "why"]),
    ("fix", &["solution", "resolution", "remedy", "workaround"]),
    ("items", &["notes", "memories", "facts", "entries"]),
    ("importance", &["priority"]),
    ("pinned", &["pin"]),
    ("expires", &["expires_at", "expires_in", "expiry", "ttl", "valid_until"]),
    ("query", &["q", "text", "search", "search_query", "keywords", "terms", "term", "question"]),
    ("task", &["query", "prompt", "goal"]),
    ("id", &["record", "record_id", "key"]),
    ("record", &["id", "record_id"]),
    ("name", &["title", "topic"]),
    ("status", &["summary", "current_task"]),
    ("overview", &["description"]),
    ("history", &["recent_changes", "changes", "log"]),
    ("question", &["title", "topic", "issue"]),
    ("decision", &["answer", "decided", "resolution"]),
    ("text", &["line", "entry", "content", "change", "summary", "description"]),
];

/// The ways in which a given name can mean a known field. The earlier way wins.
pub(crate) const MEANS: [fn(&str, &str) -> bool; 3] = [is_exact, same_name, is_synonym];

/// Likeness from which a name counts as a misspelling: at most three in ten letters differ.
const LIKENESS_MIN: f64 = 0.7;

const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// Yields the significant letters: in lower case and without separators.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !SEPARATORS.contains(c)).flat_map(char::to_lowercase)
}

/// Returns a name without a plural `s`.
fn singular(name: &str) -> &str {
    let name = name.trim_end_matches(SEPARATORS);
    name.strip_suffix(['s', 'S']).unwrap_or(name)
}

/// Returns a name in the form in which it is compared.
pub(crate) fn folded(name: &str) -> String {
    letters(singular(name)).collect()
}

/// Returns whether two names differ only in spelling.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    letters(singular(one)).eq(letters(singular(other)))
}

/// Returns the known name that a name is probably a misspelling of, if there is one.
pub(crate) fn nearest<'k>(known: &[&'k str], name: &str) -> Option<&'k str> {
    let name = folded(name);
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&folded(known), &name);
    let near = known.iter().map(|known| (likeness(known), *known));
    let near = near.filter(|(likeness, _)| *likeness >= LIKENESS_MIN);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| known)
}

/// Returns whether the reader may take a name for a field, if a type has that field.
pub(crate) fn may_mean(known: &str, name: &str) -> bool {
    MEANS.iter().any(|means| means(known, name))
}

fn is_exact(known: &str, name: &str) -> bool {
    known == name
}

fn is_synonym(known: &str, name: &str) -> bool {
    rank(known, name).is_some()
}

/// Returns the place of a name among the synonyms of a field, from 0.
pub(crate) fn rank(known: &str, name: &str) -> Option<usize> {
    let of_field = SYNONYMS.iter().filter(|(field, _)| *field == known);
    of_field.flat_map(|(_, names)| *names).position(|other| letters(other).eq(letters(name)))
}
