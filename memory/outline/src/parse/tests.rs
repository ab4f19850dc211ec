//! The outline of a sample in each language.

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::languages::{GRAMMARS, LANGUAGES};
use crate::render::{View, render};
use crate::{Content, content};

fn samples() -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/parse/samples");
    let mut samples: Vec<(String, String)> = dir
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let Content::Text(text) = content(&std::fs::read(entry.path()).unwrap()) else {
                panic!("{name} is text")
            };
            (name, text)
        })
        .collect();
    samples.sort();
    samples
}

fn outline(name: &str, text: &str) -> Outline {
    crate::parse(Language::of_file(name, text).unwrap(), text)
}

#[test]
fn each_language_is_outlined() {
    let samples = samples();
    let mut seen = Vec::new();
    let mut all = String::new();
    for (name, text) in &samples {
        let outline = outline(name, text);
        let Form::Code(language) = outline.form else { panic!("{name} has a language") };
        assert!(!outline.has_gaps, "{name} follows its grammar");
        seen.push(language.id);
        let view = View { lines: None, chars_max: usize::MAX, tokens_max: None, selects: "lines" };
        let text = render(&outline, &view).text;
        writeln!(all, "== {} ==\n{text}", language.name).unwrap();
    }
    let missing: Vec<&str> =
        LANGUAGES.iter().map(|language| language.id).filter(|id| !seen.contains(id)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "each language has a sample");
    insta::assert_snapshot!(all);
}

#[test]
fn a_value_is_never_in_an_outline() {
    for (name, text) in samples() {
        let text = text.replace("10", "1077001").replace("\"hidden\"", "\"hunter2hunter2\"");
        let outline = outline(&name, &text);
        let all = format!("{:?}", outline.items);
        assert!(!all.contains("1077001") && !all.contains("hunter2"), "{name}: {all}");
    }
}

#[test]
fn the_line_is_the_one_with_the_name_and_the_range_has_decorators() {
    let text = "@one\n@two(3)\ndef\\\n  run():\n  pass\n";
    let outline = outline("a.py", text);
    let [item] = &outline.items[..] else { panic!("{outline:?}") };
    assert_eq!((item.first, item.line, item.last), (1, 4, 5));
}

#[test]
fn a_text_that_does_not_follow_its_grammar_keeps_what_does() {
    let outline = outline("a.rs", "fn whole() {}\n\nfn broken( {\n\nfn other() {}\n");
    assert!(outline.has_gaps);
    assert_eq!(outline.items[0].name, "whole");
}

fn lines_of(outline: &Outline) -> Vec<(&str, u32, u32)> {
    outline.items.iter().map(|item| (item.name.as_str(), item.line, item.last)).collect()
}

#[test]
fn macros_before_declarations_hide_nothing() {
    let text = "\
#define really_inline inline __attribute__((always_inline))
LIB_NAMESPACE_BEGIN
namespace a {
template <typename T>
class LIB_API Box {
  LIB_PRIVATE_UNLESS_TESTED:
    LIB_NON_NULL(1, 2)
    LIB_NODISCARD int size() const LIB_NOEXCEPT { return 1; }
};
constexpr really_inline int one() { return 1; }
}
LIB_NAMESPACE_END
";
    let outline = outline("a.hpp", text);
    let expected =
        [("really_inline", 1, 1), ("a", 3, 11), ("Box", 5, 9), ("size", 8, 8), ("one", 10, 10)];
    assert_eq!(lines_of(&outline), expected);
    assert!(outline.items[2].signature.contains("class LIB_API Box"), "as it is written");
    assert!(!outline.has_gaps);
    let test = "TEST_BEGIN(rotates) {\n\tx();\n}\nTEST_END\nTEST_BEGIN(turns) {\n}\nTEST_END\n";
    let lines = crate::parse(Language::by_id("c").unwrap(), test);
    assert_eq!(lines_of(&lines), [("rotates", 1, 3), ("turns", 5, 6)]);
}

#[test]
fn the_line_of_a_specialisation_is_the_one_with_its_name() {
    let text = "\
template <typename T>
struct box<T,
           void_t<int>> {};
";
    let outline = outline("a.hpp", text);
    assert_eq!(outline.items[0].line, 2);
}

#[test]
fn macros_in_a_row_are_all_removed() {
    let text = "LIB_END\nLIB_BEGIN\ntemplate <class T> class Box {\n  using type = T;\n};\n";
    let outline = outline("a.hpp", text);
    assert_eq!(lines_of(&outline), [("Box", 3, 5), ("type", 4, 4)]);
}

#[test]
fn a_declaration_that_cannot_be_read_hides_none_after_it() {
    let text = "\
namespace a {
TEST(numbers, enum) { CHECK(throw 1, x, \"\"); }

// Holds a value.
class Box {
 public:
  Box() {}
};
int twice(int x) { return 2 * x; }
}
";
    let outline = outline("a.hpp", text);
    let all = lines_of(&outline);
    for expected in [("Box", 5, 8), ("Box", 7, 7), ("twice", 9, 9)] {
        assert!(all.contains(&expected), "{expected:?} in {all:?}");
    }
    assert!(outline.items.iter().all(|item| !item.signature.contains("class Box {")), "{all:?}");
}

#[test]
fn pieces_are_declarations_and_branches_open_the_same_braces() {
    let text = "\
inline namespace a {
extern \"C\" {
#if X
void f() {
#else
int f() {
#endif
}
struct b {
  int c;
} d;
}
extern \"C\" void g() {
}
}
namespace h {
using e = int;
";
    let pieces = pieces(text);
    let of: Vec<(usize, &str)> = pieces.iter().map(|it| (it.row, it.text.trim())).collect();
    let body = "#if X\nvoid f() {\n#else\nint f() {\n#endif\n}";
    let expected = [
        (1, body),
        (7, "struct b {\n  int c;\n} d;"),
        (11, "extern \"C\" void g() {\n}"),
        (15, "using e = int;"),
    ];
    assert_eq!(of, expected);
    assert!(pieces.iter().all(|it| text[it.from..].starts_with(it.text)));
}

#[test]
fn functions_of_zsh_are_found_among_what_bash_cannot_read() {
    let text = "\
function first {
  for x ($list) { echo ${(%)x} }
  (( $+commands[git] )) || return
}

# Shows it.
function second third {
  [[ -n ${x:#*(a|b)} ]] && { echo a } always { echo b }
}
short() { echo ${${x}:h} }
";
    let outline = outline("a.zsh", text);
    let all = lines_of(&outline);
    for expected in [("first", 1, 4), ("short", 10, 10)] {
        assert!(all.contains(&expected), "{expected:?} in {all:?}");
    }
    let both = outline.items.iter().find(|item| item.line == 7).unwrap();
    assert_eq!((both.last, both.doc.as_str()), (9, "Shows it"));
    assert!(both.signature.contains("second third"), "{}", both.signature);
    assert!(outline.has_gaps, "something may be missing all the same");
}

#[test]
fn members_of_a_prototype_and_functions_called_at_once_are_items() {
    let text = "\
function add() {}
function setUp() {
  Box.prototype.add = Box.prototype.push = add;
}
Box.prototype.size = 1077;
Box.other = 1;
function open() {
  var plain = one(), make = (function() {
    return 1;
  }());
  exports.unmake = (() => 1)();
}
";
    let outline = outline("a.js", text);
    let expected = [
        ("add", 1, 1),
        ("setUp", 2, 4),
        ("add", 3, 3),
        ("push", 3, 3),
        ("size", 5, 5),
        ("open", 7, 12),
        ("make", 8, 10),
        ("unmake", 11, 11),
    ];
    assert_eq!(lines_of(&outline), expected);
    assert_eq!(outline.items[4].signature, "Box.prototype.size", "without its value");
}

#[test]
fn names_of_zsh_may_be_many_and_have_signs() {
    let text = "\
function first second \\
  third {
  echo ${(%)x}
}
function one.() { export HERE=$PWD }
function -$0-two() { A=1; }
function {a,b}_three() {
  B=2
}
function {
  C=3
}
";
    let outline = outline("a.zsh", text);
    let all = lines_of(&outline);
    let names = [("first", 1, 4), ("one.", 5, 5), ("-$0-two", 6, 6), ("{a,b}_three", 7, 9)];
    for expected in names {
        assert!(all.contains(&expected), "{expected:?} in {all:?}");
    }
    let functions = outline.items.iter().filter(|item| item.kind.is_function());
    assert_eq!(functions.count(), names.len(), "{all:?}");
}

#[test]
fn a_text_that_is_no_function_begins_none() {
    let text = "if [ ; then\nwords=()\necho foo () bar\ncase x in a) ;; esac\nx=$(f)\n";
    let outline = outline("a.zsh", text);
    assert!(outline.items.iter().all(|item| item.kind != ItemKind::Function), "{outline:?}");
}

proptest::proptest! {
    #[test]
    fn a_text_without_its_macros_has_the_same_lines(
        text in r#"[A-Z_a-z(){}#:;<>/*"'\\ \né]{0,200}"#,
    ) {
        let without = macros::without_macros(&text);
        for piece in pieces(&text) {
            let there = text.get(piece.from..piece.from + piece.text.len());
            proptest::prop_assert_eq!(there, Some(piece.text));
        }
        proptest::prop_assert_eq!(without.len(), text.len());
        proptest::prop_assert_eq!(without.lines().count(), text.lines().count());
    }
}

#[test]
fn a_deep_tree_does_not_overflow_the_stack() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(outline("a.json", &deep).items, []);
}

#[test]
fn items_beyond_the_limit_are_counted() {
    let text: String = (0..ITEMS_MAX + 7).map(|at| format!("fn f{at}() {{}}\n")).collect();
    let outline = outline("a.rs", &text);
    assert_eq!((outline.items.len(), outline.left_out), (ITEMS_MAX, 7));
}

#[test]
fn keys_are_listed_to_a_depth_only() {
    let outline = outline("a.json", r#"{"a":{"b":{"c":{"d":{"e":1}}}}}"#);
    let names: Vec<&str> = outline.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn languages_do_not_share_names() {
    for (at, one) in LANGUAGES.iter().enumerate() {
        for other in LANGUAGES.iter().skip(at + 1) {
            assert_ne!(one.id, other.id);
            let shared = one.extensions.iter().find(|it| other.extensions.contains(it));
            assert_eq!(shared, None, "{} and {}", one.name, other.name);
        }
    }
}

#[test]
fn each_rule_names_a_node_of_its_grammar() {
    for (language, grammar) in LANGUAGES.iter().zip(GRAMMARS) {
        let nodes: tree_sitter::Language = grammar.language.into();
        let rules = grammar.rules.iter().copied().flatten().map(|rule| rule.node);
        let others = grammar.wrappers.iter().chain(grammar.pruned).copied();
        for name in rules.chain(others) {
            assert_ne!(nodes.id_for_node_kind(name, true), 0, "{}: {name}", language.name);
        }
    }
}

#[test]
fn a_script_is_known_by_its_first_line() {
    let id = |text: &str| Language::of_file("run", text).map(|language| language.id);
    assert_eq!(id("#!/usr/bin/env python3.11\n"), Some("python"));
    assert_eq!(id("#!/bin/sh -e\n"), Some("bash"));
    assert_eq!(id("#!/usr/bin/env -S node --x\n"), Some("javascript"));
    assert_eq!(id("echo\n"), None);
}

#[test]
fn a_header_with_classes_is_cpp() {
    let id = |text: &str| Language::of_file("a.h", text).map(|language| language.id);
    assert_eq!(id("class A {};\n"), Some("cpp"));
    assert_eq!(id("struct a;\n"), Some("c"));
}
