//! SQL.

use crate::language::Language;

pub(super) static LANGUAGE: Language =
    Language { id: "sql", name: "SQL", extensions: &["sql", "ddl"], files: &[], interpreters: &[] };

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_SQL, Damaged, Grammar, NodeInContext, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_sequel::LANGUAGE,
        rules: &[&[
            item("create_table", ItemKind::Object).named(object).until('('),
            item("create_view", ItemKind::Object).named(object).until('\n'),
            item("create_materialized_view", ItemKind::Object).named(object).until('\n'),
            item("create_index", ItemKind::Object).named(object).until('('),
            item("create_sequence", ItemKind::Object).named(object).until('\n'),
            item("create_schema", ItemKind::Object).named(object).until('\n'),
            item("create_trigger", ItemKind::Object).named(object).until('\n'),
            item("create_type", ItemKind::Type).named(object).until('('),
            item("create_function", ItemKind::Function).named(object).until('\n'),
        ]],
        wrappers: &[],
        pruned: &[],
        comments: COMMENTS_SQL,
        damaged: Damaged::Skipped,
    };

    fn object<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.child(&["object_reference", "identifier"])
    }
}
