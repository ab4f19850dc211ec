//! Reads a conversation that a client keeps as one JSON value.

use std::io::{self, Read};

use serde_json::Value;

use super::Unread;
use super::lines::LineSource;
use crate::limits::TRANSCRIPT_DOCUMENT_BYTES_MAX;

/// A client's document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    /// The JSON pointer to the list of its messages.
    pub(crate) messages: &'static str,
}

/// The messages of a document, as lines.
pub(super) struct Messages(std::vec::IntoIter<Value>);

impl Document {
    /// Reads a document. Nothing of a torn one is used: its client replaces it as a whole.
    pub(super) fn lines(self, file: impl Read) -> io::Result<Messages> {
        let mut text = Vec::new();
        file.take(TRANSCRIPT_DOCUMENT_BYTES_MAX + 1).read_to_end(&mut text)?;
        if text.len() as u64 > TRANSCRIPT_DOCUMENT_BYTES_MAX {
            let most = TRANSCRIPT_DOCUMENT_BYTES_MAX >> 20;
            return Err(io::Error::other(format!("it is longer than {most} MiB")));
        }
        let mut document: Value = serde_json::from_slice(&text)
            .map_err(|error| io::Error::other(format!("it is not JSON: {error}")))?;
        match document.pointer_mut(self.messages).map(Value::take) {
            Some(Value::Array(messages)) => Ok(Messages(messages.into_iter())),
            _ => Err(io::Error::other(format!("it has no list `{}`", self.messages))),
        }
    }
}

impl LineSource for Messages {
    fn next(&mut self) -> io::Result<Option<Value>> {
        Ok(self.0.next())
    }

    fn unread(&self) -> Unread {
        Unread::default()
    }
}
