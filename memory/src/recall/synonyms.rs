//! Words that stand for a query's own: synonyms that developers use, and the words that keys have
//! for what people ask for.

use std::collections::HashSet;

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
