//! Shell scripts, by the grammar of Bash.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "bash",
    name: "Bash",
    extensions: &["sh", "bash", "zsh", "ksh", "bats"],
    files: &[".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", "PKGBUILD"],
    interpreters: &["sh", "bash", "dash", "zsh", "ksh"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, NodeInContext, child, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_bash::LANGUAGE,
        rules: &[&[
            item("function_definition", ItemKind::Function).named(first_name),
            item("variable_assignment", ItemKind::Variable).outside_functions(),
            import("command").when(sources),
        ]],
        wrappers: &[],
        pruned: &["array", "string", "heredoc_body"],
        comments: COMMENTS_HASH,
        damaged: Damaged::ByLines,
    };

    /// Returns the first name of a function. zsh allows several, of which the grammar skips all but
    /// the last.
    fn first_name<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        let skipped = it.child(&["ERROR"]).and_then(|skipped| child(skipped, &["word"]));
        let name = it.field("name")?;
        Some(skipped.filter(|word| word.end_byte() < name.start_byte()).unwrap_or(name))
    }

    fn sources(it: &NodeInContext<'_, '_>) -> bool {
        let name = it.field("name").map(|name| it.text_of(name));
        matches!(name, Some("source" | "."))
    }
}
