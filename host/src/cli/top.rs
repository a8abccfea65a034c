//! `bashgate top`: how everything stands, at a glance, in a terminal; what is held, what was decided last.

use std::io::IsTerminal as _;
use std::time::Duration;

use bashgate_shared::say;
use ratatui::Frame;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};
use serde_json::Value;

use super::{Failure, Run, audit, people};
use crate::audit as records;
use crate::chat::notice::one_line;
use crate::config::Config;
use crate::control::ControlCommand;

/// How often it looks again.
const EACH: Duration = Duration::from_secs(1);
/// Most decisions that are read, and columns and lines where it prints once.
const LAST: usize = 50;
const ONCE: (u16, u16) = (120, 40);

/// What is shown.
struct Shown {
    status: Value,
    held: Vec<Value>,
    /// The newest first: outcome, workspace, who, what.
    decided: Vec<[String; 4]>,
}

pub(super) fn run(config: &Config, once: bool) -> Run {
    if once || !std::io::stdout().is_terminal() {
        let mut terminal = ratatui::Terminal::new(TestBackend::new(ONCE.0, ONCE.1)).map_err(drawn)?;
        let shown = look(config)?;
        terminal.draw(|frame| draw(frame, &shown)).map_err(drawn)?;
        say!("{}", text_of(terminal.backend().buffer()));
        return Ok(());
    }
    let failed =
        |error: std::io::Error| Failure::failed(error, "is this a terminal? `bashgate top --once` prints it once");
    // Before the screen is taken: what is wrong is said where it can be read.
    let mut shown = look(config)?;
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let ended = loop {
        if let Err(error) = terminal.draw(|frame| draw(frame, &shown)) {
            break Err(failed(error));
        }
        match is_over() {
            Ok(true) => break Ok(()),
            Ok(false) => {}
            Err(error) => break Err(failed(error)),
        }
        match look(config) {
            Ok(now) => shown = now,
            Err(failure) => break Err(failure),
        }
    };
    ratatui::restore();
    ended
}

/// Where a picture of text could not be drawn.
fn drawn(error: impl std::fmt::Display) -> Failure {
    Failure::failed(error, "this is a mistake of bashgate's")
}

/// Waits a while for a key that ends it.
fn is_over() -> std::io::Result<bool> {
    if !event::poll(EACH)? {
        return Ok(false);
    }
    let Event::Key(key) = event::read()? else { return Ok(false) };
    let is_end = match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    };
    Ok(is_end && key.kind == KeyEventKind::Press)
}

fn look(config: &Config) -> Result<Shown, Failure> {
    let ask = |command: &ControlCommand| match people::ask_running(config, command)? {
        Some(reply) if reply.ok => Ok(reply.data),
        Some(reply) => Err(Failure::Refused(reply.text)),
        None => Err(people::no_host(config)),
    };
    let status = ask(&ControlCommand::Say { words: "status".to_owned() })?;
    let held = ask(&ControlCommand::Pending { denied: false })?;
    let mut held = held.as_array().cloned().unwrap_or_default();
    held.sort_by_key(|card| card.get("expires_in_ms").and_then(Value::as_u64));
    let mut decided = Vec::new();
    let reader = audit::open(&config.state)?;
    let each = |record: records::Record| {
        if record.looked_up_by.first().and_then(Option::as_deref) == Some("decision")
            && let Ok(body) = serde_json::from_str::<Value>(&record.body)
        {
            let field = |name: &str| body.pointer(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let what = [field("/detail/command"), field("/detail/tool")].into_iter().find(|text| !text.is_empty());
            decided.push([
                records::outcome(&body).to_owned(),
                field("/workspace"),
                field("/detail/by"),
                what.unwrap_or_default(),
            ]);
        }
        decided.len() < LAST
    };
    reader.audit_backwards(u64::MAX, each).map_err(|error| audit::failed(&error))?;
    Ok(Shown { status, held, decided })
}

fn draw(frame: &mut Frame<'_>, shown: &Shown) {
    let list = |name: &str| shown.status.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (workspaces, ahead) = (list("workspaces"), list("ahead"));
    let rows = |count: usize, most: u16| u16::try_from(count).unwrap_or(most).clamp(1, most) + 2;
    let mut parts = vec![Constraint::Length(1), Constraint::Length(rows(workspaces.len(), 10))];
    parts.push(Constraint::Length(if ahead.is_empty() { 0 } else { rows(ahead.len(), 5) }));
    parts.extend([Constraint::Fill(1), Constraint::Fill(1), Constraint::Length(1)]);
    let areas = Layout::vertical(parts).split(frame.area());
    let area = |at: usize| areas.get(at).copied().unwrap_or_default();
    frame.render_widget(Paragraph::new(head(&shown.status)), area(0));
    framed(frame, area(1), "Workspaces", workspaces.iter().map(workspace).collect());
    if !ahead.is_empty() {
        framed(frame, area(2), "Let through without a question", ahead.iter().map(grant).collect());
    }
    let held: Vec<Line<'_>> = shown.held.iter().map(card).collect();
    let title = format!("Held: {}", held.len());
    let none = || vec![Line::from("Nothing is held.")];
    framed(frame, area(3), &title, if held.is_empty() { none() } else { held });
    framed(frame, area(4), "Decided last", shown.decided.iter().map(decision).collect());
    let foot = "q ends it. Answer with: bashgate approve ID, bashgate deny ID";
    frame.render_widget(Paragraph::new(foot).style(Style::new().add_modifier(Modifier::DIM)), area(5));
}

fn framed(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'_>>) {
    let room = usize::from(area.height.saturating_sub(2));
    let left = lines.len().saturating_sub(room);
    let mut shown: Vec<Line<'_>> = lines;
    if left > 0 && room > 0 {
        shown.truncate(room - 1);
        shown.push(Line::from(format!("and {} more", left + 1)));
    }
    frame.render_widget(Paragraph::new(shown).block(Block::bordered().title(format!(" {title} "))), area);
}

fn text(value: &Value, name: &str, most: usize) -> String {
    one_line(value.get(name).and_then(Value::as_str).unwrap_or_default(), most)
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// How many wait for a card, where it is more than one.
fn times(card: &Value) -> String {
    match number(card, "waiting") {
        0 | 1 => String::new(),
        times => format!("[asked {times} times] "),
    }
}

fn is(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

fn head(status: &Value) -> Line<'static> {
    let up = number(status, "up_s");
    let mut spans = vec![Span::from(format!(
        "bashgate {}  up {}:{:02}  inspector: {}",
        text(status, "version", 20),
        up / 3600,
        up / 60 % 60,
        text(status, "inspector", 60)
    ))];
    let alarm = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
    if is(status, "inspector_is_out") {
        spans.push(Span::styled(" (does not answer)", alarm));
    }
    if !is(status, "enforce") {
        spans.push(Span::styled("  SHADOW MODE: everything is let through", alarm));
    }
    let channels = status.get("channels").and_then(Value::as_array).cloned().unwrap_or_default();
    let down: Vec<String> = channels.iter().filter(|one| !is(one, "works")).map(|one| text(one, "name", 30)).collect();
    if !down.is_empty() {
        spans.push(Span::styled(format!("  away: {}", down.join(", ")), alarm));
    }
    Line::from(spans)
}

fn workspace(one: &Value) -> Line<'static> {
    let taint = text(one, "taint", 12);
    let colour = match taint.as_str() {
        "clean" => Color::Green,
        "both" => Color::Red,
        _ => Color::Yellow,
    };
    let mut more = String::new();
    let paused = number(one, "paused_ms");
    if paused > 0 {
        more.push_str(&format!("  paused for {} min", paused.div_ceil(60_000)));
    }
    if is(one, "muted") {
        more.push_str("  muted");
    }
    Line::from(vec![
        Span::from(format!("{:<24} ", text(one, "workspace", 64))),
        Span::styled(format!("{taint:<11}"), Style::new().fg(colour)),
        Span::from(format!("{:>4} held {:>4} open{more}", number(one, "held"), number(one, "open"))),
    ])
}

fn grant(one: &Value) -> Line<'static> {
    let last = match one.get("left_ms").and_then(Value::as_u64) {
        Some(left) => format!("{} min", left.div_ceil(60_000)),
        None => "until its taint changes".to_owned(),
    };
    let words = format!(
        "{}  {}  {last}  {} so far  {}",
        text(one, "id", 12),
        text(one, "workspace", 24),
        number(one, "used"),
        text(one, "covers", 200)
    );
    let style = if is(one, "everything") { Style::new().fg(Color::Red) } else { Style::new().fg(Color::Yellow) };
    Line::from(Span::styled(words, style))
}

fn card(one: &Value) -> Line<'static> {
    let left = number(one, "expires_in_ms") / 1000;
    let style = if left < 60 { Style::new().fg(Color::Red) } else { Style::new() };
    Line::from(vec![
        Span::styled(text(one, "id", 12), Style::new().add_modifier(Modifier::BOLD)),
        Span::styled(format!(" {left:>5} s  "), style),
        Span::from(format!("{:<16} {}{}", text(one, "workspace", 24), times(one), text(one, "command", 300))),
    ])
}

fn decision([outcome, workspace, by, what]: &[String; 4]) -> Line<'static> {
    let colour = match outcome.as_str() {
        "allow" => Color::Green,
        "deny" => Color::Red,
        _ => Color::Yellow,
    };
    Line::from(vec![
        Span::styled(format!("{outcome:<12}"), Style::new().fg(colour)),
        Span::from(format!("{workspace:<16} {:<20} {}", one_line(by, 20), one_line(what, 300))),
    ])
}

/// A picture as lines of text, without what is blank at their ends.
fn text_of(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width.max(1));
    let lines = buffer.content.chunks(width).map(|row| {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
