//! The use that a command makes of the files that its words name: whether it reads or writes them.
//!
//! Programs that are in no list may do either. A rule about writing then asks, since only the run
//! shows it.

use crate::options;
use crate::shell::{Invocation, Word, program_name, runs_another};
use crate::verdict::Access;

/// Programs that only read the files they name, or whose arguments name none.
const READERS: [&str; 69] = [
    ".",
    ":",
    "[",
    "ack",
    "ag",
    "alias",
    "basename",
    "bat",
    "cat",
    "cd",
    "cksum",
    "cloc",
    "cmp",
    "column",
    "comm",
    "cut",
    "declare",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "eval",
    "exa",
    "export",
    "eza",
    "fgrep",
    "file",
    "fold",
    "grep",
    "head",
    "hexdump",
    "jq",
    "less",
    "ls",
    "local",
    "lsd",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "readlink",
    "readonly",
    "realpath",
    "rg",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "source",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "tokei",
    "tr",
    "true",
    "type",
    "wc",
    "whereis",
    "which",
    "zcat",
];

/// Programs that write every file they name.
const WRITERS: [&str; 19] = [
    "chattr",
    "chgrp",
    "chmod",
    "chown",
    "fallocate",
    "mkdir",
    "mkfifo",
    "mknod",
    "mv",
    "rename",
    "rm",
    "rmdir",
    "setfacl",
    "shred",
    "srm",
    "tee",
    "touch",
    "truncate",
    "unlink",
];

/// Programs that write the last file they name and read the others.
const COPIERS: [&str; 5] = ["cp", "install", "ln", "rsync", "scp"];

/// Subcommands of git that change no file of the working tree.
const GIT_READS: [&str; 38] = [
    "add",
    "annotate",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "commit",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "fsck",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "push",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "tag",
    "version",
    "whatchanged",
];

/// Subcommands of git that write the files they name.
const GIT_WRITES: [&str; 6] = ["checkout", "clean", "mv", "restore", "rm", "sparse-checkout"];

/// Returns how a command uses each of its words, the program's name included.
pub(crate) fn of(invocation: &Invocation) -> Vec<Access> {
    let Some((program, arguments)) = invocation.words.split_first() else { return Vec::new() };
    let mut all = vec![Access::Read];
    all.extend(match program_name(program).as_deref() {
        Some(name) if COPIERS.contains(&name) => copied(arguments),
        Some("dd") => arguments.iter().map(of_operand).collect(),
        Some(name) => vec![of_program(name, arguments); arguments.len()],
        None => vec![Access::Unknown; arguments.len()],
    });
    all
}

fn of_program(name: &str, arguments: &[Word]) -> Access {
    let has = |is: &dyn Fn(&str) -> bool| arguments.iter().any(|word| is(&word.shown()));
    // An option that only the run shows may make it write.
    let hides = arguments.iter().any(|word| word.splits);
    match name {
        "sed" | "gsed" if has(&edits_in_place) => Access::Write,
        "sort" | "tree" if has(&names_output) => Access::Write,
        "find" | "fd" | "fdfind" if has(&acts) => Access::Unknown,
        "sed" | "gsed" | "sort" | "tree" | "find" | "fd" | "fdfind" if !hides => Access::Read,
        "git" => of_git(arguments, hides),
        // The command that it runs is an invocation of its own.
        _ if runs_another(name) && !has(&names_output) => Access::Read,
        _ if WRITERS.contains(&name) => Access::Write,
        _ if READERS.contains(&name) => Access::Read,
        _ => Access::Unknown,
    }
}

/// Whether an option names a file for output: `-o`, also behind others, or `--output`.
fn names_output(word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    word.starts_with("--o") || is_short && word.contains('o')
}

/// Returns how `dd` uses the file behind `if=` or `of=`.
fn of_operand(word: &Word) -> Access {
    match word.shown() {
        text if text.starts_with("of=") => Access::Write,
        text if text.starts_with("if=") => Access::Read,
        _ => Access::Unknown,
    }
}

/// Whether an option of sed makes it edit its files: `-i`, also behind others, as in `-ni`.
fn edits_in_place(word: &str) -> bool {
    if word.starts_with("--") {
        return word.starts_with("--i");
    }
    // What follows these is their value.
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.chars().take_while(|letter| !"efl".contains(*letter)).any(|letter| letter == 'i')
}

/// Whether an option of find makes it do more than list.
fn acts(word: &str) -> bool {
    let begins = ["-delete", "-exec", "-ok", "-fprint", "-fls", "--exec", "-x", "-X"];
    begins.iter().any(|begin| word.starts_with(begin))
}

fn of_git(arguments: &[Word], hides: bool) -> Access {
    let at = options::subcommand("git", arguments);
    let subcommand = arguments.get(at).and_then(Word::text);
    let writes_output = arguments.iter().any(|word| word.shown().starts_with("--output"));
    match subcommand.as_deref() {
        Some(name) if GIT_WRITES.contains(&name) => Access::Write,
        Some(name) if GIT_READS.contains(&name) && !writes_output && !hides => Access::Read,
        _ => Access::Unknown,
    }
}

/// The last operand is written. With a target as an option, any may be.
fn copied(arguments: &[Word]) -> Vec<Access> {
    let takes_target = |word: &Word| {
        let text = word.shown();
        word.splits || text.starts_with("--t") || !text.starts_with("--") && text.contains('t')
    };
    let is_plain =
        !arguments.iter().any(|word| word.splits || word.is_flag() && takes_target(word));
    let last = arguments.iter().rposition(|word| !word.is_flag());
    let access = |(at, _): (usize, &Word)| match is_plain {
        true if last == Some(at) => Access::Write,
        true => Access::Read,
        false => Access::Unknown,
    };
    arguments.iter().enumerate().map(access).collect()
}

#[cfg(test)]
mod tests;
