//! The fleet that a host may belong to: what many hosts record, in one place.
//!
//! What knows PostgreSQL is another program, `bashgate-fleet`. The host starts it where it belongs to a fleet, hears how it stands, and
//! waits for nothing: whatever a database does to that program, nothing of it decides.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::held::held;

/// The program.
pub const PROGRAM: &str = "bashgate-fleet";
/// How long is waited before it is started again.
const AGAIN: Duration = Duration::from_secs(2);

/// The program, where it lies beside this one; else by its name.
pub fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PROGRAM.into())
}

/// The file in a state folder that says to which fleet the host belongs.
pub fn membership_file(state: &Path) -> PathBuf {
    state.join("fleet.json")
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
}

impl Standing {
    /// In a line.
    pub fn words(&self) -> String {
        let member = self.member.as_deref().unwrap_or("this host");
        let sent = self.sent.map_or_else(|| "nothing sent yet".to_owned(), |sent| format!("has records up to {sent}"));
        match &self.trouble {
            None => format!("fleet: {member}, {sent}"),
            Some(trouble) => format!("fleet: {member}, {sent}; NOTHING GOES THERE NOW: {trouble}"),
        }
    }
}

/// What sends the record of a running host.
pub struct Shipper {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    standing: Mutex<Standing>,
    /// Nobody wants it any more, or the end of a pipe that the program reads: it ends when that is closed.
    keeps: Mutex<Keeps>,
}

#[derive(Default)]
enum Keeps {
    #[default]
    Nothing,
    Program(#[expect(dead_code, reason = "it is held open")] ChildStdin),
    Ended,
}

impl Shipper {
    /// Starts it for the host with this state folder.
    pub fn start(state: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
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
}

impl Drop for Shipper {
    fn drop(&mut self) {
        *held(&self.shared.keeps) = Keeps::Ended;
    }
}

impl Shared {
    /// Runs the program until it ends: whether it is to be started again.
    fn runs(&self, state: &Path) -> bool {
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
        {
            let mut keeps = held(&self.keeps);
            match (&*keeps, child.stdin.take()) {
                (Keeps::Ended, _) | (_, None) => {}
                (_, Some(stdin)) => *keeps = Keeps::Program(stdin),
            }
        }
        if let Some(said) = child.stdout.take() {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                if let Ok(standing) = serde_json::from_str(&line) {
                    *held(&self.standing) = standing;
                }
            }
        }
        let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        self.fails(format!("{PROGRAM} has ended ({ended}), and is started again"))
    }

    fn fails(&self, why: String) -> bool {
        if matches!(*held(&self.keeps), Keeps::Ended) {
            return false;
        }
        tracing::warn!(why, "nothing goes to the fleet's database");
        held(&self.standing).trouble = Some(why);
        true
    }
}
