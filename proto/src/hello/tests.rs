//! Tests of the frozen bytes, and of which versions agree.

use super::*;

const INSTANCE: Uuid = Uuid::from_u128(0x0123_4567_89ab_4def_8123_4567_89ab_cdef);

fn full() -> Hello {
    Hello {
        anchord: 1,
        role: Role::Mcp,
        build: "0.1.0".to_owned(),
        instance: INSTANCE,
        pid: 12,
        pid_start: Some(345),
        boot: Some("b".to_owned()),
        pidns: Some(4_026_531_836),
        agent_pid: Some(11),
        cwd: Some("/p".to_owned()),
        cwd_dev: Some(1),
        cwd_ino: Some(2),
        project: Some("/p".to_owned()),
        tools: Some("default".to_owned()),
        client: Some("codex".to_owned()),
        agent_session: Some("s".to_owned()),
        resume: Some(Resume { token: "t".to_owned(), revision: Some("2025-06-18".to_owned()) }),
        exact: true,
        budget: Some(60_000),
        by_agent: true,
    }
}

/// Changing these bytes breaks every released build. Add a field; never change one.
#[test]
fn the_bytes_of_a_hello_are_frozen() {
    let frozen = concat!(
        r#"{"anchord":1,"role":"mcp","build":"0.1.0","instance":"01234567-89ab-4def-8123-456789abcdef","#,
        r#""pid":12,"pid_start":345,"boot":"b","pidns":4026531836,"agent_pid":11,"cwd":"/p","#,
        r#""cwd_dev":1,"cwd_ino":2,"project":"/p","tools":"default","client":"codex","#,
        r#""agent_session":"s","resume":{"token":"t","revision":"2025-06-18"},"exact":true,"budget":60000,"by_agent":true}"#,
    );
    assert_eq!(serde_json::to_string(&full()).unwrap(), frozen);
    assert_eq!(Hello::read(frozen.as_bytes(), 1), Ok((full(), 1)));
}

#[test]
fn the_names_of_roles_and_refusals_are_frozen() {
    let roles = [Role::Mcp, Role::Hook, Role::Http, Role::Replace];
    assert_eq!(serde_json::to_string(&roles).unwrap(), r#"["mcp","hook","http","replace"]"#);
    let codes = [
        RefusalCode::TooNew,
        RefusalCode::TooOld,
        RefusalCode::Busy,
        RefusalCode::Draining,
        RefusalCode::NotReady,
        RefusalCode::BadHello,
        RefusalCode::NotYours,
    ];
    assert_eq!(
        serde_json::to_string(&codes).unwrap(),
        r#"["too_new","too_old","busy","draining","not_ready","bad_hello","not_yours"]"#
    );
}

#[test]
fn the_bytes_of_answers_are_frozen() {
    let welcome = Answer::Welcome(Welcome {
        anchord: 1,
        build: "0.1.0".to_owned(),
        session: Some("s".to_owned()),
        resume: Some("t".to_owned()),
    });
    let refused = Answer::Refused(Refused {
        code: RefusalCode::Draining,
        message: "m".to_owned(),
        action: "a".to_owned(),
    });
    let frozen = [
        r#"{"welcome":{"anchord":1,"build":"0.1.0","session":"s","resume":"t"}}"#,
        r#"{"refused":{"code":"draining","message":"m","action":"a"}}"#,
    ];
    for (answer, frozen) in [welcome, refused].into_iter().zip(frozen) {
        assert_eq!(serde_json::to_string(&answer).unwrap(), frozen);
        assert_eq!(serde_json::from_str::<Answer>(frozen).unwrap(), answer);
    }
}

#[test]
fn the_smallest_hello_is_accepted() {
    let line = format!(r#"{{"anchord":1,"role":"hook","instance":"{INSTANCE}","pid":12}}"#);
    let expected = Hello { build: String::new(), ..Hello::new(Role::Hook, INSTANCE, 12) };
    assert_eq!(Hello::read(line.as_bytes(), 1), Ok((expected, 1)));
}

#[test]
fn fields_of_a_later_build_are_ignored() {
    let hello = format!(
        r#"{{"anchord":2,"role":"mcp","instance":"{INSTANCE}","pid":12,"new":{{"x":[1]}},"resume":{{"token":"t","y":0}}}}"#
    );
    let (hello, version) = Hello::read(hello.as_bytes(), 1).unwrap();
    assert_eq!((version, hello.resume.unwrap().token.as_str()), (1, "t"));
    let answer = r#"{"welcome":{"anchord":2,"new":1},"beside":null}"#;
    assert!(matches!(
        serde_json::from_str(answer),
        Ok(Answer::Welcome(Welcome { anchord: 2, .. }))
    ));
    let answer = r#"{"refused":{"code":"on_holiday"}}"#;
    assert!(matches!(
        serde_json::from_str(answer),
        Ok(Answer::Refused(Refused { code: RefusalCode::Other, .. }))
    ));
}

#[test]
fn adjacent_versions_agree_on_the_lower_and_others_are_refused() {
    assert_eq!(agree(5, 5), Ok(5));
    assert_eq!(agree(4, 5), Ok(4));
    assert_eq!(agree(6, 5), Ok(5));
    assert_eq!(agree(7, 5).unwrap_err().code, RefusalCode::TooOld);
    assert_eq!(agree(3, 5).unwrap_err().code, RefusalCode::TooNew);
    assert_eq!(
        agree(7, 5).unwrap_err().to_string(),
        "the daemon speaks protocol 5, this client 7; run `anchord restart` with the newer build"
    );
}

#[test]
fn a_distant_version_is_refused_as_such_whatever_else_is_wrong() {
    let line = br#"{"anchord":9,"role":"orchestra"}"#;
    assert_eq!(Hello::read(line, 1).unwrap_err().code, RefusalCode::TooOld);
    let line = br#"{"anchord":1,"role":"orchestra"}"#;
    assert_eq!(Hello::read(line, 1).unwrap_err().code, RefusalCode::BadHello);
    for line in [&b""[..], b"[]", b"{}", b"GET / HTTP/1.1", b"\xff"] {
        assert_eq!(Hello::read(line, 1).unwrap_err().code, RefusalCode::BadHello);
    }
}

#[test]
fn only_a_newer_client_may_replace_a_daemon() {
    let hello = |anchord| {
        let hello = Hello { anchord, ..Hello::new(Role::Replace, INSTANCE, 12) };
        serde_json::to_vec(&hello).unwrap()
    };
    assert_eq!(Hello::read(&hello(9), 5).map(|(_, version)| version), Ok(5));
    assert_eq!(Hello::read(&hello(6), 5).map(|(_, version)| version), Ok(5));
    assert_eq!(Hello::read(&hello(5), 5).unwrap_err().code, RefusalCode::BadHello);
    assert_eq!(Hello::read(&hello(4), 5).unwrap_err().code, RefusalCode::BadHello);
    assert_eq!(Hello::read(&hello(3), 5).unwrap_err().code, RefusalCode::TooNew);
}

#[test]
fn tool_sets_have_names_that_an_error_lists() {
    for set in ToolSet::ALL {
        assert_eq!(set.name().parse(), Ok(set));
    }
    let unknown = "everything".parse::<ToolSet>().unwrap_err().to_string();
    assert_eq!(
        unknown,
        r#"unknown tool set "everything", allowed: default, all, zipmem, compactor, infinite-context, snap-memory"#
    );
    assert!(ToolSet::ALL.iter().all(|set| unknown.contains(set.name())));
}
