//! The bytes on disk. If a test here fails, the change needs a new format, not a new expectation.

use std::borrow::Cow;
use std::sync::Arc;

use anchord_memory::{
    Anchor, Body, Change, Provenance, Record, RecordId, RecordState, Revision, Seq, SessionId,
    Timestamp, Version,
};

use serde_json::json;

use super::*;
use crate::store::{Call, Entry};

/// The line shown in `docs/storage-format.md`.
const LINE: &str = concat!(
    r#"{"seq":7,"revision":3,"time":1763760000000,"session":"01JD","#,
    r#""instance":"5e2c","number":12,"acknowledged":11,"op":"save","#,
    r#""changes":[{"put":{"id":"a4","version":2,"revision":3,"#,
    r#""created":{"session":"01JC","client":"claude-code","time":1763750000000},"#,
    r#""updated":{"session":"01JD","time":1763760000000},"#,
    r#""body":{"anchor":{"file":"src/db.rs","lines":"42-67","concept":"one writer"}}}}],"#,
    r#""reply":{"revision":3,"row":"s3"},"crc":"be64282d"}"#,
    "\n"
);

fn entry() -> Entry<Change> {
    let wrote = |session: &str, client: &str, time| {
        Provenance::new(SessionId::new(session), Arc::from(client), Timestamp(time))
    };
    let record = Record {
        id: "a4".parse::<RecordId>().unwrap(),
        version: Version(2),
        revision: Revision(3),
        content_version: None,
        created: wrote("01JC", "claude-code", 1_763_750_000_000),
        updated: wrote("01JD", "", 1_763_760_000_000),
        state: RecordState::Active,
        tags: Vec::new(),
        pinned: false,
        share_id: None,
        is_head: false,
        private: false,
        body: Body::Anchor(Anchor::new(
            "src/db.rs".to_owned(),
            "42-67".to_owned().into(),
            "one writer".to_owned(),
        )),
    };
    Entry {
        seq: Seq(7),
        revision: Some(Revision(3)),
        time: Timestamp(1_763_760_000_000),
        session: Some(SessionId::new("01JD")),
        call: Some(Call { instance: Arc::from("5e2c"), number: 12, acknowledged: 11 }),
        operation: Cow::Borrowed("save"),
        changes: vec![Change::Put(Arc::new(record))],
        reply: Some(json!({ "row": "s3", "revision": 3 })),
    }
}

#[test]
fn the_bytes_of_a_line_are_pinned() {
    let mut bytes = Vec::new();
    write_entry(&entry(), None, &mut bytes);
    assert_eq!(entry_bytes(&entry()), LINE.len() - 1, "what is judged before it is written");
    assert_eq!(String::from_utf8(bytes).unwrap(), LINE);
}

#[test]
fn a_line_has_the_predicted_length() {
    assert_eq!(entry_bytes(&entry()), LINE.trim_end().len());
}

#[test]
fn the_documentation_shows_the_pinned_line() {
    let document = include_str!("../../../../docs/storage-format.md");
    assert!(document.contains(LINE.trim_end()));
}

#[test]
fn the_bytes_of_a_header_are_pinned() {
    let header = HeaderV1 {
        format: 5,
        build: "0.1.0".into(),
        machine: "project".into(),
        store: Some("00000000-0000-0000-0000-000000000002".to_owned()),
        journal: Uuid::from_u128(1),
        epoch: 1,
        segment: 2,
        first: Seq(8),
        previous: Some(Crc(0xab)),
    };
    let mut bytes = Vec::new();
    write_line(&header, &mut bytes);
    let expected = concat!(
        r#"{"format":5,"build":"0.1.0","machine":"project","#,
        r#""store":"00000000-0000-0000-0000-000000000002","#,
        r#""journal":"00000000-0000-0000-0000-000000000001","epoch":1,"segment":2,"first":8,"#,
        r#""previous":"000000ab","crc":"5ce1dfe9"}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn a_line_reads_back() {
    let line = LINE.trim_end().as_bytes();
    check_line(line).unwrap();
    assert_eq!(peek_seq(line), Ok(Seq(7)));
    assert_eq!(read_entry::<Change>(line).unwrap(), entry());
}

#[test]
fn a_daemon_entry_has_no_call_fields() {
    let own = Entry::<Change> { session: None, call: None, reply: None, revision: None, ..entry() };
    let mut bytes = Vec::new();
    write_entry(&own, None, &mut bytes);
    let text = String::from_utf8(bytes.clone()).unwrap();
    for absent in ["instance", "number", "acknowledged", "reply"] {
        assert!(!text.contains(&format!("\"{absent}\"")), "{text}");
    }
    assert_eq!(read_entry::<Change>(bytes.trim_ascii_end()).unwrap(), own);
}

#[test]
fn every_flipped_bit_is_detected() {
    let line = LINE.trim_end().as_bytes();
    for at in 0..line.len() {
        for bit in 0..8 {
            let mut flipped = line.to_vec();
            flipped[at] ^= 1 << bit;
            assert!(check_line(&flipped).is_err(), "bit {bit} of byte {at}");
        }
    }
    for end in 0..line.len() {
        assert!(check_line(&line[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let line = br#"{"seq":1,"time":5,"op":"x","changes":[],"later":{"a":1},"crc":"00000000"}"#;
    let entry = read_entry::<Change>(line).unwrap();
    assert_eq!((entry.seq, entry.operation.as_ref()), (Seq(1), "x"));
}

#[test]
fn a_line_names_its_batch_number() {
    let mut bytes = Vec::new();
    write_entry(&entry(), Some((Seq(6), Seq(9))), &mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with(r#"{"seq":7,"batch":[6,9],"revision":3,"#), "{text}");
    let line = text.trim_end().as_bytes();
    check_line(line).unwrap();
    assert_eq!(peek_batch(line), Ok((Seq(7), (Seq(6), Seq(9)))));
    assert_eq!(read_entry::<Change>(line).unwrap(), entry());
    assert_eq!(peek_batch(LINE.trim_end().as_bytes()), Ok((Seq(7), (Seq(7), Seq(7)))));
    assert!(line.len() - LINE.trim_end().len() <= crate::store::limits::BATCH_BYTES_MAX);
}
