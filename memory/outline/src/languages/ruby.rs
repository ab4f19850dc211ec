//! Ruby.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "ruby",
    name: "Ruby",
    extensions: &["rb", "rake", "gemspec", "ru"],
    files: &["Rakefile", "Gemfile", "Guardfile", "Vagrantfile", "Capfile"],
    interpreters: &["ruby", "jruby"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, NodeInContext, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_ruby::LANGUAGE,
        rules: &[&[
            item("module", ItemKind::Module),
            item("class", ItemKind::Class),
            item("singleton_class", ItemKind::Class).named(|it| it.field("value")),
            item("method", ItemKind::Function).until('\n'),
            item("singleton_method", ItemKind::Method).until('\n'),
            item("assignment", ItemKind::Variable)
                .when(|it| it.field_is("left", &["constant"]) && !it.scope.is_in_function)
                .named(|it| it.field("left"))
                .bodied(|it| it.field("right")),
            import("call").when(requires),
        ]],
        wrappers: &[],
        pruned: &["array", "hash", "string"],
        comments: COMMENTS_HASH,
        damaged: Damaged::Skipped,
    };

    fn requires(it: &NodeInContext<'_, '_>) -> bool {
        let method = it.field("method").map(|method| it.text_of(method));
        it.field("receiver").is_none()
            && matches!(method, Some("require" | "require_relative" | "load" | "autoload"))
    }
}
