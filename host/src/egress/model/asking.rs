//! One question to a model, as it comes in and goes out.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{MAX_REQUEST, Model, PREFIX, Refused, is_returned};
use crate::egress::door::{Door, Passage, READING, Way};
use crate::egress::hosts::Host;
use crate::egress::server::{Body, Seat, refused, whole};
use crate::egress::tunnel::{Cut, Meter};

/// How long a question may take to come in.
const COMING: Duration = Duration::from_mins(2);
/// How long a model may take to begin its answer.
const ANSWERING: Duration = Duration::from_mins(15);
/// MiB of questions of all workspaces that have no answer yet.
static ALL_QUESTIONS: Semaphore = Semaphore::const_new(512);
/// The questions of all workspaces that are read at once: what one becomes while it is read takes many times its bytes.
static ALL_READING: Semaphore = Semaphore::const_new(2 * READING);
/// How long it may be silent within one.
const SILENT: Duration = Duration::from_mins(5);

/// True for a request that is about models.
pub(in crate::egress) fn is_one(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers what is asked of a model, or which ones there are.
pub(in crate::egress) async fn answer(
    request: Request<Incoming>,
    door: Arc<Door>,
    peer: Option<(i32, u32)>,
    seat: Seat,
) -> Response<Body> {
    let rest = request.uri().path().strip_prefix(PREFIX).unwrap_or_default().trim_start_matches('/').to_owned();
    if rest.is_empty() {
        return listed(&door);
    }
    let (name, path) = rest.find('/').map_or((rest.as_str(), ""), |at| rest.split_at(at));
    let Some(model) = door.models().iter().find(|model| model.name == name).cloned() else {
        let names: Vec<&str> = door.models().iter().map(|model| model.name.as_str()).collect();
        let known =
            if names.is_empty() { "there is none".to_owned() } else { format!("there is {}", names.join(", ")) };
        return refused(StatusCode::NOT_FOUND, &format!("there is no such model for whoever asks here: {known}"));
    };
    let path = path.to_owned();
    let (host, port) = &model.end;
    let mut passage = Passage::new(door.clone(), host, *port, peer);
    match asked(&model, &path, request, &mut passage).await {
        Ok(response) => passed_on(response, passage, seat),
        Err((status, why)) => {
            passage.because(&why);
            refused(status, &why)
        }
    }
}

/// The models that there are, for whoever starts agents.
fn listed(door: &Door) -> Response<Body> {
    let all: Vec<_> = door.models().iter().map(|model| json!({ "name": model.name, "kind": model.api.kind })).collect();
    let mut response = Response::new(whole(format!("{}\n", json!({ "models": all }))));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

type Trouble = (StatusCode, String);

/// An answer that has begun, and what counts its bytes.
struct Begun {
    response: reqwest::Response,
    meter: Meter,
}

/// Why a question is not there whole.
enum Unwhole {
    TooLarge,
    BrokeOff,
    /// Each piece costs the host more than its bytes.
    InCrumbs,
    Cut(Cut),
}

/// Pieces that any client may make, and how many bytes each of more must have on average.
const FREE_PIECES: usize = 4096;
const LEAST_PIECE: usize = 64;

/// A question as it comes, in one piece of memory: it takes no more of it than its bytes.
async fn whole_of<B>(mut body: B, most: usize, count: impl Fn(usize) -> Result<(), Cut>) -> Result<Vec<u8>, Unwhole>
where
    B: hyper::body::Body<Data = hyper::body::Bytes> + Unpin,
{
    let mut whole = Vec::new();
    let mut pieces = 0;
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| Unwhole::BrokeOff)?.into_data() else { continue };
        pieces += 1;
        if whole.len() + piece.len() > most {
            return Err(Unwhole::TooLarge);
        }
        if pieces > FREE_PIECES + whole.len() / LEAST_PIECE {
            return Err(Unwhole::InCrumbs);
        }
        count(piece.len()).map_err(Unwhole::Cut)?;
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}

async fn asked(model: &Model, path: &str, request: Request<Incoming>, passage: &mut Passage) -> Result<Begun, Trouble> {
    let door = passage.door.clone();
    let (head, body) = request.into_parts();
    let bad = |refused: Refused| {
        let status = match &refused {
            Refused::Call(..) => StatusCode::NOT_FOUND,
            Refused::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, refused.to_string())
    };
    let call = model.call(&head.method, path, head.uri.query()).map_err(bad)?;
    // Each may be large, is read in several forms, and stays until its answer begins.
    let length =
        head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let most = length.unwrap_or(MAX_REQUEST);
    let is_post = head.method == Method::POST;
    if most > MAX_REQUEST {
        return Err(bad(Refused::TooLarge));
    }
    door.has_budget().map_err(|refusal| (StatusCode::FORBIDDEN, refusal.to_string()))?;
    let places = u32::try_from(most.div_ceil(1 << 20)).unwrap_or(u32::MAX).max(1);
    let take = async {
        let own = door.questions.clone().acquire_many_owned(places).await;
        (own, ALL_QUESTIONS.acquire_many(places).await)
    };
    let busy =
        |_| (StatusCode::TOO_MANY_REQUESTS, "too many questions wait for their answers; ask again later".to_owned());
    let place = tokio::time::timeout(COMING, take).await.map_err(busy)?;
    let gone = || (StatusCode::BAD_REQUEST, "the question did not come whole, or not in time".to_owned());
    let meter = Meter::default();
    let cut = |cut: Cut| (StatusCode::FORBIDDEN, cut.to_string());
    // What comes counts, also where it does not come whole.
    let counted = |bytes| meter.count(&door, Way::Up, bytes);
    let coming = tokio::time::timeout(COMING, whole_of(body, most, counted)).await;
    passage.went(meter.so_far());
    let question = match coming.unwrap_or(Err(Unwhole::BrokeOff)) {
        Ok(question) => question,
        Err(Unwhole::TooLarge) => return Err(bad(Refused::TooLarge)),
        Err(Unwhole::InCrumbs) => return Err((StatusCode::BAD_REQUEST, "the question comes in crumbs".to_owned())),
        Err(Unwhole::Cut(why)) => return Err(cut(why)),
        Err(Unwhole::BrokeOff) => return Err(gone()),
    };
    let headers = model.headers(&head.headers, is_post);
    // The fields go there as well.
    let fields: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    meter.count(&door, Way::Up, call.len() + fields).map_err(cut)?;
    // Also where nobody waits for the answer.
    passage.went(meter.so_far());
    let (question, place) = if is_post {
        // A large one takes a while to read, and room of its own, until that is done: whoever asked may be gone by then.
        let (model, path) = (model.clone(), path.to_owned());
        let reading = (door.reading.clone().acquire_owned().await, ALL_READING.acquire().await);
        let read = move || {
            let read = model.question(question, &path);
            drop(reading);
            (read, place)
        };
        let (read, place) = tokio::task::spawn_blocking(read).await.map_err(|_| gone())?;
        (read.map_err(bad)?, place)
    } else {
        (Vec::new(), place)
    };
    let send =
        door.client.request(head.method, format!("{}{call}", model.base_url)).headers(headers).body(question).send();
    let (host, _) = &model.end;
    let unreached = |why: &str| (StatusCode::BAD_GATEWAY, format!("{host} does not answer: {why}"));
    let response = tokio::select! {
        sent = tokio::time::timeout(ANSWERING, send) => match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_connect() => return Err(unreached("cannot connect")),
            Ok(Err(_)) => return Err(unreached("the connection failed")),
            Err(_) => return Err((StatusCode::GATEWAY_TIMEOUT, format!("{host} gives no answer in time"))),
        },
        () = door.is_shut() => return Err((StatusCode::SERVICE_UNAVAILABLE, Cut::Shut.to_string())),
    };
    drop(place);
    if let (Some(host), Some(address)) = (Host::parse(host), response.remote_addr()) {
        passage.goes_to(&host, address);
    }
    Ok(Begun { response, meter })
}

/// An answer on its way to whoever asked: what it needs, until it is read or nobody reads it any more.
struct OnItsWay {
    begun: Begun,
    passage: Passage,
    seat: Seat,
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.passage.went(self.begun.meter.so_far());
    }
}

/// The answer as it comes.
fn passed_on(begun: Begun, passage: Passage, seat: Seat) -> Response<Body> {
    let mut head = Response::new(());
    *head.status_mut() = begun.response.status();
    for (name, value) in begun.response.headers().iter().filter(|(name, _)| is_returned(name)) {
        head.headers_mut().append(name, value.clone());
    }
    let on_its_way = OnItsWay { begun, passage, seat };
    let pieces = stream::unfold(Some(on_its_way), |state| async {
        let mut it = state?;
        it.seat.has_unread(false);
        let door = it.passage.door.clone();
        let next = tokio::select! {
            chunk = tokio::time::timeout(SILENT, it.begun.response.chunk()) => match chunk {
                Ok(Ok(Some(chunk))) => it.begun.meter.count(&door, Way::Down, chunk.len()).map(|()| Some(chunk)),
                Ok(Ok(None)) => Ok(None),
                _ => Err(Cut::BrokeOff),
            },
            () = door.is_shut() => Err(Cut::Shut),
        };
        match next {
            Ok(Some(chunk)) => {
                it.seat.has_unread(true);
                Some((Ok(Frame::data(chunk)), Some(it)))
            }
            Ok(None) => None,
            Err(cut) => {
                it.passage.because(&cut);
                Some((Err(Box::<dyn std::error::Error + Send + Sync>::from(cut.to_string())), None))
            }
        }
    });
    head.map(|()| StreamBody::new(pieces).boxed_unsync())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hyper::body::Bytes;

    use super::*;

    fn said(pieces: Vec<usize>) -> impl hyper::body::Body<Data = Bytes> + Unpin {
        let frames =
            pieces.into_iter().map(|size| Ok::<_, std::convert::Infallible>(Frame::data(vec![b'x'; size].into())));
        StreamBody::new(stream::iter(frames))
    }

    #[tokio::test]
    async fn a_question_counts_as_it_comes_and_takes_its_own_bytes_alone() {
        let counted = Cell::new(0);
        let count = |bytes| {
            counted.set(counted.get() + bytes);
            Ok(())
        };
        assert_eq!(whole_of(said(vec![1000; 100]), 100_000, count).await.ok().map(|whole| whole.len()), Some(100_000));
        assert_eq!(counted.take(), 100_000);
        assert!(matches!(whole_of(said(vec![1000; 101]), 100_000, count).await, Err(Unwhole::TooLarge)));
        assert_eq!(counted.take(), 100_000);
        // A client that writes in short pieces is one; one that writes in nothing else is none.
        assert!(whole_of(said(vec![1; FREE_PIECES]), 100_000, count).await.is_ok());
        assert!(matches!(whole_of(said(vec![1; 2 * FREE_PIECES]), 100_000, count).await, Err(Unwhole::InCrumbs)));
        assert!(matches!(whole_of(said(vec![0; 2 * FREE_PIECES]), 100_000, count).await, Err(Unwhole::InCrumbs)));
        let cut = |_| Err(Cut::Shut);
        assert!(matches!(whole_of(said(vec![1]), 10, cut).await, Err(Unwhole::Cut(_))));
    }
}
