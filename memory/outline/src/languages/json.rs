//! JSON.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "json",
    name: "JSON",
    extensions: &["json", "jsonc", "geojson", "webmanifest"],
    files: &["composer.lock", ".babelrc", ".eslintrc", ".prettierrc"],
    interpreters: &[],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_NONE, Damaged, Grammar, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_json::LANGUAGE,
        rules: &[&[item("pair", ItemKind::Key).named(|it| it.field("key"))]],
        wrappers: &[],
        pruned: &[],
        comments: COMMENTS_NONE,
        damaged: Damaged::Skipped,
    };
}
