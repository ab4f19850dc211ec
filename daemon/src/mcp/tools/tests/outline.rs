//! An agent's look at a file's structure, over the protocol.

use std::fs;

use serde_json::json;

use crate::testing::World;

const TEXT: &str = "use std::fmt;\n\n/// Adds. Always.\npub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n\npub struct Sum(u8);\n";

fn write(world: &World, path: &str, text: &str) {
    let file = world.directory("demo").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[tokio::test]
async fn a_second_session_gets_the_outline_from_the_cache() {
    let world = World::new().await;
    write(&world, "src/lib.rs", TEXT);
    let outline = json!({ "path": "src/lib.rs" });
    let first = world.shim_with("all").await.call("memory_outline", outline.clone()).await;
    insta::assert_snapshot!(first, @"
    src/lib.rs: Rust, 8 lines, 99 B, 38 tokens
    imports: std::fmt
    4-6 pub fn add(a: u8, b: u8) -> u8 — Adds
    8 pub struct Sum
    Tokens: about 63 given, 0 saved.
    ");
    let second = world.shim_with("all").await.call("memory_outline", outline.clone()).await;
    assert!(second.contains("; outline from the cache\n"), "{second}");
    let items = |text: &str| text.lines().skip(1).take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(items(&first), items(&second));
    let world = world.restart(false).await;
    let third = world.shim_with("all").await.call("memory_outline", outline.clone()).await;
    assert!(third.contains("; outline from the cache\n"), "{third}");
    let seen = world.daemon.admin.metrics.outlines();
    assert_eq!((seen.given, seen.cached), (1, 1));
    assert!(seen.tokens_given > 0);
    fs::remove_dir_all(world.directory("instance/data/outlines")).unwrap();
    let fourth = world.shim_with("all").await.call("memory_outline", outline).await;
    assert_eq!(items(&fourth), items(&first), "the cache may be deleted at any time");
}

#[tokio::test]
async fn what_changed_since_the_last_look_is_given() {
    let world = World::new().await;
    write(&world, "a.rs", TEXT);
    let mut shim = world.shim_with("all").await;
    let since = json!({ "path": "a.rs", "since_last": true });
    let first = shim.call("memory_outline", since.clone()).await;
    assert!(first.contains("has not looked at it before") && first.contains("fn add"), "{first}");
    let same = shim.call("memory_outline", since.clone()).await;
    assert!(same.contains("Unchanged since your last look"), "{same}");
    assert!(!same.contains("fn add"), "{same}");
    write(&world, "a.rs", &TEXT.replace("a + b", "b + a").replace("Sum", "Total"));
    let changed = shim.call("memory_outline", since.clone()).await;
    let changes: Vec<&str> = changed.lines().skip(2).take(3).collect();
    let expected =
        ["+ 8 pub struct Total", "~ 4-6 pub fn add(a: u8, b: u8) -> u8", "- pub struct Sum"];
    assert_eq!(changes, expected);
    // Another session has its own looks.
    let other = world.shim_with("all").await.call("memory_outline", since.clone()).await;
    assert!(other.contains("has not looked at it before"), "{other}");
    write(&world, "a.rs", TEXT);
    fs::remove_dir_all(world.directory("instance/data/outlines")).unwrap();
    let lost = shim.call("memory_outline", since).await;
    assert!(
        lost.contains("is no longer kept; this is the whole") && lost.contains("fn add"),
        "{lost}"
    );
}

#[tokio::test]
async fn an_agents_summary_is_shown_and_marked_when_it_is_stale() {
    let world = World::new().await;
    write(&world, "src/lib.rs", TEXT);
    let mut shim = world.shim_with("all").await;
    let path = world.directory("demo").join("src/lib.rs");
    let note = json!({ "key": path, "content": "Sums of bytes; the only place that adds." });
    shim.call("memory_note", note).await;
    let outline = json!({ "path": "src/lib.rs" });
    let fresh = shim.call("memory_outline", outline.clone()).await;
    assert!(
        fresh.contains("Summary (n1, of the file as it is): Sums of bytes"),
        "an absolute path leads to the same file: {fresh}"
    );
    let list = shim.call("memory_outline", json!({ "path": "src" })).await;
    assert!(list.contains("lib.rs: Rust, 8 lines") && list.contains("— Sums of bytes"), "{list}");
    write(&world, "src/lib.rs", &format!("{TEXT}// more\n"));
    let stale = shim.call("memory_outline", outline.clone()).await;
    assert!(stale.contains("Summary (n1, STALE: the file has changed since"), "{stale}");
    let note =
        json!({ "key": "src/lib.rs", "content": "Sums of bytes; the only place that adds." });
    shim.call("memory_note", note).await;
    let again = shim.call("memory_outline", outline).await;
    assert!(again.contains("of the file as it is"), "noting the same again renews it: {again}");
}

#[tokio::test]
async fn what_may_not_be_read_is_refused_with_the_reason() {
    let world = World::new().await;
    write(&world, ".env", "A=1");
    write(&world, ".gitignore", "out/\n");
    write(&world, "out/a.rs", TEXT);
    fs::write(world.directory("outside.rs"), TEXT).unwrap();
    let mut shim = world.shim_with("all").await;
    let mut said = Vec::new();
    for path in [".env", "out/a.rs", "../outside.rs", "/etc/hosts", "missing.rs", ".git/config"] {
        said.push(shim.call("memory_outline", json!({ "path": path })).await);
    }
    said.push(shim.call("memory_outline", json!({ "path": ".env", "lines": "x" })).await);
    said.push(shim.call("memory_outline", json!({ "path": ".env", "max_tokens": 5 })).await);
    insta::assert_snapshot!(said.join("\n"), @"
    ERROR failed to outline: read `.env`: files of secrets are never read
    ERROR failed to outline: read `out/a.rs`: git ignores it; read it yourself
    ERROR failed to outline: read `../outside.rs`: it is outside the project
    ERROR failed to outline: read `/etc/hosts`: it is outside the project
    ERROR failed to outline: read `missing.rs`: no such file
    ERROR failed to outline: read `.git/config`: it is under `.git`
    ERROR failed to outline: lines is `x`; give a range such as 120-300
    ERROR failed to outline: max_tokens is 5; give 250 or more
    ");
}

#[tokio::test]
async fn an_answer_keeps_to_its_tokens_and_shows_a_part_in_full() {
    let world = World::new().await;
    let text: String = (0..900)
        .map(|at| {
            format!("/// Does the thing of number {at} in one go.\npub fn thing_{at}() {{}}\n")
        })
        .collect();
    write(&world, "long.rs", &text);
    let mut shim = world.shim_with("all").await;
    for max_tokens in [250, 300, 2_000] {
        let call = json!({ "path": "long.rs", "max_tokens": max_tokens });
        let said = shim.call("memory_outline", call).await;
        let tokens = anchord_memory::tokens::count(&said);
        assert!(tokens <= max_tokens, "{tokens} of {max_tokens}: {said}");
        assert!(said.contains("Left out:"), "{said}");
    }
    let part = shim.call("memory_outline", json!({ "path": "long.rs", "lines": "11-14" })).await;
    assert!(part.contains("thing_5() — Does") && part.contains("thing_6()"), "{part}");
    assert!(!part.contains("thing_7") && !part.contains("Left out"), "{part}");
}

#[tokio::test]
async fn secrets_are_not_in_an_outline_nor_in_its_cache() {
    let world = World::new().await;
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    write(&world, "a.py", &format!("def f(token='{token}'):\n    pass\n"));
    let mut shim = world.shim_with("all").await;
    let said = shim.call("memory_outline", json!({ "path": "a.py" })).await;
    assert!(said.contains("def f(") && !said.contains(&token), "{said}");
    let mut open = vec![world.directory("instance/data/outlines")];
    let mut kept = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            kept += 1;
            assert!(!fs::read_to_string(path).unwrap().contains(&token));
        }
    }
    assert_eq!(kept, 2, "the outline, and that it was looked at");
}
