//! Many answers at once, over several channels and the command line.

use std::time::Duration;

use bashgate_tests::{Host, Site, pause, until};

use super::cases::{Service, Who, channels_are_open};
use super::slack::Slack;
use super::telegram::Telegram;

struct Ground {
    site: Site,
    _host: Host,
    telegram: Telegram,
    slack: Slack,
}

fn ground() -> Ground {
    let (telegram, slack) = (Telegram::start(), Slack::start());
    let site = Site::new("");
    let config = format!(
        "{}approvers = [\"{}\"]\n{}approvers = [\"{}\"]\n",
        telegram.config(site.path()),
        Telegram::APPROVER,
        slack.config(site.path()).replace("[chat.x]", "[chat.y]"),
        Slack::APPROVER,
    );
    site.configure(&config);
    let host = site.serve();
    site.raise("default", "corruption");
    site.raise("default", "secret");
    channels_are_open(&site);
    Ground { site, _host: host, telegram, slack }
}

/// Where each channel shows a card.
fn shown(ground: &Ground, id: &str) -> [String; 2] {
    let of = |all: Vec<super::cases::Shown>| {
        all.into_iter().find(|shown| shown.text.contains(&format!("approve {id}"))).map(|shown| shown.message)
    };
    until("both channels to show the card", || Some([of(ground.telegram.messages())?, of(ground.slack.messages())?]))
}

#[test]
fn a_hundred_answers_at_once_are_one() {
    let ground = ground();
    for round in 0..5 {
        let command = format!("curl -s https://{round}.example");
        let running = ground.site.check_later(&command);
        let id = ground.site.held(&command);
        let [in_telegram, in_slack] = shown(&ground, &id);
        std::thread::scope(|scope| {
            for number in 0..100 {
                let (ground, id) = (&ground, &id);
                scope.spawn(move || {
                    let word = if number % 2 == 0 { "approve" } else { "deny" };
                    let words = format!("{word} {id}");
                    match number / 2 % 3 {
                        0 => ground.telegram.says(Who::Approver, &words),
                        1 => ground.slack.says(Who::Approver, &words),
                        _ => drop(ground.site.cli([word, id])),
                    }
                });
            }
        });
        let code = running.join().unwrap().code;
        let says = if code == Some(0) { "Approved by " } else { "Denied by " };
        until("both channels to say what became of it", || {
            let say = |all: Vec<super::cases::Shown>, card: &str| {
                all.iter().any(|shown| shown.message == card && shown.text.contains(says))
            };
            (say(ground.telegram.messages(), &in_telegram) && say(ground.slack.messages(), &in_slack)).then_some(())
        });
        let records = ground.site.audit();
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
    ground.site.cli(["audit", "verify"]).expect(0);
}

/// All of them come in together: a denial among them is what counts.
#[test]
fn of_what_came_in_together_a_denial_counts() {
    let ground = ground();
    for (round, approves) in [1, 50, 99].into_iter().enumerate() {
        let command = format!("curl -s https://{round}.example");
        let running = ground.site.check_later(&command);
        let id = ground.site.held(&command);
        shown(&ground, &id);
        // What is asked for is given at once, a hundred at a time.
        ground.telegram.goes_down(true);
        for number in 0..100 {
            let word = if number < approves { "approve" } else { "deny" };
            ground.telegram.says(Who::Approver, &format!("{word} {id}"));
        }
        // Who was asked before that has answered nothing by now.
        pause(Duration::from_millis(500));
        ground.telegram.goes_down(false);
        let output = running.join().unwrap().expect(2);
        assert!(output.stderr.contains("denied"), "{}", output.stderr);
    }
    ground.site.cli(["audit", "verify"]).expect(0);
}
