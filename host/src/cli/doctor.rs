//! `bashgate doctor`: looks for what would keep the host from working, and says what to do.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bashgate_shared::checkup::{Report, State};
use bashgate_shared::mailbox;
use bashgate_shared::say;
use serde_json::Value;

use super::{Failure, Run, serve};
use crate::clock;
use crate::config::{Config, InspectorKind};
use crate::control::{self, ControlCommand};
use crate::inspector::{self, Brief};
use crate::intake::{files, probe};
use crate::policy::Finding;
use crate::state;
use crate::store::Reader;

/// Less space than this under the state folder is worth a word, in bytes.
const LITTLE_SPACE: u64 = 64 * 1024 * 1024;
/// A wall clock before this is wrong, in milliseconds since 1970: 2026-01-01.
const EARLIEST_MS: u64 = 1_767_225_600_000;

pub(super) fn run(named: Option<&Path>, as_json: bool) -> Run {
    let mut report = Report::default();
    match Config::find(named) {
        Err(error) => report.broken("configuration", error.to_string(), error.help()),
        Ok(config) => {
            configuration(&config, &mut report);
            let is_running = host(&config, &mut report);
            state_folder(&config, is_running, &mut report);
            let workspaces = store(&config, &mut report);
            mailboxes(&config, &workspaces, &mut report);
            inspector(&config, &mut report)?;
        }
    }
    for line in report.lines(as_json) {
        say!("{line}");
    }
    let broken = report.count(State::Broken);
    if broken == 0 { Ok(()) } else { Err(Failure::Refused(format!("{broken} of these keep the host from working"))) }
}

fn others_can_write(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o022 != 0)
}

fn configuration(config: &Config, report: &mut Report) {
    let file = config.file.display();
    if others_can_write(&config.file) {
        let says = format!("{file} can be written by others, who could switch everything off");
        report.broken("configuration", says, "chmod go-w the file");
    } else if config.policy.enforce {
        report.fine("configuration", format!("{file}, {} rules", config.policy.rules.len()));
    } else {
        let says = format!("{file}: shadow mode, denials are LET THROUGH and nothing is protected");
        report.doubtful("configuration", says, "set `enforce = true` under [policy] when you have seen enough");
    }
}

fn host(config: &Config, report: &mut Report) -> bool {
    match control::ask(&state::socket(&config.state), &ControlCommand::Pending { denied: false, is_glance: true }) {
        Ok(Some(reply)) => {
            let held = reply.data.as_array().map_or(0, Vec::len);
            report.fine("host", format!("runs; {held} commands wait for a person"));
            true
        }
        Ok(None) => {
            report.doubtful("host", "does not run", "start it with: bashgate serve");
            false
        }
        Err(error) => {
            let says = format!("does not answer on its control socket ({error})");
            report.broken("host", says, "run this as the host's user, or restart the host");
            true
        }
    }
}

fn state_folder(config: &Config, is_running: bool, report: &mut Report) {
    let path = config.state.display();
    let meta = match std::fs::metadata(&config.state) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return report.doubtful(
                "state folder",
                format!("{path} is not there yet"),
                "it is made at the first start",
            );
        }
        Err(error) => {
            return report.broken("state folder", format!("{path}: {error}"), "check its owner and the disk");
        }
    };
    let own = rustix::process::geteuid().as_raw();
    if meta.mode() & 0o077 != 0 {
        let says = format!("{path} is open to others (mode {:o})", meta.mode() & 0o777);
        return report.broken("state folder", says, "chmod 700 the folder");
    }
    if own != 0 && meta.uid() != own {
        let says = format!("{path} belongs to user id {}, this is {own}", meta.uid());
        return report.broken("state folder", says, "run this and the host as the folder's owner");
    }
    if !is_running && let Err(error) = state::Folder::open(&config.state).and_then(|folder| folder.key()) {
        return report.broken("state folder", error.to_string(), error.help());
    }
    match rustix::fs::statvfs(&config.state) {
        Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) < LITTLE_SPACE => {
            let says = format!("{path}: {} MiB are left on its disk", disk.f_bavail * disk.f_frsize / 1024 / 1024);
            report.doubtful("state folder", says, "make room: without a record nothing is allowed");
        }
        Ok(_) => report.fine("state folder", format!("{path}, lock and signing key are in order")),
        Err(error) => report.broken("state folder", format!("{path}: {error}"), "check the disk"),
    }
}

/// Looks at the store and gives the registered workspaces.
fn store(config: &Config, report: &mut Report) -> Vec<String> {
    let mut workspaces: Vec<String> = config.workspaces.keys().map(ToString::to_string).collect();
    let path = state::store(&config.state);
    if !path.exists() {
        report.doubtful("store", format!("{} is not there yet", path.display()), "it is made at the first start");
        clock_of(0, report);
        return workspaces;
    }
    let look = || {
        let reader = Reader::open(&path)?;
        let (records, _) = reader.head()?;
        let mut last = 0;
        reader.audit(records, |record| {
            let body: Value = serde_json::from_str(&record.body).unwrap_or(Value::Null);
            last = body.get("at_ms").and_then(Value::as_u64).unwrap_or(0);
            true
        })?;
        Ok((records, last, reader.workspaces()?))
    };
    match look() {
        Ok((records, last, registered)) => {
            report.fine("store", format!("{records} records; check all of them with: bashgate audit verify"));
            clock_of(last, report);
            workspaces.extend(registered.iter().map(ToString::to_string));
        }
        Err(error) => {
            let error: crate::store::StoreError = error;
            report.broken("store", error.to_string(), error.help());
        }
    }
    workspaces.sort();
    workspaces.dedup();
    workspaces
}

fn clock_of(last_ms: u64, report: &mut Report) {
    let now = clock::now().unix_ms;
    // The two clocks of two machines, or a correction, may differ by a little.
    let slack = 5 * 60 * 1000;
    if now < EARLIEST_MS || now + slack < last_ms {
        let says = format!("it is {}, the last record is from {}", clock::date(now), clock::date(last_ms));
        report.doubtful("clock", says, "correct the wall clock; decisions do not depend on it, dates in the audit do");
    } else if clock::boot_id() == "unknown" {
        let says = "the kernel does not tell which boot this is";
        report.doubtful("clock", says, "mount /proc; held commands do not survive a restart of the host without it");
    } else {
        report.fine("clock", clock::date(now));
    }
}

fn mailboxes(config: &Config, workspaces: &[String], report: &mut Report) {
    let root = &config.mailboxes;
    if !root.is_dir() {
        let says = format!("{} is not there yet", root.display());
        return report.doubtful("mailboxes", says, "it is made at the first start");
    }
    if others_can_write(root) {
        let says = format!("{} can be written by others, who could exchange a mailbox", root.display());
        return report.broken("mailboxes", says, "chmod 700 the folder; containers only need the folders in it");
    }
    if workspaces.is_empty() {
        report.doubtful("mailboxes", "no workspace is registered", "add one with: bashgate workspace add NAME");
    }
    for name in workspaces {
        for (folder, want) in [(mailbox::REQUESTS, 0o1733), (mailbox::RESPONSES, 0o755)] {
            let path = root.join(name).join(folder);
            match std::fs::symlink_metadata(&path) {
                Ok(meta) if !meta.is_dir() => {
                    let says = format!("{} is no folder", path.display());
                    report.broken("mailboxes", says, "find out who put it there, and add the workspace again");
                }
                Ok(meta) if meta.mode() & 0o7777 != want => {
                    let says = format!("{} has mode {:o}, not {want:o}", path.display(), meta.mode() & 0o7777);
                    report.doubtful("mailboxes", says, "set it with: bashgate workspace add NAME");
                }
                Ok(_) => {}
                Err(error) => {
                    let says = format!("{}: {error}", path.display());
                    report.broken("mailboxes", says, "make it with: bashgate workspace add NAME");
                }
            }
        }
    }
    if !config.notifications {
        return report
            .fine("mailboxes", format!("{} of them; looked through every {:?}", workspaces.len(), config.poll));
    }
    match probe::notifications(root) {
        Ok(_) if workspaces.len() > files::raise_limit() => {
            let says = format!("{} of them, more than a process may have open files for", workspaces.len());
            report.broken("mailboxes", says, "raise the limit: LimitNOFILE= of a systemd service, `ulimit -n`");
        }
        Ok(Some(took)) => report.fine("mailboxes", format!("{} of them; notified after {took:.1?}", workspaces.len())),
        Ok(None) => {
            let says = format!("no notifications of files arrive here; looked through every {:?}", config.poll);
            report.doubtful("mailboxes", says, "that works, only slower; `limits.poll_ms` sets the pace");
        }
        Err(error) => {
            let says = format!("cannot write into {} ({error})", root.display());
            report.broken("mailboxes", says, "run this as the host's user, and look at the disk");
        }
    }
}

fn inspector(config: &Config, report: &mut Report) -> Run {
    let endpoint = match &config.inspector {
        InspectorKind::Offline => {
            report.fine("inspector", "offline rules; no model is asked");
            return Ok(());
        }
        InspectorKind::Anthropic(endpoint) | InspectorKind::OpenAi(endpoint) => endpoint,
    };
    let at = format!("{} at {}", endpoint.model, endpoint.base_url);
    let model = match inspector::model(&config.inspector) {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(()),
        Err(error) => {
            report.broken("inspector", error.to_string(), "check [inspector] in bashgate.toml");
            return Ok(());
        }
    };
    let brief = Brief::harmless();
    let since = Instant::now();
    let answer =
        serve::runtime()?.block_on(async { tokio::time::timeout(Duration::from_mins(2), model.inspect(&brief)).await });
    match answer {
        Ok(Finding::Clear { .. } | Finding::Flagged { .. }) => {
            report.fine("inspector", format!("{at} answered a harmless command after {:.1?}", since.elapsed()));
        }
        Ok(Finding::NoAnswer { why } | Finding::Unavailable { why }) => {
            let says = format!("{at} gave no answer: {why}");
            report.broken("inspector", says, "until it does, a person is asked; check address, key, model and network");
        }
        Err(_) => report.broken("inspector", format!("{at} did not answer"), "check address and network"),
    }
    Ok(())
}
