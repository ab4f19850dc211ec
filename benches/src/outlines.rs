//! Outlines against universal-ctags, over directories.

use std::path::Path;

use anchord_tests::ctags;
use anyhow::{Result, bail};

/// The missing tags that are printed for a language with `--missing`.
const MISSING: usize = 40;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
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
            let ctags::Agreement { files, tags, found, ends, ends_right, .. } = agreement;
            let share = agreement.share() * 100.0;
            println!(
                "| {name} | {language} | {files} | {tags} | {found} ({share:.2} %) | {ends_right} of {ends} |"
            );
            for missing in agreement.missing.iter().filter(|_| shows).take(MISSING) {
                println!("  {missing}");
            }
        }
    }
    Ok(())
}
