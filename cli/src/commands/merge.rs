//! `anchord merge`: calls a model provider to work a checkpointed text into the brief. The daemon
//! starts it after a checkpoint; a person can look at what would be sent.

use std::io::Write;
use std::path::Path;

use anchord_daemon::api::{self, MergeParams, MergeQuery, MergeReply, MergeTask, StatusReply};
use anchord_daemon::config::{Config, MergeConfig};
use anchord_merge::{Asker, prompt};
use anchord_proto::instance::InstanceDir;
use serde_json::{Value, json};

use super::{ProjectArg, print_json};
use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Have a model work a checkpointed text into the project's brief
///
/// Calls the providers that [merge] in config.toml names, in their order. The text was stored
/// before; a state that drops anything is not taken. The daemon runs this after each checkpoint
/// with a text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord merge --dry-run
  anchord merge
  anchord merge --note n12")]
pub(crate) struct Args {
    #[command(flatten)]
    project: ProjectArg,
    /// The topic that is the brief
    #[arg(long, value_name = "NAME", default_value = anchord_memory::MAIN)]
    topic: String,
    /// A note that has the text; may be repeated [default: the newest text]
    #[arg(long = "note", value_name = "ID")]
    notes: Vec<String>,
    /// Show what would be sent, and to whom; call nobody
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A brief that was written meanwhile is asked for once more.
const TRIES: u32 = 2;

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let mut client = Client::started(&InstanceDir::locate()?)?;
        let status: StatusReply = client.get(api::STATUS, &json!({}))?;
        let config = Config::load(Path::new(&status.instance.config), None)
            .map_err(|error| Error::failed(format!("cannot {error}")))?
            .merge;
        let query = MergeQuery {
            project: self.project.resolve()?,
            topic: self.topic.clone(),
            notes: self.notes.clone(),
            calls: 0,
        };
        if self.dry_run {
            let task: MergeTask = client.post(api::MERGE, &query)?;
            return self.show(out, &config, &task);
        }
        if config.providers.is_empty() {
            return Err(Error::failed("no model provider is configured").with_action(
                "docs/configuration.md shows [merge] for config.toml; without it, agents merge.",
            ));
        }
        let mut missing = Vec::new();
        for _ in 0..TRIES {
            match merge(&mut client, &config, &query)? {
                MergeReply::Merged { version } => return self.merged(out, version),
                MergeReply::Stale => missing.clear(),
                MergeReply::Refused { missing: lost } => {
                    missing = lost;
                    break;
                }
                MergeReply::Nothing => break,
            }
        }
        let why = if missing.is_empty() {
            "the brief was written twice while a model was asked; the text stays appended"
                .to_owned()
        } else {
            let named: Vec<String> = missing.iter().map(|it| show::plain(it)).collect();
            format!("the model's state was not taken: {}", named.join("; "))
        };
        Err(Error::failed(why).with_action("The text stays appended to the brief, as it was."))
    }

    fn show(
        &self,
        out: &mut dyn Write,
        config: &MergeConfig,
        task: &MergeTask,
    ) -> Result<(), Error> {
        let prompt = prompt(&pretty(&task.state), &task.text);
        let names: Vec<String> = config
            .providers
            .iter()
            .map(|provider| format!("{} ({}, {})", provider.name, provider.model, provider.url))
            .collect();
        if self.json {
            return print_json(
                out,
                &json!({ "to": names, "rules": prompt.rules, "question": prompt.question }),
            );
        }
        if names.is_empty() {
            writeln!(out, "No provider is configured. This would be sent to one:\n")?;
        } else {
            writeln!(out, "This would be sent to {}:\n", show::plain(&names.join(", then ")))?;
        }
        writeln!(out, "{}\n", prompt.rules)?;
        for line in prompt.question.lines() {
            writeln!(out, "{}", show::plain(line))?;
        }
        Ok(())
    }

    fn merged(&self, out: &mut dyn Write, version: u32) -> Result<(), Error> {
        if self.json {
            return print_json(out, &json!({ "merged": true, "version": version }));
        }
        Ok(writeln!(out, "merged: the brief is at version {version} now")?)
    }
}

/// Asks the providers once and hands over what they gave.
fn merge(
    client: &mut Client,
    config: &MergeConfig,
    query: &MergeQuery,
) -> Result<MergeReply, Error> {
    let providers = u32::try_from(config.providers.len()).unwrap_or(u32::MAX);
    let calls = providers.saturating_mul(config.retries.saturating_add(1));
    let task: MergeTask = client.post(api::MERGE, &MergeQuery { calls, ..query.clone() })?;
    let mut asker = Asker::new(config, task.calls).map_err(|it| Error::failed(it.to_string()))?;
    let answer = asker.ask(&prompt(&pretty(&task.state), &task.text));
    let end = MergeParams {
        project: query.project.clone(),
        topic: query.topic.clone(),
        notes: task.notes.clone(),
        state: None,
        calls_left: task.calls - asker.calls(),
    };
    match answer {
        Ok(answer) => {
            let state = Some(of_task(answer.state, &task.state));
            client.post(api::MERGE_END, &MergeParams { state, ..end })
        }
        Err(error) => {
            let _: MergeReply = client.post(api::MERGE_END, &end)?;
            Err(Error::failed(error.to_string())
                .with_action("The text stays appended to the brief, as it was."))
        }
    }
}

/// Returns a model's state with what the brief says of itself. A model may have changed or left out
/// its version, which says what the state was made from.
fn of_task(mut state: Value, task: &Value) -> Value {
    if let (Some(state), Some(meta)) = (state.as_object_mut(), task.get("meta")) {
        state.insert("meta".to_owned(), meta.clone());
        // Only an agent may ask for that.
        state.remove("replaces");
    }
    state
}

fn pretty(state: &Value) -> String {
    serde_json::to_string_pretty(state).unwrap_or_default()
}
