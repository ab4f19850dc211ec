//! Arguments of writes that a test finds again: by a title that it chooses.

use serde_json::{Value, json};

/// For `memory_checkpoint`: one blueprint.
pub fn checkpoint(title: &str) -> Value {
    json!({"blueprints": [blueprint(title, &format!("what {title} says"))]})
}

/// For `memory_save`: one blueprint.
pub fn save(title: &str) -> Value {
    json!({
        "session_summary": format!("wrote {title}"),
        "blueprints": [blueprint(title, &format!("what {title} says"))],
    })
}

/// A blueprint of a length of one's choice.
pub fn blueprint(title: &str, content: &str) -> Value {
    json!({"category": "decision", "title": title, "content": content})
}
