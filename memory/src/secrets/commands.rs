//! Passwords in a command's options (`mysql -pSECRET`, `curl -u user:SECRET`) and in what is piped
//! into a command (`echo SECRET | sudo -S`).

use std::ops::Range;

use super::examples::is_placeholder;
use super::places::{SAID, clipped, open_quote, run};
use crate::limits::SECRET_VALUE_BYTES_MAX;

/// A command that takes a password.
#[derive(Debug)]
pub(super) struct Command {
    /// Its name, with the subcommand that takes a password.
    pub(super) name: &'static str,
    options: &'static [(&'static [&'static str], Form)],
}

/// The position of the password in an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Directly after the option, without a space.
    Attached,
    /// After a space or `=`.
    Spaced,
    /// With or without a space.
    Either,
    /// After a user name and this sign.
    User(char),
    /// After `pass:`.
    Pass,
    /// In the third word after the option.
    Third,
    /// In the next word; the option ends with the user name.
    Next,
}

use Form::{Attached, Either, Next, Pass, Spaced, Third, User};

const LOGIN: &[(&[&str], Form)] = &[(&["-p", "--password"], Spaced)];
const MYSQL: &[(&[&str], Form)] = &[(&["-p"], Attached)];
const LDAP: &[(&[&str], Form)] = &[(&["-w"], Spaced)];
const STORE: &[(&[&str], Form)] = &[(&["-storepass", "-keypass"], Spaced)];
const PUTTY: &[(&[&str], Form)] = &[(&["-pw"], Spaced)];
const SMB: &[(&[&str], Form)] = &[(&["-U", "--user"], User('%'))];

const fn command(
    name: &'static str,
    options: &'static [(&'static [&'static str], Form)],
) -> Command {
    Command { name, options }
}

/// The known commands.
pub(super) const COMMANDS: &[Command] = &[
    command("mysql", MYSQL),
    command("mariadb", MYSQL),
    command("curl", &[(&["-u", "--user", "-U", "--proxy-user"], User(':'))]),
    command("http", &[(&["-a", "--auth"], User(':'))]),
    command("sshpass", &[(&["-p"], Either)]),
    command("docker login", LOGIN),
    command("podman login", LOGIN),
    command("nerdctl login", LOGIN),
    command("buildah login", LOGIN),
    command("skopeo login", LOGIN),
    command("registry login", LOGIN),
    command("oc login", LOGIN),
    command("az login", LOGIN),
    command("cf login", LOGIN),
    command("mongosh", LOGIN),
    command("mongodump", LOGIN),
    command("mongorestore", LOGIN),
    command("redis-cli", &[(&["-a", "--pass"], Spaced)]),
    command("ldapsearch", LDAP),
    command("ldapmodify", LDAP),
    command("ldapadd", LDAP),
    command("ldapwhoami", LDAP),
    command("smbclient", SMB),
    command("rpcclient", SMB),
    command("unzip", &[(&["-P"], Either)]),
    command("zip", &[(&["-P"], Either)]),
    command("7z", &[(&["-p"], Attached)]),
    command("openssl", &[(&["-passin", "-passout", "-pass"], Pass), (&["-k"], Spaced)]),
    command("keytool", STORE),
    command("jarsigner", STORE),
    command("htpasswd", &[(&["-b", "-cb", "-bc", "-Bb", "-bB", "-bn", "-nb"], Third)]),
    command("net use", &[(&["/user:"], Next)]),
    command("xfreerdp", &[(&["/p:"], Attached)]),
    command("plink", PUTTY),
    command("pscp", PUTTY),
    command("lftp", &[(&["-u", "--user"], User(','))]),
    command("mosquitto_pub", &[(&["-P", "--pw"], Spaced)]),
    command("mosquitto_sub", &[(&["-P", "--pw"], Spaced)]),
];

/// Finds the password in the options of the command whose name is at `name`.
pub(super) fn password(text: &str, name: Range<usize>, command: &Command) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..name.start)?.last();
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
    {
        return None;
    }
    let rest = text.get(name.end..)?;
    // `mysqldump` is one of these commands; `MYSQL_HOST` and `curling` are not.
    let goes_on = |c: char| command.options == MYSQL && c.is_ascii_alphanumeric();
    if !rest.trim_start_matches(goes_on).starts_with([' ', '\t']) {
        return None;
    }
    let line = line(rest);
    let mut forms = command.options.iter();
    forms.find_map(|(names, form)| {
        let at = option(line, names, *form)?;
        value(text, name.end + at, *form)
    })
}

/// Finds the password in an option's value; the option ends at `at`.
fn value(text: &str, at: usize, form: Form) -> Option<Range<usize>> {
    let after = text.get(at..)?;
    let spaced = after.trim_start_matches([' ', '=']);
    let start = match form {
        Attached => at,
        Spaced | User(_) | Pass | Third if spaced.len() == after.len() => return None,
        Next => text.len() - word_after(after)?.len(),
        Third => text.len() - word_after(word_after(spaced)?)?.len(),
        _ => text.len() - spaced.len(),
    };
    let (start, quote) = open_quote(text, start);
    let rest = clipped(text.get(start..)?, SECRET_VALUE_BYTES_MAX);
    let value = match quote.and_then(|quote| rest.lines().next()?.split_once(quote)) {
        Some((value, _)) => value,
        None if matches!(form, User(',')) => rest.split_whitespace().next()?,
        None => run(rest, true),
    };
    let (start, value) = match form {
        User(sign) => {
            let (user, password) = value.split_once(sign)?;
            (start + user.len() + sign.len_utf8(), password)
        }
        Pass => (start + "pass:".len(), value.strip_prefix("pass:")?),
        _ => (start, value),
    };
    // `-p3306:3306` is a port and `-p/a/b` a path; both belong to another command on the line.
    let is_port = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let is_other_port = is_port && (form == Attached || value.contains(':'));
    let other = is_other_port || value.starts_with(['/', '-']);
    let said = SAID.contains(&value.to_ascii_lowercase().as_str())
        || value.starts_with('[') && value.contains(']')
        || is_placeholder(value)
        || ["ort", "rotocol", "lugin-dir"].contains(&value.split('=').next().unwrap_or_default());
    (value.len() >= 3 && !other && !said).then(|| start..start + value.len())
}

/// Returns the text after the next word and the spaces that follow it.
fn word_after(text: &str) -> Option<&str> {
    let text = text.get(text.find(' ')?..)?.trim_start_matches(' ');
    (!text.is_empty()).then_some(text)
}

/// Finds the password that `echo` pipes into the command at `at`, either after a user name or
/// alone.
pub(super) fn piped(text: &str, at: usize, has_user: bool) -> Option<Range<usize>> {
    let near = text.get(text.floor_char_boundary(at.saturating_sub(SECRET_VALUE_BYTES_MAX))..at)?;
    let line = near.rsplit('\n').next()?;
    let (said, pipe) = line.rsplit_once('|')?;
    let (_, said) = said.rsplit_once("echo ")?;
    let begin = at - pipe.len() - 1 - said.len();
    let said = said.trim_end();
    let options = if said.starts_with('-') { said.split_once(' ')?.1 } else { said };
    let inner = options.trim().trim_matches(['"', '\'']);
    let value = if has_user { inner.split_once(':')?.1 } else { inner };
    let start = begin + said.rfind(value)?;
    let is_sound = value.len() >= 4 && !value.starts_with('$') && !is_placeholder(value);
    is_sound.then(|| start..start + value.len())
}

/// Returns the rest of a command, across escaped line ends.
fn line(text: &str) -> &str {
    let near = clipped(text, SECRET_VALUE_BYTES_MAX);
    let ends = |(at, byte): (usize, u8)| match byte {
        b'\n' => !near.get(..at).unwrap_or_default().ends_with('\\'),
        b'&' => near.get(at + 1..).unwrap_or_default().starts_with('&'),
        b'|' | b';' => near.get(at + 1..).unwrap_or_default().starts_with([' ', '\n']),
        _ => false,
    };
    let end = near.bytes().enumerate().position(ends).unwrap_or(near.len());
    near.get(..end).unwrap_or_default()
}

/// Returns the end of the first option with one of these names.
fn option(line: &str, names: &[&str], form: Form) -> Option<usize> {
    let found = names.iter().flat_map(|name| line.match_indices(name));
    found
        .filter(|(at, name)| {
            let before = line.get(..*at).unwrap_or_default();
            let after = line.get(at + name.len()..).unwrap_or_default();
            // A long option ends before its value.
            let is_long = name.starts_with("--") || !matches!(form, Attached | Either | Next);
            before.ends_with(char::is_whitespace) && (!is_long || after.starts_with([' ', '=']))
        })
        .map(|(at, name)| at + name.len())
        .min()
}
