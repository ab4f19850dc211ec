//! Recognises text, binary files and files of secrets by a file's name and first bytes.

use std::str;

use crate::limits::SNIFF_BYTES_MAX;

/// The content of a file, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text in UTF-8, UTF-16, or nearly so.
    Text(String),
    /// A binary file of this type.
    Binary(&'static str),
}

/// Decides whether bytes are text. Bytes that are not UTF-8 are replaced.
pub fn content(bytes: &[u8]) -> Content {
    if let Some(text) = utf16(bytes) {
        return Content::Text(text);
    }
    let head = bytes.get(..SNIFF_BYTES_MAX).unwrap_or(bytes);
    if let Some(kind) = infer::get(head)
        && kind.matcher_type() != infer::MatcherType::Text
        && !is_text(head)
    {
        return Content::Binary(kind.mime_type());
    }
    if !is_text(head) {
        return Content::Binary("unknown type");
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Content::Text(String::from_utf8_lossy(text).into_owned())
}

/// Reads a text that begins with a byte-order mark of UTF-16.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (big, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (false, rest),
        [0xfe, 0xff, rest @ ..] => (true, rest),
        _ => return None,
    };
    let pairs = rest.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok());
    let units = pairs.map(if big { u16::from_be_bytes } else { u16::from_le_bytes });
    Some(char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Returns whether bytes look like text: no NUL, and few others that are not UTF-8. The last
/// character may be cut.
fn is_text(head: &[u8]) -> bool {
    if head.contains(&0) {
        return false;
    }
    let odd: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let controls = head.iter().filter(|byte| matches!(byte, 1..=8 | 14..=26 | 28..=31)).count();
    (odd + controls) * 20 <= head.len().max(20)
}

/// Returns whether a file of this path usually holds secrets: keys, and settings with passwords.
/// Examples of such files are not refused.
pub fn is_secret_file(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let within = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
    let is_example = name
        .split(['.', '-', '_'])
        .any(|part| ["example", "sample", "template", "dist", "defaults"].contains(&part));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_env = (ending == "env" || name.starts_with(".env.")) && !is_example || name == ".envrc";
    let is_key =
        ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "p8"].contains(&ending);
    let is_ssh = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(&name)
        || within(".ssh")
        || within(".gnupg");
    let is_login = [
        ".netrc",
        "_netrc",
        ".pgpass",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".htpasswd",
        ".dockercfg",
        ".my.cnf",
        ".vault-token",
        "credentials.json",
        "secrets.json",
        "secrets.toml",
        "secrets.yml",
        "secrets.yaml",
        "terraform.tfstate",
    ]
    .contains(&name)
        || within(".aws") && (name == "credentials" || name == "config")
        || within(".kube") && name == "config"
        || within(".docker") && name == "config.json"
        || within(".cargo") && name.starts_with("credentials");
    is_env || is_key || is_ssh || is_login
}

#[cfg(test)]
mod tests;
