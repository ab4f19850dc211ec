//! Token counts against the tokenizer itself: the error by class of text and by length, and the
//! speed of both.
//!
//! The texts are those on a developer's machine: sources, documents, lock files, logs and
//! translations under the folders of `texts::FOLDERS`. A hash of their paths selects them. Files
//! with an even hash were used to choose constants; only files with an odd hash are measured here.
//! The compiled-in filter is compared with one made of the vocabulary; `UPDATE_FILTER=1` rewrites
//! it.

mod texts;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anchord_memory::tokens;
use texts::Text;
use tiktoken_rs::CoreBPE;

use crate::table::Row;

/// The number of ordinary tokens in `o200k`.
const VOCABULARY: u32 = 199_998;

pub(crate) fn run() -> Vec<Row> {
    let tokenizer = tiktoken_rs::o200k_base().expect("the vocabulary is part of the crate");
    let mut rows = vec![filter(&tokenizer)];
    let texts = texts::collect();
    let mut errors: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for text in &texts {
        let real = precise(tokenizer.encode_ordinary(&text.text).len());
        let error = (f64::from(tokens::count(&text.text)) - real) / real;
        for length in [text.length, "all"] {
            errors.entry((text.class, length)).or_default().push((error.abs(), error));
        }
    }
    let means: Vec<f64> = errors
        .iter()
        .filter(|((_, length), _)| *length == "all")
        .map(|(_, errors)| mean(errors, |error| error.0))
        .collect();
    for ((class, length), mut errors) in errors {
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let p95 = errors.get(errors.len() * 95 / 100).map_or(0.0, |error| error.0);
        rows.push(Row {
            what: format!("error of token counts, {class}, {length} ({} texts)", errors.len()),
            measured: format!(
                "mean {:.1} %, p95 {:.1} %, bias {:+.1} %",
                100.0 * mean(&errors, |error| error.0),
                100.0 * p95,
                100.0 * mean(&errors, |error| error.1)
            ),
            floor: String::new(),
            target: if length == "all" { "mean ≤ 12 %" } else { "" },
        });
    }
    rows.push(Row {
        what: "error of token counts, mean of the classes".to_owned(),
        measured: format!("{:.1} %", 100.0 * means.iter().sum::<f64>() / precise(means.len())),
        floor: String::new(),
        target: "≤ 5 %",
    });
    for class in texts::CLASSES {
        rows.push(speed(class, &texts, &tokenizer));
    }
    rows
}

fn filter(tokenizer: &CoreBPE) -> Row {
    let vocabulary: Vec<Vec<u8>> =
        (0..VOCABULARY).filter_map(|token| tokenizer.decode_bytes(&[token]).ok()).collect();
    let made = tokens::filter_of(vocabulary.iter().map(Vec::as_slice));
    let same = made == tokens::filter();
    if std::env::var_os("UPDATE_FILTER").is_some() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../memory/tokens/src/o200k.filter");
        std::fs::write(place, &made).expect("the tree can be written");
    }
    Row {
        what: format!("filter of {} tokens, {} KiB", vocabulary.len(), made.len() / 1024),
        measured: if same { "as compiled in" } else { "not as compiled in" }.to_owned(),
        floor: String::new(),
        target: "as compiled in",
    }
}

fn mean(errors: &[(f64, f64)], of: impl Fn(&(f64, f64)) -> f64) -> f64 {
    errors.iter().map(of).sum::<f64>() / precise(errors.len())
}

fn precise(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("fewer than four thousand million"))
}

/// Measures one thread over the texts of a class. Reports the best of many rounds, since other
/// programs run here too.
fn speed(class: &'static str, texts: &[Text], tokenizer: &CoreBPE) -> Row {
    let text: String =
        texts.iter().filter(|text| text.class == class).map(|text| text.text.as_str()).collect();
    let ours = best(30, || tokens::count(black_box(&text)));
    let theirs = best(2, || tokenizer.encode_ordinary(black_box(&text)).len());
    let megabytes = |time: Duration| precise(text.len()) / 1e6 / time.as_secs_f64();
    Row {
        what: format!("token counting, {class}"),
        measured: format!(
            "{:.0} MB/s, {:.0} times the tokenizer",
            megabytes(ours),
            theirs.as_secs_f64() / ours.as_secs_f64()
        ),
        floor: format!("{:.1} MB/s (the tokenizer)", megabytes(theirs)),
        target: "≥ 100 MB/s",
    }
}

fn best<T>(rounds: usize, work: impl Fn() -> T) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
