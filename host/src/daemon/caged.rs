//! Commands that were sent into the cage, until the agent says what ran.

use std::collections::VecDeque;

/// Most that are remembered of a workspace; an agent that calls that many tools at once waits for none of them.
const MOST: usize = 1024;

/// The latest caged commands of a workspace: the agent's id of the call, and the digest of the text that was to run.
#[derive(Debug, Default)]
pub(super) struct Caged(VecDeque<(String, String)>);

impl Caged {
    pub(super) fn put(&mut self, call: &str, form: &str) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((call.to_owned(), form.to_owned()));
    }

    /// True when a call was to run in the cage and another text ran. A call is compared once; one that nobody caged has
    /// nothing to escape from.
    pub(super) fn has_escaped(&mut self, call: &str, ran: &str) -> bool {
        // An id that was used twice stands for both.
        let known: Vec<usize> = self.0.iter().enumerate().filter(|(_, (of, _))| of == call).map(|(at, _)| at).collect();
        let same = known.iter().find(|at| self.0.get(**at).is_some_and(|(_, form)| form == ran));
        match (same, known.first()) {
            (Some(at), _) => {
                self.0.remove(*at);
                false
            }
            (None, Some(at)) => {
                self.0.remove(*at);
                true
            }
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_compared_once_with_what_it_was_to_run() {
        let mut caged = Caged::default();
        caged.put("a", "1");
        caged.put("b", "2");
        caged.put("b", "3");
        assert!(!caged.has_escaped("other", "9"));
        assert!(!caged.has_escaped("a", "1") && !caged.has_escaped("a", "9"), "once");
        assert!(!caged.has_escaped("b", "3") && caged.has_escaped("b", "9") && !caged.has_escaped("b", "9"));
        for number in 0..=MOST {
            caged.put(&number.to_string(), "x");
        }
        assert!(!caged.has_escaped("0", "9") && caged.has_escaped("1", "9"), "the oldest is forgotten");
    }
}
