//! What is shown before it goes.

use anchord_daemon::http::api::{ProjectRef, PurgedStatus};

use super::*;

fn plan() -> PurgeReply {
    PurgeReply {
        project: ProjectRef { id: String::new(), root: "/src/parser".to_owned() },
        applied: false,
        revision: None,
        records: vec![
            PurgedStatus { id: "b3".into(), versions: 1, title: "deploys\u{1b}[2J".into() },
            PurgedStatus { id: "n12".into(), versions: 14, title: "a note".into() },
        ],
        checkpoints: 2,
        replies: 1,
        elsewhere: vec!["l3".to_owned(), "s4".to_owned()],
        files: 3,
        failed: Vec::new(),
    }
}

fn shown(plan: &PurgeReply) -> String {
    let mut out = Vec::new();
    show_plan(&mut out, plan).unwrap();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
}

#[test]
fn a_plan_names_what_goes_and_what_stays() {
    insta::assert_snapshot!(shown(&plan()), @r"
    This goes from /src/parser:
      id   versions
      b3          1  deploys�[2J
      n12        14  a note
      what 2 checkpoints held of it
      what 3 other files held of it, such as logs
    The same text stands in l3 s4 as well; name them to purge them, too.
    ");
}

#[test]
fn nothing_to_purge_is_said() {
    let nothing = PurgeReply {
        records: Vec::new(),
        checkpoints: 0,
        replies: 0,
        elsewhere: Vec::new(),
        files: 0,
        ..plan()
    };
    assert_eq!(shown(&nothing), "nothing to purge: the text stands in no record and no log\n");
}
