//! `anchord add`: blueprints, lessons and anchors, as commits that all sessions see at once.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anchord_memory::limits::TEXT_BYTES_MAX;
use anchord_memory::{Category, ParseCategoryError};
use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use serde_json::{Value, json};

use super::{ProjectArg, surroundings};
use crate::exit::Error;
use crate::text::{self, Source};
use crate::tool::{self, Caller};

/// Add a blueprint, a lesson or an anchor; all sessions see it at once
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Blueprint(Blueprint),
    Lesson(Lesson),
    Anchor(Anchor),
}

/// Add a settled, lasting statement: kept verbatim, replaced only on purpose
///
/// A blueprint with the same category and title stays as it is: `anchord edit` changes it. Anything
/// that looks like a secret is removed first, and the answer says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord add blueprint 'Retry policy' 'At most five retries, with jitter' --category decision
  anchord add blueprint 'Orders table' --category schema --from schema.sql
  pg_dump --schema-only | anchord add blueprint 'Whole schema' - --category schema --mutable")]
pub(crate) struct Blueprint {
    /// Subject, on one line
    #[arg(value_name = "TITLE", value_parser = NonEmptyStringValueParser::new())]
    title: String,
    /// The text; - reads standard input, and so does omitting it when input is piped in
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Kind of statement; words such as rule, design or library are taken, too
    #[arg(long, value_name = "CATEGORY", value_parser = CategoryParser)]
    category: Category,
    /// Let a later blueprint with this category and title replace it
    #[arg(long)]
    mutable: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    shared: Shared,
}

/// Add a lesson learned from a failure
///
/// A lesson with the same summary takes in the new detail and files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord add lesson 'Migrations lock the orders table' 'Run them at night' --file db/migrate.rb
  anchord add lesson 'A cold cache times out' --from postmortem.md")]
pub(crate) struct Lesson {
    /// Lesson to remember, on one line
    #[arg(value_name = "SUMMARY", value_parser = NonEmptyStringValueParser::new())]
    summary: String,
    /// Details: what happened and what to do; - reads standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// A file that the lesson is about; may be repeated
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    shared: Shared,
}

/// Add an anchor: where some code is and why it matters
///
/// An anchor that overlaps one of the same file is merged with it, and the new text covers both.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord add anchor src/cache.rs 42-67 'warms the cache at start'
  anchord add anchor src/main.rs 12 'where the flags are read' --project ~/src/parser")]
pub(crate) struct Anchor {
    /// The file, relative to here or to the project's root
    #[arg(value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    file: String,
    /// Lines in the file: 42-67, or 42
    #[arg(value_name = "LINES", value_parser = NonEmptyStringValueParser::new())]
    lines: String,
    /// Description of the code and why it matters, on one line
    #[arg(value_name = "CONCEPT", value_parser = NonEmptyStringValueParser::new())]
    concept: String,
    #[command(flatten)]
    shared: Shared,
}

/// Arguments that all three subcommands take.
#[derive(Debug, clap::Args)]
struct Shared {
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON: the text, and the record in full
    #[arg(long)]
    json: bool,
}

/// Parses a category as agents' tools do. The help lists the five names.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoryParser;

impl TypedValueParser for CategoryParser {
    type Value = Category;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Category, clap::Error> {
        let parse: fn(&str) -> Result<Category, ParseCategoryError> = str::parse;
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Category::ALL.into_iter().map(|category| category.name().into())))
    }
}

impl Command {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Blueprint(args) => args.run(out),
            Self::Lesson(args) => args.run(out),
            Self::Anchor(args) => args.run(out),
        }
    }
}

impl Blueprint {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let blueprint = json!({
            "title": self.title,
            "content": text::required(self.text, self.source, TEXT_BYTES_MAX)?,
            "category": self.category,
            "immutable": !self.mutable,
        });
        self.shared.add(out, json!({ "blueprints": [blueprint] }))
    }
}

impl Lesson {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let files = self.file.into_iter().map(|file| self.shared.project.file(file));
        let lesson = json!({
            "summary": self.summary,
            "detail": self.source.read(self.text, TEXT_BYTES_MAX)?,
            "files": files.collect::<Vec<String>>(),
        });
        self.shared.add(out, json!({ "lessons": [lesson] }))
    }
}

impl Anchor {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let anchor = json!({
            "file": self.shared.project.file(self.file),
            "lines": self.lines,
            "concept": self.concept,
        });
        self.shared.add(out, json!({ "anchors": [anchor] }))
    }
}

impl Shared {
    fn add(self, out: &mut dyn Write, part: Value) -> Result<(), Error> {
        let reply = Caller::new(self.project.resolve()?)?.call("memory_add", part)?;
        tool::print(out, &reply, self.json)
    }
}

impl ProjectArg {
    /// Returns a file's path in the form that the daemon takes. A path that exists from here
    /// becomes absolute, and the daemon makes it relative to the project's root. Any other path, or
    /// any relative path if a project is named, counts as relative to that root already.
    pub(super) fn file(&self, path: String) -> String {
        let here = Path::new(&path);
        if here.is_relative() && (self.named().is_some() || !here.exists()) {
            return path;
        }
        let absolute =
            std::path::absolute(here).map(|path| self.beneath_root(&path).unwrap_or(path));
        let absolute = absolute.ok().and_then(|path| path.into_os_string().into_string().ok());
        absolute.unwrap_or(path)
    }

    /// Returns an absolute path beneath the project's root as the daemon knows the root, which has
    /// no links. `None` for a path elsewhere.
    fn beneath_root(&self, path: &Path) -> Option<PathBuf> {
        let root = self.locate(&surroundings()).ok()?.root;
        let is_root = |part: &&Path| part.canonicalize().is_ok_and(|part| part == root);
        let above = path.ancestors().filter(is_root).last()?;
        Some(root.join(path.strip_prefix(above).ok()?))
    }
}
