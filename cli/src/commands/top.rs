//! `anchord top`: the live sessions in the terminal.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anchord_daemon::api::{self, GivenQuery, GivenReply, Lane, NowReply, Retrieval, Waits};
use anchord_memory::Timestamp;
use anchord_proto::instance::InstanceDir;
use anyhow::Context;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Table, TableState, Wrap};

use crate::client::Client;
use crate::exit::Error;
use crate::show;

/// Watch the live sessions: what each staged, saved and was given
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord top

Keys: up and down choose a session, left and right an answer that it was given; page up and page
down scroll its text; q ends.")]
pub(crate) struct Args {}

/// The time between two looks at the daemon.
const EVERY: Duration = Duration::from_millis(500);
/// Lines that a page key scrolls.
const PAGE_LINES: u16 = 10;

impl Args {
    #[expect(clippy::unused_self, reason = "the form that every command has")]
    pub(super) fn run(self, _out: &mut dyn Write) -> Result<(), Error> {
        if !std::io::stdout().is_terminal() {
            return Err(Error::usage("anchord top needs a terminal")
                .with_action("`anchord status --json` prints the live sessions."));
        }
        let dir = InstanceDir::locate()?;
        drop(Client::started(&dir)?);
        let mut terminal = ratatui::try_init().context("cannot use the terminal")?;
        let mut screen = Screen::default();
        let watched = screen.watch(&dir, &mut terminal);
        ratatui::restore();
        watched
    }
}

/// The state of the view.
#[derive(Debug, Default)]
struct Screen {
    now: NowReply,
    /// The reason why the sessions could not be read.
    failure: Option<String>,
    session: usize,
    answer: usize,
    /// The answer whose text was fetched, and the text with its reasons.
    text: Option<((String, u64), String)>,
    scroll: u16,
}

impl Screen {
    fn watch(
        &mut self,
        dir: &InstanceDir,
        terminal: &mut ratatui::DefaultTerminal,
    ) -> Result<(), Error> {
        loop {
            self.look(dir);
            terminal.draw(|frame| self.draw(frame)).context("cannot draw")?;
            if event::poll(EVERY).context("cannot read keys")?
                && let Event::Key(key) = event::read().context("cannot read keys")?
                && self.press(key)
            {
                return Ok(());
            }
        }
    }

    /// Reads the sessions, and the text of the chosen answer once. Starts no daemon.
    fn look(&mut self, dir: &InstanceDir) {
        let asked: Result<NowReply, Error> =
            Client::running(dir).and_then(|mut client| client.get(api::NOW, &()));
        match asked {
            Ok(now) => self.show(now),
            Err(error) => self.failure = Some(error.to_string()),
        }
        self.session = self.session.min(self.now.lanes.len().saturating_sub(1));
        let Some(line) = self.chosen().cloned() else {
            self.text = None;
            return;
        };
        let wanted = (line.session, line.number);
        if self.text.as_ref().is_none_or(|(of, _)| *of != wanted) {
            let query = GivenQuery { session: wanted.0.clone(), number: wanted.1 };
            let asked = Client::running(dir).and_then(|mut client| client.get(api::GIVEN, &query));
            let text = asked.map_or_else(|error| error.to_string(), |given| words(&given));
            (self.text, self.scroll) = (Some((wanted, text)), 0);
        }
    }

    /// Takes the sessions over, but none that is away and has nothing to show.
    fn show(&mut self, now: NowReply) {
        (self.now, self.failure) = (now, None);
        self.now.lanes.retain(|lane| !lane.is_idle());
    }

    fn lane(&self) -> Option<&Lane> {
        self.now.lanes.get(self.session)
    }

    fn chosen(&self) -> Option<&Retrieval> {
        let given = &self.lane()?.given;
        given.get(self.answer.min(given.len().saturating_sub(1)))
    }

    /// Handles a key. Returns whether it ends the view.
    fn press(&mut self, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Release {
            return false;
        }
        let last = self.now.lanes.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return true,
            KeyCode::Down | KeyCode::Char('j') => {
                (self.session, self.answer) = ((self.session + 1).min(last), 0);
            }
            KeyCode::Up | KeyCode::Char('k') => {
                (self.session, self.answer) = (self.session.saturating_sub(1), 0);
            }
            KeyCode::Right | KeyCode::Char('l') => {
                let given = self.lane().map_or(0, |lane| lane.given.len());
                self.answer = (self.answer + 1).min(given.saturating_sub(1));
            }
            KeyCode::Left | KeyCode::Char('h') => self.answer = self.answer.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => {
                self.scroll = self.scroll.saturating_add(PAGE_LINES);
            }
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(PAGE_LINES),
            _ => {}
        }
        false
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let height = frame.area().height;
        let lanes = u16::try_from(self.now.lanes.len()).unwrap_or(u16::MAX).saturating_add(3);
        let [head, sessions, detail, text] = Layout::vertical([
            Constraint::Length(1 + u16::try_from(self.now.approvals.len()).unwrap_or(1)),
            Constraint::Length(lanes.clamp(4, (height / 3).clamp(4, 12))),
            Constraint::Length((height / 3).clamp(5, 8)),
            Constraint::Min(4),
        ])
        .areas(frame.area());
        frame.render_widget(self.head(), head);
        self.sessions(frame, sessions);
        if let Some(lane) = self.lane() {
            self.detail(frame, detail, lane);
        }
        let shown = self.text.as_ref().map_or("", |(_, text)| text.as_str());
        let shown = Paragraph::new(show::plain_lines(shown))
            .wrap(Wrap { trim: false })
            .scroll((self.scroll, 0))
            .block(Block::bordered().title("Text of the chosen answer"));
        frame.render_widget(shown, text);
    }

    /// Draws three lists side by side, or one list where each would be too narrow to read.
    fn detail(&self, frame: &mut Frame<'_>, area: Rect, lane: &Lane) {
        let item = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let given: Vec<String> = lane.given.iter().map(given).collect();
        let staged: Vec<String> = lane.staged.iter().map(|staged| item(staged)).collect();
        let saved: Vec<String> = lane.saved.iter().map(|saved| item(&saved.title)).collect();
        if area.width < SIDE_BY_SIDE_COLUMNS {
            let named = |kind: &'static str, items: &[String]| -> Vec<String> {
                items.iter().map(|item| format!("{kind:6}  {item}")).collect()
            };
            let written = [named("staged", &staged), named("saved", &saved)].concat();
            let rows = usize::from(area.height.saturating_sub(2));
            let (lines, chosen) = in_one(written, named("given", &given), self.answer, rows);
            list(frame, area, "Staged, saved, given", &lines, Some(chosen));
            return;
        }
        let columns: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3]).areas(area);
        let lists =
            [("Staged", staged, None), ("Saved", saved, None), ("Given", given, Some(self.answer))];
        for ((title, items, chosen), area) in lists.into_iter().zip(columns) {
            list(frame, area, title, &items, chosen);
        }
    }

    fn head(&self) -> Paragraph<'static> {
        let mut lines = vec![match &self.failure {
            Some(why) => Line::styled(show::plain(why), Modifier::BOLD),
            None => Line::from("anchord: live sessions. Arrows choose, q ends."),
        }];
        lines.extend(self.now.approvals.iter().map(|waiting| {
            let words =
                format!("waits for you: {} (anchord approve {})", waiting.action, waiting.id);
            Line::styled(show::plain(&words), Modifier::BOLD)
        }));
        Paragraph::new(lines)
    }

    fn sessions(&self, frame: &mut Frame<'_>, area: Rect) {
        let inner = Block::bordered().inner(area);
        let (time, date) = if inner.width < SIDE_BY_SIDE_COLUMNS { (11, 5) } else { (16, 0) };
        // A narrow terminal has no room for the time.
        let time = if inner.width < TIME_COLUMNS { 0 } else { time };
        let widths = [
            Constraint::Length(if time == 0 { 11 } else { 16 }),
            Constraint::Fill(2),
            Constraint::Length(time),
            Constraint::Length(6),
            Constraint::Length(5),
            Constraint::Length(7),
            Constraint::Fill(3),
        ];
        let widths: Vec<u16> = Layout::horizontal(widths)
            .spacing(1)
            .split(inner)
            .iter()
            .map(|cell| cell.width)
            .collect();
        let cell = |(text, width): (String, &u16)| show::cut(&show::plain(&text), (*width).into());
        let rows = self.now.lanes.iter().map(|lane| {
            let session = &lane.session;
            let root = session.project.as_ref().map_or("", |project| project.root.as_str());
            let name = Path::new(root).file_name().map(|name| name.to_string_lossy().into_owned());
            let since = Timestamp(session.since).minute();
            let cells = [
                session.client.clone(),
                name.unwrap_or_else(|| "-".to_owned()),
                since.get(date..16).unwrap_or_default().to_owned(),
                (lane.staged.len() + lane.staged_more).to_string(),
                lane.saved.len().to_string(),
                lane.given.iter().map(|line| u64::from(line.tokens)).sum::<u64>().to_string(),
                lane.waits.as_ref().map_or_else(String::new, waits),
            ];
            Row::new(cells.into_iter().zip(&widths).map(cell))
        });
        let head = ["client", "project", "since", "staged", "saved", "tokens", "waits for"];
        let head = head.map(str::to_owned).into_iter().zip(&widths).map(cell);
        let table = Table::new(rows, widths.iter().copied().map(Constraint::Length))
            .header(Row::new(head).style(Style::from(Modifier::DIM)))
            .row_highlight_style(Modifier::REVERSED)
            .block(Block::bordered());
        let mut state = TableState::default().with_selected(Some(self.session));
        frame.render_stateful_widget(table, area, &mut state);
    }
}

/// The width from which three lists fit side by side.
const SIDE_BY_SIDE_COLUMNS: u16 = 100;
/// The width from which a session's start is shown.
const TIME_COLUMNS: u16 = 76;

/// Joins what a session has written and what it was given to one list of at most `rows` lines. What
/// it has written takes at most half of them, and counts what it leaves out. Also returns the line
/// of the chosen answer.
fn in_one(
    mut written: Vec<String>,
    given: Vec<String>,
    answer: usize,
    rows: usize,
) -> (Vec<String>, usize) {
    let most = rows / 2;
    if written.len() > most {
        let more = written.len().saturating_sub(most.saturating_sub(1));
        written.truncate(most.saturating_sub(1));
        written.push(format!("and {more} more staged or saved"));
    }
    let skipped = (answer + 1).saturating_sub(rows.saturating_sub(written.len()));
    let chosen = (written.len() + answer).saturating_sub(skipped);
    written.extend(given.into_iter().skip(skipped));
    (written, chosen)
}

/// Draws a list. The chosen item is in sight.
fn list(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &'static str,
    items: &[String],
    chosen: Option<usize>,
) {
    let block = Block::bordered().title(title);
    let inner = block.inner(area);
    let line = |(at, item): (usize, &String)| {
        let style = if chosen == Some(at) { Modifier::REVERSED } else { Modifier::empty() };
        Line::styled(show::cut(&show::plain(item), inner.width.into()), style)
    };
    let hidden = (chosen.unwrap_or(0) + 1).saturating_sub(inner.height.into());
    let lines: Vec<Line<'_>> = items.iter().enumerate().skip(hidden).map(line).collect();
    let none = vec![Line::styled("nothing", Modifier::DIM)];
    let shown = if lines.is_empty() { none } else { lines };
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

fn given(line: &Retrieval) -> String {
    let time = Timestamp(line.time).minute();
    let cut = if line.truncated { ", cut" } else { "" };
    let records = line.ids.len() as u64 + line.more;
    format!(
        "{} {} · {}, {} tokens{cut}",
        time.get(11..16).unwrap_or_default(),
        line.tool,
        show::count(records, "record"),
        line.tokens,
    )
}

fn waits(waits: &Waits) -> String {
    match waits {
        Waits::Writer { jobs, behind } => {
            let (writes, sessions) = (*jobs as u64, behind.len() as u64);
            format!("{} behind {}", show::count(writes, "write"), show::count(sessions, "session"))
        }
        Waits::Approval { .. } => "your approval".to_owned(),
        Waits::Agent => "its agent to return".to_owned(),
    }
}

/// Words an answer: what caused it, the reason for each record, and the text.
fn words(given: &GivenReply) -> String {
    let cause = given.cause.iter().map(|cause| format!("Because of: {cause}\n"));
    let reasons = given.records.iter().map(|record| format!("{}: {}\n", record.id, record.why));
    let words: String = cause.chain(reasons).collect();
    if words.is_empty() { given.text.clone() } else { format!("{words}\n{}", given.text) }
}

#[cfg(test)]
mod tests;
