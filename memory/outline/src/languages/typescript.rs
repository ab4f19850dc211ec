//! TypeScript, and the rules that it shares with TSX.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "typescript",
    name: "TypeScript",
    extensions: &["ts", "mts", "cts"],
    files: &[],
    interpreters: &["deno", "ts-node", "tsx"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use super::super::javascript::grammar as javascript;
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, Rule, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        rules: RULES,
        wrappers: WRAPPERS,
        pruned: &["array", "template_string", "import_statement"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };

    pub(in crate::languages) const WRAPPERS: &[&str] =
        &["export_statement", "ambient_declaration", "expression_statement"];

    pub(in crate::languages) const RULES: &[&[Rule]] = &[OWN, javascript::RULES];

    const OWN: &[Rule] = &[
        item("abstract_class_declaration", ItemKind::Class),
        item("interface_declaration", ItemKind::Interface),
        item("type_alias_declaration", ItemKind::Type).bodied(|_| None),
        item("enum_declaration", ItemKind::Enum),
        item("internal_module", ItemKind::Module),
        item("module", ItemKind::Module),
        item("function_signature", ItemKind::Function),
        item("method_signature", ItemKind::Method),
        item("abstract_method_signature", ItemKind::Method),
        item("public_field_definition", ItemKind::Method)
            .when(javascript::is_function)
            .bodied(javascript::body_of_value),
        item("public_field_definition", ItemKind::Property),
    ];
}
