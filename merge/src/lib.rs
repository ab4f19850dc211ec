//! Asks a model provider to merge a text into the project brief.
//!
//! The daemon calls no provider and does not link this crate. The process `anchord merge` does, if
//! `config.toml` names providers. It sends the brief and one text, from which secrets were removed
//! before they were stored and again before they get here. The answer is only a proposal: the
//! daemon checks it against the brief before it commits anything.
//!
//! Providers are tried in the configured order. A busy or silent one is called again, with growing
//! pauses; one that refuses is not. What a model writes is not trusted to be JSON.

mod api;
pub mod key;
mod limits;
mod prompt;

use std::io::Read;
use std::time::Duration;

use anchord_daemon::config::{MergeConfig, ProviderConfig};
use reqwest::blocking::Client;
use serde_json::Value;

pub use key::KeyError;
pub use prompt::{Prompt, prompt};

use crate::limits::{ERROR_CHARS_MAX, PAUSE_MAX, PAUSE_MIN, REPLY_BYTES_MAX};

/// An answer that is a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The object.
    pub state: Value,
    /// The name of the provider that gave it.
    pub provider: String,
}

/// A failed call of one provider.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no key to call it with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It refused: a wrong key, an unknown model, a malformed request.
    #[error("it refused with {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its own words.
        message: String,
    },
    /// It is overloaded or has a fault of its own.
    #[error("it is busy or broken, {status}: {message}")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// Its own words.
        message: String,
        /// The pause that it asked for.
        pause: Option<Duration>,
    },
    /// It cannot be reached, or did not answer in time.
    #[error("it did not answer: {0}")]
    Silent(String),
    /// The reply or the model's text in it is not JSON.
    #[error("its answer is of no use: {0}")]
    Unusable(&'static str),
}

impl CallError {
    /// Returns whether the same call may succeed later.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Silent(_) | Self::Unusable(_))
    }

    fn pause(&self) -> Option<Duration> {
        match self {
            Self::Busy { pause, .. } => *pause,
            _ => None,
        }
    }
}

/// No provider gave an answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The calls that are left for today are used up.
    #[error("no calls are left for today; {}", failures(.0))]
    NoCallsLeft(Vec<Failure>),
    /// Every provider failed.
    #[error("no provider gave an answer; {}", failures(.0))]
    AllFailed(Vec<Failure>),
    /// The HTTP client cannot be set up.
    #[error("set up HTTPS: {0}")]
    Client(String),
}

/// The failure of one provider.
#[derive(Debug)]
pub struct Failure {
    /// The provider's name.
    pub provider: String,
    /// Its last error.
    pub error: CallError,
}

fn failures(all: &[Failure]) -> String {
    let one = |failure: &Failure| format!("{}: {}", failure.provider, failure.error);
    let all: Vec<String> = all.iter().map(one).collect();
    if all.is_empty() { "none was called".to_owned() } else { all.join("; ") }
}

/// Calls providers with one configuration. It counts its calls.
#[derive(Debug)]
pub struct Asker<'a> {
    config: &'a MergeConfig,
    client: Client,
    calls_left: u32,
    calls: u32,
}

impl<'a> Asker<'a> {
    /// Creates one that makes at most `calls_left` calls.
    ///
    /// # Errors
    /// Fails if HTTPS cannot be set up.
    pub fn new(config: &'a MergeConfig, calls_left: u32) -> Result<Self, AskError> {
        // It is an error only if another provider was installed before, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(config.time_limit)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("anchord/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| AskError::Client(chain(&error)))?;
        Ok(Self { config, client, calls_left, calls: 0 })
    }

    /// Returns the number of calls made so far.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Asks the providers in their order until one gives a JSON object.
    ///
    /// # Errors
    /// Fails if none does, or if no calls are left. The error names the failure of each.
    pub fn ask(&mut self, prompt: &Prompt) -> Result<Answer, AskError> {
        let mut failed = Vec::new();
        for provider in &self.config.providers {
            match self.ask_one(provider, prompt) {
                Ok(state) => return Ok(Answer { state, provider: provider.name.clone() }),
                Err(Stop::NoCallsLeft(last)) => {
                    let name = provider.name.clone();
                    failed.extend(last.map(|error| Failure { provider: name, error }));
                    return Err(AskError::NoCallsLeft(failed));
                }
                Err(Stop::Failed(error)) => {
                    failed.push(Failure { provider: provider.name.clone(), error });
                }
            }
        }
        Err(AskError::AllFailed(failed))
    }

    /// Calls one provider, again after a failure that may pass.
    fn ask_one(&mut self, provider: &ProviderConfig, prompt: &Prompt) -> Result<Value, Stop> {
        let key = key::read(&provider.key).map_err(|error| Stop::Failed(error.into()))?;
        let mut last = None;
        for attempt in 0..=self.config.retries {
            if attempt > 0 {
                std::thread::sleep(pause(attempt, last.as_ref()));
            }
            if self.calls == self.calls_left {
                return Err(Stop::NoCallsLeft(last));
            }
            self.calls += 1;
            match self.call(provider, key.as_deref(), prompt) {
                Ok(state) => return Ok(state),
                Err(error) if error.may_pass() => last = Some(error),
                Err(error) => return Err(Stop::Failed(error)),
            }
        }
        Err(Stop::Failed(last.unwrap_or(CallError::Unusable("it was not called"))))
    }

    fn call(
        &self,
        provider: &ProviderConfig,
        key: Option<&str>,
        prompt: &Prompt,
    ) -> Result<Value, CallError> {
        let body = api::body(provider, self.config.temperature, prompt);
        let sent = api::request(&self.client, provider, key).json(&body).send();
        let reply = sent.map_err(|error| CallError::Silent(chain(&error.without_url())))?;
        let (status, pause) = (reply.status(), retry_after(&reply));
        let mut text = Vec::new();
        let read = reply.take(REPLY_BYTES_MAX + 1).read_to_end(&mut text);
        read.map_err(|error| CallError::Silent(chain(&error)))?;
        if text.len() as u64 > REPLY_BYTES_MAX {
            return Err(CallError::Unusable("it is larger than 2 MiB"));
        }
        let json: Option<Value> = serde_json::from_slice(&text).ok();
        if !status.is_success() {
            let said = json.as_ref().and_then(api::error_text).unwrap_or("it does not say why");
            let message = said.chars().take(ERROR_CHARS_MAX).collect();
            let status = status.as_u16();
            return Err(match status {
                408 | 425 | 429 | 500.. => CallError::Busy { status, message, pause },
                _ => CallError::Refused { status, message },
            });
        }
        let json = json.ok_or(CallError::Unusable("the reply is not JSON"))?;
        let found = api::text(provider.api, &json);
        let found = found.ok_or(CallError::Unusable("the reply has no text of a model"))?;
        if found.is_cut {
            return Err(CallError::Unusable("the model was cut off at its limit of tokens"));
        }
        object_in(&found.text).ok_or(CallError::Unusable("the model's text is not a JSON object"))
    }
}

/// The reason why a provider is not called further.
enum Stop {
    Failed(CallError),
    NoCallsLeft(Option<CallError>),
}

/// Returns the pause before a repeated call, from 1: what the provider asked for, or a time that
/// doubles.
fn pause(attempt: u32, last: Option<&CallError>) -> Duration {
    let doubled = PAUSE_MIN.saturating_mul(1 << (attempt - 1).min(10));
    last.and_then(CallError::pause).unwrap_or(doubled).min(PAUSE_MAX)
}

/// Reads `Retry-After` in seconds; a date is not read.
fn retry_after(reply: &reqwest::blocking::Response) -> Option<Duration> {
    let value = reply.headers().get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// Finds the JSON object in a model's text, which may be in a fence or have words around it.
fn object_in(text: &str) -> Option<Value> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    let json: Value = serde_json::from_str(text.get(from..=to)?).ok()?;
    json.is_object().then_some(json)
}

/// Joins an error and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
