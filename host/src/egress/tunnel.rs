//! Bytes in both directions, counted, within the budget, and not for ever where nothing comes.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, tcp};
use tokio::sync::watch;

use super::client::{Client, FromClient};
use super::door::{Door, Refusal, Way};
use super::hello::{self, Hello};
use super::hosts::Host;

/// How long a connection may be silent in both directions: a model may think, and a person may be asked.
const SILENT: Duration = Duration::from_mins(30);
/// How often silence is looked for.
const LOOKS: Duration = Duration::from_secs(30);
/// How long a client may take for its first words.
const FIRST_WORDS: Duration = Duration::from_secs(15);
/// In how many pieces first words may come.
const MAX_READS: u32 = 256;
/// Read at once of first words, in bytes.
const FIRST_PIECE: usize = 4096;
/// How much a server may warn before it answers a hello, in bytes.
const MOST_WARNINGS: usize = 1024;
/// Read at once, in bytes. There is such a piece of memory only while something is on its way.
const PIECE: usize = 64 * 1024;

/// Why a connection was cut.
#[derive(Debug, thiserror::Error)]
pub(super) enum Cut {
    /// A budget.
    #[error(transparent)]
    Budget(Refusal),
    /// Port 443 is for TLS.
    #[error("it began with something else than a plain TLS hello")]
    NoTls,
    /// TLS to somebody else.
    #[error("TLS asked for `{asked}` at the address of {host}")]
    OtherServer {
        /// What was asked for.
        asked: String,
        /// What was allowed.
        host: Host,
    },
    /// The name that counts is hidden.
    #[error("TLS hides which server it asks for (ECH), which could be any at this address")]
    Hidden,
    /// It said nothing, or nothing whole, in time.
    #[error("no first words came in time")]
    Mute,
    /// The workspace is gone, or the host ends.
    #[error("the way out was shut")]
    Shut,
    /// The answer came in part.
    #[error("the answer broke off")]
    BrokeOff,
    /// Nothing went through.
    #[error("nothing went through for {} minutes", SILENT.as_secs() / 60)]
    Silent,
}

/// What went through.
#[derive(Debug)]
pub(super) struct Meter {
    bytes: [AtomicU64; 2],
    since: Instant,
    /// When the last bytes went through, in milliseconds since then.
    last: AtomicU64,
    /// The first budget that it met.
    met: OnceLock<Refusal>,
}

impl Default for Meter {
    fn default() -> Self {
        Self { bytes: Default::default(), since: Instant::now(), last: AtomicU64::new(0), met: OnceLock::new() }
    }
}

impl Meter {
    /// Counts bytes on their way, or says that there is no budget for them.
    pub(super) fn count(&self, door: &Door, way: Way, bytes: usize) -> Result<(), Cut> {
        if door.take(way, bytes) < bytes {
            return Err(Cut::Budget(self.met.get_or_init(|| door.used_up(way)).clone()));
        }
        self.went(way, bytes);
        Ok(())
    }

    /// Counts bytes for which there was budget.
    pub(super) fn went(&self, way: Way, bytes: usize) {
        let [up, down] = &self.bytes;
        let total = if way == Way::Up { up } else { down };
        total.fetch_add(bytes as u64, Ordering::Relaxed);
        self.last.store(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The budget by which it was cut, where it was.
    pub(super) fn met(&self) -> Option<&Refusal> {
        self.met.get()
    }

    /// How much went up and down.
    pub(super) fn so_far(&self) -> [u64; 2] {
        self.bytes.each_ref().map(|total| total.load(Ordering::Relaxed))
    }

    /// Ends when nothing has gone through for too long.
    pub(super) async fn falls_silent(&self) -> Cut {
        loop {
            tokio::time::sleep(LOOKS).await;
            let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
            if self.since.elapsed().saturating_sub(last) > SILENT {
                return Cut::Silent;
            }
        }
    }
}

/// One end of a connection, as it is read.
trait Source {
    fn ready(&self) -> impl Future<Output = io::Result<()>> + Send;
    fn try_take(&self, into: &mut [u8]) -> io::Result<usize>;
}

impl Source for FromClient<'_> {
    async fn ready(&self) -> io::Result<()> {
        self.readable().await
    }

    fn try_take(&self, into: &mut [u8]) -> io::Result<usize> {
        self.try_read(into)
    }
}

impl Source for tcp::ReadHalf<'_> {
    async fn ready(&self) -> io::Result<()> {
        self.readable().await
    }

    fn try_take(&self, into: &mut [u8]) -> io::Result<usize> {
        self.try_read(into)
    }
}

/// What comes next, at most so much; nothing at the end.
async fn next(from: &impl Source, most: usize) -> io::Result<Vec<u8>> {
    loop {
        from.ready().await?;
        let mut piece = vec![0; most];
        match from.try_take(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            taken => {
                piece.truncate(taken?);
                return Ok(piece);
            }
        }
    }
}

/// Whether a hello asks for the host that was allowed.
fn judged(name: Option<String>, hides: bool, host: &Host) -> Result<(), Cut> {
    if hides {
        return Err(Cut::Hidden);
    }
    let asked = name.unwrap_or_default();
    let is_host = match host {
        // Some servers compare letter by letter: to them another spelling is another server's name, or nobody's.
        Host::Name(name) => asked == *name,
        // To an address no name is said.
        Host::Address(_) => asked.is_empty(),
    };
    if is_host { Ok(()) } else { Err(Cut::OtherServer { asked, host: host.clone() }) }
}

/// What a client says after a server has asked it for another hello: kept until that is whole and asks for the same host.
#[derive(Default)]
struct Again {
    words: Vec<u8>,
    reads: u32,
    /// Bytes that came, also such as go nowhere.
    taken: usize,
}

impl Again {
    /// Takes some of it: what may be sent on, where it may.
    fn take(&mut self, some: &[u8], host: &Host) -> Result<Option<Vec<u8>>, Cut> {
        self.words.extend_from_slice(some);
        self.reads += 1;
        self.taken += some.len();
        let (front, rest) = hello::without_early(&self.words);
        self.words = [front.as_slice(), rest].concat();
        let hello = self.words.get(front.len()..).unwrap_or_default();
        // Not whole yet, whatever it is.
        let is_part = hello.first().is_none_or(|kind| hello::is_before_hello(*kind));
        match if is_part { Hello::Part } else { hello::read(hello) } {
            // Nothing stands behind it that was not asked for either.
            Hello::Whole { name, hides, .. } => {
                judged(name, hides, host).map(|()| Some(std::mem::take(&mut self.words)))
            }
            Hello::Part if self.reads < MAX_READS && self.taken < 4 * hello::MAX_HELLO => Ok(None),
            Hello::Part | Hello::Broken => Err(Cut::NoTls),
        }
    }
}

/// The first words of a client: TLS must ask for the host that was allowed. What stands behind a hello comes apart from it, since a client
/// knows what the server will say, and may say the next thing before that.
async fn first_words(client: &FromClient<'_>, begun: Vec<u8>, host: &Host, needs_tls: bool) -> Result<FirstWords, Cut> {
    let mut words = begun;
    let mut reads = 0;
    let hearing = async {
        loop {
            match if words.is_empty() { Hello::Part } else { hello::read(&words) } {
                Hello::Whole { name, hides, bytes } => return judged(name, hides, host).map(|()| Some(bytes)),
                Hello::Broken if needs_tls => return Err(Cut::NoTls),
                Hello::Broken => match hello::may_be_tls(&words) {
                    Some(true) => return Err(Cut::NoTls),
                    Some(false) => return Ok(None),
                    None => {}
                },
                Hello::Part => {}
            }
            // Who says it in so many pieces has something else in mind.
            reads += 1;
            if reads > MAX_READS {
                return Err(Cut::NoTls);
            }
            match next(client, FIRST_PIECE).await.unwrap_or_default() {
                piece if !piece.is_empty() => words.extend_from_slice(&piece),
                _ if needs_tls || hello::may_be_tls(&words) == Some(true) => return Err(Cut::Mute),
                _ => return Ok(None),
            }
        }
    };
    // Elsewhere the server may be the one who speaks first.
    let time = if needs_tls { FIRST_WORDS } else { SILENT };
    let hello = tokio::time::timeout(time, hearing).await.unwrap_or(Err(Cut::Mute))?;
    let behind = hello.map(|bytes| words.split_off(bytes.min(words.len())));
    Ok(FirstWords { words, behind })
}

/// What a client says first.
struct FirstWords {
    words: Vec<u8>,
    /// What has come behind a hello; `None` where it is no TLS.
    behind: Option<Vec<u8>>,
}

/// What a client says behind its hello is kept until the server's answer tells whether it asks for another one; then it goes on, or is
/// judged as that. `None` where one of both goes away.
async fn behind_hello(
    client: &FromClient<'_>,
    mut kept: Vec<u8>,
    host: &Host,
    mut asks_again: watch::Receiver<Option<bool>>,
) -> Result<Option<Vec<u8>>, Cut> {
    let is_asked = loop {
        if let Some(is_asked) = *asks_again.borrow_and_update() {
            break is_asked;
        }
        tokio::select! {
            changed = asks_again.changed() => if changed.is_err() { return Ok(None) },
            // Early data, say: there is not much of that.
            piece = next(client, FIRST_PIECE), if kept.len() < PIECE => match piece {
                Ok(piece) if !piece.is_empty() => kept.extend(piece),
                _ => return Ok(None),
            },
        }
    };
    if !is_asked {
        return Ok(Some(kept));
    }
    let mut again = Again::default();
    let mut piece = kept;
    loop {
        if let Some(whole) = again.take(&piece, host)? {
            return Ok(Some(whole));
        }
        match next(client, PIECE).await {
            Ok(more) if !more.is_empty() => piece = more,
            _ => return Ok(None),
        }
    }
}

/// Lets bytes through between a client and a host until one of them ends it. `begun` came already.
pub(super) async fn through(
    door: &Door,
    mut client: Client,
    mut server: TcpStream,
    (host, port): (&Host, u16),
    begun: Vec<u8>,
    meter: &Meter,
) -> Result<(), Cut> {
    let (from_client, mut to_client) = client.split();
    let (from_server, mut to_server) = server.split();
    // Known before the client hears it.
    let (tells, asks_again) = watch::channel(None);
    let is_tls = AtomicBool::new(false);
    let up = async {
        let FirstWords { words, behind } = first_words(&from_client, begun, host, port == 443).await?;
        is_tls.store(behind.is_some(), Ordering::Release);
        meter.count(door, Way::Up, words.len())?;
        if to_server.write_all(&words).await.is_err() {
            return Ok(());
        }
        drop(words);
        if let Some(behind) = behind {
            let Some(piece) = behind_hello(&from_client, behind, host, asks_again).await? else {
                let _ = to_server.shutdown().await;
                return Ok(());
            };
            meter.count(door, Way::Up, piece.len())?;
            if to_server.write_all(&piece).await.is_err() {
                return Ok(());
            }
        }
        loop {
            let Ok(piece) = next(&from_client, PIECE).await else { return Ok(()) };
            if piece.is_empty() {
                break;
            }
            meter.count(door, Way::Up, piece.len())?;
            if to_server.write_all(&piece).await.is_err() {
                return Ok(());
            }
        }
        let _ = to_server.shutdown().await;
        Ok(())
    };
    let down = async {
        // Ends with this: then nobody waits for it any more.
        let tells = tells;
        // The beginning of the answer to a hello, until it says whether it asks for another one.
        let mut answer = Some(Vec::new());
        loop {
            let Ok(mut piece) = next(&from_server, PIECE).await else { return Ok(()) };
            if piece.is_empty() {
                // What it has said so far is all.
                if let Some(begun) = answer.take().filter(|begun| !begun.is_empty()) {
                    let _ = to_client.write_all(&begun).await;
                }
                break;
            }
            meter.count(door, Way::Down, piece.len())?;
            // Nothing answers before it was greeted.
            if answer.is_some() && !is_tls.load(Ordering::Acquire) {
                tells.send_replace(Some(false));
                answer = None;
            }
            if let Some(begun) = &mut answer {
                begun.append(&mut piece);
                // Whoever only warns, and warns again, says nothing that anybody waits for.
                let asks = hello::asks_again(begun).or((begun.len() > MOST_WARNINGS).then_some(true));
                let Some(again) = asks else { continue };
                tells.send_replace(Some(again));
                piece = std::mem::take(begun);
                answer = None;
            }
            if to_client.write_all(&piece).await.is_err() {
                return Ok(());
            }
        }
        let _ = to_client.shutdown().await;
        Ok(())
    };
    tokio::select! {
        () = door.is_shut() => Err(Cut::Shut),
        both = async { tokio::try_join!(up, down) } => both.map(|_| ()),
        cut = meter.falls_silent() => Err(cut),
    }
}

#[cfg(test)]
mod tests {
    use super::super::hello::tests::hello;
    use super::*;

    /// Letter by letter, as some servers compare: another spelling is another server there, or the one for whoever names none.
    #[test]
    fn a_hello_names_the_host_as_it_is_written() {
        let host = Host::parse("Good.Example").unwrap();
        for (name, is_fine) in [
            ("good.example", true),
            ("GOOD.EXAMPLE", false),
            ("good.example.", false),
            ("Good.example", false),
            ("", false),
        ] {
            assert_eq!(judged(Some(name.to_owned()), false, &host).is_ok(), is_fine, "{name}");
        }
    }

    /// A second hello is judged like the first one, in whatever pieces it comes, and nothing of it is sent before.
    #[test]
    fn a_second_hello_must_ask_for_the_same_host() {
        let host = Host::parse("example.org").unwrap();
        let before = [20, 3, 3, 0, 1, 1];
        for (name, is_sent) in [("example.org", true), ("evil.example", false), ("a.example.org", false)] {
            let said = [&before[..], &hello(name), b"more"].concat();
            let mut again = Again::default();
            assert!(matches!(again.take(&said[..50], &host), Ok(None)), "{name}");
            let taken = again.take(&said[50..], &host);
            assert_eq!(taken.as_ref().is_ok_and(|taken| taken.as_ref() == Some(&said)), is_sent, "{name}: {taken:?}");
        }
        assert!(Again::default().take(b"GET / HTTP/1.1", &host).is_err());
        // What was said early, in a cipher that only the server reads, goes nowhere when it asks again.
        let own = hello("example.org");
        let early = [&[23, 3, 3, 0, 1, 1][..], &before, &own].concat();
        let went = Again::default().take(&early, &host).unwrap();
        assert_eq!(went, Some([&before[..], &own].concat()));
        let two = [hello("example.org"), hello("evil.example")].concat();
        let Hello::Whole { bytes, .. } = hello::read(&two) else { panic!() };
        assert_eq!(bytes, hello("example.org").len());
        let mut never = Again::default();
        let ends = (0..MAX_READS).find_map(|_| never.take(&[22], &host).err().or_else(|| never.take(&[], &host).err()));
        assert!(ends.is_some());
    }
}
