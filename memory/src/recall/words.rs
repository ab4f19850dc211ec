//! Words of a prompt or a query that say little about which record it needs: common words of
//! requests to coding agents, and stop words. Also words that developers use as synonyms.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Common words of requests and of programming, in the forms that people type. Only a part of their
/// weight counts.
const COMMON: &[&str] = &[
    // Requests.
    "add",
    "adding",
    "adds",
    "apply",
    "ask",
    "avoid",
    "bring",
    "build",
    "call",
    "change",
    "changed",
    "changes",
    "check",
    "clean",
    "comment",
    "commit",
    "compare",
    "continue",
    "convert",
    "copy",
    "create",
    "debug",
    "define",
    "delete",
    "describe",
    "do",
    "does",
    "done",
    "drop",
    "edit",
    "explain",
    "explains",
    "extract",
    "find",
    "finish",
    "fix",
    "fixing",
    "get",
    "give",
    "go",
    "handle",
    "help",
    "implement",
    "improve",
    "insert",
    "keep",
    "know",
    "let",
    "list",
    "look",
    "make",
    "mean",
    "meant",
    "merge",
    "move",
    "need",
    "needs",
    "open",
    "print",
    "put",
    "read",
    "refactor",
    "regenerate",
    "remove",
    "rename",
    "renamed",
    "reorder",
    "replace",
    "rerun",
    "restart",
    "return",
    "review",
    "rewrite",
    "run",
    "running",
    "save",
    "see",
    "send",
    "set",
    "shorten",
    "show",
    "simplify",
    "sort",
    "split",
    "start",
    "stop",
    "store",
    "swap",
    "take",
    "tell",
    "test",
    "tests",
    "think",
    "tidy",
    "translate",
    "try",
    "turn",
    "undo",
    "update",
    "use",
    "used",
    "using",
    "want",
    "wants",
    "work",
    "works",
    "write",
    // Phrasing.
    "again",
    "also",
    "already",
    "another",
    "back",
    "best",
    "better",
    "big",
    "bit",
    "could",
    "else",
    "even",
    "every",
    "exactly",
    "first",
    "good",
    "hello",
    "hey",
    "hi",
    "idea",
    "instead",
    "last",
    "left",
    "like",
    "little",
    "long",
    "lot",
    "maybe",
    "minute",
    "moment",
    "morning",
    "much",
    "new",
    "next",
    "nice",
    "old",
    "one",
    "option",
    "ok",
    "okay",
    "please",
    "pls",
    "proper",
    "properly",
    "question",
    "quick",
    "quickly",
    "really",
    "right",
    "second",
    "short",
    "shorter",
    "simple",
    "small",
    "something",
    "still",
    "sure",
    "thank",
    "thanks",
    "thing",
    "things",
    "third",
    "time",
    "today",
    "tomorrow",
    "two",
    "way",
    "well",
    "without",
    "wrong",
    "yes",
    "yesterday",
    "no",
    // Parts of code.
    "annotation",
    "annotations",
    "argument",
    "array",
    "block",
    "bug",
    "button",
    "cell",
    "character",
    "characters",
    "class",
    "code",
    "column",
    "comments",
    "comparison",
    "component",
    "constant",
    "data",
    "dict",
    "diff",
    "docstring",
    "error",
    "errors",
    "example",
    "expression",
    "field",
    "file",
    "files",
    "folder",
    "formula",
    "function",
    "functions",
    "heading",
    "helper",
    "hint",
    "hints",
    "id",
    "import",
    "imports",
    "input",
    "int",
    "interface",
    "key",
    "line",
    "lines",
    "linter",
    "log",
    "loop",
    "loops",
    "message",
    "messages",
    "method",
    "model",
    "module",
    "name",
    "names",
    "number",
    "object",
    "output",
    "page",
    "paragraph",
    "parameter",
    "parameters",
    "part",
    "program",
    "readme",
    "regex",
    "regexp",
    "result",
    "script",
    "sentence",
    "sentences",
    "snippet",
    "state",
    "statement",
    "statements",
    "string",
    "strings",
    "style",
    "syntax",
    "text",
    "title",
    "type",
    "typo",
    "unit",
    "value",
    "values",
    "variable",
    "variables",
    "version",
    "view",
    "warning",
    "warnings",
    "word",
    "words",
];

/// Words of short prompts that are about the code or text at hand, or about programming in general,
/// in the forms that people type.
const AT_HAND: &[&str] = &[
    "argument",
    "arguments",
    "block",
    "cell",
    "comment",
    "comments",
    "convert",
    "dict",
    "docstring",
    "docstrings",
    "explain",
    "expression",
    "format",
    "function",
    "functions",
    "haiku",
    "heading",
    "headings",
    "helper",
    "hint",
    "hints",
    "import",
    "imports",
    "indentation",
    "int",
    "joke",
    "line",
    "lines",
    "loop",
    "loops",
    "method",
    "methods",
    "paragraph",
    "poem",
    "reformat",
    "regex",
    "regexp",
    "rename",
    "reorder",
    "sentence",
    "sentences",
    "shorten",
    "simplify",
    "snippet",
    "sort",
    "statement",
    "statements",
    "string",
    "strings",
    "swap",
    "syntax",
    "translate",
    "typo",
    "typos",
    "undo",
    "variable",
    "variables",
    "word",
    "words",
];

/// Languages whose stop words are left out of prompts that are written in them.
const LANGUAGES: [&str; 14] =
    ["da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv", "tr"];
/// The least number of a language's stop words in a text that is written in it. It also has more of
/// them than of English ones.
const STOP_WORDS_MIN: usize = 2;

/// Groups of words that developers use as synonyms.
const SYNONYMS: [&[&str]; 26] = [
    &["pr", "prs", "pull request", "merge request"],
    &["npm", "pnpm", "yarn"],
    &["db", "database", "postgres", "psql"],
    &["prod", "production"],
    &["env", "environment"],
    &["config", "configuration", "settings"],
    &["auth", "authentication", "login", "permission"],
    &["docs", "documentation"],
    &["ci", "pipeline"],
    &["k8s", "kubernetes", "cluster"],
    &["lint", "linter", "linting"],
    &["deploy", "deployment", "rollout"],
    &["migration", "migrate", "migrations", "schema"],
    &["dependency", "dependencies", "deps", "package", "library"],
    &["secret", "credential", "credentials", "api key", "vault"],
    &["repo", "repository"],
    &["infra", "infrastructure"],
    &["dev", "development", "local"],
    &["e2e", "end to end", "playwright"],
    &["spec", "specification"],
    &["phone", "mobile", "telephone"],
    &["mail", "email", "e-mail"],
    &["price", "prices", "cost", "money", "amount"],
    &["delete", "remove", "drop", "purge"],
    &["picture", "image", "screenshot"],
    &["timezone", "utc", "timestamp"],
];

/// Words with which people ask for something, and the words that keys have for it.
const ASKED_AS_KEYS: [(&[&str], &str); 4] = [
    (&["run", "start", "build", "launch", "execute", "rerun", "do"], " command cmd script "),
    (&["who", "whom", "whose", "ask"], " owner contact responsible maintainer "),
    (&["where"], " url path location file dir host "),
    (&["open", "browse", "visit"], " url link "),
];

/// Returns the synonyms of a text's words that the text does not have itself.
pub(super) fn synonyms(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: HashSet<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    let has = |word: &&&str| {
        if word.contains(' ') { lower.contains(**word) } else { words.contains(**word) }
    };
    let mut synonyms = String::new();
    for group in SYNONYMS.iter().filter(|group| group.iter().any(|word| has(&word))) {
        for word in group.iter().filter(|word| !has(word)) {
            synonyms.push_str(word);
            synonyms.push(' ');
        }
    }
    synonyms
}

/// Returns the words that keys have for what a text asks for: `command` for "run", `lint` for
/// "linter".
pub(super) fn key_words(text: &str) -> String {
    let mut key_words = synonyms(text);
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    for word in words.filter(|word| !word.is_empty()) {
        for (asked, keys) in ASKED_AS_KEYS {
            if asked.contains(&word.as_str()) {
                key_words.push_str(keys);
            }
        }
        for end in ["er", "ers", "ing", "ed"] {
            if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() > 2) {
                key_words.push(' ');
                key_words.push_str(stem);
            }
        }
    }
    key_words
}

/// Returns how much a word of this rarity says about what a text needs.
pub(super) fn weight(word: &str, rarity: f32) -> f32 {
    const COMMON_SHARE: f32 = 0.4;
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| COMMON.iter().copied().collect());
    if WORDS.contains(word) { rarity * COMMON_SHARE } else { rarity }
}

/// Whether a word is one of [`AT_HAND`].
pub(super) fn is_at_hand(word: &str) -> bool {
    AT_HAND.contains(&word)
}

/// Returns the stop words of the language that a text is written in; none for English, whose stop
/// words no query has.
pub(super) fn stop_words(text: &str) -> &'static [&'static str] {
    let words: HashSet<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let known = |language: &str| stop_words::lookup(language).unwrap_or_default();
    let count = |language| known(language).iter().filter(|word| words.contains(**word)).count();
    let english = count("en");
    let most = LANGUAGES.into_iter().map(|language| (count(language), language)).max();
    match most {
        Some((count, language)) if count >= STOP_WORDS_MIN && count > english => known(language),
        _ => &[],
    }
}
