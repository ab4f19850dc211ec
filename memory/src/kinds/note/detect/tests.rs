//! Tests of the rule that decides, and of the tags that are found.

use super::*;

#[test]
fn the_first_matching_rule_decides() {
    for (text, kind) in [
        ("error: cannot find value `x`", ContentType::Error),
        ("Traceback (most recent call last):", ContentType::Error),
        ("at handler\nsrc/auth.ts:14 in login", ContentType::Error),
        ("see src/auth.ts:14 for the login", ContentType::Prose),
        ("```rust\nlet a = 1;\n```", ContentType::Code),
        ("fn a(b: [u8; 4]) { c(d[0]); }", ContentType::Code),
        ("We decided on sled for the index", ContentType::Decision),
        ("Going with one writer per project", ContentType::Decision),
        ("$ cargo test\nrunning 3 tests", ContentType::ToolOutput),
        ("├── src\n└── tests", ContentType::ToolOutput),
        ("src/a.rs src/b.rs found", ContentType::ToolOutput),
        ("The login page is slow on Mondays", ContentType::Prose),
        ("", ContentType::Prose),
    ] {
        assert_eq!(detect(text), kind, "{text}");
    }
}

#[test]
fn at_most_five_tags_name_type_language_infrastructure_and_links() {
    assert_eq!(
        auto_tags("The parser is in `src/parse.rs`, its tests in (tests/parse.py)."),
        ["rust", "python"]
    );
    assert_eq!(
        auto_tags("error: docker cannot reach redis; restart docker, then redis"),
        ["error", "docker", "redis"]
    );
    assert_eq!(auto_tags("Read https://example.org/a first"), ["reference"]);
    assert_eq!(auto_tags("It is version 2.0 by now."), Vec::<String>::new());
    let many = "error: s/a.go s/b.ts s/c.py:7 s/d.rs s/e.yaml nginx nginx http://x";
    assert_eq!(auto_tags(many), ["error", "go", "typescript", "python", "rust"]);
}

#[test]
fn one_mention_is_not_enough_for_a_tag() {
    for text in [
        "Rails, Sidekiq, Next.js",
        "The frontend is Next.js, as Next.js has routes.",
        "Node.js",
        "We keep sessions in redis",
        "It is main.rs:42 that starts it",
        "https://nextjs.org/next.js",
    ] {
        let tags = auto_tags(text);
        assert!(tags.iter().all(|tag| tag == "reference"), "{text}: {tags:?}");
    }
    assert_eq!(auto_tags("main.rs calls lib.rs"), ["rust"]);
    assert_eq!(auto_tags("it is in src/main.rs."), ["rust"]);
    assert_eq!(auto_tags("the redis pool: set redis_url"), ["redis"]);
}

/// The type may still be detected, since the score depends on it.
#[test]
fn one_sign_is_not_enough_for_the_tag_of_a_type() {
    for text in [
        "We use `cargo nextest` for tests",
        "The class that reads it is Reader, see [1] (and [2]).",
        "Import of old notes: run ```anchord import``` first",
        "a def of done: tests, docs, (changelog), [migration]",
        "The log says Error: no route, but it is harmless",
        "An Exception is thrown when the lock is held",
        "FAILOVER takes 30 s",
        "> a quoted remark",
        "$ make lint must be clean",
        "src/a.rs src/b.rs tests/c.rs",
        "The box │ is drawn by the terminal",
        "It is undecided whether we keep it",
        "The user has agreed to the terms",
        "The reader is chosen at start",
    ] {
        let tags = auto_tags(text);
        let types = ["error", "code", "decision", "tool-output"];
        assert!(tags.iter().all(|tag| !types.contains(&tag.as_str())), "{text}: {tags:?}");
    }
    for (text, tag) in [
        ("It fails so:\n```\nlet a = 1;\n```", "code"),
        ("fn main() {\n    run();\n}", "code"),
        ("def run(x):\n    return go(x)", "code"),
        ("import os\nimport sys\nprint(os.name)", "code"),
        ("error[E0502]: cannot borrow\nerror: aborting", "error"),
        ("Traceback (most recent call last):\n  File \"a\"", "error"),
        ("it broke\njava.io.IOException: no route", "error"),
        ("at handler\nsrc/auth.ts:14 in login", "error"),
        ("We decided on sled for the index", "decision"),
        ("## Decision: one writer", "decision"),
        ("$ cargo test\nrunning 3 tests", "tool-output"),
        ("├── src\n└── tests", "tool-output"),
    ] {
        assert_eq!(auto_tags(text).first().map(String::as_str), Some(tag), "{text}");
    }
}

#[test]
fn infrastructure_is_tagged_by_name_not_by_substring() {
    for text in [
        "the list must redisplay after scroll",
        "terraforming mars",
        "REDISPLAY the panel",
        "a redistributable package",
        "dockers on strike",
        "dockered ships",
        "predis is a client",
    ] {
        let twice = format!("{text}; {text}");
        assert_eq!(auto_tags(&twice), Vec::<String>::new(), "{text}");
    }
    for (text, tag) in [
        ("Redis evicts keys", "redis"),
        ("set redis_url and redis7", "redis"),
        ("the RedisPool leaks", "redis"),
        ("myRedis is slow", "redis"),
        ("docker-compose up", "docker"),
        ("the Dockerfile is dockerized", "docker"),
        ("PostgreSQL 17", "postgres"),
        ("缓存用redis存", "redis"),
        ("terraform's state", "terraform"),
    ] {
        let twice = format!("{text}; {text}");
        assert_eq!(auto_tags(&twice), [tag], "{text}");
    }
}
