//! Variables, and assignments that may not last: in subshells, in branches, and before a command.

use std::collections::HashMap;

use brush_parser::ast::CompoundList;

use super::Word;
use super::streams::Stream;
use super::walk::Reader;
use crate::limits::{STEPS_MAX, VALUE_CHARS_MAX, VALUES_MAX};
use crate::wild::Sym;

/// The values that a variable may have; `None` if they are not known.
pub(super) type Values = Option<Vec<Vec<Sym>>>;

/// The state before a scope of the variables that it changed; `None` if one was not assigned.
pub(super) type Scope = HashMap<String, Option<Values>>;

/// The effect of a scope's assignments once it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeEffect {
    /// They are lost with the process.
    Restores,
    /// They last if the scope ran.
    MayNotHaveRun,
}

impl Reader<'_> {
    /// Gives a variable further values.
    pub(super) fn assign(&mut self, name: &str, values: Vec<Vec<Sym>>) {
        let is_odd = name == "IFS";
        self.before_change(name);
        let slot = self.variables.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
        let Some(known) = slot else { return };
        if is_odd {
            *slot = None;
            return;
        }
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
        let chars = known.iter().map(Vec::len).sum::<usize>();
        if known.len() > VALUES_MAX || chars > VALUE_CHARS_MAX {
            *slot = None;
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.before_change(name);
        self.variables.insert(name.to_owned(), None);
        self.arrays.insert(name.to_owned(), None);
    }

    /// Makes an array unknown, if there is one.
    fn forget_array(&mut self, name: &str) {
        if let Some(words) = self.arrays.get_mut(name) {
            *words = None;
        }
    }

    pub(super) fn assign_array(&mut self, name: &str, words: Vec<Word>) {
        self.before_change(name);
        let known = (words.len() <= STEPS_MAX).then_some(words);
        self.arrays.insert(name.to_owned(), known);
    }

    /// Returns the values of a variable, or `None` if it is unknown.
    pub(super) fn variable(&self, name: &str) -> Option<Vec<Vec<Sym>>> {
        self.variables.get(name).cloned().flatten().filter(|values| !values.is_empty())
    }

    /// Whether the command line has changed a variable to something that is not followed.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(Option::is_none)
    }

    /// Returns whether an array has elements that are not followed.
    pub(super) fn is_unknown_array(&self, name: &str) -> bool {
        self.arrays.get(name).map_or_else(|| self.is_set(name), Option::is_none)
    }

    pub(super) fn array(&self, name: &str) -> Option<Vec<Word>> {
        match self.arrays.get(name) {
            Some(words) => words.clone(),
            None => self.variable(name).map(|values| {
                values.into_iter().map(|syms| Word { syms, splits: false }).collect()
            }),
        }
    }

    /// Remembers the state of a variable before the innermost scope changes it.
    fn before_change(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut()
            && !scope.contains_key(name)
        {
            scope.insert(name.to_owned(), self.variables.get(name).cloned());
        }
    }

    /// Follows a part of the command line whose assignments may not last.
    pub(super) fn scoped<T>(&mut self, ending: ScopeEffect, run: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Scope::new());
        let result = run(self);
        for (name, before) in self.scopes.pop().unwrap_or_default() {
            self.end(ending, name, before);
        }
        result
    }

    fn end(&mut self, ending: ScopeEffect, name: String, before: Option<Values>) {
        if let Some(outer) = self.scopes.last_mut() {
            outer.entry(name.clone()).or_insert_with(|| before.clone());
        }
        self.forget_array(&name);
        match (ending, before) {
            (ScopeEffect::Restores, Some(values)) => drop(self.variables.insert(name, values)),
            (ScopeEffect::Restores, None) => drop(self.variables.remove(&name)),
            (ScopeEffect::MayNotHaveRun, Some(None)) => drop(self.variables.insert(name, None)),
            // Values are only ever added.
            (ScopeEffect::MayNotHaveRun, Some(Some(_))) => {}
            (ScopeEffect::MayNotHaveRun, None) => self.may_be_empty(&name),
        }
    }

    /// Adds the value of a variable that is not set.
    fn may_be_empty(&mut self, name: &str) {
        if let Some(Some(values)) = self.variables.get_mut(name)
            && !values.contains(&Vec::new())
        {
            values.push(Vec::new());
        }
    }

    /// Follows a script in another process, which has only the variables that are exported.
    pub(super) fn child_script(&mut self, text: &[Sym], stdin: &Stream) -> Stream {
        self.scoped(ScopeEffect::Restores, |reader| {
            let mut names: Vec<String> = reader.variables.keys().cloned().collect();
            names.retain(|name| !["HOME", "PWD"].contains(&name.as_str()));
            for name in names {
                reader.before_change(&name);
                reader.may_be_empty(&name);
            }
            reader.variables.insert("IFS".to_owned(), Some(vec![vec![Sym::Char(' ')]]));
            reader.script_of(text, stdin)
        })
    }

    /// Follows lists that may not run.
    pub(super) fn maybe<'l>(
        &mut self,
        lists: impl IntoIterator<Item = &'l CompoundList>,
        stdin: &Stream,
    ) {
        self.scoped(ScopeEffect::MayNotHaveRun, |reader| {
            for list in lists {
                reader.list(list, stdin);
            }
        });
    }
}
