//! Alignment and line ends of printed tables.

use super::*;

fn printed(table: &Table) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    table.print(&mut out).unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn words_are_left_aligned_and_numbers_right_aligned() {
    let mut table =
        Table::new(&[("name", Align::Left), ("bytes", Align::Right), ("where", Align::Left)]);
    table.row(["zürich".into(), "7".into(), "/z".into()]);
    table.row(["a".into(), "123456".into(), "/a\u{1b}[2Jb".into()]);
    insta::assert_snapshot!(printed(&table), @r"
      name     bytes  where
      zürich       7  /z
      a       123456  /a\u{1b}[2Jb
    ");
}

#[test]
fn no_line_ends_in_a_space() {
    let mut table = Table::new(&[("name", Align::Left), ("note", Align::Left)]);
    table.row(["long name".into(), String::new()]);
    assert!(printed(&table).lines().all(|line| line == line.trim_end()));
}
