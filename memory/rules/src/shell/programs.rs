//! Programs whose arguments make them run further commands.

use super::streams::Stream;
use super::walk::Reader;
use super::words::split;
use super::wrappers::{self, is_assignment};
use super::{Invocation, Word, program_name};
use crate::limits::UNKNOWN_PLACES_MAX;
use crate::wild::{Sym, syms};

/// Shells that take a script behind `-c`, as a file, or on stdin.
pub(super) const SHELLS: [&str; 13] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh", "pdksh", "yash", "csh",
    "tcsh",
];

/// Variables that programs run as a command.
const RUN_VARIABLES: [&str; 14] = [
    "BASH_ENV",
    "BROWSER",
    "EDITOR",
    "ENV",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "PS4",
    "RSYNC_RSH",
    "SHELL",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "VISUAL",
];

/// Programs among whose arguments a command may begin at any word.
const RUN_ARGUMENTS: [&str; 16] = [
    "trap",
    "su",
    "runuser",
    "script",
    "nix-shell",
    "nix",
    "tmux",
    "screen",
    "entr",
    "watch",
    "flock",
    "hyperfine",
    "newgrp",
    "ssh-agent",
    "nodemon",
    "watchexec",
];

impl Reader<'_> {
    /// Follows a command, and returns what it prints.
    pub(super) fn invoke(&mut self, words: &[Word], stdin: &Stream) -> Stream {
        if words.is_empty() {
            return Stream::None;
        }
        self.deeper(|reader| reader.run(words, stdin))
    }

    fn run(&mut self, words: &[Word], stdin: &Stream) -> Stream {
        let Some((program, arguments)) = words.split_first() else { return Stream::None };
        let Some(name) = program_name(program) else {
            // A glob may make the program and its arguments.
            let program =
                Word { splits: program.splits || arguments.is_empty(), ..program.clone() };
            self.record(Invocation { words: [std::slice::from_ref(&program), arguments].concat() });
            let program = &program;
            return self.run_unknown(program, arguments, stdin);
        };
        self.record(Invocation { words: words.to_vec() });
        if self.is_function(&name) {
            return self.call(&name, arguments, stdin);
        }
        self.run_renamed(&name, arguments, stdin);
        if let Some(wrapper) = wrappers::find(&name) {
            self.run_wrapped(wrapper, arguments, stdin);
        }
        for command in wrappers::run_by(&name, arguments) {
            self.invoke(command, stdin);
        }
        if SHELLS.contains(&name.as_str()) {
            self.run_shell(&name, arguments, stdin);
            return Stream::Unknown;
        }
        if self.written_text(program).is_some() {
            self.file_as_script(program, arguments);
        }
        match name.as_str() {
            "echo" => return echoed(arguments),
            "printf" => return self.printf(arguments),
            "cat" | "tee" => return self.copied(&name, arguments, stdin),
            "cd" | "pushd" => {
                let to = arguments.iter().find(|word| !word.is_flag());
                self.changes_directory(&to.cloned().unwrap_or_else(|| Word::literal("~")));
                return Stream::None;
            }
            "which" | "type" | "command" | "whereis" => return located(arguments),
            ":" | "true" | "false" | "test" | "[" | "return" | "shift" | "exit" => {
                return Stream::None;
            }
            "export" | "declare" | "local" | "readonly" | "typeset" | "env" => {
                self.declared(arguments);
                if name != "env" {
                    return Stream::None;
                }
                self.split_strings(arguments, stdin);
            }
            "alias" => self.define_aliases(arguments),
            "unalias" | "hash" | "enable" => self.renamed_by_hash(&name, arguments),
            "set" => self.set_arguments(arguments),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "let" => {
                for word in arguments {
                    self.forget(&word.shown());
                }
                return Stream::None;
            }
            "eval" => {
                let script = spaced(arguments);
                return self.script_of(&script, stdin);
            }
            "trap" | "at" | "batch" | "su" | "runuser" | "script" | "nix-shell" | "nix"
            | "tmux" | "screen" | "crontab" | "compgen" | "complete" | "bind" | "expect"
            | "entr" | "make" | "gdb" | "vim" | "vi" | "nvim" | "ed" | "ex" | "watch" | "flock"
            | "sg" | "hyperfine" | "concurrently" | "nodemon" | "watchexec" | "tar" | "rsync"
            | "zip" | "scp" | "sftp" | "mosh" | "newgrp" | "ssh-agent" | "less" | "man" => {
                self.embedded(&name, arguments, stdin);
            }
            "source" | "." => {
                if let Some((file, rest)) = arguments.split_first() {
                    self.sourced(file, rest, stdin);
                }
                return Stream::Unknown;
            }
            "find" | "fd" | "fdfind" => self.run_find(arguments),
            "ssh" | "autossh" | "rsh" | "dbclient" => self.run_remote(arguments, stdin),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc"
            | "vagrant" | "flatpak" | "distrobox" | "toolbox" | "apptainer" | "singularity"
            | "fly" | "heroku" | "nomad" | "wsl" | "adb" | "chroot" | "crictl" | "ctr" => {
                self.run_contained(arguments, stdin);
            }
            "git" => self.run_git(arguments, stdin),
            "apply_patch" | "applypatch" | "patch" => self.patches(arguments, stdin),
            "ln" | "cp" | "mv" | "install" => self.renamed_by_copy(arguments),
            _ => self.run_inline_code(&name, arguments, stdin),
        }
        Stream::Unknown
    }

    /// Follows a command whose program is unknown: it may be a prefix such as `$SUDO`.
    fn run_unknown(&mut self, program: &Word, arguments: &[Word], stdin: &Stream) -> Stream {
        self.unparsed(crate::verdict::Unparsed::Dynamic(program.shown()));
        // It may be any wrapper, with any options and operands before its command.
        let places = arguments.iter().enumerate().filter(|(_, word)| !word.is_flag());
        for (at, _) in places.take(UNKNOWN_PLACES_MAX) {
            self.invoke(arguments.get(at..).unwrap_or_default(), stdin);
        }
        let is_partly_known = program.syms.iter().any(|sym| *sym != Sym::Any);
        if is_partly_known && SHELLS.iter().any(|name| program.may_be(name)) {
            self.script_from(stdin, &program.shown());
        }
        // It may also be a shell or take words from its input, as `xargs` does.
        let more = match stdin {
            Stream::Text(text) => {
                self.speculative(|reader| reader.child_script(text, &Stream::None));
                let word = Word { syms: text.clone(), splits: false };
                word.text().map_or_else(|| vec![Word::unknown()], |text| split(&text))
            }
            Stream::File(_) | Stream::Unknown if !arguments.is_empty() => vec![Word::unknown()],
            Stream::None | Stream::File(_) | Stream::Unknown => Vec::new(),
        };
        if !more.is_empty() {
            self.invoke(&[arguments, &more].concat(), &Stream::None);
        }
        for script in arguments.iter().filter(|word| may_be_script(&word.syms)) {
            self.speculative(|reader| reader.script_of(&script.syms, &Stream::None));
        }
        Stream::Unknown
    }

    fn run_renamed(&mut self, name: &str, arguments: &[Word], stdin: &Stream) {
        if let Some(target) = self.renamed.get(name).cloned() {
            let words = [&[Word::literal(&target)], arguments].concat();
            self.invoke(&words, stdin);
        }
        match self.aliases.get(name).cloned() {
            // An alias may contain its own name, which is not expanded again.
            Some(Some(text)) => {
                self.aliases.remove(name);
                let words = [split(&text), arguments.to_vec()].concat();
                self.script(&text);
                self.invoke(&words, stdin);
                self.aliases.insert(name.to_owned(), Some(text));
            }
            Some(None) => self.unknown_program(name),
            None => {}
        }
    }

    fn run_wrapped(&mut self, wrapper: &wrappers::Wrapper, arguments: &[Word], stdin: &Stream) {
        let only_asks = |word: &Word| matches!(word.text().as_deref(), Some("-v" | "-V"));
        if wrapper.name == "command" && arguments.first().is_some_and(only_asks) {
            return;
        }
        let reads_words = matches!(wrapper.name, "xargs" | "parallel");
        for command in wrapper.commands(arguments) {
            let mut words: Vec<Word> = command.to_vec();
            if reads_words {
                words = words.into_iter().map(without_placeholder).collect();
                match stdin {
                    Stream::Text(text) if !text.contains(&Sym::Any) => {
                        let text = Word { syms: text.clone(), splits: false };
                        let more = split(&text.text().unwrap_or_default());
                        let joined = [words.clone(), more].concat();
                        self.invoke(&joined, &Stream::None);
                    }
                    _ => words.push(Word::unknown()),
                }
            }
            self.invoke(&words, stdin);
            if let [script] = command
                && may_be_script(&script.syms)
            {
                self.script_of(&script.syms, stdin);
            }
        }
        if reads_words && !arguments.iter().any(|word| !word.is_flag()) {
            self.script_from(stdin, wrapper.name);
        }
    }

    fn run_shell(&mut self, name: &str, arguments: &[Word], stdin: &Stream) {
        let is_command = |word: &Word| {
            let text = word.shown();
            let short = text.starts_with('-') && !text.starts_with("--");
            (short || text.starts_with('+')) && text.contains('c') || text == "--command"
        };
        let mut at = 0;
        let (mut wants_script, mut wants_stdin) = (false, false);
        while let Some(word) = arguments
            .get(at)
            .filter(|word| word.is_flag() || word.shown().starts_with('+') && word.syms.len() > 1)
        {
            let text = word.shown();
            wants_script |= is_command(word);
            wants_stdin |= text.len() <= 4 && !text.starts_with("--") && text.contains('s');
            if word.syms.contains(&Sym::Any) {
                self.unknown_program(&text);
            }
            let has_value = matches!(
                text.as_str(),
                "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" | "-C"
            );
            if let (true, Some(file)) = (text.ends_with("file"), arguments.get(at + 1)) {
                self.file_as_script(&file.clone(), &[]);
            }
            at += if has_value { 2 } else { 1 };
            if text == "--" {
                break;
            }
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let Some((first, others)) = rest.split_first() else {
            if wants_script {
                self.unknown_program(name);
            }
            return self.script_from(stdin, name);
        };
        if first.splits {
            self.unknown_program(&first.shown());
        }
        if wants_script {
            let before = self.positional();
            self.set_positional(others.get(1..).unwrap_or_default().to_vec());
            self.child_script(&first.syms, stdin);
            self.set_positional(before.unwrap_or_else(|| vec![Word::unknown()]));
        } else if wants_stdin || is_stdin(first) {
            self.script_from(stdin, name);
        } else {
            self.file_as_script(first, others);
        }
        // Some shells take options behind the operand.
        if let Some(late) = others.iter().position(|word| word.text().as_deref() == Some("-c"))
            && let Some(script) = others.get(late + 1)
        {
            self.child_script(&script.syms.clone(), stdin);
        }
    }

    fn sourced(&mut self, file: &Word, arguments: &[Word], stdin: &Stream) {
        if is_stdin(file) {
            self.script_from(stdin, "source");
        } else {
            self.file_as_script(file, arguments);
        }
        if file.syms.contains(&Sym::Any) {
            self.unknown_program(&file.shown());
        }
    }

    /// Follows arguments that may be scripts, for programs of which some option runs one.
    pub(super) fn embedded(&mut self, name: &str, arguments: &[Word], stdin: &Stream) {
        // The first operand of `trap` always runs.
        let certain = arguments.iter().position(|word| !word.is_flag());
        let certain = certain.filter(|_| name == "trap");
        for (at, word) in arguments.iter().enumerate() {
            let value = option_value(word);
            let is_late = at > 0 || matches!(name, "trap" | "tmux" | "watch" | "hyperfine");
            if may_be_script(&value) && certain == Some(at) {
                self.child_script(&value, &Stream::None);
            } else if may_be_script(&value) {
                let value = strip_bang(&value);
                self.speculative(|reader| reader.child_script(&value, &Stream::None));
            } else if is_late && !word.is_flag() && RUN_ARGUMENTS.contains(&name) {
                self.invoke(arguments.get(at..).unwrap_or_default(), &Stream::None);
            }
        }
        if matches!(name, "at" | "batch" | "crontab" | "su" | "ed" | "ex" | "expect" | "gdb") {
            self.script_from(stdin, name);
        }
    }

    fn run_find(&mut self, arguments: &[Word]) {
        let runs = |word: &Word| {
            let text = word.text().unwrap_or_default();
            ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]
                .contains(&text.as_str())
        };
        for (at, _) in arguments.iter().enumerate().filter(|(_, word)| runs(word)) {
            let rest = arguments.get(at + 1..).unwrap_or_default();
            let ends = |word: &Word| matches!(word.text().as_deref(), Some(";" | "+"));
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let command = rest.get(..end).unwrap_or_default().iter().cloned();
            let words: Vec<Word> = command.map(without_placeholder).collect();
            self.invoke(&words, &Stream::None);
        }
    }

    fn run_remote(&mut self, arguments: &[Word], stdin: &Stream) {
        const VALUES: [&str; 21] = [
            "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O",
            "-o", "-p", "-P", "-Q", "-R", "-S", "-w",
        ];
        let mut at = 0;
        while let Some(word) = arguments.get(at).filter(|word| word.is_flag()) {
            let text = word.shown();
            if let (true, Some(value)) = (text.starts_with("-o"), arguments.get(at + 1)) {
                let value = if text == "-o" { value } else { word };
                let command = value.shown();
                if let Some((_, script)) = command.split_once("Command=") {
                    self.child_script(&syms(script), &Stream::None);
                }
            }
            at += if VALUES.contains(&text.as_str()) { 2 } else { 1 };
        }
        let command = arguments.get(at + 1..).unwrap_or_default();
        if command.is_empty() {
            self.script_from(stdin, "ssh");
        } else {
            self.child_script(&spaced(command), stdin);
        }
    }

    /// Follows what runs in a container. Options and image come before it, so every word may be the
    /// first of the command.
    fn run_contained(&mut self, arguments: &[Word], stdin: &Stream) {
        let runs = |word: &Word| {
            let text = word.text().unwrap_or_default();
            matches!(
                text.as_str(),
                "run" | "exec" | "ssh" | "shell" | "enter" | "debug" | "-e" | "--" | "attach"
            )
        };
        let Some(from) = arguments.iter().position(runs) else { return };
        let rest = arguments.get(from + 1..).unwrap_or_default();
        for (at, word) in rest.iter().enumerate() {
            if may_be_script(&word.syms) {
                self.speculative(|reader| reader.child_script(&word.syms, &Stream::None));
            } else if !word.is_flag() {
                self.invoke(rest.get(at..).unwrap_or_default(), stdin);
            }
        }
    }

    fn split_strings(&mut self, arguments: &[Word], stdin: &Stream) {
        for (at, word) in arguments.iter().enumerate() {
            let text = word.shown();
            let value = if text == "-S" || text == "--split-string" {
                arguments.get(at + 1).map(|word| word.syms.clone())
            } else {
                let attached = text.strip_prefix("-S");
                let attached = attached.or_else(|| text.strip_prefix("--split-string="));
                let attached = attached.or_else(|| text.strip_prefix("-vS")).map(syms);
                // The letters before it may not be known.
                let hidden = word.syms.iter().rposition(|sym| *sym == Sym::Any);
                let hidden = hidden.and_then(|at| word.syms.get(at + 1..));
                attached.or_else(|| hidden?.strip_prefix(&[Sym::Char('S')]).map(<[Sym]>::to_vec))
            };
            if let Some(value) = value {
                let more = arguments.get(at + 1..).unwrap_or_default();
                let script = [value, vec![Sym::Char(' ')], spaced(more)].concat();
                self.script_of(&script, stdin);
            }
        }
    }

    fn declared(&mut self, arguments: &[Word]) {
        for word in arguments.iter().filter(|word| is_assignment(word)) {
            let at = word.syms.iter().position(|sym| *sym == Sym::Char('='));
            let Some((name, value)) = at.and_then(|at| word.syms.split_at_checked(at)) else {
                continue;
            };
            let name: String = crate::wild::shown(name);
            let value = value.get(1..).unwrap_or_default().to_vec();
            self.environment(&name, std::slice::from_ref(&value));
            self.assign(&name, vec![value]);
        }
    }

    /// Follows a variable that a program runs as a command.
    pub(super) fn environment(&mut self, name: &str, values: &[Vec<Sym>]) {
        if name.starts_with("GIT_CONFIG") && name.contains(|c: char| c.is_ascii_digit() || c == 'P')
        {
            self.unknown_program(name);
        }
        if is_run_by_programs(name) {
            for value in values {
                self.git_setting(value);
                self.speculative(|reader| reader.script_of(&value.clone(), &Stream::None));
            }
        }
    }

    fn define_aliases(&mut self, arguments: &[Word]) {
        for word in arguments {
            let shown = word.shown();
            let Some((name, value)) = shown.split_once('=') else { continue };
            let known = word.text().map(|_| value.to_owned());
            if let Some(text) = &known {
                self.script(text);
            }
            self.aliases.insert(name.to_owned(), known);
        }
    }

    fn renamed_by_hash(&mut self, name: &str, arguments: &[Word]) {
        if let ("hash", [flag, path, alias]) = (name, arguments)
            && flag.text().as_deref() == Some("-p")
            && let (Some(target), Some(alias)) = (program_name(path), program_name(alias))
        {
            self.renamed.insert(alias, target);
        }
    }

    fn renamed_by_copy(&mut self, arguments: &[Word]) {
        let operands: Vec<&Word> = arguments.iter().filter(|word| !word.is_flag()).collect();
        if let [from, to] = operands.as_slice()
            && let (Some(from), Some(to)) = (program_name(from), program_name(to))
            && from != to
        {
            self.renamed.insert(to, from);
        }
    }

    fn set_arguments(&mut self, arguments: &[Word]) {
        let dashes = arguments.iter().position(|word| word.text().as_deref() == Some("--"));
        let from = dashes.map(|at| at + 1);
        let from = from.or_else(|| arguments.iter().position(|word| !word.is_flag()));
        if let Some(words) = from.and_then(|from| arguments.get(from..)) {
            self.set_positional(words.to_vec());
        }
    }

    fn printf(&mut self, arguments: &[Word]) -> Stream {
        if let [flag, name, ..] = arguments
            && flag.text().as_deref() == Some("-v")
        {
            self.forget(&name.shown());
            return Stream::None;
        }
        let Some((format, rest)) = arguments.split_first() else { return Stream::None };
        match (format.text().as_deref(), rest) {
            (Some("%s" | "%s\\n" | "%b" | "%b\\n"), [one]) if !one.splits => {
                Stream::Text(one.syms.clone())
            }
            (Some(text), []) if !text.contains('%') => {
                Stream::Text(syms(&super::words::ansi_c(text)))
            }
            _ => Stream::Unknown,
        }
    }

    fn copied(&mut self, name: &str, arguments: &[Word], stdin: &Stream) -> Stream {
        let files: Vec<Word> = arguments.iter().filter(|word| !word.is_flag()).cloned().collect();
        if name == "tee" {
            self.written(&files, stdin.clone());
            return stdin.clone();
        }
        if files.is_empty() || files.iter().all(is_stdin) { stdin.clone() } else { Stream::Unknown }
    }
}

/// Whether a text may be more than one word to a shell. It need not have a space: `$IFS` and braces
/// separate words too.
pub(super) fn may_be_script(text: &[Sym]) -> bool {
    let parts = |c: char| c.is_whitespace() || "$`{;&|<>(".contains(c);
    text.iter().any(|sym| matches!(sym, Sym::Char(c) if parts(*c)))
}

/// Removes what begins a shell command in an editor, as in `:!make`.
fn strip_bang(value: &[Sym]) -> Vec<Sym> {
    let is_mark = |sym: &&Sym| matches!(sym, Sym::Char(':' | '!'));
    let value = value.strip_prefix(&syms("exec=")[..]).unwrap_or(value);
    let marks = value.iter().take_while(is_mark).count();
    value.get(marks..).unwrap_or_default().to_vec()
}

/// Whether programs run a variable as a command.
pub(super) fn is_run_by_programs(name: &str) -> bool {
    RUN_VARIABLES.contains(&name)
        || name.starts_with("GIT_")
            && !name.ends_with("_COUNT")
            && !name.contains("AUTHOR")
            && !name.contains("COMMITTER")
            && !name.contains("DIR")
            && !name.contains("TRACE")
            && !name.contains("INDEX")
            && !name.contains("PROMPT")
}

fn is_stdin(word: &Word) -> bool {
    matches!(word.text().as_deref(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

fn echoed(arguments: &[Word]) -> Stream {
    let is_option =
        |word: &&Word| matches!(word.text().as_deref(), Some("-n" | "-e" | "-E" | "-ne"));
    let options = arguments.iter().take_while(is_option).count();
    let words = arguments.get(options..).unwrap_or_default();
    let has_escapes = words.iter().any(|word| word.syms.contains(&Sym::Char('\\')));
    if has_escapes || words.iter().any(|word| word.splits) {
        return Stream::Unknown;
    }
    Stream::Text([spaced(words), vec![Sym::Char('\n')]].concat())
}

/// Returns the output of a program that finds programs.
fn located(arguments: &[Word]) -> Stream {
    match arguments.iter().filter(|word| !word.is_flag()).collect::<Vec<_>>().as_slice() {
        [one] if !one.splits => {
            Stream::Text([vec![Sym::Any, Sym::Char('/')], one.syms.clone()].concat())
        }
        _ => Stream::Unknown,
    }
}

/// Makes `{}` and the names of `xargs -I` unknown.
fn without_placeholder(word: Word) -> Word {
    let shown = word.shown();
    if shown.contains("{}") || shown == "%" {
        let parts: Vec<Vec<Sym>> = shown.split("{}").map(syms).collect();
        return Word { syms: parts.join(&Sym::Any), splits: word.splits };
    }
    word
}

/// Returns an option's value behind its `=`, or the whole word.
fn option_value(word: &Word) -> Vec<Sym> {
    let at = word.syms.iter().position(|sym| *sym == Sym::Char('='));
    match at.filter(|_| word.is_flag()).and_then(|at| word.syms.get(at + 1..)) {
        Some(value) => value.to_vec(),
        None => word.syms.clone(),
    }
}

/// Joins words by spaces.
pub(super) fn spaced(words: &[Word]) -> Vec<Sym> {
    let each: Vec<&[Sym]> = words.iter().map(|word| word.syms.as_slice()).collect();
    each.join(&Sym::Char(' '))
}
