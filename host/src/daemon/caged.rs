//! Commands that were sent into the cage, until the agent says what ran.

use std::collections::VecDeque;

use bashgate_shared::cage;

/// Most that are remembered of a workspace; an agent that calls that many tools at once waits for none of them.
const MOST: usize = 256;

/// The latest caged commands of a workspace, by the agent's ids of the calls.
#[derive(Debug, Default)]
pub(super) struct Caged(VecDeque<(String, String)>);

/// A command that was to run in the cage.
#[derive(Debug)]
pub(super) struct Was(String);

impl Caged {
    pub(super) fn put(&mut self, call: &str, command: &str) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((call.to_owned(), command.to_owned()));
    }

    pub(super) fn take(&mut self, call: &str) -> Option<Was> {
        let at = self.0.iter().position(|(of, _)| of == call)?;
        self.0.remove(at).map(|(_, command)| Was(command))
    }
}

impl Was {
    /// True when what ran is not the caged form of the command.
    pub(super) fn is_escaped_by(&self, ran: &str) -> bool {
        !cage::is_caged_form(ran, &self.0)
    }
}
