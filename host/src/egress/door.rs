//! Who may go where, and how much: the rules of one workspace's way out.

use std::collections::BTreeSet;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bashgate_shared::protocol::WorkspaceName;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};

use super::addresses::may_reach;
use super::answers::{Answer, Answers};
use super::hosts::{Entry, Host, allow, names};
use super::model::Model;
use super::{Closed, Settings};
use crate::allowance::Allowance;
use crate::daemon::Event;
use crate::held::held;

/// Most connections of one workspace at once; more wait to be taken.
const CONNECTIONS: usize = 1024;
/// Most names of one workspace, and of all, that are looked up at once.
const LOOKUPS: usize = 8;
/// Most MiB of questions to models of one workspace that have no answer yet; each counts as one at least.
const QUESTIONS: usize = 64;
/// Most questions of one workspace that are read at once; of all, twice as many.
pub(super) const READING: usize = 2;
static ALL_LOOKUPS: Semaphore = Semaphore::const_new(64);
/// How long resolving and connecting may take.
const CONNECTING: Duration = Duration::from_secs(15);
/// Most records of one workspace in a minute; of what is beyond only the number and the sum are told.
const RECORDS_A_MINUTE: u64 = 120;
/// Most names below those of the list that a workspace may ask for anew in an hour: whoever has one looked up tells it to whoever answers for
/// it, and a name has room for 150 bytes.
const NAMES_AN_HOUR: u64 = 300;
/// Longest text of a host on record, in characters.
const MAX_WRITTEN: usize = 300;

/// Why a connection is refused, in words for whoever asked for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// It names no host.
    #[error("`{0}` is no name of a host")]
    NoHost(String),
    /// The list does not have it.
    #[error(
        "{host}:{port} is not on this workspace's list; the operator can add it: `egress = [\"{host}{more}\"]` under [workspaces.{workspace}] in bashgate.toml",
        more = if matches!(port, 80 | 443) { String::new() } else { format!(":{port}") }
    )]
    NotListed { host: Host, port: u16, workspace: WorkspaceName },
    /// The command was not allowed with it.
    #[error(
        "{host}:{port} is no host of this command, which was let go to {hosts} and nowhere else; `# bashgate: network` on its first line asks a person"
    )]
    NotOfAnswer { host: Host, port: u16, hosts: String },
    /// Inside of a tunnel to the port of plain HTTP any host of that address could be named.
    #[error("plain HTTP to port 80 goes as a request to the proxy, not through CONNECT or SOCKS")]
    PlainTunnel,
    /// Nobody knows the name.
    #[error("{0} cannot be resolved")]
    Unresolved(Host),
    /// Names are not there to say something with.
    #[error(
        "this workspace has asked for more than {NAMES_AN_HOUR} names below those of its list in an hour; the operator can list {0} itself"
    )]
    TooManyNames(Host),
    /// It lies where nobody outside should lead.
    #[error("{0} is at {1}, which is no public address; the operator can allow it under `egress.private`")]
    Private(Host, std::net::IpAddr),
    /// Nobody answers there.
    #[error("{0} does not answer: {1}")]
    Unreached(Host, String),
    /// The command has used up what it may.
    #[error("this command has {0} as many bytes as it may; `# bashgate: network` on its first line asks a person")]
    BudgetOfAnswer(&'static str),
    /// The hour's budget is used up.
    #[error("this workspace has {0} as many bytes as it may in an hour (`egress.{1}_mib_per_hour`)")]
    Budget(&'static str, &'static str),
}

/// A direction: to the host, or from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}

/// What has no record of its own.
#[derive(Debug, Clone, Copy, Default)]
struct Beyond {
    count: u64,
    bytes: [u64; 2],
}

/// The rules of one workspace, and what it has used up.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) workspace: WorkspaceName,
    hosts: Vec<Entry>,
    settings: Arc<Settings>,
    events: mpsc::UnboundedSender<Event>,
    pub(super) seats: Arc<Semaphore>,
    budget: Arc<Mutex<[Allowance; 2]>>,
    /// What went through, and what was refused: neither crowds out the other.
    records: Arc<Mutex<[(Allowance, Beyond); 2]>>,
    lookups: Arc<Semaphore>,
    /// Names below those of the list, and how many more may be asked for.
    names: Arc<Mutex<(Allowance, BTreeSet<String>)>>,
    /// MiB of questions to models that have no answer yet.
    pub(super) questions: Arc<Semaphore>,
    /// Questions that are read at once.
    pub(super) reading: Arc<Semaphore>,
    /// Closed when nothing may go through any more.
    ends: Arc<Semaphore>,
    /// What goes with answers of this workspace.
    pub(super) answers: Answers,
    /// Asks models.
    pub(super) client: reqwest::Client,
    /// The answer by which it is open; else the list counts.
    answer: Option<Arc<Answer>>,
}

/// What somebody wrote, for people: short, and without what a terminal would obey.
fn shown(written: &str) -> String {
    written.chars().take(MAX_WRITTEN).flat_map(char::escape_default).collect()
}

impl Door {
    pub(super) fn new(
        workspace: WorkspaceName,
        hosts: Vec<Entry>,
        (settings, seats): (Arc<Settings>, usize),
        (events, answers, client): (mpsc::UnboundedSender<Event>, Answers, reqwest::Client),
    ) -> Self {
        let hour = |bytes: u64| Allowance::new(bytes, Duration::from_hours(1));
        let budget = Arc::new(Mutex::new([hour(settings.up_bytes_per_hour), hour(settings.down_bytes_per_hour)]));
        let a_minute = || (Allowance::new(RECORDS_A_MINUTE, Duration::from_mins(1)), Beyond::default());
        let records = Arc::new(Mutex::new([a_minute(), a_minute()]));
        let (seats, lookups) = (Arc::new(Semaphore::new(CONNECTIONS.min(seats))), Arc::new(Semaphore::new(LOOKUPS)));
        let (questions, reading) = (Arc::new(Semaphore::new(QUESTIONS)), Arc::new(Semaphore::new(READING)));
        let ends = Arc::new(Semaphore::new(0));
        Self {
            workspace,
            hosts,
            settings,
            events,
            seats,
            budget,
            records,
            lookups,
            names: Arc::new(Mutex::new((hour(NAMES_AN_HOUR), BTreeSet::new()))),
            questions,
            reading,
            ends,
            answers,
            client,
            answer: None,
        }
    }

    /// The same as it is open to the run of an answer: to the hosts of that answer alone, with a budget of its own within the workspace's.
    pub(super) fn of_answer(&self, answer: Arc<Answer>) -> Self {
        Self { hosts: Vec::new(), answer: Some(answer), ..self.clone() }
    }

    /// The models that may be asked: none by a run, which has its own hosts alone.
    pub(super) fn models(&self) -> &[Model] {
        if self.answer.is_some() { &[] } else { &self.settings.models }
    }

    /// Nothing goes through any more, also of what is open.
    pub(super) fn shut(&self) {
        self.seats.close();
        self.ends.close();
        self.answers.end_all(&self.workspace);
    }

    /// Ends when it is shut.
    pub(super) async fn is_shut(&self) {
        // There is never a permit.
        match &self.answer {
            None => drop(self.ends.acquire().await),
            Some(answer) => tokio::select! {
                _ = self.ends.acquire() => {}
                () = answer.ends() => {}
            },
        }
    }

    /// The host that a text names, where the list has it.
    pub(super) fn host(&self, written: &str, port: u16) -> Result<Host, Refusal> {
        let host = Host::parse(written).ok_or_else(|| Refusal::NoHost(shown(written)))?;
        if let Some(answer) = &self.answer {
            let is_its = answer.allows(&host, port);
            return if is_its {
                Ok(host)
            } else {
                Err(Refusal::NotOfAnswer { host, port, hosts: answer.hosts().join(", ") })
            };
        }
        if allow(&self.hosts, &host, port) {
            Ok(host)
        } else {
            Err(Refusal::NotListed { host, port, workspace: self.workspace.clone() })
        }
    }

    /// A refusal where nothing is left of the hour's budget, in either direction.
    pub(super) fn has_budget(&self) -> Result<(), Refusal> {
        let is_used_up = |at: usize| held(&self.budget).get(at).is_some_and(|left| !left.has_some());
        match [Way::Up, Way::Down].into_iter().enumerate().find(|(at, _)| is_used_up(*at)) {
            Some((_, way)) => Err(self.used_up(way)),
            None => Ok(()),
        }
    }

    /// Connects to a host of the list. Its name is resolved once, and all that it means is looked at first.
    pub(super) async fn connect(&self, host: &Host, port: u16) -> Result<(TcpStream, SocketAddr), Refusal> {
        self.has_budget()?;
        let reach = async {
            let addresses: Vec<SocketAddr> = match host {
                // Whoever lists an address has named it.
                Host::Address(address) => vec![SocketAddr::new(*address, port)],
                Host::Name(name) => {
                    if !self.may_ask_for(name, names(&self.hosts, host)) {
                        return Err(Refusal::TooManyNames(host.clone()));
                    }
                    let found = self.looked_up(name.clone(), port).await;
                    let found = found.ok_or_else(|| Refusal::Unresolved(host.clone()))?;
                    if let Some(private) = found.iter().find(|one| !may_reach(one.ip(), &self.settings.private)) {
                        return Err(Refusal::Private(host.clone(), private.ip()));
                    }
                    found
                }
            };
            let mut last = "it has no address".to_owned();
            for address in addresses {
                match TcpStream::connect(address).await {
                    Ok(stream) => {
                        let _ = stream.set_nodelay(true);
                        return Ok((stream, address));
                    }
                    Err(error) => last = error.kind().to_string(),
                }
            }
            Err(Refusal::Unreached(host.clone(), last))
        };
        let late = |_| Err(Refusal::Unreached(host.clone(), format!("not within {} s", CONNECTING.as_secs())));
        tokio::time::timeout(CONNECTING, reach).await.unwrap_or_else(late)
    }

    /// Counts a name that the list has not got itself, and says whether it may be asked for.
    fn may_ask_for(&self, name: &str, is_listed: bool) -> bool {
        // Those of an answer stand in the text that was decided.
        if is_listed || self.answer.is_some() {
            return true;
        }
        let mut asked = held(&self.names);
        let (left, known) = &mut *asked;
        if known.contains(name) {
            return true;
        }
        // Known ones are forgotten now and then, and count anew.
        if known.len() as u64 >= 4 * NAMES_AN_HOUR {
            known.clear();
        }
        left.take(1) && known.insert(name.to_owned())
    }

    /// What a name means. A look that nobody waits for any more goes on until it ends, and takes its place until then: whoever asks for
    /// names that nobody answers for keeps neither others from theirs nor the host from its work.
    async fn looked_up(&self, name: String, port: u16) -> Option<Vec<SocketAddr>> {
        let own = self.lookups.clone().acquire_owned().await.ok()?;
        let all = ALL_LOOKUPS.acquire().await.ok()?;
        let look = move || {
            let found = (name.as_str(), port).to_socket_addrs().ok().map(Iterator::collect);
            drop((own, all));
            found
        };
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }

    /// The refusal where a budget is used up.
    pub(super) fn used_up(&self, way: Way) -> Refusal {
        let (done, key) = match way {
            Way::Up => ("sent", "up"),
            Way::Down => ("received", "down"),
        };
        let at = usize::from(way == Way::Down);
        match &self.answer {
            Some(answer) if answer.has_none(at) => Refusal::BudgetOfAnswer(done),
            _ => Refusal::Budget(done, key),
        }
    }

    /// Takes so many bytes off the hour's budget, or as many as are left: how many that were. What is not enough is used up.
    pub(super) fn take(&self, way: Way, bytes: usize) -> usize {
        let at = usize::from(way == Way::Down);
        let bytes = self.answer.as_ref().map_or(bytes, |answer| answer.take(at, bytes));
        let mut budget = held(&self.budget);
        let [up, down] = &mut *budget;
        if way == Way::Up { up.take_up_to(bytes) } else { down.take_up_to(bytes) }
    }

    /// Gives back what was taken and not sent.
    pub(super) fn give_back(&self, way: Way, bytes: usize) {
        if let Some(answer) = &self.answer {
            answer.give_back(usize::from(way == Way::Down), bytes);
        }
        let mut budget = held(&self.budget);
        let [up, down] = &mut *budget;
        if way == Way::Up { up.give_back(bytes) } else { down.give_back(bytes) }
    }

    /// Puts what became of a connection on record.
    pub(super) fn tell(&self, mut closed: Closed) {
        let mut records = held(&self.records);
        let [through, refused] = &mut *records;
        let (left, dropped) = if closed.address.is_some() { through } else { refused };
        closed.is_recorded = left.take(1);
        if !closed.is_recorded {
            dropped.count += 1;
            for (sum, bytes) in dropped.bytes.iter_mut().zip(closed.bytes) {
                *sum = sum.saturating_add(bytes);
            }
        }
        let Beyond { count, bytes: [up, down] } =
            if closed.is_recorded { std::mem::take(dropped) } else { Beyond::default() };
        if count > 0 {
            let said = closed.why.take().map(|why| format!("{why}; ")).unwrap_or_default();
            closed.why = Some(format!(
                "{said}{count} before it, {up} bytes up and {down} down in all, are not on record: they were more than {RECORDS_A_MINUTE} a minute"
            ));
        }
        drop(records);
        // The host is shutting down where nobody hears it.
        let _ = self.events.send(Event::WentOut(Box::new(closed)));
    }
}

/// What is known of one connection while it goes on, for the record.
pub(super) struct Passage {
    pub(super) door: Arc<Door>,
    began: Instant,
    closed: Closed,
}

impl Passage {
    pub(super) fn new(door: Arc<Door>, written: &str, port: u16, peer: Option<(i32, u32)>) -> Self {
        let (host, workspace) = (shown(written), door.workspace.clone());
        let (bytes, took) = ([0; 2], Duration::ZERO);
        let answer = door.answer.as_ref().map(|answer| answer.id.clone());
        let closed =
            Closed { workspace, host, port, address: None, bytes, took, why: None, peer, is_recorded: true, answer };
        Self { door, began: Instant::now(), closed }
    }

    pub(super) fn goes_to(&mut self, host: &Host, address: SocketAddr) {
        self.closed.host = host.to_string();
        self.closed.address = Some(address);
    }

    pub(super) fn went(&mut self, bytes: [u64; 2]) {
        self.closed.bytes = bytes;
    }

    /// Why it was refused or cut: the first word counts.
    pub(super) fn because(&mut self, why: impl std::fmt::Display) {
        let short = |why: String| why.chars().take(MAX_WRITTEN).map(|c| if c.is_control() { '?' } else { c }).collect();
        self.closed.why.get_or_insert_with(|| short(why.to_string()));
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if self.closed.address.is_none() {
            self.because("the client went away");
        }
        self.closed.took = self.began.elapsed();
        if let (Some(answer), Some(why)) = (&self.door.answer, &self.closed.why) {
            answer.tell(why);
        }
        self.door.tell(self.closed.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_below_those_of_the_list_say_little() {
        let (events, _heard) = mpsc::unbounded_channel();
        let settings = Settings {
            folder: std::path::PathBuf::new(),
            hosts: Vec::new(),
            private: Vec::new(),
            up_bytes_per_hour: 1 << 20,
            down_bytes_per_hour: 1 << 20,
            models: Vec::new(),
        };
        let hosts: Vec<Entry> =
            ["*.wild.example", "one.wild.example"].map(|text| Entry::try_from(text.to_owned()).unwrap()).into();
        let client = crate::outgoing::client_apart().unwrap();
        let workspace = WorkspaceName::parse("w").unwrap();
        let door = Door::new(workspace, hosts, (Arc::new(settings), 1), (events, Answers::default(), client));
        let may = |name: &str| {
            let host = door.host(name, 443).unwrap();
            door.may_ask_for(name, names(&door.hosts, &host))
        };
        for n in 0..NAMES_AN_HOUR {
            assert!(may(&format!("n{n}.wild.example")), "{n}");
        }
        assert!(!may("more.wild.example"));
        // What was asked for already, and what the list names itself, says nothing new.
        assert!(may("n7.wild.example") && may("one.wild.example"));
    }
}
