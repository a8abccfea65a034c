//! Whose card an id is. What was shown of one host under an id is never answered for another: a person who has read the one would let the
//! other run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bashgate::approval::ApprovalId;

use crate::{HostName, MemberId};

/// How long an id is remembered after it was last seen: longer than any card can be answered.
const KEPT: Duration = Duration::from_hours(1);
/// Most ids of one host within that time. A host that has more has none of them shown.
const MOST: usize = 10_000;
/// How often those that are too old are looked for.
const TIDY: Duration = Duration::from_mins(1);

/// Whose it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The host's that holds it now.
    Its,
    /// Two hosts hold something under it, now or within the hour.
    TwoHosts,
    /// That host has had too many.
    TooMany,
}

struct Known {
    host: HostName,
    /// Another one that has been seen with it.
    other: Option<HostName>,
    seen: Instant,
}

/// All that are known.
#[derive(Default)]
pub(super) struct Ids {
    known: BTreeMap<ApprovalId, Known>,
    of_each: BTreeMap<HostName, usize>,
    tidied: Option<Instant>,
}

impl Ids {
    /// A host holds something under an id.
    pub(super) fn holds(&mut self, id: &ApprovalId, member: &MemberId) -> Whose {
        let now = Instant::now();
        if let Some(known) = self.known.get_mut(id) {
            // Another number of one host is that host, made anew.
            if known.host != member.host {
                known.other.get_or_insert_with(|| member.host.clone());
            }
            known.seen = now;
            return if known.other.is_some() { Whose::TwoHosts } else { Whose::Its };
        }
        let count = self.of_each.entry(member.host.clone()).or_default();
        if *count >= MOST {
            return Whose::TooMany;
        }
        *count += 1;
        self.known.insert(id.clone(), Known { host: member.host.clone(), other: None, seen: now });
        Whose::Its
    }

    /// What is said of an id that two hosts hold something under.
    pub(super) fn disputed(&self, id: &ApprovalId) -> Option<String> {
        let known = self.known.get(id)?;
        let other = known.other.as_ref()?;
        Some(format!("Two hosts hold something under this id, {} and {other}: it is answered at the host", known.host))
    }

    /// Forgets what nobody can answer any more.
    pub(super) fn tidy(&mut self) {
        if self.tidied.is_some_and(|at| at.elapsed() < TIDY) {
            return;
        }
        self.tidied = Some(Instant::now());
        let of_each = &mut self.of_each;
        self.known.retain(|_, known| {
            let keeps = known.seen.elapsed() < KEPT;
            if !keeps && let Some(count) = of_each.get_mut(&known.host) {
                *count -= 1;
            }
            keeps
        });
        self.of_each.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_hosts() {
        let member = |name: &str| MemberId { fleet: "f".to_owned(), host: HostName::parse(name).unwrap(), number: 1 };
        let id = |number: usize| ApprovalId::parse(&format!("{number:08}")).unwrap();
        let mut ids = Ids::default();
        assert_eq!(ids.holds(&id(1), &member("one")), Whose::Its);
        assert_eq!(ids.holds(&id(1), &member("one")), Whose::Its);
        assert_eq!(ids.disputed(&id(1)), None);
        // From then on nobody's, also not the first one's.
        assert_eq!(ids.holds(&id(1), &member("two")), Whose::TwoHosts);
        assert_eq!(ids.holds(&id(1), &member("one")), Whose::TwoHosts);
        assert!(ids.disputed(&id(1)).unwrap().contains("one and two"));
        for number in 2..=MOST {
            assert_eq!(ids.holds(&id(number), &member("one")), Whose::Its);
        }
        assert_eq!(ids.holds(&id(MOST + 1), &member("one")), Whose::TooMany);
        assert_eq!(ids.holds(&id(MOST + 1), &member("two")), Whose::Its, "nobody else has less of it");
        ids.tidy();
        assert_eq!(ids.holds(&id(2), &member("two")), Whose::TwoHosts, "none was too old");
    }
}
