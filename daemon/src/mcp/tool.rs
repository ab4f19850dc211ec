//! Tools: each is a definition that agents read, and a function from parameters to an answer.

use std::sync::Arc;

use anchord_memory::Audience;
use futures::future::BoxFuture;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::ToolAnswer;
use super::context::Context;
use super::error::ToolError;
use super::input::{self, UnknownFields};

/// A tool: its definition and its implementation.
#[derive(Clone)]
pub(crate) struct ToolSpec {
    /// The definition that `tools/list` shows.
    pub(crate) definition: Tool,
    /// A predicate for the calls that change nothing, of a tool that may change something.
    reads: Arc<dyn Fn(&JsonObject) -> bool + Send + Sync>,
    /// Whether the answer names unknown fields.
    pub(crate) names_unknown: bool,
    /// Whether its answer has room for remarks. Others keep what a session is told once.
    pub(crate) has_remarks: bool,
    /// Another name under which it answers.
    alias: Option<&'static str>,
    /// The memories that a command may use it on; `None` for a tool that no command needs.
    pub(super) reach: Option<Reach>,
    run: Run,
}

type Run = Arc<dyn Fn(Context, Value) -> Running + Send + Sync>;

/// A call that runs. It gives the answer and the fields of the call that no parameter accepts.
pub(super) type Running = BoxFuture<'static, (Result<ToolAnswer, ToolError>, UnknownFields)>;

/// The effect that a client may assume of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The tool changes nothing.
    Reads,
    /// The tool adds or changes. Whatever it takes out of sight comes back when it is used.
    Adds,
    /// The tool takes something out of sight.
    Removes,
}

/// The memories that a command may use a tool on. Each reaches what the one before does, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// None. The tool's work belongs to a session that continues after the call.
    Session,
    /// A project's memory.
    Project,
    /// The user's own memory.
    User,
    /// The memory as it was at an earlier moment.
    Past,
}

impl ToolSpec {
    /// Creates a tool whose parameters are `P`. The description says when to call it.
    pub(crate) fn new<P, F, A>(
        name: &'static str,
        description: impl Into<std::borrow::Cow<'static, str>>,
        effect: Effect,
        run: impl Fn(Context, P) -> F + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + 'static,
        F: Future<Output = Result<A, ToolError>> + Send + 'static,
        A: Into<ToolAnswer>,
    {
        // Hints that equal the specification's defaults are left out, since every session pays for
        // them.
        let annotations = match effect {
            Effect::Reads => ToolAnnotations::new().read_only(true),
            Effect::Adds => ToolAnnotations::new().destructive(false),
            Effect::Removes => ToolAnnotations::new().destructive(true),
        };
        let annotations = annotations.open_world(false);
        let mut definition = Tool::new(name, description, schema_of::<P>());
        definition.annotations = Some(annotations);
        let run: Run = Arc::new(move |context, arguments| {
            let (parameters, mut unknown, names) = input::read_named::<P>(arguments, "");
            let audience = Arc::clone(&context.audience);
            let running = parameters.map(|parameters| run(context, parameters));
            Box::pin(async move {
                let mut answer: Result<ToolAnswer, ToolError> = match running {
                    Ok(running) => {
                        running.await.map(Into::into).map_err(|error| error.reworded(&names))
                    }
                    Err(error) => Err(match &*audience {
                        Audience::Agent | Audience::Compactor => ToolError::unreadable(name, error),
                        // A person knows the command, not the tool.
                        Audience::Person(_) => ToolError::caller(error.to_string()),
                    }),
                };
                if let Ok(answer) = &mut answer {
                    unknown.extend(std::mem::take(&mut answer.unknown));
                }
                (answer, unknown)
            })
        });
        let reads = matches!(effect, Effect::Reads);
        Self {
            definition,
            reads: Arc::new(move |_| reads),
            names_unknown: true,
            has_remarks: true,
            alias: None,
            reach: None,
            run,
        }
    }

    /// Sets the memories that a command may use the tool on.
    #[must_use]
    pub(super) fn reaching(self, reach: Reach) -> Self {
        Self { reach: Some(reach), ..self }
    }

    /// Gives a tool another name, under which it answers without being listed.
    #[must_use]
    pub(crate) fn also_named(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    /// Returns whether the tool answers to a name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.definition.name == name || self.alias == Some(name)
    }

    /// Marks a tool that an agent needs before it would search for one.
    #[must_use]
    pub(crate) fn needed_first(mut self) -> Self {
        let mut meta = MetaObject::new();
        meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
        self.definition.meta = Some(meta);
        self
    }

    /// Makes a tool silent about unknown fields, as the originals of the compatibility sets are.
    #[must_use]
    pub(crate) fn silent_about_unknown(mut self) -> Self {
        self.names_unknown = false;
        self
    }

    /// Marks a request of another kind than a tool's call, whose answer is a text alone.
    #[must_use]
    pub(crate) fn without_remarks(mut self) -> Self {
        self.has_remarks = false;
        self
    }

    /// Marks a tool that has calls which change nothing. `reads` gets the parameters that the tool
    /// would run with. A call that cannot be read changes nothing.
    #[must_use]
    pub(crate) fn reading_when<P: DeserializeOwned + 'static>(
        mut self,
        reads: fn(&P) -> bool,
    ) -> Self {
        self.reads = Arc::new(move |arguments| {
            let (params, _) = input::read::<P>(Value::Object(arguments.clone()), "");
            params.map_or(true, |params| reads(&params))
        });
        self
    }

    /// Returns whether a call with these arguments changes nothing.
    pub(crate) fn reads(&self, arguments: &JsonObject) -> bool {
        (self.reads)(arguments)
    }

    /// Runs the tool.
    pub(super) fn run(&self, context: Context, arguments: JsonObject) -> Running {
        (self.run)(context, Value::Object(arguments))
    }
}

/// Returns the JSON schema of a parameter type, without what costs tokens or makes clients warn.
fn schema_of<P: JsonSchema>() -> JsonObject {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<P>().to_value();
    tidy(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
            object
        }
        _ => JsonObject::new(),
    }
}

/// Drops what costs tokens without information: titles, integer formats, null types, empty
/// defaults. The schema does not mention other accepted input ([`input`]).
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            // A parameter may have this name too.
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            // These are the bounds of integer types. A value that is out of bounds is refused with
            // the real ones.
            object.remove("minimum");
            object.remove("maximum");
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            let says_nothing = |default: &Value| match default {
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Null | Value::Bool(_) => true,
                Value::Number(_) | Value::Object(_) => false,
            };
            if object.get("default").is_some_and(says_nothing) {
                object.remove("default");
            }
            object.remove("additionalProperties");
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(options)) = object.get_mut("anyOf") {
                options.retain(|option| option.get("type") != Some(&Value::from("null")));
                if let [Value::Object(only)] = options.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}
