//! `bashgate top`: how everything stands, at a glance, in a terminal; what is held, what was decided last. A card can be opened there
//! and answered by a key.

mod draw;
mod keys;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use bashgate_shared::say;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use serde_json::Value;

use self::draw::{draw, text_of};
use self::keys::{Act, View};
use super::{Failure, Run, audit, people};
use crate::audit as records;
use crate::config::Config;
use crate::control::{ControlCommand, Reply};

/// How often it looks again.
const EACH: Duration = Duration::from_secs(1);
/// Most decisions that are read, and columns and lines where it prints once.
const LAST: usize = 50;
const ONCE: (u16, u16) = (120, 40);

/// What is looked at, and answered through.
pub trait Source {
    /// Asks it something.
    fn ask(&self, command: &ControlCommand) -> Result<Reply, Failure>;

    /// What was decided last, the newest first: outcome, workspace, who, what.
    fn decided(&self) -> Result<Vec<[String; 4]>, Failure>;
}

/// What is shown.
#[derive(Default)]
struct Shown {
    status: Value,
    held: Vec<Value>,
    /// The newest first: outcome, workspace, who, what.
    decided: Vec<[String; 4]>,
}

/// The host of a configuration.
pub(super) struct Host<'a>(pub(super) &'a Config);

/// Shows it until somebody ends that, or once.
pub fn run(source: &impl Source, once: bool) -> Run {
    let mut view = View::default();
    if once || !std::io::stdout().is_terminal() {
        let mut terminal = ratatui::Terminal::new(TestBackend::new(ONCE.0, ONCE.1)).map_err(drawn)?;
        let shown = look(source)?;
        terminal.draw(|frame| draw(frame, &shown, &mut view)).map_err(drawn)?;
        say!("{}", text_of(terminal.backend().buffer()));
        return Ok(());
    }
    let failed =
        |error: std::io::Error| Failure::failed(error, "is this a terminal? `bashgate top --once` prints it once");
    // Before the screen is taken: what is wrong is said where it can be read.
    let mut shown = look(source)?;
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let mut looked = Instant::now();
    let ended = loop {
        if let Err(error) = terminal.draw(|frame| draw(frame, &shown, &mut view)) {
            break Err(failed(error));
        }
        match pressed(&mut view, &shown, EACH.saturating_sub(looked.elapsed())).map_err(failed) {
            Ok(Act::End) => break Ok(()),
            Ok(act) => {
                let did = act != Act::Nothing;
                if let Err(failure) = perform(source, &mut view, act) {
                    break Err(failure);
                }
                if !did && looked.elapsed() < EACH {
                    continue;
                }
            }
            Err(failure) => break Err(failure),
        }
        match look(source).and_then(|now| refresh(source, &mut view).map(|()| now)) {
            Ok(now) => shown = now,
            Err(failure) => break Err(failure),
        }
        looked = Instant::now();
    };
    ratatui::restore();
    ended
}

/// Where a picture of text could not be drawn.
fn drawn(error: impl std::fmt::Display) -> Failure {
    Failure::failed(error, "this is a mistake of bashgate's")
}

/// Waits a while for a key, and what it asks for.
fn pressed(view: &mut View, shown: &Shown, within: Duration) -> std::io::Result<Act> {
    if !event::poll(within)? {
        return Ok(Act::Nothing);
    }
    match event::read()? {
        Event::Key(key) if key.kind == KeyEventKind::Press => Ok(view.key(key, &shown.held, Instant::now())),
        _ => Ok(Act::Nothing),
    }
}

fn perform(source: &impl Source, view: &mut View, act: Act) -> Run {
    match act {
        Act::Nothing | Act::End => {}
        Act::Open(id) => {
            let card = source.ask(&ControlCommand::Show { id: id.clone() })?;
            view.opened(&id, &card, Instant::now());
        }
        Act::Say(words, version) => {
            let reply = source.ask(&ControlCommand::Say { words, version })?;
            view.answered(&reply);
        }
    }
    Ok(())
}

/// Looks again at the card that is open: it may have changed, or be over.
fn refresh(source: &impl Source, view: &mut View) -> Run {
    if let Some(id) = view.open_id() {
        let card = source.ask(&ControlCommand::Show { id: id.clone() })?;
        view.opened(&id, &card, Instant::now());
    }
    Ok(())
}

impl Source for Host<'_> {
    fn ask(&self, command: &ControlCommand) -> Result<Reply, Failure> {
        people::ask_running(self.0, command)?.ok_or_else(|| people::no_host(self.0))
    }

    fn decided(&self) -> Result<Vec<[String; 4]>, Failure> {
        let mut decided = Vec::new();
        let reader = audit::open(&self.0.state)?;
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
        Ok(decided)
    }
}

fn look(source: &impl Source) -> Result<Shown, Failure> {
    let ask = |command: &ControlCommand| match source.ask(command)? {
        reply if reply.ok => Ok(reply.data),
        reply => Err(Failure::Refused(reply.text)),
    };
    let status = ask(&ControlCommand::say("status"))?;
    let held = ask(&ControlCommand::Pending { denied: false, is_glance: true })?;
    let mut held = held.as_array().cloned().unwrap_or_default();
    held.sort_by_key(|card| card.get("expires_in_ms").and_then(Value::as_u64));
    Ok(Shown { status, held, decided: source.decided()? })
}
