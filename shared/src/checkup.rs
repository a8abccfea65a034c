//! What a doctor says: each thing that was looked at, how it is, and what to do.

use serde_json::json;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Fine,
    /// It works, but somebody should know.
    Doubtful,
    /// It does not work, or does not protect.
    Broken,
}

/// What was looked at, how it is, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// What it is.
    pub what: String,
    /// How it is.
    pub state: State,
    /// In words.
    pub says: String,
    /// What to do; empty when there is nothing to do.
    pub help: String,
}

/// Everything that was looked at, in its order.
#[derive(Debug, Default)]
pub struct Report(Vec<Looked>);

impl Report {
    /// It is as it should be.
    pub fn fine(&mut self, what: impl Into<String>, says: impl Into<String>) {
        self.add(what.into(), State::Fine, says.into(), String::new());
    }

    /// It works, but somebody should know.
    pub fn doubtful(&mut self, what: impl Into<String>, says: impl Into<String>, help: impl Into<String>) {
        self.add(what.into(), State::Doubtful, says.into(), help.into());
    }

    /// It does not work, or does not protect.
    pub fn broken(&mut self, what: impl Into<String>, says: impl Into<String>, help: impl Into<String>) {
        self.add(what.into(), State::Broken, says.into(), help.into());
    }

    fn add(&mut self, what: String, state: State, says: String, help: String) {
        self.0.push(Looked { what, state, says, help });
    }

    /// How many things are so.
    pub fn count(&self, state: State) -> usize {
        self.0.iter().filter(|looked| looked.state == state).count()
    }

    /// What was looked at.
    pub fn looked(&self) -> &[Looked] {
        &self.0
    }

    /// All of it for people, or as a line of JSON each.
    pub fn lines(&self, as_json: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for Looked { what, state, says, help } in &self.0 {
            let state = match state {
                State::Fine => "fine",
                State::Doubtful => "look",
                State::Broken => "broken",
            };
            if as_json {
                lines.push(json!({"what": what, "state": state, "says": says, "help": help}).to_string());
            } else {
                lines.push(format!("{state:6} {what:13} {says}"));
                if !help.is_empty() {
                    lines.push(format!("{:20} help: {help}", ""));
                }
            }
        }
        lines
    }
}
