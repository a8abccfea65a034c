//! The page as strangers see it: other users of the machine, other sites in the same browser, other names for this address.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bashgate_tests::Site;
use serde_json::{Value, json};

use super::people::{link, site};

/// An answer as it came.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// Sends a request as it is.
fn raw(address: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

fn post(address: &str, path: &str, headers: &str, body: &Value) -> Answer {
    let body = body.to_string();
    raw(
        address,
        &format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        ),
    )
}

fn get(address: &str, path: &str, headers: &str) -> Answer {
    raw(address, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n"))
}

/// The cookie that somebody is given who is let in: its name and its value.
fn cookie_of(entry: &Answer) -> (String, String) {
    let pair = entry.head.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let (name, value) = pair.split_once('=').unwrap();
    (name.to_owned(), value.to_owned())
}

/// Now, as a page says when something was pressed.
fn pressed() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()
}

/// Where the page is, and a link's token.
fn parts(link: &str) -> (String, String) {
    let (address, token) = link.strip_prefix("http://").unwrap().split_once("/#").unwrap();
    (address.to_owned(), token.to_owned())
}

/// Somebody with a session, without a browser.
pub(crate) struct Visitor {
    address: String,
    headers: String,
}

impl Visitor {
    /// Lets somebody in by a new link.
    pub(crate) fn enter(site: &Site) -> Self {
        let (address, token) = parts(&link(site));
        let entry = post(&address, "/api/enter", "", &json!({"token": token}));
        assert_eq!(entry.status, 200);
        let key = serde_json::from_str::<Value>(&entry.body).unwrap()["key"].as_str().unwrap().to_owned();
        let (name, cookie) = cookie_of(&entry);
        Self { address, headers: format!("cookie: {name}={cookie}\r\nx-bashgate-key: {key}\r\n") }
    }

    /// Says words as a button of the page does.
    pub(crate) fn says(&self, words: &str) {
        let say = json!({"words": words, "at": u64::try_from(pressed()).unwrap()});
        post(&self.address, "/api/say", &self.headers, &say);
    }
}

#[test]
fn nothing_is_to_be_had_without_a_session() {
    let (site, _host) = site("");
    let running = site.check_later("curl -s https://secret.example");
    let id = site.held("curl -s https://secret.example");
    let (address, token) = parts(&link(&site));
    // The files of the page hold nothing.
    for path in ["/", "/page.js", "/page.css", "/charts.js", "/icon.svg"] {
        let answer = get(&address, path, "");
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("secret.example") && !answer.body.contains(&token));
        for header in [
            "content-security-policy: default-src 'none'",
            "x-frame-options: deny",
            "cache-control: no-store",
            "nosniff",
            "no-referrer",
        ] {
            assert!(answer.head.contains(header), "{path} lacks {header}: {}", answer.head);
        }
    }
    let entry = post(&address, "/api/enter", "", &json!({"token": token}));
    assert_eq!(entry.status, 200);
    let key = serde_json::from_str::<Value>(&entry.body).unwrap()["key"].as_str().unwrap().to_owned();
    let (name, cookie) = cookie_of(&entry);
    assert!(entry.head.contains("httponly; samesite=strict"), "{}", entry.head);
    assert_eq!(post(&address, "/api/enter", "", &json!({"token": token})).status, 403, "not twice");
    let headers = |cookie: &str, key: &str| format!("cookie: {name}={cookie}\r\nx-bashgate-key: {key}\r\n");
    let right = headers(&cookie, &key);
    let wrong = [
        String::new(),
        format!("cookie: {name}={cookie}\r\n"),
        format!("x-bashgate-key: {key}\r\n"),
        headers(&key, &cookie),
        headers(&cookie, &"0".repeat(64)),
        headers("", ""),
        headers(&token, &token),
    ];
    let say = json!({"words": format!("approve {id}"), "at": u64::try_from(pressed()).unwrap()});
    for headers in &wrong {
        for path in [
            "/api/live",
            "/api/history",
            "/api/numbers",
            "/api/workspaces",
            "/api/nothing",
            &format!("/api/card?id={id}"),
        ] {
            let answer = get(&address, path, headers);
            assert_eq!(answer.status, 401, "{path} {headers}");
            assert!(!answer.body.contains("secret.example"));
        }
        assert_eq!(post(&address, "/api/say", headers, &say).status, 401, "{headers}");
    }
    assert_eq!(site.pending().len(), 1, "nothing of that counts");
    // Somebody else's cookie of the same name does not get in the way.
    let both = format!("cookie: {name}=x; {name}={cookie}; other=1\r\nx-bashgate-key: {key}\r\n");
    assert_eq!(get(&address, "/api/history", &both).status, 200);
    // What was pressed long ago, or at no time, is not done now.
    for at in [
        json!(null),
        json!(0),
        json!(u64::try_from(pressed()).unwrap() - 60_000),
        json!(u64::try_from(pressed()).unwrap() + 60_000),
        json!("now"),
    ] {
        let late = json!({"words": format!("approve {id}"), "at": at});
        assert_eq!(post(&address, "/api/say", &right, &late).status, 409, "{at}");
    }
    // A stream that is open ends with its session.
    let mut open = TcpStream::connect(&address).unwrap();
    open.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    open.write_all(format!("GET /api/live HTTP/1.1\r\nhost: {address}\r\n{right}\r\n").as_bytes()).unwrap();
    let proof = |session: &str| get(&address, &format!("/api/proof?session={session}&nonce=n"), "").status;
    let session = serde_json::from_str::<Value>(&entry.body).unwrap()["session"].as_str().unwrap().to_owned();
    assert_eq!((proof(&session), proof("x"), proof(&key)), (200, 404, 404));
    // Locked, it is over.
    site.cli(["page", "--lock"]).expect(0);
    assert_eq!(post(&address, "/api/say", &right, &say).status, 401);
    let mut rest = String::new();
    open.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("secret.example") && rest.ends_with("0\r\n\r\n"), "the stream has come to its end");
    site.cli(["deny", &id]).expect(0);
    running.join().unwrap().expect(2);
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let (site, _host) = site("");
    let running = site.check_later("curl -s https://x.example");
    let id = site.held("curl -s https://x.example");
    let (address, token) = parts(&link(&site));
    let entry = post(&address, "/api/enter", "", &json!({"token": token}));
    let key = serde_json::from_str::<Value>(&entry.body).unwrap()["key"].as_str().unwrap().to_owned();
    let (name, cookie) = cookie_of(&entry);
    let session = format!("cookie: {name}={cookie}\r\nx-bashgate-key: {key}\r\n");
    let port = address.rsplit(':').next().unwrap();
    let body = json!({"words": format!("approve {id}"), "at": u64::try_from(pressed()).unwrap()}).to_string();
    let length = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    let own = format!("origin: http://{address}\r\n");
    // Names that an attacker can make lead here, and names that are not ours.
    for host in [
        "evil.example",
        "127.0.0.1",
        "localhost",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        &format!("127.0.0.1:{port}@evil.example"),
        &format!("[::1]:{port}"),
        &format!("LOCALHOST:{port}"),
        &format!("0.0.0.0:{port}"),
        "",
    ] {
        let answer = raw(&address, &format!("GET /api/history HTTP/1.1\r\nhost: {host}\r\n{session}\r\n"));
        assert!(matches!(answer.status, 400 | 421), "{host}: {}", answer.status);
    }
    let twice =
        raw(&address, &format!("GET /api/history HTTP/1.1\r\nhost: {address}\r\nhost: evil.example\r\n{session}\r\n"));
    assert_ne!(twice.status, 200);
    let post = |headers: &str| {
        raw(&address, &format!("POST /api/say HTTP/1.1\r\nhost: {address}\r\n{session}{length}{headers}\r\n{body}"))
    };
    for origin in [
        "",
        "origin: null\r\n",
        "origin: https://evil.example\r\n",
        &format!("origin: http://evil.example:{port}\r\n"),
        &format!("origin: https://{address}\r\n"),
        "origin: http://127.0.0.1\r\n",
        &format!("origin: http://localhost:{port}\r\n"),
        &format!("{own}origin: https://evil.example\r\n"),
        &format!("{own}sec-fetch-site: cross-site\r\n"),
        &format!("{own}sec-fetch-site: same-site\r\n"),
    ] {
        assert_eq!(post(origin).status, 403, "{origin}");
    }
    // A form of another site cannot send what is taken.
    let form = raw(
        &address,
        &format!(
            "POST /api/say HTTP/1.1\r\nhost: {address}\r\n{session}{own}content-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    );
    assert_eq!(form.status, 400);
    // A link in a message may lead to the empty page, and to nothing else.
    let cross = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\n";
    assert_eq!(get(&address, "/", cross).status, 200);
    assert_eq!(get(&address, "/api/history", &format!("{session}{cross}")).status, 403);
    assert_eq!(get(&address, "/page.js", "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n").status, 403);
    assert_eq!(site.pending().len(), 1, "nothing of that counts");
    assert_eq!(post(&own).status, 200, "the page itself is heard");
    running.join().unwrap().expect(0);
}

#[test]
fn malformed_and_endless_requests_hold_up_nobody() {
    let (site, _host) = site("");
    let (address, token) = parts(&link(&site));
    let own = format!("host: {address}\r\norigin: http://{address}\r\ncontent-type: application/json\r\n");
    for (request, want) in [
        (format!("POST /api/enter HTTP/1.1\r\n{own}content-length: 3\r\n\r\n{{x}}"), 400),
        (format!("POST /api/enter HTTP/1.1\r\n{own}content-length: 9000\r\n\r\n{}", "x".repeat(9000)), 400),
        (format!("POST /api/enter HTTP/1.1\r\n{own}content-length: 12\r\n\r\n{{\"token\":[]}}"), 403),
        (format!("PUT / HTTP/1.1\r\n{own}\r\n"), 405),
        (format!("GET /../../etc/passwd HTTP/1.1\r\n{own}\r\n"), 404),
        (format!("GET //api/history HTTP/1.1\r\n{own}\r\n"), 404),
        (format!("GET / HTTP/1.1\r\n{own}x: {}\r\n\r\n", "y".repeat(100_000)), 431),
    ] {
        assert_eq!(raw(&address, &request).status, want, "{}", request.chars().take(80).collect::<String>());
    }
    // Half of a request, and nothing more.
    let held: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
            stream
        })
        .collect();
    assert_eq!(get(&address, "/", "").status, 200, "others are served meanwhile");
    drop(held);
    for guess in 0..40 {
        let status = post(&address, "/api/enter", "", &json!({"token": guess.to_string()})).status;
        assert!(matches!(status, 403 | 429), "{status}");
    }
    // Even the right one, while somebody guesses.
    assert_eq!(post(&address, "/api/enter", "", &json!({"token": token})).status, 429);
}
