//! Sections of instruction files.

use super::*;
use crate::testing::{apply, mutable, origin};

const RULES: &str = "\
Be kind.

# Build
Run `make`.

```sh
# not a heading
make
```

<!-- anchord:start v1 mode=balanced -->
## Project memory (anchord)
Call `memory_load`.
<!-- anchord:end -->

## Tests
No sleeps.
### Slow ones
At night.

## Empty
";

fn texts() -> Vec<NamedText> {
    let other =
        "## Tests\nNo sleeps, ever.\n# Build\nRun `make`.\n\n```sh\n# not a heading\nmake\n```\n";
    vec![NamedText::new("AGENTS.md", RULES), NamedText::new("OTHER.md", other)]
}

#[test]
fn sections_become_conventions_and_marked_blocks_are_left_out() {
    let sections = parse(&texts());
    let shown: Vec<String> =
        sections.blueprints.iter().map(|it| format!("{}: {}", it.title, it.content)).collect();
    insta::assert_snapshot!(shown.join("\n---\n"), @r"
    AGENTS.md: Be kind.
    ---
    Build: Run `make`.

    ```sh
    # not a heading
    make
    ```
    ---
    Tests: No sleeps.
    ### Slow ones
    At night.
    ---
    Tests (OTHER.md): No sleeps, ever.
    ");
    assert_eq!(sections.notes, ["AGENTS.md: 1 block of a tool is left out"]);
    assert!(sections.blueprints.iter().all(|it| !it.immutable && !it.content.contains("anchord")));
}

#[test]
fn a_section_that_was_edited_there_is_replaced_and_one_edited_here_stays() {
    let mut memory = Memory::default();
    let plan = parse(&texts()).plan(&memory, "d1", &origin("importer", 20));
    let outcome = apply(&mut memory, plan);
    assert_eq!(outcome.added.blueprints, 4);
    let again = parse(&texts()).plan(&memory, "d2", &origin("importer", 21));
    assert!(again.changes.is_empty() && again.outcome.merged == 4, "{again:?}");

    let mine = Blueprint { category: Category::Convention, ..mutable("Build", "Run `just`.") };
    crate::testing::save(&mut memory, &origin("one", 22), crate::testing::blueprints([mine]));
    let changed =
        [NamedText::new("AGENTS.md", RULES.replace("No sleeps.", "None.").replace("Run", "Do"))];
    let plan = parse(&changed).plan(&memory, "d3", &origin("importer", 23));
    let outcome = apply(&mut memory, plan);
    assert!(outcome.notes.contains(&"Build was changed here and stays as it is".to_owned()));
    let contents: Vec<String> = memory
        .active_of(Kind::Blueprint)
        .map(|record| record.body.fields().own_texts().join(": "))
        .collect();
    assert!(contents.contains(&"Build: Run `just`.".to_owned()), "{contents:?}");
    assert!(contents.iter().any(|it| it.starts_with("Tests: None.")), "{contents:?}");
}

#[test]
fn headings_that_differ_in_case_are_told_apart_by_their_files() {
    let texts = [
        NamedText::new("AGENTS.md", "## Code style\nTabs."),
        NamedText::new("CLAUDE.md", "## Code Style\nSpaces."),
    ];
    let mut memory = Memory::default();
    let plan = parse(&texts).plan(&memory, "d1", &origin("importer", 20));
    apply(&mut memory, plan);
    let active = memory.active_of(Kind::Blueprint);
    let told: Vec<String> =
        active.map(|record| record.body.fields().own_texts().join(": ")).collect();
    assert_eq!(told, ["Code style: Tabs.", "Code Style (CLAUDE.md): Spaces."]);
}

#[test]
fn a_block_without_an_end_is_text() {
    let (text, blocks) = without_blocks("a\n<!-- x:start -->\nb\n");
    assert_eq!((text.as_str(), blocks), ("a\n<!-- x:start -->\nb\n", 0));
}
