//! YAML.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "yaml",
    name: "YAML",
    extensions: &["yaml", "yml"],
    files: &[".clang-format", ".clang-tidy"],
    interpreters: &[],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_yaml::LANGUAGE,
        rules: &[&[
            item("block_mapping_pair", ItemKind::Key).named(|it| it.field("key")),
            item("flow_pair", ItemKind::Key).named(|it| it.field("key")),
        ]],
        wrappers: &[],
        pruned: &[],
        comments: COMMENTS_HASH,
        damaged: Damaged::Skipped,
    };
}
