//! `bashgate fleet policy`.

use std::path::{Path, PathBuf};

use bashgate_shared::{say, say_aside, say_part};
use clap::Subcommand;
use serde_json::json;
use tokio_postgres::Client;

use super::{FleetFolder, host_name, settled};
use crate::folder::{Folder, FolderError};
use crate::{HostName, MemberId, verify};
use bashgate::chat::notice::one_line;
use bashgate::cli::{Failure, Run};
use bashgate::fleet::bundle::Bundle;

#[derive(Subcommand)]
pub(super) enum PolicyAct {
    /// Check a policy's rules and examples
    Check {
        /// The policy: docs/fleet.md
        file: PathBuf,
    },
    /// Let a policy hold on all hosts, each of which checks it first against what it has on record
    Push {
        /// The policy: docs/fleet.md
        file: PathBuf,
        /// On these hosts first; the others go on with what they have until `widen`
        #[arg(long, value_name = "HOST", value_delimiter = ',')]
        first: Vec<String>,
    },
    /// Let what some hosts have first hold on all
    Widen,
    /// Go back to what held before
    Back,
    /// Which policy is in force on which host, and why another one is not
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a policy
    Show {
        /// Its number [default: that of all hosts]
        number: Option<i32>,
    },
}

/// Most letters of what a host says.
const MOST_WHY: usize = 1000;

fn read_policy(file: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::failed(format!("cannot read {}: {error}", file.display()), "check the path");
    std::fs::read_to_string(file).map_err(failed)
}

pub(super) async fn run(act: PolicyAct, folder: &FleetFolder) -> Run {
    if let PolicyAct::Check { file } = &act {
        Bundle::parse(&read_policy(file)?).map_err(FolderError::from)?;
        say!("{} is fine by itself. Each host checks it against what it has on record, too.", file.display());
        return Ok(());
    }
    let (mut folder, client) = settled(folder).await?;
    match act {
        PolicyAct::Check { .. } => {}
        PolicyAct::Push { file, first } => {
            let first = first.iter().map(|name| host_name(name)).collect::<Result<Vec<_>, _>>()?;
            let text = read_policy(&file)?;
            let names = first.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let bundle = Bundle::parse(&text).map_err(FolderError::from)?;
            let version = folder.push_policy(&client, &text, first).await?;
            for host in bundle.hosts_of_workspaces() {
                if folder.living(host).is_none_or(|known| known.desk) {
                    say_aside!("the fleet has no host {host} yet: what its workspaces have seen nobody waits for");
                }
            }
            if names.is_empty() {
                say!("Policy {} is to hold on all hosts.", version.number);
            } else {
                say!("Policy {} is to hold on {names} first. On all: bashgate fleet policy widen", version.number);
            }
            say!("Where it does, and where it does not and why: bashgate fleet policy list");
        }
        PolicyAct::Widen => {
            let version = folder.widen_policy(&client).await?;
            say!("Policy {} is to hold on all hosts.", version.number);
        }
        PolicyAct::Back => match folder.back_policy(&client).await? {
            Some(version) => {
                say!("Policy {} is to hold on all hosts, with the text of what held before.", version.number);
            }
            None => say!("Each host's own policy is to hold, and nothing else."),
        },
        PolicyAct::List { json } => list_policies(json, &mut folder, &client).await?,
        PolicyAct::Show { number } => {
            let (all, _) = folder.policies();
            let none = || Failure::Refused("there is no policy of all hosts; name a number".to_owned());
            let number = number.or(all.map(|version| version.number)).ok_or_else(none)?;
            say_part!("{}", folder.policy_text(number)?);
        }
    }
    Ok(())
}

async fn list_policies(json: bool, folder: &mut Folder, client: &Client) -> Run {
    let (all, first) = folder.policies();
    let tells = folder.tells(client).await?;
    let hosts: Vec<MemberId> = folder
        .hosts()
        .iter()
        .filter(|known| known.key.is_some() && !known.desk && known.revoked_ms.is_none())
        .map(|known| known.member.clone())
        .collect();
    let wanted = |member: &MemberId| {
        let first = first.as_ref().filter(|first| first.hosts.contains(&member.host)).map(|first| &first.version);
        first.or(all.as_ref()).map(|version| version.number)
    };
    if json {
        let of = |member: &MemberId| {
            let (told, ago) = tells.get(member).cloned().unzip();
            json!({"member": member, "wanted": wanted(member), "ago_ms": ago, "in_force": told.as_ref().and_then(|told| told.policy),
                   "refused": told.and_then(|told| told.refused)})
        };
        say!("{}", json!({"all": all, "first": first, "hosts": hosts.iter().map(of).collect::<Vec<_>>()}));
        return Ok(());
    }
    let number = |of: Option<i32>| of.map_or_else(|| "none".to_owned(), |number| number.to_string());
    say!("On all hosts: {}", number(all.as_ref().map(|version| version.number)));
    if let Some(first) = &first {
        let names: Vec<&str> = first.hosts.iter().map(HostName::as_str).collect();
        say!("First on {}: {}", names.join(", "), first.version.number);
    }
    for member in &hosts {
        let Some((told, ago)) = tells.get(member) else {
            say!("{member}  has said nothing yet");
            continue;
        };
        let mut line = format!("{member}  policy {}", number(told.policy));
        if told.policy != wanted(member) {
            line.push_str(&format!(", BEHIND {}", number(wanted(member))));
        }
        if let Some((number, why)) = &told.refused {
            line.push_str(&format!("; {number} was refused there: {}", one_line(why, MOST_WHY)));
        }
        if *ago > verify::FRESH_MS {
            line.push_str(&format!("; SILENT for {} min", ago / 60_000));
        }
        say!("{line}");
    }
    Ok(())
}
