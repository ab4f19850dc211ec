//! The three APIs: how a request is written, and where the answer is in the reply.

use anchord_daemon::config::{Api, ProviderConfig};
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::limits::ANSWER_TOKENS_MAX;
use crate::prompt::Prompt;

/// The version of Anthropic's API that the requests are written for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Returns the address that a provider is called at.
pub(crate) fn address(provider: &ProviderConfig) -> String {
    let base = provider.url.trim_end_matches('/');
    match provider.api {
        Api::Gemini => format!("{base}/v1beta/models/{}:generateContent", provider.model),
        Api::Anthropic => format!("{base}/v1/messages"),
        Api::OpenAi => format!("{base}/chat/completions"),
    }
}

/// Returns the body of the request for a prompt.
pub(crate) fn body(provider: &ProviderConfig, temperature: f64, prompt: &Prompt) -> Value {
    let Prompt { rules, question } = prompt;
    match provider.api {
        Api::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": rules }] },
            "contents": [{ "role": "user", "parts": [{ "text": question }] }],
            "generationConfig": {
                "temperature": temperature,
                "maxOutputTokens": ANSWER_TOKENS_MAX,
                "responseMimeType": "application/json",
            },
        }),
        Api::Anthropic => json!({
            "model": provider.model,
            "max_tokens": ANSWER_TOKENS_MAX,
            "temperature": temperature,
            "system": rules,
            "messages": [{ "role": "user", "content": question }],
        }),
        Api::OpenAi => json!({
            "model": provider.model,
            "max_tokens": ANSWER_TOKENS_MAX,
            "temperature": temperature,
            "messages": [
                { "role": "system", "content": rules },
                { "role": "user", "content": question },
            ],
        }),
    }
}

/// Begins a request with the headers of the provider's API.
pub(crate) fn request(
    client: &Client,
    provider: &ProviderConfig,
    key: Option<&str>,
) -> RequestBuilder {
    let request = client.post(address(provider));
    match (provider.api, key) {
        (Api::Gemini, Some(key)) => request.header("x-goog-api-key", key),
        (Api::Anthropic, Some(key)) => {
            request.header("x-api-key", key).header("anthropic-version", ANTHROPIC_VERSION)
        }
        (Api::Anthropic, None) => request.header("anthropic-version", ANTHROPIC_VERSION),
        (Api::OpenAi, Some(key)) => request.bearer_auth(key),
        (Api::Gemini | Api::OpenAi, None) => request,
    }
}

/// The text of a reply.
pub(crate) struct Text {
    /// The text, which should be JSON.
    pub(crate) text: String,
    /// Whether the model was cut off at its limit of tokens.
    pub(crate) is_cut: bool,
}

/// Finds the model's text in a reply; `None` if the reply has none.
pub(crate) fn text(api: Api, reply: &Value) -> Option<Text> {
    let (parts, end, cut) = match api {
        Api::Gemini => (
            reply.pointer("/candidates/0/content/parts")?,
            reply.pointer("/candidates/0/finishReason"),
            "MAX_TOKENS",
        ),
        Api::Anthropic => (reply.get("content")?, reply.get("stop_reason"), "max_tokens"),
        Api::OpenAi => (
            reply.pointer("/choices/0/message/content")?,
            reply.pointer("/choices/0/finish_reason"),
            "length",
        ),
    };
    let text = match parts {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<String>()
        }
        _ => return None,
    };
    Some(Text { text, is_cut: end.and_then(Value::as_str) == Some(cut) })
}

/// Finds a provider's own words for a failure.
pub(crate) fn error_text(reply: &Value) -> Option<&str> {
    let error = reply.get("error").or_else(|| reply.pointer("/0/error"))?;
    error.as_str().or_else(|| error.get("message")?.as_str())
}
