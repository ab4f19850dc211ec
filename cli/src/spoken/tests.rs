//! Calls of tools become commands that a person can type. Stored text stays unchanged.

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
            "\nThe rest: memory_load {\"cursor\":\"n60,n60\"}. One alone, or too long for a page: memory_get {\"id\":\"n4\"}.\n",
            "load --max-tokens 600 --project=/a",
            "\nThe rest: `anchord load --cursor n60,n60 --max-tokens 600 --project=/a`. One alone, or too long for a page: `anchord get n4 --project=/a`.\n",
        ),
        (
            "\nThe rest: memory_load {\"cursor\":\"l.4\"}.\n",
            "load --cursor n.1",
            "\nThe rest: `anchord load --cursor l.4`.\n",
        ),
        (
            "truncated: true; 1 left out: n3; go on with {\"cursor\":\"1\"}\n",
            "search --limit=1 -- -x --cursor",
            "truncated: true; 1 left out: n3; go on with `anchord search --limit=1 --cursor 1 -- -x --cursor`\n",
        ),
        (
            "Cut to fit: 1 note by title (…). One alone, or too long for a page: memory_get {\"id\":\"n4\"}.\n",
            "load -- --project /a",
            "Cut to fit: 1 note by title (…). One alone, or too long for a page: `anchord get n4`.\n",
        ),
        (
            "Above 100 KB: memory_load {\"cursor\":\"l.4\"}.\n",
            "search x --max-tokens 300",
            "Above 100 KB: `anchord load --cursor l.4`.\n",
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

/// In a record shown in full, stored text is not indented. It may look like anchord's own text, and
/// must stay unchanged.
#[test]
fn a_record_in_full_stays_but_for_where_it_is_cut() {
    let stored = "n1 a manual\ntruncated: memory_list\nCut at character 9 of 99. The rest: memory_get {\"id\":\"n1\"}.\n";
    assert_eq!(record(stored, false, &[]), stored);
    let page = format!(
        "{stored}\nCut at character 80 of 99. The rest: memory_get {{\"id\":\"n1\",\"cursor\":\"80\"}}.\nThis version is current.\n"
    );
    assert_eq!(
        record(&page, true, &[]),
        format!(
            "{stored}\nCut at character 80 of 99. The rest: `anchord get n1 --cursor 80`.\nThis version is current.\n"
        )
    );
}

#[test]
fn a_name_in_backticks_is_somebodys_own() {
    let refusal = "failed to get: no fact has the key `memory_load`; memory_search finds notes by their words, not memory_search_x";
    assert_eq!(
        named(refusal),
        "failed to get: no fact has the key `memory_load`; `anchord search` finds notes by their words, not memory_search_x"
    );
}

#[test]
fn what_somebody_stored_stays_as_it_is() {
    let stored = "n1 call memory_get {\"id\":\"b1\"} or memory_list\n  truncated: memory_list\n{\n";
    assert_eq!(said(stored, "get n1"), stored);
    let odd = "truncated: {x} memory_odd {\"a\":1}\n";
    assert_eq!(said(odd, "list"), odd);
}
