//! C++.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "cpp",
    name: "C++",
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp", "cu"],
    files: &[],
    interpreters: &[],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use super::super::c::grammar as c;
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, Rule, declares_function, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_cpp::LANGUAGE,
        rules: &[OWN, c::RULES],
        wrappers: &["template_declaration"],
        pruned: c::PRUNED,
        comments: COMMENTS_C,
        damaged: Damaged::WithoutMacros,
    };

    const OWN: &[Rule] = &[
        item("namespace_definition", ItemKind::Module),
        item("class_specifier", ItemKind::Class).when(|it| it.field("body").is_some()),
        item("field_declaration", ItemKind::Method).when(|it| declares_function(it.node)),
        item("alias_declaration", ItemKind::Type),
        item("concept_definition", ItemKind::Type).until('='),
        import("using_declaration"),
    ];
}
