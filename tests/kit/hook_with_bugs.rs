//! What the hook would let through by itself if a rule of it did not know a fact: `hook-with-bugs CONFIG BUG`, with JSON lines
//! `{"cwd": "…", "command": "…"}` on standard input, and `true` or `false` for each on standard output. The bug is one of
//! [`Bug::ALL`] by its name.

use std::io::BufRead as _;
use std::path::Path;

use bashgate_hook::gate::config::Config;
use bashgate_hook::gate::{self, HookDecision, Question, Step};
use bashgate_shared::command::CommandLine;
use bashgate_shared::planted::{self, Bug};
use serde_json::Value;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let config = Config::load(Path::new(&args[1])).unwrap();
    let bug = Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == args[2]).unwrap();
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (cwd, command) = (line["cwd"].as_str().unwrap(), line["command"].as_str().unwrap());
        std::env::set_current_dir(cwd).unwrap();
        let Ok(command) = CommandLine::parse(command) else {
            println!("false");
            continue;
        };
        let question = Question {
            command: &command,
            cwd: Path::new(cwd),
            asker: "check",
            session: None,
            tool_use_id: None,
            runner: None,
            script: None,
            rewrites: false,
            keeps_to_hosts: false,
            reads_startup_files: false,
            types_past_gate: false,
            set_for_commands: &[],
            doubt: None,
            background: false,
            asked_with: &[],
        };
        let step = planted::with(bug, || gate::check(&question, &config));
        println!("{}", matches!(step, Step::Decided(HookDecision::Allow(_))));
    }
}
