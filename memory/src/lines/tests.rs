//! Texts that are ranges, and the laws of joining ranges.

use proptest::prelude::*;

use super::{LineRange, Ranges};

fn check(text: &str, printed: &str, is_span: bool) {
    let range = LineRange::from(text.to_owned());
    assert_eq!(range.to_string(), printed, "{text:?}");
    assert_eq!(matches!(range, LineRange::Span { .. }), is_span, "{text:?}");
}

#[test]
fn ranges_are_read_as_agents_write_them() {
    check("42-67", "42-67", true);
    check(" 42 - 67 ", "42-67", true);
    check("67-42", "42-67", true);
    check("42", "42", true);
    check("42-42", "42", true);
    for text in ["fn main", "0", "0-4", "1-2-3", "-4", "4-", "1,3", "99999999999"] {
        check(text, text, false);
    }
}

fn any_range() -> impl Strategy<Value = LineRange> {
    prop_oneof![
        (1_u32..30, 1_u32..30).prop_map(|(a, b)| LineRange::from(format!("{a}-{b}"))),
        (1_u32.., 1_u32..).prop_map(|(a, b)| LineRange::from(format!("{a}-{b}"))),
        "[a-c]{1,2}".prop_map(LineRange::from),
    ]
}

proptest! {
    #[test]
    fn a_printed_range_is_read_back(range in any_range()) {
        prop_assert_eq!(LineRange::from(range.to_string()), range);
    }

    #[test]
    fn meeting_is_symmetric_and_reflexive(a in any_range(), b in any_range()) {
        prop_assert!(a.meets(&a, 0));
        prop_assert_eq!(a.meets(&b, 0), b.meets(&a, 0));
        prop_assert_eq!(a.meets(&b, 1), b.meets(&a, 1));
    }

    #[test]
    fn a_range_unites_with_exactly_the_ranges_it_meets(
        written in prop::collection::vec(any_range(), 1..12),
        reach in 0_u32..2,
    ) {
        let mut ranges = Ranges::default();
        let mut naive: Vec<(LineRange, Vec<usize>)> = Vec::new();
        for (at, range) in written.iter().enumerate() {
            let (lines, mut there) = ranges.take(range, reach);
            there.push(at);
            there.sort_unstable();
            ranges.put(lines.clone(), there.clone());

            let (mut union, mut all) = (range.clone(), vec![at]);
            while let Some(met) = naive.iter().position(|(known, _)| known.meets(&union, reach)) {
                let (known, its) = naive.remove(met);
                if let (LineRange::Span { first, last }, LineRange::Span { first: a, last: b }) =
                    (&mut union, &known)
                {
                    (*first, *last) = ((*first).min(*a), (*last).max(*b));
                }
                all.extend(its);
            }
            all.sort_unstable();
            prop_assert_eq!((&lines, &there), (&union, &all));
            naive.push((union, all));
        }
    }
}
