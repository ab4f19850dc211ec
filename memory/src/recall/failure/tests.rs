//! Failures of a made-up project, and the records that help with each.

mod second;

use super::*;
use crate::lifecycle::{CommandRun, Event, ToolRun};
use crate::testing::{apply, blueprint, day, lesson, note, origin, save};
use crate::{
    Lesson, NewNote, NoticeCause, SessionActivity, Staged, plan_capture, plan_keep, plan_notes,
};

/// Lessons that agents learned from failures: `l1` to `l12`.
const LESSONS: [(&str, &str); 12] = [
    (
        "alembic reports two heads after branches are merged",
        "Run `alembic merge heads`, then upgrade again.",
    ),
    (
        "The integration tests need DATABASE_URL",
        "Without it pytest stops in conftest. Run `make db` and export DATABASE_URL first.",
    ),
    (
        "psycopg2 does not build on the runners",
        "libpq-dev is missing there; install psycopg2-binary instead.",
    ),
    (
        "`npm ci` fails with ERESOLVE since react-table pins react 17",
        "Use `npm ci --legacy-peer-deps`.",
    ),
    (
        "Terraform state lock stays behind when a plan is interrupted",
        "`terraform force-unlock ID` after asking in #infra.",
    ),
    (
        "The docker build runs out of memory while bundling the storefront",
        "Set NODE_OPTIONS=--max-old-space-size=4096 in the Dockerfile.",
    ),
    (
        "git push to main is rejected",
        "The branch is protected: push a branch and open a pull request with `gh pr create`.",
    ),
    (
        "Port 8080 is taken by the old gateway on developers' machines",
        "Stop it with `systemctl --user stop gateway`.",
    ),
    (
        "kubectl apply fails with forbidden in the prod namespace",
        "Switch with `kubectx prod-admin`; the default role may only read.",
    ),
    (
        "protoc 3 writes files that the Go services cannot compile",
        "Use the protoc 25 of `make tools`.",
    ),
    ("The flaky checkout test raced with the clock", "Freeze the time with the `frozen` fixture."),
    (
        "Playwright cannot launch chromium in the container",
        "Run `npx playwright install --with-deps chromium` in the image.",
    ),
];

/// Other notes, with ids `n…` in this order.
const NOTES: [(Option<&str>, &str); 10] = [
    (Some("test.command"), "make test-ci; a single one with `pytest -k NAME`"),
    (Some("lint.command"), "ruff check --fix, then mypy --strict app"),
    (Some("db.port"), "Postgres listens on port 5433 here, not on 5432; start it with `make db`"),
    (None, "The storefront is built with Vite and served by nginx"),
    (None, "Deploys go out on Tuesdays; ask in #release before one"),
    (None, "shellcheck must be installed with apt, the pip package is something else"),
    (None, "Invoices are numbered per tenant, never globally"),
    (None, "Sidekiq was replaced by a Postgres queue in May"),
    (None, "The broker refuses clients older than 3.2: rebuild the worker image after an upgrade"),
    (None, "mypy needs the stubs of types-redis, else it reports missing library stubs"),
];

fn memory() -> Memory {
    let mut memory = Memory::default();
    let lessons: Vec<Lesson> =
        LESSONS.iter().map(|(summary, detail)| lesson(summary, detail)).collect();
    let part = Staged {
        lessons,
        blueprints: vec![
            blueprint("Queue", "Jobs are rows in Postgres, taken with SKIP LOCKED"),
            blueprint("Errors", "Handlers return ProblemDetails; never a bare 500"),
            blueprint("Secrets", "sops decrypts secrets.yaml; it needs AGE_KEY_FILE to be set"),
            blueprint("Frontend", "React 17 until react-table is replaced"),
        ],
        ..Staged::default()
    };
    save(&mut memory, &origin("one", 1), part);
    for (key, content) in NOTES {
        let new = NewNote { key: key.map(str::to_owned), ..note(content) };
        let plan = plan_notes(&memory, &origin("two", 2), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

/// Returns the ids of the records that are given.
fn given(memory: &Memory, command: &str, output: &str) -> Vec<String> {
    given_but(memory, command, output, &[])
}

fn given_but(memory: &Memory, command: &str, output: &str, but: &[RecordId]) -> Vec<String> {
    let given = but.iter().copied().collect();
    let reader = Reader::anyone();
    let of = FailureView { reader: &reader, command, output, given: &given, now: day(9) };
    remedies(memory, &of).iter().map(RecordId::to_string).collect()
}

/// Returns the id of the record whose text begins like this.
fn id(memory: &Memory, begins: &str) -> String {
    let has = |record: &&std::sync::Arc<Record>| text_of(record).trim().starts_with(begins);
    memory.records().find(has).unwrap_or_else(|| panic!("{begins}")).id.to_string()
}

/// Commands, their outputs, and the beginning of the record that helps.
const HELPED: [(&str, &str, &str); 24] = [
    (
        "alembic upgrade head",
        "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads",
        "alembic reports two heads",
    ),
    (
        "uv run alembic upgrade head",
        "  FAILED: Multiple head revisions are present for given argument 'head'",
        "alembic reports two heads",
    ),
    (
        "pytest tests/integration",
        "E   KeyError: 'DATABASE_URL'\nERROR tests/integration/conftest.py - KeyError: 'DATABASE_URL'",
        "The integration tests need",
    ),
    (
        "make test-ci",
        "RuntimeError: DATABASE_URL is not set\nmake: *** [Makefile:12: test-ci] Error 1",
        "The integration tests need",
    ),
    (
        "pip install -r requirements.txt",
        "  error: subprocess-exited-with-error\n  Error: pg_config executable not found.\n  ERROR: Failed building wheel for psycopg2",
        "psycopg2 does not build",
    ),
    (
        "python manage.py migrate",
        "Traceback (most recent call last):\n  File \"manage.py\", line 3, in <module>\nModuleNotFoundError: No module named 'psycopg2'",
        "psycopg2 does not build",
    ),
    (
        "npm ci",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve\nnpm ERR! While resolving: react-table@7.8.0\nnpm ERR! Found: react@18.2.0",
        "`npm ci` fails with ERESOLVE",
    ),
    (
        "npm install lodash",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
        "`npm ci` fails with ERESOLVE",
    ),
    (
        "terraform apply -auto-approve",
        "╷\n│ Error: Error acquiring the state lock\n│ \n│ Error message: ConditionalCheckFailedException",
        "Terraform state lock",
    ),
    (
        "terraform plan",
        "Error: Error locking state: Error acquiring the state lock: ConditionalCheckFailedException",
        "Terraform state lock",
    ),
    (
        "docker build -t shop .",
        "#12 40.1 FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\nERROR: failed to solve: process \"/bin/sh -c npm run build\" did not complete successfully: exit code: 134",
        "The docker build runs out of memory",
    ),
    (
        "git push origin main",
        "remote: error: GH006: Protected branch update failed for refs/heads/main.\nTo github.com:acme/shop.git\n ! [remote rejected] main -> main (protected branch hook declined)\nerror: failed to push some refs to 'github.com:acme/shop.git'",
        "git push to main",
    ),
    (
        "npm run dev",
        "Error: listen EADDRINUSE: address already in use :::8080",
        "Port 8080 is taken",
    ),
    (
        "docker compose up -d web",
        "Error response from daemon: driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:8080 failed: port is already allocated",
        "Port 8080 is taken",
    ),
    (
        "kubectl apply -f k8s/api.yaml -n prod",
        "Error from server (Forbidden): error when retrieving current configuration of: deployments.apps \"api\" is forbidden: User \"dev\" cannot get resource \"deployments\" in the namespace \"prod\"",
        "kubectl apply fails with forbidden",
    ),
    (
        "make proto",
        "protoc-gen-go: plugins are not supported; use 'protoc --go-grpc_out=...' to generate gRPC\nmake: *** [Makefile:30: proto] Error 1",
        "protoc 3 writes files",
    ),
    (
        "npx playwright test",
        "Error: browserType.launch: Executable doesn't exist at /opt/cache/ms-playwright/chromium-1091/chrome-linux/chrome",
        "Playwright cannot launch",
    ),
    (
        "psql -h localhost -f seed.sql",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
        "db.port",
    ),
    (
        "shellcheck scripts/deploy.sh",
        "bash: line 1: shellcheck: command not found",
        "shellcheck must be installed",
    ),
    (
        "sops -d secrets.yaml",
        "Failed to get the data key required to decrypt the SOPS file.\nage: AGE_KEY_FILE is not set and no identity was found",
        "Secrets",
    ),
    (
        "mypy --strict app",
        "app/cache.py:3: error: Library stubs not installed for \"redis\"  [import-untyped]\nFound 1 error in 1 file",
        "mypy needs the stubs",
    ),
    (
        "docker compose logs worker",
        "worker-1  | broker handshake failed: client version 3.1 refused, at least 3.2 is required",
        "The broker refuses clients",
    ),
    (
        "pytest tests/test_checkout.py",
        "FAILED tests/test_checkout.py::test_checkout_expires - AssertionError: checkout expired by the clock",
        "The flaky checkout test",
    ),
    (
        "git push --force origin main",
        "error: failed to push some refs to 'github.com:acme/shop.git'",
        "git push to main",
    ),
];

/// Failures that memory has nothing about.
const SILENT: [(&str, &str); 16] = [
    ("cargo build", "error[E0425]: cannot find value `cfg` in this scope\n  --> src/main.rs:14:9"),
    (
        "pytest tests/test_cart.py",
        "FAILED tests/test_cart.py::test_total - assert 10 == 12\n1 failed in 0.12s",
    ),
    ("npm run build", "src/cart.ts(12,5): error TS2304: Cannot find name 'Decimal'."),
    (
        "npm test",
        "● cart › adds up\n\n    expect(received).toBe(expected)\nTests: 1 failed, 4 passed, 5 total",
    ),
    ("git commit -m wip", "Exit code 1"),
    (
        "git merge feature",
        "CONFLICT (content): Merge conflict in src/cart.rs\nAutomatic merge failed; fix conflicts and then commit the result.",
    ),
    ("ls missing", "ls: cannot access 'missing': No such file or directory"),
    ("grep -rn needle src", "Exit code 1"),
    (
        "curl -sf http://localhost:9000/health",
        "curl: (7) Failed to connect to localhost port 9000 after 0 ms: Connection refused",
    ),
    ("docker run --rm alpine false", "Exit code 1"),
    (
        "docker pull acme/base:9",
        "Error response from daemon: manifest for acme/base:9 not found: manifest unknown",
    ),
    (
        "terraform validate",
        "Error: Unsupported argument\n\n  on main.tf line 12, in resource \"aws_s3_bucket\" \"logs\":\n  12:   acl_ = \"private\"",
    ),
    ("kubectl get pods -n stagin", "Error from server (NotFound): namespaces \"stagin\" not found"),
    (
        "python run.py",
        "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\nTypeError: unsupported operand type(s) for +: 'int' and 'str'",
    ),
    ("cat notes.txt", "cat: notes.txt: Permission denied"),
    (
        "alembic upgrade head",
        "sqlalchemy.exc.ProgrammingError: (psycopg.errors.DuplicateTable) relation \"tenants\" already exists",
    ),
];

#[test]
fn a_known_failure_brings_its_remedy() {
    let memory = memory();
    let mut wrong = Vec::new();
    for (command, output, begins) in HELPED {
        let found = given(&memory, command, output);
        let wanted = id(&memory, begins);
        if found.first() != Some(&wanted) {
            wrong.push(format!("{command}: {found:?}, wanted {wanted} {begins}"));
        }
        if found.len() > 1 {
            wrong.push(format!("{command}: also {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn an_unknown_failure_brings_no_records() {
    let memory = memory();
    for (command, output) in SILENT {
        assert_eq!(given(&memory, command, output), [""; 0], "{command}: {output}");
    }
}

#[test]
fn known_private_and_expired_records_are_not_given() {
    let mut memory = memory();
    let (command, output, begins) = HELPED[0];
    let known: RecordId = id(&memory, begins).parse().unwrap();
    assert_eq!(given_but(&memory, command, output, &[known]), [""; 0], "given before");
    let own =
        NewNote { private: true, ..note("alembic fails with Multiple head revisions: ask Ann") };
    let old = NewNote {
        expires: Some(day(3)),
        ..note("alembic fails with Multiple head revisions until Tuesday")
    };
    for new in [own, old] {
        let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    assert_eq!(given_but(&memory, command, output, &[known]), [""; 0], "private or expired");
}

/// Returns a memory that saw `command` fail with an output and pass after an edit, on a day.
fn with_fix(mut memory: Memory, on: i64, command: &str, output: &str) -> Memory {
    let mut captured = SessionActivity::of("claude-code:1");
    let ran = |command: &str, passed, output: &str| {
        let command = Some(CommandRun::judge(command.to_owned(), Some(passed), output));
        Event::ToolRan(ToolRun { command, ..ToolRun::default() })
    };
    let edited = vec!["migrations/env.py".to_owned()];
    let events = [
        ran(command, false, output),
        Event::ToolRan(ToolRun { edited, ..ToolRun::default() }),
        ran(command, true, ""),
    ];
    for event in &events {
        captured.saw(event, day(on));
    }
    let by = origin(&format!("fixer {on}"), on);
    let plan = plan_capture(&memory, &by, captured).unwrap();
    apply(&mut memory, plan);
    let plan = plan_keep(&memory, &by.session, &by, NoticeCause::Ended, false).unwrap();
    apply(&mut memory, plan);
    memory
}

#[test]
fn a_captured_fix_ranks_behind_a_written_remedy() {
    let (command, output, begins) = HELPED[0];
    let memory = with_fix(memory(), 3, command, output);
    let fix = id(&memory, "`alembic upgrade head` failed");
    assert_eq!(given(&memory, command, output), [id(&memory, begins), fix.clone()]);
    let others = "cd /srv/app && alembic upgrade head 2>&1";
    assert_eq!(given(&memory, others, output).last(), Some(&fix), "the command in another form");
    let other = "sqlalchemy.exc.ProgrammingError: relation \"tenants\" already exists";
    assert_eq!(given(&memory, command, other), [""; 0], "another error of the command");
    assert!(!given(&memory, "flask db upgrade", output).contains(&fix), "another program");
}

#[test]
fn a_fix_is_found_by_an_error_that_differs_only_in_numbers() {
    let lock = |n: u32| format!("error: the lock 0x{n:08x} is held by process {n}");
    let memory = with_fix(Memory::default(), 3, "make migrate", &lock(17));
    assert_eq!(given(&memory, "make migrate", &lock(4711)).len(), 1);
    let other = "error: the lock file cannot be written to this place";
    assert_eq!(given(&memory, "make migrate", other), [""; 0]);
    // Many records that match by words do not push it out.
    let mut memory = memory;
    for n in 0..4 {
        let new = note(&format!("make migrate fails while the lock is held by a process, {n}"));
        let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    let found = given(&memory, "make migrate", &lock(4711));
    assert_eq!(found.len(), 2);
    assert!(found[1].starts_with('l'), "{found:?}");
}

#[test]
fn a_record_that_quotes_the_whole_command_is_found() {
    let mut memory = memory();
    let command = "cargo test -p bridge --features sim";
    let new = note(&format!("bridge: {command} -- --test-threads=1, they share a port"));
    let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(new)]).unwrap();
    apply(&mut memory, plan);
    let quoting = id(&memory, "bridge: cargo test");
    let panic = "thread 'sim::drops' panicked at tests/sim.rs:31:10:\nbind: Os { code: 98, kind: AddrInUse }";
    assert_eq!(given(&memory, &format!("cd /src && {command}"), panic), [quoting]);
    let compiler = "error[E0425]: cannot find value `cfg` in this scope\n  --> src/main.rs:14:9";
    assert_eq!(given(&memory, command, compiler), [""; 0], "the code is wrong, not the command");
}

#[test]
fn a_much_worse_match_is_left_out() {
    let mut memory = memory();
    let (command, output, begins) = HELPED[0];
    let new = note("alembic upgrade fails: Multiple head revisions are present, specific target");
    let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(new)]).unwrap();
    apply(&mut memory, plan);
    let best = id(&memory, "alembic upgrade fails");
    let known: RecordId = best.parse().unwrap();
    assert_eq!(given(&memory, command, output), [best]);
    assert_eq!(given_but(&memory, command, output, &[known]), [id(&memory, begins)]);
}

#[test]
fn at_most_two_remedies_are_given() {
    let mut memory = memory();
    for n in 0..5 {
        let new = note(&format!("alembic fails with Multiple head revisions, case {n}"));
        let plan = plan_notes(&memory, &origin("other", 2), vec![Ok(new)]).unwrap();
        apply(&mut memory, plan);
    }
    let (command, output, _) = HELPED[0];
    assert_eq!(given(&memory, command, output).len(), REMEDIES_MAX);
}
