//! Outlines of a long file, as an agent waits for them, and outlines against universal-ctags.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use anchord_tests::{Agent, Instance, Project, ctags, walk};
use anyhow::{Result, bail};
use serde_json::json;

use crate::table::Row;
use crate::times::Times;

/// The missing tags that are printed for a language with `--missing`.
const MISSING: usize = 40;

/// The lines of the file that is outlined.
const LINES: usize = 5_000;

const COLD: usize = 50;
const CACHED: usize = 500;

/// Outlines a file of the daemon's own source through a shim: one that nobody outlined before, and
/// one that is in the cache.
pub(crate) fn run() -> Vec<Row> {
    let instance = Instance::shipped();
    let project = Project::git();
    let mut agent = Agent::with_all_tools(&instance, project.path());
    let text = source();
    let file = project.write("src/long.rs", &text);
    let floor = Times::of(CACHED, |_| {
        black_box(fs::read(&file).expect("the file was written").len());
    });
    let mut outline = || agent.tool("memory_outline", &json!({ "path": "src/long.rs" }));
    outline();
    let cold = Times::measured(COLD, |number| {
        project.write("src/long.rs", &format!("// Version {number}.\n{text}"));
        let start = std::time::Instant::now();
        let said = outline();
        let took = start.elapsed();
        assert!(!said.contains("from the cache"), "{said}");
        took
    });
    let cached = Times::of(CACHED, |_| {
        let said = outline();
        assert!(said.contains("from the cache"), "{said}");
    });
    let row = |what: &str, measured: &Times, target: &'static str| Row {
        what: format!("the outline of a file of {LINES} lines, {what}"),
        measured: measured.to_string(),
        floor: format!("{floor} (file read)"),
        target,
    };
    vec![row("cold", &cold, "≤ 100 ms"), row("cached", &cached, "≤ 10 ms")]
}

/// Returns the first lines of the daemon's source.
fn source() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../daemon/src");
    let mut files = Vec::new();
    walk(&root, &mut |file| files.push(file.to_owned()));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    let texts = files.iter().map(|file| fs::read_to_string(file).expect("a checkout has sources"));
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        lines.extend(text.lines().map(str::to_owned));
        if lines.len() >= LINES {
            break;
        }
    }
    lines.truncate(LINES);
    lines.join("\n")
}

/// Prints how much of what ctags finds in directories is in the outlines.
pub(crate) fn against_ctags(arguments: &[String]) -> Result<()> {
    let Some(version) = ctags::ctags() else { bail!("universal-ctags is not installed") };
    let shows = arguments.iter().any(|argument| argument == "--missing");
    let roots: Vec<&String> = arguments.iter().filter(|it| !it.starts_with("--")).collect();
    if roots.is_empty() {
        bail!("name at least one directory");
    }
    println!("Against {version}.\n");
    println!("| directory | language | files | tags | in outlines | last line the same |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for root in roots {
        let root = Path::new(root);
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        for (language, agreement) in ctags::compare(root) {
            let ctags::Agreement { files, tags, found, ends, ends_right, others, .. } = agreement;
            let share = agreement.share() * 100.0;
            println!(
                "| {name} | {language} | {files} | {tags} | {found} ({share:.2} %) | {ends_right} of {ends} |"
            );
            if others > 0 {
                println!(
                    "  not counted: {others} values and uses that ctags takes for classes and methods"
                );
            }
            for missing in agreement.missing.iter().filter(|_| shows).take(MISSING) {
                println!("  {missing}");
            }
        }
    }
    Ok(())
}
