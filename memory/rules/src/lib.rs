//! Decides by rules whether an action may be done.
//!
//! The crate knows no records, does no I/O and reads no clock: rules, action and time are
//! arguments. The same arguments give the same verdict, whatever the order of the rules.
//!
//! Rules are a guardrail against mistakes, not a sandbox. A script that deploys is one word here.
//!
//! # Fields
//!
//! Every field of [`Matches`] that has entries must match; one of its entries suffices. Deny beats
//! ask, and ask beats allow. A part of a command that only its run shows, such as `$FLAGS`, may be
//! anything. If a rule depends on it, an ask or deny rule asks, and an allow rule does not apply.
//!
//! # Command patterns
//!
//! A pattern is the words of one command, with quotes as in a shell. It is compared with each
//! command that the line would run. Those in groups and substitutions count, and those behind
//! `sudo`, `sh -c` or `ssh`.
//!
//! | in a pattern | meaning |
//! | --- | --- |
//! | first word | the program's name, in any directory and in any case |
//! | first word with a slash | the end of the path of a program, or of a script that a shell runs |
//! | other words | operands in this order; others may stand around and between them |
//! | word that begins with `-` | an option, anywhere; it may have a value behind `=` |
//! | `*` in a word | any characters of that word; alone, any one word |
//! | `**` as a word | any further words, which are allowed anyway |
//!
//! - For git, cargo, npm, kubectl, docker, terraform and a few others, the first operand is the
//!   subcommand. The program's own options before it are skipped. So `git push` matches `git -C dir
//!   push`, but not `git stash push`.
//! - `--force` also matches an abbreviation such as `--forc`. `-f` also matches `-uf`. `-rf` also
//!   matches `-r -f` and `-fr`.
//! - The forms of one option count as one for the options in `forms.rs`: those of git, rm, chmod,
//!   docker, kubectl and a few others. There, `--force` also matches `-f`, and for `git push` also
//!   `--force-with-lease` and `+main`. Values of options, as in `git commit -m -n`, are no options.
//!
//! | pattern | matches | does not match |
//! | --- | --- | --- |
//! | `git push --force` | `sudo git -C x push origin -uf` | `echo git push --force` |
//! | `git push +*` | `git push origin +main` | `git push origin main` |
//! | `rm -rf /` | `rm --recursive -f x /` | `rm -rf /tmp` |
//! | `kubectl delete` | `kubectl -n prod delete pod x` | `kubectl get delete` |
//! | `psql -c "DROP TABLE*"` | `psql -c 'DROP TABLE x'` | `psql -c 'SELECT 1'` |
//! | `scripts/deploy.sh` | `bash ./scripts/deploy.sh now` | `cat scripts/deploy.sh` |
//!
//! # Globs
//!
//! `*` and `?` stay within a part of the path, `**` crosses parts, `[a-z]` is one character, and
//! `{a,b}` are alternatives. A glob without a slash matches a name in any directory. `dir/**` also
//! matches `dir`. A relative glob also matches the end of an absolute path.
//!
//! A glob in `writes` matches only what the action writes. Where a program may read or write a
//! file, it may match.

mod access;
mod check;
mod command;
mod file;
mod flags;
mod forms;
pub mod limits;
mod lint;
mod options;
mod paths;
mod pattern;
mod rule;
mod shell;
mod verdict;
mod wild;
mod window;

pub use check::check;
pub use file::{FileError, parse_rules_file, render_rules_file};
pub use lint::{Finding, lint};
pub use rule::{Effect, Matches, Rule};
pub use verdict::{Access, Action, DecidingRule, Field, Matched, Pass, Unparsed, Verdict};
pub use window::{BadBound, Bound, Day, Window};

#[cfg(test)]
mod tests;
