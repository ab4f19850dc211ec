//! C, and the rules that it shares with C++.

use crate::language::Language;

pub(super) static LANGUAGE: Language =
    Language { id: "c", name: "C", extensions: &["c", "h"], files: &[], interpreters: &["tcc"] };

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{
        COMMENTS_C, Damaged, Grammar, NodeInContext, Rule, declares_function, import, item,
    };

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_c::LANGUAGE,
        rules: &[RULES],
        wrappers: &[],
        pruned: PRUNED,
        comments: COMMENTS_C,
        damaged: Damaged::WithoutMacros,
    };

    pub(in crate::languages) const PRUNED: &[&str] = &["initializer_list"];

    pub(in crate::languages) const RULES: &[Rule] = &[
        item("function_definition", ItemKind::Function),
        item("struct_specifier", ItemKind::Struct).when(has_body),
        item("union_specifier", ItemKind::Struct).when(has_body),
        item("enum_specifier", ItemKind::Enum).when(has_body),
        item("type_definition", ItemKind::Type).bodied(body_of_type).continued(),
        item("declaration", ItemKind::Function)
            .when(|it| !it.scope.is_in_function && declares_function(it.node)),
        item("declaration", ItemKind::Variable)
            .when(|it| !it.scope.is_in_item && is_variable(it))
            .bodied(initial_value),
        item("preproc_function_def", ItemKind::Macro),
        item("preproc_def", ItemKind::Variable),
        import("preproc_include"),
    ];

    fn has_body(it: &NodeInContext<'_, '_>) -> bool {
        it.field("body").is_some()
    }

    fn body_of_type<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.field("type")?.child_by_field_name("body")
    }

    fn is_variable(it: &NodeInContext<'_, '_>) -> bool {
        it.field_is(
            "declarator",
            &["init_declarator", "identifier", "array_declarator", "pointer_declarator"],
        )
    }

    fn initial_value<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.field("declarator")?.child_by_field_name("value")
    }
}
