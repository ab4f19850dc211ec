//! A git repository's commits, files and texts.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Larger files are passed over.
const BYTES_MAX: usize = 2 << 20;

/// The number of texts that are kept.
const TEXTS_MAX: usize = 20_000;

/// A repository, with one process that gives texts.
pub(super) struct Repository {
    directory: PathBuf,
    process: Child,
    asked: ChildStdin,
    given: BufReader<ChildStdout>,
    texts: HashMap<String, Option<String>>,
}

/// A file that a commit changed, by its old and its new name and text. One of them is missing if
/// the file was added or removed.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) old: Option<(String, String)>,
    pub(super) new: Option<(String, String)>,
}

impl Repository {
    pub(super) fn open(directory: &Path) -> Result<Self> {
        let mut process = git(directory, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start git")?;
        let asked = process.stdin.take().context("its input is piped")?;
        let given = BufReader::new(process.stdout.take().context("its output is piped")?);
        let texts = HashMap::new();
        Ok(Self { directory: directory.to_owned(), process, asked, given, texts })
    }

    /// Returns the newest commits, oldest first: one more than `count`.
    pub(super) fn commits(&self, count: usize) -> Result<Vec<String>> {
        let most = format!("--max-count={}", count + 1);
        let output = self.output(&["rev-list", "--first-parent", &most, "HEAD"])?;
        let mut commits: Vec<String> = output.lines().map(str::to_owned).collect();
        commits.reverse();
        Ok(commits)
    }

    /// Returns the files that a commit changed.
    pub(super) fn changes(&self, commit: &str) -> Result<Vec<Change>> {
        let output = self.output(&[
            "diff-tree",
            "-r",
            "-M",
            "-z",
            "--raw",
            "--no-abbrev",
            &format!("{commit}^1"),
            commit,
        ])?;
        let mut words = output.split('\0');
        let mut changes = Vec::new();
        while let Some(head) = words.next().and_then(|word| word.strip_prefix(':')) {
            let parts: Vec<&str> = head.split(' ').collect();
            let [_, _, old, new, status] = parts.as_slice() else { continue };
            let path = words.next().context("a change has a path")?.to_owned();
            let renamed = status.starts_with(['R', 'C']);
            let to = if renamed {
                words.next().context("and a new one")?.to_owned()
            } else {
                path.clone()
            };
            let side = |path: String, blob: &str, missing: char| {
                (!status.starts_with(missing)).then(|| (path, blob.to_owned()))
            };
            changes.push(Change { old: side(path, old, 'A'), new: side(to, new, 'D') });
        }
        Ok(changes)
    }

    /// Returns the paths and ids of the files at a commit.
    pub(super) fn tree(&self, commit: &str) -> Result<BTreeMap<String, String>> {
        let output = self.output(&["ls-tree", "-r", "-z", commit])?;
        let file = |line: &str| {
            let (head, path) = line.split_once('\t')?;
            let blob = head.strip_prefix("100")?.split(' ').nth(2)?;
            Some((path.to_owned(), blob.to_owned()))
        };
        Ok(output.split('\0').filter_map(file).collect())
    }

    /// Returns the text of a file; `None` if it is binary, large or not in the repository.
    pub(super) fn text(&mut self, blob: &str) -> Result<Option<String>> {
        if let Some(text) = self.texts.get(blob) {
            return Ok(text.clone());
        }
        writeln!(self.asked, "{blob}")?;
        self.asked.flush()?;
        let mut head = String::new();
        self.given.read_line(&mut head)?;
        let text = match head.trim_end().rsplit_once(' ').map(|(_, bytes)| bytes.parse::<usize>()) {
            Some(Ok(bytes)) => {
                let mut content = vec![0; bytes + 1];
                self.given.read_exact(&mut content)?;
                content.pop();
                if bytes > BYTES_MAX { None } else { String::from_utf8(content).ok() }
            }
            _ => None,
        };
        if self.texts.len() >= TEXTS_MAX {
            self.texts.clear();
        }
        self.texts.insert(blob.to_owned(), text.clone());
        Ok(text)
    }

    fn output(&self, arguments: &[&str]) -> Result<String> {
        let output = git(&self.directory, arguments).output().context("failed to start git")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(arguments);
    git
}
