//! The one setting that is read from a git configuration. Included files are not followed, since
//! git itself writes the setting into this one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns `core.worktree`. As in git, names ignore case, and the last one counts.
pub(super) fn core_worktree(config: &[u8]) -> Option<PathBuf> {
    let mut in_core = false;
    let mut continued = false;
    let mut found = None;
    for line in config.split(|byte| *byte == b'\n') {
        // git never writes a value that continues on the next line, so the continuation is not
        // read.
        let continues = line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        if std::mem::replace(&mut continued, continues) {
            continue;
        }
        let mut setting = line.trim_ascii();
        if let Some(header) = setting.strip_prefix(b"[") {
            let mut parts = header.splitn(2, |byte| *byte == b']');
            in_core =
                parts.next().is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"core"));
            setting = parts.next().unwrap_or_default();
        }
        let mut parts = setting.splitn(2, |byte| *byte == b'=');
        let key = parts.next().unwrap_or_default().trim_ascii();
        if in_core && key.eq_ignore_ascii_case(b"worktree") {
            found = parts.next().and_then(value);
        }
    }
    found.map(|path| PathBuf::from(OsStr::from_bytes(&path)))
}

/// Returns a value without its quotes, escapes and comment.
fn value(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    let mut length = 0;
    let mut quoted = false;
    let mut bytes = text.trim_ascii().iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'#' | b';' if !quoted => break,
            b'\\' => value.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'b' => 8,
                byte @ (b'"' | b'\\') => *byte,
                _ => return None,
            }),
            byte => value.push(*byte),
        }
        if quoted || !byte.is_ascii_whitespace() {
            length = value.len();
        }
    }
    value.truncate(length);
    (!quoted && !value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests;
