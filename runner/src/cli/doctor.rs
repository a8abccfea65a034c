//! `doctor`: which sandboxes there are here, and what each really keeps.

use std::process::ExitCode;

use bashgate_shared::{say, say_aside, say_part};
use clap::Args;

use super::{REFUSED, complain};
use crate::doctor::{self, Check, Diagnosis};
use crate::run::Runner;
use crate::sandbox::BackendName;

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Only this sandbox: bwrap, landlock, firejail or none.
    #[arg(long, value_name = "NAME", value_parser = backend)]
    sandbox: Option<BackendName>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

fn backend(text: &str) -> Result<BackendName, String> {
    BackendName::named(text).ok_or_else(|| format!("`{text}` is not bwrap, landlock, firejail or none"))
}

impl Doctor {
    pub(super) fn run(&self) -> ExitCode {
        let backends = self.sandbox.map_or_else(|| BackendName::ALL.to_vec(), |one| vec![one]);
        let examined = std::env::current_exe().map_err(doctor::DoctorError::Io).and_then(|own| {
            if !self.json {
                say_aside!("Trying real escapes in each sandbox; this takes some seconds.");
            }
            doctor::examine(&Runner::new(own.clone()), &own, &backends)
        });
        let diagnosis = match examined {
            Ok(diagnosis) => diagnosis,
            Err(error) => {
                complain(&error, "run it where the home folder or the current folder can be written");
                return ExitCode::from(REFUSED);
            }
        };
        if self.json {
            say!("{}", serde_json::to_string(&diagnosis).unwrap_or_default());
        } else {
            say_part!("{}", table(&diagnosis));
        }
        let over = diagnosis.backends.iter().flat_map(|report| &report.findings).any(Check::is_over_claim);
        ExitCode::from(u8::from(over))
    }
}

fn table(diagnosis: &Diagnosis) -> String {
    let groups: Vec<&str> = diagnosis.control_groups.iter().map(|kept| kept.name()).collect();
    let groups =
        if groups.is_empty() { "limit nothing here".to_owned() } else { format!("limit {}", groups.join(" and ")) };
    let landlock = match diagnosis.landlock {
        0 => "the kernel has no Landlock".to_owned(),
        version => format!("Landlock version {version}"),
    };
    let mut text = format!("User id {}, {landlock}, control groups {groups}.\n", diagnosis.uid);
    for report in &diagnosis.backends {
        text.push_str(&format!("\n{}\n", report.backend));
        if let Some(why) = &report.unavailable {
            text.push_str(&format!("  cannot be used here: {}\n", why.replace('\n', "\n  ")));
            continue;
        }
        text.push_str(&format!("  {:<18}{:<10}{}\n", "", "claimed", "enforced"));
        for finding in &report.findings {
            let claimed = if finding.claimed { "yes" } else { "no" };
            let kept = match (finding.kept, &finding.broken) {
                (Some(true), _) => "yes".to_owned(),
                (_, Some(how)) => format!("no: {how}"),
                (_, None) => "not tried".to_owned(),
            };
            let alarm = if finding.is_over_claim() { "  <- CLAIMED, NOT KEPT" } else { "" };
            text.push_str(&format!("  {:<18}{claimed:<10}{kept}{alarm}\n", finding.guarantee.name()));
        }
    }
    text
}
