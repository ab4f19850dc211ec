//! Which rule decides, and which tags are found.

use super::*;

#[test]
fn the_first_rule_that_fits_decides() {
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
fn tags_name_type_language_infrastructure_and_links_at_most_five() {
    assert_eq!(
        auto_tags("The parser is in `src/parse.rs`, its tests in (tests/parse.py)."),
        ["rust", "python"]
    );
    assert_eq!(auto_tags("error: docker cannot reach redis"), ["error", "docker", "redis"]);
    assert_eq!(auto_tags("Read https://example.org/a first"), ["reference"]);
    assert_eq!(auto_tags("It is version 2.0 by now."), Vec::<String>::new());
    let many = "error: a.go b.ts c.py d.rs e.yaml nginx http://x";
    assert_eq!(auto_tags(many), ["error", "go", "typescript", "python", "rust"]);
}

#[test]
fn infrastructure_is_tagged_where_it_is_named_not_where_its_letters_stand() {
    for text in [
        "the list must redisplay after scroll",
        "terraforming mars",
        "REDISPLAY the panel",
        "a redistributable package",
        "dockers on strike",
        "dockered ships",
        "predis is a client",
    ] {
        assert_eq!(auto_tags(text), Vec::<String>::new(), "{text}");
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
        assert_eq!(auto_tags(text), [tag], "{text}");
    }
}
