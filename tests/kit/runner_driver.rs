//! Runs one command in a sandbox without a gate: JSON on standard input, the outcome as JSON on standard output. So that
//! tests can do it as another user, in a container, or with descriptors open that must not get in.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use bashgate_run::permit;
use bashgate_run::presets::Presets;
use bashgate_run::run::{RunSpec, Runner, Time};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Order {
    own: PathBuf,
    /// A `runner.toml`.
    presets: PathBuf,
    preset: String,
    command: String,
    workspace: PathBuf,
    cwd: Option<PathBuf>,
    seconds: Option<u64>,
    #[serde(default)]
    gate: Vec<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let order: Order = serde_json::from_str(&text).unwrap();
    let presets = Presets::load(&order.presets).unwrap();
    let preset = presets.for_agent(None, Some(&order.preset)).unwrap();
    let cwd = order.cwd.as_ref().unwrap_or(&order.workspace);
    let answer = match permit::cage(&order.command, None, &preset, cwd) {
        Err(error) => json!({"error": error.to_string(), "denied": true}),
        Ok(permit) => {
            let mut spec = RunSpec::new(preset, cwd, &order.workspace);
            spec.gate = order.gate;
            spec.env_overrides = order.env;
            if let Some(seconds) = order.seconds {
                spec.time = Time::Seconds(seconds);
            }
            match Runner::new(order.own).run(permit, &spec) {
                Ok(outcome) => outcome.json(),
                Err(error) => json!({"error": error.to_string()}),
            }
        }
    };
    println!("{answer}");
}
