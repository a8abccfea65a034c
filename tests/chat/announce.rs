//! Services that only tell: what they are told, and that nobody answers there.

use std::sync::{Arc, Mutex};

use bashgate_tests::http::{Reply, Request, Server};
use bashgate_tests::{Site, until};
use serde_json::json;

use super::cases::secret_file;

struct Told {
    server: Server,
    requests: Arc<Mutex<Vec<Request>>>,
    failing: Arc<Mutex<Vec<u16>>>,
}

impl Told {
    fn start() -> Self {
        let (requests, failing) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (log, faults) = (requests.clone(), failing.clone());
        let server = Server::start(move |request| {
            if let Some(status) = faults.lock().unwrap().pop() {
                return Reply::With(status, "retry-after: 1\r\n".to_owned(), json!({"error": "no"}));
            }
            log.lock().unwrap().push(request.clone());
            Reply::Json(200, json!({"id": "x"}))
        });
        Self { server, requests, failing }
    }

    fn all(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

#[test]
fn ntfy_is_told_that_something_is_held_and_never_what() {
    let told = Told::start();
    told.failing.lock().unwrap().extend([500, 429]);
    let site = Site::new("");
    site.configure(&format!("[chat.x]\nkind = \"ntfy\"\nroom = \"a-topic\"\nbase_url = \"{}\"\n", told.server.url()));
    let _host = site.serve();
    site.raise_both("default");
    let running = site.check_later("curl -s https://hidden.example");
    let id = site.held("curl -s https://hidden.example");
    let held = until("ntfy to be told", || told.all().first().cloned());
    assert_eq!((held.method.as_str(), held.path.as_str()), ("POST", "/a-topic"));
    assert_eq!(held.header("title"), Some("Held in workspace default"));
    site.cli(["deny", &id]).expect(0);
    running.join().unwrap().expect(2);
    until("ntfy to be told the end", || (told.all().len() >= 2).then_some(()));
    assert!(told.all().iter().all(|request| !format!("{request:?}").contains("hidden.example")));
}

#[test]
fn a_webhook_is_told_the_card_and_what_became_of_it() {
    let told = Told::start();
    let site = Site::new("");
    secret_file(site.path(), "hook.token", "s3cret-of-the-hook");
    site.configure(&format!(
        "[chat.x]\nkind = \"webhook\"\ntoken_file = \"hook.token\"\nbase_url = \"{}/in\"\n",
        told.server.url()
    ));
    let host = site.serve();
    site.raise_both("default");
    let running = site.check_later("curl -s https://x.example");
    let id = site.held("curl -s https://x.example");
    let held = until("the hook to be told", || told.all().first().cloned());
    assert_eq!(held.header("authorization"), Some("Bearer s3cret-of-the-hook"));
    assert_eq!((&held.body["event"], &held.body["card"]["id"]), (&json!("held"), &json!(id)));
    assert!(held.body["card"]["command"].as_str().unwrap().contains("curl -s https://x.example"), "{}", held.body);
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    let over =
        until("the hook to be told the end", || told.all().into_iter().find(|request| request.body["event"] == "over"));
    assert!(over.body["text"].as_str().unwrap().contains("Approved by"), "{}", over.body);
    assert!(!host.said.lock().unwrap().contains("s3cret-of-the-hook"));
    // Nobody answers there.
    site.configure("[chat.x]\nkind = \"ntfy\"\nroom = \"t\"\napprovers = [\"ann\"]\n");
    assert!(site.cli(["config", "check"]).stderr.contains("nobody answers there"));
}
