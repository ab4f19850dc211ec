//! The address of a database, and the protection that a connection to it needs.
//!
//! An address never contains a password: it is shown in logs and stands in argument lists.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use tokio_postgres::config::{Config, Host, SslMode, TargetSessionAttrs};

/// The way to a database, parsed from `postgres://user@host:port/database?sslmode=…`.
///
/// Several hosts, separated by commas, are tried in order until one is a primary. Besides the
/// parameters of `tokio-postgres`, `sslrootcert` names a file of certificate authorities.
#[derive(Clone)]
pub struct Address {
    text: String,
    config: Config,
    hosts: Vec<Target>,
    root_certificates: Option<PathBuf>,
}

/// One host of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) protection: Protection,
}

/// The protection of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// TLS with a verified certificate.
    Verified,
    /// TLS if the server has a certificate that verifies, else none. Only on this machine.
    Preferred,
    /// None. Only on this machine.
    Plain,
}

/// A URL that is not a safe address. No message repeats the URL, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has another form, or a parameter is unknown.
    #[error("read the address: {0}; write it as postgres://user@host:port/database")]
    Form(String),
    /// It contains a password.
    #[error("use an address with a password in it: name a password file or command instead")]
    Password,
    /// It asks for a connection without TLS to another machine.
    #[error("use sslmode=disable for another machine: leave sslmode out")]
    Plain,
}

impl Address {
    /// Parses a URL. Refuses one that contains a password, and `sslmode=disable` for a host that
    /// is neither a loopback address nor the path of a Unix socket.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|form| url.strip_prefix(form));
        let rest = rest.ok_or_else(|| form("it is no postgres URL"))?;
        if rest.split_once('@').is_some_and(|(user, _)| user.contains(':')) {
            return Err(AddressError::Password);
        }
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let mut others = Vec::new();
        let mut mode = "prefer";
        let mut root_certificates = None;
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "sslmode" => mode = value,
                "sslrootcert" => root_certificates = Some(PathBuf::from(decoded(value)?)),
                "password" | "passfile" | "sslpassword" => return Err(AddressError::Password),
                "hostaddr" => return Err(form("hostaddr is not supported; name the host")),
                _ => others.push(parameter),
            }
        }
        let query =
            if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        let mut config: Config = format!("postgres://{place}{query}")
            .parse()
            .map_err(|error: tokio_postgres::Error| form(&crate::error::chain(&error)))?;
        if config.get_password().is_some() {
            return Err(AddressError::Password);
        }
        if config.get_application_name().is_none() {
            config.application_name("anchord");
        }
        // This crate checks by itself whether a server is a primary.
        config.target_session_attrs(TargetSessionAttrs::Any);
        let hosts = targets(&config, mode)?;
        Ok(Self { text: url.to_owned(), config, hosts, root_certificates })
    }

    /// Returns the address as text. It never contains a password.
    pub fn without_secrets(&self) -> String {
        self.text.clone()
    }

    /// Returns the hosts, in the order in which they are tried.
    pub(crate) fn hosts(&self) -> &[Target] {
        &self.hosts
    }

    /// Returns the configuration of a connection to one host, without a password.
    pub(crate) fn config(&self, target: &Target) -> Config {
        let mut config = Config::new();
        match &target.host {
            Host::Tcp(host) => config.host(host),
            Host::Unix(path) => config.host_path(path),
        };
        config.port(target.port).channel_binding(self.config.get_channel_binding());
        if let Some(user) = self.config.get_user() {
            config.user(user);
        }
        if let Some(database) = self.config.get_dbname() {
            config.dbname(database);
        }
        if let Some(options) = self.config.get_options() {
            config.options(options);
        }
        if let Some(name) = self.config.get_application_name() {
            config.application_name(name);
        }
        config.ssl_mode(match target.protection {
            Protection::Verified => SslMode::Require,
            Protection::Preferred => SslMode::Prefer,
            Protection::Plain => SslMode::Disable,
        });
        config
    }

    pub(crate) fn root_certificates(&self) -> Option<&Path> {
        self.root_certificates.as_deref()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Address({})", self.text)
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Address {}

fn targets(config: &Config, mode: &str) -> Result<Vec<Target>, AddressError> {
    let hosts = config.get_hosts();
    if hosts.is_empty() {
        return Err(form("it names no host"));
    }
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let target = |(at, host): (usize, &Host)| {
        let protection = protection(host, mode)?;
        Ok(Target { host: host.clone(), port: port(at), protection })
    };
    hosts.iter().enumerate().map(target).collect()
}

fn protection(host: &Host, mode: &str) -> Result<Protection, AddressError> {
    let (is_local, is_socket) = match host {
        Host::Tcp(name) => (is_loopback(name), false),
        Host::Unix(_) => (true, true),
    };
    match mode {
        "disable" if is_local => Ok(Protection::Plain),
        "disable" => Err(AddressError::Plain),
        // Postgres has no TLS on Unix sockets; libpq ignores the mode there too.
        "prefer" | "require" | "verify-ca" | "verify-full" if is_socket => Ok(Protection::Plain),
        "prefer" if is_local => Ok(Protection::Preferred),
        "prefer" | "require" | "verify-ca" | "verify-full" => Ok(Protection::Verified),
        _ => Err(form("sslmode is disable, prefer, require or verify-full")),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Decodes `%2F` and the like.
fn decoded(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let escape = if byte == b'%' { Some((rest.next(), rest.next())) } else { None };
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let decoded = match escape {
            None => Some(u32::from(byte)),
            Some((high, low)) => digit(high).zip(digit(low)).map(|(high, low)| high * 16 + low),
        };
        let byte = decoded.and_then(|code| u8::try_from(code).ok());
        bytes.push(byte.ok_or_else(|| form("a % in it begins no code"))?);
    }
    String::from_utf8(bytes).map_err(|_| form("it is not UTF-8"))
}

fn form(what: &str) -> AddressError {
    AddressError::Form(what.to_owned())
}

#[cfg(test)]
mod tests;
