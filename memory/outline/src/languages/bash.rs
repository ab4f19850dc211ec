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
    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_HASH, Damaged, Grammar, Seen, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_bash::LANGUAGE,
        rules: &[&[
            item("function_definition", ItemKind::Function),
            item("variable_assignment", ItemKind::Variable).outside_functions(),
            import("command").when(sources),
        ]],
        wrappers: &[],
        pruned: &["array", "string", "heredoc_body"],
        comments: COMMENTS_HASH,
        damaged: Damaged::ByLines,
    };

    fn sources(it: &Seen<'_, '_>) -> bool {
        let name = it.field("name").map(|name| it.text_of(name));
        matches!(name, Some("source" | "."))
    }
}
