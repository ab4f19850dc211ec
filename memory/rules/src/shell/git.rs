//! The commands that git runs: aliases, settings that are commands, and subcommands that run one.

use super::programs::{may_be_script, spaced};
use super::streams::Stream;
use super::walk::Reader;
use super::words::split;
use super::{Invocation, Word};
use crate::options;
use crate::wild::{Sym, syms};

impl Reader<'_> {
    pub(super) fn run_git(&mut self, arguments: &[Word], stdin: &Stream) {
        let at = options::subcommand("git", arguments);
        let (before, rest) = arguments.split_at_checked(at).unwrap_or((arguments, &[]));
        let mut aliases = Vec::new();
        for (at, word) in before.iter().enumerate() {
            let text = word.shown();
            let setting = if text == "-c" || text == "--config-env" {
                before.get(at + 1).map(|word| word.syms.clone())
            } else {
                text.strip_prefix("--config-env=").map(syms)
            };
            let Some(setting) = setting else { continue };
            aliases.extend(self.git_setting(&setting));
            if text.starts_with("--config-env") {
                self.unknown_program(&text);
            }
        }
        let Some((subcommand, rest)) = rest.split_first() else { return };
        let name = subcommand.text().unwrap_or_default();
        for (alias, value) in aliases {
            if subcommand.text().is_none_or(|name| name == alias) {
                self.git_alias(&value, rest);
            }
        }
        if let Some(value) = self.aliases.get(&format!("git {name}")).cloned() {
            match value {
                Some(value) => self.git_alias(&value, rest),
                None => self.unknown_program(&name),
            }
        }
        match name.as_str() {
            "config" => self.git_config(rest),
            "am" | "apply" => self.patches(rest, stdin),
            "submodule" | "bisect" | "rebase" | "filter-branch" | "difftool" | "mergetool"
            | "for-each-repo" | "stash" | "interpret-trailers" | "send-email" | "clone"
            | "fetch" | "pull" | "push" | "ls-remote" | "archive" | "grep" => {
                self.git_runs(&name, rest);
            }
            _ => {}
        }
    }

    /// Follows a setting, and returns it if it is an alias.
    pub(super) fn git_setting(&mut self, setting: &[Sym]) -> Option<(String, String)> {
        let word = Word { syms: setting.to_vec(), splits: false };
        let shown = word.shown();
        let (key, value) = shown.split_once('=')?;
        let key = key.to_ascii_lowercase();
        let is_command = [
            "editor",
            "pager",
            "sshcommand",
            "askpass",
            "external",
            "textconv",
            "clean",
            "smudge",
            "process",
            "helper",
            "cmd",
            "driver",
            "program",
            "fsmonitor",
            "gitproxy",
            "command",
            "uploadpack",
            "receivepack",
        ];
        if is_command.iter().any(|end| key.ends_with(end)) || key.starts_with("pager.") {
            let value = value.trim_start_matches('!').to_owned();
            self.speculative(|reader| reader.script_of(&syms(&value), &Stream::None));
        }
        let alias = key.strip_prefix("alias.")?;
        if word.text().is_none() {
            self.unknown_program(&shown);
        }
        Some((alias.to_owned(), value.to_owned()))
    }

    fn git_alias(&mut self, value: &str, rest: &[Word]) {
        if let Some(script) = value.strip_prefix('!') {
            let script = [syms(script), vec![Sym::Char(' ')], spaced(rest)].concat();
            self.script_of(&script, &Stream::None);
        } else {
            let words = [vec![Word::literal("git")], split(value), rest.to_vec()].concat();
            self.invoke(&words, &Stream::None);
        }
    }

    /// Follows `git config alias.NAME VALUE`, for the commands behind it.
    fn git_config(&mut self, rest: &[Word]) {
        let mut operands = rest.iter().filter(|word| !word.is_flag());
        let key = operands.by_ref().find(|word| word.shown().contains('.'));
        let (Some(key), Some(value)) = (key, operands.next()) else { return };
        let setting = [key.syms.clone(), vec![Sym::Char('=')], value.syms.clone()].concat();
        if let Some((alias, text)) = self.git_setting(&setting) {
            let known = value.text().map(|_| text.clone());
            self.aliases.insert(format!("git {alias}"), known);
            self.git_alias(&text, &[]);
        }
    }

    fn git_runs(&mut self, name: &str, rest: &[Word]) {
        for (at, word) in rest.iter().enumerate() {
            let text = word.shown();
            let value = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => Some(syms(value)),
                _ => text.strip_prefix("-x").filter(|value| !value.is_empty()).map(syms),
            };
            if let Some(value) = value.filter(|value| may_be_script(value)) {
                self.speculative(|reader| reader.script_of(&value, &Stream::None));
            }
            let runs_rest = matches!((name, text.as_str()), ("submodule", "foreach"))
                || matches!((name, text.as_str()), ("bisect", "run"))
                || name == "for-each-repo" && !word.is_flag();
            let runs_next = matches!(name, "rebase" | "filter-branch" | "difftool")
                && (text == "-x"
                    || text == "--exec"
                    || text == "--extcmd"
                    || text.ends_with("-filter"));
            let rest = rest.get(at + 1..).unwrap_or_default();
            if runs_rest {
                let command: Vec<Word> =
                    rest.iter().skip_while(|word| word.is_flag()).cloned().collect();
                self.script_of(&spaced(&command), &Stream::None);
                if name == "for-each-repo" {
                    self.record(Invocation {
                        words: [vec![Word::literal("git")], command].concat(),
                    });
                }
            } else if let (true, Some(script)) = (runs_next, rest.first()) {
                self.script_of(&script.syms.clone(), &Stream::None);
            }
        }
    }
}
