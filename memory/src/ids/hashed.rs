//! Ids of notes as 16 hexadecimal digits, the form that the compactor's tools use.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Kind, RecordId};

/// The ids of one memory in this form. Those of two memories differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemIds {
    salt: u64,
}

impl ItemIds {
    /// Returns the ids of the memory with this id.
    pub fn of(memory: &str) -> Self {
        // Its keys are fixed, so that an id stays the same from one run to the next.
        let mut hasher = DefaultHasher::new();
        memory.hash(&mut hasher);
        Self { salt: hasher.finish() }
    }

    /// Returns the ids of a memory without an id of its own. Builds before the first release showed
    /// these for every memory.
    pub const fn unsalted() -> Self {
        Self { salt: 0 }
    }

    /// Returns an id as 16 hexadecimal digits.
    pub fn show(self, id: RecordId) -> String {
        format!("{:016x}", mix(id.number ^ self.salt))
    }

    /// Parses an id in this form, or a note's id in ours.
    pub fn parse(self, text: &str) -> Option<RecordId> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let number = unmix(u64::from_str_radix(text, 16).ok()?) ^ self.salt;
            return Some(RecordId::new(Kind::Note, number));
        }
        text.parse().ok().filter(|id: &RecordId| id.kind == Kind::Note)
    }
}

/// Spreads numbers over all of 64 bits, one to one: the finalizer of Steele, Lea and Flood's
/// `SplitMix64` (2014).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Inverts [`mix`]: its steps backwards, with the inverses of its factors.
fn unmix(mixed: u64) -> u64 {
    let number = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    let number = number.wrapping_mul(0x3196_42b2_d24d_8ec3);
    let number = number ^ (number >> 27) ^ (number >> 54);
    let number = number.wrapping_mul(0x96de_1b17_3f11_9089);
    number ^ (number >> 30) ^ (number >> 60)
}
