//! `bashgate desk`.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::say;
use bashgate_shared::seal::PublicKey;
use clap::{Args, Subcommand};

use super::{read_token, stopped};
use crate::HostName;
use crate::desk::{self, DeskError};
use crate::membership::Membership;
use bashgate::cli::top::{self, Source};
use bashgate::cli::{Failure, Run};
use bashgate::control::{self, ControlCommand, Reply};
use bashgate::state;

#[derive(Subcommand)]
pub(super) enum DeskAct {
    /// Make this machine a desk of the fleet, with a token of `bashgate fleet enrol NAME --desk`
    Join {
        /// The token's file, or `-` for standard input
        token: PathBuf,
    },
    /// Say whether its configuration is fine, and its key
    Check,
    /// What all hosts hold, in a terminal; a card is opened and answered by keys, as `desk:USER`
    Top {
        /// Print it once
        #[arg(long)]
        once: bool,
    },
    /// Print a link to the web page of what all hosts hold, which works once; it is answered as `desk:USER`
    Page {
        /// End all sessions of the page instead
        #[arg(long)]
        lock: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The folder of a desk.
#[derive(Args, Clone)]
pub(super) struct DeskFolder {
    /// The desk's own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) folder: Option<PathBuf>,
}

pub(super) async fn run(folder: &Path) -> Run {
    let _log = bashgate::cli::log("warn");
    let ready = |membership: &Membership| say!("The desk {} shows and hears.", membership.member);
    desk::run(folder, ready, stopped()?).await?;
    Ok(())
}

pub(super) async fn join(file: &Path, folder: &Path) -> Run {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot use {}: {error}", folder.display()), "name another folder with --folder DIR")
    };
    let token = read_token(file)?;
    if !token.desk {
        return Err(Failure::Refused(format!("{} is a host's token; there: bashgate fleet join", file.display())));
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut membership = Membership::begin(folder, token)?;
    membership.complete(folder).await?;
    let config = folder.join("desk.toml");
    if !config.exists() {
        std::fs::write(&config, desk::CONFIG).map_err(failed)?;
    }
    say!("This is the desk {} of the fleet.", membership.member);
    say!("1. Name its channels in {}.", config.display());
    say!("2. On each host that it may answer for, in the host's configuration:");
    say!("{}", snippet(&membership.member.host, membership.key(folder).map_err(DeskError::from)?.public()));
    say!("3. Run it: bashgate desk");
    Ok(())
}

/// What a host's configuration says of a desk.
fn snippet(desk: &HostName, key: &PublicKey) -> String {
    format!(
        "   [chat.{desk}]\n   kind = \"desk\"\n   key = \"{key}\"\n   approvers = [\"telegram:123456789\"]   # whose word counts, as SERVICE:ID"
    )
}

pub(super) fn check(folder: &Path) -> Run {
    let (membership, channels) = (desk::membership(folder)?, desk::configured(folder)?.channels);
    let names: Vec<&str> = channels.keys().map(String::as_str).collect();
    say!("The desk {} is fine. Its channels: {}.", membership.member, names.join(", "));
    say!("{}", snippet(&membership.member.host, membership.key(folder).map_err(DeskError::from)?.public()));
    Ok(())
}

/// The desk that runs in a folder.
struct Running<'a>(&'a Path);

impl Source for Running<'_> {
    fn ask(&self, command: &ControlCommand) -> Result<Reply, Failure> {
        let failed = |error: std::io::Error| Failure::failed(error, "is the desk yours? run this as whoever runs it");
        let told = control::ask(&state::socket(self.0), command).map_err(failed)?;
        let none = || Failure::failed(format!("no desk is running in {}", self.0.display()), "start it: bashgate desk");
        told.ok_or_else(none)
    }

    /// Records are for whoever runs the fleet.
    fn decided(&self) -> Result<Vec<[String; 4]>, Failure> {
        Ok(Vec::new())
    }
}

pub(super) fn page(folder: &Path, lock: bool, json: bool) -> Run {
    desk::membership(folder)?;
    bashgate::cli::page(&Running(folder), (lock, json), "bashgate desk page")
}

pub(super) fn top(folder: &Path, once: bool) -> Run {
    desk::membership(folder)?;
    top::run(&Running(folder), once)
}
