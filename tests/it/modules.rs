//! The module graph inside `daemon`, `memory` and the crates in its folder, read from the paths in
//! their source. Also the rule that the domain inside `memory` does not import its wording.
//!
//! A module imports another if its code has a path that begins with `crate::` or `super::` and
//! leads there. Tests do not count. Paths inside macro calls are not seen. Neither are those
//! through which a parent calls its own children.
//!
//! In the daemon, imports also follow the direction of calls that ARCHITECTURE.md shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use crate::tidy::root;

/// The path of a module from its crate's root. The root's own path is empty.
type Module = Vec<String>;

/// The layers of the daemon, highest first. A module may import its own layer and those below. All
/// other modules are one layer below these.
const LAYERS: &[&[&str]] = &[
    &["run"],
    &["socket"],
    &["http"],
    &["admin", "jobs"],
    &["mcp", "hooks", "topic_files", "team_upkeep"],
    &["zipmem_files"],
    &["outlines"],
    &["sessions", "merging"],
    &["shared", "rules", "anchors", "purging", "team_copy"],
    &["project", "projects", "registry_store"],
    &["api", "retrieval_log", "team"],
    &["store"],
];

/// The crates that are checked. Each has at least this number of modules.
const CRATES: [(&str, usize); 7] = [
    ("memory", 40),
    ("memory/fingerprint", 8),
    ("memory/outline", 20),
    ("memory/search", 20),
    ("memory/secrets", 8),
    ("memory/tokens", 3),
    ("daemon", 40),
];

#[test]
fn modules_do_not_import_each_other() {
    let mut found = Vec::new();
    for (name, least) in CRATES {
        let files = read(&root().join(name).join("src"));
        assert!(files.len() >= least, "the walk found {} modules in {name}", files.len());
        found.extend(cycles(&imports(&files)).into_iter().map(|cycle| (name, cycle)));
    }
    assert!(found.is_empty(), "these import each other: {found:?}");
}

#[test]
fn a_cycle_is_found_and_a_chain_accepted() {
    let file = |text: &str| syn::parse_file(text).unwrap().items;
    let crate_of = |a: &str, b: &str, c: &str| {
        let module = |name: &str| vec![name.to_owned()];
        let root = (Module::new(), file("mod a; mod b; mod c;"));
        imports(&Files::from([
            root,
            (module("a"), file(a)),
            (module("b"), file(b)),
            (module("c"), file(c)),
        ]))
    };
    let line = crate_of("use crate::b::{C, D};", "fn f() { super::c::g() }", "");
    assert!(cycles(&line).is_empty());
    let circle =
        crate_of("use crate::{b::C, x};", "fn f() { super::c::g() }", "type A = crate::a::B;");
    assert_eq!(cycles(&circle), [["a", "b", "c"]]);
    let by_a_test = crate_of("use super::b::C;", "#[cfg(test)] mod tests { use crate::a::B; }", "");
    assert!(cycles(&by_a_test).is_empty());
}

#[test]
fn daemon_modules_import_downwards_only() {
    let files = read(&root().join("daemon/src"));
    for name in LAYERS.iter().copied().flatten() {
        assert!(files.contains_key(&vec![(*name).to_owned()]), "{name} is not a module");
    }
    assert_eq!(upward(&imports(&files)), BTreeSet::new());
}

#[test]
fn an_upward_import_is_found() {
    let import = |from: &[&str], to: &[&str]| {
        let module = |path: &[&str]| path.iter().map(|&part| part.to_owned()).collect::<Module>();
        upward(&Imports::from([(module(from), BTreeSet::from([module(to)]))]))
    };
    assert!(import(&["mcp", "tools"], &["sessions"]).is_empty());
    assert!(import(&["mcp"], &["hooks"]).is_empty(), "they share a layer");
    assert!(import(&["store"], &["clock"]).is_empty());
    let found = import(&["project", "writer"], &["sessions", "table"]);
    assert_eq!(found, BTreeSet::from([("project".to_owned(), "sessions".to_owned())]));
    assert_eq!(import(&["clock"], &["store"]).len(), 1);
}

/// The modules of `memory` that word what readers see. All others are the domain.
const PRESENTATION: [&str; 2] = ["render", "export"];

#[test]
fn the_domain_does_not_depend_on_wording() {
    let found = importers_of_render(&imports(&read(&root().join("memory/src"))));
    assert_eq!(found, Vec::<String>::new(), "modules of the domain that import `render`");
}

#[test]
fn an_import_of_wording_is_found() {
    let file = |text: &str| syn::parse_file(text).unwrap().items;
    let module = |path: &[&str]| path.iter().map(|part| (*part).to_owned()).collect::<Module>();
    let found = importers_of_render(&imports(&Files::from([
        (module(&[]), file("mod draft; mod export; pub mod render; pub use render::title;")),
        (module(&["draft"]), file("use crate::render::item::full;")),
        (module(&["export"]), file("use crate::render;")),
        (module(&["render"]), file("mod item; pub fn title() {}")),
        (module(&["render", "item"]), file("use super::title;")),
    ])));
    assert_eq!(found, ["draft"]);
}

/// Returns the modules outside presentation that import `render`, sorted.
fn importers_of_render(imports: &Imports) -> Vec<String> {
    let begins = |module: &Module, name: &str| module.first().is_some_and(|first| first == name);
    let is_domain = |module: &Module| !PRESENTATION.iter().any(|name| begins(module, name));
    let importers = imports
        .iter()
        .filter(|(module, to)| is_domain(module) && to.iter().any(|to| begins(to, "render")));
    importers.map(|(module, _)| module.join("::")).collect()
}

type Files = BTreeMap<Module, Vec<syn::Item>>;
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Reads the modules of a crate, apart from tests.
fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![(folder.join("lib.rs"), Module::new())];
    while let Some((file, module)) = open.pop() {
        let items = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap().items;
        for item in &items {
            let syn::Item::Mod(child) = item else { continue };
            if child.content.is_none() && !is_test(&child.attrs) {
                let path: Module =
                    module.iter().cloned().chain([child.ident.to_string()]).collect();
                open.push((file_of(&file, &child.ident.to_string()), path));
            }
        }
        files.insert(module, items);
    }
    files
}

/// Returns the file of a module that `parent` declares.
fn file_of(parent: &Path, child: &str) -> PathBuf {
    let stem = parent.file_stem().unwrap();
    let folder = parent.with_file_name("");
    let folder = if stem == "lib" || stem == "mod" { folder } else { folder.join(stem) };
    let flat = folder.join(child).with_extension("rs");
    if flat.exists() { flat } else { folder.join(child).join("mod.rs") }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let tokens = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .filter_map(|attribute| Some(attribute.meta.require_list().ok()?.tokens.to_string()));
    tokens.into_iter().any(|tokens| tokens.contains("test"))
}

fn imports(files: &Files) -> Imports {
    let of = |(module, items): (&Module, &Vec<syn::Item>)| {
        let mut paths = Paths { files, module, leads_to: BTreeSet::new() };
        for item in items {
            paths.visit_item(item);
        }
        paths.leads_to.remove(module);
        (module.clone(), paths.leads_to)
    };
    files.iter().map(of).collect()
}

/// Returns the modules at the crate's root that import one of a higher layer, with that one.
fn upward(imports: &Imports) -> BTreeSet<(String, String)> {
    let depth =
        |name: &str| LAYERS.iter().position(|layer| layer.contains(&name)).unwrap_or(LAYERS.len());
    let pairs = imports.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    pairs
        .filter_map(|(from, to)| Some((from.first()?, to.first()?)))
        .filter(|(from, to)| depth(to) < depth(from))
        .map(|(from, to)| (from.clone(), to.clone()))
        .collect()
}

/// Returns the groups of modules that import each other, sorted.
fn cycles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (module, reached_from(module, imports))).collect();
    let cycles: BTreeSet<Vec<String>> = reached
        .iter()
        .filter(|(module, to)| to.contains(**module))
        .map(|(module, to)| {
            let both_ways =
                to.iter().filter(|other| reached.get(**other).unwrap().contains(module));
            both_ways.map(|module| module.join("::")).collect()
        })
        .collect();
    cycles.into_iter().collect()
}

fn reached_from<'a>(module: &Module, imports: &'a Imports) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = imports.get(module).into_iter().flatten().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(imports.get(module).into_iter().flatten());
        }
    }
    reached
}

/// Collects the modules that a module's paths lead to.
struct Paths<'a> {
    files: &'a Files,
    module: &'a Module,
    leads_to: BTreeSet<Module>,
}

impl Paths<'_> {
    fn add(&mut self, path: &[String]) {
        let mut at = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                at.clear();
                rest = path.get(1..).unwrap();
            }
            Some("super") => {
                while let Some((first, others)) = rest.split_first()
                    && first == "super"
                {
                    at.pop();
                    rest = others;
                }
            }
            _ => return,
        }
        for part in rest {
            at.push(part.clone());
            if !self.files.contains_key(&at) {
                at.pop();
                break;
            }
        }
        self.leads_to.insert(at);
    }

    fn add_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| -> Vec<String> {
            before.iter().cloned().chain([name.to_string()]).collect()
        };
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.add(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.add_tree(before, item);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    /// The path in `pub(in path)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }
}
