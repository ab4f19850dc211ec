//! Lines of the log as a person reads them.

use serde_json::json;

use super::*;

#[test]
fn a_line_says_who_asked_what_and_got_what() {
    let line = Retrieval {
        number: 7,
        time: 1_763_780_000_000,
        session: "019aa4f2-0000-7000-8000-0123456789ab".to_owned(),
        client: "claude-code".to_owned(),
        tool: "memory_search".to_owned(),
        asked: json!({"limit": 3, "query": "retry backoff"}),
        ids: vec!["n12".to_owned(), "l3".to_owned()],
        tokens: 612,
        micros: 1_234,
        ..Retrieval::default()
    };
    let many = Retrieval {
        tool: "a_tool_of_another_set".to_owned(),
        client: "a client with a long name".to_owned(),
        asked: json!("cut because it was so very long …"),
        ids: (1..=9).map(|number| format!("n{number}")).collect(),
        more: 40,
        truncated: true,
        tokens: 1_234_567,
        ..line.clone()
    };
    let none = Retrieval { asked: json!({}), ids: Vec::new(), ..line.clone() };
    let refused = Retrieval {
        asked: json!({"id": "n\u{1b}[31m"}),
        refused: true,
        ids: Vec::new(),
        ..line.clone()
    };
    for layout in [Layout::Wide, Layout::Narrow(80)] {
        let lines: Vec<String> =
            [&line, &many, &none, &refused].map(|line| layout.words(line)).into_iter().collect();
        if let Layout::Narrow(width) = layout {
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
        }
        insta::assert_snapshot!(format!("{}\n{}", layout.head(), lines.join("\n")));
    }
}
