//! Patterns that are compiled when a text first needs them. Most never are, and one takes 3 KB.
//!
//! They match bytes: `\w` is ASCII, and a negated class has all the bytes of other scripts. `$` is
//! the end of the span that is searched.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// A pattern and, once it was needed, its program.
pub(super) struct Pattern {
    source: String,
    program: OnceLock<BoundedBacktracker>,
}

/// A match and the last of its groups that took part, or all of it.
pub(super) struct Match {
    pub(super) whole: Range<usize>,
    pub(super) value: Range<usize>,
}

thread_local! {
    /// Memory for a search, some KB.
    static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
}

/// Parts that patterns share, by name.
const PARTS: [(&str, &str); 15] = [
    // What may close a name, and a sign.
    ("SIGN", r"QUOTES[ \t]{0,32}(?::=|=>|==|!=|=|:)[ \t*]*"),
    ("QUOTES", r#"["'`\]\\*]{0,4}"#),
    // A generated value, without the mark that ends a sentence.
    ("RUN", r#"([^\s"'`,;<>()\[\]|\\{}&]*[^\s"'`,;<>()\[\]|\\{}&.:!?])"#),
    // A command's argument, on the same line or after an escaped line break, and its quotes.
    ("ARGS", r"(?:[^\n&|;\\]|\\\r?\n|\\[^\n]|&[^&]|[|;][^ \n])*?\s"),
    ("VALUE", r#"(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|([^\s"'`,;<>()\[\]|\\]*))"#),
    ("RAW", r#"([^\s"'`,;<>()\[\]|\\]+)"#),
    // Schemes of RFC 9110, followed by a value or by the rest of the line.
    ("SCHEME", "(?i:bearer|basic|token|api-?key|key|splunk|oauth)"),
    ("LINED", "(?i:digest|aws4-hmac-sha256|signature|ntlm|negotiate)"),
    // A character of a URL before its path.
    ("HOST", r#"[^\s/"'`<>?#\\,;()|:]"#),
    ("PIPED", r#"(?:-\w+ +)?["']?"#),
    ("USER", r"[\w.@+\x80-\xff-]+"),
    // The rest of a line of `.pgpass`: database, user and password.
    ("PGPASS", r#"[\w.*-]+:[\w.*@-]+:((?:\\[^\n]|[^\s:`"'\\])+)"#),
    // Words between a password and its value, and between it and its owner.
    ("EQUALS", r"(?:is|ist|lautet|es|est|é|è|jest|är)(?:[ \t]?:)?"),
    (
        "OWNED",
        "(?:for|of|to|on|in|at|für|fuer|vom|von|des|der|zu|zum|im|pour|de|du|del|para|do|da|per\
         |voor|van|till|от|для)",
    ),
    ("OTHER", r"\x80-\xff"),
];

impl Pattern {
    pub(super) fn new(source: &str) -> Self {
        let source =
            PARTS.iter().fold(source.to_owned(), |all, (name, part)| all.replace(name, part));
        Self { source, program: OnceLock::new() }
    }

    /// Matches at the beginning of a span.
    pub(super) fn at(&self, text: &str, span: Range<usize>) -> Option<Match> {
        self.search(text, span, Anchored::Yes)
    }

    /// Returns the first match within a span.
    pub(super) fn within(&self, text: &str, span: Range<usize>) -> Option<Match> {
        self.search(text, span, Anchored::No)
    }

    /// Whether a value matches somewhere.
    pub(super) fn is_in(&self, value: &str) -> bool {
        self.within(value, 0..value.len()).is_some()
    }

    fn search(&self, text: &str, span: Range<usize>, anchored: Anchored) -> Option<Match> {
        let program = self.program.get_or_init(|| {
            BoundedBacktracker::builder()
                .syntax(syntax::Config::new().unicode(false).utf8(false))
                .thompson(thompson::Config::new().utf8(false))
                .build(&self.source)
                .expect("each pattern is sound, as a test compiles it")
        });
        let input = Input::new(text.get(..span.end)?).range(span).anchored(anchored);
        let mut slots = [None; 16];
        CACHE.with_borrow_mut(|cache| {
            let cache = cache.get_or_insert_with(|| program.create_cache());
            cache.reset(program);
            program.try_search_slots(cache, &input, &mut slots).ok()?
        })?;
        let mut groups = slots.chunks_exact(2).filter_map(|ends| match ends {
            [Some(start), Some(end)] => Some(start.get()..end.get()),
            _ => None,
        });
        let whole = groups.next()?;
        let value = groups.next_back().unwrap_or_else(|| whole.clone());
        Some(Match { whole, value })
    }
}
