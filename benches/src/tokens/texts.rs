//! Texts that are on the machine anyway, not picked by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders to search, absolute or below the home directory.
const FOLDERS: [&str; 8] = [
    ".cargo/registry/src",
    ".npm/_logs",
    "/usr/lib/python3",
    "/usr/lib/python3.11",
    "/usr/lib/node_modules",
    "/usr/share",
    "/var/log",
    "/var/lib/dpkg/info",
];

/// The classes of text. Each has files of its own, except for tables, which come from prose.
pub(super) const CLASSES: [&str; 6] = ["cjk", "code", "json", "logs", "prose", "tables"];

/// The maximum number of files read for one class.
const FILES: usize = 400;
/// The size in bytes above which a file is left out.
const BYTES: u64 = 2_000_000;

/// A text of one class.
pub(super) struct Text {
    pub(super) class: &'static str,
    /// The kind of length: `note` for 10 to 80 words, `page` for 1,500 bytes, `file` for 8,000.
    pub(super) length: &'static str,
    pub(super) text: String,
}

/// Cuts notes, pages and whole files from the measured files.
pub(super) fn collect() -> Vec<Text> {
    let mut found: BTreeMap<&'static str, Vec<(u64, PathBuf)>> = BTreeMap::new();
    for folder in FOLDERS {
        let home = std::env::home_dir().unwrap_or_default();
        walk(&home.join(folder), &mut |path| {
            let hash = hash(path.to_string_lossy().as_bytes());
            if let Some(class) = class(path)
                && hash & 1 == 1
            {
                found.entry(class).or_default().push((hash, path.to_owned()));
            }
        });
    }
    if let Some(prose) = found.get("prose").cloned() {
        found.insert("tables", prose);
    }
    let mut texts = Vec::new();
    for (class, mut files) in found {
        files.sort();
        let read = files.into_iter().filter_map(|(hash, path)| {
            let bytes = fs::read(&path).ok()?;
            let text = match class {
                "cjk" => translations(&bytes),
                "tables" => tables(hash, str::from_utf8(&bytes).ok()?),
                _ => String::from_utf8(bytes).ok(),
            };
            Some((hash, text?))
        });
        for (hash, text) in read.take(FILES) {
            cut(class, hash, &text, &mut texts);
        }
    }
    texts
}

fn walk(folder: &Path, each: &mut impl FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            walk(&entry.path(), each);
        } else if kind.is_file()
            && entry.metadata().is_ok_and(|meta| (600..BYTES).contains(&meta.len()))
        {
            each(&entry.path());
        }
    }
}

fn class(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let place = path.to_str()?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension {
        "rs" | "py" | "js" | "ts" | "c" | "h" | "pm" | "sh" | "vim" => Some("code"),
        "json" | "lock" => Some("json"),
        "log" => Some("logs"),
        "md" | "rst" | "txt" => Some("prose"),
        "mo" => ["/zh_CN/", "/zh_TW/", "/ja/", "/ko/"]
            .iter()
            .any(|language| place.contains(language))
            .then_some("cjk"),
        // The files that a package's installation records list other files, as `ls` does.
        "list" | "md5sums" => place.contains("dpkg").then_some("logs"),
        _ => (name.starts_with("README") || name == "copyright").then_some("prose"),
    }
}

/// Returns the translated texts in a compiled gettext catalogue, which ends each one with a zero.
fn translations(bytes: &[u8]) -> Option<String> {
    let is_cjk = |char| matches!(char, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let texts: Vec<&str> = bytes
        .split(|byte| *byte == 0)
        .filter_map(|text| str::from_utf8(text).ok())
        .filter(|text| text.chars().any(is_cjk))
        .collect();
    (texts.len() > 10).then(|| texts.join("\n"))
}

/// Returns the tables, rulers and drawings in a text: lines that begin with a bar or a corner, or
/// consist of signs. They are few, so words of the text follow in tables drawn as programs draw
/// them.
fn tables(seed: u64, text: &str) -> Option<String> {
    let is_part = |line: &&str| {
        let line = line.trim();
        line.starts_with(['|', '+', '│', '┌', '├', '└', '║', '╔'])
            || (line.chars().count() >= 10 && !line.contains(char::is_alphanumeric))
    };
    let mut lines: Vec<String> = text.lines().filter(is_part).map(str::to_owned).collect();
    let mut words = text.split_whitespace().filter(|word| word.len() <= 24);
    for round in 0..8 {
        lines.extend(drawn(hash(&(seed ^ round).to_le_bytes()), &mut words));
    }
    (lines.len() > 10).then(|| lines.join("\n"))
}

/// Draws a table of the next words, in a style that the hash selects.
fn drawn<'a>(seed: u64, words: &mut impl Iterator<Item = &'a str>) -> Vec<String> {
    /// The signs at the left, between columns, at the right, and along a line.
    type Signs = (&'static str, &'static str, &'static str, &'static str);
    /// The lines at the top, of a row, below the head, and at the bottom.
    type Style = (Option<Signs>, Signs, Signs, Option<Signs>);
    const PLUS: Signs = ("+", "+", "+", "-");
    const STYLES: [Style; 5] = [
        (None, ("|", "|", "|", " "), ("|", "|", "|", "-"), None),
        (Some(PLUS), ("|", "|", "|", " "), PLUS, Some(PLUS)),
        (None, ("", "|", "", " "), ("", "+", "", "-"), None),
        (
            Some(("┌", "┬", "┐", "─")),
            ("│", "│", "│", " "),
            ("├", "┼", "┤", "─"),
            Some(("└", "┴", "┘", "─")),
        ),
        (None, ("", " ", "", " "), ("", " ", "", "="), None),
    ];
    let chosen = |shift: u32, of: u64| usize::try_from((seed >> shift) % of).unwrap_or_default();
    let (columns, rows) = (2 + chosen(8, 5), 3 + chosen(16, 5));
    let cells: Vec<&str> = words.take(columns * rows).collect();
    let width = |column: usize| {
        let of = cells.iter().skip(column).step_by(columns);
        of.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |(left, between, right, along): Signs, cells: &[&str]| {
        let filled = widths.iter().enumerate().map(|(at, width)| {
            let cell = cells.get(at).copied().unwrap_or_default();
            let fill = along.repeat(width - cell.chars().count());
            format!("{along}{cell}{fill}{along}")
        });
        format!("{left}{}{right}", filled.collect::<Vec<_>>().join(between)).trim_end().to_owned()
    };
    let (top, row, rule, bottom) = STYLES.get(chosen(24, 5)).copied().unwrap_or_default();
    let mut lines: Vec<String> = cells.chunks(columns).map(|cells| line(row, cells)).collect();
    if lines.is_empty() {
        return lines;
    }
    lines.insert(1, line(rule, &[]));
    lines.splice(0..0, top.map(|top| line(top, &[])));
    lines.extend(bottom.map(|bottom| line(bottom, &[])));
    lines
}

/// Cuts a few notes, a page and a file from places that the hash selects.
fn cut(class: &'static str, seed: u64, text: &str, texts: &mut Vec<Text>) {
    let lines: Vec<&str> = text.lines().collect();
    for round in 0..3 {
        let chosen = hash(&(seed + round).to_le_bytes());
        let words_wanted = 10 + (chosen % 71) as usize;
        let from = (chosen >> 16) as usize % lines.len().max(1);
        let mut note = Vec::new();
        let mut size = 0;
        for line in lines.iter().skip(from) {
            note.push(*line);
            // A word in Han or kana has about two characters.
            let wide = line.chars().filter(|char| *char >= '\u{3040}').count() / 2;
            size += line.split_whitespace().count().max(wide);
            if size >= words_wanted {
                break;
            }
        }
        let note = note.join("\n");
        if size >= 10 && note.len() < 3_000 {
            texts.push(Text { class, length: "note", text: note });
        }
    }
    for (length, bytes) in [("page", 1_500), ("file", 8_000)] {
        let from = (hash(&seed.to_be_bytes()) >> 32) as usize % text.len().max(1);
        let from = text.floor_char_boundary(from.min(text.len().saturating_sub(bytes)));
        let end = text.floor_char_boundary(from + bytes);
        if text.len() > bytes
            && let Some(part) = text.get(from..end)
        {
            texts.push(Text { class, length, text: part.to_owned() });
        }
    }
}

/// Hashes with FNV-1a, so that every machine selects the same files.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
