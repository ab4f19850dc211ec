//! Options that have several forms, for the programs and subcommands that rules are usually about.
//!
//! Only what the programs' manuals state is here, so that a match is certain. Options of other
//! programs are compared as they are written.

/// An option and all its forms.
#[derive(Debug)]
pub(crate) struct OptionForms {
    /// Its names, as in `-f` and `--force`.
    pub(crate) names: &'static [&'static str],
    /// Options that do what it does, and something else.
    pub(crate) implied_by: &'static [&'static str],
    /// Letters that each stand for it and for every other option with the letter, as `-D` does for
    /// `--delete --force`.
    pub(crate) joined: &'static str,
    /// The first character of an operand that does what the option does, as in `+main`.
    pub(crate) operand: Option<char>,
}

/// The options of a program or subcommand.
#[derive(Debug)]
pub(crate) struct ProgramOptions {
    programs: &'static [&'static str],
    /// The subcommands; empty, if it is about all of them.
    subcommands: &'static [&'static str],
    /// The options that have several forms.
    pub(crate) options: &'static [OptionForms],
    /// Options with a value, in the same or in the next word.
    values: &'static [&'static str],
    /// Letters whose value, if there is one, is in the same word.
    attached: &'static str,
}

const fn of(
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    options: &'static [OptionForms],
    values: &'static [&'static str],
) -> ProgramOptions {
    ProgramOptions { programs, subcommands, options, values, attached: "" }
}

pub(crate) const fn names(names: &'static [&'static str]) -> OptionForms {
    OptionForms { names, implied_by: &[], joined: "", operand: None }
}

const fn joined(names: &'static [&'static str], joined: &'static str) -> OptionForms {
    OptionForms { names, implied_by: &[], joined, operand: None }
}

const FORCE: OptionForms = names(&["-f", "--force"]);
const ALL: OptionForms = names(&["-a", "--all"]);
const DRY_RUN: OptionForms = names(&["-n", "--dry-run"]);
const DELETE: OptionForms = names(&["-d", "--delete"]);
const VOLUMES: OptionForms = names(&["-v", "--volumes"]);
const RECURSIVE: OptionForms = names(&["-R", "--recursive"]);
const YES: OptionForms = names(&["-y", "--yes"]);

pub(crate) const CONTAINERS: &[&str] = &["docker", "podman"];

const KNOWN: &[ProgramOptions] = &[
    of(
        &["git"],
        &["push"],
        &[
            OptionForms {
                names: &["-f", "--force"],
                implied_by: &["--force-with-lease", "--mirror"],
                joined: "",
                operand: Some('+'),
            },
            OptionForms { names: DELETE.names, implied_by: &[], joined: "", operand: Some(':') },
            DRY_RUN,
            names(&["-u", "--set-upstream"]),
        ],
        &["-o", "--push-option", "--receive-pack", "--exec", "--repo"],
    ),
    ProgramOptions {
        attached: "uS",
        ..of(
            &["git"],
            &["commit"],
            &[names(&["-n", "--no-verify"]), ALL, names(&["-s", "--signoff"])],
            &[
                "-m",
                "--message",
                "-F",
                "--file",
                "-C",
                "--reuse-message",
                "-c",
                "--reedit-message",
                "-t",
                "--template",
                "--author",
                "--date",
                "--fixup",
                "--squash",
                "--cleanup",
                "--trailer",
            ],
        )
    },
    of(
        &["git"],
        &["branch"],
        &[
            joined(DELETE.names, "D"),
            joined(FORCE.names, "DMC"),
            joined(&["-m", "--move"], "M"),
            joined(&["-c", "--copy"], "C"),
        ],
        &["-u", "--set-upstream-to", "--sort", "--format", "--points-at"],
    ),
    of(&["git"], &["clean"], &[FORCE, DRY_RUN], &["-e", "--exclude"]),
    of(&["git"], &["rm", "mv"], &[FORCE, DRY_RUN], &[]),
    of(
        &["git"],
        &["add"],
        &[FORCE, DRY_RUN, names(&["-A", "--all"]), names(&["-u", "--update"])],
        &[],
    ),
    of(
        &["git"],
        &["tag"],
        &[FORCE, DELETE],
        &["-m", "--message", "-F", "--file", "-u", "--local-user", "--sort", "--format"],
    ),
    of(&["git"], &["checkout"], &[FORCE], &["-b", "-B", "--orphan", "--conflict"]),
    of(
        &["git"],
        &["switch"],
        &[
            names(&["-f", "--force", "--discard-changes"]),
            names(&["-c", "--create"]),
            names(&["-C", "--force-create"]),
        ],
        &["-c", "--create", "-C", "--force-create", "--orphan", "--conflict"],
    ),
    of(&["git"], &["fetch"], &[FORCE, names(&["-p", "--prune"])], &["-o", "--server-option"]),
    of(&["git"], &["worktree remove", "worktree add", "submodule deinit"], &[FORCE], &["-b", "-B"]),
    of(&["rm"], &[], &[names(&["-r", "-R", "--recursive"]), FORCE, names(&["-d", "--dir"])], &[]),
    of(&["chmod", "chown", "chgrp"], &[], &[RECURSIVE], &[]),
    of(
        &["cp"],
        &[],
        &[
            OptionForms {
                names: &["-r", "-R", "--recursive"],
                implied_by: &["-a", "--archive"],
                joined: "",
                operand: None,
            },
            FORCE,
        ],
        &["-t", "--target-directory", "-S", "--suffix"],
    ),
    of(
        &["mv", "ln"],
        &[],
        &[FORCE, names(&["-s", "--symbolic"])],
        &["-t", "--target-directory", "-S", "--suffix"],
    ),
    ProgramOptions {
        attached: "i",
        ..of(
            &["sed"],
            &[],
            &[names(&["-i", "--in-place"])],
            &["-e", "--expression", "-f", "--file", "-l", "--line-length"],
        )
    },
    of(
        &["curl"],
        &[],
        &[names(&["-k", "--insecure"])],
        &[
            "-A", "-b", "-c", "-C", "-d", "-D", "-e", "-E", "-F", "-h", "-H", "-K", "-m", "-o",
            "-P", "-Q", "-r", "-t", "-T", "-u", "-U", "-w", "-x", "-X", "-y", "-Y", "-z",
        ],
    ),
    of(CONTAINERS, &["rm", "container rm"], &[FORCE, VOLUMES], &[]),
    of(CONTAINERS, &["rmi", "image rm", "volume rm", "network rm"], &[FORCE], &[]),
    of(
        CONTAINERS,
        &["system prune", "image prune", "volume prune", "container prune", "network prune"],
        &[FORCE, ALL],
        &["--filter"],
    ),
    of(CONTAINERS, &["compose down"], &[VOLUMES], &["-t", "--timeout", "--rmi"]),
    of(CONTAINERS, &["compose rm"], &[FORCE, VOLUMES, names(&["-s", "--stop"])], &[]),
    of(
        &["kubectl", "oc"],
        &["apply", "create", "delete", "patch", "replace", "scale"],
        &[
            names(&["-A", "--all-namespaces"]),
            names(&["-f", "--filename"]),
            names(&["-k", "--kustomize"]),
            names(&["-l", "--selector"]),
            names(&["-n", "--namespace"]),
            RECURSIVE,
        ],
        &["-f", "-k", "-l", "-n", "-o", "-s", "-v"],
    ),
    of(
        &["npm"],
        &[],
        &[FORCE, names(&["-g", "--global"])],
        &["-C", "--prefix", "-w", "--workspace"],
    ),
    of(&["apt", "apt-get"], &[], &[names(&["-y", "--yes", "--assume-yes"])], &["-o", "-c", "-t"]),
    of(&["pip"], &["uninstall"], &[YES], &["-r", "--requirement"]),
    of(&["systemctl"], &[], &[FORCE], &["-H", "-M", "-t", "-p", "-n", "-o", "-s"]),
];

impl ProgramOptions {
    /// Returns what is known of a program's options, given its first operands.
    pub(crate) fn find(program: &str, operands: &[String]) -> Option<&'static Self> {
        KNOWN.iter().find(|known| {
            let is_of = |subcommand: &&str| {
                let mut words = operands.iter();
                subcommand.split(' ').all(|word| words.next().is_some_and(|it| it == word))
            };
            known.programs.contains(&program)
                && (known.subcommands.is_empty() || known.subcommands.iter().any(is_of))
        })
    }

    /// Returns the letters of a word of short options, without a value behind them.
    pub(crate) fn letters(&self, cluster: &str) -> String {
        let end = cluster.char_indices().find(|(_, letter)| self.has_value(*letter));
        let end = end.map_or(cluster.len(), |(at, letter)| at + letter.len_utf8());
        cluster.get(..end).unwrap_or_default().to_owned()
    }

    /// Whether a word's last option has its value in the next word.
    pub(crate) fn takes_next(&self, word: &str) -> bool {
        let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            return self.values.contains(&word);
        };
        let letters = self.letters(cluster);
        let last = letters.chars().last().filter(|letter| !self.attached.contains(*letter));
        letters == cluster && last.is_some_and(|letter| self.has_value(letter))
    }

    fn has_value(&self, letter: char) -> bool {
        let is_it = |name: &&&str| name.strip_prefix('-').is_some_and(|it| it.chars().eq([letter]));
        self.attached.contains(letter) || self.values.iter().any(|name| is_it(&name))
    }
}
