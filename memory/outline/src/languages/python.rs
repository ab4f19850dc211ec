//! Python.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "python",
    name: "Python",
    extensions: &["py", "pyi", "pyw"],
    files: &["SConstruct", "SConscript", "wscript"],
    interpreters: &["python", "pypy"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, NodeInContext, import, item, summary};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_python::LANGUAGE,
        rules: &[&[
            item("function_definition", ItemKind::Function).documented(docstring),
            item("class_definition", ItemKind::Class).documented(docstring),
            item("type_alias_statement", ItemKind::Type).named(|it| it.field("left")),
            item("assignment", ItemKind::Function)
                .when(|it| {
                    it.field_is("right", &["lambda"]) && it.field_is("left", &["identifier"])
                })
                .named(|it| it.field("left"))
                .bodied(|it| it.field("right")?.child_by_field_name("body")),
            item("assignment", ItemKind::Variable)
                .when(|it| !it.scope.is_in_item && it.field_is("left", &["identifier"]))
                .named(|it| it.field("left"))
                .bodied(|it| it.field("right")),
            import("import_statement"),
            import("import_from_statement"),
            import("future_import_statement"),
        ]],
        wrappers: &["decorated_definition"],
        pruned: &["list", "dictionary", "argument_list", "string"],
        comments: COMMENTS_HASH,
        damaged: Damaged::Skipped,
    };

    /// Returns the summary of the string with which a body begins.
    fn docstring(it: &NodeInContext<'_, '_>) -> Option<String> {
        let first = it.field("body")?.named_child(0)?;
        let string = match first.kind() {
            "expression_statement" => first.named_child(0)?,
            _ => first,
        };
        if string.kind() != "string" {
            return None;
        }
        let text = it.text_of(string).trim_start_matches(|c: char| c.is_ascii_alphabetic());
        Some(summary(text.trim_matches(['"', '\'']).lines()))
    }
}
