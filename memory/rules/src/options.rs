//! Options of programs that have subcommands, so that the subcommand is found behind them.

use crate::forms::{CONTAINERS, OptionForms, names};
use crate::shell::Word;

/// A program with subcommands, and its own options.
struct Program {
    name: &'static str,
    /// The options with a value in the next word.
    values: &'static [&'static str],
    /// The options that have several forms.
    forms: &'static [OptionForms],
}

const fn program(
    name: &'static str,
    values: &'static [&'static str],
    forms: &'static [OptionForms],
) -> Program {
    Program { name, values, forms }
}

const APT: &[&str] = &[
    "-o",
    "--option",
    "-c",
    "--config-file",
    "-t",
    "--target-release",
    "--default-release",
    "-a",
    "--host-architecture",
];
const APT_FORMS: &[OptionForms] = &[
    names(&["-o", "--option"]),
    names(&["-c", "--config-file"]),
    names(&["-t", "--target-release", "--default-release"]),
];
const NAMESPACE: OptionForms = names(&["-n", "--namespace"]);

const PROGRAMS: &[Program] = &[
    program("anchord", &[], &[]),
    program("apt", APT, APT_FORMS),
    program("apt-get", APT, APT_FORMS),
    program(
        "aws",
        &[
            "--profile",
            "--region",
            "--output",
            "--endpoint-url",
            "--query",
            "--ca-bundle",
            "--color",
            "--cli-read-timeout",
            "--cli-connect-timeout",
            "--cli-binary-format",
        ],
        &[],
    ),
    program("brew", &[], &[]),
    program("cargo", &["--config", "-C", "-Z", "--color"], &[]),
    program(
        "docker",
        &[
            "-H",
            "--host",
            "-c",
            "--context",
            "--config",
            "-l",
            "--log-level",
            "--tlscacert",
            "--tlscert",
            "--tlskey",
        ],
        &[names(&["-H", "--host"]), names(&["-c", "--context"]), names(&["-l", "--log-level"])],
    ),
    program("gh", &["-R", "--repo"], &[names(&["-R", "--repo"])]),
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
        &[],
    ),
    program(
        "helm",
        &[
            "-n",
            "--namespace",
            "--burst-limit",
            "--content-cache",
            "--kube-apiserver",
            "--kube-as-group",
            "--kube-as-user",
            "--kube-ca-file",
            "--kube-context",
            "--kube-tls-server-name",
            "--kube-token",
            "--kubeconfig",
            "--qps",
            "--registry-config",
            "--repository-cache",
            "--repository-config",
        ],
        &[NAMESPACE],
    ),
    program(
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--as",
            "--as-group",
            "--as-uid",
            "--as-user-extra",
            "--cache-dir",
            "--certificate-authority",
            "--client-certificate",
            "--client-key",
            "--cluster",
            "--context",
            "--kubeconfig",
            "--kuberc",
            "--log-flush-frequency",
            "--password",
            "--profile",
            "--profile-output",
            "--request-timeout",
            "-s",
            "--server",
            "--tls-server-name",
            "--token",
            "--user",
            "--username",
            "-v",
            "--v",
            "--vmodule",
        ],
        &[NAMESPACE, names(&["-s", "--server"])],
    ),
    program(
        "npm",
        &["--prefix", "-C", "--workspace", "-w", "--registry", "--userconfig", "--cache"],
        &[names(&["-C", "--prefix"]), names(&["-w", "--workspace"])],
    ),
    program(
        "pip",
        &[
            "--python",
            "--log",
            "--proxy",
            "--retries",
            "--timeout",
            "--exists-action",
            "--trusted-host",
            "--cert",
            "--client-cert",
            "--cache-dir",
            "--keyring-provider",
            "--use-feature",
            "--use-deprecated",
        ],
        &[],
    ),
    program(
        "pnpm",
        &["-C", "--dir", "--filter", "-F"],
        &[names(&["-C", "--dir"]), names(&["-F", "--filter"])],
    ),
    program(
        "podman",
        &[
            "-c",
            "--connection",
            "--url",
            "--log-level",
            "--root",
            "--runroot",
            "--identity",
            "--ssh",
            "--storage-driver",
            "--storage-opt",
            "--tmpdir",
            "--runtime",
            "--runtime-flag",
            "--cgroup-manager",
            "--conmon",
            "--events-backend",
            "--hooks-dir",
            "--imagestore",
            "--module",
            "--network-cmd-path",
            "--network-config-dir",
            "--out",
            "--volumepath",
        ],
        &[names(&["-c", "--connection"])],
    ),
    program("svn", &["--username", "--password", "--config-dir", "--config-option"], &[]),
    program(
        "systemctl",
        &[
            "-H",
            "--host",
            "-M",
            "--machine",
            "-t",
            "--type",
            "-p",
            "--property",
            "-P",
            "-n",
            "--lines",
            "-o",
            "--output",
            "-s",
            "--signal",
            "--state",
            "--job-mode",
            "--kill-whom",
            "--root",
            "--image",
            "--preset-mode",
            "--what",
        ],
        &[
            names(&["-H", "--host"]),
            names(&["-M", "--machine"]),
            names(&["-t", "--type"]),
            names(&["-p", "--property"]),
            names(&["-n", "--lines"]),
            names(&["-o", "--output"]),
            names(&["-s", "--signal"]),
        ],
    ),
    program("terraform", &[], &[]),
    program("tofu", &[], &[]),
    program("yarn", &["--cwd"], &[]),
];

/// The options of `docker compose` with a value in the next word. Its subcommand is behind them.
const COMPOSE_VALUES: &[&str] = &[
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--project-directory",
    "--profile",
    "--env-file",
    "--ansi",
    "--parallel",
    "--progress",
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

/// Returns the forms of the options that a program has before its subcommand.
pub(crate) fn forms(name: &str) -> &'static [OptionForms] {
    PROGRAMS.iter().find(|program| program.name == name).map_or(&[], |program| program.forms)
}

/// Returns the place of the subcommand among the arguments.
pub(crate) fn subcommand(name: &str, arguments: &[Word]) -> usize {
    let values = PROGRAMS.iter().find(|program| program.name == name);
    let values = values.map_or(&[] as &[&str], |program| program.values);
    // `cargo +nightly` names a tool chain.
    behind_options(values, arguments, |word| name == "cargo" && word.shown().starts_with('+'))
}

/// Returns the first two operands, which are subcommands of programs that have some. `arguments`
/// begins with the first.
pub(crate) fn subcommands<'w>(name: &str, arguments: &'w [Word]) -> Vec<&'w Word> {
    let from = match arguments.split_first() {
        Some((first, rest)) if CONTAINERS.contains(&name) && first.shown() == "compose" => {
            1 + behind_options(COMPOSE_VALUES, rest, |_| false)
        }
        _ => 1,
    };
    let second = arguments.get(from..).unwrap_or_default();
    let operands = arguments.iter().take(1).chain(second).filter(|word| !word.is_flag());
    operands.take(2).collect()
}

/// Returns the place of the first word that is neither an option nor the value of one.
fn behind_options(values: &[&str], words: &[Word], is_other: impl Fn(&Word) -> bool) -> usize {
    let mut at = 0;
    let is_option = |word: &&Word| word.is_flag() || is_other(word);
    while let Some(word) = words.get(at).filter(is_option) {
        let takes = word.text().is_some_and(|text| values.contains(&text.as_str()));
        at += if takes { 2 } else { 1 };
    }
    at.min(words.len())
}
