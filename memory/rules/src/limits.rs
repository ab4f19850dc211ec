//! Every limit of rules and their check, with its unit last in the name.

/// Options of a pattern whose next word may be their value. Each doubles the readings.
pub(crate) const PAIRED_OPTIONS_MAX: usize = 3;
/// Longest command that is read. A longer one asks.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// Longest entry of a rule's `matches`.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Entries in one field of a rule's `matches`.
pub const PATTERNS_MAX: usize = 256;
/// Windows of a rule.
pub const WINDOWS_MAX: usize = 32;
/// Rules in one file.
pub const RULES_MAX: usize = 1000;
/// Largest rules file.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Longest id of a rule.
pub const ID_BYTES_MAX: usize = 100;
/// Longest title of a rule.
pub const TITLE_BYTES_MAX: usize = 300;
/// Longest reason of a rule.
pub const REASON_BYTES_MAX: usize = 4096;
/// Deepest nesting of a command: groups, substitutions and strings that a shell runs.
pub const NESTING_MAX: usize = 24;
/// `case` clauses of one command line. The parser's time triples with each that another contains.
pub const CASES_MAX: usize = 8;
/// Commands that one command line may run. One that may run more asks.
pub const INVOCATIONS_MAX: usize = 2000;
/// Steps of reading one command line, each a command or a text. One that takes more asks.
pub const STEPS_MAX: usize = 4000;
/// Files that the patches of one command line may name. One with more asks.
pub const PATCHED_FILES_MAX: usize = 1000;
/// Places among the arguments of an unknown program at which a command may begin.
pub const UNKNOWN_PLACES_MAX: usize = 6;
/// Values that one word or variable may have. One with more counts as unknown.
pub const VALUES_MAX: usize = 16;
/// Words that the braces of one word may make. One that makes more counts as unknown.
pub const BRACES_MAX: usize = 64;
/// Longest text that a variable, an output or a file is known to have. A longer one is unknown.
pub const VALUE_CHARS_MAX: usize = 16 * 1024;
/// Letters behind one dash that count as joined short options, as in `-rf`.
pub const SHORT_OPTION_LETTERS_MAX: usize = 4;
/// Alternatives that the braces of one glob may make.
pub const ALTERNATIVES_MAX: usize = 64;
/// Changes of windows that are tried to find their end: each day of a year has at most three.
pub const WINDOW_CHANGES_MAX: usize = 1100;
/// Characters of a command that a verdict repeats if the command cannot be read.
pub const SHOWN_CHARS_MAX: usize = 200;
