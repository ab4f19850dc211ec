//! Lines are whole however they are split, and never exceed their cap in memory.

use futures::FutureExt;
use tokio::io::{AsyncWriteExt, BufReader, DuplexStream};

use super::*;

fn reader(bytes_max: usize) -> (LineReader<BufReader<DuplexStream>>, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    (LineReader::new(BufReader::with_capacity(16, ours), bytes_max), theirs)
}

async fn all(bytes: &[u8], bytes_max: usize) -> Vec<Result<Vec<u8>, &'static str>> {
    let (mut lines, mut peer) = reader(bytes_max);
    peer.write_all(bytes).await.unwrap();
    drop(peer);
    let mut found = Vec::new();
    loop {
        match lines.next().await.unwrap() {
            Read::Line(line) => found.push(Ok(line.to_vec())),
            Read::TooLong => found.push(Err("too long")),
            Read::End => return found,
        }
    }
}

#[tokio::test]
async fn lines_are_whole_and_an_unfinished_last_one_is_dropped() {
    let found = all(b"one\n\n\xff\xfe\nthis is longer than the buffer\nunfinished", 100).await;
    let line = |text: &[u8]| Ok(text.to_vec());
    // A line that is not text is still a line; its reader reports the problem.
    let expected =
        [line(b"one"), line(b""), line(b"\xff\xfe"), line(b"this is longer than the buffer")];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_line_at_the_limit_is_read_and_a_longer_one_is_skipped() {
    let found = all(b"12345678\n123456789\nnext\n", 8).await;
    assert_eq!(found, [Ok(b"12345678".to_vec()), Err("too long"), Ok(b"next".to_vec())]);
}

#[tokio::test]
async fn an_overlong_line_is_not_buffered() {
    let (mut lines, mut peer) = reader(1000);
    for _ in 0..50 {
        peer.write_all(&[b'x'; 10_000]).await.unwrap();
        assert!(lines.next().now_or_never().is_none());
        assert!(lines.line.capacity() <= 2 * 1000, "{}", lines.line.capacity());
    }
    peer.write_all(b"\nnext\n").await.unwrap();
    assert_eq!(lines.next().await.unwrap(), Read::TooLong);
    assert_eq!(lines.next().await.unwrap(), Read::Line(b"next"));
}

#[tokio::test]
async fn a_cancelled_read_loses_nothing() {
    let (mut lines, mut peer) = reader(100);
    for byte in b"first line\n" {
        assert!(lines.next().now_or_never().is_none());
        peer.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(lines.next().await.unwrap(), Read::Line(b"first line"));
    assert!(lines.next().now_or_never().is_none(), "a line is given once");
    peer.write_all(b"second\n").await.unwrap();
    assert_eq!(lines.next().await.unwrap(), Read::Line(b"second"));
}

#[tokio::test]
async fn the_limit_can_be_raised_between_lines_without_losing_bytes() {
    let (mut lines, mut peer) = reader(4);
    peer.write_all(b"abcd\nlonger\nrest").await.unwrap();
    assert_eq!(lines.next().await.unwrap(), Read::Line(b"abcd"));
    lines.set_bytes_max(6);
    assert_eq!(lines.next().await.unwrap(), Read::Line(b"longer"));
    drop(peer);
    let mut rest = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut lines.into_inner(), &mut rest).await.unwrap();
    assert_eq!(rest, "rest");
}
