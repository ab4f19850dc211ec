//! Blueprints: a title with its category, and the content.

use super::{Worded, WordedItem, since};
use crate::fold::with_block;
use crate::record::{Blueprint, Record};

impl Worded for Blueprint {
    fn full(&self, of: &Record) -> String {
        let mutable = if self.immutable { "" } else { ", mutable" };
        let (category, since) = (self.category.name(), since(&self.seen));
        let head = format!("{} [{category}{mutable}] {}{since}", of.id, self.title);
        with_block(head, &self.content, "  ")
    }

    fn excerpt(&self, of: &Record, _: usize) -> Option<(String, String)> {
        Some((self.loaded_title(of), self.content.clone()))
    }

    fn loaded(&self, of: &Record) -> String {
        with_block(self.loaded_title(of), &self.content, "  ")
    }

    fn loaded_title(&self, of: &Record) -> String {
        let since = since(&self.seen);
        format!("{} [{}] {}{since}", of.id, self.category.name(), self.title)
    }

    fn loaded_excerpt(&self, of: &Record) -> Option<(String, &str)> {
        Some((self.loaded_title(of), self.content.as_str()))
    }
}

impl WordedItem for Blueprint {
    fn ended(&self) -> (String, String) {
        let head = format!("blueprint [{}] {}", self.category.name(), self.title);
        (head, self.content.clone())
    }
}
