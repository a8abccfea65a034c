//! HTTP on loopback: which requests are looked at, and what every answer says about itself.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::door::{Refused, SESSION};
use super::{Page, api, files, live};

/// Most connections at once; more wait.
const CONNECTIONS: usize = 64;
/// Largest body of a request, in bytes.
const MOST: usize = 4096;
/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How the cookie's name begins, behind which stands the port; and the header with the page's own secret.
const COOKIE: &str = "bashgate_page_";
const KEY: HeaderName = HeaderName::from_static("x-bashgate-key");

/// A body of an answer, which may go on.
pub(super) type Body = BoxBody<Bytes, Infallible>;

/// What stands in every answer: nothing from elsewhere is loaded, nothing is framed, kept or guessed.
const HEADERS: [(&str, &str); 9] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), clipboard-read=()"),
    ("cache-control", "no-store"),
];

/// Serves until the task is ended.
pub(super) async fn serve(listener: TcpListener, address: SocketAddr, page: Arc<Page>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "the page fails");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let page = page.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let page = page.clone();
                async move { Ok::<_, Infallible>(guarded(request, &page, address).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .keep_alive(false)
                .header_read_timeout(PATIENCE)
                .max_buf_size(16 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            // Whoever hangs up early has lost nothing.
            let _ = connection.await;
            drop(permit);
        });
    }
}

async fn guarded(request: Request<Incoming>, page: &Arc<Page>, address: SocketAddr) -> Response<Body> {
    let mut response = match objection(&request, &address.to_string()) {
        Some((status, why)) => plain(status, why),
        None => answer(request, page, address).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Why a request is not looked at: a name under which somebody else's page could have this address, or another site that asks. Under
/// `localhost`, too, a browser may go to another address, where somebody else may listen.
fn objection(request: &Request<Incoming>, own: &str) -> Option<(StatusCode, &'static str)> {
    let text = |name: HeaderName| {
        let mut all = request.headers().get_all(name).iter();
        let first = all.next().map(|value| value.to_str().unwrap_or("?"));
        // Said twice is said wrongly.
        if all.next().is_some() { Some("?") } else { first }
    };
    let Some(host) = text(header::HOST).filter(|host| *host == own) else {
        return Some((StatusCode::MISDIRECTED_REQUEST, "this is not served under that name"));
    };
    let origin = text(header::ORIGIN);
    let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
    let must_say = request.method() != Method::GET;
    if origin.is_some_and(|origin| !is_own(origin)) || (must_say && origin.is_none()) {
        return Some((StatusCode::FORBIDDEN, "another site may not ask"));
    }
    let site = text(HeaderName::from_static("sec-fetch-site"));
    let is_page = request.uri().path() == "/";
    match site {
        None | Some("same-origin" | "none") => None,
        // A link to the page in a message is followed; it leads to the empty page, and no further.
        Some(_) if is_page && text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate") => None,
        Some(_) => Some((StatusCode::FORBIDDEN, "another site may not ask")),
    }
}

async fn answer(request: Request<Incoming>, page: &Arc<Page>, address: SocketAddr) -> Response<Body> {
    let cookie = format!("{COOKIE}{}", address.port());
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    if let Some((kind, text)) = files::file(&path) {
        if method != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "use GET");
        }
        return of(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()));
    }
    if (&method, path.as_str()) == (&Method::POST, "/api/enter") {
        return enter(request, page, &cookie).await;
    }
    if (&method, path.as_str()) == (&Method::GET, "/api/proof") {
        return proof(request.uri().query().unwrap_or_default(), page, address);
    }
    if !path.starts_with("/api/") {
        return plain(StatusCode::NOT_FOUND, "there is no such thing");
    }
    let Some((by, secrets)) = whose(&request, page, &cookie) else {
        return plain(StatusCode::UNAUTHORIZED, "ask for a new link");
    };
    if (&method, path.as_str()) == (&Method::GET, "/api/live") {
        return live::stream(page.clone(), secrets);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = match read(request).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match api::answer(page, &method, &path, &query, &body, &by).await {
        Ok(value) => in_json(StatusCode::OK, &value),
        Err((status, why)) => in_json(status, &json!({"error": why})),
    }
}

/// Lets a browser in that has a link.
async fn enter(request: Request<Incoming>, page: &Page, name: &str) -> Response<Body> {
    let body = match read(request).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let token = body.get("token").and_then(Value::as_str).unwrap_or_default();
    let entry = match page.door.enter(token) {
        Ok(entry) => entry,
        Err(Refused::Unknown) => {
            let why = "This link was used, is too old, or is not one. Ask for a new one.";
            return in_json(StatusCode::FORBIDDEN, &json!({"error": why}));
        }
        Err(Refused::TooMany) => {
            let why = "Somebody tries links that are none. Open this one again in a minute.";
            return in_json(StatusCode::TOO_MANY_REQUESTS, &json!({"error": why}));
        }
    };
    let mut response = in_json(StatusCode::OK, &json!({"key": entry.key, "session": entry.session}));
    let cookie =
        format!("{name}={}; HttpOnly; SameSite=Strict; Path=/api/; Max-Age={}", entry.cookie, SESSION.as_secs());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Shows to a page that this is the host which made its session, before the page tells it a secret.
fn proof(query: &str, page: &Page, address: SocketAddr) -> Response<Body> {
    let asked = api::parameters(query);
    let text = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    match page.door.proof(text("session"), text("nonce"), &address.to_string()) {
        Some(proof) => in_json(StatusCode::OK, &json!({"proof": proof})),
        None => in_json(StatusCode::NOT_FOUND, &json!({"error": "there is no such session"})),
    }
}

/// Whose session a request belongs to, with its two secrets.
fn whose(request: &Request<Incoming>, page: &Page, cookie: &str) -> Option<(String, [String; 2])> {
    let key = request.headers().get(KEY)?.to_str().ok()?;
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    // Other servers on this address can set cookies of the same name: each is tried.
    let mut ours = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    ours.find_map(|(name, value)| {
        let by = if name == cookie { page.door.whose(value, key) } else { None };
        by.map(|by| (by, [value.to_owned(), key.to_owned()]))
    })
}

/// A body in JSON; null where there is none.
async fn read(request: Request<Incoming>) -> Result<Value, Response<Body>> {
    if request.method() == Method::GET {
        return Ok(Value::Null);
    }
    let is_json = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let wrong = || plain(StatusCode::BAD_REQUEST, "this is no request in JSON");
    if !is_json {
        return Err(wrong());
    }
    let whole = tokio::time::timeout(PATIENCE, Limited::new(request.into_body(), MOST).collect()).await;
    let bytes = whole.map_err(|_| wrong())?.map_err(|_| wrong())?.to_bytes();
    serde_json::from_slice(&bytes).map_err(|_| wrong())
}

fn of(status: StatusCode, kind: &'static str, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(bytes).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    of(status, "text/plain; charset=utf-8", Bytes::from(format!("{text}\n")))
}

fn in_json(status: StatusCode, value: &Value) -> Response<Body> {
    of(status, "application/json", Bytes::from(value.to_string()))
}
