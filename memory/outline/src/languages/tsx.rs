//! TypeScript with elements of JSX, by the rules of TypeScript.

use crate::language::Language;

pub(super) static LANGUAGE: Language =
    Language { id: "tsx", name: "TSX", extensions: &["tsx"], files: &[], interpreters: &[] };

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use super::super::typescript::grammar as typescript;
    use crate::parse::{COMMENTS_C, Damaged, Grammar};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_typescript::LANGUAGE_TSX,
        rules: typescript::RULES,
        wrappers: typescript::WRAPPERS,
        pruned: &["array", "template_string", "import_statement"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };
}
