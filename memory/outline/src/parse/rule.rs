//! A rule: which nodes of a language's tree are items, and where their parts are.

use tree_sitter::Node;

use crate::outline::ItemKind;

/// A node with its surroundings.
pub(crate) struct NodeInContext<'t, 'a> {
    pub(crate) node: Node<'t>,
    /// The nodes around it, the outermost first.
    pub(crate) ancestors: &'a [Node<'t>],
    pub(crate) text: &'a str,
    pub(crate) scope: Scope,
}

/// The items around a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) is_in_function: bool,
    pub(crate) is_in_item: bool,
}

/// A name and the row that it is on.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) row: usize,
}

/// Finds a node that belongs to another: the one with its name, or its body.
pub(crate) type Find = for<'t> fn(&NodeInContext<'t, '_>) -> Option<Node<'t>>;

/// A kind of node that is an item or an import.
pub(crate) struct Rule {
    /// The kind of node.
    pub(crate) node: &'static str,
    /// The kind of item; `None` for an import.
    pub(crate) kind: Option<ItemKind>,
    /// The text before which a declaration without a body is cut.
    pub(crate) until: Option<char>,
    when: Option<fn(&NodeInContext<'_, '_>) -> bool>,
    name: Option<Find>,
    body: Option<Find>,
    doc: Option<fn(&NodeInContext<'_, '_>) -> Option<String>>,
    /// Whether the declaration continues after its body: `typedef struct {…} name`.
    pub(crate) continues: bool,
}

/// Creates the rule for an item. Its name is in the field `name`, else in the innermost
/// `declarator`. Its body is in the field `body` or `value`.
pub(crate) const fn item(node: &'static str, kind: ItemKind) -> Rule {
    Rule { kind: Some(kind), ..import(node) }
}

/// Creates the rule for an import.
pub(crate) const fn import(node: &'static str) -> Rule {
    Rule {
        node,
        kind: None,
        until: None,
        when: None,
        name: None,
        body: None,
        doc: None,
        continues: false,
    }
}

impl Rule {
    /// Takes only nodes for which this is true.
    pub(crate) const fn when(self, when: fn(&NodeInContext<'_, '_>) -> bool) -> Self {
        Self { when: Some(when), ..self }
    }

    /// Takes only nodes that are neither in a function nor in a method.
    pub(crate) const fn outside_functions(self) -> Self {
        self.when(|it| !it.scope.is_in_function)
    }

    /// Finds the name elsewhere.
    pub(crate) const fn named(self, name: Find) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Finds the body elsewhere.
    pub(crate) const fn bodied(self, body: Find) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Shows what follows the body, too.
    pub(crate) const fn continued(self) -> Self {
        Self { continues: true, ..self }
    }

    /// Cuts a declaration without a body before this character.
    pub(crate) const fn until(self, until: char) -> Self {
        Self { until: Some(until), ..self }
    }

    /// Finds the documentation inside the item.
    pub(crate) const fn documented(
        self,
        doc: fn(&NodeInContext<'_, '_>) -> Option<String>,
    ) -> Self {
        Self { doc: Some(doc), ..self }
    }

    /// Returns whether the rule takes a node.
    pub(super) fn takes(&self, seen: &NodeInContext<'_, '_>) -> bool {
        self.when.is_none_or(|when| when(seen))
    }

    /// Returns the name; `None` if the node has none, and so is not an item.
    pub(super) fn name_of(&self, seen: &NodeInContext<'_, '_>) -> Option<Name> {
        let name = match self.name {
            Some(name) => name(seen),
            None => seen.node.child_by_field_name("name").or_else(|| declared(seen.node)),
        }?;
        let text = name.utf8_text(seen.text.as_bytes()).ok()?;
        let text = text.trim_matches(['"', '\'', '`', ' ', '\n']);
        let row = last_name(name).end_position().row;
        (!text.is_empty()).then(|| Name { text: text.to_owned(), row })
    }

    /// Returns the node at which the declaration ends.
    pub(super) fn body_of<'t>(&self, seen: &NodeInContext<'t, '_>) -> Option<Node<'t>> {
        match self.body {
            Some(body) => body(seen),
            None => ["body", "value"].iter().find_map(|it| seen.node.child_by_field_name(it)),
        }
    }

    /// Returns the documentation inside the item.
    pub(super) fn doc_of(&self, seen: &NodeInContext<'_, '_>) -> Option<String> {
        self.doc.and_then(|doc| doc(seen)).filter(|doc| !doc.is_empty())
    }
}

impl<'t> NodeInContext<'t, '_> {
    /// Returns the child in a field.
    pub(crate) fn field(&self, name: &str) -> Option<Node<'t>> {
        self.node.child_by_field_name(name)
    }

    /// Returns whether the child in a field is of one of these kinds.
    pub(crate) fn field_is(&self, name: &str, kinds: &[&str]) -> bool {
        self.field(name).is_some_and(|child| kinds.contains(&child.kind()))
    }

    /// Returns the first child of one of these kinds.
    pub(crate) fn child(&self, kinds: &[&str]) -> Option<Node<'t>> {
        child(self.node, kinds)
    }

    /// Returns the text of a node.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &str {
        node.utf8_text(self.text.as_bytes()).unwrap_or_default()
    }
}

/// Returns a node's first child of one of these kinds.
pub(crate) fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    node.named_children(&mut node.walk()).find(|child| kinds.contains(&child.kind()))
}

/// Returns the part of a name that names the item: `inner` of `Outer::inner<T>`.
fn last_name(name: Node<'_>) -> Node<'_> {
    let mut last = name;
    while let Some(inner) = last.child_by_field_name("name") {
        last = inner;
    }
    last
}

/// Returns the name in a declarator of C: the innermost one.
pub(crate) fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = node.child_by_field_name("declarator")?;
    loop {
        let next = inner.child_by_field_name("declarator").or_else(|| {
            let wraps = ["reference_declarator", "parenthesized_declarator"];
            let is_wrapper = wraps.contains(&inner.kind());
            inner.named_child(0).filter(|_| is_wrapper)
        });
        match next {
            Some(next) => inner = next,
            None => return Some(inner),
        }
    }
}

/// Returns whether a declarator of C declares a function: `int *f(void)`, but not a pointer to one.
pub(crate) fn declares_function(node: Node<'_>) -> bool {
    let mut inner = node.child_by_field_name("declarator");
    while let Some(node) = inner {
        match node.kind() {
            "function_declarator" => {
                let declares = node.child_by_field_name("declarator");
                return declares.is_some_and(|it| it.kind() != "parenthesized_declarator");
            }
            "pointer_declarator" => inner = node.child_by_field_name("declarator"),
            "reference_declarator" => inner = node.named_child(0),
            _ => return false,
        }
    }
    false
}
