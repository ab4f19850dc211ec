//! What is a range, and the laws of joining.

use proptest::prelude::*;

use super::LineRange;

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
    fn what_is_printed_is_read_back(range in any_range()) {
        prop_assert_eq!(LineRange::from(range.to_string()), range);
    }

    #[test]
    fn meeting_is_mutual_and_everything_meets_itself(a in any_range(), b in any_range()) {
        prop_assert!(a.meets(&a));
        prop_assert_eq!(a.meets(&b), b.meets(&a));
    }

    #[test]
    fn a_union_of_what_meets_covers_both_and_nothing_else(
        a in any_range(), b in any_range(), line in 1_u32..40,
    ) {
        let holds = |range: &LineRange| {
            matches!(range, LineRange::Span { first, last } if (*first..=*last).contains(&line))
        };
        if a.meets(&b) {
            prop_assert_eq!(a.union(&b), b.union(&a));
            prop_assert_eq!(holds(&a.union(&b)), holds(&a) || holds(&b));
        }
    }
}
