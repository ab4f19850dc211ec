//! Java.

use crate::language::Language;

pub(super) static LANGUAGE: Language =
    Language { id: "java", name: "Java", extensions: &["java"], files: &[], interpreters: &[] };

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_java::LANGUAGE,
        rules: &[&[
            item("class_declaration", ItemKind::Class),
            item("record_declaration", ItemKind::Class),
            item("interface_declaration", ItemKind::Interface),
            item("annotation_type_declaration", ItemKind::Interface),
            item("enum_declaration", ItemKind::Enum),
            item("method_declaration", ItemKind::Method),
            item("constructor_declaration", ItemKind::Method),
            item("compact_constructor_declaration", ItemKind::Method),
            item("annotation_type_element_declaration", ItemKind::Method),
            import("import_declaration"),
        ]],
        wrappers: &[],
        pruned: &["array_initializer"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };
}
