//! The pages: what each view shows, in the frame that all have.

mod growth;
mod health;
mod learned;
mod memory;
mod now;
mod parts;

use anchord_daemon::api::{self, ProjectStatus, StatusReply};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use crate::daemon::Failure;
use crate::server::{App, Fields, Said, now as time_now};

pub(crate) use now::{given, lanes};

/// The style sheet of all pages.
pub(crate) const CSS: &str = include_str!("../../assets/app.css");
/// The script: keys, live updates, and texts that are fetched when they are opened.
pub(crate) const SCRIPT: &str = include_str!("../../assets/app.js");

/// A page that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Now,
    Learned,
    Memory,
    Record,
    Edit,
    Merge,
    Growth,
    Health,
}

impl View {
    pub(crate) const ALL: [Self; 8] = [
        Self::Now,
        Self::Learned,
        Self::Memory,
        Self::Record,
        Self::Edit,
        Self::Merge,
        Self::Growth,
        Self::Health,
    ];

    /// The views that the head of each page leads to, in the order of their keys.
    const TABS: [Self; 5] = [Self::Now, Self::Learned, Self::Memory, Self::Growth, Self::Health];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Now => "/now",
            Self::Learned => "/learned",
            Self::Memory => "/memory",
            Self::Record => "/memory/record",
            Self::Edit => "/memory/edit",
            Self::Merge => "/memory/merge",
            Self::Growth => "/growth",
            Self::Health => "/health",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Learned => "Learned",
            Self::Memory | Self::Record | Self::Edit | Self::Merge => "Memory",
            Self::Growth => "Growth",
            Self::Health => "Health",
        }
    }
}

/// A page, and whether it shows a failure instead of what was asked for.
pub(crate) struct Page {
    pub(crate) html: Markup,
    pub(crate) is_failure: bool,
}

/// The values that every part of a page needs.
pub(crate) struct Scene<'a> {
    pub(crate) app: &'a App,
    /// The id of the memory that is shown; empty if there is none.
    pub(crate) project: String,
    pub(crate) projects: Vec<ProjectStatus>,
    /// The address to come back to after a change.
    pub(crate) back: String,
    pub(crate) now: i64,
    /// Whether the page is a file, in which nothing can be changed or followed.
    pub(crate) is_file: bool,
}

impl<'a> Scene<'a> {
    /// A scene without a memory.
    fn bare(app: &'a App) -> Self {
        let (project, back) = (String::new(), View::Now.path().to_owned());
        Self { app, project, projects: Vec::new(), back, now: time_now(), is_file: false }
    }

    /// Returns whether the user's own memory is shown.
    fn is_personal(&self) -> bool {
        self.project == api::USER
    }
}

/// Renders a view.
pub(crate) async fn render(app: &App, view: View, fields: &Fields) -> Page {
    let scene = match scene(app, view, fields).await {
        Ok(scene) => scene,
        Err(failure) => {
            let html = frame(&Scene::bare(app), view, &problem(&failure));
            return Page { html, is_failure: true };
        }
    };
    let body = match view {
        View::Now => Ok(now::view(&scene).await),
        View::Learned => learned::view(&scene, fields).await,
        View::Memory => memory::view(&scene, fields).await,
        View::Record => memory::record(&scene, fields).await,
        View::Edit => memory::edit(&scene, fields).await,
        View::Merge => memory::merge(&scene, fields).await,
        View::Growth => growth::view(&scene).await,
        View::Health => health::view(&scene).await,
    };
    match body {
        Ok(body) => Page { html: frame(&scene, view, &body), is_failure: false },
        Err(failure) => Page { html: frame(&scene, view, &problem(&failure)), is_failure: true },
    }
}

/// Renders all views below each other.
pub(crate) async fn whole(app: &App) -> Result<String, Failure> {
    let fields = Fields::new();
    let mut scene = scene(app, View::Now, &fields).await?;
    scene.is_file = true;
    let sections = [
        (View::Now, now::view(&scene).await),
        (View::Learned, learned::view(&scene, &fields).await?),
        (View::Memory, memory::view(&scene, &fields).await?),
        (View::Growth, growth::view(&scene).await?),
        (View::Health, health::view(&scene).await?),
    ];
    let name = scene.projects.iter().find(|it| it.id == scene.project).map(|it| it.name.as_str());
    let name = name.unwrap_or("memory");
    let body = html! {
        header {
            h1 { "anchord" }
            p.faint { (name) " as of " (parts::minute(scene.now)) }
        }
        main { @for (view, body) in &sections { section { h2 { (view.name()) } (body) } } }
    };
    let style = html! { style { (PreEscaped(CSS)) } };
    let page = document(&format!("anchord: {name}"), &style, &body);
    Ok(page.into_string())
}

/// Finds the memories, and the one to show.
async fn scene<'a>(app: &'a App, view: View, fields: &Fields) -> Result<Scene<'a>, Failure> {
    let status: StatusReply = app.daemon.get(api::STATUS, json!({})).await?;
    let mut projects = status.projects;
    projects.extend(status.personal);
    let asked = fields.get("project").filter(|asked| !asked.is_empty());
    let is = |wanted: &str| {
        let root = |it: &&ProjectStatus| it.id == wanted || it.root == wanted;
        projects.iter().find(root).map(|it| it.id.clone())
    };
    let beneath = |wanted: &str| {
        let own = |it: &&ProjectStatus| {
            !it.root.is_empty() && std::path::Path::new(wanted).starts_with(&it.root)
        };
        projects.iter().filter(own).max_by_key(|it| it.root.len()).map(|it| it.id.clone())
    };
    let project = match asked {
        Some(asked) => is(asked).ok_or_else(|| Failure {
            message: format!("there is no memory `{asked}`"),
            action: Some("Choose one above.".to_owned()),
        })?,
        None => is(&app.project)
            .or_else(|| beneath(&app.project))
            .or_else(|| projects.first().map(|it| it.id.clone()))
            .unwrap_or_default(),
    };
    let back = address(view, fields);
    Ok(Scene { app, project, projects, back, now: time_now(), is_file: false })
}

/// Returns the address of a view with its parameters.
fn address(view: View, fields: &Fields) -> String {
    // A form is left for the record that it was about.
    let view = if matches!(view, View::Edit | View::Merge) { View::Record } else { view };
    let mut pairs: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    pairs.sort_unstable();
    parts::link(view.path(), &pairs)
}

fn frame(scene: &Scene<'_>, view: View, body: &Markup) -> Markup {
    let said = scene.app.take_said();
    let more = html! { (style()) script src="/app.js" defer {} };
    let page = html! {
        a.skip href="#main" { "Skip to the content" }
        header {
            h1 { "anchord" }
            nav aria-label="Views" {
                @for (at, tab) in View::TABS.into_iter().enumerate() {
                    a href=(parts::link(tab.path(), &[("project", &scene.project)]))
                        aria-current=[(tab.name() == view.name()).then_some("page")]
                        data-key=(at + 1) { (tab.name()) }
                }
            }
            (choice(scene, view))
        }
        (banner(scene, said.as_ref()))
        main id="main" tabindex="-1" { (body) }
        footer {
            details id="keys" {
                summary { "Keys" }
                dl {
                    @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } }
                }
            }
        }
    };
    document(&format!("{} · anchord", view.name()), &more, &page)
}

/// Renders a document with more in its head than the title.
fn document(title: &str, more: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                (more)
            }
            body { (body) }
        }
    }
}

fn style() -> Markup {
    html! { link rel="stylesheet" href="/app.css"; }
}

/// The keys, as the script has them.
const KEYS: [(&str, &str); 13] = [
    ("1 … 5", "go to a view"),
    ("j, ↓", "next record"),
    ("k, ↑", "previous record"),
    ("y", "keep it as it is"),
    ("e", "edit it"),
    ("p", "pin or unpin it"),
    ("m", "merge it with another"),
    ("f", "forget it"),
    ("u", "undo the last change"),
    ("o", "open it, with its versions"),
    ("/", "search"),
    ("Esc", "leave a field, so that keys act again"),
    ("?", "show these keys"),
];

fn choice(scene: &Scene<'_>, view: View) -> Markup {
    let tab = View::TABS.into_iter().find(|tab| tab.name() == view.name()).unwrap_or(View::Now);
    html! {
        form.choice action=(tab.path()) method="get" {
            label for="project" { "Memory" }
            select id="project" name="project" data-submits {
                @for project in &scene.projects {
                    option value=(project.id) selected[project.id == scene.project] title=(project.root) {
                        (project.name)
                    }
                }
            }
            noscript { button { "Show" } }
        }
    }
}

fn banner(scene: &Scene<'_>, said: Option<&Said>) -> Markup {
    html! {
        div.said role="status" {
            @if let Some(said) = said {
                p class=(if said.is_failure { "bad" } else { "good" }) { (said.text) }
                @if let Some((project, commits)) = said.undo.as_ref().filter(|(_, it)| !it.is_empty()) {
                    @let commits: Vec<String> = commits.iter().map(u64::to_string).collect();
                    (parts::action(scene, "undo", "Undo", Some("u"), &[
                        ("project", project), ("revisions", &commits.join(",")),
                    ]))
                }
            }
        }
    }
}

/// Shows a failure, and what to do.
fn problem(failure: &Failure) -> Markup {
    html! {
        div.problem {
            p { strong { "This cannot be shown: " } (failure.message) }
            @if let Some(action) = &failure.action { p { (action) } }
        }
    }
}

/// Renders a page with one sentence.
pub(crate) fn plain(title: &str, words: &str) -> Markup {
    document(title, &style(), &html! { main { h1 { "anchord" } p { (words) } } })
}

/// Renders the page that a browser sees for a moment once it was let in.
pub(crate) fn let_in() -> Markup {
    let more = html! { meta http-equiv="refresh" content="0;url=/now"; (style()) };
    let body = html! { main { h1 { "anchord" } p { a href="/now" { "Go to the dashboard" } } } };
    document("anchord", &more, &body)
}
