//! Markdown.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "markdown",
    name: "Markdown",
    extensions: &["md", "markdown", "mdx", "mdc"],
    files: &[],
    interpreters: &[],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_NONE, Damaged, Grammar, NodeInContext, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_md::LANGUAGE,
        rules: &[&[
            item("section", ItemKind::Section).named(heading).until('\n'),
            // An underlined heading does not always begin a section of the tree.
            item("setext_heading", ItemKind::Section)
                .when(|it| it.node.prev_sibling().is_some())
                .named(|it| it.field("heading_content"))
                .until('\n'),
        ]],
        wrappers: &[],
        pruned: &["list", "pipe_table", "block_quote", "fenced_code_block"],
        comments: COMMENTS_NONE,
        damaged: Damaged::Skipped,
    };

    fn heading<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.child(&["atx_heading", "setext_heading"])?.child_by_field_name("heading_content")
    }
}
