//! The texts that go with a session's next answer.

use super::*;

fn told(texts: &[&str]) -> String {
    let mut told = Told::default();
    for text in texts {
        told.add(text);
    }
    told.into_text()
}

#[test]
fn texts_for_a_session_are_bounded_and_the_others_counted() {
    let half = "x".repeat(limits::TOLD_BYTES_MAX / 2);
    assert_eq!(told(&["One.\n", "Two.\n"]), "One.\nTwo.\n");
    let three = told(&[&half, &half, "Late.\n", &half]);
    assert!(three.starts_with(&(half.clone() + &half + "And 2 more: ")), "{three}");
    let long = "é".repeat(limits::TOLD_BYTES_MAX);
    let cut = told(&["", &format!("x{long}")]);
    assert!(cut.len() <= limits::TOLD_BYTES_MAX + "…\n".len() && cut.ends_with("…\n"));
}
