//! What the page asks: answers of people, and what the record says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bashgate_shared::classify::Surroundings;
use hyper::{Method, StatusCode};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::approval::ApprovalId;
use crate::chat::card::Room;
use crate::chat::notice::one_line;
use crate::clock;
use crate::control::ControlCommand;
use crate::policy::rules::Rule;

use super::{Of, Page, history, live};

/// How long a person's words wait for the host.
const CONFIRM: Duration = Duration::from_secs(15);

/// How long ago something may have been pressed, in milliseconds by the host's clock.
const PRESSED_MS: u64 = 10_000;

/// An answer, or a status with the reason.
pub(super) type Answer = Result<Value, (StatusCode, String)>;

/// Answers a request of somebody who is let in.
pub(super) async fn answer(
    page: &Arc<Page>,
    method: &Method,
    path: &str,
    query: &str,
    body: &Value,
    by: &str,
) -> Answer {
    let query: BTreeMap<String, String> = parameters(query);
    match (method.as_str(), path) {
        ("POST", "/api/say") => say(page, body, by).await,
        ("GET", "/api/card") => {
            let id = query.get("id").and_then(|id| ApprovalId::parse(id));
            let shown = id.and_then(|id| page.board.card(&id)).filter(|shown| shown.only.is_none());
            match shown {
                Some(shown) => Ok(live::of(&shown, clock::now(), Room::ALL)),
                None => Err((StatusCode::NOT_FOUND, "it is over".to_owned())),
            }
        }
        ("GET", "/api/denied") => denied(page, by).await,
        ("GET", "/api/show") => {
            told(page, ControlCommand::Show { id: query.get("id").cloned().unwrap_or_default() }, by).await
        }
        ("GET", "/api/rule") => rule(page, query.get("id").cloned().unwrap_or_default(), by).await,
        ("POST", "/api/rule") => save_rule(page, body, by).await,
        ("GET", "/api/workspaces") => told(page, ControlCommand::WorkspaceList, by).await,
        ("GET", "/api/history") => history::ask(page, move |reader| history::found(reader, &query)).await,
        ("GET", "/api/taint") => {
            let Some(workspace) = query.get("workspace").cloned() else {
                return Err((StatusCode::BAD_REQUEST, "which workspace?".to_owned()));
            };
            history::ask(page, move |reader| history::taint(reader, &workspace)).await
        }
        ("GET", "/api/numbers") => {
            let hours = query.get("hours").and_then(|hours| hours.parse().ok()).unwrap_or(24);
            history::ask(page, move |reader| history::numbers(reader, hours, clock::now().unix_ms)).await
        }
        ("POST", "/api/verify") => {
            let state = history::state_of(page)?.to_owned();
            history::ask(page, move |reader| Ok(history::verified(reader, &state))).await
        }
        _ => Err((StatusCode::NOT_FOUND, "there is no such thing".to_owned())),
    }
}

/// A person's words, as in any other place where people talk.
async fn say(page: &Page, body: &Value, by: &str) -> Answer {
    pressed_now(body)?;
    let version = body.get("version").and_then(Value::as_u64);
    told(page, ControlCommand::Say { words: text_of(body, "words"), version }, by).await
}

/// A browser may send what was pressed long ago, when a connection is free again.
fn pressed_now(body: &Value) -> Result<(), (StatusCode, String)> {
    let pressed = body.get("at").and_then(Value::as_u64).unwrap_or(0);
    if clock::now().unix_ms.abs_diff(pressed) > PRESSED_MS {
        return Err((StatusCode::CONFLICT, "that was pressed too long ago; press it again".to_owned()));
    }
    Ok(())
}

fn text_of(body: &Value, name: &str) -> String {
    body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What the inspector denied and a person can overrule, in a line each.
async fn denied(page: &Page, by: &str) -> Answer {
    let all = told(page, ControlCommand::Pending { denied: true, is_glance: true }, by).await?;
    let each = all.pointer("/data").and_then(Value::as_array).into_iter().flatten();
    let text = |card: &Value, name: &str| one_line(card.get(name).and_then(Value::as_str).unwrap_or_default(), 200);
    let shown = each.map(|card| {
        json!({"id": text(card, "id"), "workspace": text(card, "workspace"), "what": text(card, "command"),
               "why": text(card, "reason")})
    });
    Ok(json!({"denied": shown.collect::<Vec<_>>()}))
}

/// The rule that would let a held command through the next time, with what else on record it would have.
async fn rule(page: &Arc<Page>, id: String, by: &str) -> Answer {
    let drafted = told(page, ControlCommand::RuleDraft { id }, by).await?;
    let Some(rule) = drafted.pointer("/data/rule").and_then(|rule| Rule::deserialize(rule).ok()) else {
        let why = drafted.get("text").and_then(Value::as_str).unwrap_or_default();
        return Err((StatusCode::CONFLICT, why.to_owned()));
    };
    let programs = if let Of::Host { programs, .. } = &page.of { *programs } else { None };
    let around = Surroundings { programs, ..Surroundings::default() };
    let covered = history::ask(page, move |reader| history::covered(reader, &around, &rule)).await?;
    let of = |place: &str| drafted.pointer(place);
    Ok(json!({"text": of("/text"), "reach": of("/data/reach"), "digest": of("/data/digest"), "covered": covered}))
}

/// Saves it as it was shown.
async fn save_rule(page: &Page, body: &Value, by: &str) -> Answer {
    pressed_now(body)?;
    let code = Some(text_of(body, "code")).filter(|code| !code.trim().is_empty());
    let save = ControlCommand::RuleSave { id: text_of(body, "id"), digest: text_of(body, "digest"), code };
    told(page, save, by).await
}

async fn told(page: &Page, command: ControlCommand, by: &str) -> Answer {
    match tokio::time::timeout(CONFIRM, (page.asks)(command, by.to_owned())).await {
        Ok(Some(reply)) => Ok(json!({"ok": reply.ok, "text": reply.text, "data": reply.data})),
        Ok(None) => Err((StatusCode::SERVICE_UNAVAILABLE, "the host is shutting down".to_owned())),
        Err(_) => Err((StatusCode::ACCEPTED, "it has not been confirmed yet, and may still be done".to_owned())),
    }
}

/// What stands behind `?`, as browsers write it.
pub(super) fn parameters(query: &str) -> BTreeMap<String, String> {
    reqwest::Url::parse(&format!("http://x/?{query}"))
        .map(|url| url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
        .unwrap_or_default()
}
