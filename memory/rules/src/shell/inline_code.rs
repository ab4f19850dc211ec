//! Code of other languages in a command line, as in `python -c`. It is not parsed. If it can start
//! programs, each text in it is followed as a script, and the code counts as an unknown program.

use super::Word;
use super::programs::spaced;
use super::streams::Stream;
use super::walk::Reader;
use crate::wild::{Sym, syms};

/// Interpreters, with the options whose value is code.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("awk", &[]),
    ("bun", &["-e", "--eval", "-p"]),
    ("deno", &["eval"]),
    ("gawk", &[]),
    ("julia", &["-e", "-E"]),
    ("lua", &["-e"]),
    ("mawk", &[]),
    ("nawk", &[]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("osascript", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r"]),
    ("powershell", &["-c", "-Command"]),
    ("pwsh", &["-c", "-Command"]),
    ("pypy3", &["-c"]),
    ("python", &["-c"]),
    ("rscript", &["-e"]),
    ("ruby", &["-e"]),
    ("sed", &[]),
    ("tclsh", &[]),
];

/// Words in code that can start a program or run further code.
const STARTS: [&str; 25] = [
    "system",
    "exec",
    "popen",
    "spawn",
    "subprocess",
    "child_process",
    "check_call",
    "check_output",
    "Popen",
    "run(",
    "shell",
    "eval",
    "qx",
    "`",
    "Runtime",
    "invoke",
    "fork",
    "import_module",
    "__import__",
    "getattr",
    "compile(",
    "| getline",
    "proc_open",
    "passthru",
    "Bun.$",
];

impl Reader<'_> {
    /// Follows the code that an interpreter is given.
    #[expect(clippy::single_match_else, reason = "both cases are as common")]
    pub(super) fn run_inline_code(&mut self, name: &str, arguments: &[Word], stdin: &Stream) {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let Some((_, options)) = INTERPRETERS.iter().find(|(name, _)| *name == plain) else {
            return;
        };
        if plain == "sed" {
            return self.run_sed(arguments);
        }
        if options.is_empty() {
            let code = arguments.iter().find(|word| !word.is_flag()).cloned();
            return self.code(plain, &code.map(|word| word.syms).unwrap_or_default());
        }
        let mut has_program = false;
        for (at, word) in arguments.iter().enumerate() {
            let text = word.shown();
            let flag = options.iter().find(|flag| {
                text == **flag
                    || text.starts_with(&format!("{flag}="))
                    // Short options join: `perl -we`.
                    || flag.len() == 2 && is_joined(&text, flag)
            });
            if let Some(flag) = flag {
                has_program = true;
                let attached = text.strip_prefix(*flag).filter(|rest| !rest.is_empty());
                match attached {
                    Some(code) => self.code(plain, &syms(code)),
                    None => {
                        let next = arguments.get(at + 1).map(|word| word.syms.clone());
                        self.code(plain, &next.unwrap_or_default());
                    }
                }
            } else if !word.is_flag() {
                has_program = true;
            }
        }
        let reads_stdin = arguments.iter().any(|word| word.text().as_deref() == Some("-"));
        if !has_program || reads_stdin {
            match stdin {
                Stream::None | Stream::File(_) => {}
                Stream::Text(code) => self.code(plain, &code.clone()),
                Stream::Unknown => self.unknown_program(name),
            }
        }
    }

    /// Follows GNU sed's `e`, which runs a command.
    fn run_sed(&mut self, arguments: &[Word]) {
        for word in arguments {
            let text = word.shown();
            let script = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$');
            if let Some(command) = script.strip_prefix("e ") {
                self.script_of(&syms(command), &Stream::None);
            }
            let flags = text.rsplit(['/', '|', '#', ',']).next().unwrap_or_default();
            let substitutes = text.starts_with('s') && flags.len() < text.len();
            if substitutes
                && flags.contains('e')
                && flags.chars().all(|c| "egimpIM0123456789".contains(c))
            {
                self.unknown_program(&text);
            }
        }
    }

    fn code(&mut self, language: &str, code: &[Sym]) {
        let text = crate::wild::shown(code);
        let starts = STARTS.iter().any(|start| text.contains(start))
            || language == "awk" && text.contains('|')
            || language == "osascript"
            || language == "tclsh"
            || language.starts_with('p') && language.ends_with("sh");
        if code.contains(&Sym::Any) {
            self.unknown_program(&text);
        }
        if !starts {
            return;
        }
        let texts = quoted(&text);
        let words: Vec<Word> = texts.iter().map(|text| Word::literal(text)).collect();
        for at in 0..words.len() {
            self.speculative(|reader| {
                reader.invoke(words.get(at..).unwrap_or_default(), &Stream::None)
            });
        }
        for text in texts.iter().filter(|text| text.contains(char::is_whitespace)) {
            self.speculative(|reader| reader.script_of(&syms(text), &Stream::None));
        }
        let all = spaced(&words);
        self.speculative(|reader| reader.script_of(&all, &Stream::None));
        self.speculative(|reader| reader.script_of(&syms(&text), &Stream::None));
        self.unknown_program(&text);
    }
}

fn is_joined(text: &str, flag: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let ends = flag.chars().nth(1).is_some_and(|flag| text.ends_with(flag));
    ends && letters.is_some_and(|rest| rest.len() <= 4 && rest.chars().all(char::is_alphanumeric))
}

/// Returns the texts in quotes.
fn quoted(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = code.chars();
    while let Some(quote) = rest.find(|c| "'\"`".contains(*c)) {
        let mut text = String::new();
        while let Some(c) = rest.next() {
            match c {
                '\\' => text.extend(rest.next()),
                _ if c == quote => break,
                _ => text.push(c),
            }
        }
        texts.push(text);
    }
    texts
}
