//! What a host records, as OpenTelemetry has it: a trace of each question from when it came in to its answer, metrics, and a log record for
//! each record.
//!
//! It reads the host's own record, as [`crate::shipping`] does: the host does nothing for it and waits for nothing. How far it has come is
//! kept, so that what could not be sent is sent later, in whole batches.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashgate_shared::command::Digest;
use bashgate_shared::say_aside;
use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, LoggerProvider as _, Severity};
use opentelemetry::metrics::{Counter, Histogram, MeterProvider as _};
use opentelemetry::trace::{
    Span as _, SpanId, SpanKind, Status, TraceContextExt as _, TraceId, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{BatchConfigBuilder as LogBatchConfigBuilder, BatchLogProcessor, SdkLoggerProvider};
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, IdGenerator, RandomIdGenerator, SdkTracerProvider,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::database::Pauses;
use bashgate::audit::{DecisionRecord, Record};
use bashgate::state;
use bashgate::store::{Reader, StoreError};

/// How often the host's own record is looked at for something new.
const LOOK: Duration = Duration::from_secs(1);
/// How long is waited before the next try, first and most.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];
/// Most records in one batch. Each is one log record and four spans at most, and all of a batch wait for one flush.
const BATCH: usize = 400;
/// So many bytes of records are enough for one batch.
const BYTES: usize = 1 << 20;
/// How long is waited behind a record that was refused.
const REFUSED: Duration = Duration::from_secs(1);
/// How many may wait in the queues of the exporters: more than a batch makes.
const QUEUE: usize = 4 * BATCH + 100;
/// How long sending may take.
const MOST_TIME: Duration = Duration::from_secs(10);
/// The span of a whole request.
const ROOT: &str = "bash_check";
/// So many requests are held in mind, of which only a part was recorded yet.
const OPEN: usize = 10_000;

/// Where it goes, and what.
pub struct Settings {
    /// The address of a collector, as `http://127.0.0.1:4318`: OTLP over HTTP.
    pub endpoint: String,
    /// What is said with each request, as a key for it.
    pub headers: Vec<(String, String)>,
    /// The texts of commands go along.
    pub commands: bool,
}

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The host's own store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The exporter.
    #[error("the exporter cannot be made: {0}")]
    Exporter(String),
    /// It was not taken.
    #[error("the collector does not take it: {0}")]
    NotTaken(String),
    /// It is refused, and will be again.
    #[error("the collector refuses it: {0}")]
    Refused(String),
    /// How far it has come cannot be kept.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// How far a signal has come.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Kept {
    seq: u64,
}

/// What is sent: each in its own time, so that a collector which takes one of them not has the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
    Metrics,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Traces, Self::Logs, Self::Metrics];

    const fn word(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
        }
    }

    fn file(self, folder: &Path) -> PathBuf {
        folder.join(format!("telemetry-{}.json", self.word()))
    }
}

/// Sends what the host with this state folder records, until the process ends. Errors are said on standard error, once each.
pub fn send(folder: &Path, settings: &Settings) {
    std::thread::scope(|scope| {
        for signal in Signal::ALL {
            scope.spawn(move || send_signal(folder, settings, signal));
        }
    });
}

fn send_signal(folder: &Path, settings: &Settings, signal: Signal) {
    let [first, most] = WAITS;
    let (mut pauses, mut said) = (Pauses::new(first, most), String::new());
    loop {
        pauses.begins();
        let Err(error) = sends(folder, settings, signal, &mut || {
            pauses.has_worked();
            said.clear();
        });
        let words = error.to_string();
        if words != said {
            say_aside!("telemetry ({}): {words}", signal.word());
            said = words;
        }
        std::thread::sleep(pauses.pause());
    }
}

fn sends(
    folder: &Path,
    settings: &Settings,
    signal: Signal,
    works: &mut impl FnMut(),
) -> Result<std::convert::Infallible, TelemetryError> {
    let reader = Reader::open(&state::store(folder))?;
    let file = signal.file(folder);
    let keep = |seq: u64| {
        let text = serde_json::to_string(&Kept { seq }).unwrap_or_default();
        let failed = |source| TelemetryError::File { path: file.clone(), source };
        state::write_whole(&file, text.as_bytes()).map_err(failed)
    };
    let kept: Option<Kept> = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
    let mut seq = if let Some(kept) = kept {
        kept.seq
    } else {
        // What was recorded before anybody asked for it is history; what comes from now on is not.
        let (head, _) = reader.head()?;
        keep(head)?;
        head
    };
    let mut sender = Sender::new(settings, signal)?;
    // Fewer, where a collector refuses as many.
    let mut most = BATCH;
    loop {
        let (head, _) = reader.head()?;
        // A store that was put back begins anew.
        seq = seq.min(head);
        let (mut batch, mut bytes) = (Vec::new(), 0);
        reader.audit(seq + 1, |record| {
            bytes += record.body.len();
            batch.push(record);
            batch.len() < most && bytes < BYTES
        })?;
        let Some(last) = batch.last().map(|record| record.seq) else {
            std::thread::sleep(LOOK);
            continue;
        };
        match sender.take(&batch) {
            Ok(()) => most = (most * 2).min(BATCH),
            // It will not take that, however often it is asked: one record keeps none of the others.
            Err(TelemetryError::Refused(_)) if batch.len() > 1 => {
                most = batch.len() / 2;
                // What was made of this batch is not sent with the next one.
                sender = Sender::new(settings, signal)?;
                continue;
            }
            Err(error @ TelemetryError::Refused(_)) => {
                say_aside!("telemetry ({}): record {last} is left out: {error}", signal.word());
                sender = Sender::new(settings, signal)?;
                std::thread::sleep(REFUSED);
            }
            Err(error) => return Err(error),
        }
        seq = last;
        keep(seq)?;
        works();
    }
}

/// A client that follows nobody elsewhere, and remembers what was answered last.
#[derive(Debug, Clone)]
struct Client {
    client: reqwest::blocking::Client,
    status: Arc<AtomicU16>,
}

impl Client {
    fn new() -> Result<Self, TelemetryError> {
        // Only the first call installs it; later ones find it in place.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Records and the key for the collector go where the operator said, and nowhere that it says.
        let client =
            reqwest::blocking::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(MOST_TIME);
        let client = client.build().map_err(|error| TelemetryError::Exporter(error.to_string()))?;
        Ok(Self { client, status: Arc::default() })
    }

    /// True where the last answer was one that will be the same the next time.
    fn is_refused(&self) -> bool {
        let status = self.status.load(Ordering::Relaxed);
        (300..500).contains(&status) && !matches!(status, 401 | 403 | 408 | 429)
    }
}

impl HttpClient for Client {
    fn send_bytes<'client, 'sent>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'client: 'sent,
        Self: 'sent,
    {
        Box::pin(async move {
            self.status.store(0, Ordering::Relaxed);
            let answer = self.client.send_bytes(request).await?;
            self.status.store(answer.status().as_u16(), Ordering::Relaxed);
            Ok(answer)
        })
    }
}

thread_local! {
    /// The trace and the span that come next: a trace is known by its request, also after a restart.
    static NEXT: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// Numbers that are made from requests, where one comes next.
#[derive(Debug, Default)]
struct ByRequest(RandomIdGenerator);

impl IdGenerator for ByRequest {
    fn new_trace_id(&self) -> TraceId {
        NEXT.get().map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        NEXT.get().map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}

/// What is known of a request before its decision is on record.
#[derive(Default, Clone, Copy)]
struct Waiting {
    held_ms: Option<u64>,
    answered_ms: Option<u64>,
}

struct Sender {
    to: To,
    client: Client,
    open: BTreeMap<String, Waiting>,
    commands: bool,
}

/// What takes the one signal that is sent.
enum To {
    Traces(SdkTracerProvider),
    Logs(SdkLoggerProvider),
    Metrics(Metrics),
}

struct Metrics {
    provider: SdkMeterProvider,
    decisions: Counter<u64>,
    took: Histogram<f64>,
    waited: Histogram<f64>,
    records: Counter<u64>,
}

/// A record, as far as it matters here.
#[derive(Deserialize)]
struct Body {
    at_ms: u64,
    kind: String,
    workspace: Option<String>,
    request_id: Option<String>,
    #[serde(default)]
    detail: Value,
}

impl Sender {
    fn new(settings: &Settings, signal: Signal) -> Result<Self, TelemetryError> {
        let failed = |error: opentelemetry_otlp::ExporterBuildError| TelemetryError::Exporter(error.to_string());
        let headers = settings.headers.iter().cloned().collect();
        let endpoint = format!("{}/v1/{}", settings.endpoint.trim_end_matches('/'), signal.word());
        let resource = Resource::builder_empty()
            .with_attributes([
                KeyValue::new("service.name", "bashgate"),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("host.name", rustix::system::uname().nodename().to_string_lossy().into_owned()),
            ])
            .build();
        let client = Client::new()?;
        let to = match signal {
            Signal::Traces => {
                let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().with_http_client(client.clone());
                let exporter =
                    exporter.with_protocol(Protocol::HttpBinary).with_endpoint(endpoint).with_headers(headers);
                let queue =
                    BatchConfigBuilder::default().with_max_queue_size(QUEUE).with_max_export_batch_size(QUEUE).build();
                let exporter = exporter.build().map_err(failed)?;
                let processor = BatchSpanProcessor::builder(exporter).with_batch_config(queue).build();
                let provider = SdkTracerProvider::builder().with_span_processor(processor);
                To::Traces(provider.with_id_generator(ByRequest::default()).with_resource(resource).build())
            }
            Signal::Logs => {
                let exporter = opentelemetry_otlp::LogExporter::builder().with_http().with_http_client(client.clone());
                let exporter =
                    exporter.with_protocol(Protocol::HttpBinary).with_endpoint(endpoint).with_headers(headers);
                let exporter = exporter.build().map_err(failed)?;
                let queue = LogBatchConfigBuilder::default();
                let queue = queue.with_max_queue_size(QUEUE).with_max_export_batch_size(QUEUE).build();
                let processor = BatchLogProcessor::builder(exporter).with_batch_config(queue).build();
                To::Logs(SdkLoggerProvider::builder().with_log_processor(processor).with_resource(resource).build())
            }
            Signal::Metrics => {
                let exporter =
                    opentelemetry_otlp::MetricExporter::builder().with_http().with_http_client(client.clone());
                let exporter =
                    exporter.with_protocol(Protocol::HttpBinary).with_endpoint(endpoint).with_headers(headers);
                // A restart begins at nothing.
                let exporter = exporter.with_temporality(Temporality::Delta).build().map_err(failed)?;
                let reader = PeriodicReader::builder(exporter).with_interval(Duration::from_hours(24)).build();
                To::Metrics(Metrics::new(
                    SdkMeterProvider::builder().with_reader(reader).with_resource(resource).build(),
                ))
            }
        };
        Ok(Self { to, client, open: BTreeMap::new(), commands: settings.commands })
    }

    /// Sends a batch: all of it was taken, or an error says why not.
    fn take(&mut self, batch: &[Record]) -> Result<(), TelemetryError> {
        for record in batch {
            if let Ok(body) = serde_json::from_str::<Body>(&record.body) {
                self.one(record, &body);
            }
        }
        let taken = match &self.to {
            To::Traces(traces) => traces.force_flush(),
            To::Logs(logs) => logs.force_flush(),
            To::Metrics(metrics) => metrics.provider.force_flush(),
        };
        taken.map_err(|error| {
            let why = error.to_string();
            if self.client.is_refused() { TelemetryError::Refused(why) } else { TelemetryError::NotTaken(why) }
        })
    }

    fn one(&mut self, record: &Record, body: &Body) {
        match &self.to {
            // Each record stands for itself there.
            To::Logs(logs) => return log(logs, record, body, self.commands),
            To::Metrics(metrics) => metrics.records.add(1, &[KeyValue::new("bashgate.kind", body.kind.clone())]),
            To::Traces(_) => {}
        }
        let Some(id) = body.request_id.clone() else { return };
        let event = body.detail.get("event").and_then(Value::as_str).unwrap_or_default();
        match (body.kind.as_str(), event) {
            ("approval", "held" | "joined") => {
                if self.open.len() >= OPEN {
                    self.open.pop_first();
                }
                self.open.entry(id).or_default().held_ms = Some(body.at_ms);
            }
            ("answer", _) => {
                if let Some(waiting) = self.open.get_mut(&id) {
                    waiting.answered_ms = Some(body.at_ms);
                }
            }
            ("decision", _) => {
                let waiting = self.open.remove(&id).unwrap_or_default();
                if let Ok(detail) = DecisionRecord::deserialize(&body.detail) {
                    self.decision(&id, body, &detail, waiting);
                }
            }
            _ => {}
        }
    }

    /// The trace of a request, and what is counted of it.
    fn decision(&self, id: &str, body: &Body, detail: &DecisionRecord, waiting: Waiting) {
        let took_us = detail.took_us.unwrap_or(0);
        let end = at(body.at_ms);
        let start = end.checked_sub(Duration::from_micros(took_us)).unwrap_or(end);
        let mut about = vec![
            KeyValue::new("bashgate.answer", detail.answer.as_str()),
            KeyValue::new("bashgate.by", detail.by.kind()),
            KeyValue::new("bashgate.request", detail.request.clone()),
        ];
        about.extend(detail.class.map(|class| KeyValue::new("bashgate.class", class.to_string())));
        about.extend(detail.taint_before.map(|taint| KeyValue::new("bashgate.taint", taint.to_string())));
        about.extend(body.workspace.clone().map(|name| KeyValue::new("bashgate.workspace", name)));
        let held = waiting.held_ms.map(at);
        let answered = |held| waiting.answered_ms.map_or(end, at).clamp(held, end.max(held));
        let traces = match &self.to {
            To::Logs(_) => return,
            To::Traces(traces) => traces,
            To::Metrics(metrics) => {
                metrics.decisions.add(1, &about);
                metrics.took.record(Duration::from_micros(took_us).as_secs_f64(), &about);
                if let Some(held) = held {
                    let waited = answered(held).duration_since(held).unwrap_or_default();
                    let of = [KeyValue::new("bashgate.answer", detail.answer.as_str())];
                    metrics.waited.record(waited.as_secs_f64(), &of);
                }
                return;
            }
        };
        let mut attributes = about;
        attributes.extend(detail.rule.clone().map(|rule| KeyValue::new("bashgate.rule", rule)));
        attributes.extend(detail.approval.clone().map(|approval| KeyValue::new("bashgate.approval", approval)));
        attributes.push(KeyValue::new("bashgate.caged", detail.caged));
        attributes.extend(detail.agent.clone().map(|agent| KeyValue::new("bashgate.agent", agent)));
        if let (true, Some(command)) = (self.commands, &detail.command) {
            attributes.push(KeyValue::new("bashgate.command", command.clone()));
        }
        let root = span(traces, id, ROOT, None, (start, end), attributes);
        let Some(held) = held else { return };
        let answered = answered(held);
        span(traces, id, "weigh", Some(&root), (start.min(held), held), Vec::new());
        let by = vec![KeyValue::new("bashgate.by", detail.by.to_string())];
        span(traces, id, "wait for a person", Some(&root), (held, answered), by);
        span(traces, id, "record and answer", Some(&root), (answered, end.max(answered)), Vec::new());
    }
}

fn span(
    traces: &SdkTracerProvider,
    id: &str,
    name: &'static str,
    parent: Option<&Context>,
    (start, end): (SystemTime, SystemTime),
    attributes: Vec<KeyValue>,
) -> Context {
    let tracer = traces.tracer("bashgate");
    NEXT.set(Some((trace_of(id), span_of(id, name))));
    let builder =
        tracer.span_builder(name).with_kind(SpanKind::Server).with_start_time(start).with_attributes(attributes);
    let mut span = tracer.build_with_context(builder, parent.unwrap_or(&Context::new()));
    NEXT.set(None);
    span.set_status(Status::Ok);
    let context = Context::new().with_remote_span_context(span.span_context().clone());
    span.end_with_timestamp(end);
    context
}

/// The log record of a record.
fn log(logs: &SdkLoggerProvider, record: &Record, body: &Body, commands: bool) {
    let logger = logs.logger("bashgate");
    let mut log = logger.create_log_record();
    let is_denied = body.detail.get("answer").and_then(Value::as_str) == Some("deny");
    log.set_timestamp(at(body.at_ms));
    log.set_observed_timestamp(SystemTime::now());
    log.set_severity_number(if is_denied { Severity::Warn } else { Severity::Info });
    log.set_severity_text(if is_denied { "WARN" } else { "INFO" });
    log.add_attribute("bashgate.kind", body.kind.clone());
    log.add_attribute("bashgate.record", i64::try_from(record.seq).unwrap_or(i64::MAX));
    if let Some(workspace) = &body.workspace {
        log.add_attribute("bashgate.workspace", workspace.clone());
    }
    for (name, key) in
        [("event", "bashgate.event"), ("answer", "bashgate.answer"), ("rule", "bashgate.rule"), ("by", "bashgate.by")]
    {
        if let Some(text) = body.detail.get(name).and_then(Value::as_str) {
            log.add_attribute(key, text.to_owned());
        }
    }
    if let Some(id) = body.request_id.as_deref() {
        log.set_trace_context(trace_of(id), span_of(id, ROOT), None);
    }
    let words = match (body.detail.get("command").and_then(Value::as_str), commands) {
        (Some(command), true) => format!("{}: {command}", body.kind),
        _ => body.kind.clone(),
    };
    log.set_body(AnyValue::from(words));
    logger.emit(log);
}

impl Metrics {
    fn new(provider: SdkMeterProvider) -> Self {
        let meter = provider.meter("bashgate");
        let decisions =
            meter.u64_counter("bashgate.decisions").with_description("Commands and calls that were decided");
        let took = meter.f64_histogram("bashgate.decision.duration").with_unit("s");
        let took =
            took.with_description("From when a request came in until its decision, the wait for people included");
        let waited = meter.f64_histogram("bashgate.approval.duration").with_unit("s");
        let waited = waited.with_description("How long what was held has waited for somebody");
        let records = meter.u64_counter("bashgate.records").with_description("Records of each kind");
        Self {
            decisions: decisions.build(),
            took: took.build(),
            waited: waited.build(),
            records: records.build(),
            provider,
        }
    }
}

fn at(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms)
}

/// The trace of a request: made from its id, so that whoever sends it again sends the same.
fn trace_of(id: &str) -> TraceId {
    let digest = Digest::of(format!("trace {id}").as_bytes()).hex();
    TraceId::from_hex(digest.get(..32).unwrap_or_default()).unwrap_or(TraceId::INVALID)
}

fn span_of(id: &str, name: &str) -> SpanId {
    let digest = Digest::of(format!("span {name} {id}").as_bytes()).hex();
    SpanId::from_hex(digest.get(..16).unwrap_or_default()).unwrap_or(SpanId::INVALID)
}
