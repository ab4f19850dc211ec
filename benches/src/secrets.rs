//! The search for secrets in texts that have next to none, which every write pays for.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anchord_memory::secrets::scrub;

use crate::table::Row;

/// The number of runs, of which the fastest counts.
const RUNS: usize = 15;

pub(crate) fn run() -> Vec<Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = texts(&root.join("docs"), "md");
    let notes = pages.iter().flat_map(|page| page.split("\n\n")).map(str::to_owned).collect();
    let source = ["memory/src", "daemon/src"].iter().flat_map(|at| texts(&root.join(at), "rs"));
    let source = source.collect();
    let rows = [("notes of a paragraph", notes), ("pages of Markdown", pages), ("source", source)];
    rows.into_iter().map(|(what, texts)| row(what, &texts)).collect()
}

fn row(what: &str, texts: &[String]) -> Row {
    let kib = texts.iter().map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX));
    let kib = kib.map(f64::from).sum::<f64>() / 1024.0;
    // One look at each byte, which cannot be skipped over.
    let read =
        |text: &str| text.bytes().fold(0_u32, |sum, byte| sum.rotate_left(5) ^ u32::from(byte));
    let (mut searched, mut floor) = (Duration::MAX, Duration::MAX);
    for _ in 0..RUNS {
        searched = searched.min(time(texts, |text| scrub(text).removed.len()));
        floor = floor.min(time(texts, read));
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / kib;
    Row {
        what: format!("searching {kib:.0} KiB of {what} for secrets"),
        measured: format!("{:.2} µs/KiB", each(searched)),
        floor: format!("{:.2} µs/KiB to read each byte", each(floor)),
        target: "",
    }
}

fn time<T>(texts: &[String], search: impl Fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for text in texts {
        black_box(search(black_box(text)));
    }
    start.elapsed()
}

/// Returns the files with this extension in a directory and those below it.
fn texts(directory: &Path, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a checkout has its directories").flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                texts(&path, extension)
            } else if path.extension().is_some_and(|found| found == extension) {
                vec![std::fs::read_to_string(path).expect("a file of ours is text")]
            } else {
                Vec::new()
            }
        })
        .collect()
}
