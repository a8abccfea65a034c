//! What an agent has seen. Taint only rises; it falls only by an audited act of a person on the host, which starts a
//! new epoch.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What the agent has seen, as far as decisions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Taint {
    /// Nothing that matters.
    #[default]
    Clean,
    /// Untrusted content: its text may steer the agent.
    Corruption,
    /// Secret data.
    Secret,
    /// Untrusted content and secret data.
    Both,
}

impl Taint {
    /// All taints, for tests over every input.
    pub const ALL: [Self; 4] = [Self::Clean, Self::Corruption, Self::Secret, Self::Both];

    /// The union of what was seen.
    #[must_use]
    pub const fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Clean, taint) | (taint, Self::Clean) => taint,
            (Self::Corruption, Self::Corruption) => Self::Corruption,
            (Self::Secret, Self::Secret) => Self::Secret,
            _ => Self::Both,
        }
    }

    /// Its labels.
    pub fn labels(self) -> impl Iterator<Item = Label> {
        [Label::Corruption, Label::Secret].into_iter().filter(move |label| self.covers(label.taint()))
    }

    /// True when everything in `other` is in `self` too.
    pub fn covers(self, other: Self) -> bool {
        self.join(other) == self
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "clean",
            Self::Corruption => "corruption",
            Self::Secret => "secret",
            Self::Both => "both",
        })
    }
}

/// One of the two things that taint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Untrusted content.
    Corruption,
    /// Secret data.
    Secret,
}

impl Label {
    /// The taint of this label alone.
    pub const fn taint(self) -> Taint {
        match self {
            Self::Corruption => Taint::Corruption,
            Self::Secret => Taint::Secret,
        }
    }

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Corruption => "corruption",
            Self::Secret => "secret",
        }
    }

    /// The label of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "corruption" => Some(Self::Corruption),
            "secret" => Some(Self::Secret),
            _ => None,
        }
    }
}

/// Longest source of a cause, in bytes: a workspace's causes are written anew with each of them.
const MAX_WORDS: usize = 512;

/// Why a label is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The label.
    pub label: Label,
    /// What was seen: a host, a path, a service, or a person's words.
    pub source: String,
    /// What saw it: a command's programs, a tool, the configuration, a person.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// It was not seen here: another host of the fleet has said so. No words of an agent's make that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub heard: bool,
}

/// The taint of one workspace, with where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// The taint.
    pub taint: Taint,
    /// Grows whenever the taint changes. Approvals and cached findings belong to one epoch.
    pub epoch: u64,
    /// Why, in order of time: the first cause of each label, and the latest ones, together at most [`MAX_CAUSES`].
    pub causes: Vec<Cause>,
    /// How often something was seen here, also the same again.
    #[serde(default)]
    pub raised: u64,
    /// When that was last, in milliseconds since 1970.
    #[serde(default)]
    pub raised_ms: u64,
    /// What of other hosts of the fleet counts here already: by their place, the marks of what they have told, the latest at the end. No
    /// time orders them: a clock that was put right would keep out what is seen later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joined: BTreeMap<String, Vec<String>>,
}

/// Most marks that are kept of one place: more than a host tells in the time that a word of it counts.
const MAX_MARKS: usize = 64;

/// Most causes that are kept for a workspace.
pub const MAX_CAUSES: usize = 64;

impl Seen {
    /// Adds what was seen. True when a label is new, which starts a new epoch.
    pub fn raise(&mut self, cause: Cause) -> bool {
        let cut = |text: String| if text.len() > MAX_WORDS { text.chars().take(MAX_WORDS / 4).collect() } else { text };
        let cause = Cause { source: cut(cause.source), by: cut(cause.by), ..cause };
        if !cause.heard {
            (self.raised, self.raised_ms) = (self.raised + 1, cause.at_ms);
        }
        let taint = self.taint.join(cause.label.taint());
        let rose = taint != self.taint;
        if rose {
            self.taint = taint;
            self.epoch += 1;
        }
        let known = self
            .causes
            .iter()
            .any(|old| old.label == cause.label && old.source == cause.source && old.heard == cause.heard);
        if !known {
            self.causes.push(cause);
        }
        if self.causes.len() > MAX_CAUSES {
            // The first of each label stays: by it the workspace became what it is.
            let is_first = |at: usize, one: &Cause| {
                !self.causes.iter().take(at).any(|old| old.label == one.label && old.heard == one.heard)
            };
            let oldest = self.causes.iter().enumerate().position(|(at, one)| !is_first(at, one));
            if let Some(oldest) = oldest {
                self.causes.remove(oldest);
            }
        }
        rose
    }

    /// What another host has told under this mark counts from now on. False where it did already.
    pub fn joins(&mut self, place: &str, mark: &str) -> bool {
        let marks = self.joined.entry(place.to_owned()).or_default();
        if marks.iter().any(|known| known == mark) {
            return false;
        }
        marks.push(mark.to_owned());
        if marks.len() > MAX_MARKS {
            marks.remove(0);
        }
        true
    }

    /// A clean start in a new epoch: for a person's audited act only.
    #[must_use]
    pub fn start_over(&self) -> Self {
        Self {
            taint: Taint::Clean,
            epoch: self.epoch + 1,
            causes: Vec::new(),
            raised: self.raised,
            raised_ms: self.raised_ms,
            joined: self.joined.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(label: Label, source: &str) -> Cause {
        Cause { label, source: source.to_owned(), by: "test".to_owned(), at_ms: 0, heard: false }
    }

    #[test]
    fn join_only_rises_and_forgets_nothing() {
        for a in Taint::ALL {
            assert_eq!(a.join(a), a);
            for b in Taint::ALL {
                assert_eq!(a.join(b), b.join(a));
                assert!(a.join(b).covers(a) && a.join(b).covers(b));
                for c in Taint::ALL {
                    assert_eq!(a.join(b).join(c), a.join(b.join(c)));
                }
            }
        }
    }

    #[test]
    fn the_first_of_each_label_and_the_newest_are_kept() {
        let mut seen = Seen::default();
        for number in 0..200 {
            seen.raise(cause(Label::Corruption, &format!("host{number}")));
            if number == 100 {
                seen.raise(cause(Label::Secret, ".env"));
            }
        }
        let sources: Vec<&str> = seen.causes.iter().map(|cause| cause.source.as_str()).collect();
        assert_eq!(sources.len(), MAX_CAUSES);
        assert_eq!((sources[0], sources[1], sources[2]), ("host0", ".env", "host138"));
        assert_eq!(sources.last(), Some(&"host199"));
    }

    #[test]
    fn what_another_host_tells_is_joined_once() {
        let mut seen = Seen::default();
        assert!(seen.joins("one.a", "1") && seen.joins("one.a", "2") && seen.joins("two.a", "1"));
        // In whatever order it comes again.
        assert!(!seen.joins("one.a", "1") && !seen.joins("one.a", "2"));
        assert!(!seen.start_over().joins("one.a", "2"), "what was cleared stays so");
        for mark in 0..1000 {
            assert!(seen.joins("one.a", &format!("mark {mark}")));
        }
        assert_eq!(seen.joined["one.a"].len(), MAX_MARKS);
        assert!(!seen.joins("one.a", "mark 990"));
    }

    #[test]
    fn the_epoch_grows_only_when_a_label_does() {
        let mut seen = Seen::default();
        assert!(seen.raise(cause(Label::Corruption, "evil.com")));
        assert!(!seen.raise(cause(Label::Corruption, "other.com")));
        assert!(!seen.raise(cause(Label::Corruption, "evil.com")));
        assert_eq!((seen.taint, seen.epoch, seen.causes.len()), (Taint::Corruption, 1, 2));
        assert!(seen.raise(cause(Label::Secret, ".env")));
        assert_eq!((seen.taint, seen.epoch), (Taint::Both, 2));
        let renewed = seen.start_over();
        assert_eq!((renewed.taint, renewed.epoch), (Taint::Clean, 3));
    }
}
