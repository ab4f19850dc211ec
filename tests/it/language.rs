//! Rules for the language of comments and pages that a machine can check: how a comment begins, and
//! the length of sentences and lines.

use crate::tidy::{File, tree};

/// The most columns of a line of prose.
const COLUMNS_MAX: usize = 100;

/// The most words of a sentence.
const WORDS_MAX: usize = 25;

/// Words that begin a clause without a head. A doc comment begins with a noun or a verb.
const HEADLESS: [&str; 11] =
    ["What", "Whose", "Of", "Who", "Where", "Whom", "How", "Which", "That", "When", "If"];

/// Names that the glossary has replaced.
const REPLACED: [&str; 9] = [
    "Touched",
    "Teller",
    "Telling",
    "Blackened",
    "first_said",
    "unheard",
    "unwound",
    "is_visit",
    "Lending",
];

#[test]
fn comments_and_pages_are_in_plain_language() {
    let wrong: Vec<String> = tree()
        .iter()
        .filter(|file| !is_exempt(&file.path))
        .flat_map(|file| {
            let found = if file.is_rust() {
                [in_comments(file), long_comments(file), replaced(file)].concat()
            } else if file.is_markdown() {
                in_page(file)
            } else {
                Vec::new()
            };
            found.into_iter().map(|what| format!("{}:{what}", file.path))
        })
        .collect();
    assert!(wrong.is_empty(), "{} found:\n{}", wrong.len(), wrong.join("\n"));
}

/// This file names what it forbids. The page of the tools is generated from their definitions.
fn is_exempt(path: &str) -> bool {
    path == "tests/it/language.rs" || path == "docs/mcp-tools.md"
}

/// A paragraph of a comment or a page.
struct Paragraph {
    line: usize,
    text: String,
}

/// The paragraphs of a file's comments: `///`, `//!` or `//` lines of one kind without a gap.
fn comments(file: &File) -> Vec<(&'static str, Paragraph)> {
    let mut paragraphs: Vec<(&'static str, Paragraph)> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    for (number, line) in file.lines() {
        let line = line.trim_start();
        let kind = ["///", "//!", "//"].into_iter().find(|kind| line.starts_with(kind));
        let text = kind.and_then(|kind| line.strip_prefix(kind)).map(str::trim);
        let (Some(kind), Some(text)) = (kind, text) else {
            (is_open, is_code) = (false, false);
            continue;
        };
        is_code ^= text.starts_with("```");
        if text.is_empty() || is_code || text.starts_with("```") || text.starts_with('|') {
            is_open = false;
            continue;
        }
        let continues = is_open && !begins_item(text);
        match paragraphs.last_mut().filter(|(of, _)| continues && *of == kind) {
            Some((_, paragraph)) => {
                paragraph.text.push(' ');
                paragraph.text.push_str(text);
            }
            None => paragraphs.push((kind, Paragraph { line: number, text: text.to_owned() })),
        }
        is_open = true;
    }
    paragraphs
}

/// Returns whether a line begins an item of a list.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || number.len() < line.len() && number.starts_with(". ")
}

fn in_comments(file: &File) -> Vec<String> {
    // Agents read the comments of tools' parameters as descriptions, which have a style of their own.
    let is_tool = file.path.starts_with("daemon/src/mcp/tools/");
    let headless = |kind: &str, text: &str| {
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        kind != "//" && !is_tool && HEADLESS.contains(&first)
    };
    let mut before: Option<(&str, usize)> = None;
    let mut wrong = Vec::new();
    for (kind, paragraph) in comments(file) {
        let Paragraph { line, text } = &paragraph;
        // Only the first paragraph of a comment is its summary.
        let follows = before.is_some_and(|(of, end)| of == kind && end + 1 >= *line);
        if !follows && headless(kind, text) {
            wrong.push(format!("{line}: begins with `{}`", clip(text)));
        }
        wrong.extend(long_sentences(&paragraph));
        let end = file
            .lines()
            .skip(*line)
            .take_while(|(_, line)| line.trim_start().strip_prefix(kind).is_some());
        before = Some((kind, line + end.count()));
    }
    wrong
}

fn long_comments(file: &File) -> Vec<String> {
    let is_long = |line: &str| line.trim_start().starts_with("//") && is_wide(line);
    let lines = file.lines().filter(|(_, line)| is_long(line));
    lines.map(|(number, line)| format!("{number}: {} columns", line.chars().count())).collect()
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS_MAX
}

fn replaced(file: &File) -> Vec<String> {
    file.naming(&REPLACED.map(|name| name)).into_iter().map(|what| format!(" {what}")).collect()
}

/// Checks a page's prose: no code, no tables, no front matter.
fn in_page(file: &File) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is_code = false;
    let mut is_front = file.text.starts_with("---\n");
    let mut open: Option<Paragraph> = None;
    let lines = file.lines().map(|(number, line)| (number, line.to_owned()));
    for (number, line) in lines.chain([(0, String::new())]) {
        if is_front {
            is_front = number == 1 || line != "---";
            continue;
        }
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        let is_prose = !is_code && !fence && !line.starts_with('|');
        if is_prose && is_wide(&line) {
            wrong.push(format!("{number}: {} columns", line.chars().count()));
        }
        let ends =
            !is_prose || line.trim().is_empty() || line.starts_with('#') || begins_item(&line);
        if ends && let Some(paragraph) = open.take() {
            wrong.extend(long_sentences(&paragraph));
        }
        if is_prose && !line.trim().is_empty() && !line.starts_with('#') {
            match &mut open {
                Some(paragraph) => paragraph.text = format!("{} {}", paragraph.text, line.trim()),
                None => open = Some(Paragraph { line: number, text: line.trim().to_owned() }),
            }
        }
    }
    wrong
}

fn long_sentences(paragraph: &Paragraph) -> Vec<String> {
    sentences(&paragraph.text)
        .into_iter()
        .map(|sentence| (sentence.split_whitespace().count(), sentence))
        .filter(|(words, _)| *words > WORDS_MAX)
        .map(|(words, text)| format!("{}: {words} words: {}", paragraph.line, clip(&text)))
        .collect()
}

/// Splits a paragraph after a mark of punctuation that a capital or code follows.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in text.split_whitespace() {
        let begins = word.starts_with(|c: char| c.is_uppercase() || "`[\"*(".contains(c));
        if let Some(last) = sentences.last_mut() {
            let ended =
                last.trim_end_matches([')', '"', '*', '`']).ends_with(['.', '!', '?', ':', ';']);
            if ended && begins {
                sentences.push(word.to_owned());
            } else {
                last.push(' ');
                last.push_str(word);
            }
        }
    }
    sentences
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

#[test]
fn each_rule_finds_its_fault_and_accepts_a_good_sample() {
    let rust = |text: &str| {
        let file = File { path: "daemon/src/a.rs".to_owned(), text: text.to_owned() };
        [in_comments(&file), long_comments(&file), replaced(&file)].concat()
    };
    assert_eq!(rust("//! What this is for.\n"), ["1: begins with `What this is for.`"]);
    assert!(rust("/// Returns what was asked.\n///\n/// What follows explains it.\n").is_empty());
    assert_eq!(rust(&format!("// {}\n", "a".repeat(98))), ["1: 101 columns"]);
    let long = format!("/// Returns {}.\n", "a ".repeat(25));
    assert_eq!(rust(&long).len(), 1, "{:?}", rust(&long));
    let two = format!("/// Returns {}.\n/// Fails {}.\n", "a ".repeat(20), "b ".repeat(20));
    assert!(rust(&two).is_empty());
    assert_eq!(rust("struct Touched;\n"), [" line 1: `Touched`"]);

    let page = |text: &str| in_page(&File { path: "a.md".to_owned(), text: text.to_owned() });
    assert_eq!(page(&"a ".repeat(40)).len(), 1);
    assert!(page(&format!("```\n{}\n```\n| {} |\n", "a ".repeat(60), "b ".repeat(60))).is_empty());
    assert!(page(&format!("---\ndescription: {}\n---\nShort.\n", "a ".repeat(60))).is_empty());
    assert_eq!(page(&format!("- {}\n", "a".repeat(100))), ["1: 102 columns"]);
}
