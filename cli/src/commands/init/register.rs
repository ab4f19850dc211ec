//! How anchord is registered with each agent. Told, not done: these files are the agents' own.

use crate::show::shell_word;

/// The lines to run or to paste, for this program.
pub(super) fn lines(program: &str) -> String {
    let word = shell_word(program);
    let name = serde_json::Value::from(program);
    format!(
        "Register anchord with the agents you use, once for all projects:

Claude Code  claude mcp add -s user anchord -- {word} mcp
Codex        codex mcp add anchord -- {word} mcp
Gemini CLI   gemini mcp add -s user anchord {word} mcp
opencode     in ~/.config/opencode/opencode.json:
             {{\"mcp\": {{\"anchord\": {{\"type\": \"local\", \"command\": [{name}, \"mcp\"], \"enabled\": true}}}}}}
OpenClaw     in ~/.openclaw/openclaw.json:
             {{\"mcp\": {{\"servers\": {{\"anchord\": {{\"command\": {name}, \"args\": [\"mcp\"]}}}}}}}}
Cursor       in ~/.cursor/mcp.json:
             {{\"mcpServers\": {{\"anchord\": {{\"command\": {name}, \"args\": [\"mcp\"]}}}}}}
"
    )
}
