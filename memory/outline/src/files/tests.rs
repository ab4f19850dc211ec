//! Text and binary, and files of secrets.

use super::*;

#[test]
fn text_is_recognised_in_several_encodings() {
    let text = |bytes: &[u8]| match content(bytes) {
        Content::Text(text) => text,
        Content::Binary(kind) => panic!("{kind}"),
    };
    assert_eq!(text(b""), "");
    assert_eq!(text(b"\xef\xbb\xbfwords"), "words");
    assert_eq!(text(b"\xff\xfea\0b\0"), "ab");
    assert_eq!(text(b"\xfe\xff\0a\0b"), "ab");
    assert_eq!(text("stra\u{df}e".as_bytes()), "stra\u{df}e");
    let latin = [b"word ".repeat(20), vec![0xe9]].concat();
    assert!(text(&latin).ends_with('\u{fffd}'));
    assert_eq!(text(b"<?xml version=\"1.0\"?><a/>"), "<?xml version=\"1.0\"?><a/>");
}

#[test]
fn a_binary_has_its_type() {
    assert_eq!(content(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Content::Binary("image/png"));
    assert_eq!(content(b"\x1f\x8b\x08\0\0\0\0\0"), Content::Binary("application/gzip"));
    let program = [b"\x7fELF\x02\x01\x01".to_vec(), vec![0; 64]].concat();
    assert_eq!(content(&program), Content::Binary("application/x-executable"));
    assert_eq!(content(&[0, 1, 2, 3]), Content::Binary("unknown type"));
}

#[test]
fn files_of_secrets_are_known_by_name() {
    for path in [
        ".env",
        "app/.env.local",
        "prod.env",
        ".envrc",
        "certs/Server.PEM",
        "a/id_rsa",
        "x.key",
        ".ssh/config",
        ".aws/credentials",
        ".netrc",
        "home/.npmrc",
        "config/secrets.yml",
        ".kube/config",
        "deep/.cargo/credentials.toml",
        "release.keystore",
    ] {
        assert!(is_secret_file(path), "{path}");
    }
    for path in [
        ".env.example",
        "env.rs",
        "src/env/mod.rs",
        "environment.ts",
        "keys.rs",
        "a.keyboard",
        "config",
        "docs/secrets.md",
        "id_rsa.pub",
        "src/credentials.rs",
        "monkey",
        ".env.sample",
        ".env-template",
    ] {
        assert!(!is_secret_file(path), "{path}");
    }
}
