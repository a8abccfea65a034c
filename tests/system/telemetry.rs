//! What a host records as OpenTelemetry has it, at a collector that is down, refuses, and comes back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use bashgate_tests::{Site, pause, until};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// What came in.
#[derive(Default)]
struct Heard {
    spans: Vec<Span>,
    /// The kind of record and the words of each log record.
    logs: Vec<(String, String)>,
    decisions: u64,
    keys: Vec<String>,
    /// Nothing can be taken now.
    refuses: bool,
    /// Requests longer than this are refused, and no metrics are taken at all.
    longest: Option<usize>,
}

/// A collector: OTLP over HTTP, as binary protocol buffers.
struct Collector {
    address: String,
    heard: Arc<Mutex<Heard>>,
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    match attributes.iter().find(|one| one.key == name)?.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        other => Some(format!("{other:?}")),
    }
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Heard>>::default();
        let hears = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let hears = hears.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    loop {
                        let (mut length, mut path, mut key) = (0, String::new(), String::new());
                        let mut line = String::new();
                        loop {
                            line.clear();
                            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                                return;
                            }
                            let lower = line.to_ascii_lowercase();
                            if let Some(of) = lower.strip_prefix("content-length:") {
                                length = of.trim().parse().unwrap();
                            } else if lower.starts_with("post ") {
                                lower.split(' ').nth(1).unwrap().clone_into(&mut path);
                            } else if lower.starts_with("authorization:") {
                                line.split_once(':').unwrap().1.trim().clone_into(&mut key);
                            }
                            if line == "\r\n" {
                                break;
                            }
                        }
                        let mut body = vec![0; length];
                        reader.read_exact(&mut body).unwrap();
                        let longest = hears.lock().unwrap().longest;
                        let is_strange =
                            longest.is_some_and(|longest| body.len() > longest || path.contains("metrics"));
                        let refuses = hears.lock().unwrap().refuses || is_strange;
                        if !refuses {
                            hears.lock().unwrap().take(&path, &body, key);
                        }
                        let status = match refuses {
                            true if path.contains("metrics") && is_strange => "404 Not Found",
                            true if is_strange => "413 Content Too Large",
                            true => "503 Service Unavailable",
                            false => "200 OK",
                        };
                        let reply = format!(
                            "HTTP/1.1 {status}\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n"
                        );
                        if (&stream).write_all(reply.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, heard }
    }

    fn spans(&self, name: &str) -> Vec<Span> {
        self.heard.lock().unwrap().spans.iter().filter(|span| span.name == name).cloned().collect()
    }
}

impl Heard {
    fn take(&mut self, path: &str, body: &[u8], key: String) {
        self.keys.push(key);
        match path {
            "/v1/traces" => {
                let all = ExportTraceServiceRequest::decode(body).unwrap();
                let scopes = all.resource_spans.into_iter().flat_map(|of| of.scope_spans);
                self.spans.extend(scopes.flat_map(|of| of.spans));
            }
            "/v1/logs" => {
                let all = ExportLogsServiceRequest::decode(body).unwrap();
                let records = all.resource_logs.into_iter().flat_map(|of| of.scope_logs).flat_map(|of| of.log_records);
                self.logs.extend(records.map(|record| {
                    let words = format!("{:?}", record.body);
                    (text(&record.attributes, "bashgate.kind").unwrap(), words)
                }));
            }
            "/v1/metrics" => {
                let all = ExportMetricsServiceRequest::decode(body).unwrap();
                let metrics =
                    all.resource_metrics.into_iter().flat_map(|of| of.scope_metrics).flat_map(|of| of.metrics);
                for metric in metrics.filter(|metric| metric.name == "bashgate.decisions") {
                    let Some(Data::Sum(sum)) = metric.data else { panic!("no sum") };
                    for point in sum.data_points {
                        let Some(Number::AsInt(number)) = point.value else { panic!("no number") };
                        self.decisions += u64::try_from(number).unwrap();
                    }
                }
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_question_is_a_trace_and_nothing_is_lost_or_told_that_is_not_to_be() {
    let collector = Collector::start();
    let site = Site::new("");
    let headers = site.path().join("telemetry.headers");
    std::fs::write(&headers, "authorization: Bearer test\n").unwrap();
    std::fs::set_permissions(&headers, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let config = |more: &str| {
        site.configure(&format!(
            "[telemetry]\nendpoint = \"{}\"\nheaders_file = \"telemetry.headers\"\n{more}",
            collector.address
        ));
    };
    config("");
    // What is from before anybody asked for it is not sent.
    let mut host = site.serve();
    until("the first look", || {
        collector.heard.lock().unwrap().keys.first().map(|_| ()).or_else(|| {
            site.check("make first").expect(0);
            None
        })
    });
    site.raise_both("default");
    let running = site.check_later("curl -s https://x.example/secret-path");
    let id = site.held("curl -s https://x.example/secret-path");
    pause(std::time::Duration::from_millis(300));
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    let waits = until("the trace", || collector.spans("wait for a person").pop());
    let root =
        until("its root", || collector.spans("bash_check").into_iter().find(|span| span.trace_id == waits.trace_id));
    assert_eq!(waits.parent_span_id, root.span_id);
    assert!(
        root.start_time_unix_nano <= waits.start_time_unix_nano && waits.end_time_unix_nano <= root.end_time_unix_nano
    );
    assert!(waits.end_time_unix_nano - waits.start_time_unix_nano >= 250_000_000);
    let has = |name: &str| text(&root.attributes, name).unwrap();
    assert_eq!(
        (has("bashgate.answer"), has("bashgate.by"), has("bashgate.taint")),
        ("allow".into(), "human".into(), "both".into())
    );
    assert_eq!((has("bashgate.approval"), has("bashgate.workspace")), (id, "default".into()));
    until("the logs", || collector.heard.lock().unwrap().logs.iter().any(|(kind, _)| kind == "approval").then_some(()));
    {
        let heard = collector.heard.lock().unwrap();
        assert!(heard.keys.iter().all(|key| key == "Bearer test"));
        assert!(!format!("{:?}{:?}", heard.spans, heard.logs).contains("secret-path"));
    }
    // A collector that takes nothing delays nobody, and gets it later, once; whoever starts again goes on from there.
    collector.heard.lock().unwrap().refuses = true;
    for number in 0..5 {
        site.check(&format!("make later-{number}")).expect(0);
    }
    pause(std::time::Duration::from_secs(3));
    host.kill();
    collector.heard.lock().unwrap().refuses = false;
    config("commands = true\n");
    host = site.serve();
    site.check("make last").expect(0);
    until("all of it", || {
        let heard = collector.heard.lock().unwrap();
        heard.logs.iter().any(|(_, words)| words.contains("make last")).then_some(())
    });
    let decided = site.audit().iter().filter(|record| record["kind"] == "decision").count();
    let heard = collector.heard.lock().unwrap();
    let later = heard.logs.iter().filter(|(_, words)| words.contains("make later-")).count();
    assert_eq!(later, 5);
    let roots: std::collections::BTreeSet<_> =
        heard.spans.iter().filter(|span| span.name == "bash_check").map(|span| span.trace_id.clone()).collect();
    assert!(roots.len() >= decided - 3 && heard.decisions >= 6, "{} of {decided}, {}", roots.len(), heard.decisions);
    drop(heard);
    drop(host);
}

/// What a collector refuses for good keeps nothing else from it, and it sends nobody elsewhere.
#[test]
fn a_record_that_is_refused_is_left_out_and_nobody_is_followed() {
    let collector = Collector::start();
    let site = Site::new("");
    let serve = |endpoint: &str| {
        site.configure(&format!("[telemetry]\nendpoint = \"{endpoint}\"\ncommands = true\n"));
        site.serve()
    };
    collector.heard.lock().unwrap().longest = Some(20_000);
    let mut host = serve(&collector.address);
    let has = |what: &str| {
        let heard = collector.heard.lock().unwrap();
        heard.logs.iter().any(|(_, words)| words.contains(what))
            && heard.spans.iter().any(|span| format!("{span:?}").contains(what))
    };
    until("the first look", || {
        site.check("make first").expect(0);
        has("make first").then_some(())
    });
    site.check(&format!("make long {}", "x".repeat(60_000)));
    for number in 0..5 {
        site.check(&format!("make behind-{number}")).expect(0);
    }
    for number in 0..5 {
        until("what stands behind it", || has(&format!("make behind-{number}")).then_some(()));
    }
    assert!(!has("make long"));
    host.kill();
    // Somebody in its place sends elsewhere.
    collector.heard.lock().unwrap().longest = None;
    let before = collector.heard.lock().unwrap().keys.len();
    let elsewhere = collector.address.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let moved = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(0));
    let counts = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut first = [0; 4096];
            let _ = (&stream).read(&mut first);
            let path = String::from_utf8_lossy(&first).split(' ').nth(1).unwrap_or("/").to_owned();
            let reply = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}{path}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            let _ = (&stream).write_all(reply.as_bytes());
            *counts.lock().unwrap() += 1;
        }
    });
    let _host = serve(&moved);
    site.check("make elsewhere").expect(0);
    until("it to be asked", || (*asked.lock().unwrap() >= 3).then_some(()));
    pause(std::time::Duration::from_secs(1));
    assert_eq!(collector.heard.lock().unwrap().keys.len(), before);
}

/// The dashboard asks for what the host serves.
#[test]
fn the_dashboard_shows_numbers_that_there_are() {
    let text = std::fs::read_to_string(bashgate_tests::repository().join("packaging/grafana.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let served = std::fs::read_to_string(bashgate_tests::repository().join("docs/operating.md")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 8);
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let words = target["expr"].as_str().unwrap().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in words.filter(|word| word.starts_with("bashgate_")) {
            let name = name.trim_end_matches("_bucket");
            assert!(served.contains(name), "{name}");
        }
    }
}
