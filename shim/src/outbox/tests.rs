//! Bytes leave in order, and no write blocks.

use std::io::Read;
use std::os::unix::net::UnixStream;

use super::*;

#[test]
fn a_full_pipe_does_not_block_and_nothing_is_lost() {
    let (near, mut far) = UnixStream::pair().unwrap();
    let mut outbox = Outbox::default();
    let mut expected = Vec::new();
    for number in 0..200_000 {
        let line = number.to_string();
        outbox.push_line(line.as_bytes());
        expected.extend_from_slice(line.as_bytes());
        expected.push(b'\n');
    }
    outbox.write_to_blocking(&near).unwrap();
    assert!(!outbox.is_empty(), "the socket took all of it");
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    while received.len() < expected.len() {
        let length = far.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..length]);
        outbox.write_to_blocking(&near).unwrap();
    }
    assert!(outbox.is_empty());
    assert_eq!(received, expected);
}

#[test]
fn appending_to_unwritten_data_keeps_the_order() {
    let (near, mut far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let mut outbox = Outbox::default();
    let mut received = Vec::new();
    let mut buffer = [0; 512];
    for round in 0..200 {
        outbox.push_line(&vec![b'a' + (round % 26); 5_000]);
        outbox.write_to(&near).unwrap();
        let length = far.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..length]);
    }
    while received.len() < 200 * 5_001 {
        outbox.write_to(&near).unwrap();
        let length = far.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..length]);
    }
    for (round, line) in received.split(|byte| *byte == b'\n').take(200).enumerate() {
        let letter = b'a' + u8::try_from(round % 26).unwrap();
        assert!(line.len() == 5_000 && line.iter().all(|byte| *byte == letter), "line {round}");
    }
}

#[test]
fn writing_to_a_closed_reader_is_an_error() {
    let (near, far) = UnixStream::pair().unwrap();
    drop(far);
    let mut outbox = Outbox::default();
    outbox.push_line(b"x");
    assert_eq!(outbox.write_to_blocking(&near), Err(Errno::PIPE));
}
