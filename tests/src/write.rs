//! Arguments of writes that a test can find again by their title.

use serde_json::{Value, json};

/// Returns arguments for `memory_checkpoint`, with one blueprint.
pub fn checkpoint(title: &str) -> Value {
    json!({"blueprints": [blueprint(title, &format!("what {title} says"))]})
}

/// Returns arguments for `memory_save`, with one blueprint.
pub fn save(title: &str) -> Value {
    json!({
        "session_summary": format!("wrote {title}"),
        "blueprints": [blueprint(title, &format!("what {title} says"))],
    })
}

/// Returns a blueprint with the given content.
pub fn blueprint(title: &str, content: &str) -> Value {
    json!({"category": "decision", "title": title, "content": content})
}
