//! `[merge]`: the model providers that merge free text into the project brief. Without it, none is
//! called. The daemon reads it to know whether there are any, and how many calls a day are allowed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Value;

use crate::limits::{
    MERGE_CALLS_DAILY_MAX, MERGE_PROVIDERS_MAX, MERGE_RETRIES_MAX, MERGE_TIME_SECONDS_MAX,
};

/// The providers, and how they are called.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeConfig {
    /// The providers in the order in which they are tried; none if merging is off.
    pub providers: Vec<ProviderConfig>,
    /// The sampling temperature, from 0 to 2.
    pub temperature: f64,
    /// The time for one call.
    pub time_limit: Duration,
    /// Repeated calls of one provider after a failure that may pass.
    pub retries: u32,
    /// Calls that are made on one day, UTC, for all projects together.
    pub calls_per_day: u32,
}

impl Default for MergeConfig {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            temperature: 0.3,
            time_limit: Duration::from_mins(1),
            retries: 2,
            calls_per_day: 50,
        }
    }
}

/// One provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The name that the configuration gives it.
    pub name: String,
    /// The API that it speaks.
    pub api: Api,
    /// The address of the API, without the path of a call.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The source of the key.
    pub key: KeySource,
}

/// The APIs that can be spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Google's Gemini.
    Gemini,
    /// Anthropic's messages.
    Anthropic,
    /// The chat completions of `OpenAI`, which other services and local models speak too.
    OpenAi,
}

impl Api {
    const ALL: [Self; 3] = [Self::Gemini, Self::Anthropic, Self::OpenAi];

    /// Returns the name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Returns the address of the company that made the API.
    fn url(self) -> &'static str {
        match self {
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}

/// The source of a key. An agent's environment never is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The provider needs no key, as a local model.
    None,
    /// A file that only its owner can read.
    File(PathBuf),
    /// A command that prints it, such as `pass show gemini`. No shell runs it.
    Command(String),
}

/// The table as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [merge]")]
pub(super) struct MergeTable {
    order: Vec<String>,
    temperature: Option<Value>,
    time_limit_seconds: Option<Value>,
    retries: Option<Value>,
    calls_per_day: Option<Value>,
    provider: BTreeMap<String, ProviderTable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [merge.provider.NAME]")]
struct ProviderTable {
    api: Option<String>,
    url: Option<String>,
    model: Option<String>,
    key_file: Option<String>,
    key_command: Option<String>,
}

/// A setting that cannot have its value.
pub(super) struct Unfit {
    /// The key, with its table.
    pub(super) key: String,
    /// The value as written.
    pub(super) value: String,
    /// The allowed values.
    pub(super) allowed: String,
}

impl MergeTable {
    /// Returns the settings. The path of a key file may be relative to `directory`.
    pub(super) fn config(self, directory: &Path) -> Result<MergeConfig, Unfit> {
        let default = MergeConfig::default();
        let number = |key: &str, value: Option<&Value>, default: u32, (least, most): (u32, u32)| {
            let Some(value) = value else { return Ok(default) };
            let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
            number.filter(|number| (least..=most).contains(number)).ok_or_else(|| Unfit {
                key: format!("merge.{key}"),
                value: super::shown(value),
                allowed: format!("a whole number from {least} to {most}"),
            })
        };
        let seconds = number(
            "time_limit_seconds",
            self.time_limit_seconds.as_ref(),
            u32::try_from(default.time_limit.as_secs()).unwrap_or(u32::MAX),
            (1, MERGE_TIME_SECONDS_MAX),
        )?;
        let temperature = match &self.temperature {
            None => default.temperature,
            Some(value) => temperature(value)?,
        };
        let retries =
            number("retries", self.retries.as_ref(), default.retries, (0, MERGE_RETRIES_MAX))?;
        let calls = number(
            "calls_per_day",
            self.calls_per_day.as_ref(),
            default.calls_per_day,
            (0, MERGE_CALLS_DAILY_MAX),
        )?;
        Ok(MergeConfig {
            providers: self.providers(directory)?,
            temperature,
            time_limit: Duration::from_secs(u64::from(seconds)),
            retries,
            calls_per_day: calls,
        })
    }

    /// Returns the providers in their order. A provider that `order` does not name is described but
    /// not called.
    fn providers(mut self, directory: &Path) -> Result<Vec<ProviderConfig>, Unfit> {
        let order = |allowed: String| Unfit {
            key: "merge.order".to_owned(),
            value: format!("{:?}", self.order),
            allowed,
        };
        if self.order.len() > MERGE_PROVIDERS_MAX {
            return Err(order(format!("at most {MERGE_PROVIDERS_MAX} names")));
        }
        let twice = |(at, name): (usize, &String)| self.order.iter().take(at).any(|it| it == name);
        if self.order.iter().enumerate().any(twice) {
            return Err(order("each name once".to_owned()));
        }
        let mut providers = Vec::new();
        for name in &self.order {
            let Some(table) = self.provider.remove(name) else {
                return Err(order(format!(
                    "names of providers that are described; add a table [merge.provider.{name}]"
                )));
            };
            providers.push(table.config(name, directory)?);
        }
        Ok(providers)
    }
}

fn temperature(value: &Value) -> Result<f64, Unfit> {
    let number = match value {
        Value::Float(number) => Some(*number),
        // Any integer beyond the range is refused, so the precision does not matter.
        Value::Integer(number) => i32::try_from(*number).ok().map(f64::from),
        _ => None,
    };
    number.filter(|number| (0.0..=2.0).contains(number)).ok_or_else(|| Unfit {
        key: "merge.temperature".to_owned(),
        value: super::shown(value),
        allowed: "a number from 0 to 2".to_owned(),
    })
}

impl ProviderTable {
    fn config(self, name: &str, directory: &Path) -> Result<ProviderConfig, Unfit> {
        let unfit = |key: &str, value: Option<&str>, allowed: &str| Unfit {
            key: format!("merge.provider.{name}.{key}"),
            value: value.map_or_else(|| "missing".to_owned(), |value| format!("{value:?}")),
            allowed: allowed.to_owned(),
        };
        let named = self.api.as_deref().unwrap_or(name);
        let api = Api::ALL.into_iter().find(|api| api.name() == named).ok_or_else(|| {
            unfit("api", self.api.as_deref(), "`gemini`, `anthropic` or `openai`")
        })?;
        let model = self.model.filter(|model| is_model(model)).ok_or_else(|| {
            unfit("model", None, "the name of a model, of letters, digits and -_./:")
        })?;
        let url = self.url.unwrap_or_else(|| api.url().to_owned());
        if !is_safe(&url) {
            return Err(unfit(
                "url",
                Some(&url),
                "an address that begins with https://, or with http:// on this machine",
            ));
        }
        let key = match (self.key_file, self.key_command) {
            (None, None) => KeySource::None,
            (Some(file), None) => KeySource::File(directory.join(file)),
            (None, Some(command)) => KeySource::Command(command),
            (Some(file), Some(_)) => {
                return Err(unfit("key_file", Some(&file), "either key_file or key_command"));
            }
        };
        Ok(ProviderConfig { name: name.to_owned(), api, url, model, key })
    }
}

/// Returns whether a text can be a model's name. It becomes part of a path.
fn is_model(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    !name.is_empty() && name.len() <= 200 && name.chars().all(fits) && !name.contains("..")
}

/// Returns whether a key may be sent to an address: over TLS, or to this machine alone.
fn is_safe(url: &str) -> bool {
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    if let Some(rest) = url.strip_prefix("https://") {
        return !rest.is_empty();
    }
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A user name before `@` could pass for the host.
    let host = match authority.strip_prefix("[::1]") {
        Some(port) => return port.is_empty() || port.starts_with(':'),
        None => authority.split(':').next().unwrap_or_default(),
    };
    !authority.contains('@') && ["127.0.0.1", "localhost"].contains(&host)
}

#[cfg(test)]
mod tests;
