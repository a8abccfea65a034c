//! The command line. Results go to standard output, everything else to standard error.
//!
//! Exit codes: 0 fine, 1 a failed run, 2 denied or refused, 64 usage.

mod audit;
mod backup;
mod chat;
mod demo;
mod doctor;
mod failure;
mod init;
mod inspector;
mod judge;
mod key;
mod people;
mod replay;
mod rule;
mod serve;
pub use audit::words as words_of_record;
pub use serve::log;
mod suggest;
pub mod top;
pub use people::page;
mod up;
mod why;

use std::path::PathBuf;
use std::process::ExitCode;

use bashgate_shared::say;
use clap::{Args, Parser, Subcommand};

pub use failure::{Failure, Run};

use crate::config::Config;

#[derive(Parser)]
#[command(
    name = "bashgate",
    version,
    about = "Stands between an AI agent's decision to run a shell command and the shell"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Args, Clone)]
struct ConfigFile {
    /// The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Try it: the real host and hook on a scripted agent, approvals in this terminal
    Demo {
        /// Approve the held command itself, and end
        #[arg(long)]
        exit: bool,
    },
    /// Make everything for one workspace `default`, ready to run; never overwrites
    Init {
        /// Where
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Start an agent in a gated container, with everything that it needs; finds or makes gate, host and workspace
    Up(up::Up),
    /// Stop a project's container, and say what came or changed in the project that acts later
    Down(up::Down),
    /// Run the sidecar
    Serve(ConfigFile),
    /// Say what a command is: safe, network or unknown
    Classify {
        #[command(flatten)]
        input: judge::Input,
    },
    /// Explain a command: as bash reads it, each part with its rule
    Why {
        /// The command, as one argument
        command: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        programs: judge::Programs,
    },
    /// Dry-run the whole decision with the offline inspector; nothing is recorded
    Decide {
        /// What the agent has seen: clean, corruption, secret or both
        #[arg(long, default_value = "clean")]
        taint: String,
        #[command(flatten)]
        with: judge::With,
        #[command(flatten)]
        input: judge::Input,
    },
    /// Draft rows and rules against questions, from the audit or from commands on standard input
    Suggest {
        #[command(flatten)]
        input: suggest::Input,
    },
    /// Draft a rule for the future from a held command, and show what else on record it would have let through
    Rule {
        #[command(flatten)]
        input: rule::Input,
    },
    /// List what is held for a person
    Pending {
        /// Denials by the inspector that can still be overruled
        #[arg(long)]
        denied: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Show everything about a held command
    Show {
        /// Its id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Let a held command run
    Approve {
        /// Its id
        id: String,
        /// `session`: until the taint changes; `grant [MINUTES]`: others of its kind, too; where that is offered
        scope: Vec<String>,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Do not let a held command run; `deny all` or `deny all in WORKSPACE` ends everything that is held
    Deny {
        /// Its id, or `all`
        id: String,
        /// Why, for the agent
        reason: Vec<String>,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// How everything stands: host, inspector, workspaces, what is let through ahead, channels
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// How everything stands at a glance, live: workspaces, what is held, what was decided last
    Top {
        /// Print it once
        #[arg(long)]
        once: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// What is being decided now: what waits for the inspector or for a person
    Tasks {
        #[command(flatten)]
        config: ConfigFile,
    },
    /// What is let through ahead: grants and break-glass; `bashgate deny ID` ends one
    Grants {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// One-time codes, for answers in channels and for grants on the page
    Codes {
        #[command(subcommand)]
        act: Codes,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Channels to people
    Chat {
        #[command(subcommand)]
        act: chat::Chat,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Print a link to the web page, which works once
    Page {
        /// End all its sessions instead
        #[arg(long)]
        lock: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// What a workspace's agent has seen
    Taint {
        #[command(subcommand)]
        act: Taint,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Workspaces: one for each agent
    Workspace {
        #[command(subcommand)]
        act: Workspace,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Managed scripts that people approved
    Scripts {
        #[command(subcommand)]
        act: Scripts,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// The key with which answers are signed
    Key {
        #[command(subcommand)]
        act: KeyAct,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// The record of every decision
    Audit {
        #[command(subcommand)]
        act: Audit,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// What went out of containers that have no network of their own
    Egress {
        #[command(subcommand)]
        act: Egress,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Many hosts, one record, in a PostgreSQL database that nobody has to trust: starts `bashgate-fleet`
    #[command(disable_help_flag = true)]
    Fleet {
        /// What `bashgate-fleet` takes; `bashgate fleet --help` says what that is
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
    /// Answer for the hosts of a fleet through channels of one's own: starts `bashgate-fleet desk`
    #[command(disable_help_flag = true)]
    Desk {
        /// What `bashgate-fleet desk` takes; `bashgate desk --help` says what that is
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
    /// Measure the inspector on commands of your own
    Inspector {
        #[command(subcommand)]
        act: inspector::Inspect,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Copy store and signing key into a new folder, also while the host runs
    Backup {
        /// The folder to make; it can be used as `state`
        to: PathBuf,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// Look for what would keep the host from working: files, store, mailboxes, inspector, clock
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigFile,
    },
    /// The configuration
    Config {
        #[command(subcommand)]
        act: ConfigAct,
        #[command(flatten)]
        config: ConfigFile,
    },
}

#[derive(Subcommand)]
enum Taint {
    /// Show a workspace's taint and where it came from
    Show {
        /// Its name
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Raise a taint; repeating it is fine
    Raise {
        /// Its name
        workspace: String,
        /// corruption or secret
        label: String,
        /// Why, for the record
        #[arg(long)]
        why: String,
    },
    /// Clear a workspace's taint
    Clear {
        /// Its name
        workspace: String,
    },
}

#[derive(Subcommand)]
enum Codes {
    /// Make a sheet of 100 codes and print it, once. The account's sheet before counts no more
    New {
        /// Whose: a service with its own id of a person, as telegram:123456789, or `page:` with a user of this machine
        account: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Who has codes, and how many are left
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// An account's codes count no more
    Remove {
        /// The account
        account: String,
    },
}

#[derive(Subcommand)]
enum Workspace {
    /// Register a workspace and make its mailbox
    Add {
        /// Its name
        name: String,
    },
    /// List the workspaces
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// A fresh container: the taint starts over
    Renew {
        /// Its name
        name: String,
    },
    /// Forget a workspace; its requests are denied from then on
    Remove {
        /// Its name
        name: String,
    },
    /// Take no questions from it for a while: what a person would be asked is denied
    Pause {
        /// Its name
        name: String,
        /// For so many minutes, at most a day
        #[arg(default_value_t = 60)]
        minutes: u64,
    },
    /// Take questions from it again
    Resume {
        /// Its name
        name: String,
    },
    /// Hold its commands without a word about each; `bashgate pending` lists them
    Mute {
        /// Its name
        name: String,
    },
    /// Tell of each again
    Unmute {
        /// Its name
        name: String,
    },
    /// In need: let everything run that would be asked about, for a while. On record, and said in every channel
    BreakGlass {
        /// Its name
        name: String,
        /// For so many minutes, at most 60
        #[arg(long, default_value_t = 15)]
        minutes: u64,
        /// Why
        #[arg(long)]
        why: String,
    },
}

#[derive(Subcommand)]
enum Scripts {
    /// List the scripts that run without a question in a workspace: digest, name, who approved it and when
    List {
        /// The workspace
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a script need an approval again
    Revoke {
        /// The workspace
        workspace: String,
        /// The script's digest, or at least its first 8 digits
        sha256: String,
    },
}

#[derive(Subcommand)]
enum Egress {
    /// The last connections, and those that were refused
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
        /// Go on and print what comes
        #[arg(short, long)]
        follow: bool,
        /// Of this workspace alone
        #[arg(long, value_name = "NAME")]
        workspace: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
enum Audit {
    /// The last records
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: u64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find any edit, gap or reordering
    Verify {
        /// A head that was kept elsewhere, to find a cut at the tail
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
    },
    /// Print the head; keep it somewhere else
    Head,
    /// Print every record as a line of JSON
    Export,
    /// Say which past decisions another configuration (`--config`) would change; changes nothing
    Replay {
        /// The state folder with the record, where it is not the one that the configuration names
        #[arg(long, value_name = "DIR")]
        state: Option<PathBuf>,
        /// Print JSON: each decision that would change
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
enum KeyAct {
    /// Print the public key, as it stands in hook.toml
    Show,
    /// Make a new key and put it into the hooks' configurations in the gate's folder; commands that wait are not disturbed
    Rotate {
        /// The old key counts no more at once: somebody else may have it
        #[arg(long)]
        revoke: bool,
    },
    /// The key before the current one counts no more: every hook has the new one
    Retire,
}

#[derive(Subcommand)]
enum ConfigAct {
    /// Check the configuration and the examples of its rules
    Check,
    /// Print which configuration is in use
    Path,
    /// Let every command use the gate of this folder from now on
    Use {
        /// The folder that `bashgate init` has made
        dir: PathBuf,
    },
}

/// Becomes the program for fleets.
fn fleet(words: &[std::ffi::OsString]) -> Run {
    use std::os::unix::process::CommandExt as _;
    let program = crate::fleet::program();
    let error = std::process::Command::new(&program).args(words).exec();
    Err(Failure::failed(
        format!("cannot start {}: {error}", program.display()),
        "install it beside bashgate: it comes with the same archive, package and `make install`",
    ))
}

impl ConfigFile {
    fn load(&self) -> Result<Config, Failure> {
        Ok(Config::find(self.config.as_deref())?)
    }
}

/// The whole command line, for its manual pages.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command line.
pub fn main() -> ExitCode {
    started(|cli: Cli| run(cli.command))
}

/// Reads a command line, and does what it says.
pub fn started<C: Parser>(run: impl FnOnce(C) -> Run) -> ExitCode {
    let words = match C::try_parse() {
        Ok(words) => words,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    match run(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print(),
    }
}

fn run(command: Command) -> Run {
    match command {
        Command::Demo { exit } => demo::run(exit),
        Command::Init { dir } => init::run(&dir),
        Command::Up(words) => up::up(&words),
        Command::Down(words) => up::down(&words),
        Command::Serve(config) => serve::run(config.load()?),
        Command::Classify { input } => judge::classify(&input),
        Command::Why { command, json, programs } => why::run(&command, json, &programs),
        Command::Decide { taint, with, input } => judge::decide(&taint, &with, &input),
        Command::Suggest { input } => suggest::run(&input),
        Command::Pending { denied, json, config } => people::pending(&config.load()?, denied, json),
        Command::Show { id, json, config } => people::show(&config.load()?, &id, json),
        Command::Approve { id, scope, config } => {
            people::say(&config.load()?, &format!("approve {id} {}", scope.join(" ")))
        }
        Command::Deny { id, reason, config } => {
            people::say(&config.load()?, &format!("deny {id} {}", reason.join(" ")))
        }
        Command::Rule { input } => rule::run(&input),
        Command::Status { json, config } => people::standing(&config.load()?, "status", json),
        Command::Top { once, config } => top::run(&top::Host(&config.load()?), once),
        Command::Tasks { config } => people::standing(&config.load()?, "tasks", false),
        Command::Grants { json, config } => people::standing(&config.load()?, "grants", json),
        Command::Codes { act, config } => people::codes(&config.load()?, act),
        Command::Inspector { act, config } => inspector::run(&config.load()?, act),
        Command::Chat { act, config } => chat::run(&config.load()?, act),
        Command::Page { lock, json, config } => {
            people::page(&top::Host(&config.load()?), (lock, json), "bashgate page")
        }
        Command::Taint { act, config } => people::taint(&config.load()?, act),
        Command::Scripts { act, config } => people::scripts(&config.load()?, act),
        Command::Workspace { act, config } => people::workspace(&config.load()?, act),
        Command::Key { act, config } => key::run(&config.load()?, &act),
        Command::Audit { act, config } => audit::run(&config.load()?, act),
        Command::Egress { act: Egress::Tail { lines, follow, workspace, json }, config } => {
            audit::egress(&config.load()?, lines, workspace.as_deref(), (json, follow))
        }
        Command::Fleet { words } => fleet(&words),
        Command::Desk { words } => fleet(&[vec!["desk".into()], words].concat()),
        Command::Backup { to, config } => backup::run(&config.load()?, &to),
        Command::Doctor { json, config } => doctor::run(config.config.as_deref(), json),
        Command::Config { act: ConfigAct::Path, config } => {
            say!("{}", config.config.map_or_else(Config::place, Ok)?.display());
            Ok(())
        }
        Command::Config { act: ConfigAct::Use { dir }, config: _ } => init::choose(&dir),
        Command::Config { act: ConfigAct::Check, config } => {
            let config = config.load()?;
            say!(
                "{} is fine: {} rules, {} services, {} workspaces.",
                config.file.display(),
                config.policy.rules.len(),
                config.services.len(),
                config.workspaces.len()
            );
            Ok(())
        }
    }
}
