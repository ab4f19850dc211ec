//! An outline and a difference as text, within a budget.
//!
//! An outline that is too long loses parts in this order: documentation, variables, items inside
//! items, and then items from the end. The text says what it lost.

use std::fmt::Write as _;

use crate::difference::Difference;
use crate::limits::MOVED_MAX;
use crate::outline::{Form, Import, Item, ItemKind, Outline};

/// The way in which an outline is shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The first and last line whose items are shown; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
    /// The most characters.
    pub chars_max: usize,
    /// The most tokens.
    pub tokens_max: Option<u32>,
    /// The name of the argument that selects lines, for what was left out: `lines`.
    pub selects: &'a str,
}

/// An outline as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text, in lines.
    pub text: String,
    /// Whether it has less than the outline.
    pub is_cut: bool,
}

/// The parts of items that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detail {
    has_docs: bool,
    has_variables: bool,
    depth_max: u16,
}

const WHOLE: Detail = Detail { has_docs: true, has_variables: true, depth_max: u16::MAX };

/// Fewer and fewer parts.
const LESSER: [Detail; 3] = [
    Detail { has_docs: false, has_variables: true, depth_max: u16::MAX },
    Detail { has_docs: false, has_variables: false, depth_max: u16::MAX },
    Detail { has_docs: false, has_variables: false, depth_max: 1 },
];

const LEAST: Detail = Detail { has_docs: false, has_variables: false, depth_max: 0 };

/// The room for the lines that say what was left out.
const NOTE_CHARS: usize = 260;
const NOTE_TOKENS: u32 = 80;

/// Renders an outline, without a line about the file itself.
pub fn render(outline: &Outline, view: &View<'_>) -> Rendered {
    if let Form::Binary(_) = outline.form {
        return Rendered::default();
    }
    let shown: Vec<&Item> = match view.lines {
        Some((first, last)) => {
            outline.items.iter().filter(|item| item.first <= last && item.last >= first).collect()
        }
        None => outline.items.iter().collect(),
    };
    let imports = if view.lines.is_none() { &outline.imports[..] } else { &[] };
    let room = Room {
        chars: view.chars_max.saturating_sub(NOTE_CHARS),
        tokens: view.tokens_max.map(|max| max.saturating_sub(NOTE_TOKENS)),
    };
    let full = render_all(imports, &shown, WHOLE);
    let whole = Room { chars: view.chars_max, tokens: view.tokens_max };
    let (mut text, detail) = if whole.holds(&full) {
        (full, WHOLE)
    } else {
        let lesser = LESSER.into_iter().find_map(|detail| {
            let text = render_all(imports, &shown, detail);
            room.holds(&text).then_some((text, detail))
        });
        lesser.unwrap_or_else(|| (cut(imports, &shown, LEAST, room), LEAST))
    };
    let listed = text.lines().count() - usize::from(text.starts_with(IMPORTS));
    let notes = left_out(&shown, detail, listed);
    let is_cut = !notes.is_empty();
    if is_cut {
        let _ = writeln!(
            text,
            "Left out: {}. `{}` (as 120-300) shows a part in full.",
            notes.join(", "),
            view.selects
        );
    }
    if outline.left_out > 0 {
        let _ = writeln!(
            text,
            "The file has {} more items than an outline holds; read it for those.",
            outline.left_out
        );
    }
    Rendered { text, is_cut: is_cut || outline.left_out > 0 }
}

/// Names what a text with `listed` items leaves out of those to show.
fn left_out(shown: &[&Item], detail: Detail, listed: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if !detail.has_docs && shown.iter().any(|item| !item.doc.is_empty()) {
        notes.push("documentation".to_owned());
    }
    let variables =
        shown.iter().filter(|item| !detail.has_variables && is_value(item.kind)).count();
    if variables > 0 {
        notes.push(format!("{variables} variables"));
    }
    let inner = shown
        .iter()
        .filter(|item| item.depth > detail.depth_max)
        .filter(|item| detail.has_variables || !is_value(item.kind))
        .count();
    if inner > 0 {
        notes.push(format!("{inner} inner items"));
    }
    let is_shown = |item: &&&Item| detail.shows(item);
    let fits = shown.iter().filter(is_shown).count();
    if listed < fits {
        let next = shown.iter().filter(is_shown).nth(listed).map_or(0, |item| item.first);
        notes.push(format!("{} items from line {next} on", fits - listed));
    }
    notes
}

/// The room for a text.
#[derive(Clone, Copy)]
struct Room {
    chars: usize,
    tokens: Option<u32>,
}

impl Room {
    fn holds(self, text: &str) -> bool {
        text.chars().count() <= self.chars
            && self.tokens.is_none_or(|max| anchord_tokens::count(text) <= max)
    }
}

impl Detail {
    fn shows(self, item: &Item) -> bool {
        item.depth <= self.depth_max && (self.has_variables || !is_value(item.kind))
    }
}

/// Returns whether an item is a value rather than a part of the program. Keys are the only items of
/// data files.
fn is_value(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Variable | ItemKind::Property)
}

const IMPORTS: &str = "imports: ";

fn render_all(imports: &[Import], items: &[&Item], detail: Detail) -> String {
    let mut text = import_line(imports);
    for item in items.iter().filter(|item| detail.shows(item)) {
        line(&mut text, item, detail);
    }
    text
}

/// Renders as many items as there is room for.
fn cut(imports: &[Import], items: &[&Item], detail: Detail, room: Room) -> String {
    let imports = import_line(imports);
    let mut text = if room.holds(&imports) { imports } else { String::new() };
    let mut chars = text.chars().count();
    let mut tokens = anchord_tokens::count(&text);
    for item in items.iter().filter(|item| detail.shows(item)) {
        let mut next = String::new();
        line(&mut next, item, detail);
        chars += next.chars().count();
        tokens += anchord_tokens::count(&next) + 1;
        if chars > room.chars || room.tokens.is_some_and(|max| tokens > max) {
            break;
        }
        text.push_str(&next);
    }
    text
}

/// Renders the imports on one line. Their keyword is left out.
fn import_line(imports: &[Import]) -> String {
    if imports.is_empty() {
        return String::new();
    }
    let plain = |import: &Import| {
        let text = import.text.trim_end_matches(';');
        let keywords = ["pub use ", "use ", "import ", "using ", "#include "];
        let text = keywords.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
        text.to_owned()
    };
    let all: Vec<String> = imports.iter().map(plain).collect();
    format!("{IMPORTS}{}\n", all.join("; "))
}

fn line(text: &mut String, item: &Item, detail: Detail) {
    let indent = usize::from(item.depth.min(8)) * 2;
    let _ = write!(text, "{:indent$}{} {}", "", range(item), item.signature);
    if detail.has_docs && !item.doc.is_empty() {
        let _ = write!(text, " — {}", item.doc);
    }
    text.push('\n');
}

/// Returns an item's lines: `12`, or `12-40`.
fn range(item: &Item) -> String {
    if item.first == item.last {
        item.first.to_string()
    } else {
        format!("{}-{}", item.first, item.last)
    }
}

/// Renders a difference, in at most `chars_max` characters. Names what was left out.
pub fn render_difference(difference: &Difference<'_>, chars_max: usize) -> Rendered {
    let Difference { added, removed, changed, moved, imports_added, imports_removed } = difference;
    let mut lines = Vec::new();
    lines.extend(added.iter().map(|item| format!("+ {} {}", range(item), item.signature)));
    lines.extend(changed.iter().map(|(old, new)| {
        let was = if old.signature == new.signature {
            String::new()
        } else {
            format!(" (was: {})", old.signature)
        };
        format!("~ {} {}{was}", range(new), new.signature)
    }));
    lines.extend(removed.iter().map(|item| format!("- {}", item.signature)));
    lines.extend(imports_added.iter().map(|import| format!("+ {}", import.text)));
    lines.extend(imports_removed.iter().map(|import| format!("- {}", import.text)));
    if !moved.is_empty() {
        let shown: Vec<String> = moved
            .iter()
            .take(MOVED_MAX)
            .map(|moved| format!("{} {} (was {})", moved.item.name, range(moved.item), moved.from))
            .collect();
        let more = moved.len() - shown.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        lines.push(format!("only moved: {}{more}", shown.join("; ")));
    }
    let mut text = String::new();
    let mut left = chars_max.saturating_sub(NOTE_CHARS);
    for (at, line) in lines.iter().enumerate() {
        let chars = line.chars().count() + 1;
        if chars > left {
            let _ = writeln!(
                text,
                "{} more lines of changes are left out; without `since_last` you get the outline.",
                lines.len() - at
            );
            return Rendered { text, is_cut: true };
        }
        left -= chars;
        let _ = writeln!(text, "{line}");
    }
    Rendered { text, is_cut: false }
}

#[cfg(test)]
mod tests;
