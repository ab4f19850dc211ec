//! The state of each conversation between its events: records shown, its rebuilt system prompt, and
//! pending activity. All of it is soft: it is lost with the daemon, and at worst something is shown
//! twice.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchord_memory::lifecycle::{Event, Task};
use anchord_memory::render::hooks::RenderedContext;
use anchord_memory::{RecordId, Revision, SessionActivity};
use parking_lot::Mutex;

use super::rebuilt::RebuiltTexts;
use crate::project::{StepBack, StepBacksSeen};
use crate::projects::ProjectId;
use crate::sessions::Session;
use crate::{clock, limits};

/// The name of a conversation: the client, and the client's id for it.
pub(crate) type Name = (&'static str, String);

/// The conversations that hooks have reported.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    inner: Mutex<HashMap<Name, ConversationState>>,
}

/// A text that waits for the next prompt, and the files of the tool that it is about.
#[derive(Debug)]
pub(crate) struct WaitingText {
    pub(crate) context: RenderedContext,
    pub(crate) files: Vec<String>,
}

/// An event of the last seconds.
#[derive(Debug)]
struct SeenEvent {
    digest: u64,
    at: Instant,
    /// Whether its check against rules was logged.
    is_logged: bool,
}

/// The state of one conversation.
#[derive(Debug)]
pub(crate) struct ConversationState {
    /// The revision up to which the model's context is current. Later changes by others are news.
    pub(crate) revision_known: Option<Revision>,
    /// The revision at which the model's context began, if that is known. Records that the
    /// conversation itself wrote since are in its context.
    pub(crate) context_since: Option<Revision>,
    /// Records that hooks showed to it in full.
    pub(crate) given: BTreeSet<RecordId>,
    /// Records that it was shown after a command failed, in full or in part.
    pub(crate) remedies: BTreeSet<RecordId>,
    /// Files that tools used and that were looked up in memory for it.
    pub(crate) files: BTreeSet<String>,
    /// Files whose outline was offered.
    pub(crate) offered: BTreeSet<String>,
    /// Texts about actions that the client could not carry. They go with the next prompt.
    pub(crate) waiting: VecDeque<WaitingText>,
    /// Tasks of subagents that are about to start.
    pub(crate) tasks: VecDeque<Task>,
    /// The person's last prompt. A load that comes after it is about this task.
    pub(crate) asked: Option<String>,
    /// The texts for system prompts that are rebuilt repeatedly.
    pub(crate) rebuilt: RebuiltTexts,
    /// The number of messages in the context when its compaction began.
    pub(crate) messages: Option<u32>,
    /// Pending activity.
    pub(crate) pending: SessionActivity,
    /// Whether it was told that its memory cannot be read.
    pub(crate) knows_unreadable: bool,
    /// The session of its last event.
    pub(crate) session: Option<Arc<Session>>,
    /// Events of the last seconds.
    seen: VecDeque<SeenEvent>,
    /// The last step back of a copy of a team's journal that its revisions count.
    stepped_back: StepBacksSeen,
    used: Instant,
}

impl ConversationState {
    fn new() -> Self {
        Self {
            revision_known: None,
            context_since: None,
            given: BTreeSet::new(),
            remedies: BTreeSet::new(),
            files: BTreeSet::new(),
            offered: BTreeSet::new(),
            waiting: VecDeque::new(),
            tasks: VecDeque::new(),
            asked: None,
            rebuilt: RebuiltTexts::default(),
            messages: None,
            pending: SessionActivity::default(),
            knows_unreadable: false,
            session: None,
            seen: VecDeque::new(),
            stepped_back: StepBacksSeen::before(clock::now()),
            used: clock::start(),
        }
    }

    /// Lowers the revisions to what remained when the project's copy of a team's journal stepped
    /// back. Other records may have the ids of those that were given.
    pub(crate) fn step_back(&mut self, step_backs: &[StepBack]) {
        if let Some(session) = &self.session {
            session.step_back(step_backs);
        }
        let Some(to) = self.stepped_back.take(step_backs) else { return };
        self.revision_known = self.revision_known.map(|known| known.min(to));
        self.context_since = self.context_since.map(|since| since.min(to));
        self.given.clear();
        self.remedies.clear();
    }

    /// Forgets what was given, because the model's context was emptied or replaced.
    pub(crate) fn forget_given(&mut self) {
        self.context_since = None;
        self.given.clear();
        self.remedies.clear();
        self.forget_files();
        self.waiting.clear();
        self.rebuilt.clear();
    }

    /// Takes the context for as old as the conversation, if a restart of the daemon lost its state.
    /// A new conversation wrote nothing.
    pub(crate) fn begin_lost_context(&mut self) {
        if self.revision_known.is_none() {
            self.context_since.get_or_insert(Revision(0));
        }
    }

    /// Sets the session of an event. Changes that its loads listed, or those of the session before,
    /// are known.
    pub(crate) fn enter(&mut self, session: &Arc<Session>) {
        self.count_loads();
        self.session = Some(Arc::clone(session));
        self.count_loads();
    }

    /// Counts the changes that the session's loads listed as known.
    fn count_loads(&mut self) {
        let seen = self.session.as_ref().and_then(|session| session.revision_seen());
        self.revision_known = self.revision_known.max(seen);
    }

    /// Keeps a text for the next prompt. If there are too many, drops the oldest, whose records may
    /// then be given again.
    pub(crate) fn keep_waiting(&mut self, waiting: WaitingText) {
        self.waiting.push_back(waiting);
        if self.waiting.len() > limits::CONTEXTS_WAITING_MAX
            && let Some(WaitingText { context, files }) = self.waiting.pop_front()
        {
            self.take_back(&context.shown, &context.whole, &files);
        }
    }

    /// Forgets one text that the model did not get. `shown` are its records, `whole` those it gave
    /// in full, and `files` the files of the tool that it was about.
    pub(crate) fn take_back(&mut self, shown: &[RecordId], whole: &[RecordId], files: &[String]) {
        self.given.retain(|id| !whole.contains(id));
        self.remedies.retain(|id| !shown.contains(id));
        self.files.retain(|file| !files.contains(file));
        self.offered.retain(|file| !files.contains(file));
    }

    /// Forgets everything but what the context has, since an ended conversation may be resumed. The
    /// digests stay too, since the end may be reported twice.
    fn end(&mut self) {
        self.count_loads();
        // Texts that wait are lost.
        for WaitingText { context, files } in std::mem::take(&mut self.waiting) {
            self.take_back(&context.shown, &context.whole, &files);
        }
        // A rebuilt system prompt has another load.
        if !self.rebuilt.is_empty() {
            self.forget_given();
        }
        let ended = std::mem::replace(self, Self::new());
        *self = Self {
            revision_known: ended.revision_known,
            context_since: ended.context_since,
            given: ended.given,
            remedies: ended.remedies,
            files: ended.files,
            offered: ended.offered,
            seen: ended.seen,
            stepped_back: ended.stepped_back,
            ..Self::new()
        };
    }

    /// Counts every file as new again.
    pub(crate) fn forget_files(&mut self) {
        self.files.clear();
        self.offered.clear();
    }

    /// Records that a file's outline was offered.
    pub(crate) fn offer(&mut self, file: &str) {
        if self.offered.len() < limits::FILES_LOOKED_UP_MAX {
            self.offered.insert(file.to_owned());
        }
    }
}

impl Conversations {
    /// Reads or changes the state of a conversation, which is created if it is new.
    pub(crate) fn with<T>(&self, name: &Name, look: impl FnOnce(&mut ConversationState) -> T) -> T {
        let mut conversations = self.inner.lock();
        if !conversations.contains_key(name) && conversations.len() >= limits::CONVERSATIONS_MAX {
            let oldest = conversations.iter().min_by_key(|(_, conversation)| conversation.used);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                conversations.remove(&oldest);
            }
        }
        let conversation = conversations.entry(name.clone()).or_insert_with(ConversationState::new);
        conversation.used = clock::start();
        look(conversation)
    }

    /// Returns whether an event with this digest came in the last seconds, and records the event.
    /// A start, and the beginning or end of a turn, clear the earlier digests, because those events
    /// have been answered by then. The same words in the next turn are therefore no double, and
    /// neither is another end.
    pub(crate) fn is_double(&self, name: &Name, digest: u64, event: &Event) -> bool {
        let turns = matches!(
            event,
            Event::SessionStarted { .. } | Event::PromptSubmitted { .. } | Event::TurnEnded { .. }
        );
        self.with(name, |conversation| {
            let now = clock::start();
            let seen = &mut conversation.seen;
            seen.retain(|it| now.duration_since(it.at) < limits::DOUBLE_WITHIN);
            let double = seen.iter().any(|it| it.digest == digest);
            if !double {
                if turns {
                    seen.clear();
                }
                seen.push_back(SeenEvent { digest, at: now, is_logged: false });
                if seen.len() > limits::EVENTS_SEEN_MAX {
                    seen.pop_front();
                }
            }
            double
        })
    }

    /// Returns whether no check of this event was logged yet, and records that one is now.
    pub(crate) fn is_first_check(&self, name: &Name, digest: u64) -> bool {
        self.with(name, |conversation| {
            let seen = conversation.seen.iter_mut().find(|it| it.digest == digest);
            seen.is_none_or(|it| !std::mem::replace(&mut it.is_logged, true))
        })
    }

    /// Returns the conversations that have enough pending activity for a session row and have been
    /// silent for at least `since`.
    pub(crate) fn silent(&self, since: Duration) -> Vec<(Name, Arc<Session>)> {
        let conversations = self.inner.lock();
        let silent = conversations.iter().filter(|(_, conversation)| {
            conversation.pending.leaves_row() && conversation.used.elapsed() >= since
        });
        silent
            .filter_map(|(name, conversation)| Some((name.clone(), conversation.session.clone()?)))
            .collect()
    }

    /// Returns the conversations that have pending activity.
    pub(crate) fn with_pending_activity(&self) -> Vec<(Name, Arc<Session>)> {
        let conversations = self.inner.lock();
        let activity =
            conversations.iter().filter(|(_, conversation)| !conversation.pending.is_empty());
        activity
            .filter_map(|(name, conversation)| Some((name.clone(), conversation.session.clone()?)))
            .collect()
    }

    /// Forgets what a project's conversations were given, because the stored texts must not be
    /// repeated.
    pub(crate) fn forget_given_of(&self, project: ProjectId) {
        // The user's own notes are shown in every project.
        let works_there = |conversation: &ConversationState| {
            let session = conversation.session.as_ref();
            // An ended conversation has no session. It may have worked there.
            project.is_personal()
                || session.is_none_or(|session| session.project_id() == Some(project))
        };
        self.inner
            .lock()
            .values_mut()
            .filter(|conversation| works_there(conversation))
            .for_each(ConversationState::forget_given);
    }

    /// Keeps the task of a subagent that is about to start.
    pub(crate) fn expect_task(&self, name: &Name, task: Task) {
        self.with(name, |conversation| {
            conversation.tasks.push_back(task);
            if conversation.tasks.len() > limits::TASKS_EXPECTED_MAX {
                conversation.tasks.pop_front();
            }
        });
    }

    /// Takes the oldest task kept for a subagent of this type.
    pub(crate) fn take_task(&self, name: &Name, agent_type: &str) -> Option<Task> {
        self.with(name, |conversation| {
            let at = conversation.tasks.iter().position(|task| task.agent_type == agent_type)?;
            conversation.tasks.remove(at)
        })
    }

    /// Ends a conversation that is over. What its context has stays known.
    pub(crate) fn end(&self, name: &Name) {
        if let Some(conversation) = self.inner.lock().get_mut(name) {
            conversation.end();
        }
    }
}

#[cfg(test)]
mod tests;
