//! PHP.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "php",
    name: "PHP",
    extensions: &["php", "phtml", "inc"],
    files: &[],
    interpreters: &["php"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_php::LANGUAGE_PHP,
        rules: &[&[
            item("namespace_definition", ItemKind::Module),
            item("class_declaration", ItemKind::Class),
            item("trait_declaration", ItemKind::Class),
            item("interface_declaration", ItemKind::Interface),
            item("enum_declaration", ItemKind::Enum),
            item("function_definition", ItemKind::Function),
            item("method_declaration", ItemKind::Method),
            item("const_element", ItemKind::Variable)
                .outside_functions()
                .named(|it| it.child(&["name"]))
                .until('='),
            import("namespace_use_declaration"),
            import("require_once_expression"),
            import("require_expression"),
            import("include_once_expression"),
            import("include_expression"),
        ]],
        wrappers: &[],
        pruned: &["array_creation_expression"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };
}
