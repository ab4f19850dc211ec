//! Outlines of a project's files, each made once for all sessions.
//!
//! A file is read beneath the project's root or an additional root, and nothing else is
//! ([`ProjectFiles::visible`]). Its outline is looked up by the digest of its content. If it was
//! not made before, a process of its own parses the file. Secrets are removed before anything is
//! kept.

mod cache;
mod parser;
mod seen_files;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::limits::ANSWER_CHARS_MAX;
use anchord_memory::render::hooks::OutlineOffer;
use anchord_memory::{SessionId, Timestamp, tokens};
use anchord_outline::{
    Content as FileContent, Form, Language, Outline, View, content, outline_text, render,
};
use serde::{Deserialize, Serialize};

use self::cache::{Cache, Key};
pub(crate) use self::parser::Parser;
use self::seen_files::SeenFiles;
use crate::blocking::run_blocking;
use crate::bounded_fs::{self, DiskTimeout};
use crate::limits::{HOOK_OUTLINE_TIME_MAX, OFFERED_LINES_MIN, PROJECT_FILE_BYTES_MAX};
use crate::metrics::Metrics;
use crate::projects::{Entry, FileBytes, FileDigest, FileRefusal, Listing, ProjectFiles, Visible};
use crate::secrets;
use crate::store::Call;

/// The reason why there is no outline.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutlineError {
    /// The file may not be read, or cannot be.
    #[error(transparent)]
    File(#[from] FileRefusal),
    /// The disk did not respond in time.
    #[error(transparent)]
    Timeout(#[from] DiskTimeout),
}

/// The directory with what sessions saw, next to the outlines.
const SEEN_DIRECTORY: &str = "looks";

/// A file at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) path: String,
    pub(crate) digest: FileDigest,
}

/// A file and its outline.
#[derive(Clone, Debug)]
pub(crate) struct Outlined {
    /// The path relative to the project's root, or an absolute one beneath an additional root.
    pub(crate) path: String,
    pub(crate) digest: FileDigest,
    pub(crate) outline: Arc<Outline>,
    /// Whether the outline was made before, for this session or another.
    pub(crate) is_cached: bool,
    /// The reason why the outline has less than it should.
    pub(crate) fault: Option<String>,
}

/// A path's content.
#[derive(Debug)]
pub(crate) enum PathContent {
    File(Outlined),
    /// A directory's path, and its entries.
    Directory(String, Listing<FileFacts>),
}

/// The facts about a file of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) digest: FileDigest,
    pub(crate) form: Form,
    pub(crate) bytes: u64,
    /// `None` if the file is too long to be read.
    pub(crate) text: Option<TextFacts>,
}

/// The size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextFacts {
    pub(crate) lines: usize,
    pub(crate) tokens: u32,
}

/// The place whose files are outlined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilesOf<'a> {
    /// The project's root, canonical.
    pub(crate) root: &'a Path,
    /// The root of the repository that the project is a part of.
    pub(crate) repository: Option<&'a Path>,
}

/// Makes outlines, keeps them, and remembers which of them a session saw.
#[derive(Debug)]
pub(crate) struct OutlineService {
    parser: Parser,
    cache: Arc<Cache>,
    seen_files: Arc<SeenFiles>,
    metrics: Arc<Metrics>,
    roots: Arc<[PathBuf]>,
}

impl OutlineService {
    /// Creates the service. Outlines are kept in `directory`.
    pub(crate) fn new(
        parser: Parser,
        directory: PathBuf,
        additional_roots: &[PathBuf],
        metrics: Arc<Metrics>,
    ) -> Self {
        let seen_files = Arc::new(SeenFiles::new(directory.join(SEEN_DIRECTORY)));
        let cache = Arc::new(Cache::new(directory));
        Self { parser, cache, seen_files, metrics, roots: additional_roots.into() }
    }

    /// Returns the metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Outlines a file, or lists a directory.
    pub(crate) async fn target(
        &self,
        files: FilesOf<'_>,
        path: &str,
    ) -> Result<PathContent, OutlineError> {
        match self.read(files, path).await? {
            (shown, Visible::File(_, bytes)) => {
                Ok(PathContent::File(self.file(shown, bytes).await))
            }
            (shown, Visible::Directory(_, listing)) => Ok(PathContent::Directory(shown, listing)),
        }
    }

    /// Returns a file's path and digest, or `None` if the path is no file that may be read. Fails
    /// if the disk does not respond.
    pub(crate) async fn digest(
        &self,
        files: FilesOf<'_>,
        path: &str,
    ) -> Result<Option<FileVersion>, DiskTimeout> {
        match self.read(files, path).await {
            Ok((path, Visible::File(_, file))) if file.is_whole() => {
                Ok(Some(FileVersion { path, digest: FileDigest::of(&file.bytes) }))
            }
            Ok(_) | Err(OutlineError::File(_)) => Ok(None),
            Err(OutlineError::Timeout(timeout)) => Err(timeout),
        }
    }

    async fn read(
        &self,
        files: FilesOf<'_>,
        path: &str,
    ) -> Result<(String, Visible<FileFacts>), OutlineError> {
        let (root, repository) = (files.root.to_owned(), files.repository.map(Path::to_owned));
        let (roots, path) = (Arc::clone(&self.roots), PathBuf::from(path));
        let reading = bounded_fs::run(files.root, move || {
            let Some(place) = ReadablePath::find(&root, &roots, &path) else {
                return Err(FileRefusal::Outside(path.display().to_string()));
            };
            let io = |source| FileRefusal::Io { path: path.display().to_string(), source };
            let project = ProjectFiles::open(&place.root).map_err(io)?;
            let repository = repository.as_deref().filter(|_| !place.is_additional);
            let visible = project.visible(&place.relative, repository, facts)?;
            let inside = match &visible {
                Visible::File(inside, _) | Visible::Directory(inside, _) => inside,
            };
            let shown = if place.is_additional { place.root.join(inside) } else { inside.clone() };
            Ok((one_line(&shown), visible))
        });
        Ok(reading.await??)
    }

    async fn file(&self, path: String, file: FileBytes) -> Outlined {
        let name = name_of(&path).to_owned();
        let Prepared { digest, content } = run_blocking(move || prepare(&name, file)).await;
        let made = |outline: Outline, is_cached, fault| Outlined {
            path,
            digest: digest.clone(),
            outline: Arc::new(outline),
            is_cached,
            fault,
        };
        let (language, text) = match content {
            Content::Outlined(outline, fault) => return made(outline, false, fault),
            Content::Text(language, text) => (language, text),
        };
        let key = Key::new(digest.as_str(), language);
        if let Some(outline) = self.kept(key.clone()).await {
            return made(outline, true, None);
        }
        let (parsed, fault) = match language {
            None => (None, None),
            Some(language) => match self.parser.parse(language, &text).await {
                Ok(outline) => (Some(outline), None),
                Err(error) => {
                    tracing::warn!(%error, language = language.id, "a file was not parsed");
                    self.metrics.outline_failed();
                    let fault = format!("not parsed as {} ({error}); by blocks", language.name);
                    (None, Some(fault))
                }
            },
        };
        let (cache, is_kept) = (Arc::clone(&self.cache), fault.is_none());
        let outline = run_blocking(move || {
            let mut outline = parsed.unwrap_or_else(|| outline_text(&text));
            outline.map_texts(clean);
            if is_kept {
                cache.put(&key, &outline);
            }
            outline
        });
        made(outline.await, false, fault)
    }

    /// Returns the offer of a file's outline instead of the file. `None` if the file is short, its
    /// outline is not much shorter, or it is not made in the time that a hook has. It is then made
    /// to the end all the same, for the next caller.
    pub(crate) async fn offer(
        self: &Arc<Self>,
        files: FilesOf<'_>,
        path: &str,
    ) -> Option<OutlineOffer> {
        let (root, repository) = (files.root.to_owned(), files.repository.map(Path::to_owned));
        let (service, path) = (Arc::clone(self), path.to_owned());
        let making = tokio::spawn(async move {
            let files = FilesOf { root: &root, repository: repository.as_deref() };
            let (shown, Visible::File(_, bytes)) = service.read(files, &path).await.ok()? else {
                return None;
            };
            let lines = memchr::memchr_iter(b'\n', &bytes.bytes).count();
            if !bytes.is_whole() || lines <= OFFERED_LINES_MIN {
                return None;
            }
            let Outlined { outline, fault, .. } = service.file(shown, bytes).await;
            let view = View {
                lines: None,
                chars_max: ANSWER_CHARS_MAX,
                tokens_max: None,
                selects: "lines",
            };
            let outline_tokens = tokens::count(&render(&outline, &view).text);
            let is_worth_it = fault.is_none() && outline_tokens.saturating_mul(2) < outline.tokens;
            let Outline { lines, tokens, .. } = *outline;
            (is_worth_it && !outline.items.is_empty()).then_some(OutlineOffer {
                lines,
                tokens,
                outline_tokens,
                has_tool: false,
            })
        });
        tokio::time::timeout(HOOK_OUTLINE_TIME_MAX, making).await.ok()?.ok()?
    }

    /// Returns a kept outline.
    async fn kept(&self, key: Key) -> Option<Outline> {
        let cache = Arc::clone(&self.cache);
        run_blocking(move || cache.get(&key)).await
    }

    /// Returns what a session saw last of a file, and remembers that it sees this now.
    pub(crate) async fn record_seen(
        &self,
        session: &SessionId,
        call: Option<&Call>,
        seen: &Outlined,
        now: Timestamp,
    ) -> Option<SeenVersion> {
        let language = match seen.outline.form {
            Form::Code(language) => Some(language),
            Form::Text | Form::Binary(_) => None,
        };
        let call = call.map(|call| (call.instance.to_string(), call.number));
        let version = SeenVersion { digest: seen.digest.clone(), language, time: now, call };
        let (seen_files, session) = (Arc::clone(&self.seen_files), session.clone());
        let path = seen.path.clone();
        run_blocking(move || seen_files.replace(&session, &path, version)).await
    }

    /// Returns the outline that a session saw, if it is still kept.
    pub(crate) async fn seen_outline(&self, version: &SeenVersion) -> Option<Outline> {
        self.kept(Key::new(version.digest.as_str(), version.language)).await
    }

    /// Removes every kept outline, because something was purged that they may name.
    pub(crate) async fn forget_all(&self) {
        let (cache, seen_files) = (Arc::clone(&self.cache), Arc::clone(&self.seen_files));
        run_blocking(move || {
            seen_files.clear();
            cache.clear();
        })
        .await;
    }
}

/// The version of a file that a session saw.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct SeenVersion {
    pub(crate) digest: FileDigest,
    pub(crate) language: Option<&'static Language>,
    pub(crate) time: Timestamp,
    /// The shim's line that asked for it: the shim's instance and the line's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<(String, u64)>,
}

/// A path beneath one of the roots that may be read.
struct ReadablePath {
    root: PathBuf,
    relative: PathBuf,
    is_additional: bool,
}

impl ReadablePath {
    /// Finds the root that a path is beneath: the project's first. Reads links.
    fn find(root: &Path, additional: &[PathBuf], path: &Path) -> Option<Self> {
        let within = |root: &Path, path: &Path, is_additional| {
            let relative = path.strip_prefix(root).ok()?.to_owned();
            Some(Self { root: root.to_owned(), relative, is_additional })
        };
        if path.is_relative() {
            return within(root, &root.join(path), false);
        }
        within(root, path, false).or_else(|| {
            let real = std::fs::canonicalize(path).ok()?;
            within(root, &real, false).or_else(|| {
                let roots = additional.iter().filter_map(|it| std::fs::canonicalize(it).ok());
                roots.into_iter().find_map(|it| within(&it, &real, true))
            })
        })
    }
}

/// A file's digest, and what is to be done with its content.
struct Prepared {
    digest: FileDigest,
    content: Content,
}

/// Recognises a file's content. That takes as long as reading it.
fn prepare(name: &str, file: FileBytes) -> Prepared {
    let digest = FileDigest::of(&file.bytes);
    let content = match content(&file.bytes) {
        FileContent::Binary(kind) => Content::Outlined(Outline::of_binary(kind, file.size), None),
        FileContent::Text(_) if !file.is_whole() => {
            let outline = Outline { bytes: file.size, tokens: 0, ..outline_text("") };
            let fault = format!(
                "files of more than {PROJECT_FILE_BYTES_MAX} bytes are not outlined; read parts"
            );
            Content::Outlined(outline, Some(fault))
        }
        FileContent::Text(text) => Content::Text(Language::of_file(name, &text), text),
    };
    Prepared { digest, content }
}

/// The content of a file that is to be outlined.
enum Content {
    /// All that there is to say, and why it is no more.
    Outlined(Outline, Option<String>),
    /// A text, and its language.
    Text(Option<&'static Language>, String),
}

/// Removes secrets from a text of an outline.
fn clean(text: &mut String) {
    if let Cow::Owned(clean) = secrets::clean(text) {
        *text = clean;
    }
}

/// Collects the facts about a file of a directory.
fn facts(path: &Path, file: &FileBytes) -> FileFacts {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digest = FileDigest::of(&file.bytes);
    match content(&file.bytes) {
        FileContent::Binary(kind) => {
            let form = Form::Binary(kind.to_owned());
            FileFacts { digest, form, bytes: file.size, text: None }
        }
        FileContent::Text(text) => {
            let form = Language::of_file(&name, &text).map_or(Form::Text, Form::Code);
            let counted =
                || TextFacts { lines: text.lines().count(), tokens: tokens::count(&text) };
            let text = file.is_whole().then(counted);
            FileFacts { digest, form, bytes: file.size, text }
        }
    }
}

/// Returns the last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a path as text without control characters; `.` for the root.
fn one_line(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if text.is_empty() { ".".to_owned() } else { text }
}

/// Returns whether an entry is a file of this digest.
pub(crate) fn digest_of(entry: &Entry<FileFacts>) -> Option<&FileDigest> {
    match entry {
        Entry::File(facts) => Some(&facts.digest),
        _ => None,
    }
}
