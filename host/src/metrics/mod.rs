//! Numbers for Prometheus: what was decided, how long it took, what waits. They name no command and no workspace.

mod endpoint;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

pub use endpoint::{bind, serve};

use crate::authority::By;
use crate::egress::Closed;
use crate::policy::Finding;
use crate::taint::Taint;

/// Bounds of the buckets for latencies, in seconds: from a table's answer to a person's.
const SECONDS: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 300.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Decision {
    answer: &'static str,
    by: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Inspection {
    finding: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Tainted {
    taint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Egress {
    ended: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Way {
    way: &'static str,
}

/// The numbers. A copy counts into the same ones.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    decisions: Family<Decision, Counter>,
    seconds: Family<Decision, Histogram>,
    inspections: Family<Inspection, Counter>,
    rejects: Counter,
    wanted_network: Counter,
    egress: Family<Egress, Counter>,
    egress_bytes: Family<Way, Counter>,
    store_failures: Counter,
    waiting: Gauge,
    open: Gauge,
    held: Gauge,
    workspaces: Family<Tainted, Gauge>,
    uptime: Gauge<f64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("bashgate");
        let decisions = Family::<Decision, Counter>::default();
        registry.register("decisions", "Answers to requests, by outcome and by who said it", decisions.clone());
        let seconds = Family::<Decision, Histogram>::new_with_constructor(|| Histogram::new(SECONDS));
        registry.register_with_unit(
            "decision",
            "Time from seeing a request to its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        let inspections = Family::<Inspection, Counter>::default();
        registry.register("inspections", "Findings of the inspector", inspections.clone());
        let rejects = Counter::default();
        let wanted_network = Counter::default();
        let help = "Commands that failed in the cage, as they say for want of network";
        registry.register("caged_wanted_network", help, wanted_network.clone());
        registry.register("mailbox_rejects", "Requests that could not be taken", rejects.clone());
        let egress = Family::<Egress, Counter>::default();
        registry.register("egress_connections", "Connections out of containers, by how they ended", egress.clone());
        let egress_bytes = Family::<Way, Counter>::default();
        registry.register("egress_bytes", "Bytes that went through them", egress_bytes.clone());
        let store_failures = Counter::default();
        registry.register("store_failures", "Writes that the store refused", store_failures.clone());
        let waiting = Gauge::default();
        registry.register("requests_waiting", "Requests that were read and wait for their turn", waiting.clone());
        let open = Gauge::default();
        registry.register("cases_open", "Requests that are being decided", open.clone());
        let held = Gauge::default();
        registry.register("approvals_pending", "Commands that wait for a person", held.clone());
        let workspaces = Family::<Tainted, Gauge>::default();
        registry.register("workspaces", "Registered workspaces by taint", workspaces.clone());
        let uptime = Gauge::<f64, AtomicU64>::default();
        registry.register_with_unit("uptime", "Since the host was started", Unit::Seconds, uptime.clone());
        let build = Family::<Build, Gauge>::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version that runs", build);
        let registry = Arc::new(registry);
        Self {
            registry,
            decisions,
            seconds,
            inspections,
            rejects,
            wanted_network,
            egress,
            egress_bytes,
            store_failures,
            waiting,
            open,
            held,
            workspaces,
            uptime,
        }
    }
}

/// What the host has right now.
#[derive(Debug, Clone, Default)]
pub struct Stand {
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Open cases.
    pub open: usize,
    /// Commands that wait for a person.
    pub held: usize,
    /// The taints of the workspaces.
    pub taints: Vec<Taint>,
    /// Since the start.
    pub uptime: Duration,
}

impl Metrics {
    /// A decision fell: `allow`, `deny`, `caged`, or `let_through` where shadow mode ignored a denial.
    pub fn decided(&self, answer: &'static str, by: &By, took: Duration) {
        let decision = Decision { answer, by: by.kind() };
        self.seconds.get_or_create(&decision).observe(took.as_secs_f64());
        self.decisions.get_or_create(&decision).inc();
    }

    /// The inspector said something.
    pub fn found(&self, finding: &Finding) {
        let finding = match finding {
            Finding::Clear { .. } => "clear",
            Finding::Flagged { .. } => "flagged",
            Finding::NoAnswer { .. } => "no_answer",
            Finding::Unavailable { .. } => "unavailable",
        };
        self.inspections.get_or_create(&Inspection { finding }).inc();
    }

    /// A request could not be taken.
    pub fn rejected(&self) {
        self.rejects.inc();
    }

    /// A connection out of a container is over, or was refused.
    pub fn went_out(&self, closed: &Closed) {
        let ended = match (&closed.why, closed.address) {
            (None, _) => "closed",
            (Some(_), None) => "refused",
            (Some(_), Some(_)) => "cut",
        };
        self.egress.get_or_create(&Egress { ended }).inc();
        for (way, bytes) in ["up", "down"].into_iter().zip(closed.bytes) {
            self.egress_bytes.get_or_create(&Way { way }).inc_by(bytes);
        }
    }

    /// A command failed in the cage, as it says for want of network.
    pub fn wanted_network(&self) {
        self.wanted_network.inc();
    }

    /// The store refused a write.
    pub fn store_failed(&self) {
        self.store_failures.inc();
    }

    /// What there is right now.
    pub fn stands(&self, stand: &Stand) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.waiting.set(count(stand.waiting));
        self.open.set(count(stand.open));
        self.held.set(count(stand.held));
        self.uptime.set(stand.uptime.as_secs_f64());
        for taint in Taint::ALL {
            let workspaces = stand.taints.iter().filter(|of| **of == taint).count();
            self.workspaces.get_or_create(&Tainted { taint: taint.to_string() }).set(count(workspaces));
        }
    }

    /// Everything in Prometheus' text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Person;

    #[test]
    fn everything_is_counted_under_its_name() {
        let metrics = Metrics::default();
        metrics.decided("allow", &By::Policy, Duration::from_millis(2));
        metrics.decided("deny", &By::Human(Person::named("ann")), Duration::from_secs(20));
        metrics.decided("deny", &By::Host, Duration::ZERO);
        metrics.found(&Finding::NoAnswer { why: "late".to_owned() });
        metrics.rejected();
        metrics.wanted_network();
        metrics.stands(&Stand { waiting: 3, taints: vec![Taint::Both, Taint::Clean], ..Stand::default() });
        let text = metrics.text();
        for line in [
            "bashgate_decisions_total{answer=\"allow\",by=\"policy\"} 1",
            "bashgate_decisions_total{answer=\"deny\",by=\"human\"} 1",
            "bashgate_decision_seconds_bucket{le=\"0.0025\",answer=\"allow\",by=\"policy\"} 1",
            "bashgate_inspections_total{finding=\"no_answer\"} 1",
            "bashgate_mailbox_rejects_total 1",
            "bashgate_caged_wanted_network_total 1",
            "bashgate_requests_waiting 3",
            "bashgate_workspaces{taint=\"both\"} 1",
            "bashgate_workspaces{taint=\"secret\"} 0",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("ann\""), "nobody is named");
    }
}
