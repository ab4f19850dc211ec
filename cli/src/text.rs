//! Texts that commands store: from the command line, standard input or a file.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use anchord_memory::rules::Bound;
use anchord_memory::{Expires, Timestamp, names_no_day, parse_past};
use anyhow::Context;

use crate::exit::Error;

/// Source of a text other than the command line.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Source {
    /// Read the text from this file; - reads standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

impl Source {
    /// Reads the text of at most `bytes_max` bytes, if one is named; `-` means standard input.
    pub(crate) fn read(
        self,
        text: Option<String>,
        bytes_max: usize,
    ) -> Result<Option<String>, Error> {
        let is_dash = |name: &str| name == "-";
        match (text, self.from) {
            (Some(_), Some(_)) => Err(Error::usage("there are two texts to store")
                .with_action("Give it as an argument or with --from, not both.")),
            (Some(text), None) if !is_dash(&text) => not_empty(text).map(Some),
            (None, Some(file)) if !file.to_str().is_some_and(is_dash) => {
                let name = file.display().to_string();
                let opened = File::open(&file).with_context(|| format!("cannot read {name}"))?;
                read(opened, &name, bytes_max).map(Some)
            }
            (None, None) => Ok(None),
            _ => stdin(bytes_max).map(Some),
        }
    }
}

/// Reads a required text of at most `bytes_max` bytes: a named one, or else piped input.
pub(crate) fn required(
    text: Option<String>,
    source: Source,
    bytes_max: usize,
) -> Result<String, Error> {
    match source.read(text, bytes_max)? {
        Some(text) => Ok(text),
        None if std::io::stdin().is_terminal() => Err(Error::usage("there is no text to store")
            .with_action("Give it as an argument, or pipe it in.")),
        None => stdin(bytes_max),
    }
}

/// Checks a time in the future as people write it, for clap. The daemon parses it.
pub(crate) fn when(text: &str) -> Result<String, String> {
    let parsed = Expires::parse(text, now()).map(|_| text.to_owned());
    parsed.map_err(|error| format!("it {}", error.fault()))
}

/// Checks one end of a rule's window, for clap. The daemon parses it.
pub(crate) fn bound(text: &str) -> Result<String, String> {
    match text.parse::<Bound>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) if names_no_day(text) => Err("it names a day that does not exist".to_owned()),
        Err(_) => Err("it is neither a time such as 12:00, nor a date such as 2026-11-20 or \
                       2026-11-20T18:00"
            .to_owned()),
    }
}

/// Reads a time in the past as people write it, for clap. A script can tell an invalid one from an
/// empty result by the exit code.
pub(crate) fn past(text: &str) -> Result<Timestamp, String> {
    parse_past(text, now()).map_err(|error| format!("it {}", error.fault()))
}

/// Checks a time in the past, for clap. The daemon parses it.
pub(crate) fn since(text: &str) -> Result<String, String> {
    past(text).map(|_| text.to_owned())
}

/// Checks a revision or a time in the past, for clap. The daemon parses it.
pub(crate) fn moment(text: &str) -> Result<String, String> {
    let is_revision = text.trim().parse::<u64>().is_ok();
    if is_revision {
        return Ok(text.to_owned());
    }
    since(text).map_err(|error| {
        if names_no_day(text) { error } else { format!("{error}; a revision is a number") }
    })
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

fn stdin(bytes_max: usize) -> Result<String, Error> {
    read(std::io::stdin().lock(), "standard input", bytes_max)
}

fn read(input: impl Read, name: &str, bytes_max: usize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let mut input = input.take(bytes_max as u64 + 1);
    input.read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() > bytes_max {
        return Err(Error::usage(format!("{name} has more than {bytes_max} bytes"))
            .with_action("Store the part that matters, or several parts."));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::usage(format!("{name} is not UTF-8"))
            .with_action("Records are text: say where the file is instead.")
    })?;
    not_empty(text)
}

fn not_empty(text: String) -> Result<String, Error> {
    if text.trim().is_empty() {
        return Err(Error::usage("the text to store is empty"));
    }
    Ok(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap says the value before the message.
    #[test]
    fn a_day_that_does_not_exist_is_named_once() {
        let fault = Err("it names a day that does not exist".to_owned());
        for parse in [when, since, moment, bound] {
            assert_eq!(parse("2026-02-30"), fault);
            let error = parse("soon-ish").unwrap_err();
            assert!(error.starts_with("it is neither") && !error.contains("soon-ish"), "{error}");
        }
        for text in ["12:00", "2026-11-20", "2026-11-20T18:00"] {
            assert_eq!(bound(text).as_deref(), Ok(text));
        }
        assert!(moment("nine").unwrap_err().ends_with("; a revision is a number"));
    }
}
