//! Another system's folder, and the plan in words.

use anchord_daemon::api::ProjectRef;
use anchord_daemon::api::{ByKind, ImportCounts};
use anchord_memory::{PerKind, import};

use super::*;
use crate::commands::ProjectArg;

fn args(path: PathBuf, project: &Path) -> Args {
    let project = ProjectArg { project: Some(project.to_str().unwrap().to_owned()) };
    let memory = MemoryArg { project, user: false };
    Args {
        what: None,
        path: Some(path),
        instructions: false,
        from: None,
        memory,
        dry_run: false,
        yes: false,
        json: false,
    }
}

fn source(name: &str) -> &'static Source {
    import::source(name).unwrap()
}

fn refused(args: Args) -> Error {
    args.read().err().expect("it is refused")
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
fn a_plan_counts_by_kind_and_says_what_is_left_out() {
    let params = ImportParams {
        project: "/src/parser".into(),
        part: false,
        source: "zipmem".to_owned(),
        path: "/src/parser/.zipmem".into(),
        texts: Vec::new(),
        dry_run: true,
    };
    let mut plan = ImportReply {
        project: Some(ProjectRef { id: "i".into(), root: "/src/parser".into() }),
        applied: false,
        already: false,
        nothing: false,
        revision: None,
        revisions: Vec::new(),
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
        show_plan(&mut out, plan, source("zipmem"), &params).unwrap();
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
    let mut out = anstream::StripStream::new(Vec::new());
    plan.counts.0.notes = ImportCounts { found: 7, new: 6 };
    show_plan(&mut out, &plan, source("compactor"), &params).unwrap();
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

#[test]
fn a_package_of_a_repository_keeps_its_own_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(scratch.path()).unwrap().join("shop");
    for folder in [".git/objects", ".git/refs", "packages/a/.zipmem", ".zipmem"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let state = root.join("packages/a/.zipmem/state.json");
    std::fs::write(&state, "{\"lessons\":[]}").unwrap();
    std::fs::write(root.join(".zipmem/state.json"), "{\"lessons\":[]}").unwrap();
    let package = |path: &Path| {
        let memory = MemoryArg { project: ProjectArg { project: None }, user: false };
        let args = Args { memory, ..args(path.to_owned(), &root) };
        args.package_of(path).unwrap()
    };
    let own = |is_project| Some(Package { directory: root.join("packages/a"), is_project });
    assert_eq!(package(&root.join("packages/a/.zipmem")), own(false));
    assert_eq!(package(&state), own(false), "its file was named");
    assert_eq!(package(&root.join(".zipmem")), None, "the repository's own");
    let named = args(state.clone(), &root);
    assert_eq!(named.package_of(&state).unwrap(), None, "a project was named");
    make_marker(&root.join("packages/a"), super::super::surroundings().uid).unwrap();
    assert_eq!(package(&state), own(true), "it is a project already");
}
