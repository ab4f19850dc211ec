//! What a person can type, and what stays as somebody wrote it.

use super::*;

fn said(text: &str, typed: &str) -> String {
    let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
    as_commands(text, &typed)
}

#[test]
fn a_call_becomes_the_command_that_does_it() {
    let cases = [
        (
            "Cut to fit: 3 notes not shown. The rest: memory_load {\"cursor\":\"n.12\",\"sections\":[\"notes\",\"lessons\"]}. \
             One alone, or too long for a page: memory_get {\"id\":\"n4\"}.\n",
            "load --project /a/b",
            "Cut to fit: 3 notes not shown. The rest: `anchord load --cursor n.12 --section notes --section lessons --project /a/b`. \
             One alone, or too long for a page: `anchord get n4 --project /a/b`.\n",
        ),
        (
            "\nCut at character 9 of 99. The rest: memory_get {\"id\":\"b1\",\"version\":2,\"cursor\":\"9\"}.\n",
            "get b1",
            "\nCut at character 9 of 99. The rest: `anchord get b1 --cursor 9 --version 2`.\n",
        ),
        (
            "truncated: 4 more; go on with {\"cursor\":\"12\"}\n",
            "list --kind note --cursor 30 --tag=x",
            "truncated: 4 more; go on with `anchord list --kind note --tag=x --cursor 12`\n",
        ),
        (
            "## Topics (6; all: memory_load {\"sections\":[\"topics\"]})\n",
            "load",
            "## Topics (6; all: `anchord load --section topics`)\n",
        ),
        (
            "Nothing matches. Try fewer or other words, or memory_list to see what there is.",
            "search x",
            "Nothing matches. Try fewer or other words, or `anchord list` to see what there is.",
        ),
    ];
    for (text, typed, expected) in cases {
        assert_eq!(said(text, typed), expected);
    }
}

#[test]
fn what_somebody_stored_stays_as_it_is() {
    let stored = "n1 call memory_get {\"id\":\"b1\"} or memory_list\n  truncated: memory_list\n{\n";
    assert_eq!(said(stored, "get n1"), stored);
    let odd = "truncated: {x} memory_odd {\"a\":1}\n";
    assert_eq!(said(odd, "list"), odd);
}
