//! TOML.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "toml",
    name: "TOML",
    extensions: &["toml"],
    files: &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"],
    interpreters: &[],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, NodeInContext, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_toml_ng::LANGUAGE,
        rules: &[&[
            item("table", ItemKind::Section).named(key).until('\n'),
            item("table_array_element", ItemKind::Section).named(key).until('\n'),
            item("pair", ItemKind::Key).named(key).bodied(|it| it.node.named_child(1)),
        ]],
        wrappers: &[],
        pruned: &["array"],
        comments: COMMENTS_HASH,
        damaged: Damaged::Skipped,
    };

    fn key<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.child(&["bare_key", "dotted_key", "quoted_key"])
    }
}
