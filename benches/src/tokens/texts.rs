//! Texts that are on the machine anyway, none picked by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where to look, below the home directory or absolute.
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

/// The classes of text, each with files of its own.
pub(super) const CLASSES: [&str; 5] = ["cjk", "code", "json", "logs", "prose"];

/// Files of one class that are read.
const FILES: usize = 400;
/// Larger files are left out.
const BYTES: u64 = 2_000_000;

/// A text of one class.
pub(super) struct Text {
    pub(super) class: &'static str,
    /// `note` for 10 to 80 words, `page` for 1,500 bytes, `file` for 8,000.
    pub(super) length: &'static str,
    pub(super) text: String,
}

/// Notes, pages and files cut from the files that are measured.
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
    let mut texts = Vec::new();
    for (class, mut files) in found {
        files.sort();
        for (hash, path) in files.into_iter().take(FILES) {
            let Ok(bytes) = fs::read(&path) else { continue };
            let text =
                if class == "cjk" { translations(&bytes) } else { String::from_utf8(bytes).ok() };
            if let Some(text) = text {
                cut(class, hash, &text, &mut texts);
            }
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
        // What packages log when they are installed lists files, as `ls` does.
        "list" | "md5sums" => place.contains("dpkg").then_some("logs"),
        _ => (name.starts_with("README") || name == "copyright").then_some("prose"),
    }
}

/// The translated texts in a compiled catalogue of gettext, which ends each with a zero.
fn translations(bytes: &[u8]) -> Option<String> {
    let is_cjk = |char| matches!(char, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let texts: Vec<&str> = bytes
        .split(|byte| *byte == 0)
        .filter_map(|text| str::from_utf8(text).ok())
        .filter(|text| text.chars().any(is_cjk))
        .collect();
    (texts.len() > 10).then(|| texts.join("\n"))
}

/// A few notes, a page and a file from places that the hash chooses.
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
            // A word of Han or kana is about two characters.
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

/// FNV-1a, which chooses the same files everywhere.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
