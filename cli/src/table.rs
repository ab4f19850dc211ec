//! Short aligned tables: a dim head, two spaces between columns, nothing after the last one.

use std::io::{self, Write};

use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use crate::show;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Alignment of words.
    Left,
    /// Alignment of numbers.
    Right,
}

/// Rows under a head. Cells are made safe for a terminal when they are added.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these columns.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Cells beyond the columns are the caller's mistake and are left out.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.columns.len(), "a cell for each column");
        self.rows.push(cells.into_iter().map(|cell| show::plain(&cell)).collect());
    }

    /// Prints the table, each line indented by two.
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let head: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let cells = self.rows.iter().chain([&head]);
                cells.filter_map(|row| row.get(column)).map(|c| width(c)).max().unwrap_or(0)
            })
            .collect();
        writeln!(out, "{}", self.line(&head, &widths).dimmed())?;
        for row in &self.rows {
            writeln!(out, "{}", self.line(row, &widths))?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::from(" ");
        for ((cell, wide), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            let fill = " ".repeat(wide.saturating_sub(width(cell)));
            let (before, after) = match align {
                Align::Left => ("", fill.as_str()),
                Align::Right => (fill.as_str(), ""),
            };
            line.push(' ');
            line.push_str(before);
            line.push_str(cell);
            line.push_str(after);
            line.push(' ');
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn width(cell: &str) -> usize {
    cell.width()
}

#[cfg(test)]
mod tests;
