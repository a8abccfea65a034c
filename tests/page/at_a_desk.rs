//! The page of a desk: what all hosts of a fleet hold, in a real browser, through a real PostgreSQL that dies.

use std::time::Duration;

use bashgate_tests::{pause, repository, until};
use serde_json::{Value, json};

use super::browser::Browser;
use crate::chat::cases::sheet;
use crate::chat::desks_of_a_fleet::{World, bashgate};

fn card(id: &str) -> String {
    format!("document.querySelector('.card[data-id=\"{id}\"]')")
}

#[test]
fn what_all_hosts_hold_is_answered_on_the_page_of_a_desk() {
    let mut world = World::new();
    let folder = world.desks[0].folder.clone();
    let page = |words: &[&str]| bashgate(&[&["desk", "page"], words].concat(), &folder);
    let link = || page(&[]).expect(0).stdout.trim().to_owned();
    let mut browser = Browser::start();
    let commands = ["curl -s https://one.example/v1", "curl -s https://two.example/v1"];
    let running: Vec<_> =
        world.hosts.iter().zip(commands).map(|(host, command)| host.site.check_later(command)).collect();
    let ids: Vec<String> = world.hosts.iter().zip(commands).map(|(host, command)| host.site.held(command)).collect();
    for (tab, width) in [("ann", 1200), ("bob", 390)] {
        browser.act(&json!({"do": "open", "tab": tab, "url": link(), "width": width}));
        browser.wait(tab, "document.querySelectorAll('.card').length === 2");
        for shown in ["The desk office", "Workspace web-1.default", "Workspace web-2.default", commands[0], "Live"] {
            browser.sees(tab, shown);
        }
        // What a desk does not have is not there.
        let views = "[...document.querySelectorAll('nav button')].filter((one) => one.offsetParent).length";
        assert_eq!(browser.read(tab, views), json!(1));
        assert_eq!(browser.barriers(tab), Vec::<Value>::new(), "{tab}");
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.read(tab, fits), json!(true), "{tab}");
        let images = repository().join("target/page");
        std::fs::create_dir_all(&images).unwrap();
        browser.act(&json!({"do": "shot", "tab": tab, "path": images.join(format!("desk-{tab}.png"))}));
    }
    let read = "ask('/api/history').then((one) => one.json()).then((one) => one.error)";
    assert!(browser.read("ann", read).as_str().unwrap().contains("bashgate fleet search"));
    browser.act(&json!({"do": "errors", "tab": "ann"}));
    // A host that does not name him does not hear him.
    let press = |browser: &mut Browser, tab: &str, id: &str, key: &str| {
        browser.act(&json!({"do": "front", "tab": tab}));
        pause(Duration::from_millis(1_500));
        browser.read(tab, &format!("select('{id}')"));
        browser.press(tab, key);
    };
    press(&mut browser, "ann", &ids[0], "a");
    browser.sees("ann", "the host does not hear desk:");
    assert!(!running[0].is_finished());
    // One host asks for codes, whoever says it.
    let user = bashgate::control::user_name(rustix::process::geteuid().as_raw());
    let file = world.hosts[0].site.host_toml();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("kind = \"desk\"", "kind = \"desk\"\ncodes = \"all\"")).unwrap();
    world.hears_terminals();
    let codes = sheet(&world.hosts[0].site, &format!("desk:{user}"));
    until("a code to be asked for", || {
        press(&mut browser, "ann", &ids[0], "a");
        pause(Duration::from_secs(1));
        let said = browser.read("ann", "document.getElementById('said').textContent");
        said.as_str().unwrap().contains("code 1 of your sheet").then_some(())
    });
    assert!(!running[0].is_finished());
    browser.read("ann", &format!("{}.querySelector('input.code').focus()", card(&ids[0])));
    browser.act(&json!({"do": "type", "tab": "ann", "text": codes[0]}));
    browser.press("ann", "Enter");
    assert!(!running[0].is_finished(), "nothing that is typed is an answer");
    press(&mut browser, "ann", &ids[0], "a");
    until("the answer to count", || running[0].is_finished().then_some(()));
    for tab in ["ann", "bob"] {
        browser.wait(tab, &format!("{}.innerText.includes('Approved by')", card(&ids[0])));
    }
    // A desk that is cut off says so, sends nothing, and keeps nothing for later.
    world.fleet.postgres.kill();
    browser.sees("bob", "does not reach its fleet");
    press(&mut browser, "bob", &ids[1], "a");
    browser.sees("bob", "nothing was sent");
    world.fleet.postgres.start();
    browser.sees("bob", "Live");
    pause(Duration::from_secs(2));
    assert!(!running[1].is_finished());
    until("the denial to count", || {
        press(&mut browser, "bob", &ids[1], "d");
        running[1].is_finished().then_some(())
    });
    let mut codes = running.into_iter().map(|one| one.join().unwrap().code);
    assert_eq!((codes.next(), codes.next()), (Some(Some(0)), Some(Some(2))));
    for host in &world.hosts {
        let last = host.site.audit().into_iter().rfind(|record| record["kind"] == "decision").unwrap();
        assert!(last["detail"]["by"].as_str().unwrap().contains(&format!("desk:{user}")), "{last}");
    }
    // Sessions end at once, and a link of a desk that has ended is none.
    let old = link();
    page(&["--lock"]).expect(0);
    for tab in ["ann", "bob"] {
        browser.sees(tab, "This session is over.");
    }
    world.desks[0].dies();
    assert!(page(&[]).expect(1).stderr.contains("no desk is running"));
    world.desks[0].starts();
    let new = page(&["--json"]).expect(0).stdout;
    let new: Value = serde_json::from_str(&new).unwrap();
    assert_ne!(new["url"], old.as_str());
    browser.open("new", new["url"].as_str().unwrap());
    browser.sees("new", "Nothing is held.");
    world.ends();
}
