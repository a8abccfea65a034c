//! One request's life: a pure state machine. Events in, steps out; no clock, no I/O.
//!
//! INVARIANT: [`Step::Release`] of an allow only follows [`Event::Recorded`], so nothing is released that is not on
//! record. A case gives one verdict, once.

use std::collections::BTreeSet;

use bashgate_shared::classify::{Classification, CommandClass};
use bashgate_shared::programs::{self, Builtin};
use bashgate_shared::protocol::Answer;

use crate::approval::{ApprovalId, Word};
use crate::authority::{By, Person};
use crate::policy::cage::{self, Cage};
use crate::policy::egress::{self, End};
use crate::policy::trust::Terms;
use crate::policy::{self, Approved, Asked, Decision, Finding, Judged, Outcome, Policy};
use crate::taint::{Label, Taint};

/// What else there is to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Final,
    /// A denial by the inspector, which a person may overrule.
    Overrulable,
    /// A denial behind which the command runs all the same, in the cage.
    Caged,
    /// The same with a way out to the hosts that it names.
    Egress,
    /// A denial where shadow mode would ask a person.
    WouldAsk,
    /// A person's word on going on without the inspector, not on this command.
    OnOutage,
    /// A person's word on others of its kind, or on everything, for a while.
    Ahead,
}

/// The last word on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// Allow or deny.
    pub answer: Answer,
    /// Why, for agents and people.
    pub reason: String,
    /// Who said it.
    pub by: By,
    /// The rule it came from.
    pub rule: &'static str,
    /// What else there is to it.
    pub standing: Standing,
    /// True for a denial that shadow mode lets through.
    pub let_through: bool,
}

impl Verdict {
    /// True when a person said yes to this very command, and so to the script that it is and to the files that were shown with it.
    pub fn approves_what_was_shown(&self) -> bool {
        self.answer == Answer::Allow
            && self.by.is_human()
            && !matches!(self.standing, Standing::OnOutage | Standing::Ahead)
    }

    /// True when it runs in the cage behind a denial.
    pub fn is_caged(&self) -> bool {
        matches!(self.standing, Standing::Caged | Standing::Egress)
    }

    /// The same where it was to be held to its hosts, and there is no room for that: then it does not run at all.
    pub fn without_room(self) -> Self {
        let reason =
            "too many commands of this workspace that go out were allowed and have not run; run it again in a minute";
        Self { standing: Standing::Final, let_through: false, ..deny(reason.to_owned(), self.by, self.rule) }
    }

    /// The answer that goes out.
    pub fn released(&self) -> Answer {
        if self.let_through { Answer::Allow } else { self.answer }
    }
}

/// What a workspace is at this moment, as far as a case needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Its taint.
    pub taint: Taint,
    /// Its taint epoch.
    pub epoch: u64,
}

/// A person's earlier word that lets a command run which would be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pass {
    /// On this very request.
    Request(Person),
    /// On others of its kind: a grant.
    Kind(Person, ApprovalId),
    /// On all that would be asked in its workspace for a while.
    Everything(Person, ApprovalId),
}

/// What happens to a case.
#[derive(Debug)]
pub enum Event {
    /// It begins. A pass is a person's earlier word that this very request may run.
    Opened {
        /// By whose word it may run.
        pass: Option<Pass>,
        /// The id under which it was held before the host was restarted.
        held_before: Option<ApprovalId>,
    },
    /// The inspector answered.
    Found(Finding),
    /// The approval is durable; people may be told.
    Held,
    /// A person answered.
    Answered(Word, Person),
    /// The inspector does not answer, and a person has said before whether the workspace may go on without it.
    WithoutInspector(Word, Person),
    /// Nobody answered in time.
    Lapsed,
    /// It cannot be held, and why.
    Refused(String),
    /// The asker is gone.
    Withdrawn,
    /// The verdict is on record.
    Recorded,
    /// The record could not be written.
    NotRecorded(String),
}

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask the inspector.
    Inspect,
    /// Make it durable that the command is held, then say [`Event::Held`].
    Hold {
        judged: Judged,
        /// The id to use again.
        id: Option<ApprovalId>,
        /// What the inspector said, if it was asked before.
        advice: Option<String>,
        /// True when it is held only because the inspector does not answer. All such commands of a workspace are one
        /// question.
        outage: bool,
    },
    /// Tell people.
    Announce,
    /// Show the inspector's advice on the card.
    Advise(String),
    /// Put the verdict on record with what it adds to the taint, then say [`Event::Recorded`].
    Record(Verdict, Vec<(Label, String)>),
    /// Put on record that a denial came behind the approval, before anything was released; then say
    /// [`Event::Recorded`].
    RecordDenial(Verdict),
    /// Write the response.
    Release(Verdict),
    /// There is nothing more to do.
    Close,
}

#[derive(Debug)]
enum State {
    New,
    Inspecting {
        judged: Judged,
        epoch: u64,
    },
    Holding {
        judged: Judged,
        epoch: u64,
        outage: bool,
    },
    /// `records` are being written; the verdict is released behind the last.
    Recording {
        verdict: Verdict,
        release: bool,
        records: u8,
    },
    Done,
}

/// One request to check a command.
#[derive(Debug)]
pub struct Case {
    found: Classification,
    text: String,
    cwd: Option<String>,
    by_runner: bool,
    script: Option<Approved>,
    service: Option<Terms>,
    instead: Cage,
    /// To where it may go without being asked about.
    egress: BTreeSet<End>,
    /// To where it goes once it is allowed.
    way: BTreeSet<End>,
    state: State,
    /// Who lets all run that would be asked about, and under which id, where the inspector is asked first.
    glass: Option<(Person, ApprovalId)>,
}

impl Case {
    /// A case for a classified command, and which questions about it may be replaced by the cage.
    pub fn new(found: Classification, text: String, instead: Cage) -> Self {
        Self {
            found,
            text,
            cwd: None,
            by_runner: false,
            script: None,
            service: None,
            instead,
            egress: BTreeSet::new(),
            way: BTreeSet::new(),
            state: State::New,
            glass: None,
        }
    }

    /// The same, where it only reads: its hosts. It then runs with a way out to these instead of being asked about.
    #[must_use]
    pub fn with_egress(mut self, ends: BTreeSet<End>) -> Self {
        self.egress = ends;
        self
    }

    /// The same, with the hosts that all of it goes to: once it is allowed it runs with a way out to these.
    #[must_use]
    pub fn with_way(mut self, ends: BTreeSet<End>) -> Self {
        self.way = ends;
        self
    }

    /// The hosts that it has a way out to once it is allowed.
    pub fn way(&self) -> &BTreeSet<End> {
        &self.way
    }

    /// The hosts that it has a way out to by a verdict.
    pub fn egress(&self, verdict: &Verdict) -> &BTreeSet<End> {
        const NONE: &BTreeSet<End> = &BTreeSet::new();
        match verdict.answer {
            Answer::Allow => &self.way,
            Answer::Deny if verdict.standing == Standing::Egress => &self.egress,
            Answer::Deny => NONE,
        }
    }

    /// The same, in the folder where it would run.
    #[must_use]
    pub fn in_folder(mut self, cwd: Option<String>) -> Self {
        self.cwd = cwd;
        self
    }

    /// The same, when bashgate's own Bash tool asks.
    #[must_use]
    pub fn by_runner(mut self, by_runner: bool) -> Self {
        self.by_runner = by_runner;
        self
    }

    /// The same, when it is a managed script: whether a person has approved it.
    #[must_use]
    pub fn of_script(mut self, script: Option<Approved>) -> Self {
        self.script = script;
        self
    }

    /// The same, when it is a call of another tool: on what terms its service is used.
    #[must_use]
    pub fn of_service(mut self, terms: Option<Terms>) -> Self {
        self.service = terms;
        self
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            text: &self.text,
            cwd: self.cwd.as_deref(),
            by_runner: self.by_runner,
            script: self.script,
            service: self.service.as_ref(),
        }
    }

    /// What is known about the command.
    pub fn classification(&self) -> &Classification {
        &self.found
    }

    /// What the policy says about it under a taint.
    pub fn judged(&self, taint: Taint, policy: &Policy) -> Judged {
        policy::judge(policy, taint, &self.found, self.asked())
    }

    /// True while a person is being asked.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Holding { .. })
    }

    /// True while only the inspector's word is waited for.
    pub fn is_inspected(&self) -> bool {
        matches!(self.state, State::Inspecting { .. } | State::Holding { outage: true, .. })
    }

    /// The verdict, once it is given.
    pub fn verdict(&self) -> Option<&Verdict> {
        if let State::Recording { verdict, .. } = &self.state { Some(verdict) } else { None }
    }

    /// True when a denial came behind the approval.
    pub fn is_overtaken(&self) -> bool {
        matches!(&self.state, State::Recording { records, .. } if *records > 1)
    }

    /// True while an approval is on its way into the record and nothing went out.
    pub fn is_approved(&self) -> bool {
        matches!(&self.state, State::Recording { verdict, release: true, .. }
            if verdict.answer == Answer::Allow && verdict.by.is_human())
    }

    /// True once the verdict is given.
    pub fn is_decided(&self) -> bool {
        matches!(self.state, State::Recording { .. } | State::Done)
    }

    /// Takes an event and says what to do. An event that does not fit the state changes nothing: the state is only looked
    /// at here, and each way out of it is a call that says where to.
    pub fn on(&mut self, event: Event, view: View, policy: &Policy) -> Vec<Step> {
        match (&self.state, event) {
            (State::New, Event::Opened { pass, held_before }) => self.open(pass, held_before, view, policy),
            // The taint rose while the inspector was thinking: its answer was to another question.
            (State::Inspecting { epoch, .. }, Event::Found(_)) if *epoch != view.epoch => {
                self.open(None, None, view, policy)
            }
            (State::Inspecting { judged, .. }, Event::Found(finding)) => {
                let judged = judged.clone();
                self.resolve(judged, view.epoch, finding, policy)
            }
            (
                State::Inspecting { epoch, .. } | State::Holding { epoch, outage: true, .. },
                Event::WithoutInspector(Word::Approve(_), _),
            ) if *epoch != view.epoch => self.open(None, None, view, policy),
            (State::Holding { judged, epoch, outage: true }, Event::Found(finding))
                if !matches!(finding, Finding::Unavailable { .. }) =>
            {
                if *epoch != view.epoch {
                    return self.open(None, None, view, policy);
                }
                // It answers again, so the question is no longer one for people.
                let judged = judged.clone();
                self.resolve(judged, view.epoch, finding, policy)
            }
            (State::Holding { outage, .. }, Event::Found(finding)) => {
                if *outage {
                    Vec::new()
                } else {
                    vec![Step::Advise(advice(&finding))]
                }
            }
            (State::Holding { .. }, Event::Held) => vec![Step::Announce],
            // What was approved was shown under another taint.
            (State::Holding { epoch, .. }, Event::Answered(Word::Approve(_), _)) if *epoch != view.epoch => {
                self.open(None, None, view, policy)
            }
            (State::Inspecting { .. } | State::Holding { outage: true, .. }, Event::WithoutInspector(reply, by))
            | (State::Holding { outage: true, .. }, Event::Answered(reply, by)) => {
                self.without_inspector(reply, by, policy)
            }
            (State::Holding { .. }, Event::Answered(Word::Approve(_), by)) => self.finish(approved(by), policy, true),
            // Its card is still there while it is judged anew.
            (
                State::Holding { judged, .. } | State::Inspecting { judged, .. },
                Event::Answered(Word::Deny { reason }, by),
            ) => {
                let verdict = denied(&reason, by, Some(&judged.reason));
                self.finish(verdict, policy, true)
            }
            (State::Holding { .. }, Event::Lapsed) => {
                let words = "nobody approved it in time; ask the person you work for, then run it again".to_owned();
                self.finish(deny(words, By::Policy, "expiry"), policy, true)
            }
            (State::Inspecting { .. }, Event::Lapsed) => {
                let words = "the inspector did not look at it in time; run it again later".to_owned();
                self.finish(deny(words, By::Policy, "expiry"), policy, true)
            }
            (State::Holding { .. } | State::Inspecting { .. }, Event::Refused(why)) => {
                self.finish(deny(why, By::Host, "limit"), policy, true)
            }
            (State::Holding { .. } | State::Inspecting { .. }, Event::Withdrawn) => {
                self.finish(deny("the asker is gone".to_owned(), By::Host, "withdrawn"), policy, false)
            }
            (State::Recording { records, .. }, Event::Answered(Word::Deny { reason }, by)) if self.is_approved() => {
                // The approval is being written and nothing went out: the denial counts.
                let verdict = denied(&reason, by, None);
                let records = records + 1;
                self.state = State::Recording { verdict: verdict.clone(), release: true, records };
                vec![Step::RecordDenial(verdict)]
            }
            (State::Recording { verdict, release, records }, Event::Recorded) => {
                let (verdict, release) = (verdict.clone(), *release);
                if let Some(more @ 1..) = records.checked_sub(1) {
                    self.state = State::Recording { verdict, release, records: more };
                    return Vec::new();
                }
                self.close(release.then_some(verdict))
            }
            // No record, no allow. The denial itself may go out unrecorded: it lets nothing happen.
            (State::Recording { release, .. }, Event::NotRecorded(why)) => {
                let release = *release;
                self.close(release.then(|| unrecorded("decision", &why)))
            }
            (State::Holding { .. }, Event::NotRecorded(why)) => self.close(Some(unrecorded("question", &why))),
            _ => Vec::new(),
        }
    }

    /// Nothing more happens to it; the verdict goes out, if there is anybody to hear it.
    fn close(&mut self, verdict: Option<Verdict>) -> Vec<Step> {
        self.state = State::Done;
        verdict.map(Step::Release).into_iter().chain([Step::Close]).collect()
    }

    /// The id of the broken glass by which a question for people is let through, once the inspector has not denied it.
    pub fn glass(&self) -> Option<&ApprovalId> {
        self.glass.as_ref().map(|(_, id)| id)
    }

    /// The glass is whole again.
    pub fn glass_is_over(&mut self) {
        self.glass = None;
    }

    fn open(&mut self, pass: Option<Pass>, held_before: Option<ApprovalId>, view: View, policy: &Policy) -> Vec<Step> {
        self.glass = None;
        let judged = self.judged(view.taint, policy);
        let is_question = matches!(judged.decision, Decision::Inspect | Decision::AskHuman);
        match pass.filter(|_| is_question) {
            Some(Pass::Request(by)) => return self.finish(approved(by), policy, true),
            // What a rule made stricter is asked all the same.
            Some(Pass::Kind(by, id)) if judged.is_by_table_alone() => {
                return self.finish(ahead(by, &id, "grant"), policy, true);
            }
            // Whoever asks about a script takes the answer for an approval of it.
            Some(Pass::Everything(by, id)) if self.script != Some(Approved::NotYet) => {
                if judged.decision == Decision::AskHuman {
                    return self.finish(ahead(by, &id, "break-glass"), policy, true);
                }
                // What the inspector denies stays denied.
                self.glass = Some((by, id));
            }
            _ => {}
        }
        match judged.decision {
            Decision::Deny => {
                let Judged { reason, rule, .. } = judged;
                self.finish(deny(reason, By::Policy, rule), policy, true)
            }
            Decision::Allow => {
                let verdict = allow(judged.reason, By::Policy, judged.rule);
                self.finish(verdict, policy, true)
            }
            Decision::Inspect | Decision::AskHuman if policy.enforce && !self.egress.is_empty() => {
                let verdict = outward(&judged, &self.egress);
                self.finish(verdict, policy, true)
            }
            Decision::Inspect | Decision::AskHuman if self.is_caged(&judged, judged.decision, policy) => {
                self.finish(caged(&judged), policy, true)
            }
            Decision::AskHuman if self.is_shadowed(policy) => self.would_hold(&judged, &judged.reason, policy),
            Decision::Inspect if held_before.is_none() || !policy.enforce || self.glass.is_some() => {
                self.state = State::Inspecting { judged, epoch: view.epoch };
                vec![Step::Inspect]
            }
            Decision::Inspect | Decision::AskHuman => {
                self.state = State::Holding { judged: judged.clone(), epoch: view.epoch, outage: false };
                vec![Step::Hold { judged, id: held_before, advice: None, outage: false }, Step::Inspect]
            }
        }
    }

    fn resolve(&mut self, judged: Judged, epoch: u64, finding: Finding, policy: &Policy) -> Vec<Step> {
        let outcome = policy::resolve(judged.taint, &finding);
        if outcome == Outcome::AskHuman
            && let Some((by, id)) = self.glass.take()
        {
            return self.finish(ahead(by, &id, "break-glass"), policy, true);
        }
        match outcome {
            Outcome::Allow => {
                let verdict = allow(advice(&finding), By::Inspector, judged.rule);
                self.finish(verdict, policy, true)
            }
            Outcome::Deny => {
                let words = match finding {
                    Finding::Flagged { reason } => reason,
                    other => advice(&other),
                };
                let reason = format!(
                    "the inspector flagged it: {words}; do it without what was flagged, or ask the person you work for"
                );
                self.finish(
                    Verdict { standing: Standing::Overrulable, ..deny(reason, By::Inspector, judged.rule) },
                    policy,
                    true,
                )
            }
            // What was flagged is a question about the command, not about the network.
            Outcome::AskHuman
                if !matches!(finding, Finding::Flagged { .. })
                    && self.is_caged(&judged, Decision::AskHuman, policy) =>
            {
                self.finish(caged(&judged), policy, true)
            }
            Outcome::AskHuman if !policy.enforce => self.would_hold(&judged, &advice(&finding), policy),
            Outcome::AskHuman => {
                let outage = matches!(finding, Finding::Unavailable { .. });
                let advice = Some(advice(&finding));
                self.state = State::Holding { judged: judged.clone(), epoch, outage };
                vec![Step::Hold { judged, id: None, advice, outage }]
            }
        }
    }

    /// True when this question is replaced by a run in the cage.
    fn is_caged(&self, judged: &Judged, question: Decision, policy: &Policy) -> bool {
        policy.enforce && self.instead.replaces(question) && cage::fits(policy, judged, &self.found, self.asked())
    }

    /// The inspector does not answer, and a person said what that means.
    fn without_inspector(&mut self, reply: Word, by: Person, policy: &Policy) -> Vec<Step> {
        let verdict = match reply {
            // The agent is not told that only the offline rules look right now.
            Word::Approve(_) => approved(by),
            Word::Deny { reason } => {
                let more = if reason.is_empty() { "; run it again later".to_owned() } else { format!(": {reason}") };
                let words = format!("the inspector does not answer, and {by} lets nothing go on without it{more}");
                deny(words, By::Human(by), "")
            }
        };
        self.finish(Verdict { rule: "no-answer", standing: Standing::OnOutage, ..verdict }, policy, true)
    }

    /// True where a denial is only put on record. A script that nobody approved runs in no mode: its asker takes an answer for
    /// an approval.
    fn is_shadowed(&self, policy: &Policy) -> bool {
        !policy.enforce && self.script != Some(Approved::NotYet)
    }

    /// In shadow mode nobody waits for a person.
    fn would_hold(&mut self, judged: &Judged, why: &str, policy: &Policy) -> Vec<Step> {
        let verdict = deny(format!("a person would be asked: {why}"), By::Policy, judged.rule);
        self.finish(Verdict { standing: Standing::WouldAsk, ..verdict }, policy, true)
    }

    fn finish(&mut self, verdict: Verdict, policy: &Policy, release: bool) -> Vec<Step> {
        let let_through = self.is_shadowed(policy) && release && verdict.answer == Answer::Deny;
        let verdict = Verdict { let_through, ..verdict };
        // What is let through happens, whatever the verdict was.
        let raises = if verdict.released() == Answer::Allow || verdict.is_caged() {
            policy::taints(policy, &self.found)
        } else {
            Vec::new()
        };
        self.state = State::Recording { verdict: verdict.clone(), release, records: 1 };
        vec![Step::Record(verdict, raises)]
    }

    /// True when approving this exact command again and again would say little about what it does.
    pub fn is_open_ended(&self) -> bool {
        self.found.class == CommandClass::Unknown
            || !self.found.understood
            || self.found.effects.programs.iter().any(|program| {
                let in_this_shell =
                    matches!(programs::builtin_of(program), Some(Builtin::Evaluates | Builtin::Sources));
                in_this_shell || programs::runs_of(program).takes_code() && !programs::is_builtin(program)
            })
    }
}

fn allow(reason: String, by: By, rule: &'static str) -> Verdict {
    Verdict { answer: Answer::Allow, reason, by, rule, standing: Standing::Final, let_through: false }
}

fn deny(reason: String, by: By, rule: &'static str) -> Verdict {
    Verdict { answer: Answer::Deny, ..allow(reason, by, rule) }
}

fn approved(by: Person) -> Verdict {
    allow(format!("approved by {by}"), By::Human(by), "approval")
}

/// A person's word on more than this command.
fn ahead(by: Person, id: &ApprovalId, rule: &'static str) -> Verdict {
    let words = format!("covered by what {by} let through ahead ({id})");
    Verdict { standing: Standing::Ahead, ..allow(words, By::Human(by), rule) }
}

/// A person's no, with what was asked and what the agent may do instead.
fn denied(reason: &str, by: Person, asked: Option<&str>) -> Verdict {
    let mut words = if reason.is_empty() { format!("denied by {by}") } else { format!("denied by {by}: {reason}") };
    if let Some(asked) = asked {
        words.push_str(&format!(" (it was asked because: {asked})"));
    }
    words.push_str("; do not try the same in another form: go on without it, or ask the person you work for");
    deny(words, By::Human(by), "approval")
}

fn unrecorded(what: &str, why: &str) -> Verdict {
    let words = format!("the {what} could not be recorded ({why}); for the operator: look at the state folder's disk");
    deny(words, By::Host, "record")
}

fn caged(judged: &Judged) -> Verdict {
    let reason = format!("it runs without network instead of being asked about ({})", judged.reason);
    Verdict { standing: Standing::Caged, ..deny(reason, By::Policy, "cage") }
}

fn outward(judged: &Judged, ends: &BTreeSet<End>) -> Verdict {
    let hosts: Vec<String> = ends.iter().map(egress::written).collect();
    let reason = format!(
        "it only reads, and runs with a way out to {} instead of being asked about ({})",
        hosts.join(", "),
        judged.reason
    );
    Verdict { standing: Standing::Egress, ..deny(reason, By::Policy, "egress") }
}

/// A finding in words.
pub fn advice(finding: &Finding) -> String {
    match finding {
        // Not more than was done: people approve what they are told to be harmless.
        Finding::Clear { reason } if reason == policy::NO_MODEL => reason.clone(),
        Finding::Clear { reason } => format!("the inspector found nothing to flag: {reason}"),
        Finding::Flagged { reason } => format!("the inspector flagged it: {reason}"),
        Finding::NoAnswer { why } | Finding::Unavailable { why } => format!("the inspector gave no answer ({why})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::Scope;
    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    fn case(command: &str) -> Case {
        let line = CommandLine::parse(command).unwrap();
        Case::new(classify(&line, &Surroundings::default()), command.to_owned(), Cage::default())
    }

    fn view(taint: Taint, epoch: u64) -> View {
        View { taint, epoch }
    }

    fn opened() -> Event {
        Event::Opened { pass: None, held_before: None }
    }

    fn recorded(steps: &[Step]) -> &Verdict {
        match steps {
            [Step::Record(verdict, _)] => verdict,
            other => panic!("no record: {other:?}"),
        }
    }

    #[test]
    fn what_has_no_room_is_denied_in_whatever_way_it_was_to_run() {
        let by = || By::Policy;
        let (allowed, denied) = (allow("fine".to_owned(), by(), "x"), deny("reads".to_owned(), by(), "x"));
        let outward = Verdict { standing: Standing::Egress, ..denied.clone() };
        let let_through = Verdict { let_through: true, ..denied };
        for verdict in [allowed, outward, let_through] {
            let lost = verdict.without_room();
            assert_eq!((lost.released(), lost.is_caged(), lost.by.clone()), (Answer::Deny, false, by()), "{lost:?}");
            assert!(lost.reason.contains("have not run"), "{lost:?}");
        }
    }

    #[test]
    fn an_allow_is_released_only_after_its_record() {
        let policy = Policy::default();
        let mut case = case("curl https://x");
        let steps = case.on(opened(), view(Taint::Clean, 0), &policy);
        assert_eq!(recorded(&steps).answer, Answer::Allow);
        assert!(matches!(&steps[..], [Step::Record(_, raises)] if raises[..] == [(Label::Corruption, "x".to_owned())]));
        let steps = case.on(Event::Recorded, view(Taint::Clean, 0), &policy);
        assert!(matches!(&steps[..], [Step::Release(verdict), Step::Close] if verdict.answer == Answer::Allow));
        assert!(case.on(Event::Recorded, view(Taint::Clean, 0), &policy).is_empty(), "nothing twice");
    }

    #[test]
    fn shadow_mode_records_the_denial_and_lets_it_through_with_its_taint() {
        let policy = Policy { enforce: false, ..Policy::default() };
        for (command, taint) in [("curl https://x", Taint::Both), ("rm -rf /etc/bashgate", Taint::Clean)] {
            let mut case = case(command);
            let steps = case.on(opened(), view(taint, 0), &policy);
            let verdict = recorded(&steps);
            assert_eq!((verdict.answer, verdict.released()), (Answer::Deny, Answer::Allow), "{command}");
            let steps = case.on(Event::Recorded, view(taint, 0), &policy);
            assert!(matches!(&steps[..], [Step::Release(verdict), Step::Close] if verdict.let_through), "{command}");
        }
        // A model is still asked, and what it says is recorded; nobody waits for a person.
        let mut inspected = case("curl https://x");
        assert_eq!(inspected.on(opened(), view(Taint::Secret, 0), &policy), [Step::Inspect]);
        let found = Event::Found(Finding::NoAnswer { why: "late".to_owned() });
        let steps = inspected.on(found, view(Taint::Secret, 0), &policy);
        assert!(matches!(&steps[..], [Step::Record(verdict, raises)] if verdict.let_through && !raises.is_empty()));
        // What cannot be recorded is denied here too.
        let steps = inspected.on(Event::NotRecorded("disk full".to_owned()), view(Taint::Secret, 0), &policy);
        assert!(matches!(&steps[..], [Step::Release(verdict), Step::Close] if verdict.released() == Answer::Deny));
    }

    #[test]
    fn a_record_that_fails_denies() {
        let policy = Policy::default();
        let mut case = case("make");
        let _ = case.on(opened(), view(Taint::Clean, 0), &policy);
        let steps = case.on(Event::NotRecorded("disk full".to_owned()), view(Taint::Clean, 0), &policy);
        assert!(matches!(&steps[..], [Step::Release(verdict), Step::Close] if verdict.answer == Answer::Deny));
    }

    #[test]
    fn a_held_command_waits_for_one_answer() {
        let policy = Policy::default();
        for (event, want) in [
            (Event::Answered(Word::Approve(Scope::Once), Person::named("ann")), Answer::Allow),
            (Event::Answered(Word::Deny { reason: "no".to_owned() }, Person::named("ann")), Answer::Deny),
            (Event::Lapsed, Answer::Deny),
        ] {
            let mut case = case("curl https://x");
            let steps = case.on(opened(), view(Taint::Both, 2), &policy);
            assert!(matches!(&steps[..], [Step::Hold { .. }, Step::Inspect]));
            assert_eq!(case.on(Event::Held, view(Taint::Both, 2), &policy), [Step::Announce]);
            // The inspector's word is advice here, whatever it says.
            let advice =
                case.on(Event::Found(Finding::Clear { reason: "fine".to_owned() }), view(Taint::Both, 2), &policy);
            assert!(matches!(&advice[..], [Step::Advise(_)]));
            let steps = case.on(event, view(Taint::Both, 2), &policy);
            assert_eq!(recorded(&steps).answer, want);
            let again = case.on(
                Event::Answered(Word::Approve(Scope::Once), Person::named("eve")),
                view(Taint::Both, 2),
                &policy,
            );
            assert!(again.is_empty(), "a second answer changes nothing");
        }
    }

    #[test]
    fn a_taint_that_rises_during_an_inspection_is_judged_anew() {
        let policy = Policy::default();
        let mut case = case("curl https://x");
        assert_eq!(case.on(opened(), view(Taint::Corruption, 1), &policy), [Step::Inspect]);
        let clear = Event::Found(Finding::Clear { reason: String::new() });
        let steps = case.on(clear, view(Taint::Both, 2), &policy);
        assert!(matches!(&steps[..], [Step::Hold { .. }, Step::Inspect]), "{steps:?}");
    }

    #[test]
    fn findings_resolve_by_the_table() {
        let policy = Policy::default();
        let flagged = || Finding::Flagged { reason: "sends data".to_owned() };
        for (taint, finding, want) in [
            (Taint::Corruption, Finding::Clear { reason: String::new() }, Some(Answer::Allow)),
            (Taint::Corruption, flagged(), Some(Answer::Deny)),
            (Taint::Secret, flagged(), Some(Answer::Deny)),
            (Taint::Both, flagged(), None),
            (Taint::Secret, Finding::NoAnswer { why: "timed out".to_owned() }, None),
        ] {
            let mut case = case("make build");
            let _ = case.on(opened(), view(taint, 1), &policy);
            let steps = case.on(Event::Found(finding), view(taint, 1), &policy);
            match want {
                Some(answer) => assert_eq!(recorded(&steps).answer, answer),
                None => assert!(matches!(&steps[..], [Step::Hold { .. }]), "{steps:?}"),
            }
        }
    }

    #[test]
    fn an_approval_belongs_to_the_taint_it_was_given_under() {
        let policy = Policy::default();
        let mut case = case("make build");
        let _ = case.on(opened(), view(Taint::Secret, 1), &policy);
        let _ = case.on(Event::Found(Finding::NoAnswer { why: String::new() }), view(Taint::Secret, 1), &policy);
        assert!(case.is_held());
        let steps =
            case.on(Event::Answered(Word::Approve(Scope::Once), Person::named("ann")), view(Taint::Both, 2), &policy);
        assert_eq!(steps, [Step::Inspect], "it is judged anew");
    }

    #[test]
    fn an_inspector_that_does_not_answer_is_a_question_of_its_own() {
        let policy = Policy::default();
        let approve = || Word::Approve(Scope::Once);
        let asked = || {
            let mut case = case("make build");
            let _ = case.on(opened(), view(Taint::Secret, 1), &policy);
            case
        };
        let silence = || Event::Found(Finding::Unavailable { why: "timed out".to_owned() });
        // Held, and asked whether to go on; what the inspector says in the end counts more than the question.
        let mut held = asked();
        let steps = held.on(silence(), view(Taint::Secret, 1), &policy);
        assert!(matches!(&steps[..], [Step::Hold { outage: true, .. }]), "{steps:?}");
        assert!(held.on(silence(), view(Taint::Secret, 1), &policy).is_empty(), "still nothing");
        let flagged = Event::Found(Finding::Flagged { reason: "sends data".to_owned() });
        assert_eq!(recorded(&held.on(flagged, view(Taint::Secret, 1), &policy)).answer, Answer::Deny);
        // A word that was given before counts at once, under the taint it was given under.
        let mut settled = asked();
        let word = Event::WithoutInspector(approve(), Person::named("ann"));
        let steps = settled.on(word, view(Taint::Secret, 1), &policy);
        assert_eq!((recorded(&steps).answer, recorded(&steps).by.to_string().as_str()), (Answer::Allow, "human:ann"));
        assert!(!recorded(&steps).reason.contains("inspector"), "the agent need not know who does not look");
        let mut risen = asked();
        let word = Event::WithoutInspector(approve(), Person::named("ann"));
        assert_eq!(risen.on(word, view(Taint::Both, 2), &policy), [Step::Inspect]);
        let mut refused = asked();
        let word = Event::WithoutInspector(Word::Deny { reason: String::new() }, Person::named("ann"));
        assert_eq!(recorded(&refused.on(word, view(Taint::Secret, 1), &policy)).answer, Answer::Deny);
    }

    #[test]
    fn a_denial_behind_an_approval_wins_while_nothing_went_out() {
        let policy = Policy::default();
        let at = view(Taint::Both, 2);
        let mut case = case("curl https://x");
        let _ = case.on(opened(), at, &policy);
        let _ = case.on(Event::Held, at, &policy);
        let steps = case.on(Event::Answered(Word::Approve(Scope::Once), Person::named("ann")), at, &policy);
        assert_eq!(recorded(&steps).answer, Answer::Allow);
        let deny = || Event::Answered(Word::Deny { reason: "no".to_owned() }, Person::named("bob"));
        let steps = case.on(deny(), at, &policy);
        assert!(
            matches!(&steps[..], [Step::RecordDenial(verdict)] if verdict.by == By::Human(Person::named("bob"))),
            "{steps:?}"
        );
        assert!(case.on(Event::Recorded, at, &policy).is_empty(), "the approval is on record, the denial is not");
        let steps = case.on(Event::Recorded, at, &policy);
        assert!(matches!(&steps[..], [Step::Release(verdict), Step::Close] if verdict.answer == Answer::Deny));
        assert!(case.on(deny(), at, &policy).is_empty());
    }

    #[test]
    fn a_withdrawn_case_is_recorded_and_not_released() {
        let policy = Policy::default();
        let mut case = case("curl https://x");
        let _ = case.on(opened(), view(Taint::Both, 2), &policy);
        let steps = case.on(Event::Withdrawn, view(Taint::Both, 2), &policy);
        assert_eq!(recorded(&steps).answer, Answer::Deny);
        assert_eq!(case.on(Event::Recorded, view(Taint::Both, 2), &policy), [Step::Close]);
    }
}
