//! Compares outlines with universal-ctags: whether an outline has each function, type and method
//! that ctags finds, on the same line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anchord_outline::{Content, Item, Language, Outline, content, parse};

/// The kinds of tags that are functions, types or methods. Python's methods are `member`s, and so
/// are the fields of other languages, which do not count.
const KINDS: &[&str] = &[
    "function",
    "func",
    "method",
    "singletonMethod",
    "methodSpec",
    "constructor",
    "generator",
    "getter",
    "setter",
    "subroutine",
    "class",
    "struct",
    "union",
    "enum",
    "interface",
    "trait",
    "typedef",
    "type",
    "talias",
    "delegate",
    "implementation",
    "annotation",
];

/// The agreement over one language's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Files read.
    pub files: usize,
    /// Functions, types and methods that ctags finds.
    pub tags: usize,
    /// Those of them that the outlines have on the same line.
    pub found: usize,
    /// Those of these whose last line ctags knows.
    pub ends: usize,
    /// Those of these whose last line is the same.
    pub ends_right: usize,
    /// Tags that do not count: values and uses in JavaScript that ctags takes for classes
    /// and methods.
    pub others: usize,
    /// Missing tags: file, line, kind and name.
    pub missing: Vec<String>,
}

impl Agreement {
    /// Returns the share of ctags' functions, types and methods that the outlines have.
    pub fn share(&self) -> f64 {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if self.tags == 0 { 1.0 } else { count(self.found) / count(self.tags) }
    }
}

/// Returns the version of universal-ctags on this machine, if there is one.
pub fn ctags() -> Option<String> {
    let out = Command::new("ctags").arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.lines().next().filter(|line| line.starts_with("Universal Ctags")).map(str::to_owned)
}

/// Compares the outlines of a directory's files with ctags, by language.
pub fn compare(root: &Path) -> BTreeMap<&'static str, Agreement> {
    let mut all: BTreeMap<&'static str, Agreement> = BTreeMap::new();
    let mut files = Vec::new();
    collect(root, &mut files);
    let tags = tags(root);
    for file in files {
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let Content::Text(text) = content(&bytes) else { continue };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Some(language) = Language::of_file(&name, &text) else { continue };
        let relative = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        let agreement = all.entry(language.name).or_default();
        agreement.files += 1;
        let Some(tags) = tags.get(&relative) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let is_javascript = language.id == "javascript";
        let (others, tags): (Vec<&Tag>, Vec<&Tag>) =
            tags.iter().partition(|tag| is_javascript && is_other(tag, &lines));
        agreement.others += others.len();
        count(agreement, &relative, &tags, &parse(language, &text));
    }
    all.retain(|_, agreement| agreement.tags > 0);
    all
}

struct Tag {
    name: String,
    kind: String,
    line: u32,
    end: Option<u32>,
}

fn count(agreement: &mut Agreement, file: &str, tags: &[&Tag], outline: &Outline) {
    let at = |item: &Item| (item.line, last_name(&item.name).to_owned());
    let items: BTreeMap<(u32, String), &Item> =
        outline.items.iter().map(|item| (at(item), item)).collect();
    let mut seen = BTreeSet::new();
    for tag in tags {
        if !seen.insert((tag.line, &tag.name)) {
            continue;
        }
        agreement.tags += 1;
        let name = last_name(&tag.name);
        // ctags takes the macro for the name in `TEST_BEGIN(rotates)`, and outlines what it names.
        let says = |item: &&Item| {
            let signature = &item.signature;
            item.line == tag.line
                && if is_operator(&tag.name) {
                    without_spaces(signature).contains(&without_spaces(&tag.name))
                } else {
                    has_word(signature, name)
                }
        };
        let named = items.get(&(tag.line, name.to_owned())).copied();
        let Some(item) = named.or_else(|| outline.items.iter().find(says)) else {
            let Tag { name, kind, line, .. } = tag;
            agreement.missing.push(format!("{file}:{line} {kind} {name}"));
            continue;
        };
        agreement.found += 1;
        agreement.ends += usize::from(tag.end.is_some());
        agreement.ends_right += usize::from(tag.end == Some(item.last));
    }
}

/// Returns whether ctags takes something else in JavaScript for a class or method. The line of a
/// class has the word `class` or `function`, unlike `point = { 'x': 1 }`. Behind a method of a
/// prototype stands `=`, unlike in `Type.prototype.add.call(this)`.
fn is_other(tag: &Tag, lines: &[&str]) -> bool {
    let at = usize::try_from(tag.line).unwrap_or_default().saturating_sub(1);
    let line = lines.get(at).copied().unwrap_or_default();
    match tag.kind.as_str() {
        "class" => !has_word(line, "class") && !has_word(line, "function"),
        "method" => {
            let used = format!(".prototype.{}", tag.name);
            let mut behind = line.split(&used).skip(1).peekable();
            behind.peek().is_some() && behind.all(|rest| !rest.trim_start().starts_with('='))
        }
        _ => false,
    }
}

/// Returns whether a word is in a text.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Returns whether a name is an operator's. ctags writes `operator Pair<A,B>` and
/// `operator ""_json` without spaces that the code has.
fn is_operator(name: &str) -> bool {
    name.starts_with("operator ")
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the last part of a name: `new` of `Outer::new<T>`.
fn last_name(name: &str) -> &str {
    if let Some((_, sign)) = name.split_once("operator") {
        return sign.trim();
    }
    let name = name.trim_start_matches(['~', '*', '&', '#']);
    let plain = name.split(['<', '(', ' ']).next().filter(|plain| !plain.is_empty());
    let plain = plain.unwrap_or(name);
    plain.rsplit([':', '.', '\\']).next().unwrap_or(plain)
}

/// Runs ctags over a directory.
fn tags(root: &Path) -> BTreeMap<String, Vec<Tag>> {
    let out = Command::new("ctags")
        .args(["-R", "--links=no", "--excmd=number", "--fields=+neK", "--sort=no"])
        .args(["--languages=-Markdown,-JSON,-Yaml,-Iniconf,-HTML,-CSS,-Make,-Protobuf"])
        .args(["-f", "-", "."])
        .current_dir(root)
        .stderr(Stdio::null())
        .output()
        .expect("ctags runs");
    assert!(out.status.success(), "ctags ended with {}", out.status);
    let mut all: BTreeMap<String, Vec<Tag>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let Some((head, fields)) = line.split_once(";\"\t") else { continue };
        let mut head = head.split('\t');
        let (Some(name), Some(file), Some(number)) = (head.next(), head.next(), head.next()) else {
            continue;
        };
        let mut fields = fields.split('\t');
        let kind = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        let field = |name: &str| {
            fields.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix(':')).map(str::to_owned)
        };
        let file = file.trim_start_matches("./").to_owned();
        let is_python = Path::new(&file).extension().is_some_and(|it| it == "py");
        // ctags makes these names up.
        let is_made_up = name.starts_with("__anon") || name.to_lowercase().starts_with("anonymous");
        // It takes `words=()` in a shell for a function.
        let is_made_up = is_made_up || name.ends_with('=') && !name.starts_with("operator");
        if is_made_up || !(KINDS.contains(&kind) || is_python && kind == "member") {
            continue;
        }
        all.entry(file).or_default().push(Tag {
            name: name.to_owned(),
            kind: kind.to_owned(),
            line: number.parse().unwrap_or_default(),
            end: field("end").and_then(|end| end.parse().ok()),
        });
    }
    all
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = dir.read_dir() else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => {
                collect(&entry.path(), files);
            }
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}
