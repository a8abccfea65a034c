//! The records of all hosts: looked for, and handed on in forms that others read.
//!
//! What the database holds is taken as it is: [`crate::verify`] says whether it is what the hosts have recorded. A record that does not read
//! back is passed over by a search, and handed on as text.

use bashgate::audit::outcome;
use serde_json::{Value, json};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::HostName;
use crate::database::DatabaseError;
use crate::pages;

/// Records that are read in one go.
const PAGE: usize = 1000;

/// Which records are meant. What is not given is not asked.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Of this host.
    pub host: Option<HostName>,
    /// Of a workspace of this name.
    pub workspace: Option<String>,
    /// Of this kind, as `decision`.
    pub kind: Option<String>,
    /// Somebody's word: a part of what a record calls them, in any case.
    pub person: Option<String>,
    /// About a command that runs this program.
    pub program: Option<String>,
    /// About a connection or a command to this host.
    pub to: Option<String>,
    /// About a command, or a tool and what it was used on, with this in it.
    pub text: Option<String>,
    /// Not before, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Before, in milliseconds since 1970.
    pub until_ms: Option<u64>,
}

/// A record of a host.
#[derive(Debug, Clone)]
pub struct Found {
    /// The host.
    pub host: String,
    /// Which of its chains.
    pub number: i32,
    /// Its place there.
    pub seq: i64,
    /// Exactly as the host has it.
    pub text: String,
    /// The same as JSON; null where it is none.
    pub body: Value,
}

impl Wanted {
    /// True for a record that is meant, as far as the database itself was not asked.
    fn is(&self, body: &Value) -> bool {
        let word = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let has = |pointer: &str, wanted: &str| {
            body.pointer(pointer).and_then(Value::as_array).is_some_and(|all| {
                all.iter()
                    .any(|one| one.as_str() == Some(wanted) || one.get("host").and_then(Value::as_str) == Some(wanted))
            })
        };
        let person = |person: &String| {
            let person = person.to_lowercase();
            ["/detail/by", "/detail/person"].iter().any(|at| word(at).to_lowercase().contains(&person))
        };
        let program = |program: &String| {
            ["/detail/effects/programs", "/detail/effects/started"].iter().any(|at| has(at, program))
        };
        // Where it goes stands with its port in some places.
        let is_to = |host: &String| {
            let ends = |one: &Value| one.as_str().is_some_and(|end| end.split(':').next() == Some(host));
            let way = body.pointer("/detail/egress").and_then(Value::as_array);
            word("/detail/host") == host
                || has("/detail/effects/network", host)
                || way.is_some_and(|ends_at| ends_at.iter().any(ends))
        };
        let text = |text: &String| {
            ["/detail/command", "/detail/tool", "/detail/target"].iter().any(|at| word(at).contains(text.as_str()))
        };
        self.person.as_ref().is_none_or(person)
            && self.program.as_ref().is_none_or(program)
            && self.to.as_ref().is_none_or(is_to)
            && self.text.as_ref().is_none_or(text)
    }
}

/// Looks at all records that are meant, the newest or the oldest first by the hosts' own clocks, until `look` has seen enough.
pub async fn each(
    client: &Client,
    wanted: &Wanted,
    newest_first: bool,
    mut look: impl FnMut(Found) -> bool,
) -> Result<(), DatabaseError> {
    let (order, beyond) = if newest_first { ("DESC", "<") } else { ("ASC", ">") };
    let edge = if newest_first { i64::MAX } else { i64::MIN };
    let mut from = (edge, String::new(), 0_i32, edge);
    let mut is_first = true;
    let host = wanted.host.as_ref().map(HostName::as_str);
    let time = |at: Option<u64>, otherwise: i64| at.map_or(otherwise, |at| i64::try_from(at).unwrap_or(i64::MAX));
    let (since, until) = (time(wanted.since_ms, i64::MIN), time(wanted.until_ms, i64::MAX));
    let query = pages::query(
        "at_ms, host, number, seq",
        &format!(
            "($1::text IS NULL OR host = $1) AND ($2::text IS NULL OR workspace = $2) AND ($3::text IS NULL OR kind = $3)
             AND at_ms >= $4 AND at_ms < $5 AND ($6 OR (at_ms, host, number, seq) {beyond} ($7, $8, $9, $10))"
        ),
        &format!("at_ms {order}, host {order}, number {order}, seq {order}"),
        PAGE,
    );
    let query = client.prepare(&query).await?;
    loop {
        let given: [&(dyn ToSql + Sync); 10] =
            [&host, &wanted.workspace, &wanted.kind, &since, &until, &is_first, &from.0, &from.1, &from.2, &from.3];
        let rows = client.query(&query, &given).await?;
        for row in &rows {
            let (host, number, seq): (String, i32, i64) = (row.get(1), row.get(2), row.get(3));
            from = (row.get(0), host.clone(), number, seq);
            // What is too long to be a record `verify` tells of.
            let Some(text) = row.get::<_, Option<String>>(4) else { continue };
            let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            if wanted.is(&body) && !look(Found { host, number, seq, text, body }) {
                return Ok(());
            }
        }
        is_first = false;
        if rows.is_empty() {
            return Ok(());
        }
    }
}

/// A record as an event of the Open Cybersecurity Schema Framework, version 1.3: a command as Process Activity, a connection as Network
/// Activity, everything else as a Base Event. What has no place there stands under `unmapped`.
///
/// Source: <https://schema.ocsf.io/1.3.0/>.
pub fn ocsf(found: &Found) -> Value {
    let Found { host, number, seq, body, text } = found;
    let word = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let count = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let kind = word("/kind");
    let is_refused = match kind {
        "decision" => outcome(body) == "deny",
        // What was refused has reached no address.
        "egress" => word("/detail/address").is_empty(),
        _ => false,
    };
    let (class, category, activity) = match kind {
        // Launch of a process; opening of a connection.
        "decision" if !word("/detail/command").is_empty() => (1007, 1, 1),
        "egress" => (4001, 4, if is_refused { 5 } else { 1 }),
        _ => (0, 0, 0),
    };
    let mut event = json!({
        "class_uid": class,
        "category_uid": category,
        "activity_id": activity,
        "type_uid": class * 100 + activity,
        // Informational, or low where something was refused.
        "severity_id": if is_refused { 2 } else { 1 },
        "time": count("/at_ms"),
        "action_id": if is_refused { 2 } else { 1 },
        "metadata": {
            "version": "1.3.0",
            "uid": format!("{host}/{number}/{seq}"),
            "profiles": ["security_control", "host"],
            "product": {"name": "bashgate", "vendor_name": "bashgate", "version": env!("CARGO_PKG_VERSION")},
        },
        "device": {"hostname": host, "type_id": 0},
        "message": word("/detail/reason"),
        "unmapped": if body.is_null() { json!(text) } else { body.clone() },
    });
    let Some(fields) = event.as_object_mut() else { return Value::Null };
    match class {
        1007 => {
            fields.insert(
                "process".to_owned(),
                json!({"cmd_line": word("/detail/command"), "working_directory": word("/detail/cwd")}),
            );
            fields.insert(
                "actor".to_owned(),
                json!({"app_name": word("/detail/agent"), "session": {"uid": word("/detail/session")}}),
            );
        }
        4001 => {
            fields.insert(
                "dst_endpoint".to_owned(),
                json!({"hostname": word("/detail/host"), "port": count("/detail/port"), "ip": word("/detail/address")}),
            );
            fields.insert(
                "traffic".to_owned(),
                json!({"bytes_out": count("/detail/up"), "bytes_in": count("/detail/down")}),
            );
        }
        _ => {}
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: Value) -> Found {
        Found { host: "web-1".to_owned(), number: 1, seq: 7, text: body.to_string(), body }
    }

    #[test]
    fn what_is_meant_is_found_by_what_a_record_says() {
        let body = json!({"kind": "decision", "detail": {"command": "curl https://x.example", "by": "human:telegram:42 (Ann)",
            "effects": {"programs": ["curl"], "network": [{"host": "x.example"}]}, "egress": ["y.example:443"]}});
        let with = |change: fn(&mut Wanted)| {
            let mut wanted = Wanted::default();
            change(&mut wanted);
            wanted.is(&body)
        };
        assert!(with(|_| {}));
        assert!(with(|wanted| wanted.person = Some("ann".to_owned())));
        assert!(!with(|wanted| wanted.person = Some("bob".to_owned())));
        assert!(with(|wanted| wanted.program = Some("curl".to_owned())));
        assert!(!with(|wanted| wanted.program = Some("cur".to_owned())));
        assert!(with(|wanted| wanted.to = Some("x.example".to_owned())));
        assert!(with(|wanted| wanted.to = Some("y.example".to_owned())));
        assert!(!with(|wanted| wanted.to = Some("example".to_owned())));
        assert!(with(|wanted| wanted.text = Some("//x".to_owned())));
        assert!(!Wanted { text: Some("x".to_owned()), ..Wanted::default() }.is(&Value::Null));
    }

    #[test]
    fn an_event_says_what_ran_and_what_was_refused() {
        let decision =
            json!({"kind": "decision", "at_ms": 5, "detail": {"command": "make", "cwd": "/w", "answer": "deny"}});
        let event = ocsf(&found(decision));
        assert_eq!((event["class_uid"].as_u64(), event["type_uid"].as_u64()), (Some(1007), Some(100_701)));
        assert_eq!((event["action_id"].as_u64(), event["time"].as_u64()), (Some(2), Some(5)));
        assert_eq!(event["process"]["cmd_line"], "make");
        assert_eq!(event["metadata"]["uid"], "web-1/1/7");
        let caged = json!({"kind": "decision", "detail": {"command": "make", "answer": "deny", "caged": true}});
        assert_eq!(ocsf(&found(caged))["action_id"], 1);
        let way = json!({"kind": "egress", "detail": {"host": "x.example", "port": 443, "address": "192.0.2.1:443", "up": 5, "down": 9}});
        let event = ocsf(&found(way));
        assert_eq!((event["type_uid"].as_u64(), event["traffic"]["bytes_in"].as_u64()), (Some(400_101), Some(9)));
        let other = ocsf(&Found { body: Value::Null, text: "junk".to_owned(), ..found(json!({})) });
        assert_eq!((other["class_uid"].as_u64(), other["unmapped"].as_str()), (Some(0), Some("junk")));
    }
}
