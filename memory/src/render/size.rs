//! Renders the size of memory.

use crate::audience::{Audience, Tool};

/// Words the advice in a load and a save above the soft limit.
pub(super) fn nudge(audience: &Audience) -> String {
    let forget = audience.tool(Tool::Forget);
    format!(
        "Above 100 KB: {forget} what no longer holds. Above 500 KB a save archives old anchors, sessions and lessons.\n"
    )
}

/// Renders a size: bytes below a kilobyte, `312 B`, then kilobytes, then mebibytes, `1.5 MiB`,
/// `256 MiB`.
pub(super) fn bytes(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..MIB => kilobytes(bytes),
        whole if whole.is_multiple_of(MIB) => format!("{} MiB", whole / MIB),
        part => {
            let tenths = (part.saturating_mul(10) + MIB / 2) / MIB;
            format!("{}.{} MiB", tenths / 10, tenths % 10)
        }
    }
}

/// Renders a number with commas, `12,345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Renders kilobytes of 1,024 bytes with one decimal, `3.2 KB`.
pub(super) fn kilobytes(bytes: u64) -> String {
    let tenths = (bytes.saturating_mul(10) + 512) / 1024;
    format!("{}.{} KB", tenths / 10, tenths % 10)
}
