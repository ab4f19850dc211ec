//! Whether a value is a secret by its looks alone.

/// Words of which an example is made, where they stand by themselves.
const FILLERS: [&str; 20] = [
    "your",
    "my",
    "example",
    "placeholder",
    "changeme",
    "change",
    "redacted",
    "removed",
    "dummy",
    "sample",
    "fake",
    "todo",
    "replace",
    "insert",
    "here",
    "undefined",
    "secret-key-here",
    "none",
    "null",
    "test-token",
];

/// Names of ways to hash and encode, which stand beside `password` and are no secret.
const METHODS: [&str; 16] = [
    "argon2", "bcrypt", "scrypt", "pbkdf2", "sha1", "sha2", "sha3", "sha5", "md5", "base64",
    "utf8", "utf-8", "oauth", "http", "aes", "blake",
];

/// Whether a value stands for one, as in `xxxxxxxx`, `<token>`, `${TOKEN}`, `your-key-here`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bytes = value.as_bytes();
    let named = |word: &&str| {
        lower.match_indices(*word).any(|(at, word)| {
            let apart = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            apart(before) && apart(bytes.get(at + word.len()))
        })
    };
    is_filler(value)
        || value.contains(['<', '>', '{', '}', '…'])
        || lower.contains("...")
        || matches!(bytes, [b'$', b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'(', ..])
        || matches!(bytes, [b'%', .., b'%'])
        || value.starts_with("[secret")
        || FILLERS.iter().any(named)
}

/// Whether nothing in a value could be secret: crosses, stars, one or two characters again and again.
pub(super) fn is_filler(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.contains("xxxx")
        || lower.contains("****")
        || lower.contains("....")
        || distinct(value) < value.len().min(5)
}

/// Whether a value has no meaning: characters of all classes in no order, as a generator makes them.
///
/// Words are told apart by how seldom their class of character (small, capital, digit, other) changes:
/// at random it does in 4 of 10 places for hexadecimal digits and base64 alike, in `handleHttpRequest`
/// at the beginning of each word, which is not counted for a capital before a small letter.
pub(super) fn is_random(value: &str) -> bool {
    const SHORT: usize = 16;
    if value.len() < 12
        || !value.is_ascii()
        || is_uuid(value)
        || is_place(value)
        || is_number(value)
        || value.contains("::")
    {
        return false;
    }
    let (changes, places) = class_changes(value);
    let ratio = f64::from(changes) / f64::from(places.max(1));
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let mixed = value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase());
    if letters < 3 || is_hash(value) {
        return false;
    }
    if value.len() < SHORT {
        return digits >= 2 && mixed && ratio >= 0.4 && entropy(value) >= 2.8;
    }
    let varied = entropy(value) >= 3.0 && distinct(value) >= 8;
    varied && ((digits >= 2 && ratio >= 0.25) || (mixed && ratio >= 0.38))
}

/// Whether a value beside the word `password` is one, rather than a word of the sentence.
pub(super) fn is_password(value: &str, quoted: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let bytes_min = if quoted { 6 } else { 7 };
    if !(bytes_min..=128).contains(&value.len())
        || value.contains(char::is_whitespace)
        || is_uuid(value)
        || is_place(value)
        || is_code(value, quoted)
        || is_number(value)
        || !quoted && is_ticket(value)
        || METHODS.iter().any(|method| lower.starts_with(method))
    {
        return false;
    }
    let letter = value.chars().any(char::is_alphabetic);
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let symbol = value.bytes().any(|byte| b"!@#$%^&*+?~=".contains(&byte));
    letter && (digit || (quoted && symbol)) || (digit && symbol)
}

/// `550e8400-e29b-41d4-a716-446655440000`: it names something.
fn is_uuid(value: &str) -> bool {
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// `JIRA-1234`, `#1234`: where it is told who knows the password.
fn is_ticket(value: &str) -> bool {
    let project = |name: &str| {
        (2..=10).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let number = |text: &str| {
        (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.strip_prefix('#').is_some_and(number)
        || value.split_once('-').is_some_and(|(name, rest)| project(name) && number(rest))
}

/// A number in a program, `0x8031_002C_u32`, `16384u32`.
fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches('-');
    let hex = value.strip_prefix("0x").is_some_and(|rest| rest.len() <= 16 + "_u32".len());
    let decimal = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let suffix = ["", "u8", "u16", "u32", "u64", "i32", "i64", "usize", "f64", "ms", "s", "px"];
    hex || suffix.contains(&decimal)
}

/// `sha256:…`, `sha512-…`: a checksum says that it is one.
fn is_hash(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["sha1", "sha256", "sha384", "sha512", "md5", "blake", "h1:"]
        .iter()
        .any(|name| lower.starts_with(name))
}

/// A path or an address.
fn is_place(value: &str) -> bool {
    let extension = value.rsplit_once('.').map(|(_, extension)| extension);
    let file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_lowercase())
    });
    value.contains("://")
        || value.starts_with("arn:")
        || ["/", "./", "../", "~/", "~\\", "C:\\"].iter().any(|start| value.starts_with(start))
            && value.matches('/').count() > 1
        || file && value.contains(['/', '_', '-'])
}

/// A name or call in a program: `config.password2`, `self.db_pass1`, `Foo::BAR1`.
fn is_code(value: &str, quoted: bool) -> bool {
    if quoted {
        return false;
    }
    let name = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    value.contains("::") || value.contains("->") || {
        let parts: Vec<&str> = value.split('.').collect();
        parts.len() > 1 && parts.iter().all(|part| name(part))
    }
}

fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    for byte in value.bytes() {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    seen.iter().filter(|seen| **seen).count()
}

/// Shannon's, in bits a byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let of = |count: &u32| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(of).sum()
}

/// How often the class of character changes, and at how many places it could.
fn class_changes(value: &str) -> (u32, u32) {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let joins = |byte: &u8| !matches!(byte, b'_' | b'-' | b'.' | b'/');
    let classes: Vec<u8> = value.bytes().filter(joins).map(class).collect();
    let pairs = classes.iter().zip(classes.iter().skip(1));
    let count = |pairs: usize| u32::try_from(pairs).unwrap_or(u32::MAX);
    let changes = pairs.clone().filter(|(a, b)| a != b && (**a, **b) != (1, 0)).count();
    (count(changes), count(pairs.count()))
}
