//! What goes with answers: each names hosts and an amount, counts for one run of one command, and is over when that run is.
//!
//! A run presents the answer's id, with the digest of its command, its folder and its remotes, on a connection that it keeps. Whoever comes second gets nothing, so the
//! text of a run is worth nothing to those who read it. Its connections come from the process that has presented it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{EgressEnd, RequestId, WorkspaceName};
use tokio::sync::{Semaphore, mpsc};

use super::hosts::Host;
use crate::approval::ApprovalId;
use crate::held::held;

/// So long a run may take to begin after its answer: as a rule it begins at once.
const BEGINNING: Duration = Duration::from_mins(1);
/// Longest life of a run's way out: as long as a run in the cage.
const LASTING: Duration = Duration::from_hours(1);
/// Most answers of one workspace that wait for their runs, or are at work.
const MOST: usize = 128;
/// Most refusals that a run hears of.
const MOST_TOLD: usize = 16;

/// All answers with something to go with them.
#[derive(Clone, Default)]
pub struct Answers(Arc<Mutex<All>>);

type All = BTreeMap<(WorkspaceName, RequestId), Arc<Answer>>;

/// One answer.
pub struct Answer {
    pub(super) id: RequestId,
    subject: String,
    ends: Vec<(Host, u16)>,
    programs: Vec<String>,
    left: Mutex<[u64; 2]>,
    until: Mutex<Instant>,
    rests_on: RestsOn,
    /// The process that has presented it.
    presenter: Mutex<Option<i32>>,
    /// Closed when it is over.
    over: Semaphore,
    tells: mpsc::Sender<String>,
    told: Mutex<Option<mpsc::Receiver<String>>>,
}

/// What must still count so that an answer does, also while its run goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestsOn {
    /// The taint epoch in which it was decided, but for what runs because it only reads.
    pub epoch: Option<u64>,
    /// What was let through ahead, by which it was.
    pub ahead: Option<ApprovalId>,
}

impl Answers {
    /// Takes note of an answer, before it goes out. False where there are too many, or one is no name: then it does not go out.
    pub fn put(
        &self,
        workspace: &WorkspaceName,
        id: &RequestId,
        subject: Digest,
        ends: &[EgressEnd],
        (programs, rests_on): (Vec<String>, RestsOn),
    ) -> bool {
        let mut all = held(&self.0);
        all.retain(|_, answer| !answer.is_over());
        let own = all.keys().filter(|(of, _)| of == workspace).count();
        if own >= MOST || ends.is_empty() {
            return false;
        }
        // Nobody but the operator names addresses.
        let name = |host: &str| Host::parse(host).filter(|host| matches!(host, Host::Name(_)));
        let hosts = ends.iter().map(|end| name(&end.host).map(|host| (host, end.port)));
        let Some(hosts) = hosts.collect::<Option<Vec<_>>>() else { return false };
        let [up, down] = ends.iter().fold([0, 0], |[up, down], end| [up.max(end.up_bytes), down.max(end.down_bytes)]);
        let (tells, told) = mpsc::channel(MOST_TOLD);
        let answer = Answer {
            id: id.clone(),
            subject: subject.hex(),
            ends: hosts,
            programs,
            left: Mutex::new([up, down]),
            until: Mutex::new(Instant::now() + BEGINNING),
            rests_on,
            presenter: Mutex::new(None),
            over: Semaphore::new(0),
            tells,
            told: Mutex::new(Some(told)),
        };
        all.insert((workspace.clone(), id.clone()), Arc::new(answer));
        true
    }

    /// A run presents an answer: what it is given, or why there is nothing.
    pub(super) fn present(
        &self,
        workspace: &WorkspaceName,
        (id, subject): (&RequestId, &str),
        pid: i32,
    ) -> Result<(Arc<Answer>, mpsc::Receiver<String>), &'static str> {
        let answer = held(&self.0).get(&(workspace.clone(), id.clone())).cloned();
        let answer = answer.filter(|answer| !answer.is_over()).ok_or("the host has no such answer, or it is over")?;
        if answer.subject != subject {
            return Err("the answer is about another command, another folder or other addresses of remotes");
        }
        let mut presenter = held(&answer.presenter);
        if presenter.is_some() {
            return Err("the answer counts once, and a run has had it");
        }
        let told = held(&answer.told).take().ok_or("the answer counts once")?;
        *presenter = Some(pid);
        *held(&answer.until) = Instant::now() + LASTING;
        drop(presenter);
        Ok((answer, told))
    }

    /// The answer whose run this process is.
    pub(super) fn of_run(&self, workspace: &WorkspaceName, id: &RequestId, pid: i32) -> Option<Arc<Answer>> {
        let answer = held(&self.0).get(&(workspace.clone(), id.clone())).cloned()?;
        let is_its = *held(&answer.presenter) == Some(pid);
        (is_its && !answer.is_over()).then_some(answer)
    }

    /// Ends those that rest on something that counts no more.
    pub fn end_unless(&self, counts: impl Fn(&WorkspaceName, &RestsOn) -> bool) {
        held(&self.0).retain(|(workspace, _), answer| {
            let counts = counts(workspace, &answer.rests_on);
            if !counts {
                answer.end();
            }
            counts
        });
    }

    /// Ends those of a workspace, also such as are at work.
    pub fn end_all(&self, workspace: &WorkspaceName) {
        held(&self.0).retain(|(of, _), answer| {
            if of == workspace {
                answer.end();
            }
            of != workspace
        });
    }
}

impl Answer {
    /// It is over, with all of its connections.
    pub(super) fn end(&self) {
        self.over.close();
    }

    fn is_over(&self) -> bool {
        self.over.is_closed() || Instant::now() >= *held(&self.until)
    }

    /// Ends when it is over.
    pub(super) async fn ends(&self) {
        let left = held(&self.until).saturating_duration_since(Instant::now());
        let _ = tokio::time::timeout(left, self.over.acquire()).await;
    }

    pub(super) fn allows(&self, host: &Host, port: u16) -> bool {
        self.ends.iter().any(|(of, at)| of == host && *at == port)
    }

    /// Its hosts, for people.
    pub(super) fn hosts(&self) -> Vec<String> {
        let one = |(host, port): &(Host, u16)| if *port == 443 { host.to_string() } else { format!("{host}:{port}") };
        self.ends.iter().map(one).collect()
    }

    pub(super) fn programs(&self) -> &[String] {
        &self.programs
    }

    /// Takes so many bytes, or as many as are left: how many that were. What is not enough is used up.
    pub(super) fn take(&self, at: usize, bytes: usize) -> usize {
        let mut left = held(&self.left);
        let Some(left) = left.get_mut(at) else { return 0 };
        let taken = (bytes as u64).min(*left);
        *left = if taken < bytes as u64 { 0 } else { *left - taken };
        usize::try_from(taken).unwrap_or(usize::MAX)
    }

    pub(super) fn has_none(&self, at: usize) -> bool {
        held(&self.left).get(at).is_none_or(|left| *left == 0)
    }

    pub(super) fn give_back(&self, at: usize, bytes: usize) {
        if let Some(left) = held(&self.left).get_mut(at) {
            *left = left.saturating_add(bytes as u64);
        }
    }

    /// Tells the run why something was refused, as long as it hears.
    pub(super) fn tell(&self, why: &str) {
        let _ = self.tells.try_send(why.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b";

    fn end(host: &str, up_bytes: u64) -> EgressEnd {
        EgressEnd { host: host.to_owned(), port: 443, up_bytes, down_bytes: 1 << 20 }
    }

    #[test]
    fn an_answer_counts_once_for_its_command_and_its_process_until_it_is_over() {
        let (answers, id) = (Answers::default(), RequestId::parse(ID).unwrap());
        let [own, other] = ["own", "other"].map(|name| WorkspaceName::parse(name).unwrap());
        let digest = Digest::of(b"git fetch").hex();
        assert!(answers.put(&own, &id, Digest::of(b"git fetch"), &[end("a.example", 10)], Default::default()));
        assert!(answers.of_run(&own, &id, 7).is_none(), "nobody has presented it");
        assert!(answers.present(&other, (&id, &digest), 7).is_err(), "another workspace");
        assert!(answers.present(&own, (&id, &Digest::of(b"git push").hex()), 7).is_err(), "another command");
        let (answer, _told) = answers.present(&own, (&id, &digest), 7).unwrap();
        assert!(answers.present(&own, (&id, &digest), 7).is_err(), "twice");
        assert!(answers.of_run(&own, &id, 8).is_none() && answers.of_run(&own, &id, 7).is_some());
        let host = |name: &str| Host::parse(name).unwrap();
        assert!(answer.allows(&host("a.example"), 443) && !answer.allows(&host("a.example"), 80));
        assert!(!answer.allows(&host("b.example"), 443) && !answer.allows(&host("x.a.example"), 443));
        assert_eq!(
            [answer.take(0, 6), answer.take(0, 6), answer.take(0, 1)],
            [6, 4, 0],
            "a budget over all connections"
        );
        answer.end();
        assert!(answers.of_run(&own, &id, 7).is_none());
    }

    #[test]
    fn a_workspace_that_goes_takes_its_answers_along_and_too_many_get_nothing() {
        let answers = Answers::default();
        let own = WorkspaceName::parse("own").unwrap();
        let id = |at: usize| RequestId::parse(&format!("2f1c7d1e-0a4b-4c8e-9b1d-{at:012x}")).unwrap();
        for at in 0..MOST {
            assert!(answers.put(&own, &id(at), Digest::of(b"x"), &[end("a.example", 1)], Default::default()));
        }
        assert!(!answers.put(&own, &id(MOST), Digest::of(b"x"), &[end("a.example", 1)], Default::default()));
        let other = WorkspaceName::parse("other").unwrap();
        assert!(answers.put(&other, &id(0), Digest::of(b"x"), &[end("a.example", 1)], Default::default()));
        answers.end_all(&own);
        assert!(answers.put(&own, &id(MOST), Digest::of(b"x"), &[end("a.example", 1)], Default::default()));
        assert!(!answers.put(&own, &id(0), Digest::of(b"x"), &[], Default::default()), "no hosts, no way out");
        for address in ["127.0.0.1", "169.254.169.254", "[::1]", "0x7f.1", "2130706433", "1.1.1.1"] {
            assert!(!answers.put(&own, &id(0), Digest::of(b"x"), &[end(address, 1)], Default::default()), "{address}");
        }
    }

    #[test]
    fn an_answer_is_over_with_what_it_rests_on() {
        let answers = Answers::default();
        let own = WorkspaceName::parse("own").unwrap();
        let id = |at: usize| RequestId::parse(&format!("2f1c7d1e-0a4b-4c8e-9b1d-{at:012x}")).unwrap();
        let digest = Digest::of(b"x").hex();
        let ahead = ApprovalId::from_random([1; 5]);
        let all = [
            RestsOn::default(),
            RestsOn { epoch: Some(4), ahead: None },
            RestsOn { epoch: Some(4), ahead: Some(ahead.clone()) },
        ];
        for (at, rests_on) in all.into_iter().enumerate() {
            assert!(answers.put(&own, &id(at), Digest::of(b"x"), &[end("a.example", 1)], (Vec::new(), rests_on)));
            answers.present(&own, (&id(at), &digest), 7).unwrap();
        }
        let there = || (0..3).filter(|at| answers.of_run(&own, &id(*at), 7).is_some()).collect::<Vec<_>>();
        answers.end_unless(|_, on| on.epoch.is_none_or(|epoch| epoch == 4));
        assert_eq!(there(), [0, 1, 2]);
        answers.end_unless(|_, on| on.ahead.as_ref() != Some(&ahead));
        assert_eq!(there(), [0, 1], "the grant is over");
        answers.end_unless(|_, on| on.epoch.is_none_or(|epoch| epoch == 5));
        assert_eq!(there(), [0], "another epoch");
    }
}
