//! Mirrors topics as Markdown files in their projects, `.anchord/topics/<name>.md`, and takes
//! people's edits in.
//!
//! Memory is the truth, and a file is never its only copy. After a commit, the files of changed
//! topics are replaced. A file whose bytes are not those that were written was edited: what it adds
//! becomes a commit, and only then is it written again. No file is overwritten before its content
//! was taken in. Digests of what was written are soft marks: if they are lost, files are taken in
//! once more, which adds nothing.

mod known;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use anchord_memory::import::plan_edited_topic;
use anchord_memory::topic_file::{Shown, TopicFile, WrittenHere, WrittenSince, file_stem};
use anchord_memory::{Memory, Provenance, Record, Revision, SessionId, Topic, topic_name};

use crate::bounded_fs;
use crate::config::Config;
use crate::limits::{JOB_TIME_MAX, MIRRORED_TOPICS_MAX};
use crate::project::{OpenProject, ProjectService, Transition, WriteCommand};
use crate::projects::{
    FileDigest, MirrorDir, MissingDirectory, ProjectFiles, ProjectId, ProjectRecord,
};
use crate::secrets;

use known::{Edit, EditPlace, MirrorState, MirroredFile, said};

/// The directory of the files, beneath a project's root.
const FOLDER: &str = ".anchord/topics";
/// The ending of the files' names.
const ENDING: &str = ".md";
/// The client that people's edits are recorded under.
const CLIENT: &str = "file edit";
/// The operation of such an edit, in history.
const EDIT: &str = "edit topic";

/// The mirrors of the open projects.
#[derive(Debug)]
pub(crate) struct TopicMirror {
    projects: Arc<ProjectService>,
    is_on: bool,
    mirrors: HashMap<ProjectId, Mirror>,
}

/// The mirror of one project.
#[derive(Debug, Default)]
struct Mirror {
    /// The files as they were last written, by name; `None` until the marks were read.
    known: Option<BTreeMap<String, MirroredFile>>,
    /// The revision whose topics are in the files.
    revision: Option<Revision>,
    /// Edits that were refused. They are not tried again until their file changes.
    refused: BTreeMap<(String, EditPlace), FileDigest>,
    /// The files that were missing at the last look.
    missing: BTreeSet<String>,
}

impl TopicMirror {
    pub(crate) fn new(projects: Arc<ProjectService>, config: &Config) -> Self {
        Self { projects, is_on: config.topics.markdown, mirrors: HashMap::new() }
    }

    /// Takes in edits and writes changed topics, in every open project.
    pub(crate) async fn update(&mut self) {
        if !self.is_on {
            return;
        }
        let open = self.projects.open.all();
        self.mirrors.retain(|id, _| open.iter().any(|project| project.id == *id));
        for project in open.iter().filter(|project| !project.id.is_personal()) {
            let registry = self.projects.registry.snapshot();
            let Some(place) = registry.project(project.id) else { continue };
            let mirror = self.mirrors.entry(project.id).or_default();
            match tokio::time::timeout(JOB_TIME_MAX, mirror.update(project, place)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(project = %project.id, error, "failed to mirror topics");
                }
                Err(_elapsed) => {
                    tracing::warn!(project = %project.id, "failed to mirror topics in time");
                }
            }
        }
    }
}

impl Mirror {
    async fn update(
        &mut self,
        project: &OpenProject,
        place: &Arc<ProjectRecord>,
    ) -> Result<(), String> {
        let mut known = match self.known.take() {
            Some(known) => known,
            None => known::read_marks(project).await?,
        };
        let done = self.update_known(project, place, &mut known).await;
        self.known = Some(known);
        done
    }

    async fn update_known(
        &mut self,
        project: &OpenProject,
        place: &Arc<ProjectRecord>,
        known: &mut BTreeMap<String, MirroredFile>,
    ) -> Result<(), String> {
        let root = &place.root;
        let (at, before) = (Arc::clone(place), known.clone());
        let looking = bounded_fs::run(root, move || {
            if is_there(&at)? { known::look(&at.root, &before).map(Some) } else { Ok(None) }
        });
        let state = looking.await.map_err(|error| error.to_string())??;
        // Another project is at this path by now, or none.
        let Some(state) = state else { return Ok(()) };
        let MirrorState { edits, unsettled, stamps, missing } = state;
        for (name, stamp) in stamps {
            if let Some(known) = known.get_mut(&name) {
                known.stamp = Some(stamp);
            }
        }
        // Some editors remove a file before they write it, so it has to stay away for a moment.
        let again: BTreeSet<String> = missing.intersection(&self.missing).cloned().collect();
        for name in &again {
            if let Some(known) = known.get_mut(name) {
                known.stamp = None;
            }
        }
        self.missing = missing;
        // These files are not written until their content is in memory.
        let mut waiting: BTreeSet<String> = unsettled;
        let is_edited = !edits.is_empty();
        waiting.extend(self.take_in_all(project, root, known, edits).await?);
        let memory = project.memory();
        let is_same = self.revision == Some(memory.revision()) && again.is_empty();
        if is_same && !is_edited && waiting.is_empty() {
            return Ok(());
        }
        let (files, gone) = self.changed(&memory, known, &waiting, &again);
        let is_whole = waiting.is_empty();
        let (at, before) = (Arc::clone(place), known.clone());
        let writing = bounded_fs::run(root, move || {
            let there = is_there(&at)?;
            Ok::<_, String>(there.then(|| known::write(&at.root, &before, files, &gone)))
        });
        let written = writing.await.map_err(|error| error.to_string())??;
        let Some((written, failed)) = written else { return Ok(()) };
        known::mark(project, known, written).await?;
        if let Some(why) = failed {
            return Err(why);
        }
        self.revision = is_whole.then(|| memory.revision());
        Ok(())
    }

    /// Takes edits in. Returns the names of files whose edits are refused.
    async fn take_in_all(
        &mut self,
        project: &OpenProject,
        root: &Path,
        known: &mut BTreeMap<String, MirroredFile>,
        edits: Vec<Edit>,
    ) -> Result<BTreeSet<String>, String> {
        let mut refused = BTreeSet::new();
        for edit in edits {
            let key = (edit.name.clone(), edit.place);
            if self.refused.get(&key) == Some(&edit.digest()) {
                refused.insert(edit.name);
                continue;
            }
            match take_in(project, known, &edit).await {
                Ok(()) => {
                    self.refused.remove(&key);
                    known::taken_in(root, known, &edit).await?;
                }
                Err(why) => {
                    let file = root.join(FOLDER).join(&edit.name);
                    tracing::warn!(file = %file.display(), why, "an edited topic is not taken in, and its file stays as it is");
                    self.refused.insert(key, edit.digest());
                    refused.insert(edit.name);
                }
            }
        }
        Ok(refused)
    }

    /// Returns the files of topics that changed since the last time, with their status, and the
    /// names of files whose topics are gone. `again` has files that somebody deleted.
    fn changed(
        &self,
        memory: &Memory,
        known: &BTreeMap<String, MirroredFile>,
        waiting: &BTreeSet<String>,
        again: &BTreeSet<String>,
    ) -> (Vec<(String, TopicFile)>, Vec<String>) {
        let mut topics: Vec<(&Arc<Record>, &Topic)> = memory.topics().collect();
        topics.sort_by_key(|(record, _)| std::cmp::Reverse(record.revision));
        let left_out = topics.len().saturating_sub(MIRRORED_TOPICS_MAX);
        if left_out > 0 {
            tracing::debug!(left_out, "topics without a file: the ones written longest ago");
        }
        topics.truncate(MIRRORED_TOPICS_MAX);
        let mut names = BTreeSet::new();
        let mut files = Vec::new();
        for (record, topic) in topics {
            let name = file_of(&topic.name);
            let is_new = self.revision.is_none_or(|mirrored| record.revision > mirrored)
                || again.contains(&name);
            if (is_new || !known.contains_key(&name)) && !waiting.contains(&name) {
                let file = TopicFile::of(record, topic, Shown::ALL).with_descriptions(topic);
                files.push((name.clone(), file));
            }
            names.insert(name);
        }
        let is_gone =
            |name: &&String| left_out == 0 && !names.contains(*name) && !waiting.contains(*name);
        (files, known.keys().filter(is_gone).cloned().collect())
    }
}

fn file_of(topic: &str) -> String {
    format!("{}{ENDING}", file_stem(topic))
}

/// Returns whether the project still is at its place. Another one's files are left alone.
fn is_there(place: &ProjectRecord) -> Result<bool, String> {
    let looked = place.is_there();
    looked.map_err(|error| format!("failed to look at {}: {error}", place.root.display()))
}

/// Commits what an edit adds to its topic. The newer status and the newer descriptions win.
async fn take_in(
    project: &OpenProject,
    known: &BTreeMap<String, MirroredFile>,
    edit: &Edit,
) -> Result<(), String> {
    let text = str::from_utf8(&edit.file.bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let file = TopicFile::parse(&secrets::keepable(text));
    let name = topic_of(&project.memory(), &edit.name, &file.title)
        .ok_or_else(|| "its name is not that of a topic's file".to_owned())?;
    let known = known.get(&edit.name);
    let base = match edit.place {
        EditPlace::InPlace => known.map(|known| known.texts.clone()),
        EditPlace::Displaced => known.and_then(|known| known.texts_before.clone()),
    };
    let modified = edit.file.stamp.time();
    let command: WriteCommand<Memory> = Arc::new(move |memory, now| {
        let by = Provenance::new(SessionId::new(CLIENT), CLIENT.into(), now);
        let record = memory.topic(&name);
        let none = Topic::default();
        let here = record.and_then(|record| record.topic()).unwrap_or(&none);
        let (mut edited, base) = (file.clone(), base.as_ref());
        let descriptions = base.and_then(|base| base.descriptions.as_ref());
        let overview = descriptions.map(|(overview, _)| overview);
        let architecture = descriptions.map(|(_, architecture)| architecture);
        let is_newer = record.is_some_and(|record| record.updated.time >= modified);
        let written = |edited: &mut Option<String>, here: &str, base: Option<&FileDigest>| {
            WrittenSince::of(is_written(edited, here, base), is_newer)
        };
        let written_here = WrittenHere {
            status: written(&mut edited.status, &here.status, base.map(|it| &it.status)),
            overview: written(&mut edited.overview, &here.overview, overview),
            architecture: written(&mut edited.architecture, &here.architecture, architecture),
        };
        let plan = plan_edited_topic(memory, &name, &edited, written_here, &by)?;
        for remark in &plan.outcome {
            tracing::warn!(topic = name, remark, "a text of an edited topic is not taken in");
        }
        Ok(Transition::silent(plan.changes))
    });
    let written = project.owner.write(None, None, EDIT, command).await;
    written.map(|_| ()).map_err(|error| error.to_string())
}

/// Returns whether a text was written since its file was, of which `base` is the text's digest.
/// Takes the text out of the edit if the person left it as it was.
fn is_written(edited: &mut Option<String>, here: &str, base: Option<&FileDigest>) -> bool {
    let is = |text: &str| base == Some(&FileDigest::of(text.as_bytes()));
    edited.take_if(|text| is(text));
    !is(here.trim())
}

/// Returns the topic of a file: one that exists, else the one that the title or the file's name
/// names.
fn topic_of(memory: &Memory, file: &str, title: &str) -> Option<String> {
    let known = memory.topics().find(|(_, topic)| file_of(&topic.name) == file);
    if let Some((_, topic)) = known {
        return Some(topic.name.clone());
    }
    let named = [title, file.strip_suffix(ENDING)?].into_iter();
    named.filter_map(|name| topic_name(name).ok()).find(|name| file_of(name) == file)
}

/// Opens the directory of a project's files.
fn directory(root: &Path, missing: MissingDirectory) -> Result<Option<MirrorDir>, String> {
    let files = ProjectFiles::open(root);
    let files = files.map_err(|error| format!("failed to open {}: {error}", root.display()))?;
    said(files.mirror_dir(Path::new(FOLDER), missing))
}

#[cfg(test)]
mod tests;
