//! Rust.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "rust",
    name: "Rust",
    extensions: &["rs"],
    files: &[],
    interpreters: &["rust-script"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_rust::LANGUAGE,
        rules: &[&[
            item("function_item", ItemKind::Function),
            item("function_signature_item", ItemKind::Function),
            item("struct_item", ItemKind::Struct),
            item("union_item", ItemKind::Struct),
            item("enum_item", ItemKind::Enum),
            item("trait_item", ItemKind::Interface),
            item("impl_item", ItemKind::Impl).named(|it| it.field("type")),
            item("mod_item", ItemKind::Module),
            item("type_item", ItemKind::Type),
            item("associated_type", ItemKind::Type),
            item("const_item", ItemKind::Variable).outside_functions(),
            item("static_item", ItemKind::Variable).outside_functions(),
            item("macro_definition", ItemKind::Macro).until('{'),
            import("use_declaration"),
            import("extern_crate_declaration"),
        ]],
        wrappers: &[],
        pruned: &["token_tree", "array_expression"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };
}
