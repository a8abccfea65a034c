//! How it looks.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use serde_json::Value;

use super::Shown;
use super::keys::View;
use crate::chat::columns::COLUMNS;
use crate::chat::notice::one_line;
use crate::chat::tones::{self, Tone};

/// Draws everything, or the card that is open.
pub(super) fn draw(frame: &mut Frame<'_>, shown: &Shown, view: &mut View) {
    if view.open.is_some() {
        return open(frame, view);
    }
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
    let chosen = view.chosen(&shown.held);
    let held: Vec<Line<'_>> = shown.held.iter().enumerate().map(|(at, one)| card(one, Some(at) == chosen)).collect();
    let title = format!("Held: {}", held.len());
    let none = || vec![Line::from("Nothing is held.")];
    // The one that is chosen is always among those for which there is room.
    let room = usize::from(area(3).height.saturating_sub(2)).max(1);
    let first = chosen.map_or(0, |at| (at + 2).saturating_sub(room)).min(held.len());
    framed(frame, area(3), &title, if held.is_empty() { none() } else { held.into_iter().skip(first).collect() });
    framed(frame, area(4), "Decided last", shown.decided.iter().map(decision).collect());
    foot(frame, area(5), &view.said, "j, k choose; Enter opens a card, where it can be answered; q ends it");
}

/// What was answered last, in front of what can be pressed.
fn foot(frame: &mut Frame<'_>, area: Rect, said: &str, keys: &str) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let mut spans = Vec::new();
    if !said.is_empty() {
        spans.push(Span::styled(format!("{said}  "), Style::new().add_modifier(Modifier::BOLD)));
    }
    spans.push(Span::styled(keys, dim));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// A card, whole: as much of it as there is room for.
fn open(frame: &mut Frame<'_>, view: &mut View) {
    let areas = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).split(frame.area());
    let area = |at: usize| areas.get(at).copied().unwrap_or_default();
    let said = view.said.clone();
    let Some(open) = &mut view.open else { return };
    let room = usize::from(area(0).height.saturating_sub(1));
    open.is_drawn(room, usize::from(area(0).width) + 1 >= COLUMNS);
    let lines: Vec<Line<'_>> = tones::lines(&open.text)
        .skip(open.first)
        .take(room)
        .map(|(tone, line)| Line::from(Span::styled(line.to_owned(), style(tone))))
        .collect();
    let title = format!(" {} ", open.id);
    frame.render_widget(Paragraph::new(lines).block(Block::new().borders(Borders::TOP).title(title)), area(0));
    let keys = match (open.has_end_been_seen, open.is_over) {
        (_, true) => "Esc goes back",
        (false, _) => {
            "space goes on, j and k by a line; a approves it when all of it has been on the screen; d denies; Esc goes back"
        }
        (true, _) => "a approves it once; d denies it; space, j, k move; Esc goes back",
    };
    foot(frame, area(1), &said, keys);
}

const fn style(tone: Tone) -> Style {
    let style = Style::new();
    match tone {
        Tone::Plain => style,
        Tone::Head => style.add_modifier(Modifier::BOLD),
        Tone::Asked => style.fg(Color::Cyan),
        Tone::Good => style.fg(Color::Green),
        Tone::Caution => style.fg(Color::Yellow),
        Tone::Alarm => style.fg(Color::Red).add_modifier(Modifier::BOLD),
        Tone::Quiet => style.add_modifier(Modifier::DIM),
    }
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

fn card(one: &Value, is_chosen: bool) -> Line<'static> {
    let left = number(one, "expires_in_ms") / 1000;
    let style = if left < 60 { Style::new().fg(Color::Red) } else { Style::new() };
    Line::from(vec![
        Span::from(if is_chosen { "> " } else { "  " }),
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
pub(super) fn text_of(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width.max(1));
    let lines = buffer.content.chunks(width).map(|row| {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
