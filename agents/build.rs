//! Writes the list of the clients that `src/clients.rs` declares. One line there adds a client. A
//! condition on the line before holds in the list as well.
//!
//! A macro could do the same, but rustfmt does not find modules that a macro declares.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const DECLARATIONS: &str = "src/clients.rs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DECLARATIONS}");
    let text = fs::read_to_string(DECLARATIONS)?;
    let lines = text.lines().zip(text.lines().skip(1));
    let clients: String = lines
        .filter_map(|(before, line)| {
            let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
            let condition = Some(before).filter(|before| before.starts_with("#[cfg("));
            Some(format!("{} &{name}::CLIENT, ", condition.unwrap_or_default()))
        })
        .collect();
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("clients.rs"), format!("&[{clients}]"))?;
    Ok(())
}
