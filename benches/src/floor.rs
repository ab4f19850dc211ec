//! The least possible work, for comparison: an echo, a process, an append that reaches the disk.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::times::Times;

/// Sends a line to a thread and back over a bare Unix socket.
pub(crate) fn socket_echo(count: usize, line: &str) -> Times {
    let (near, far) = UnixStream::pair().expect("a socket pair can be had");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut lines = BufReader::new(&far);
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                (&far).write_all(line.as_bytes()).expect("the other side reads");
                line.clear();
            }
        });
        let mut replies = BufReader::new(&near);
        let mut reply = String::new();
        let times = Times::of(count, |_| {
            writeln!(&near, "{line}").expect("the echo reads");
            reply.clear();
            replies.read_line(&mut reply).expect("the echo answers");
        });
        near.shutdown(std::net::Shutdown::Both).expect("the socket is open");
        times
    })
}

/// Starts `cat` and sends one line to it and back.
pub(crate) fn process_echo(count: usize, line: &str) -> Times {
    Times::measured(count, |_| {
        let start = Instant::now();
        let mut cat = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("cat is everywhere");
        let mut stdin = cat.stdin.take().expect("stdin is piped");
        writeln!(stdin, "{line}").expect("cat reads");
        let mut byte = [0];
        cat.stdout.take().expect("stdout is piped").read_exact(&mut byte).expect("cat writes");
        let took = start.elapsed();
        drop(stdin);
        cat.wait().expect("cat is ours");
        took
    })
}

/// Appends `bytes` bytes at a time, each append synced, to a file on the same disk as the
/// instances' journals.
pub(crate) fn append_and_sync(count: usize, bytes: usize) -> Times {
    let folder = tempfile::tempdir().expect("the temporary directory can be written");
    let mut file = File::create(folder.path().join("journal")).expect("the directory is ours");
    let line = vec![b'x'; bytes];
    Times::of(count, |_| {
        file.write_all(&line).expect("there is room");
        file.sync_data().expect("the disk works");
    })
}

/// Returns the number of synced appends per second.
pub(crate) fn appends_per_second(time: Duration, bytes: usize) -> f64 {
    let folder = tempfile::tempdir().expect("the temporary directory can be written");
    let mut file = File::create(folder.path().join("journal")).expect("the directory is ours");
    let line = vec![b'x'; bytes];
    let start = Instant::now();
    let mut count = 0.0;
    while start.elapsed() < time {
        file.write_all(&line).expect("there is room");
        file.sync_data().expect("the disk works");
        count += 1.0;
    }
    count / start.elapsed().as_secs_f64()
}
