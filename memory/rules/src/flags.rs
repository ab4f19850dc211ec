//! Options of a pattern, compared with those of a command.

use crate::forms::{OptionForms, ProgramOptions};
use crate::limits::SHORT_OPTION_LETTERS_MAX;
use crate::options;
use crate::shell::{Word, program_name};
use crate::wild::{Match, Sym, Wild, shown};

/// An option that a pattern demands.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    text: String,
    wild: Wild,
    value: Option<Value>,
}

/// The value that a pattern demands of an option.
#[derive(Clone, Debug)]
struct Value {
    wild: Wild,
    /// The option with its value in one word; `None` if the pattern has them in two.
    whole: Option<Wild>,
}

/// The options of a command.
pub(crate) struct GivenOptions<'c> {
    /// Whether short options may join.
    joins: bool,
    known: Option<&'static ProgramOptions>,
    /// The options that the program has before its subcommand.
    global: &'static [OptionForms],
    /// The arguments that may be options or operands, each with the word behind it.
    words: Vec<(&'c Word, Option<&'c Word>)>,
    /// The letters of short options. `…` stands for unknown ones.
    letters: String,
}

impl Flag {
    /// Creates an option without a value.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), wild: Wild::word(text), value: None }
    }

    /// Creates the option of a pattern's word, which may have a value behind a `=`.
    pub(crate) fn of_pattern(word: &str) -> Self {
        match word.split_once('=') {
            Some((name, value)) if name.len() > 1 => {
                let whole = Some(Wild::word(word));
                let value = Value { wild: Wild::word(value), whole };
                Self { value: Some(value), ..Self::new(name) }
            }
            _ => Self::new(word),
        }
    }

    /// Creates an option whose value is the pattern's next word.
    pub(crate) fn with_value(name: &str, value: &str) -> Self {
        let value = Value { wild: Wild::word(value), whole: None };
        Self { value: Some(value), ..Self::new(name) }
    }

    /// Returns the letters, if it is joined short options.
    fn short(&self) -> Option<&str> {
        self.text.strip_prefix('-').filter(|rest| {
            !rest.starts_with('-') && rest.len() <= SHORT_OPTION_LETTERS_MAX && !rest.contains('*')
        })
    }

    /// Whether it is a name of the option, short or long.
    fn is_named_by(&self, option: &OptionForms) -> bool {
        self.is_of(option) || option.names.contains(&self.text.as_str())
    }

    /// Whether it is a name of the option, or a pattern of one of its long names.
    fn is_of(&self, option: &OptionForms) -> bool {
        let has_letters = self.text.chars().any(char::is_alphanumeric);
        has_letters
            && self.text.starts_with("--")
            && option.names.iter().any(|name| {
                self.wild.matches(&crate::wild::syms(name)) == Match::Yes && name.starts_with("--")
            })
    }
}

impl<'c> GivenOptions<'c> {
    /// Reads a command's options. Where its program or subcommand is unknown, they are those of the
    /// pattern, whose program and operands are `wanted`.
    pub(crate) fn new(program: &Word, arguments: &'c [Word], wanted: &[String]) -> Self {
        let (wanted_program, wanted) =
            wanted.split_first().unwrap_or((const { &String::new() }, &[]));
        let name = program_name(program).unwrap_or_else(|| wanted_program.clone());
        let from =
            if options::has_subcommands(&name) { options::subcommand(&name, arguments) } else { 0 };
        let operands = options::subcommands(&name, arguments.get(from..).unwrap_or_default());
        let operands: Vec<String> = operands
            .into_iter()
            .enumerate()
            .map(|(at, word)| word.text().or_else(|| wanted.get(at).cloned()).unwrap_or_default())
            .collect();
        let known = ProgramOptions::find(&name, &operands);
        let mut given = Self {
            joins: options::joins_short(&name),
            known,
            global: options::forms(&name),
            words: Vec::new(),
            letters: String::new(),
        };
        let mut rest = arguments.iter().peekable();
        while let Some(word) = rest.next() {
            let text = shown(&word.syms);
            if known.is_some() && text == "--" {
                break;
            }
            given.words.push((word, rest.peek().copied()));
            if let Some(cluster) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
                let letters = known.map(|known| known.letters(cluster));
                given.letters.push_str(letters.as_deref().unwrap_or(cluster));
            }
            // Words that may be several are not only a value.
            if known.is_some_and(|known| known.takes_next(&text)) {
                rest.next_if(|value| !value.splits);
            }
        }
        given
    }

    /// Whether an option is given, in any of its forms.
    pub(crate) fn has(&self, flag: &Flag) -> Match {
        if let Some(value) = &flag.value {
            return self.has_with_value(flag, value);
        }
        let direct = self.has_as_written(flag);
        let in_letters = match flag.short().filter(|_| self.joins) {
            Some(letters) => letters.chars().map(|letter| self.has_letter(letter)).min(),
            None => None,
        };
        let other_forms = self.options().filter(|option| flag.is_of(option));
        let other_forms = other_forms.map(|option| self.has_option(option)).max();
        direct.max(in_letters.unwrap_or_default()).max(other_forms.unwrap_or_default())
    }

    fn has_as_written(&self, flag: &Flag) -> Match {
        let mut best = Match::No;
        for (word, _) in &self.words {
            best = best.max(of_word(flag, word));
            if word.splits || word.syms.first() == Some(&Sym::Any) {
                best = best.max(flag.wild.matches(&word.syms).min(Match::Maybe));
                if word.splits {
                    best = best.max(Match::Maybe);
                }
            }
        }
        best
    }

    /// Whether an option is given with a value: `--output=json`, `--output json`, `-o json`,
    /// `-ojson` or `-o=json`.
    fn has_with_value(&self, flag: &Flag, value: &Value) -> Match {
        let forms = self.options().filter(|option| flag.is_named_by(option));
        let names = forms.flat_map(|option| option.names).map(|name| Flag::new(name));
        let names: Vec<Flag> = [Flag::new(&flag.text)].into_iter().chain(names).collect();
        let mut best = Match::No;
        for (word, next) in &self.words {
            if word.splits {
                best = best.max(Match::Maybe);
            }
            if let Some(whole) = &value.whole {
                let found = whole.matches(&word.syms);
                let is_certain = word.syms.first() != Some(&Sym::Any);
                best = best.max(if is_certain { found } else { found.min(Match::Maybe) });
            }
            let of_next = next.map_or(Match::No, |next| {
                let found = value.wild.matches(&next.syms);
                if next.splits { found.max(Match::Maybe) } else { found }
            });
            for name in &names {
                best = best.max(self.with_value(name, word, &value.wild, of_next));
            }
        }
        best
    }

    /// Whether a word is an option with a value, in itself or in the next word.
    fn with_value(&self, name: &Flag, word: &Word, value: &Wild, of_next: Match) -> Match {
        if !word.is_flag() {
            return Match::No;
        }
        let equals = word.syms.iter().position(|sym| *sym == Sym::Char('='));
        let long = match equals {
            Some(at) => value.matches(word.syms.get(at + 1..).unwrap_or_default()),
            None => of_next,
        };
        let long = long.min(of_word(name, word));
        let Some(letter) = name.short().filter(|_| self.joins) else { return long };
        let text = shown(&word.syms);
        let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let Some(cluster) = cluster.filter(|_| letter.chars().count() == 1) else { return long };
        // A value ends the letters. Where nothing is known, it is that of the first or last letter.
        let letters = self.known.map(|known| known.letters(cluster));
        let is_last = letters.as_deref().unwrap_or(cluster).ends_with(letter);
        let at = match (is_last, cluster.starts_with(letter)) {
            (true, _) => letters.as_deref().unwrap_or(cluster).chars().count(),
            (false, true) => 1,
            (false, false) => return long,
        };
        let rest = word.syms.get(at + 1..).unwrap_or_default();
        let short = match rest {
            [] => of_next,
            [Sym::Char('='), attached @ ..] => value.matches(attached).max(value.matches(rest)),
            attached => value.matches(attached),
        };
        long.max(short)
    }

    fn has_letter(&self, letter: char) -> Match {
        let is_of = |option: &&OptionForms| {
            let mut names = option.names.iter().filter_map(|name| name.strip_prefix('-'));
            names.any(|name| name.chars().eq([letter]))
        };
        let alone = self.options().filter(is_of).map(|option| self.has_option(option)).max();
        let joined = self.options().filter(|option| option.joined.contains(letter));
        let joined = joined.map(|option| self.has_option(option)).min();
        self.in_letters(letter).max(alone.unwrap_or_default()).max(joined.unwrap_or_default())
    }

    /// Whether one of an option's forms is given.
    fn has_option(&self, option: &OptionForms) -> Match {
        let names = option.names.iter().chain(option.implied_by).map(|name| {
            let mut letters = name.chars().skip(1);
            match (letters.next(), letters.next()) {
                (Some(letter), None) => self.in_letters(letter),
                _ => self.has_as_written(&Flag::new(name)),
            }
        });
        let joined = option.joined.chars().map(|letter| self.in_letters(letter));
        let operand = option.operand.map(|first| Wild::word(&format!("{first}*")));
        let operand = operand.into_iter().flat_map(|form| {
            let words = self.words.iter().filter(|(word, _)| word.syms.len() > 1);
            words.map(move |(word, _)| form.matches(&word.syms))
        });
        let operand = operand.max().unwrap_or_default();
        names.chain(joined).max().unwrap_or_default().max(operand)
    }

    fn in_letters(&self, letter: char) -> Match {
        match (self.letters.contains(letter), self.letters.contains('…')) {
            (true, _) => Match::Yes,
            (false, true) => Match::Maybe,
            (false, false) => Match::No,
        }
    }

    fn options(&self) -> impl Iterator<Item = &'static OptionForms> {
        self.known.into_iter().flat_map(|known| known.options).chain(self.global)
    }
}

/// Matches an option with one word, also if the word abbreviates it or gives it a value.
fn of_word(flag: &Flag, word: &Word) -> Match {
    let direct = flag.wild.matches(&word.syms);
    if direct == Match::Yes || !word.is_flag() {
        return direct;
    }
    let equals = word.syms.iter().position(|sym| *sym == Sym::Char('='));
    let bare = equals.and_then(|at| word.syms.get(..at)).unwrap_or(&word.syms);
    let of_bare = flag.wild.matches(bare);
    let text = shown(bare);
    let double = flag.text.starts_with("--").then_some(flag.text.as_str());
    // getopt and git accept `--har` for `--hard`. Go accepts `-auto-approve` for `--auto-approve`.
    let abbreviates = double.is_some_and(|flag| text.len() >= 3 && flag.starts_with(&text));
    let one_dash = text.trim_start_matches('-') == flag.text.trim_start_matches('-')
        && text.trim_start_matches('-').len() > 1;
    if of_bare == Match::Yes || abbreviates || one_dash { Match::Yes } else { direct.max(of_bare) }
}
