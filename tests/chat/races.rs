//! Many answers at once, over every channel, the page and the command line.

use std::time::Duration;

use bashgate_tests::{Host, Site, pause, until};

use super::cases::{Service, Shown, Who, channels_are_open};
use super::discord::Discord;
use super::matrix::{Ends, Matrix};
use super::slack::Slack;
use super::telegram::Telegram;
use crate::page::Visitor;

/// A channel, whichever service it goes through.
trait Place: Sync {
    fn says(&self, words: &str);
    fn messages(&self) -> Vec<Shown>;
}

impl<S: Service + Sync> Place for S {
    fn says(&self, words: &str) {
        Service::says(self, Who::Approver, words);
    }

    fn messages(&self) -> Vec<Shown> {
        Service::messages(self)
    }
}

/// A site whose host has these channels.
fn ground(channels: &[String]) -> (Site, Host) {
    let site = Site::new("");
    site.configure(&channels.concat());
    let host = site.serve();
    site.raise_both("default");
    channels_are_open(&site);
    (site, host)
}

/// A channel's settings, under a name of its own. Each service keeps its credentials in a folder of its own.
fn settings<S: Service>(service: &S, name: &str, folder: &std::path::Path) -> String {
    let of_its_own = folder.join(name);
    std::fs::create_dir_all(&of_its_own).unwrap();
    let config = service.config(&of_its_own).replace("[chat.x]", &format!("[chat.{name}]"));
    let config = config.replace("token_file = \"", &format!("token_file = \"{}/", of_its_own.display()));
    format!("{config}approvers = [\"{}\"]\n", S::APPROVER)
}

/// Where each channel shows a card.
fn shown(places: &[&dyn Place], id: &str) -> Vec<String> {
    until("all channels to show the card", || {
        places
            .iter()
            .map(|place| {
                let all = place.messages().into_iter();
                let of = all.filter(|shown| shown.text.replace("\n      : ", "").contains(&format!("approve {id}")));
                of.map(|shown| shown.message).next()
            })
            .collect()
    })
}

#[test]
fn a_hundred_answers_at_once_are_one() {
    let _ends = Ends::begin();
    let folder = tempfile::tempdir().unwrap();
    let (telegram, slack, discord, matrix) = (Telegram::start(), Slack::start(), Discord::start(), Matrix::start());
    let (site, _host) = ground(&[
        settings(&telegram, "telegram", folder.path()),
        settings(&slack, "slack", folder.path()),
        settings(&discord, "discord", folder.path()),
        settings(&matrix, "matrix", folder.path()),
    ]);
    let visitor = Visitor::enter(&site);
    let places: [&dyn Place; 4] = [&telegram, &slack, &discord, &matrix];
    for round in 0..5 {
        let command = format!("curl -s https://{round}.example");
        let running = site.check_later(&command);
        let id = site.held(&command);
        let cards = shown(&places, &id);
        std::thread::scope(|scope| {
            for number in 0..100 {
                let (places, site, visitor, id) = (&places, &site, &visitor, &id);
                scope.spawn(move || {
                    let word = if number % 2 == 0 { "approve" } else { "deny" };
                    let words = format!("{word} {id}");
                    match number / 2 % 6 {
                        4 => visitor.says(&words),
                        5 => drop(site.cli([word, id])),
                        place => places[place].says(&words),
                    }
                });
            }
        });
        let code = running.join().unwrap().code;
        let says = if code == Some(0) { "Approved by " } else { "Denied by " };
        until("all channels to say what became of it", || {
            let says_so = |(place, card): (&&dyn Place, &String)| {
                place.messages().iter().any(|shown| shown.message == *card && shown.text.contains(says))
            };
            places.iter().zip(&cards).all(says_so).then_some(())
        });
        let records = site.audit();
        let is_decision = |record: &&serde_json::Value| {
            record["kind"] == "decision" && record["detail"]["command"] == command.as_str()
        };
        let decisions: Vec<_> = records.iter().filter(is_decision).collect();
        assert_eq!(decisions.len(), 1, "{decisions:?}");
        // A denial that came before an approval went out is on record behind it.
        let is_overtaken = records.iter().any(|record| {
            record["kind"] == "answer"
                && record["detail"]["event"] == "denied"
                && record["detail"]["approval"] == id.as_str()
        });
        let allowed = decisions[0]["detail"]["answer"] == "allow" && !is_overtaken;
        assert_eq!(allowed, code == Some(0), "the hook, the record and the cards agree: {decisions:?}");
    }
    site.cli(["audit", "verify"]).expect(0);
}

/// All of them come in together: a denial among them is what counts.
#[test]
fn of_what_came_in_together_a_denial_counts() {
    let folder = tempfile::tempdir().unwrap();
    let telegram = Telegram::start();
    let (site, _host) = ground(&[settings(&telegram, "telegram", folder.path())]);
    for (round, approves) in [1, 50, 99].into_iter().enumerate() {
        let command = format!("curl -s https://{round}.example");
        let running = site.check_later(&command);
        let id = site.held(&command);
        shown(&[&telegram], &id);
        // What is asked for is given at once, a hundred at a time.
        telegram.goes_down(true);
        for number in 0..100 {
            let word = if number < approves { "approve" } else { "deny" };
            Place::says(&telegram, &format!("{word} {id}"));
        }
        // Who was asked before that has answered nothing by now.
        pause(Duration::from_millis(500));
        telegram.goes_down(false);
        let output = running.join().unwrap().expect(2);
        assert!(output.stderr.contains("denied"), "{}", output.stderr);
    }
    site.cli(["audit", "verify"]).expect(0);
}
