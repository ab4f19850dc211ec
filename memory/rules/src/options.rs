//! Options of programs that have subcommands, so that the subcommand is found behind them.

use crate::shell::Word;

/// A program with subcommands, and its own options with a value in the next word.
struct Program {
    name: &'static str,
    values: &'static [&'static str],
}

const fn program(name: &'static str, values: &'static [&'static str]) -> Program {
    Program { name, values }
}

const PROGRAMS: &[Program] = &[
    program("anchord", &[]),
    program("apt", &["-o", "-c", "-t"]),
    program("apt-get", &["-o", "-c", "-t"]),
    program("aws", &["--profile", "--region", "--output", "--endpoint-url", "--query"]),
    program("brew", &[]),
    program("cargo", &["--config", "-C", "-Z", "--color"]),
    program("docker", &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
    program("gh", &["-R", "--repo"]),
    program(
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
            "--exec-path",
        ],
    ),
    program("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig", "--registry-config"]),
    program(
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--kubeconfig",
            "--user",
            "--as",
            "-s",
            "--server",
            "--token",
            "-v",
        ],
    ),
    program("npm", &["--prefix", "-C", "--workspace", "-w", "--registry"]),
    program("pip", &[]),
    program("pnpm", &["-C", "--dir", "--filter", "-F"]),
    program("podman", &["-c", "--connection", "--url", "--log-level", "--root"]),
    program("svn", &["--username", "--password", "--config-dir"]),
    program("systemctl", &["-H", "-M", "-t", "-p", "-n", "-o"]),
    program("terraform", &[]),
    program("tofu", &[]),
    program("yarn", &["--cwd"]),
];

/// Programs whose options of several letters begin with one dash.
const LONG_WITH_ONE_DASH: [&str; 9] =
    ["find", "gcc", "clang", "go", "java", "javac", "openssl", "terraform", "tofu"];

/// Whether a program's first operand is a subcommand.
pub(crate) fn has_subcommands(name: &str) -> bool {
    PROGRAMS.iter().any(|program| program.name == name)
}

/// Whether short options of a program may join, as in `rm -rf`.
pub(crate) fn joins_short(name: &str) -> bool {
    !LONG_WITH_ONE_DASH.contains(&name)
}

/// Returns the place of the subcommand among the arguments.
pub(crate) fn subcommand(name: &str, arguments: &[Word]) -> usize {
    let values = PROGRAMS.iter().find(|program| program.name == name);
    let values = values.map_or(&[] as &[&str], |program| program.values);
    let mut at = 0;
    // `cargo +nightly` names a tool chain.
    let is_option =
        |word: &&Word| word.is_flag() || name == "cargo" && word.shown().starts_with('+');
    while let Some(word) = arguments.get(at).filter(is_option) {
        let takes = word.text().is_some_and(|text| values.contains(&text.as_str()));
        at += if takes { 2 } else { 1 };
    }
    at.min(arguments.len())
}
