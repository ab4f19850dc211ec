//! JavaScript, and the rules that it shares with TypeScript.

use crate::language::Language;

pub(super) static LANGUAGE: Language = Language {
    id: "javascript",
    name: "JavaScript",
    extensions: &["js", "jsx", "mjs", "cjs"],
    files: &[],
    interpreters: &["node", "nodejs", "bun"],
};

#[cfg(feature = "grammars")]
pub(super) mod grammar {
    use tree_sitter::Node;

    use crate::outline::ItemKind;
    use crate::parse::{COMMENTS_C, Damaged, Grammar, NodeInContext, Rule, import, item};

    pub(in crate::languages) static GRAMMAR: Grammar = Grammar {
        language: tree_sitter_javascript::LANGUAGE,
        rules: &[OWN, RULES],
        wrappers: WRAPPERS,
        pruned: &["array", "template_string", "jsx_element", "import_statement"],
        comments: COMMENTS_C,
        damaged: Damaged::Skipped,
    };

    pub(in crate::languages) const WRAPPERS: &[&str] = &["export_statement"];

    pub(in crate::languages) const RULES: &[Rule] = &[
        item("function_declaration", ItemKind::Function),
        item("generator_function_declaration", ItemKind::Function),
        item("class_declaration", ItemKind::Class),
        item("method_definition", ItemKind::Method),
        item("variable_declarator", ItemKind::Function).when(is_function).bodied(body_of_value),
        item("variable_declarator", ItemKind::Class).when(is_class).bodied(body_of_value),
        import("variable_declarator").when(is_require),
        item("variable_declarator", ItemKind::Variable).when(|it| {
            !it.scope.is_in_function || it.field("value").is_some_and(is_called_at_once)
        }),
        item("assignment_expression", ItemKind::Function)
            .when(assigns_function)
            .named(assigned)
            .bodied(assigned_body),
        item("assignment_expression", ItemKind::Class)
            .when(|it| it.field_is("right", &["class"]))
            .named(assigned)
            .bodied(assigned_body),
        item("assignment_expression", ItemKind::Variable)
            .when(|it| it.field("right").is_some_and(is_called_at_once) && assigned(it).is_some())
            .named(assigned)
            .bodied(|it| it.field("right")),
        item("assignment_expression", ItemKind::Property)
            .when(assigns_member)
            .named(assigned)
            .bodied(|it| it.field("right")),
        item("function_expression", ItemKind::Function).when(is_named_alone),
        item("pair", ItemKind::Method)
            .when(is_function)
            .named(|it| it.field("key"))
            .bodied(body_of_value),
        import("import_statement"),
        import("export_statement").when(|it| it.field("source").is_some()),
    ];

    const OWN: &[Rule] = &[item("field_definition", ItemKind::Method)
        .when(is_function)
        .named(|it| it.field("property"))
        .bodied(body_of_value)];

    const FUNCTIONS: &[&str] = &["arrow_function", "function_expression", "generator_function"];

    pub(in crate::languages) fn is_function(it: &NodeInContext<'_, '_>) -> bool {
        it.field_is("value", FUNCTIONS)
    }

    /// Returns whether a function has a name of its own and is not the value of another name.
    fn is_named_alone(it: &NodeInContext<'_, '_>) -> bool {
        let around = it.ancestors.last().map_or("", Node::kind);
        let names = ["variable_declarator", "assignment_expression", "field_definition"];
        it.field("name").is_some() && !names.contains(&around)
    }

    fn is_class(it: &NodeInContext<'_, '_>) -> bool {
        it.field_is("value", &["class"])
    }

    fn is_require(it: &NodeInContext<'_, '_>) -> bool {
        let call = it.field("value").filter(|value| value.kind() == "call_expression");
        let called = call.and_then(|call| call.child_by_field_name("function"));
        called.is_some_and(|called| it.text_of(called) == "require")
    }

    pub(in crate::languages) fn body_of_value<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.field("value")?.child_by_field_name("body")
    }

    /// Returns whether a function is called where it is written: `(function() {}())`. Functions
    /// that share variables are made so.
    fn is_called_at_once(value: Node<'_>) -> bool {
        let (mut inner, mut is_called) = (Some(value), false);
        while let Some(node) = inner {
            inner = match node.kind() {
                "parenthesized_expression" => node.named_child(0),
                "call_expression" => {
                    is_called = true;
                    node.child_by_field_name("function")
                }
                kind => return is_called && FUNCTIONS.contains(&kind),
            };
        }
        false
    }

    fn assigns_function(it: &NodeInContext<'_, '_>) -> bool {
        it.field_is("right", FUNCTIONS) && assigned(it).is_some()
    }

    /// Returns whether a value that is written elsewhere becomes a member, as in
    /// `Type.prototype.add = add`.
    fn assigns_member(it: &NodeInContext<'_, '_>) -> bool {
        let object = it.field("left").and_then(|left| left.child_by_field_name("object"));
        let property = object.and_then(|object| object.child_by_field_name("property"));
        property.is_some_and(|property| it.text_of(property) == "prototype")
            && assigned(it).is_some()
    }

    /// Returns the last name of `exports.name` or `Type.prototype.name`.
    fn assigned<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        let left = it.field("left")?;
        match left.kind() {
            "identifier" => Some(left),
            "member_expression" => left.child_by_field_name("property"),
            _ => None,
        }
    }

    fn assigned_body<'t>(it: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        it.field("right")?.child_by_field_name("body")
    }
}
