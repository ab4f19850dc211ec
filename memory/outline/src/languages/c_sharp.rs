//! C#.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "c_sharp",
    name: "C#",
    extensions: &["cs", "csx"],
    files: &[],
    interpreters: &["dotnet-script"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_c_sharp::LANGUAGE,
        rules: &[&[
            item("namespace_declaration", ItemKind::Module),
            item("file_scoped_namespace_declaration", ItemKind::Module),
            item("class_declaration", ItemKind::Class),
            item("record_declaration", ItemKind::Class),
            item("struct_declaration", ItemKind::Struct),
            item("interface_declaration", ItemKind::Interface),
            item("enum_declaration", ItemKind::Enum),
            item("delegate_declaration", ItemKind::Type),
            item("method_declaration", ItemKind::Method),
            item("constructor_declaration", ItemKind::Method),
            item("destructor_declaration", ItemKind::Method),
            item("conversion_operator_declaration", ItemKind::Method).named(|it| it.field("type")),
            item("indexer_declaration", ItemKind::Property).named(|it| it.field("type")).until('{'),
            item("operator_declaration", ItemKind::Method).named(|it| it.field("operator")),
            item("local_function_statement", ItemKind::Function),
            item("property_declaration", ItemKind::Property).until('{'),
            item("event_declaration", ItemKind::Property).until('{'),
            item("using_directive", ItemKind::Type).when(|it| it.field("name").is_some()),
            import("using_directive"),
        ]],
        wrappers: &[],
        pruned: &["initializer_expression"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };
}
