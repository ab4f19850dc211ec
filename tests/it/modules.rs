//! The module graph inside `daemon` and inside `memory`, read from the paths in their source.
//!
//! A module imports another if a path in its code leads there: `crate::…`, `super::…`, or the name of
//! a child. Tests do not count. Paths inside macro calls are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The path of a module from its crate's root; the root itself is empty.
type Module = Vec<String>;

/// Modules that import each other, each group on a line. The list may only shrink.
const TOLERATED: &[(&str, &[&str])] = &[];

#[test]
fn no_modules_import_each_other() {
    let mut wrong = Vec::new();
    for (name, folder) in [("memory", "memory/src"), ("daemon", "daemon/src")] {
        let graph = Graph::read(&super::tidy::root().join(folder));
        assert!(graph.imports.len() > 20, "the walk found {} modules", graph.imports.len());
        let cycles = graph.cycles();
        for cycle in &cycles {
            if !TOLERATED.contains(&(name, &cycle.iter().map(String::as_str).collect::<Vec<_>>())) {
                wrong.push(format!("{name}: {}", cycle.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "modules import each other:\n{}", wrong.join("\n"));
}

#[derive(Default)]
struct Graph {
    imports: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        parse(&folder.join("lib.rs"), Vec::new(), &mut files);
        let modules: BTreeSet<Module> = files.keys().cloned().collect();
        let imports = files
            .into_iter()
            .map(|(module, items)| {
                let mut paths =
                    Paths { modules: &modules, module: &module, leads_to: BTreeSet::new() };
                items.iter().for_each(|item| paths.visit_item(item));
                let mut leads_to = paths.leads_to;
                leads_to.remove(&module);
                (module, leads_to)
            })
            .collect();
        Self { imports }
    }
    fn reached(&self, from: &Module) -> BTreeSet<&Module> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Module> = self.imports.get(from).into_iter().flatten().collect();
        while let Some(module) = open.pop() {
            if reached.insert(module) {
                open.extend(self.imports.get(module).into_iter().flatten());
            }
        }
        reached
    }
    fn cycles(&self) -> BTreeSet<Vec<String>> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.imports.keys().map(|module| (module, self.reached(module))).collect();
        let mut cycles = BTreeSet::new();
        for (module, to) in &reached {
            if to.contains(*module) {
                let cycle = to
                    .iter()
                    .filter(|other| reached.get(**other).is_some_and(|back| back.contains(module)));
                cycles.insert(cycle.map(|module| shown(module)).collect());
            }
        }
        cycles
    }
}
fn shown(module: &Module) -> String {
    if module.is_empty() { "lib".into() } else { module.join("::") }
}

fn parse(file: &Path, module: Module, files: &mut BTreeMap<Module, Vec<syn::Item>>) {
    let text = fs::read_to_string(file).unwrap();
    let items = syn::parse_file(&text).unwrap().items;
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let folder: PathBuf = match stem {
        "lib" | "mod" => file.parent().unwrap().into(),
        stem => file.with_file_name(stem),
    };
    for item in &items {
        let syn::Item::Mod(child) = item else { continue };
        if child.content.is_some() || is_test(&child.attrs) {
            continue;
        }
        let name = child.ident.to_string();
        let flat = folder.join(format!("{name}.rs"));
        let file = if flat.exists() { flat } else { folder.join(&name).join("mod.rs") };
        let mut path = module.clone();
        path.push(name);
        parse(&file, path, files);
    }
    files.insert(module, items);
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

struct Paths<'a> {
    modules: &'a BTreeSet<Module>,
    module: &'a Module,
    leads_to: BTreeSet<Module>,
}

impl Paths<'_> {
    fn lead(&mut self, path: &[String]) {
        let mut at = self.module.clone();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("crate") => {
                at.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            Some(first) => {
                let mut child = at.clone();
                child.push(first.to_owned());
                if !self.modules.contains(&child) {
                    return;
                }
            }
            None => return,
        }
        for part in rest {
            let mut next = at.clone();
            next.push(part.clone());
            if !self.modules.contains(&next) {
                break;
            }
            at = next;
        }
        self.leads_to.insert(at);
    }
    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| {
            before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>()
        };
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.lead(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.lead(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.lead(before),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.tree(before, item))
            }
        }
    }
}
impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let parts: Vec<String> =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.lead(&parts);
        }
        visit::visit_path(self, path);
    }
}
