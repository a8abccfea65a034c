//! The command line. `bashgate fleet …` is the same.
//!
//! Exit codes: 0 fine, 1 a failed run, 2 refused, 64 usage.

mod desk;
mod policy;
mod records;
mod telemetry;

use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bashgate_shared::{say, say_aside};
use tokio_postgres::Client;

use crate::HostName;
use crate::database::{Address, DatabaseError};
use crate::desk::DeskError;
use crate::folder::{Folder, FolderError, Settled, TOKEN_HOURS};
use crate::keeping::{self, News};
use crate::membership::{Membership, MembershipError};
use crate::search::Wanted;
use crate::token::{self, Token};
use bashgate::chat::notice::one_line;
use bashgate::cli::{Failure, Run, started};
use bashgate::clock;
use bashgate::config::Config;
use bashgate::registered;
use clap::{Args, Parser, Subcommand};
use desk::{DeskAct, DeskFolder};
use policy::PolicyAct;
use records::{Format, Which};

/// How often it is looked whether a new host has joined.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Parser)]
#[command(
    name = "bashgate-fleet",
    version,
    about = "Many hosts, one record: what a team's hosts record, together in a PostgreSQL database that nobody has to trust"
)]
struct Cli {
    #[command(subcommand)]
    act: Fleet,
}

#[derive(Args, Clone)]
struct ConfigFile {
    /// The host's configuration [default: the one that `bashgate` takes]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    fn load(&self) -> Result<Config, Failure> {
        Ok(Config::find(self.config.as_deref())?)
    }
}

/// The folder of whoever runs a fleet.
#[derive(Args, Clone)]
struct FleetFolder {
    /// The fleet's own folder, with its key [default: ~/.config/bashgate/fleet]
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Fleet {
    /// Make a fleet: its key in a folder here, its tables in a PostgreSQL database
    Init {
        /// The database, as postgres://ROLE@HOST:PORT/DATABASE; the role must be allowed to make roles. Its password: PGPASSWORD
        database: String,
        /// The certificate, in PEM, that the server's is signed by, where the machine does not trust it
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Make a token with which one new host joins, once, within 24 hours
    Enrol {
        /// The host's name in the fleet
        host: String,
        /// It is a desk, which answers for hosts: docs/fleet.md
        #[arg(long)]
        desk: bool,
        /// Where to write the token [default: HOST.token]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// Do not wait until it has joined; `bashgate fleet list` takes it in later
        #[arg(long)]
        no_wait: bool,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// On a new host: join with a token
    Join {
        /// The token's file, or `-` for standard input
        token: PathBuf,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// On a host: send nothing any more. What was sent stays on record
    Leave {
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Keep the fleet: take in who joins, say every minute what counts, verify all records. Desks answer, and policies change, only while
    /// this runs somewhere
    Run {
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Say what counts for a longer time, without anybody who keeps the fleet meanwhile
    Sign {
        /// For how long, as 30s, 30m, 12h or 7d
        #[arg(long, value_name = "TIME")]
        r#for: String,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// The policy that holds on all hosts, besides their own
    Policy {
        #[command(subcommand)]
        act: PolicyAct,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Take in who has joined, and list the hosts: how many records, and when each spoke last
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Find any edit, gap, cut, reordering or addition in the records of all hosts, and who is silent
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Take away old records of all hosts; they are verified first, and up to where they are gone is signed
    Prune {
        /// How long they stay, as 90d or 12h
        #[arg(long, value_name = "TIME")]
        keep: String,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Look through the records of all hosts, the newest first
    Search {
        /// What the command, or the tool and what it was used on, has in it
        text: Option<String>,
        #[command(flatten)]
        wanted: Which,
        /// Somebody's word: a part of their account or name
        #[arg(long, value_name = "NAME")]
        person: Option<String>,
        /// Commands that run this program
        #[arg(long, value_name = "NAME")]
        program: Option<String>,
        /// Commands and connections to this host
        #[arg(long, value_name = "HOST")]
        to: Option<String>,
        /// Most records that are shown
        #[arg(long, default_value_t = 50, value_name = "NUMBER")]
        lines: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Hand on the records of all hosts, the oldest first, a line of JSON each
    Export {
        #[command(flatten)]
        wanted: Which,
        /// In which form
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
        #[command(flatten)]
        folder: FleetFolder,
    },
    /// Show in channels what the hosts of the fleet hold, and bring them what people answer there
    Desk {
        #[command(subcommand)]
        act: Option<DeskAct>,
        #[command(flatten)]
        folder: DeskFolder,
    },
    /// Send what the host with a state folder records, until standard input is closed: `bashgate serve` starts it
    #[command(hide = true)]
    Ship {
        /// The state folder
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
    },
    /// Send what the host with a state folder records as OpenTelemetry has it, until standard input is closed: `bashgate serve` starts it
    #[command(hide = true)]
    Telemetry {
        /// The state folder
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// The collector: OTLP over HTTP
        #[arg(long, value_name = "URL")]
        endpoint: String,
        /// A file with a header in each line
        #[arg(long, value_name = "FILE")]
        headers: Option<PathBuf>,
        /// Send the texts of commands, too
        #[arg(long)]
        commands: bool,
    },
    /// A host belongs to the fleet no more: it is let in no more, and nothing that it says later counts
    Revoke {
        /// Its name
        host: String,
        #[command(flatten)]
        folder: FleetFolder,
    },
}

/// `30s`, `30m`, `12h` or `7d` in milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let unit = |ms: u64| {
        let number = text.get(..text.len().saturating_sub(1))?.parse::<u64>().ok()?;
        Some(number.saturating_mul(ms))
    };
    match text.chars().last() {
        Some('s') => unit(1000),
        Some('m') => unit(60_000),
        Some('h') => unit(3_600_000),
        Some('d') => unit(86_400_000),
        _ => None,
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        Self::of(&error, error.help())
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Self::of(&error, error.help())
    }
}

impl From<MembershipError> for Failure {
    fn from(error: MembershipError) -> Self {
        Self::of(&error, error.help())
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::of(&error, error.help())
    }
}

/// A folder that was named, or the usual one.
fn folder_or(named: Option<&PathBuf>, usual: &str) -> Result<PathBuf, Failure> {
    let own = || registered::folder().map(|folder| folder.join(usual));
    named.cloned().or_else(own).ok_or_else(|| {
        Failure::Usage("there is no home folder (HOME is not set): name one with --folder DIR".to_owned())
    })
}

impl FleetFolder {
    fn path(&self) -> Result<PathBuf, Failure> {
        folder_or(self.folder.as_ref(), "fleet")
    }

    fn open(&self) -> Result<Folder, Failure> {
        Ok(Folder::open(&self.path()?)?)
    }
}

fn host_name(text: &str) -> Result<HostName, Failure> {
    HostName::try_from(text.to_owned()).map_err(|why| Failure::Usage(format!("`{text}` is no name: {why}")))
}

/// The whole command line, for its manual pages.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command line.
pub fn main() -> ExitCode {
    started(|cli: Cli| run(cli.act))
}

fn run(act: Fleet) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(error, "check the machine's limits"))?;
    runtime.block_on(async {
        match act {
            Fleet::Init { database, ca, folder } => init(&database, ca.as_deref(), &folder).await,
            Fleet::Enrol { host, desk, to, no_wait, folder } => enrol(&host, desk, to, no_wait, &folder).await,
            Fleet::Search { text, wanted, person, program, to, lines, json, folder } => {
                let wanted = Wanted { person, program, to, text, ..wanted.wanted()? };
                records::search(&wanted, lines, json, &folder).await
            }
            Fleet::Export { wanted, format, folder } => records::export(&wanted.wanted()?, format, &folder).await,
            Fleet::Desk { act, folder } => {
                let folder = folder_or(folder.folder.as_ref(), "desk")?;
                match act {
                    None => desk::run(&folder).await,
                    Some(DeskAct::Join { token }) => desk::join(&token, &folder).await,
                    Some(DeskAct::Check) => desk::check(&folder),
                    Some(DeskAct::Top { once }) => desk::top(&folder, once),
                    Some(DeskAct::Page { lock, json }) => desk::page(&folder, lock, json),
                }
            }
            Fleet::Run { folder } => keep(&folder).await,
            Fleet::Sign { r#for, folder } => sign(&r#for, &folder).await,
            Fleet::Policy { act, folder } => policy::run(act, &folder).await,
            Fleet::Join { token, config } => join(&token, &config.load()?).await,
            Fleet::Leave { config } => leave(&config.load()?),
            Fleet::List { json, folder } => records::list(json, &folder).await,
            Fleet::Verify { json, folder } => records::check(json, &folder).await,
            Fleet::Telemetry { state, endpoint, headers, commands } => {
                telemetry::run(&state, endpoint, headers.as_deref(), commands).await
            }
            Fleet::Prune { keep, folder } => records::prune(&keep, &folder).await,
            Fleet::Revoke { host, folder } => revoke(&host, &folder).await,
            Fleet::Ship { state } => {
                ship(&state).await;
                Ok(())
            }
        }
    })
}

/// Until whoever has started this is gone, or wants it no more.
async fn ship(state: &Path) {
    let (says, lines) = tokio::sync::mpsc::unbounded_channel();
    let (gone, wait) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if let Ok(line) = serde_json::from_str(&line) {
                let _ = says.send(line);
            }
        }
        drop(gone);
    });
    let asks = async {
        crate::asking::ask(state, lines).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = crate::shipping::ship(state) => {}
        () = asks => {}
        _ = wait => {}
    }
}

async fn init(database: &str, ca: Option<&Path>, folder: &FleetFolder) -> Run {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| {
            Failure::failed(format!("cannot read {}: {error}", path.display()), "check the file's path and mode")
        }
    };
    let ca = ca.map(|path| std::fs::read_to_string(path).map_err(unreadable(path))).transpose()?;
    let (address, login) = Address::parse(database, std::env::var("PGPASSWORD").ok(), ca)?;
    let path = folder.path()?;
    let made = Folder::create(&path, address, login).await?;
    say!("The fleet is made; its key and what is known of its hosts lie in {}.", path.display());
    say!("Keep a copy of that folder away from the database: what the database says is held against it.");
    say!("Its key: {}", made.root());
    say!("Next, for each host: bashgate fleet enrol NAME");
    Ok(())
}

async fn enrol(host: &str, desk: bool, to: Option<PathBuf>, no_wait: bool, folder: &FleetFolder) -> Run {
    let host = host_name(host)?;
    let file = to.unwrap_or_else(|| PathBuf::from(format!("{host}.token")));
    let unwritable = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", file.display()), "name another file with --to FILE")
    };
    let mut open = folder.open()?;
    let client = open.connect().await?;
    // Before there is a token that nobody gets.
    let mut out =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).map_err(unwritable)?;
    let token = match open.enrol(&client, host, desk).await {
        Ok(token) => token,
        Err(error) => {
            let _ = std::fs::remove_file(&file);
            return Err(error.into());
        }
    };
    // Others may work on the folder while this one waits.
    drop(open);
    let text = serde_json::to_string_pretty(&token).unwrap_or_default();
    out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.sync_all()).map_err(unwritable)?;
    let Token { member, .. } = token;
    say!("{}: whoever has it becomes {member}, once, within {TOKEN_HOURS} hours.", file.display());
    let join = if desk { "desk" } else { "fleet" };
    say!("Bring it there, and: bashgate {join} join {}", file.file_name().unwrap_or_default().display());
    if no_wait {
        return Ok(());
    }
    say_aside!("waiting until it has joined; without this command, `bashgate fleet list` takes it in");
    let until = Instant::now() + Duration::from_hours(u64::try_from(TOKEN_HOURS).unwrap_or(1));
    while Instant::now() < until {
        let mut open = folder.open()?;
        let settled = open.settle(&client).await?;
        let others = settled.joined.iter().filter(|other| **other != member).cloned().collect();
        tell(&Settled { joined: others, unproven: settled.unproven.clone() });
        if settled.unproven.contains(&member) {
            return Err(Failure::Refused(format!("somebody without its token has given a key for {member}")));
        }
        if open.hosts().iter().any(|known| known.member == member && known.key.is_some()) {
            let _ = std::fs::remove_file(&file);
            say!("{member} has joined.");
            return Ok(());
        }
        drop(open);
        tokio::time::sleep(LOOK).await;
    }
    Err(Failure::Refused(format!("{member} has not joined, and its token counts no more")))
}

fn tell(settled: &Settled) {
    for member in &settled.joined {
        say_aside!("{member} has joined.");
    }
    for member in &settled.unproven {
        say_aside!(
            "warning: somebody has given a key for {member} without having had its token: look who can write the database, then \
             `bashgate fleet enrol {}` again",
            member.host
        );
    }
}

/// Reads a token.
fn read_token(file: &Path) -> Result<Token, Failure> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(token::MOST).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(token::MOST).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::failed(format!("cannot read {}: {error}", file.display()), "check the path"))?;
    serde_json::from_str(&text).map_err(|_| {
        Failure::failed(
            format!("{} is no token", file.display()),
            "bring the file that `bashgate fleet enrol` has made, whole",
        )
    })
}

/// Ends when somebody stops the program.
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .map_err(|error| Failure::failed(error, "check the machine's limits"))?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    })
}

async fn keep(folder: &FleetFolder) -> Run {
    let news = |news| match news {
        News::Kept => say!("The fleet is kept: what counts in it is said every minute."),
        News::Settled(settled) => tell(&settled),
        News::Verified(findings) if findings.is_empty() => {
            say!("Nothing is changed, missing, moved or added any more.");
        }
        News::Verified(findings) => {
            for finding in findings {
                say!("WRONG: {}", one_line(&finding.to_string(), records::MOST_FINDING));
            }
        }
        News::Trouble(error) => say_aside!("{error}; trying again"),
    };
    keeping::keep(folder.path()?, news, stopped()?).await?;
    Ok(())
}

/// For how long what counts may be signed by hand.
const LONGEST: Duration = Duration::from_hours(30 * 24);

async fn sign(long: &str, folder: &FleetFolder) -> Run {
    let unknown = || Failure::Usage(format!("`{long}` is no length of time: say 30s, 30m, 12h or 7d"));
    let long = Duration::from_millis(milliseconds(long).ok_or_else(unknown)?);
    if long > LONGEST {
        return Err(Failure::Usage(format!(
            "{} days at most: for so long a revocation can be held back",
            LONGEST.as_secs() / 86_400
        )));
    }
    let (mut folder, client) = settled(folder).await?;
    let roll = folder.sign_for(&client, long).await?;
    say!("What counts in the fleet now counts until {}.", clock::date(roll.until_ms));
    Ok(())
}

async fn join(file: &Path, config: &Config) -> Run {
    let token = read_token(file)?;
    if token.desk {
        return Err(Failure::Refused(format!("{} is a desk's token; there: bashgate desk join", file.display())));
    }
    let mut membership = Membership::begin(&config.state, token)?;
    membership.complete(&config.state).await?;
    say!("This host is {} of the fleet. What it recorded and records goes there from now on.", membership.member);
    say!("See how that stands with: bashgate status");
    if file != Path::new("-") {
        say_aside!("the token is used up: {} can go", file.display());
    }
    Ok(())
}

fn leave(config: &Config) -> Run {
    let known = Membership::load(&config.state);
    Membership::leave(&config.state)?;
    match known {
        Ok(None) => say!("This host belongs to no fleet."),
        Ok(Some(membership)) => {
            say!(
                "Nothing of this host goes to the fleet any more. Where the fleet is run: bashgate fleet revoke {}",
                membership.member.host
            );
        }
        Err(_) => say!("Nothing of this host goes to the fleet any more."),
    }
    Ok(())
}

/// Opens the folder, and takes in who has joined: that is said beside what the command is for.
async fn settled(folder: &FleetFolder) -> Result<(Folder, Client), Failure> {
    let mut folder = folder.open()?;
    let client = folder.connect().await?;
    tell(&folder.settle(&client).await?);
    Ok((folder, client))
}

async fn revoke(host: &str, folder: &FleetFolder) -> Run {
    let host = host_name(host)?;
    let mut folder = folder.open()?;
    let client = folder.connect().await?;
    let member = folder.revoke(&client, &host).await?;
    say!("{member} belongs to the fleet no more. What it had sent stays on record.");
    Ok(())
}
