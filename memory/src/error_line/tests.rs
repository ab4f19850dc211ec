//! Outputs as tools print them, the line that identifies each error, and its normalised form.

use proptest::prelude::*;

use super::*;

/// A tool's output, and the line that identifies its error.
const OUTPUTS: &[(&str, &str, &str)] = &[
    (
        "cargo build",
        "   Compiling app v0.1.0 (/home/u/app)\nerror[E0425]: cannot find value `cfg` in this scope\n  --> src/main.rs:14:9\n   |\n14 |         cfg.load();\n   |         ^^^ not found in this scope\n\nerror: could not compile `app` (bin \"app\") due to 1 previous error",
        "error[E0425]: cannot find value `cfg` in this scope",
    ),
    (
        "cargo build, no lock",
        "    Updating crates.io index\nerror: failed to select a version for `openssl-sys`.\n    ... required by package `native-tls v0.2.11`\nversions that meet the requirements `^0.9.55` are: 0.9.102",
        "error: failed to select a version for `openssl-sys`.",
    ),
    (
        "cargo test, assertion",
        "running 2 tests\ntest auth::rejects ... FAILED\ntest auth::accepts ... ok\n\nfailures:\n\n---- auth::rejects stdout ----\n\nthread 'auth::rejects' panicked at src/auth.rs:40:9:\nassertion `left == right` failed\n  left: 200\n right: 401\n\nfailures:\n    auth::rejects\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`",
        "auth::rejects: assertion `left == right` failed",
    ),
    (
        "cargo test, panic with a message",
        "---- store::opens stdout ----\nthread 'store::opens' panicked at src/store.rs:12:14:\ncalled `Result::unwrap()` on an `Err` value: LockHeld { path: \"/tmp/x/lock\" }\nnote: run with `RUST_BACKTRACE=1`\n\ntest result: FAILED. 0 passed; 1 failed",
        "called `Result::unwrap()` on an `Err` value: LockHeld { path: \"/tmp/x/lock\" }",
    ),
    (
        "cargo clippy",
        "    Checking app v0.1.0\nerror: this `if` has identical blocks\n  --> src/lib.rs:3:5\n   |\nerror: could not compile `app` (lib) due to 1 previous error",
        "error: this `if` has identical blocks",
    ),
    (
        "rust linker",
        "error: linking with `cc` failed: exit status: 1\n  |\n  = note: rust-lld: error: unable to find library -lpq\n          collect2: error: ld returned 1 exit status\n\nerror: could not compile `app` (bin \"app\") due to 1 previous error",
        "rust-lld: error: unable to find library -lpq",
    ),
    (
        "anyhow",
        "Error: failed to read the configuration\n\nCaused by:\n    0: opening config.toml\n    1: No such file or directory (os error 2)",
        "failed to read the configuration: No such file or directory (os error 2)",
    ),
    (
        "python traceback",
        "Traceback (most recent call last):\n  File \"/app/manage.py\", line 22, in <module>\n    main()\n  File \"/app/manage.py\", line 18, in main\n    execute(sys.argv)\ndjango.core.exceptions.ImproperlyConfigured: Requested setting DATABASES, but settings are not configured.",
        "django.core.exceptions.ImproperlyConfigured: Requested setting DATABASES, but settings are not configured.",
    ),
    (
        "python chained",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'region'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 9, in <module>\nRuntimeError: the region is not configured",
        "RuntimeError: the region is not configured",
    ),
    (
        "python import",
        "Traceback (most recent call last):\n  File \"/app/run.py\", line 1, in <module>\n    import psycopg2\nModuleNotFoundError: No module named 'psycopg2'",
        "ModuleNotFoundError: No module named 'psycopg2'",
    ),
    (
        "pytest, assertion",
        "============ test session starts ============\ncollected 4 items\n\ntests/test_api.py ...F  [100%]\n\n    def test_login(client):\n>       assert client.post('/login').status_code == 200\nE       assert 401 == 200\nE        +  where 401 = <Response>.status_code\n\ntests/test_api.py:12: AssertionError\n======= short test summary info =======\nFAILED tests/test_api.py::test_login - assert 401 == 200\n======= 1 failed, 3 passed in 0.42s =======",
        "FAILED tests/test_api.py::test_login - assert 401 == 200",
    ),
    (
        "pytest, exception",
        "tests/test_db.py:9: in test_query\n    db.query()\nE   sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at \"localhost\", port 5433 failed\nFAILED tests/test_db.py::test_query - sqlalchemy.exc.OperationalError: (psyco...\n1 failed in 1.02s",
        "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at \"localhost\", port 5433 failed",
    ),
    (
        "unittest",
        "F..\n======================================================================\nFAIL: test_total (tests.test_cart.CartTest.test_total)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/app/tests/test_cart.py\", line 8, in test_total\n    self.assertEqual(cart.total(), 12)\nAssertionError: 10 != 12\n\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nFAILED (failures=1)",
        "FAIL: test_total (tests.test_cart.CartTest.test_total)",
    ),
    (
        "pip",
        "Collecting torch==9.9\n  Downloading index\nERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: 2.0.0, 2.1.0)\nERROR: No matching distribution found for torch==9.9",
        "ERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: 2.0.0, 2.1.0)",
    ),
    (
        "npm install",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! \nnpm ERR! While resolving: shop@1.0.0\nnpm ERR! Found: react@18.2.0\n\nnpm ERR! A complete log of this run can be found in: /home/u/.npm/_logs/2026-11-22T04_55_03_123Z-debug-0.log",
        "npm ERR! ERESOLVE unable to resolve dependency tree",
    ),
    (
        "npm, new form",
        "npm error Missing script: \"biuld\"\nnpm error\nnpm error Did you mean this?\nnpm error   npm run build\nnpm error A complete log of this run can be found in: /home/u/.npm/_logs/x.log",
        "npm error Missing script: \"biuld\"",
    ),
    (
        "npm run, tsc",
        "> shop@1.0.0 build\n> tsc -p .\n\nsrc/cart.ts(12,5): error TS2304: Cannot find name 'Decimal'.\nsrc/cart.ts(14,5): error TS2304: Cannot find name 'Decimal'.\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 2",
        "error TS2304: Cannot find name 'Decimal'.",
    ),
    (
        "tsc, pretty",
        "\u{1b}[96msrc/a.ts\u{1b}[0m:\u{1b}[93m3\u{1b}[0m:\u{1b}[93m7\u{1b}[0m - \u{1b}[91merror\u{1b}[0m TS2322: Type 'string' is not assignable to type 'number'.\n\n3 const a: number = 'x'\n        ~\n\nFound 1 error in src/a.ts:3",
        "error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    (
        "pnpm",
        " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is not up to date with package.json",
        "ERR_PNPM_OUTDATED_LOCKFILE Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is not up to date with package.json",
    ),
    (
        "pnpm run",
        "src/x.ts:1:8 - error TS5097: An import path can only end with a '.ts' extension\n ELIFECYCLE  Command failed with exit code 2.",
        "error TS5097: An import path can only end with a '.ts' extension",
    ),
    (
        "yarn",
        "yarn install v1.22.19\n[1/4] Resolving packages...\nerror Couldn't find package \"@acme/ui\" on the \"npm\" registry.\ninfo Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command.",
        "error Couldn't find package \"@acme/ui\" on the \"npm\" registry.",
    ),
    (
        "eslint",
        "/home/u/app/src/cart.js\n  12:5  error  'total' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
        "error 'total' is assigned a value but never used no-unused-vars",
    ),
    (
        "node",
        "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /home/u/app/server.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)\n  code: 'MODULE_NOT_FOUND',\n\nNode.js v18.17.1",
        "Error: Cannot find module 'express'",
    ),
    (
        "node, address in use",
        "node:events:491\n      throw er;\n\nError: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle [as _listen2] (node:net:1463:16)",
        "Error: listen EADDRINUSE: address already in use :::3000",
    ),
    (
        "jest",
        " FAIL  src/login.test.js\n  ● login › rejects a bad password\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 401\n    Received: 200\n\nTests:       1 failed, 4 passed, 5 total",
        "● login › rejects a bad password",
    ),
    (
        "vitest",
        " ❯ src/cart.test.ts (3 tests | 1 failed) 12ms\n FAIL  src/cart.test.ts > cart > adds up\nAssertionError: expected 10 to be 12 // Object.is equality\n Test Files  1 failed (1)",
        "FAIL src/cart.test.ts > cart > adds up",
    ),
    (
        "prisma",
        "Prisma schema loaded from prisma/schema.prisma\nError: P1001: Can't reach database server at `localhost:5432`\n\nPlease make sure your database server is running.",
        "Error: P1001: Can't reach database server at `localhost:5432`",
    ),
    (
        "go build",
        "# example.com/api\n./main.go:12:5: undefined: handler\n./main.go:14:2: \"os\" imported and not used",
        "main.go: undefined: handler",
    ),
    (
        "go test",
        "--- FAIL: TestLogin (0.00s)\n    login_test.go:12: got 401, want 200\nFAIL\nFAIL\texample.com/api\t0.012s\nFAIL",
        "--- FAIL: TestLogin (0.00s)",
    ),
    (
        "go panic",
        "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4823f1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:8 +0x1d\nexit status 2",
        "panic: runtime error: invalid memory address or nil pointer dereference",
    ),
    (
        "go modules",
        "go: example.com/lib@v1.2.3: verifying module: checksum mismatch\n\tdownloaded: h1:abc\n\tgo.sum:     h1:def",
        "go: example.com/lib@v1.2.3: verifying module: checksum mismatch",
    ),
    (
        "gradle",
        "> Task :app:compileJava FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileJava'.\n> Could not resolve com.acme:core:1.2.\n\n* Try:\n> Run with --stacktrace\n\nBUILD FAILED in 3s",
        "Could not resolve com.acme:core:1.2.",
    ),
    (
        "javac in gradle",
        "> Task :compileJava FAILED\n/home/u/app/src/main/java/Cart.java:12: error: cannot find symbol\n        Decimal total;\n        ^\n1 error\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':compileJava'.\n> Compilation failed; see the compiler error output for details.",
        "error: cannot find symbol",
    ),
    (
        "maven",
        "[INFO] Compiling 3 source files\n[ERROR] COMPILATION ERROR :\n[ERROR] /home/u/app/src/main/java/Cart.java:[12,8] cannot find symbol: class Decimal\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8.1:compile",
        "cannot find symbol: class Decimal",
    ),
    (
        "java",
        "Exception in thread \"main\" java.lang.IllegalStateException: Failed to start\n\tat com.acme.Main.main(Main.java:12)\nCaused by: org.hibernate.HibernateException: no dialect set\n\tat com.acme.Db.open(Db.java:3)\nCaused by: java.sql.SQLException: No suitable driver found for jdbc:acme://db\n\t... 12 more",
        "java.sql.SQLException: No suitable driver found for jdbc:acme://db",
    ),
    (
        "make",
        "gcc -c a.c\na.c:3:5: error: 'x' undeclared (first use in this function)\nmake: *** [Makefile:12: a.o] Error 1",
        "error: 'x' undeclared (first use in this function)",
    ),
    (
        "make, no rule",
        "make: *** No rule to make target 'dist/app.js', needed by 'all'.  Stop.",
        "make: *** No rule to make target 'dist/app.js', needed by 'all'. Stop.",
    ),
    (
        "make alone",
        "make: *** [Makefile:12: release] Error 2",
        "make: *** [Makefile:12: release] Error 2",
    ),
    (
        "cmake",
        "-- Configuring\nCMake Error at CMakeLists.txt:12 (find_package):\n  Could not find a package configuration file provided by \"Qt6\"\n\n-- Configuring incomplete, errors occurred!",
        "Could not find a package configuration file provided by \"Qt6\"",
    ),
    (
        "docker build",
        "#9 [4/5] RUN npm ci\n#9 1.204 npm ERR! The `npm ci` command can only install with an existing package-lock.json\n#9 ERROR: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1\nERROR: failed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1",
        "npm ERR! The `npm ci` command can only install with an existing package-lock.json",
    ),
    (
        "docker run",
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (3f2a91bc77d0): Bind for 0.0.0.0:8080 failed: port is already allocated.",
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (3f2a91bc77d0): Bind for 0.0.0.0:8080 failed: port is alrea…",
    ),
    (
        "docker, no daemon",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ),
    (
        "kubectl",
        "Error from server (NotFound): deployments.apps \"api\" not found",
        "Error from server (NotFound): deployments.apps \"api\" not found",
    ),
    (
        "kubectl, no server",
        "E1122 04:55:03.123456   12345 memcache.go:238] couldn't get current server API group list\nThe connection to the server localhost:8080 was refused - did you specify the right host or port?",
        "E1122 04:55:03.123456 12345 memcache.go:238] couldn't get current server API group list",
    ),
    (
        "helm",
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
    ),
    (
        "terraform",
        "╷\n│ Error: Error acquiring the state lock\n│ \n│ Error message: ConditionalCheckFailedException: The conditional request failed\n│ Lock Info:\n│   ID:        9a1b2c3d-1111-2222-3333-444455556666\n╵",
        "Error: Error acquiring the state lock",
    ),
    (
        "git push",
        "To github.com:acme/shop.git\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'github.com:acme/shop.git'\nhint: Updates were rejected because the tip of your current branch is behind",
        "! [rejected] main -> main (non-fast-forward)",
    ),
    (
        "git",
        "fatal: refusing to merge unrelated histories",
        "fatal: refusing to merge unrelated histories",
    ),
    (
        "git merge",
        "Auto-merging src/cart.rs\nCONFLICT (content): Merge conflict in src/cart.rs\nAutomatic merge failed; fix conflicts and then commit the result.",
        "CONFLICT (content): Merge conflict in src/cart.rs",
    ),
    (
        "psql",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
    ),
    (
        "psql file",
        "psql:migrate.sql:12: ERROR:  relation \"orders\" does not exist\nLINE 1: select * from orders\n                      ^",
        "psql:migrate.sql:12: ERROR: relation \"orders\" does not exist",
    ),
    (
        "alembic",
        "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a specific target revision\n  FAILED: Multiple head revisions are present for given argument 'head'",
        "ERROR: Multiple head revisions are present for given argument 'head'; please specify a specific target revision",
    ),
    (
        "ansible",
        "TASK [web : install nginx] ***\nfatal: [web1]: FAILED! => {\"changed\": false, \"msg\": \"No package matching 'nginx2' is available\"}\n\nPLAY RECAP ***\nweb1 : ok=2 changed=0 unreachable=0 failed=1",
        "fatal: [web1]: No package matching 'nginx2' is available",
    ),
    (
        "bash",
        "Exit code 127\nbash: line 1: shellchek: command not found",
        "bash: line 1: shellchek: command not found",
    ),
    ("sh", "/bin/sh: 1: ruff: not found", "/bin/sh: 1: ruff: not found"),
    (
        "bash, permission",
        "bash: ./deploy.sh: Permission denied",
        "bash: ./deploy.sh: Permission denied",
    ),
    (
        "ssh",
        "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        "fatal: Could not read from remote repository.",
    ),
    (
        "curl",
        "curl: (7) Failed to connect to localhost port 9000 after 0 ms: Connection refused",
        "curl: (7) Failed to connect to localhost port 9000 after 0 ms: Connection refused",
    ),
    (
        "apt",
        "Reading package lists...\nE: Unable to locate package libpq-devel",
        "E: Unable to locate package libpq-devel",
    ),
    (
        "bundler",
        "Could not find gem 'rails (~> 7.1)' in locally installed gems.",
        "Could not find gem 'rails (~> 7.1)' in locally installed gems.",
    ),
    (
        "mypy",
        "app/cart.py:12: error: Incompatible return value type (got \"int\", expected \"str\")  [return-value]\nFound 1 error in 1 file (checked 9 source files)",
        "error: Incompatible return value type (got \"int\", expected \"str\") [return-value]",
    ),
    (
        "ruff",
        "app/cart.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.",
        "F401 [*] `os` imported but unused",
    ),
    (
        "a script of one's own",
        "the staging gateway wants the release tag first",
        "the staging gateway wants the release tag first",
    ),
    (
        "a dated log",
        "2026-11-22T04:55:03.123Z ERROR: could not reach the broker at 10.0.0.3:9092",
        "ERROR: could not reach the broker at 10.0.0.3:9092",
    ),
];

#[test]
fn the_line_that_identifies_the_error_is_found() {
    let mut wrong = Vec::new();
    for (tool, output, expected) in OUTPUTS {
        let found = error_line(output).map(|line| line.text).unwrap_or_default();
        if found != *expected {
            wrong.push(format!("{tool}\n  found    {found}\n  expected {expected}"));
        }
        let claude = format!("Exit code 1\n{output}");
        let same = error_line(&claude).map(|line| line.text).unwrap_or_default();
        assert_eq!(same, found, "{tool}: a status before it changes nothing");
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(OUTPUTS.len() >= 60, "{}", OUTPUTS.len());
}

#[test]
fn uninformative_output_has_no_error_line() {
    for output in [
        "",
        "Exit code 1",
        "Exit code 2\n\n",
        "ok\n",
        "Error: no",
        "one line of text\nand another\nand one more",
        "Exit code 1\n..........\n==========",
    ] {
        assert_eq!(error_line(output), None, "{output}");
    }
}

#[test]
fn the_same_error_in_another_run_is_equal() {
    for (one, other) in [
        (
            "listen EADDRINUSE: address already in use :::3000",
            "listen EADDRINUSE: address already in use :::3001",
        ),
        ("cannot open /tmp/tmp8x3k2j_q/app.lock", "cannot open /tmp/tmpz91kd0aa/app.lock"),
        ("cannot create /tmp/build.Xk29Fa", "cannot create /tmp/build.Qq81Za"),
        ("no file \"/home/ann/app/config.toml\"", "no file \"/srv/checkout/app/config.toml\""),
        (
            "lock 9a1b2c3d-1111-2222-3333-444455556666 is held",
            "lock 00000000-aaaa-bbbb-cccc-ddddeeeeffff is held",
        ),
        ("pod api-7d9f8b6c5-x2x8k not found", "pod api-66c4d7f98b-q9w2z not found"),
        ("commit 3f2a91bc77d0 not found", "commit a8e11f0b9c2d not found"),
        ("timed out after 30s", "timed out after 1.5s"),
        ("timed out after 980ms at 04:55:03", "timed out after 1200ms at 16:01:44"),
        ("segfault at 0x7ffe12ab", "segfault at 0x55d0"),
        ("connect to 10.0.0.3:5432 refused", "connect to 192.168.1.20:5433 refused"),
        ("2026-11-22 04:55:03,123 boom in worker", "2026-11-23 11:00:00,001 boom in worker"),
        ("src/a.rs:12:5: bad", "src/a.rs:90:1: bad"),
        ("react@18.2.0 conflicts", "react@18.3.1 conflicts"),
        ("--- FAIL: TestLogin (0.00s)", "--- FAIL: TestLogin (12.31s)"),
    ] {
        assert_eq!(normalised(one), normalised(other));
    }
}

#[test]
fn different_errors_stay_different() {
    for (one, other) in [
        ("error[E0425]: cannot find value", "error[E0308]: cannot find value"),
        ("error TS2304: Cannot find name", "error TS2322: Cannot find name"),
        ("No module named 'psycopg2'", "No module named 'psycopg3'"),
        ("relation \"orders\" does not exist", "relation \"order_items\" does not exist"),
        ("no file \"/a/config.toml\"", "no file \"/a/secrets.toml\""),
        ("unknown flag: --utf8", "unknown flag: --x86_64"),
        ("base64-encode failed", "sha256-encode failed"),
        ("src/a.rs: bad", "src/b.rs: bad"),
    ] {
        assert_ne!(normalised(one), normalised(other));
    }
    assert_eq!(normalised("Error: listen EADDRINUSE: 0.0.0.0:8080"), "Error: listen EADDRINUSE: N");
    assert_eq!(normalised("at `/srv/app/db.rs:12:5`"), "at `db.rs:N`");
    assert_eq!(normalised("GET https://a.io/v1/x?token=1 404"), "GET https://a.io/N/x N");
}

#[test]
fn normalising_a_line_twice_changes_nothing() {
    for (_, output, _) in OUTPUTS {
        let once = error_line(output).unwrap().normalised();
        assert_eq!(normalised(&once), once);
    }
}

#[test]
fn a_failure_is_recognised_by_distinctive_output() {
    for (tool, output, _) in OUTPUTS {
        let weak = [
            "make, no rule",
            "kubectl, no server",
            "docker, no daemon",
            "go modules",
            "bundler",
            "a script of one's own",
            "bash, permission",
        ];
        if !weak.contains(tool) {
            assert!(shows_failure(output), "{tool}");
        }
    }
    for output in [
        "",
        "ok\n",
        "3 errors were fixed\n",
        "warning: unused variable `error`\n    Finished `dev` profile in 0.3s",
        "running 3 tests\ntest error_is_told ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored",
        "===== 12 passed in 0.42s =====",
        "src/error.rs\nsrc/fatal.rs",
        "the word failed stands here\nand nothing else does",
        "added 12 packages, and audited 300 packages in 2s\nfound 0 vulnerabilities",
    ] {
        assert!(!shows_failure(output), "{output}");
    }
}

#[test]
fn a_code_location_is_recognised() {
    let file = |output| error_line(output).map(|line| (line.is_diagnostic, line.file));
    let named = |name: &str| Some((true, Some(name.to_owned())));
    assert_eq!(file(OUTPUTS[0].1), named("main.rs"));
    assert_eq!(
        file("src/cart.ts(12,5): error TS2304: Cannot find name 'Decimal'."),
        named("cart.ts")
    );
    assert_eq!(file("fatal: refusing to merge unrelated histories"), Some((false, None)));
}

#[test]
fn a_word_that_begins_with_a_letter_of_another_script_is_normalised() {
    for (line, expected) in [
        ("Error: 第3行 failed", "Error: 第3行 failed"),
        ("Fehler: Über2 fehlt", "Fehler: Über2 fehlt"),
        ("Error: v3 and V3 differ", "Error: N and N differ"),
    ] {
        assert_eq!(normalised(line), expected);
    }
}

proptest! {
    #[test]
    fn any_output_is_read_and_normalised(output in output()) {
        if let Some(line) = error_line(&output) {
            prop_assert!(line.text.chars().count() <= ERROR_LINE_CHARS_MAX);
            line.normalised();
        }
        normalised(&output);
        shows_failure(&output);
    }
}

/// Generates texts of the parts that outputs have, in any order, between any other characters.
fn output() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "(error|Error|FAILED|fatal|panic|thread '|Caused by|E |make|npm ERR!)",
        "(: |:|\\(|\\)|\\[|\\]|\"|'|`|=|\\*\\*\\* | |\n|\r|\t|\u{1b}\\[1m)",
        "(/tmp/|/var/|~/|C:\\\\|https://|src/|--> )?[a-zé第ß]{0,3}[.0-9]{0,4}(\\.rs|\\.py|\\?)?",
        "[vV0x第éßΩµſ😀٣a-f]{0,3}[0-9]{1,3}[第éßa-f]{0,2}",
        "[0-9]{1,4}[-:.TZ,/]",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}
