//! The fleet that a host may belong to: what many hosts record, in one place.
//!
//! What knows PostgreSQL is another program, `bashgate-fleet`. The host starts it where it belongs to a fleet, hears how it stands, and
//! waits for nothing: whatever a database does to that program, nothing of it decides.

pub mod bundle;
pub mod member;
pub mod roll;
pub mod signed;
pub mod tells;
pub mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::held::held;
use member::MemberId;
use tells::Told;
use wire::{FromFleet, Shown, ToFleet};

/// The program.
pub const PROGRAM: &str = "bashgate-fleet";
/// How long is waited before it is started again.
const AGAIN: Duration = Duration::from_secs(2);
/// Most replies that wait for the program: whoever asked for more asks again.
const REPLIES: usize = 1024;

/// The program, where it lies beside this one; else by its name.
pub fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PROGRAM.into())
}

/// The file in a state folder that says to which fleet the host belongs.
pub fn membership_file(state: &Path) -> PathBuf {
    state.join("fleet.json")
}

/// What a host keeps in its state folder of what its fleet has said, for the next start.
pub(crate) fn kept(state: &Path) -> Kept {
    Kept {
        roll: state.join("fleet-roll.json"),
        policy: state.join("fleet-policy.json"),
        heard: state.join("fleet-heard.json"),
    }
}

/// See [`kept`].
pub(crate) struct Kept {
    /// What counts.
    pub(crate) roll: PathBuf,
    /// The policy that is in force.
    pub(crate) policy: PathBuf,
    /// What others have said last.
    pub(crate) heard: PathBuf,
}

/// Forgets what a host keeps of a fleet.
pub fn forget(state: &Path) -> io::Result<()> {
    let Kept { roll, policy, heard } = kept(state);
    [roll, policy, heard].iter().try_for_each(|path| crate::state::remove(path))
}

/// True for a host that belongs to a fleet, or is about to join one.
pub fn is_member(state: &Path) -> bool {
    membership_file(state).exists()
}

/// How a host stands with its fleet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Which host of the fleet this is.
    pub member: Option<String>,
    /// The last record that the database has.
    pub sent: Option<u64>,
    /// What keeps more from being sent.
    pub trouble: Option<String>,
    /// What keeps desks from answering, where they may answer for this host.
    #[serde(default)]
    pub desks: Option<String>,
    /// Which of the fleet's policies is in force, and what keeps another one from it. The host says this itself.
    #[serde(default)]
    pub policy: Option<String>,
}

impl Standing {
    /// In a line.
    pub fn words(&self) -> String {
        let member = self.member.as_deref().unwrap_or("this host");
        let sent = self.sent.map_or_else(|| "nothing sent yet".to_owned(), |sent| format!("has records up to {sent}"));
        let desks = self.desks.as_ref().map(|why| format!("; NO DESK ANSWERS NOW: {why}")).unwrap_or_default();
        let policy = self.policy.as_ref().map(|policy| format!("; {policy}")).unwrap_or_default();
        match &self.trouble {
            None => format!("fleet: {member}, {sent}{policy}{desks}"),
            Some(trouble) => format!("fleet: {member}, {sent}{policy}; NOTHING GOES THERE NOW: {trouble}{desks}"),
        }
    }
}

/// Takes what is for the host to hear.
pub type Hears = Arc<dyn Fn(FromFleet) + Send + Sync>;

/// What sends the record of a running host, and brings cards to desks and their words back.
pub struct Shipper {
    shared: Arc<Shared>,
}

struct Shared {
    standing: Mutex<Standing>,
    hears: Hears,
    outgoing: Mutex<Outgoing>,
    changed: Condvar,
}

/// What is to be said to the program. Of a card only the newest state waits.
#[derive(Default)]
struct Outgoing {
    /// Nobody wants the program any more.
    is_ended: bool,
    /// Which start of the program this is: an earlier one is told nothing more.
    run: u64,
    /// Desks may answer.
    has_desks: bool,
    /// Grows with each card.
    version: u64,
    cards: BTreeMap<String, (u64, Shown)>,
    replies: VecDeque<ToFleet>,
    /// What the host tells the others, and when that changed last.
    tells: Option<(u64, Told, Vec<MemberId>)>,
    /// The next roll is to come with all that it names.
    wants_whole: bool,
}

impl Shipper {
    /// Starts it for the host with this state folder.
    pub fn start(state: &Path, hears: Hears) -> io::Result<Self> {
        let (standing, outgoing, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { standing, hears, outgoing, changed });
        let (state, here) = (state.to_owned(), shared.clone());
        std::thread::Builder::new().name("fleet".to_owned()).spawn(move || {
            while here.runs(&state) {
                std::thread::sleep(AGAIN);
            }
        })?;
        Ok(Self { shared })
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        held(&self.shared.standing).clone()
    }

    /// Desks may answer for this host.
    pub fn has_desks(&self) {
        self.shared.change(|outgoing| outgoing.has_desks = true);
    }

    /// Shows a card to desks, as it stands now.
    pub fn shows(&self, card: Shown) {
        self.shared.change(|outgoing| {
            outgoing.version += 1;
            outgoing.cards.insert(card.id.clone(), (outgoing.version, card));
        });
    }

    /// Tells the others of the fleet how it stands here, and hears these of them.
    pub fn tells(&self, what: Told, hears: Vec<MemberId>) {
        let is_known = |outgoing: &Outgoing| {
            outgoing.tells.as_ref().is_some_and(|(_, known, heard)| *known == what && *heard == hears)
        };
        if is_known(&held(&self.shared.outgoing)) {
            return;
        }
        self.shared.change(|outgoing| {
            outgoing.version += 1;
            outgoing.tells = Some((outgoing.version, what, hears));
        });
    }

    /// What was brought of the roll was refused.
    pub fn wants_whole(&self) {
        self.shared.change(|outgoing| outgoing.wants_whole = true);
    }

    /// What replies to words of desks, also from elsewhere.
    pub fn replies(&self) -> impl Fn(ToFleet) + Send + use<> {
        let shared = self.shared.clone();
        move |reply| {
            shared.change(|outgoing| {
                if outgoing.replies.len() < REPLIES {
                    outgoing.replies.push_back(reply);
                }
            });
        }
    }
}

impl Drop for Shipper {
    fn drop(&mut self) {
        self.shared.change(|outgoing| outgoing.is_ended = true);
    }
}

/// Longest line that the program says, in bytes: a roll with the longest list of members and policy, as text in text.
const LONGEST: u64 = 32 << 20;

/// The next line; `None` at the end, and where one is too long.
fn line_of(said: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    said.take(LONGEST).read_line(&mut line).ok().filter(|read| *read > 0)?;
    line.ends_with('\n').then_some(line)
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Outgoing)) {
        change(&mut held(&self.outgoing));
        self.changed.notify_all();
    }

    /// Says what there is to say, and closes the pipe when nobody wants the program any more: it ends then.
    fn writes(&self, run: u64, mut stdin: ChildStdin) {
        let (mut has_begun, mut written, mut told) = (false, 0, 0);
        loop {
            let mut lines = Vec::new();
            {
                let mut outgoing = held(&self.outgoing);
                loop {
                    if outgoing.is_ended || outgoing.run != run {
                        return;
                    }
                    if outgoing.has_desks && !has_begun {
                        has_begun = true;
                        lines.push(ToFleet::Begin);
                    }
                    if std::mem::take(&mut outgoing.wants_whole) {
                        lines.push(ToFleet::Whole);
                    }
                    if let Some((version, what, hears)) =
                        outgoing.tells.as_ref().filter(|(version, ..)| *version > told)
                    {
                        told = *version;
                        lines.push(ToFleet::Tells { what: what.clone(), hears: hears.clone() });
                    }
                    if has_begun {
                        let new = outgoing.cards.values().filter(|(version, _)| *version > written);
                        lines.extend(new.map(|(_, card)| ToFleet::Card(card.clone())));
                        written = outgoing.version;
                        // What is over is said once.
                        outgoing.cards.retain(|_, (_, card)| card.over.is_none());
                        lines.extend(outgoing.replies.drain(..));
                    }
                    if !lines.is_empty() {
                        break;
                    }
                    outgoing = self.changed.wait(outgoing).unwrap_or_else(PoisonError::into_inner);
                }
            }
            for line in lines {
                let text = serde_json::to_string(&line).unwrap_or_default();
                if writeln!(stdin, "{text}").is_err() {
                    return;
                }
            }
        }
    }

    /// Runs the program until it ends: whether it is to be started again.
    fn runs(self: &Arc<Self>, state: &Path) -> bool {
        let mut command = Command::new(program());
        command
            .arg("ship")
            .arg("--state")
            .arg(state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return self.fails(format!("{PROGRAM} cannot be started: {error}")),
        };
        if let Some(stdin) = child.stdin.take() {
            let mut run = 0;
            self.change(|outgoing| {
                outgoing.run += 1;
                run = outgoing.run;
            });
            let here = self.clone();
            // Without a thread nothing keeps the pipe open, and the program ends.
            let _ = std::thread::Builder::new().name("fleet-out".to_owned()).spawn(move || here.writes(run, stdin));
        }
        if let Some(said) = child.stdout.take() {
            let mut said = BufReader::new(said);
            while let Some(line) = line_of(&mut said) {
                match serde_json::from_str(&line) {
                    Ok(FromFleet::Standing(standing)) => {
                        let mut known = held(&self.standing);
                        *known = Standing { desks: known.desks.take(), ..standing };
                    }
                    Ok(FromFleet::Desks(trouble)) => held(&self.standing).desks = trouble,
                    Ok(said) => (self.hears)(said),
                    Err(error) => tracing::warn!(%error, "{PROGRAM} said what cannot be read"),
                }
            }
        }
        // One that says more than it can have to say is ended.
        let _ = child.kill();
        let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        self.fails(format!("{PROGRAM} has ended ({ended}), and is started again"))
    }

    fn fails(&self, why: String) -> bool {
        if held(&self.outgoing).is_ended {
            return false;
        }
        tracing::warn!(why, "nothing goes to the fleet's database");
        held(&self.standing).trouble = Some(why);
        true
    }
}
