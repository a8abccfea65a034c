//! The only way out of a container without a network: real clients in a network namespace that has nothing but its own loopback.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bashgate_tests::{Killed, Output, Site, bin, until};
use serde_json::Value;

/// A server over plain HTTP on the host's loopback, which keeps what it was asked and answers with as much as its path says.
struct Origin {
    port: u16,
    asked: Arc<std::sync::Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Origin {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, connections) = (Arc::<std::sync::Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let (log, count) = (asked.clone(), connections.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let log = log.clone();
                std::thread::spawn(move || answer(stream, &log));
            }
        });
        Self { port, asked, connections }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a head and as much of a body as it says, and answers.
fn answer(mut stream: TcpStream, log: &std::sync::Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    log.lock().unwrap().push(text.clone());
    let length =
        text.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
    let mut left = length.unwrap_or(0);
    let mut piece = vec![0; 65536];
    while left > 0 {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => left = left.saturating_sub(count),
        }
    }
    let path = text.split(' ').nth(1).unwrap_or_default();
    if path == "/switch" {
        let _ = stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
        return;
    }
    let bytes = path.trim_start_matches("/bytes/").parse::<usize>().unwrap_or(0);
    let body = if bytes > 0 { "x".repeat(bytes) } else { "reached\n".to_owned() };
    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
}

/// A host whose workspace may reach these, and addresses of loopback.
fn site(hosts: &[String], more: &str) -> Site {
    let hosts: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
    Site::new(&format!(
        "[egress]\nenabled = true\nprivate = [\"127.0.0.1\", \"::1\"]\nhosts = [{}]\n{more}",
        hosts.join(", ")
    ))
}

fn socket(site: &Site) -> PathBuf {
    site.path().join("egress/default/proxy.sock")
}

/// What a raw request is answered.
fn raw(site: &Site, request: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket(site)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// The same connection as a tunnel to a port of the host's loopback.
fn tunnel(mut stream: UnixStream, port: u16) -> UnixStream {
    write!(stream, "CONNECT localhost:{port} HTTP/1.1\r\n\r\n").unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    stream
}

/// A port that nobody has.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A command in a network namespace of its own, with the way out on its loopback.
fn inside(site: &Site, script: &str) -> Output {
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]).arg(bin("bashgate-run"));
    // The servers of these tests lie where usually nobody is led through it.
    let script = format!("unset no_proxy NO_PROXY; {script}");
    command.args(["egress", "--socket"]).arg(socket(site)).args(["--", "bash", "-c", &script]).current_dir(site.work());
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin").env("HOME", site.path());
    Output::of(&mut command, b"")
}

/// The connections on record.
fn records(site: &Site) -> Vec<Value> {
    site.audit()
        .into_iter()
        .filter(|record| record["kind"] == "egress")
        .map(|record| record["detail"].clone())
        .collect()
}

#[test]
fn what_is_listed_is_reached_and_nothing_else() {
    let (origin, other) = (Origin::start(), Origin::start());
    let site = site(&[format!("localhost:{}", origin.port)], "");
    let _host = site.serve();
    let port = origin.port;
    let got = inside(&site, &format!("curl -sS http://localhost:{port}/")).expect(0);
    assert_eq!(got.stdout, "reached\n");
    // By CONNECT, and by SOCKS.
    assert_eq!(inside(&site, &format!("curl -sS -p http://localhost:{port}/")).expect(0).stdout, "reached\n");
    let by_socks =
        inside(&site, &format!("http_proxy= curl -sS --socks5-hostname 127.0.0.1:3128 http://localhost:{port}/"));
    assert_eq!(by_socks.expect(0).stdout, "reached\n");
    for refused in [
        format!("curl -sS -D - http://localhost:{}/", other.port),
        format!("curl -sS -D - http://127.0.0.1:{port}/ --noproxy ''"),
        "curl -sS -D - http://example.org/".to_owned(),
    ] {
        let told = inside(&site, &refused);
        assert!(
            told.stdout.contains("403 bashgate: ") && told.stdout.contains("is not on this workspace's list"),
            "{told:?}"
        );
    }
    // Without it there is nothing: no route, no name.
    for direct in [
        format!("curl -sS -m 5 --noproxy '*' http://127.0.0.1:{port}/"),
        "curl -sS -m 5 --noproxy '*' http://192.0.2.1/".to_owned(),
    ] {
        assert_ne!(inside(&site, &direct).code, Some(0), "{direct}");
    }
    assert_eq!((origin.connections(), other.connections()), (3, 0));
    let records = until("all on record", || Some(records(&site)).filter(|records| records.len() >= 6));
    let reached: Vec<&Value> = records.iter().filter(|record| record["ended"] == "closed").collect();
    assert_eq!(reached.len(), 3, "{records:#?}");
    for record in reached {
        assert_eq!((&record["host"], &record["address"]), (&"localhost".into(), &"127.0.0.1".into()), "{record:#}");
        assert!(
            record["up"].as_u64() > Some(20) && record["down"].as_u64() > Some(20) && record["pid"].as_u64() > Some(0),
            "{record:#}"
        );
    }
    let tail = site.cli(["egress", "tail"]).expect(0).stdout;
    assert!(tail.contains("example.org:80 0 up, 0 down: example.org:80 is not on this workspace's list"), "{tail}");
}

/// However it is said: none of these reaches the server.
#[test]
fn no_way_of_saying_it_reaches_what_is_not_listed() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&["listed.example".to_owned(), "*.below.example".to_owned(), format!("localhost:{}", 9)], "");
    let _host = site.serve();
    let names = [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1",
        "127.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::1%25lo]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "listed.example@127.0.0.1",
        "user:pw@localhost",
        "127.0.0.1#.listed.example",
        "localhost%00.listed.example",
        "localhost%2elisted.example",
        "localhost\\.below.example",
        "127.0.0.1.below.example.",
        "xlisted.example",
        "listed.example.localhost",
        "below.example",
        "ｌocalhost",
        "localhost。",
        "１２７.0.0.1",
        "",
    ];
    for name in names {
        for request in [
            format!("CONNECT {name}:{port} HTTP/1.1\r\nHost: listed.example:{port}\r\n\r\n"),
            format!("CONNECT listed.example:{port} HTTP/1.1\r\nHost: {name}:{port}\r\n\r\n"),
            format!("GET http://{name}:{port}/ HTTP/1.1\r\nHost: listed.example\r\n\r\n"),
            format!("GET http://listed.example:{port}@{name}:{port}/ HTTP/1.1\r\nHost: listed.example\r\n\r\n"),
        ] {
            let answer = raw(&site, request.as_bytes());
            assert!(!answer.starts_with("HTTP/1.1 2") && !answer.contains("reached"), "{request:?}: {answer}");
        }
    }
    let socks = |command: u8, kind: u8, address: &[u8]| {
        let head = [&[5, 1, 0, 5, command, 0, kind], address, &port.to_be_bytes()].concat();
        raw(&site, &head)
    };
    for (command, kind, address) in [
        (1, 1, &[127, 0, 0, 1][..]),
        (1, 3, b"\x09localhost"),
        (1, 3, b"\x0elisted.example"),
        (1, 3, b"\x13localhost\0.listed.e"),
        (1, 3, b"\x00"),
        (1, 4, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (1, 9, b""),
        // To listen, and to send datagrams.
        (2, 3, b"\x09localhost"),
        (3, 3, b"\x09localhost"),
    ] {
        let answer = socks(command, kind, address);
        assert!(!answer.as_bytes().starts_with(&[5, 0, 5, 0]), "{command} {kind} {address:?}: {answer:?}");
    }
    for request in [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        format!("GET https://localhost:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("CONNECT localhost HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"),
        format!("CONNECT http://localhost:{port}/ HTTP/1.1\r\n\r\n"),
        format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET http://localhost:{port}/ HTTP/1.1\r\n\r\n"),
        "\x04\x01garbage".to_owned(),
        "\0".repeat(300),
        format!("GET http://localhost:{port}/ HTTP/1.1\r\n{}\r\n\r\n", "x: y\r\n".repeat(5000)),
        format!("GET http://localhost:{port}/{} HTTP/1.1\r\n\r\n", "x".repeat(200_000)),
    ] {
        let answer = raw(&site, request.as_bytes());
        assert!(!answer.starts_with("HTTP/1.1 2"), "{}: {answer}", request.chars().take(60).collect::<String>());
    }
    assert_eq!(origin.connections(), 0);
}

/// What a name leads to counts: private addresses only where the operator has named them.
#[test]
fn a_listed_name_that_leads_inside_is_refused() {
    let origin = Origin::start();
    let port = origin.port;
    let site = Site::new(&format!("[egress]\nenabled = true\nhosts = [\"localhost:{port}\", \"127.0.0.1:{port}\"]\n"));
    let host = site.serve();
    let ask = |name: &str| raw(&site, format!("GET http://{name}:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    let answer = ask("localhost");
    assert!(answer.contains("which is no public address") && origin.connections() == 0, "{answer}");
    assert!(ask("127.0.0.1").contains("reached"), "an address that is listed is named");
    drop(host);
    let text = std::fs::read_to_string(site.host_toml())
        .unwrap()
        .replace("enabled = true", "enabled = true\nprivate = [\"127.0.0.0/8\", \"::1\"]");
    std::fs::write(site.host_toml(), text).unwrap();
    let _host = site.serve();
    assert!(ask("localhost").contains("reached"));
}

/// A request over plain HTTP goes to the host of its address, whatever else it says, and alone.
#[test]
fn a_plain_request_is_made_anew() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&[format!("localhost:{port}")], "");
    let _host = site.serve();
    let request = format!(
        "POST http://localhost:{port}/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eA==\r\nConnection: x-hop, keep-alive\r\nX-Hop: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Kept: 1\r\nContent-Length: 3\r\n\r\nabcGET http://localhost:{port}/second HTTP/1.1\r\nHost: x\r\n\r\n"
    );
    assert!(raw(&site, request.as_bytes()).contains("reached"));
    for twice in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Content-Length: 3\r\nContent-Length: 4",
        "Transfer-Encoding: x, chunked\r\nContent-Length: 3",
    ] {
        raw(&site, format!("POST http://localhost:{port}/smuggled HTTP/1.1\r\nHost: x\r\n{twice}\r\n\r\n0\r\n\r\nGET http://localhost:{port}/second HTTP/1.1\r\n\r\n").as_bytes());
    }
    let asked = origin.asked();
    let first = asked[0].to_lowercase();
    assert!(
        first.starts_with("post /a?b http/1.1\r\n") && first.contains(&format!("host: localhost:{port}\r\n")),
        "{first}"
    );
    assert!(first.contains("x-kept: 1"), "{first}");
    for gone in ["evil", "proxy-authorization", "x-hop", "upgrade", "te: trailers"] {
        assert!(!first.contains(gone), "{gone}: {first}");
    }
    assert!(!asked.iter().any(|asked| asked.contains("/second")), "{asked:?}");
    let switched = raw(&site, format!("GET http://localhost:{port}/switch HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    assert!(switched.starts_with("HTTP/1.1 502"), "{switched}");
}

/// What is beyond the hour's budget is cut, told and on record; nothing of it is sent.
#[test]
fn a_budget_cuts() {
    let cut_by = |site: &Site, budget: &str| {
        until(budget, || {
            let is_cut = |record: &Value| record["ended"].as_str().is_some_and(|why| why.contains(budget));
            records(site).into_iter().find(|record| is_cut(record) && record["address"].is_string())
        })
    };
    for by_connect in [false, true] {
        let way = if by_connect { "-p" } else { "" };
        let origin = Origin::start();
        let port = origin.port;
        let small = site(&[format!("localhost:{port}")], "up_mib_per_hour = 1\n");
        let _host = small.serve();
        std::fs::write(small.work().join("large"), vec![b'x'; 3 << 20]).unwrap();
        inside(&small, &format!("curl -sS -m 20 {way} --data-binary @large http://localhost:{port}/"));
        let cut = cut_by(&small, "up_mib_per_hour");
        assert!((1 << 19..(1 << 20) + (64 << 10)).contains(&cut["up"].as_u64().unwrap()), "{cut:#}");
        // More than flows back while a busy machine gets here.
        let more = "x".repeat(30_000);
        let told = inside(&small, &format!("curl -sS -D - -H 'x: {more}' http://localhost:{port}/"));
        assert!(told.stdout.contains("this workspace has sent as many bytes as it may"), "{told:?}");

        let small = site(&[format!("localhost:{port}")], "down_mib_per_hour = 2\n");
        let _host = small.serve();
        let whole = inside(&small, &format!("curl -sS {way} http://localhost:{port}/bytes/1000000 | wc -c"));
        assert_eq!(whole.stdout.trim(), "1000000");
        inside(&small, &format!("curl -sS -m 20 {way} http://localhost:{port}/bytes/4000000 -o /dev/null"));
        let cut = cut_by(&small, "down_mib_per_hour");
        assert!(cut["down"].as_u64().unwrap() < 2 << 20, "{cut:#}");
    }
}

/// A workspace that is removed has no way out any more, and what was open ends.
#[test]
fn a_workspace_that_is_removed_has_no_way_out() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&[format!("localhost:{port}")], "");
    let _host = site.serve();
    site.cli(["workspace", "add", "other"]).expect(0);
    let other = site.path().join("egress/other/proxy.sock");
    let mut open = tunnel(until("its socket", || UnixStream::connect(&other).ok()), port);
    site.cli(["workspace", "remove", "other"]).expect(0);
    until("an end", || UnixStream::connect(&other).err());
    open.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut rest = Vec::new();
    assert!(open.read_to_end(&mut rest).is_ok(), "it ends");
    let shut = until("its record", || {
        records(&site).into_iter().find(|record| record["ended"].as_str().is_some_and(|why| why.contains("was shut")))
    });
    assert_eq!(shut["host"], "localhost", "{shut:#}");
}

/// What was open when the host ends is on record with what went through it.
#[test]
fn an_open_connection_is_on_record_when_the_host_ends() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&[format!("localhost:{port}")], "");
    let mut host = site.serve();
    let mut open = UnixStream::connect(socket(&site)).unwrap();
    write!(open, "CONNECT localhost:{port} HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    open.read_exact(&mut answer).unwrap();
    // Once its answer is there, all of it has gone through.
    let (begin, end) = ("GET / HTTP/1.1\r\nx: ", "\r\n\r\n");
    write!(open, "{begin}{}{end}", "x".repeat(5000 - begin.len() - end.len())).unwrap();
    let mut answer = Vec::new();
    open.read_to_end(&mut answer).unwrap();
    assert!(String::from_utf8_lossy(&answer).ends_with("reached\n"), "{answer:?}");
    host.terminate();
    let _host = site.serve();
    let record = until("its record", || records(&site).into_iter().find(|record| record["host"] == "localhost"));
    assert_eq!(record["up"], 5000, "{record:#}");
}

/// In a tunnel to the port of plain HTTP any host of that address could be named.
#[test]
fn nothing_goes_through_a_tunnel_to_plain_http() {
    let site = site(&["localhost".to_owned()], "");
    let _host = site.serve();
    let answer = raw(&site, b"CONNECT localhost:80 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let answer = raw(&site, b"\x05\x01\x00\x05\x01\x00\x03\x09localhost\x00\x50");
    assert_eq!(answer.as_bytes().get(..4), Some(&[5, 0, 5, 2][..]), "{answer:?}");
    let answer = raw(&site, b"GET http://localhost:74537/ HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

/// TLS must ask for the host that was allowed.
#[test]
fn tls_to_another_server_is_cut() {
    let site_folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (site_folder.path().join("key"), site_folder.path().join("cert"));
    let mut make = Command::new("openssl");
    make.args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
    ]);
    make.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    Output::of(&mut make, b"").expect(0);
    let port = free_port();
    let mut server = Command::new("openssl");
    server
        .args(["s_server", "-www", "-quiet", "-accept", &format!("127.0.0.1:{port}")])
        .arg("-key")
        .arg(&key)
        .arg("-cert")
        .arg(&certificate);
    let server = Killed(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("the server", || TcpStream::connect(("127.0.0.1", port)).ok());
    let again = free_port();
    let mut other = Command::new("openssl");
    other.args(["s_server", "-www", "-quiet", "-groups", "P-256", "-accept", &format!("127.0.0.1:{again}")]);
    other.arg("-key").arg(&key).arg("-cert").arg(&certificate);
    let _other = Killed(other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("the other server", || TcpStream::connect(("127.0.0.1", again)).ok());
    let site = site(&[format!("localhost:{port}"), format!("localhost:{again}")], "");
    let _host = site.serve();
    std::fs::copy(&certificate, site.work().join("cert")).unwrap();
    let got = inside(&site, &format!("curl -sS --cacert cert https://localhost:{port}/")).expect(0);
    assert!(got.stdout.contains("s_server"), "{got:?}");
    // One that is asked to say hello once more, since the server wants another group.
    let second = again;
    let again = format!(
        "openssl s_client -proxy 127.0.0.1:3128 -connect localhost:{again} -servername localhost -groups X25519:P-256 </dev/null"
    );
    let told = inside(&site, &again);
    assert!(told.stdout.contains("BEGIN CERTIFICATE"), "{told:?}");
    for name in ["evil.example", "xlocalhost", "a.localhost", "localhost.evil.example"] {
        let told = inside(
            &site,
            &format!("openssl s_client -proxy 127.0.0.1:3128 -connect localhost:{port} -servername {name} </dev/null"),
        );
        assert!(!told.stdout.contains("BEGIN CERTIFICATE"), "{name}: {told:?}");
        let want = format!("TLS asked for `{name}` at the address of localhost");
        until(&want, || records(&site).iter().any(|record| record["ended"] == want.as_str()).then_some(()));
    }
    // Whoever knows beforehand that it will be asked again says both at once; and where something stands in front of the first.
    for (to, name, before) in
        [(second, "both at once", ""), (second, "one byte at a time", ""), (port, "a warning first", "15030100020170")]
    {
        let script = format!("python3 - {to} '{name}' '{before}' <<'E'\n{TWO_HELLOS}\nE\n");
        let told = inside(&site, &script).expect(0);
        assert_eq!(told.stdout, "b''\n", "{name}: {told:?}");
    }
    let cut = |why: &str| records(&site).iter().any(|record| record["ended"] == why);
    until("both cuts", || {
        (cut("TLS asked for `evil.example` at the address of localhost")
            && cut("it began with something else than a plain TLS hello"))
        .then_some(())
    });
    drop(server);
}

/// A client that says hello to a host that is allowed and then to another one at the same address, before it has heard anything; it prints what
/// the server says to it.
const TWO_HELLOS: &str = r#"
import socket, subprocess, sys
port, how, before = int(sys.argv[1]), sys.argv[2], bytes.fromhex(sys.argv[3])
def hello(name, groups):
    l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen()
    said = ["openssl", "s_client", "-connect", "127.0.0.1:%d" % l.getsockname()[1], "-servername", name, "-groups", groups]
    client = subprocess.Popen(said, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    c, _ = l.accept(); heard = c.recv(65536); client.kill(); client.wait()
    return heard
s = socket.create_connection(("127.0.0.1", 3128)); s.settimeout(5)
s.sendall(b"CONNECT localhost:%d HTTP/1.1\r\n\r\n" % port)
head = b""
while b"\r\n\r\n" not in head: head += s.recv(1)
both = before + hello("localhost", "X25519:P-256") + hello("second.example", "P-256")
try:
    for piece in ([both] if how != "one byte at a time" else [both[i:i+1] for i in range(len(both))]): s.sendall(piece)
    heard = s.recv(65536)
    # That it wants another hello says nothing of anybody.
    if heard[:1] == b"\x16" and b"\xcf\x21\xad\x74" in heard[:64] and len(heard) < 200: heard = s.recv(65536)
except (ConnectionError, socket.timeout): heard = b""
print(heard)
"#;

/// Real git, over the proxy alone.
#[test]
fn git_clones_and_fetches_from_a_listed_host() {
    let site_folder = tempfile::tempdir().unwrap();
    let repository = site_folder.path().join("project.git");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=test", "-c", "user.email=test@example.org"])
            .args(arguments)
            .env("HOME", site_folder.path());
        Output::of(&mut command, b"").expect(0)
    };
    let at = repository.to_str().unwrap();
    git(&["init", "-q", "--bare", at]);
    let tree = git(&["-C", at, "mktree"]).stdout.trim().to_owned();
    let commit = git(&["-C", at, "commit-tree", &tree, "-m", "one"]).stdout.trim().to_owned();
    let head = git(&["-C", at, "symbolic-ref", "HEAD"]).stdout.trim().to_owned();
    git(&["-C", at, "update-ref", &head, &commit]);
    git(&["-C", at, "update-server-info"]);
    let port = free_port();
    let mut server = Command::new("python3");
    server.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]).current_dir(site_folder.path());
    let _server = Killed(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("the server", || TcpStream::connect(("127.0.0.1", port)).ok());
    let site = site(&[format!("localhost:{port}")], "");
    let _host = site.serve();
    let cloned = inside(
        &site,
        &format!(
            "git clone -q http://localhost:{port}/project.git cloned && git -C cloned fetch && git -C cloned log --format=%s"
        ),
    );
    assert_eq!(cloned.expect(0).stdout, "one\n");
    let refused = inside(&site, "git clone http://elsewhere.example/project.git other");
    assert!(refused.code != Some(0) && refused.stderr.contains("403"), "{refused:?}");
}

/// Another host serves the same folder, and what was open ends with the first one.
#[test]
fn a_host_that_starts_again_is_the_way_out_again() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&[format!("localhost:{port}")], "");
    let mut host = site.serve();
    let mut open = tunnel(UnixStream::connect(socket(&site)).unwrap(), port);
    host.kill();
    open.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut rest = Vec::new();
    assert!(open.read_to_end(&mut rest).is_ok(), "it ends");
    let alone = inside(&site, &format!("curl -sS -D - http://localhost:{port}/"));
    assert!(alone.stdout.contains("503 bashgate: the host's way out is not there"), "{alone:?}");
    let _host = site.serve();
    assert_eq!(inside(&site, &format!("curl -sS http://localhost:{port}/")).expect(0).stdout, "reached\n");
}

/// Clients that say nothing take no place from other workspaces, and not for long from their own.
#[test]
fn half_open_connections_harm_nobody_else() {
    let origin = Origin::start();
    let port = origin.port;
    let site = site(&[format!("localhost:{port}")], "");
    let _host = site.serve();
    site.cli(["workspace", "add", "other"]).expect(0);
    let other = site.path().join("egress/other/proxy.sock");
    until("the other socket", || UnixStream::connect(&other).ok());
    let idle: Vec<UnixStream> = (0..1200)
        .filter_map(|number| {
            let stream = UnixStream::connect(socket(&site)).ok()?;
            if number % 2 == 0 {
                (&stream).write_all(b"GET http://localhost/ HTTP/1.1\r\nx: ").ok()?;
            }
            Some(stream)
        })
        .collect();
    let since = Instant::now();
    let mut stream = UnixStream::connect(&other).unwrap();
    write!(stream, "GET http://localhost:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("reached") && since.elapsed() < Duration::from_secs(5), "{answer}");
    // Their time is over after a while, and the next one has its turn.
    let own = raw(&site, format!("GET http://localhost:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    assert!(own.is_empty() || own.contains("reached"), "{own}");
    until("its own turn", || {
        raw(&site, format!("GET http://localhost:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())
            .contains("reached")
            .then_some(())
    });
    drop(idle);
}
