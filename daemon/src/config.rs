//! The user's settings, in `config.toml` in the configuration directory; without it, the defaults.
//!
//! An unknown key or value is an error that names it and what is allowed: a typing error must not
//! look like a setting. A daemon runs all the same, on the defaults, and reports the error.

mod lines;
mod merge;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anchord_memory::Settings;
use serde::Deserialize;
use toml::{Spanned, Table, Value};

use crate::limits::{
    ADDITIONAL_ROOTS_MAX, CONFIG_FILE_BYTES_MAX, SESSION_GRACE, SESSION_GRACE_SECONDS_MAX,
};
use crate::spelling;

pub use merge::{Api, KeySource, MergeConfig, ProviderConfig};

/// The file's name in the configuration directory.
pub const CONFIG_FILE: &str = "config.toml";

/// The environment variable that overrides `[http]`: `off`, a port, or an address with a port.
pub const HTTP_VARIABLE: &str = "ANCHORD_HTTP";

/// All settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Settings of the status port.
    pub http: HttpConfig,
    /// Settings of sessions.
    pub sessions: SessionsConfig,
    /// Memory settings for projects that have no setting of their own.
    pub memory: Settings,
    /// Settings for sessions' private notes, if nothing nearer is set.
    pub session_memory: Settings,
    /// Settings of topics.
    pub topics: TopicsConfig,
    /// Settings for users of zipmem.
    pub zipmem: ZipmemConfig,
    /// The model providers that merge free text.
    pub merge: MergeConfig,
    /// Settings of files.
    pub files: FilesConfig,
    /// The reasons why the file or [`HTTP_VARIABLE`] is ignored, as fragments after "cannot".
    pub ignored: Vec<String>,
}

/// Settings of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesConfig {
    /// Directories that may be outlined from every project, besides its own.
    pub additional_roots: Vec<PathBuf>,
}

/// Settings for users of zipmem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZipmemConfig {
    /// Whether zipmem's tools also write zipmem's files. Nothing reads them back.
    pub mirror: bool,
}

/// Settings of topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicsConfig {
    /// Whether each topic is mirrored as a Markdown file in its project.
    pub markdown: bool,
}

/// Settings for the end of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsConfig {
    /// The time in which a session may come back once its connection and process are gone. After
    /// that its staged work is folded into memory.
    pub grace: Duration,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self { grace: SESSION_GRACE }
    }
}

/// Settings of the status port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// Whether there is a status port.
    pub enabled: bool,
    /// The address. Only the environment can name an address other than 127.0.0.1.
    pub address: IpAddr,
    /// The port; 0 for any free one.
    pub port: u16,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { enabled: true, address: Ipv4Addr::LOCALHOST.into(), port: 7717 }
    }
}

/// An unusable configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file has a key that means nothing.
    #[error("use {}: line {line}: unknown key {key}; {}", file.display(), meant(key, known))]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// The keys that may be there.
        known: Vec<String>,
    },
    /// The file is not TOML, or has a value of the wrong type.
    #[error("use {}: line {line}, `{text}`: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The line's text.
        text: String,
        /// The problem, with the allowed values.
        message: String,
    },
    /// The key cannot have this value.
    #[error("use {origin}: `{key}` is {value}; allowed: {allowed}")]
    BadValue {
        /// The file with the line, or the environment.
        origin: String,
        /// The key, with its table.
        key: String,
        /// The value found.
        value: String,
        /// The allowed values.
        allowed: String,
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

    /// Reads the configuration for a daemon, which runs whatever was typed. Defaults apply in place
    /// of a file that cannot be used; [`Config::ignored`] has the reason.
    pub fn load_or_default(directory: &Path, http: Option<&str>) -> Self {
        let mut ignored = Vec::new();
        let mut config = Self::load(directory, None).unwrap_or_else(|error| {
            ignored.push(error.to_string());
            Self::default()
        });
        if let Some(Err(error)) = http.map(|value| config.http.override_with(value)) {
            ignored.push(error.to_string());
        }
        config.ignored = ignored;
        config
    }

    fn parse(file: &Path, text: &str) -> Result<Self, ConfigError> {
        no_lists(file, text)?;
        let parsed: ConfigFile =
            toml::from_str(text).map_err(|error| wrong_line(file, text, &error))?;
        let mut config = Self::default();
        let bad = |key: String, value: &Value, allowed: String| {
            let origin = origin(file, text, &key);
            ConfigError::BadValue { origin, key, value: shown(value), allowed }
        };
        config.http.enabled = parsed.http.enabled.unwrap_or(config.http.enabled);
        if let Some(value) = &parsed.http.port {
            let port = value.as_integer().and_then(|port| u16::try_from(port).ok());
            let bad = || bad("http.port".to_owned(), value, PORTS.to_owned());
            config.http.port = port.ok_or_else(bad)?;
        }
        if let Some(value) = &parsed.sessions.grace_seconds {
            let seconds = value.as_integer().and_then(|seconds| u64::try_from(seconds).ok());
            let seconds = seconds.filter(|s| (1..=SESSION_GRACE_SECONDS_MAX).contains(s));
            let allowed =
                || format!("a whole number of seconds from 1 to {SESSION_GRACE_SECONDS_MAX}");
            let bad = || bad("sessions.grace_seconds".to_owned(), value, allowed());
            config.sessions.grace = Duration::from_secs(seconds.ok_or_else(bad)?);
        }
        config.zipmem.mirror = parsed.zipmem.mirror.unwrap_or_default();
        if let Some(value) = &parsed.files.additional_roots {
            let roots = additional_roots(value);
            let allowed = || {
                format!(
                    "at most {ADDITIONAL_ROOTS_MAX} directories, as absolute paths or with `~/`"
                )
            };
            let bad = || bad("files.additional_roots".to_owned(), value, allowed());
            config.files.additional_roots = roots.ok_or_else(bad)?;
        }
        config.topics.markdown = parsed.topics.markdown.unwrap_or_default();
        config.memory = parsed.memory.settings();
        config.session_memory = parsed.session_memory.settings();
        let hooks = Settings {
            prompt_recall: parsed.hooks.prompt_recall,
            subagent_skip: parsed.hooks.subagent_skip,
            ..Settings::default()
        };
        for (table, settings) in [
            ("memory", &config.memory),
            ("session_memory", &config.session_memory),
            ("hooks", &hooks),
        ] {
            check(file, text, table, settings)?;
        }
        config.memory = config.memory.or(&hooks);
        let directory = file.parent().unwrap_or(file);
        config.merge = parsed.merge.config(directory).map_err(|unfit| {
            let merge::Unfit { key, value, allowed } = unfit;
            let origin = origin(file, text, &key);
            ConfigError::BadValue { origin, key, value, allowed }
        })?;
        Ok(config)
    }
}

/// Checks the settings of a table.
fn check(file: &Path, text: &str, table: &str, settings: &Settings) -> Result<(), ConfigError> {
    settings.check().map_err(|unfit| {
        let key = format!("{table}.{}", unfit.field);
        let origin = origin(file, text, &key);
        let value = written(text, table, unfit.field).unwrap_or(unfit.value);
        ConfigError::BadValue { origin, key, value, allowed: unfit.allowed }
    })
}

/// The file as it is written. A number may be any value at first, so that the error for one of
/// another type can name what is allowed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConfigFile {
    http: HttpTable,
    sessions: SessionsTable,
    memory: MemoryTable,
    session_memory: MemoryTable,
    hooks: HooksTable,
    topics: TopicsTable,
    zipmem: ZipmemTable,
    files: FilesTable,
    merge: merge::MergeTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [http]")]
struct HttpTable {
    enabled: Option<bool>,
    port: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [sessions]")]
struct SessionsTable {
    grace_seconds: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [memory] or [session_memory]")]
struct MemoryTable {
    budget_tokens: Option<Value>,
    load_tokens: Option<Value>,
    auto_compact: Option<bool>,
    compact_above: Option<Value>,
    compact_to: Option<Value>,
    half_life_factor: Option<Value>,
}

/// Settings of hooks for projects that have none of their own.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [hooks]")]
struct HooksTable {
    prompt_recall: Option<bool>,
    subagent_skip: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [zipmem]")]
struct ZipmemTable {
    mirror: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [topics]")]
struct TopicsTable {
    markdown: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, [files]")]
struct FilesTable {
    additional_roots: Option<Value>,
}

/// Reads a list of directories. `None` if it is not one.
fn additional_roots(value: &Value) -> Option<Vec<PathBuf>> {
    let root = |value: &Value| {
        let text = value.as_str()?;
        let path = match text.strip_prefix("~/") {
            Some(rest) => std::env::home_dir()?.join(rest),
            None => PathBuf::from(text),
        };
        path.is_absolute().then_some(path)
    };
    let values = value.as_array().filter(|values| values.len() <= ADDITIONAL_ROOTS_MAX)?;
    values.iter().map(root).collect()
}

impl MemoryTable {
    /// Returns the settings, not yet checked. A value that is not a number becomes 0, and one that
    /// is too large becomes the largest number. No setting allows either.
    fn settings(&self) -> Settings {
        let number = |value: Option<&Value>| {
            let number = value?.as_integer().unwrap_or(0).max(0);
            Some(u32::try_from(number).unwrap_or(u32::MAX))
        };
        let percent = |value: Option<&Value>| {
            number(value).map(|number| u8::try_from(number).unwrap_or(u8::MAX))
        };
        Settings {
            budget_tokens: number(self.budget_tokens.as_ref()),
            load_tokens: number(self.load_tokens.as_ref()),
            auto_compact: self.auto_compact,
            compact_above: percent(self.compact_above.as_ref()),
            compact_to: percent(self.compact_to.as_ref()),
            half_life_factor: number(self.half_life_factor.as_ref()),
            ..Settings::default()
        }
    }
}

/// Refuses a list in the place of a table, including `[[memory]]`. serde would take its items for
/// the table's settings, in the order of declaration.
fn no_lists(file: &Path, text: &str) -> Result<(), ConfigError> {
    let parsed: BTreeMap<String, Spanned<Value>> =
        toml::from_str(text).map_err(|error| wrong_line(file, text, &error))?;
    match parsed.iter().find(|(_, value)| value.get_ref().is_array()) {
        None => Ok(()),
        Some((name, value)) => {
            let message = format!("invalid type: sequence, expected a table, [{name}]");
            Err(line_at(file, text, value.span().start, message))
        }
    }
}

/// Locates a parser's error in the file.
fn wrong_line(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |at| at.start);
    match unknown_key(error.message()) {
        Some((key, known)) => {
            let line = line_of(text, start) + 1;
            ConfigError::UnknownKey { file: file.to_owned(), line, key, known }
        }
        None => line_at(file, text, start, error.message().to_owned()),
    }
}

/// Takes an unknown key and the known ones out of serde's message, which alone has them: "unknown
/// field `a`, expected one of `b`, `c`".
fn unknown_key(message: &str) -> Option<(String, Vec<String>)> {
    let mut names = message.strip_prefix("unknown field `")?.split('`').step_by(2);
    let key = names.next()?.to_owned();
    Some((key, names.filter(|name| !name.is_empty()).map(str::to_owned).collect()))
}

/// Words what an unknown key may have been meant to be.
fn meant(key: &str, known: &[String]) -> String {
    let tables = lines::tables_with(key);
    if !tables.is_empty() {
        return format!("it belongs in {}", tables.join(" or "));
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(near) = spelling::nearest(&known, key) {
        return format!("did you mean {near}?");
    }
    match lines::nearest_anywhere(key) {
        Some(near) => {
            format!("did you mean {near}, in {}?", lines::tables_with(&near).join(" or "))
        }
        None => format!("known here: {}", known.join(", ")),
    }
}

/// Names the file, and the line of a key in it.
fn origin(file: &Path, text: &str, key: &str) -> String {
    match lines::line(text, key) {
        Some(line) => format!("{}: line {line}", file.display()),
        None => file.display().to_string(),
    }
}

/// Returns the number of lines before this byte of the file.
fn line_of(text: &str, start: usize) -> usize {
    text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

/// Returns an error about the line that contains this byte of the file.
fn line_at(file: &Path, text: &str, start: usize, message: String) -> ConfigError {
    let before = line_of(text, start);
    ConfigError::Line {
        file: file.to_owned(),
        line: before + 1,
        text: text.lines().nth(before).unwrap_or_default().trim().to_owned(),
        message,
    }
}

/// Returns a value as the file has it, which may be of another type than the setting.
fn written(text: &str, table: &str, key: &str) -> Option<String> {
    let file: Table = text.parse().ok()?;
    Some(shown(file.get(table)?.get(key)?))
}

impl HttpConfig {
    fn override_with(&mut self, value: &str) -> Result<(), ConfigError> {
        if value == "off" {
            self.enabled = false;
            return Ok(());
        }
        let on_loopback = |port| SocketAddr::new(self.address, port);
        let parsed = value.parse().map(on_loopback).or_else(|_| value.parse());
        let at: SocketAddr = parsed.map_err(|_| ConfigError::BadValue {
            origin: "the environment".to_owned(),
            key: HTTP_VARIABLE.to_owned(),
            value: format!("`{value}`"),
            allowed: "off, or a port from 0 to 65535, 0 for any that is free, or an address with \
                      a port such as 0.0.0.0:7717"
                .to_owned(),
        })?;
        (self.enabled, self.address, self.port) = (true, at.ip(), at.port());
        Ok(())
    }
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
