//! Command patterns: compiled, and matched against a command that would run.

use crate::flags::{Flag, GivenOptions};
use crate::limits::PAIRED_OPTIONS_MAX;
use crate::options;
use crate::paths;
use crate::pattern;
use crate::shell::{Invocation, Word, program_name};
use crate::wild::{Match, Sym, Wild};

/// A compiled command pattern.
#[derive(Clone, Debug)]
pub(crate) struct CommandPattern {
    /// The program. One with a slash also compares directories.
    program: Wild,
    has_path: bool,
    readings: Vec<PatternReading>,
}

/// A reading of the words behind a pattern's program. In one, the word behind an option is an
/// operand, as in `git push --force main`. In another it is the option's value, as in `kubectl -n
/// prod delete`. Nothing says which options have values, so each reading counts.
#[derive(Clone, Debug)]
struct PatternReading {
    operands: Vec<Wild>,
    flags: Vec<Flag>,
    /// The program and the operands as they are written.
    written: Vec<String>,
}

impl CommandPattern {
    /// Compiles a pattern. `None` if it has no words.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        // A rule with such a pattern is refused. One that was stored before matches what it did.
        let plain = |_| pattern.split_whitespace().map(str::to_owned).collect();
        let words = pattern::words(pattern).unwrap_or_else(plain);
        let mut words = words.iter().map(String::as_str);
        let first = words.next()?;
        let first = first.strip_prefix("./").unwrap_or(first);
        let name = first.rsplit('/').next().unwrap_or(first).to_ascii_lowercase();
        let rest: Vec<&str> = words.filter(|word| *word != "**").collect();
        let pairs = rest.windows(2).enumerate().filter_map(|(at, pair)| match pair {
            [option, value] if is_option(option) && !option.contains('=') && !is_option(value) => {
                Some(at)
            }
            _ => None,
        });
        let pairs: Vec<usize> = pairs.take(PAIRED_OPTIONS_MAX).collect();
        // Each subset of the pairs is a reading.
        let subsets = pairs.iter().fold(vec![Vec::new()], |subsets, at| {
            let with = |subset: &Vec<usize>| [&subset[..], &[*at]].concat();
            let more: Vec<Vec<usize>> = subsets.iter().map(with).collect();
            [subsets, more].concat()
        });
        let readings =
            subsets.iter().map(|paired| PatternReading::new(&name, &rest, paired)).collect();
        let has_path = first.contains('/');
        Some(Self { program: Wild::word_in_any_case(first), has_path, readings })
    }

    /// Matches a command.
    pub(crate) fn matches(&self, invocation: &Invocation) -> Match {
        let Some((program, arguments)) = invocation.words.split_first() else { return Match::No };
        let of_program = self.of_program(program);
        if of_program == Match::No {
            return Match::No;
        }
        // An unquoted unknown part may contain all that is missing.
        let first_splits = program.splits && program_name(program).is_none();
        let rest = self.readings.iter().map(|reading| {
            let operands = reading.of_operands(program, arguments, first_splits);
            let flags = reading.of_flags(program, arguments);
            operands.min(if first_splits { flags.max(Match::Maybe) } else { flags })
        });
        of_program.min(rest.max().unwrap_or_default())
    }

    #[expect(clippy::single_match_else, reason = "both cases are as common")]
    fn of_program(&self, word: &Word) -> Match {
        if self.has_path {
            let whole = word.syms.strip_prefix(&[Sym::Char('.'), Sym::Char('/')][..]);
            let whole = whole.unwrap_or(&word.syms);
            let mut best = self.program.matches(whole);
            for (at, _) in whole.iter().enumerate().filter(|(_, sym)| **sym == Sym::Char('/')) {
                best = best.max(self.program.matches(whole.get(at + 1..).unwrap_or_default()));
            }
            return best;
        }
        match program_name(word) {
            Some(name) => self.program.matches(&crate::wild::syms(&name)),
            // The unknown part may contain a slash, so only what follows it counts.
            None => {
                let last = word.syms.iter().rposition(|sym| *sym == Sym::Any).unwrap_or(0);
                let tail = word.syms.get(last..).unwrap_or_default();
                let whole = word.syms.rsplit(|sym| *sym == Sym::Char('/')).next();
                let mut found = self.program.matches(tail);
                found = found.max(self.program.matches(whole.unwrap_or_default()));
                // The name may also end within an unknown part, as in `${g}x` or `git${IFS}push`.
                let unknown = word.syms.iter().enumerate().filter(|(_, sym)| **sym == Sym::Any);
                for (at, _) in unknown.filter(|_| word.splits) {
                    found =
                        found.max(self.program.matches(word.syms.get(..=at).unwrap_or_default()));
                }
                found.min(Match::Maybe)
            }
        }
    }
}

impl PatternReading {
    /// Reads the words behind the program. Options at the places `paired` have the next word as
    /// their value.
    fn new(name: &str, rest: &[&str], paired: &[usize]) -> Self {
        let mut reading =
            Self { operands: Vec::new(), flags: Vec::new(), written: vec![name.to_owned()] };
        let mut words = rest.iter().enumerate();
        while let Some((at, word)) = words.next() {
            if paired.contains(&at) {
                let value = words.next().map_or("", |(_, value)| value);
                reading.flags.push(Flag::with_value(word, value));
            } else if is_option(word) {
                reading.flags.push(Flag::of_pattern(word));
            } else {
                reading.operands.push(Wild::word(word));
                reading.written.push((*word).to_owned());
            }
        }
        reading
    }

    /// Whether the operands occur in this order, possibly with others between them.
    fn of_operands(&self, program: &Word, arguments: &[Word], may_hide: bool) -> Match {
        let name = program_name(program).unwrap_or_default();
        let strict = options::has_subcommands(&name);
        let from = if strict { options::subcommand(&name, arguments) } else { 0 };
        // Each position holds the best match of the operands before it.
        let mut best = vec![Match::No; self.operands.len() + 1];
        if let Some(first) = best.first_mut() {
            *first = Match::Yes;
        }
        if may_hide {
            best.iter_mut().skip(1).for_each(|best| *best = Match::Maybe);
        }
        let words = arguments.get(from..).unwrap_or_default();
        let is_operand = |word: &&Word| !word.is_flag();
        for (count, word) in words.iter().filter(is_operand).enumerate() {
            let hidden = word.splits;
            for at in (0..self.operands.len()).rev() {
                // The subcommand is the first operand, and no other.
                if strict && at == 0 && count > 0 && !may_hide {
                    continue;
                }
                let before = best.get(at).copied().unwrap_or_default();
                let found = self.operands.get(at).map(|operand| {
                    // `//` and `/.` are `/` in another form.
                    operand.matches(&word.syms).max(operand.matches(&paths::normal(&word.syms)))
                });
                let found = before.min(found.unwrap_or_default());
                if let Some(after) = best.get_mut(at + 1) {
                    *after = (*after).max(found);
                }
            }
            if hidden {
                // An unknown part may make all operands that follow, but no subcommand before it.
                let from = usize::from(strict && count > 0);
                if best.get(from).is_some_and(|best| *best != Match::No) {
                    best.iter_mut().skip(from).for_each(|best| *best = (*best).max(Match::Maybe));
                }
            }
        }
        best.last().copied().unwrap_or_default()
    }

    /// Whether all options are given.
    fn of_flags(&self, program: &Word, arguments: &[Word]) -> Match {
        if self.flags.is_empty() {
            return Match::Yes;
        }
        let given = GivenOptions::new(program, arguments, &self.written);
        self.flags.iter().map(|flag| given.has(flag)).min().unwrap_or(Match::Yes)
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}
