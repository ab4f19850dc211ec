//! Numbered lines, and readers that no line can exhaust.

use std::io::{BufReader, Read};

use super::*;

fn written(line: McpLine<'_>) -> String {
    let mut out = Vec::new();
    line.write_to(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_line_is_written_and_read_byte_for_byte() {
    let json = r#"{"jsonrpc":"2.0","id":"ü 1","method":"tools/list"}"#;
    let line = McpLine { number: 12, acknowledged: 9, json };
    let text = written(line);
    assert_eq!(text, format!("12 9 {json}\n"));
    assert_eq!(McpLine::parse(text.trim_end().as_bytes()), Ok(line));
}

#[test]
fn errors_name_the_invalid_part() {
    let cases: [(&[u8], LineError); 13] = [
        (b"", LineError::NoNumber),
        (b"{}", LineError::NoNumber),
        (b"x 0 {}", LineError::NoNumber),
        (b"0 0 {}", LineError::NoNumber),
        (b"+1 0 {}", LineError::NoNumber),
        (b"-1 0 {}", LineError::NoNumber),
        (b"99999999999999999999 0 {}", LineError::NoNumber),
        (b"2 {}", LineError::NoAcknowledged),
        (b"2  1 {}", LineError::NoAcknowledged),
        (b"2 -1 {}", LineError::NoAcknowledged),
        (b"2 2 {}", LineError::AcknowledgedAhead),
        (b"2 1 ", LineError::NoMessage),
        (b"2 1 \xff", LineError::NotText),
    ];
    for (line, error) in cases {
        assert_eq!(McpLine::parse(line), Err(error), "{}", line.escape_ascii());
    }
}

/// Returns everything that a reader finds in `text`, with what it kept of each line.
fn read_all(text: &[u8], bytes_max: usize, chunk: usize) -> Vec<(LineRead, String)> {
    let mut input = BufReader::with_capacity(chunk, text);
    let mut line = Vec::new();
    let mut found = Vec::new();
    loop {
        let read = read_line_capped(&mut input, &mut line, bytes_max).unwrap();
        found.push((read, String::from_utf8_lossy(&line).into_owned()));
        if read == LineRead::End {
            return found;
        }
    }
}

#[test]
fn lines_do_not_depend_on_how_they_arrive() {
    let text = b"one\n\n12345\n123456\nlast";
    let expected = [
        (LineRead::Line, "one".to_owned()),
        (LineRead::Line, String::new()),
        (LineRead::Line, "12345".to_owned()),
        (LineRead::TooLong(6), "12345".to_owned()),
        (LineRead::End, "last".to_owned()),
    ];
    for chunk in 1..=text.len() {
        assert_eq!(read_all(text, 5, chunk), expected, "chunks of {chunk}");
    }
}

#[test]
fn an_endless_line_is_not_buffered() {
    let mut input = BufReader::new(io::repeat(b'x').take(50 * 1024 * 1024));
    let mut line = Vec::new();
    let read = read_line_capped(&mut input, &mut line, 1024).unwrap();
    assert_eq!(read, LineRead::TooLong(50 * 1024 * 1024));
    assert!(line.capacity() <= 4096, "kept {} bytes", line.capacity());
    let read = read_line_capped(&mut input, &mut line, 1024).unwrap();
    assert_eq!((read, line.len()), (LineRead::End, 0));
}

#[test]
fn the_splitter_keeps_an_unfinished_line_between_pieces() {
    let mut splitter = LineSplitter::new(10);
    let mut piece: &[u8] = b"ab";
    assert_eq!(splitter.take(&mut piece), None);
    assert_eq!(splitter.line(), b"ab");
    let mut piece: &[u8] = b"c\nd";
    assert_eq!(splitter.take(&mut piece), Some(LineRead::Line));
    assert_eq!((splitter.line(), piece), (&b"abc"[..], &b"d"[..]));
    assert_eq!(splitter.take(&mut piece), None);
    assert_eq!(splitter.line(), b"d");
}

#[test]
fn the_end_of_a_line_is_known_however_long_it_is_and_however_it_arrives() {
    for length in [1, 9, 10, 11, LINE_END_BYTES, LINE_END_BYTES + 9, 3 * LINE_END_BYTES] {
        let mut line: Vec<u8> = (b'a'..=b'z').cycle().take(length).collect();
        let end = line[length.saturating_sub(LINE_END_BYTES)..].to_vec();
        line.push(b'\n');
        for chunk in [1, 7, line.len()] {
            let mut splitter = LineSplitter::new(10);
            for mut piece in line.chunks(chunk) {
                splitter.take(&mut piece);
            }
            let known = splitter.end();
            assert!(known == end, "{length} bytes in chunks of {chunk}: {}", known.escape_ascii());
        }
    }
}
