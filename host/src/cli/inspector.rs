//! `bashgate inspector test`: what the configured model is worth beside the rules, on commands whose answers are known.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::{say, say_aside};
use clap::Subcommand;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::judge::taint_named;
use super::{Failure, Run, serve};
use crate::config::Config;
use crate::inspector::{self, Brief, Inspector, offline};
use crate::policy::Finding;
use crate::taint::Taint;

/// Most commands of one file, and most that are named of each kind of mistake.
const MOST: usize = 100_000;
const NAMED: usize = 10;

#[derive(Subcommand)]
pub(super) enum Inspect {
    /// Ask rules and model about labelled commands: what they find, false alarms, how long it takes, what it costs. Nothing runs
    Test {
        /// A line of JSON each: {"command": "…", "harmful": true}
        file: PathBuf,
        /// What the agent has seen: corruption, secret or both
        #[arg(long, default_value = "corruption")]
        taint: String,
        /// The price of a million tokens that it reads, to say what that cost
        #[arg(long, value_name = "PRICE", requires = "price_out")]
        price_in: Option<f64>,
        /// The price of a million tokens that it writes
        #[arg(long, value_name = "PRICE", requires = "price_in")]
        price_out: Option<f64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A command whose answer is known.
#[derive(Clone, Deserialize)]
struct Labelled {
    command: String,
    harmful: bool,
}

/// What one of the two said about the commands.
#[derive(Default)]
struct Score {
    harmful: usize,
    found: usize,
    harmless: usize,
    false_alarms: usize,
    no_answer: usize,
    took: Vec<Duration>,
    missed: Vec<String>,
    alarmed: Vec<String>,
}

pub(super) fn run(config: &Config, act: Inspect) -> Run {
    let Inspect::Test { file, taint, price_in, price_out, json } = act;
    let taint = taint_named(&taint)?;
    let all = read(&file)?;
    let model = inspector::model(&config.inspector)
        .map_err(|error| Failure::failed(error, "see [inspector] in bashgate.toml"))?;
    let briefs: Vec<(Labelled, Brief)> =
        all.into_iter().filter_map(|one| Some((one.clone(), brief(&one.command, taint)?))).collect();
    let mut rules = Score::default();
    for (labelled, brief) in &briefs {
        let since = Instant::now();
        let finding = offline::inspect(brief);
        rules.count(labelled, &finding, since.elapsed());
    }
    let mut scores = vec![("rules".to_owned(), rules, [0, 0])];
    if let Some(model) = model {
        say_aside!("Asking {} about {} commands, {} at once.", model.name(), briefs.len(), config.parallel);
        let score = serve::runtime()?.block_on(ask(&model, briefs, config.parallel));
        scores.push((model.name().to_owned(), score, model.tokens()));
    } else {
        say_aside!("No model is configured; these are the rules alone. docs/models.md says how to set one up.");
    }
    let cost = |tokens: [u64; 2]| match (price_in, price_out) {
        (Some(read), Some(written)) => Some((million(tokens[0]) * read + million(tokens[1]) * written, tokens)),
        _ => None,
    };
    if json {
        let all: Vec<Value> = scores
            .iter()
            .map(|(name, score, tokens)| score.json(name, *tokens, cost(*tokens).map(|(cost, _)| cost)))
            .collect();
        say!("{}", Value::Array(all));
        return Ok(());
    }
    for (name, score, tokens) in &scores {
        say!("{}", score.words(name, *tokens, cost(*tokens).map(|(cost, _)| cost)));
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<Labelled>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot read {}: {error}", file.display()), "name a file of labelled commands")
    };
    let opened = std::fs::File::open(file).map_err(failed)?;
    let mut all = Vec::new();
    for (number, line) in std::io::BufReader::new(opened).lines().enumerate() {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let one = serde_json::from_str(&line).map_err(|error| {
            Failure::failed(
                format!("{}, line {}: {error}", file.display(), number + 1),
                "each line is {\"command\": \"…\", \"harmful\": true} or false",
            )
        })?;
        all.push(one);
        if all.len() > MOST {
            return Err(Failure::failed(
                format!("{} has more than {MOST} commands", file.display()),
                "take a part of it",
            ));
        }
    }
    if all.is_empty() {
        return Err(Failure::failed(
            format!("{} holds no command", file.display()),
            "each line is {\"command\": \"…\", \"harmful\": true} or false",
        ));
    }
    Ok(all)
}

fn brief(command: &str, taint: Taint) -> Option<Brief> {
    let line = CommandLine::parse(command).ok()?;
    let found = classify(&line, &Surroundings::default());
    Some(Brief::new(line.text(), None, &found, taint, &[], &[]))
}

/// Asks the model about all of them, so many at once.
async fn ask(model: &Arc<dyn Inspector>, briefs: Vec<(Labelled, Brief)>, parallel: usize) -> Score {
    let turns = Arc::new(Semaphore::new(parallel));
    let mut asked = JoinSet::new();
    for (labelled, brief) in briefs {
        let (model, turns) = (model.clone(), turns.clone());
        asked.spawn(async move {
            let turn = turns.acquire().await;
            let since = Instant::now();
            let finding = model.inspect(&brief).await;
            drop(turn);
            (labelled, finding, since.elapsed())
        });
    }
    let (mut score, all, mut done) = (Score::default(), asked.len(), 0);
    while let Some(answered) = asked.join_next().await {
        if let Ok((labelled, finding, took)) = answered {
            score.count(&labelled, &finding, took);
        }
        done += 1;
        if done % 100 == 0 {
            say_aside!("{done} of {all}");
        }
    }
    score
}

impl Score {
    fn count(&mut self, labelled: &Labelled, finding: &Finding, took: Duration) {
        let is_flagged = matches!(finding, Finding::Flagged { .. });
        let is_silent = matches!(finding, Finding::NoAnswer { .. } | Finding::Unavailable { .. });
        self.no_answer += usize::from(is_silent);
        self.took.push(took);
        let command: String = labelled.command.chars().take(120).collect();
        if labelled.harmful {
            self.harmful += 1;
            self.found += usize::from(is_flagged);
            // Without an answer a person is asked.
            if !is_flagged && !is_silent {
                self.missed.push(command);
            }
        } else {
            self.harmless += 1;
            self.false_alarms += usize::from(is_flagged);
            if is_flagged {
                self.alarmed.push(command);
            }
        }
    }

    fn within(&self, percent: usize) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        took.get(took.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }

    fn words(&self, name: &str, tokens: [u64; 2], cost: Option<f64>) -> String {
        let [read, written] = tokens;
        let mut text = format!(
            "{name}\n  found          {} of {} harmful ones ({})\n  false alarms   {} of {} harmless ones ({})\n  no answer      {} (a person is asked)\n  time           half within {}, 95 % within {}",
            self.found,
            self.harmful,
            percent(self.found, self.harmful),
            self.false_alarms,
            self.harmless,
            percent(self.false_alarms, self.harmless),
            self.no_answer,
            time(self.within(50)),
            time(self.within(95)),
        );
        if read + written > 0 {
            text.push_str(&format!("\n  tokens         {read} read, {written} written"));
        }
        if let Some(cost) = cost {
            text.push_str(&format!("\n  cost           {cost:.4}"));
        }
        for (what, all) in [("not found", &self.missed), ("false alarm", &self.alarmed)] {
            for command in all.iter().take(NAMED) {
                text.push_str(&format!("\n  {what}: {}", crate::chat::notice::one_line(command, 120)));
            }
            if all.len() > NAMED {
                text.push_str(&format!("\n  and {} more ({what})", all.len() - NAMED));
            }
        }
        text
    }

    fn json(&self, name: &str, tokens: [u64; 2], cost: Option<f64>) -> Value {
        let ms = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        json!({"name": name, "harmful": self.harmful, "found": self.found, "harmless": self.harmless,
               "false_alarms": self.false_alarms, "no_answer": self.no_answer, "median_us": ms(self.within(50)),
               "p95_us": ms(self.within(95)), "tokens_read": tokens[0], "tokens_written": tokens[1], "cost": cost,
               "missed": self.missed, "alarmed": self.alarmed})
    }
}

fn percent(part: usize, all: usize) -> String {
    match (part * 1000).checked_div(all) {
        Some(tenths) => format!("{}.{} %", tenths / 10, tenths % 10),
        None => "there are none".to_owned(),
    }
}

fn time(time: Duration) -> String {
    if time < Duration::from_millis(10) {
        format!("{} us", time.as_micros())
    } else {
        format!("{} ms", time.as_millis())
    }
}

fn million(tokens: u64) -> f64 {
    // Far below what a float holds exactly.
    f64::from(u32::try_from(tokens).unwrap_or(u32::MAX)) / 1e6
}
