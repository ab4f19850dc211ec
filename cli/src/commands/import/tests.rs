//! Another system's folder, and the plan in words.

use anchord_daemon::api::ProjectRef;
use anchord_daemon::api::{ByKind, ImportCounts};
use anchord_memory::PerKind;

use super::*;
use crate::commands::ProjectArg;

fn args(path: PathBuf, project: &Path) -> Args {
    let project = ProjectArg { project: Some(project.to_str().unwrap().to_owned()) };
    let memory = MemoryArg { project, user: false };
    Args { what: None, path: Some(path), memory, dry_run: false, yes: false, json: false }
}

fn refused(args: Args) -> Error {
    args.read().err().expect("it is refused")
}

#[test]
fn state_and_staged_work_are_read_and_the_session_is_optional() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join(".zipmem");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("state.json"), "{\"version\":1}").unwrap();
    let Source { params, parts } = args(folder.clone(), scratch.path()).read().unwrap();
    assert_eq!(parts, ["{\"version\":1}"]);
    assert_eq!(params.session, None);
    assert!(params.dry_run, "the first request is a plan");

    std::fs::write(folder.join("session.json"), "{}").unwrap();
    let params = args(folder.clone(), scratch.path()).read().unwrap().params;
    assert_eq!(params.session.as_deref(), Some("{}"));
    let params = args(folder.join("state.json"), scratch.path()).read().unwrap().params;
    assert_eq!(params.session, None, "only the file that was named is read");
    assert_eq!(params.source, ImportSource::Zipmem);
    std::fs::write(folder.join("state.json"), "{\"version\":1,\"items\":[]}").unwrap();
    assert_eq!(args(folder, scratch.path()).read().unwrap().params.source, ImportSource::Compactor);
}

#[test]
fn the_source_of_a_file_is_detected_by_its_fields() {
    for (text, source) in [
        (r#"{"version": 1, "items": []}"#, ImportSource::Compactor),
        (r#"{"items": {"a": {"content": "by id"}}}"#, ImportSource::Compactor),
        (r#"{"version": 1, "blueprints": []}"#, ImportSource::Zipmem),
        ("\u{feff}{\"records\": [], \"revision\": 3}", ImportSource::Anchord),
    ] {
        assert_eq!(source_of(Path::new("x"), text).unwrap(), source, "{text}");
    }
}

#[test]
fn a_folder_without_a_state_is_a_usage_error() {
    let scratch = tempfile::tempdir().unwrap();
    let error = refused(args(scratch.path().to_owned(), scratch.path()));
    assert_eq!(error.kind.code(), 2);
    assert!(error.message.ends_with("state.json does not exist"), "{error}");
}

/// The limit is that of the request, in which each quote and backslash of the file is escaped
/// again.
#[test]
fn a_foreign_file_may_be_as_long_as_a_request() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("state.json");
    let state = |character: &str, count: usize| {
        let lesson = character.repeat(count);
        std::fs::write(&path, format!("{{\"version\":1,\"lessons\":[\"{lesson}\"]}}")).unwrap();
        args(path.clone(), scratch.path())
    };
    assert!(state("x", 60 << 20).read().is_ok());
    let error = refused(state("\\\"", 17 << 20));
    assert_eq!(error.kind.code(), 2);
    assert!(error.message.ends_with("is too large for one request of 64 MiB"), "{error}");
}

#[test]
fn an_unknown_file_is_a_usage_error() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("x.json");
    for (text, why) in [
        ("nonsense", "x.json is not a JSON object: expected ident at line 1 column 2"),
        ("{}", "x.json has nothing in it that anchord can bring over"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = refused(args(path.clone(), scratch.path()));
        assert_eq!(error.kind.code(), 2);
        assert!(error.message.ends_with(why), "{error}");
        assert!(error.action.unwrap().contains("anchord export --format json"));
    }
}

#[test]
fn a_plan_counts_by_kind_and_says_what_is_left_out() {
    let params = ImportParams {
        project: "/src/parser".into(),
        source: ImportSource::Zipmem,
        path: "/src/parser/.zipmem".into(),
        state: String::new(),
        session: None,
        dry_run: true,
    };
    let mut plan = ImportReply {
        project: Some(ProjectRef { id: "i".into(), root: "/src/parser".into() }),
        applied: false,
        already: false,
        nothing: false,
        revision: None,
        counts: ByKind(PerKind {
            blueprints: ImportCounts { found: 12, new: 10 },
            anchors: ImportCounts { found: 3, new: 3 },
            rows: ImportCounts { found: 2, new: 2 },
            ..PerKind::default()
        }),
        merged: 1,
        remarks: vec!["1 anchor points outside the project and is left out.".into()],
    };
    let printed = |plan: &ImportReply| {
        let mut out = anstream::StripStream::new(Vec::new());
        show_plan(&mut out, plan, &params).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    };
    insta::assert_snapshot!(printed(&plan), @r"
    /src/parser/.zipmem into /src/parser
                  found  new
      blueprints     12   10
      anchors         3    3
      lessons         0    0
      sessions        2    2
      here already, or going into records that are: 1 item
      1 anchor points outside the project and is left out.
    ");
    let compactor = ImportParams { source: ImportSource::Compactor, ..params.clone() };
    let mut out = anstream::StripStream::new(Vec::new());
    plan.counts.0.notes = ImportCounts { found: 7, new: 6 };
    show_plan(&mut out, &plan, &compactor).unwrap();
    insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap(), @r"
    /src/parser/.zipmem into /src/parser
             found  new
      notes      7    6
      here already, or going into records that are: 1 item
      1 anchor points outside the project and is left out.
    ");
    plan.nothing = true;
    assert!(
        printed(&plan)
            .ends_with("left out.\nnothing to bring over: all of it is here or left out\n")
    );
    plan.already = true;
    insta::assert_snapshot!(printed(&plan), @"/src/parser/.zipmem was imported into /src/parser before; nothing to do");
}
