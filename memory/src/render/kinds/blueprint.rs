//! Blueprints: a title with its category, and the content.

use super::{Worded, WordedItem};
use crate::fold::with_block;
use crate::record::{Blueprint, Record};

impl Worded for Blueprint {
    fn full(&self, of: &Record) -> String {
        let mutable = if self.immutable { "" } else { ", mutable" };
        let head = format!("{} [{}{mutable}] {}", of.id, self.category.name(), self.title);
        with_block(head, &self.content, "  ")
    }

    fn excerpt(&self, of: &Record, _: usize) -> Option<(String, String)> {
        Some((self.loaded_title(of), self.content.clone()))
    }

    fn loaded(&self, of: &Record) -> String {
        with_block(self.loaded_title(of), &self.content, "  ")
    }

    fn loaded_title(&self, of: &Record) -> String {
        format!("{} [{}] {}", of.id, self.category.name(), self.title)
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
