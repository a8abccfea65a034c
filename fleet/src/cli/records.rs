//! What hosts have recorded: `bashgate fleet list`, `verify`, `prune`, `search`, `export`.

use std::io::Write as _;

use bashgate_shared::{say, say_aside};
use clap::Args;
use serde_json::json;

use super::{FleetFolder, host_name, milliseconds, settled};
use crate::retention::{self, Pruned};
use crate::search::{self, Found, Wanted};
use crate::verify::{self, Chain, Listed};
use bashgate::chat::notice::one_line;
use bashgate::cli::{Failure, Run, words_of_record};
use bashgate::clock;

/// Most letters of what is wrong, which may name what somebody has written into the database.
pub(super) const MOST_FINDING: usize = 1000;

/// Which records are meant.
#[derive(Args, Clone)]
pub(super) struct Which {
    /// Of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Of workspaces of this name
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    /// Of this kind: decision, answer, approval, egress, taint, workspace, reject or host
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// From then on: 30m, 12h or 7d ago, or a time as 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Until then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

/// The form of records that are handed on.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Format {
    /// As hosts record them, with the host's name
    Jsonl,
    /// As events of the Open Cybersecurity Schema Framework
    Ocsf,
}

impl Which {
    pub(super) fn wanted(self) -> Result<Wanted, Failure> {
        let now = clock::now().unix_ms;
        let time = |text: Option<String>| text.map(|text| moment(&text, now)).transpose();
        Ok(Wanted {
            host: self.host.as_deref().map(host_name).transpose()?,
            workspace: self.workspace,
            kind: self.kind,
            since_ms: time(self.since)?,
            until_ms: time(self.until)?,
            ..Wanted::default()
        })
    }
}

/// A time as people say it, in milliseconds since 1970.
fn moment(text: &str, now: u64) -> Result<u64, Failure> {
    let unknown =
        || Failure::Usage(format!("`{text}` is no time: say 30m, 12h, 7d, 2026-01-31 or 2026-01-31T12:00:00Z"));
    if let Some(ago) = milliseconds(text) {
        return Ok(now.saturating_sub(ago));
    }
    let whole = text.parse::<jiff::Timestamp>().ok();
    let day = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>().ok();
    let at = whole.or_else(day).ok_or_else(unknown)?;
    u64::try_from(at.as_millisecond()).map_err(|_| unknown())
}

pub(super) async fn list(json: bool, folder: &FleetFolder) -> Run {
    let (folder, client) = settled(folder).await?;
    let hosts = verify::list(&folder, &client).await?;
    if json {
        say!("{}", json!(hosts));
        return Ok(());
    }
    if hosts.is_empty() {
        say!("The fleet has no host yet: bashgate fleet enrol NAME");
    }
    let now = clock::now().unix_ms;
    for host in &hosts {
        say!("{}", line(host, now));
    }
    Ok(())
}

fn line(host: &Listed, now: u64) -> String {
    let Listed { member, desk, joined, revoked, records, spoke_ms } = host;
    let spoke = spoke_ms.map_or_else(
        || "has not spoken yet".to_owned(),
        |at| match now.saturating_sub(at) {
            ago if ago < verify::FRESH_MS => format!("spoke {} s ago", ago / 1000),
            _ => format!("SILENT since {}", clock::date(at)),
        },
    );
    match (revoked, joined) {
        (true, _) if desk.is_some() => format!("{member}  a desk, revoked"),
        (true, _) => format!("{member}  revoked, {} records", records.unwrap_or(0)),
        (_, true) if let Some(Some(key)) = desk => format!("{member}  a desk, key {key}"),
        (_, false) => format!("{member}  has not joined yet"),
        _ => format!("{member}  {} records, {spoke}", records.unwrap_or(0)),
    }
}

pub(super) async fn check(json: bool, folder: &FleetFolder) -> Run {
    let (mut folder, mut client) = settled(folder).await?;
    let report = verify::verify(&mut folder, &mut client).await?;
    if json {
        say!("{}", json!(report));
    } else {
        for Chain { member, records, upto, .. } in &report.chains {
            say!("{member}: {records} records, in order up to {upto}");
        }
        for finding in &report.findings {
            say!("{}", one_line(&finding.to_string(), MOST_FINDING));
        }
    }
    if report.findings.is_empty() {
        if !json {
            say!("Nothing is changed, missing, moved or added.");
        }
        return Ok(());
    }
    Err(Failure::failed(
        format!("{} things are wrong with what the database holds", report.findings.len()),
        "keep the database as it is, find out who could change it, and compare with the hosts' own records (bashgate audit verify)",
    ))
}

pub(super) async fn prune(keep: &str, folder: &FleetFolder) -> Run {
    let unknown = || Failure::Usage(format!("`{keep}` is no length of time: say 30m, 12h or 90d"));
    let keep = milliseconds(keep).ok_or_else(unknown)?;
    let (mut folder, mut client) = settled(folder).await?;
    let before = clock::now().unix_ms.saturating_sub(keep);
    let mut wrong = 0;
    for (member, what) in retention::prune(&mut folder, &mut client, before).await? {
        match what {
            Pruned::Gone(count, upto) => say!("{member}: {count} records are gone, up to {upto}"),
            Pruned::Nothing => say!("{member}: none is older"),
            Pruned::Wrong => {
                wrong += 1;
                say!("{member}: something is wrong with its records, and all of them stay");
            }
        }
    }
    if wrong == 0 {
        return Ok(());
    }
    Err(Failure::failed(
        format!("the records of {wrong} hosts are not as they were sent"),
        "see: bashgate fleet verify",
    ))
}

pub(super) async fn search(wanted: &Wanted, lines: usize, json: bool, folder: &FleetFolder) -> Run {
    let client = folder.open()?.connect().await?;
    let mut shown = 0;
    let mut out = std::io::stdout().lock();
    search::each(&client, wanted, true, |found| {
        let line = if json {
            named(&found)
        } else {
            format!("{}  {}", one_line(&found.host, MOST_FINDING), words_of_record(&found.text))
        };
        shown += 1;
        // A reader that closes the pipe has seen enough.
        writeln!(out, "{line}").is_ok() && shown < lines
    })
    .await?;
    drop(out);
    if shown == 0 {
        say_aside!("there is no such record");
    }
    Ok(())
}

/// A record with its host's name.
fn named(found: &Found) -> String {
    json!({"host": found.host, "number": found.number, "record": if found.body.is_null() { json!(found.text) } else { found.body.clone() }})
        .to_string()
}

pub(super) async fn export(wanted: &Wanted, format: Format, folder: &FleetFolder) -> Run {
    let client = folder.open()?.connect().await?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    search::each(&client, wanted, false, |found| {
        let line = match format {
            Format::Jsonl => named(&found),
            Format::Ocsf => search::ocsf(&found).to_string(),
        };
        written = writeln!(out, "{line}");
        written.is_ok()
    })
    .await?;
    // A reader that closes the pipe has seen enough.
    let _ = written.and_then(|()| out.flush());
    Ok(())
}
