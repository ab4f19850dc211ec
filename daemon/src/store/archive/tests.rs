//! Archives of generated segments, intact and damaged.

use std::io::Read as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::*;
use crate::store::{Random, SimDisk};

const PATH: &str = "/a.gz";

/// Returns a segment of several blocks, and its archive.
fn archived() -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(3);
    let mut plain = b"{\"header\":1}\n".to_vec();
    for line in 0..1500 {
        let text: String = (0..60).map(|_| format!("{} ", random.below(1 << 20))).collect();
        let line = format!("{{\"seq\":{line},\"text\":\"{text}\"}}\n");
        plain.extend_from_slice(line.as_bytes());
    }
    let keys = |line: &[u8]| {
        let text = std::str::from_utf8(line).unwrap();
        Ok(vec![text.split(',').next().unwrap().to_owned()])
    };
    let archive = encoded(&plain, &keys);
    (plain, archive)
}

fn encoded(plain: &[u8], keys: Keys<'_>) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut write = |piece: &[u8]| {
        archive.extend_from_slice(piece);
        Ok(())
    };
    encode(plain, Crc(7), keys, &mut write).unwrap();
    archive
}

fn disk(archive: &[u8]) -> SimDisk {
    let disk = SimDisk::default();
    disk.put(Path::new(PATH), archive.to_vec());
    disk
}

#[test]
fn any_gunzip_can_restore_the_segment() {
    let (plain, archive) = archived();
    let mut text = Vec::new();
    MultiGzDecoder::new(archive.as_slice()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain);
    assert_eq!(decode(&archive), plain);
    assert!(has_sound_keys(&archive));
    let (disk, path) = (disk(&archive), Path::new(PATH));
    let is_of = |plain: &[u8], last| is_of(&disk, path, plain, last).unwrap();
    assert!(is_of(&plain, Crc(7)));
    assert!(!is_of(&plain, Crc(8)) && !is_of(&plain[..plain.len() - 1], Crc(7)));
    let mut other = plain.clone();
    other[plain.len() / 2] ^= 1;
    assert!(!is_of(&other, Crc(7)));
    assert!(!is_of(&[plain.as_slice(), b"\n"].concat(), Crc(7)));
    assert!(archive.len() < plain.len(), "{} of {}", archive.len(), plain.len());
}

#[test]
fn single_blocks_can_be_read_alone() {
    let (plain, archive) = archived();
    let disk = disk(&archive);
    let path = Path::new(PATH);
    let end = read_end(&disk, path, archive.len() as u64).unwrap().unwrap();
    assert_eq!(end, End { plain_bytes: plain.len() as u64, last: Crc(7) });
    assert_eq!(header_line(&archive[..200]).unwrap(), b"{\"header\":1}");
    for line in segment::lines(&plain).step_by(97) {
        let before = disk.bytes_read();
        let read = read_at(&disk, path, line.offset, line.bytes.len()).unwrap();
        assert_eq!(read, line.bytes);
        let most = archive.len() as u64 * 3 / 4;
        assert!(disk.bytes_read() - before < most, "more than one block was read");
    }
    let holding = |key: &str| {
        let mut offsets = Vec::new();
        let mut visit = |block: &Block<'_>| {
            offsets.extend(block.may_have(key)?.then_some(block.offset));
            Ok(None::<()>)
        };
        find_block(&disk, path, &mut visit).unwrap();
        offsets
    };
    assert_eq!(holding("{\"seq\":1499").len(), 1);
    assert_eq!(holding("{\"seq\":1500"), [0; 0]);
}

#[test]
fn a_flipped_bit_is_detected_and_other_blocks_stay_readable() {
    let (plain, archive) = archived();
    let few = plain.len() / 8;
    let last = archive.len();
    for at in (0..last).step_by(4999).chain((0..100).step_by(3)).chain(last - 90..last) {
        let mut damaged = archive.clone();
        damaged[at] ^= 1 << (at % 8);
        let disk = disk(&damaged);
        let end = read_end(&disk, Path::new(PATH), damaged.len() as u64).unwrap();
        let decoded = decode(&damaged);
        let is_noticed = decoded != plain
            || !has_sound_keys(&damaged)
            || end.is_none_or(|end| end.last != Crc(7) || end.plain_bytes != plain.len() as u64);
        assert!(is_noticed, "byte {at}");
        assert!(!is_of(&disk, Path::new(PATH), &plain, Crc(7)).unwrap(), "byte {at}");
        if at > last / 2 {
            assert!(decoded[..few] == plain[..few], "byte {at}");
        } else {
            let tail = &plain[plain.len() - few..];
            assert!(decoded.ends_with(tail), "byte {at}");
        }
    }
    for cut in (0..last).step_by(4999) {
        let disk = disk(&archive[..cut]);
        assert_eq!(read_end(&disk, Path::new(PATH), cut as u64).unwrap(), None, "cut at {cut}");
        assert!(!is_of(&disk, Path::new(PATH), &plain, Crc(7)).unwrap(), "cut at {cut}");
    }
}

#[test]
fn a_block_with_too_many_keys_is_always_searched() {
    let mut random = Random(1);
    let many: Vec<String> = (0..20_000).map(|_| format!("{:x}", random.below(u64::MAX))).collect();
    let keys = |line: &[u8]| Ok(if line == b"b" { many.clone() } else { Vec::new() });
    let archive = encoded(b"a\nb\n", &keys);
    let disk = disk(&archive);
    let found = find_block(&disk, Path::new(PATH), &mut |block| {
        Ok(block.may_have("anything")?.then_some(block.offset))
    });
    assert_eq!(found.unwrap(), Some(2));
    assert_eq!(decode(&archive), b"a\nb\n");
}
