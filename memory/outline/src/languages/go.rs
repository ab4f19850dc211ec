//! Go.

use crate::language::Language;

pub(super) static LANGUAGE: Language =
    Language { id: "go", name: "Go", extensions: &["go"], files: &[], interpreters: &[] };

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, NodeInContext, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_go::LANGUAGE,
        rules: &[&[
            item("function_declaration", ItemKind::Function),
            item("method_declaration", ItemKind::Method),
            item("method_elem", ItemKind::Method),
            item("type_spec", ItemKind::Struct).when(|it| is(it, "struct_type")).until('{'),
            item("type_spec", ItemKind::Interface).when(|it| is(it, "interface_type")).until('{'),
            item("type_spec", ItemKind::Type),
            item("type_alias", ItemKind::Type),
            item("const_spec", ItemKind::Variable).outside_functions(),
            item("var_spec", ItemKind::Variable).outside_functions(),
            import("import_spec"),
        ]],
        wrappers: &[],
        pruned: &["literal_value"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };

    fn is(it: &NodeInContext<'_, '_>, kind: &str) -> bool {
        it.field_is("type", &[kind])
    }
}
