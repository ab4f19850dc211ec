//! Writes the list of the clients that `src/clients.rs` declares. One line there adds a client.
//!
//! A macro could do the same, but rustfmt does not find modules that a macro declares.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const DECLARATIONS: &str = "src/clients.rs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DECLARATIONS}");
    let text = fs::read_to_string(DECLARATIONS)?;
    let names = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let clients: String = names.map(|name| format!("&{name}::CLIENT, ")).collect();
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("clients.rs"), format!("&[{clients}]"))?;
    Ok(())
}
