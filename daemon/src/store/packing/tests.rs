//! Packing and unpacking of texts.

use super::*;

#[test]
fn texts_survive_packing_and_rows_become_much_shorter() {
    let (mut packer, mut unpacker) = (Packer::new(), Unpacker::new());
    let row = r#"{"id":"n7","version":3,"revision":41,"created":{"session":"01JE","client":"codex","time":1763760000000},"updated":{"session":"01JE","client":"codex","time":1763760000000},"body":{"note":{"content":"one writer per project","importance":5,"content_type":"prose","tokens":9}}}"#;
    for text in [row, &"ä".repeat(50_000), &format!("{row}{row}")] {
        let packed = packer.pack(text).unwrap();
        assert!(packed.len() * 3 < text.len(), "{} of {}", packed.len(), text.len());
        assert_eq!(unpacker.unpack(&packed), Some(text));
    }
    assert_eq!(packer.pack(""), None);
    assert_eq!(packer.pack("1:2:3"), None, "a short text stays as it is");
}

#[test]
fn unpacking_damaged_data_does_not_panic() {
    let packed = Packer::new().pack(&"one text of some length, ".repeat(9)).unwrap();
    let mut unpacker = Unpacker::new();
    for at in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x55;
        // A digest over the rows finds damage that deflate does not notice.
        let _ = unpacker.unpack(&damaged);
        assert_eq!(unpacker.unpack(&packed[..at]), None, "cut at {at}");
    }
}

/// A text that does not get shorter ends before its stream does. The packer must keep nothing of
/// it: the next long text overran its buffer.
#[test]
fn a_long_text_is_packed_after_many_that_do_not_get_shorter() {
    let (mut packer, mut unpacker) = (Packer::new(), Unpacker::new());
    let mut state = 1_u64;
    let mut digest = || {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{:016x}", state ^ (state >> 33))
        };
        [next(), next(), next(), next()].concat()
    };
    for length in 1..=64 {
        let short = digest();
        assert_eq!(packer.pack(&short[..length]), None);
    }
    let digests: Vec<String> = (0..4_000).map(|_| digest()).collect();
    let long = format!("{digests:?}");
    let packed = packer.pack(&long).expect("digits are packed");
    assert_eq!(unpacker.unpack(&packed), Some(&*long));
}
