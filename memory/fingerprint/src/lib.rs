//! Recognises lines of a file after they moved or changed. A [`Fingerprint`] has hashes of the
//! lines, of their surroundings and of the symbol around them. It never has their text. It knows no
//! records, does no I/O and reads no clock.
//!
//! Two rules stand above all. Lines are [`Outcome::Fresh`] only if every line is still there and no
//! other place fits better. Lines that are given are right: in doubt the outcome is
//! [`Outcome::Unsure`].

mod align;
mod candidate;
mod changed;
mod code;
mod find;
mod hash;
pub mod limits;
mod lines;
mod nearby;
mod outcome;
mod print;
mod source;
mod symbols;

pub use find::{check, search};
pub use lines::Lines;
pub use nearby::nearby;
pub use outcome::Outcome;
pub use print::Fingerprint;
pub use source::Source;

#[cfg(test)]
mod tests;
