//! The table of programs that run another program, given as their arguments.

use super::Word;

/// A program that runs the command among its arguments.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Options with a value in the next word.
    values: &'static [&'static str],
    /// Words between the options and the command, such as the duration of `timeout`.
    operands: usize,
}

const fn wrapper(name: &'static str, values: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, values, operands }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("arch", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("bunx", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("catchsegv", &[], 0),
    wrapper("chronic", &[], 0),
    wrapper("chroot", &[], 1),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("command", &[], 0),
    wrapper("dbus-run-session", &[], 0),
    wrapper("direnv", &[], 2),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("dotenv", &["-e", "-f"], 0),
    wrapper("env", &["-u", "-C", "-S", "--unset", "--chdir"], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("faketime", &["-f"], 1),
    wrapper("fakeroot", &["-l", "-s", "-i"], 0),
    wrapper("firejail", &[], 0),
    wrapper("flock", &["-w", "-E", "--timeout"], 1),
    wrapper("gosu", &[], 1),
    wrapper("ionice", &["-c", "-n", "-p", "-P", "-u", "--class", "--classdata"], 0),
    wrapper("ltrace", &["-e", "-o", "-p", "-s", "-u"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("nocorrect", &[], 0),
    wrapper("noglob", &[], 0),
    wrapper("nohup", &[], 0),
    wrapper("nsenter", &["-t", "-S", "-G"], 0),
    wrapper("parallel", &["-j", "-I", "-a", "--jobs", "--arg-file"], 0),
    wrapper("pkexec", &["--user"], 0),
    wrapper("prlimit", &["-p"], 0),
    wrapper("proot", &["-r", "-b", "-w"], 0),
    wrapper("proxychains", &["-f"], 0),
    wrapper("proxychains4", &["-f"], 0),
    wrapper("pseudo", &[], 0),
    wrapper("rlwrap", &["-f", "-H"], 0),
    wrapper("run0", &["-u", "-D"], 0),
    wrapper("setarch", &[], 1),
    wrapper("setpriv", &["--reuid", "--regid", "--groups"], 0),
    wrapper("setsid", &[], 0),
    wrapper("setuidgid", &[], 1),
    wrapper("sg", &[], 1),
    wrapper("softlimit", &["-m", "-t"], 0),
    wrapper("start-stop-daemon", &[], 0),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u", "-P", "-E"], 0),
    wrapper("su-exec", &[], 1),
    wrapper(
        "sudo",
        &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group"],
        0,
    ),
    wrapper("systemd-inhibit", &[], 0),
    wrapper("systemd-run", &["-p", "-u", "-M"], 0),
    wrapper("taskset", &[], 1),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("torsocks", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("trickle", &["-u", "-d"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("unshare", &["-S", "-G", "-R", "-w"], 0),
    wrapper("valgrind", &[], 0),
    wrapper("watch", &["-n", "--interval"], 0),
    wrapper("winpty", &[], 0),
    wrapper("xargs", &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"], 0),
    wrapper("xvfb-run", &["-n", "-s"], 0),
];

/// Programs whose subcommand runs the command behind it: the program, then its subcommand.
const RUNNERS: &[(&str, &str)] = &[
    ("bundle", "exec"),
    ("conda", "run"),
    ("devbox", "run"),
    ("hatch", "run"),
    ("mise", "exec"),
    ("npm", "exec"),
    ("npx", ""),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
    ("uvx", ""),
    ("yarn", "exec"),
];

pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

impl Wrapper {
    /// Returns the places at which the command may begin. An option that is not in the table may or
    /// may not have a value, so there can be several.
    pub(super) fn commands<'w>(&self, arguments: &'w [Word]) -> Vec<&'w [Word]> {
        let mut begins = Vec::new();
        let mut after_unknown = false;
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let text = word.text().unwrap_or_default();
            if text == "--" {
                begins.push(at + 1);
                break;
            }
            // `env -` is `env -i`.
            if word.is_flag() || text == "-" {
                let takes = self.values.contains(&text.as_str());
                after_unknown = !takes && !text.contains('=');
                at += if takes { 2 } else { 1 };
            } else if is_assignment(word) {
                at += 1;
                after_unknown = false;
            } else {
                begins.push(at);
                if !std::mem::take(&mut after_unknown) {
                    break;
                }
                at += 1;
            }
        }
        let from = |at: usize| arguments.get(at + self.operands..).unwrap_or_default();
        begins.into_iter().map(from).filter(|words| !words.is_empty()).collect()
    }
}

/// Returns the commands that a runner of projects runs, as in `poetry run pytest`.
pub(super) fn run_by<'w>(name: &str, arguments: &'w [Word]) -> Vec<&'w [Word]> {
    let plain =
        wrapper("", &["-p", "--package", "-n", "--name", "--with", "--python", "--group"], 0);
    let runs = |(program, subcommand): &&(&str, &str)| {
        let first = arguments.iter().find(|word| !word.is_flag()).and_then(Word::text);
        *program == name && (subcommand.is_empty() || first.as_deref() == Some(subcommand))
    };
    let Some((_, subcommand)) = RUNNERS.iter().find(runs) else { return Vec::new() };
    let is_subcommand = |word: &Word| word.text().as_deref() == Some(*subcommand);
    let from = arguments.iter().position(is_subcommand).map_or(0, |at| at + 1);
    plain.commands(arguments.get(from..).unwrap_or_default())
}

/// Whether a word assigns a variable, as before a command.
pub(super) fn is_assignment(word: &Word) -> bool {
    let name: Option<String> = word.shown().split_once('=').map(|(name, _)| name.to_owned());
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
