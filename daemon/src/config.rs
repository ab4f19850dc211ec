//! What the user has set, in `config.toml` in the configuration directory; without it, the defaults.
//!
//! A key or a value that is not known is an error that names it and what is allowed: a typing error
//! must not look like a setting.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_memory::Settings;
use anchord_memory::limits::{BUDGET_TOKENS_MAX, BUDGET_TOKENS_MIN, LOAD_TOKENS_MIN};
use toml::{Table, Value};

use crate::limits::{CONFIG_FILE_BYTES_MAX, SESSION_GRACE, SESSION_GRACE_SECONDS_MAX};

/// The file's name in the configuration directory.
pub const CONFIG_FILE: &str = "config.toml";

/// The environment variable that overrides `[http]`: `off` or a port.
pub const HTTP_VARIABLE: &str = "ANCHORD_HTTP";

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The status port.
    pub http: HttpConfig,
    /// Sessions.
    pub sessions: SessionsConfig,
    /// Memory, where a project has set nothing else.
    pub memory: Settings,
    /// What sessions keep for themselves, where nothing else is set.
    pub session_memory: Settings,
}

/// How sessions end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsConfig {
    /// How long a session whose connection and process are gone may come back before its staged work is
    /// folded into memory.
    pub grace: Duration,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self { grace: SESSION_GRACE }
    }
}

/// The status port on 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// Whether there is one.
    pub enabled: bool,
    /// Which; 0 for any that is free.
    pub port: u16,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { enabled: true, port: 7717 }
    }
}

/// The configuration is not usable.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("read {}: line {line}: {message}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// There is no such key.
    #[error("use {}: unknown key `{key}`; allowed: {allowed}", file.display())]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The key, with its table.
        key: String,
        /// The keys that there are.
        allowed: &'static str,
    },
    /// The key cannot have this value.
    #[error("use {origin}: `{key}` is {value}; allowed: {allowed}")]
    BadValue {
        /// The file or the environment variable.
        origin: String,
        /// The key, with its table.
        key: String,
        /// The value found.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
}

impl Config {
    /// Reads the configuration in `directory`; `http` is the value of [`HTTP_VARIABLE`].
    pub fn load(directory: &Path, http: Option<&str>) -> Result<Self, ConfigError> {
        let file = directory.join(CONFIG_FILE);
        let mut config = match read(&file) {
            Ok(text) => Self::parse(&file, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(source) => return Err(ConfigError::Io { file, source }),
        };
        if let Some(value) = http {
            config.http.override_with(value)?;
        }
        Ok(config)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, ConfigError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
            file: file.to_owned(),
            line: error
                .span()
                .map_or(1, |at| text.bytes().take(at.start).filter(|b| *b == b'\n').count() + 1),
            message: error.message().to_owned(),
        })?;
        let unknown =
            |key: String, allowed| ConfigError::UnknownKey { file: file.to_owned(), key, allowed };
        let bad = |key: &str, value: &Value, allowed| ConfigError::BadValue {
            origin: file.display().to_string(),
            key: key.to_owned(),
            value: shown(value),
            allowed,
        };
        let mut config = Self::default();
        for (name, value) in &table {
            let settings = match (name.as_str(), value) {
                (
                    "http" | "sessions" | "memory" | "session_memory" | "hooks",
                    Value::Table(settings),
                ) => settings,
                ("http", value) => return Err(bad("http", value, "a table, [http]")),
                ("sessions", value) => return Err(bad("sessions", value, "a table, [sessions]")),
                ("memory", value) => return Err(bad("memory", value, "a table, [memory]")),
                ("session_memory", value) => {
                    return Err(bad("session_memory", value, "a table, [session_memory]"));
                }
                ("hooks", value) => return Err(bad("hooks", value, "a table, [hooks]")),
                _ => {
                    let allowed = "[http], [sessions], [memory], [session_memory], [hooks]";
                    return Err(unknown(name.clone(), allowed));
                }
            };
            for (key, value) in settings {
                match (name.as_str(), key.as_str(), value) {
                    ("http", "enabled", Value::Boolean(enabled)) => config.http.enabled = *enabled,
                    ("http", "enabled", value) => {
                        return Err(bad("http.enabled", value, "true, false"));
                    }
                    ("http", "port", value) => {
                        let port = value.as_integer().and_then(|port| u16::try_from(port).ok());
                        config.http.port = port.ok_or_else(|| bad("http.port", value, PORTS))?;
                    }
                    ("sessions", "grace_seconds", value) => {
                        let seconds = value.as_integer().and_then(|s| u64::try_from(s).ok());
                        let seconds =
                            seconds.filter(|s| (1..=SESSION_GRACE_SECONDS_MAX).contains(s));
                        let seconds =
                            seconds.ok_or_else(|| bad("sessions.grace_seconds", value, GRACES))?;
                        config.sessions.grace = Duration::from_secs(seconds);
                    }
                    ("memory" | "session_memory", key, value) => {
                        let settings = match name.as_str() {
                            "memory" => &mut config.memory,
                            _ => &mut config.session_memory,
                        };
                        let full = format!("{name}.{key}");
                        set_memory(settings, key, value).map_err(|wrong| match wrong {
                            Wrong::Key => unknown(full, MEMORY_KEYS),
                            Wrong::Value(allowed) => bad(&full, value, allowed),
                        })?;
                    }
                    ("hooks", key, value) => {
                        let full = format!("hooks.{key}");
                        set_hooks(&mut config.memory, key, value).map_err(|wrong| match wrong {
                            Wrong::Key => unknown(full, HOOKS_KEYS),
                            Wrong::Value(allowed) => bad(&full, value, allowed),
                        })?;
                    }
                    ("http", ..) => {
                        return Err(unknown(format!("http.{key}"), "http.enabled, http.port"));
                    }
                    _ => return Err(unknown(format!("{name}.{key}"), "sessions.grace_seconds")),
                }
            }
        }
        Ok(config)
    }
}

impl HttpConfig {
    fn override_with(&mut self, value: &str) -> Result<(), ConfigError> {
        if value == "off" {
            self.enabled = false;
            return Ok(());
        }
        self.port = value.parse().map_err(|_| ConfigError::BadValue {
            origin: "the environment".to_owned(),
            key: HTTP_VARIABLE.to_owned(),
            value: format!("`{value}`"),
            allowed: "off, or a port from 0 to 65535, 0 for any that is free",
        })?;
        self.enabled = true;
        Ok(())
    }
}

/// What is wrong with a setting.
enum Wrong {
    /// There is none of this name.
    Key,
    /// It may be this instead.
    Value(&'static str),
}

const MEMORY_KEYS: &str =
    "budget_tokens, load_tokens, auto_compact, compact_above, compact_to, half_life_factor";

/// Sets one key of `[memory]` or `[session_memory]`.
fn set_memory(settings: &mut Settings, key: &str, value: &Value) -> Result<(), Wrong> {
    let number = |min: u32, max: u32, allowed| {
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        number.filter(|number| (min..=max).contains(number)).ok_or(Wrong::Value(allowed))
    };
    let percent = |min: u32| {
        let percent = number(min, 100, "a whole number of percent, to 100")?;
        Ok(u8::try_from(percent).unwrap_or(100))
    };
    let budget = "a whole number of tokens from 1000 to 100000000";
    match key {
        "budget_tokens" => {
            let tokens = number(BUDGET_TOKENS_MIN, BUDGET_TOKENS_MAX, budget)?;
            settings.budget_tokens = Some(tokens);
        }
        "load_tokens" => {
            let allowed = "a whole number of tokens from 600 on";
            settings.load_tokens = Some(number(LOAD_TOKENS_MIN, BUDGET_TOKENS_MAX, allowed)?);
        }
        "auto_compact" => {
            settings.auto_compact = Some(value.as_bool().ok_or(Wrong::Value("true, false"))?);
        }
        "half_life_factor" => {
            let factor = number(1, 10_000, "a whole number from 1 to 10000")?;
            settings.half_life_factor = Some(factor);
        }
        "compact_above" => settings.compact_above = Some(percent(10)?),
        "compact_to" => settings.compact_to = Some(percent(1)?),
        _ => return Err(Wrong::Key),
    }
    Ok(())
}

const HOOKS_KEYS: &str = "prompt_recall, subagent_skip";

/// Sets one key of `[hooks]`, which holds in every project that has set nothing else.
fn set_hooks(settings: &mut Settings, key: &str, value: &Value) -> Result<(), Wrong> {
    match key {
        "prompt_recall" => {
            settings.prompt_recall = Some(value.as_bool().ok_or(Wrong::Value("true, false"))?);
        }
        "subagent_skip" => {
            let types = value.as_array().and_then(|types| {
                types.iter().map(|name| name.as_str().map(str::to_owned)).collect()
            });
            let types = types.ok_or(Wrong::Value("a list of texts"))?;
            settings.subagent_skip = Some(types);
        }
        _ => return Err(Wrong::Key),
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

const GRACES: &str = "a whole number of seconds from 1 to 3600";

const PORTS: &str = "a whole number from 0 to 65535, 0 for any that is free";

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(CONFIG_FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_FILE_BYTES_MAX {
        return Err(io::Error::other(format!("longer than {CONFIG_FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
