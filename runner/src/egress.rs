//! The inside of the way out: a port on loopback whose connections go to the host's socket, for a container that has no network. It
//! decides nothing and holds nothing back: the host at the other end does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::RequestId;
use bashgate_shared::{mailbox, programs};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Notify, Semaphore};

use crate::inner::kernel;

/// Most connections at once; more wait to be taken.
const CONNECTIONS: usize = 1024;
/// Longest answer to CONNECT, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;

/// Where the host's socket lies in a container.
pub fn socket() -> PathBuf {
    Path::new(mailbox::EGRESS).join(mailbox::EGRESS_SOCKET)
}

/// What programs are told so that they use it: each understands some of these, and what stays on loopback stays there.
pub fn environment(at: SocketAddr) -> Vec<(&'static str, String)> {
    let proxy = format!("http://{at}");
    let local = "localhost,127.0.0.1,::1".to_owned();
    let mut all: Vec<_> = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]
        .into_iter()
        .map(|name| (name, proxy.clone()))
        .collect();
    all.extend(["no_proxy", "NO_PROXY"].into_iter().map(|name| (name, local.clone())));
    // Node reads the others only then.
    all.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    all
}

/// The same again for a run that has the network as it is, where its caller was told of a way out on loopback.
pub fn environment_of_caller<'e>(
    told: impl IntoIterator<Item = &'e (OsString, OsString)>,
) -> Vec<(&'static str, String)> {
    let proxy = told.into_iter().find(|(name, _)| name == "https_proxy").and_then(|(_, value)| value.to_str());
    let at = proxy.and_then(|url| url.strip_prefix("http://")).and_then(|at| at.parse::<SocketAddr>().ok());
    at.filter(|at| at.ip().is_loopback()).map(environment).unwrap_or_default()
}

/// A model that the host asks for whoever is inside, see `docs/egress.md`.
#[derive(Debug, Deserialize)]
pub struct Model {
    name: String,
    kind: String,
}

/// What agents are told of a model: where it is (the variable, and what stands behind its name there), and, since they do not begin without
/// one, a key that is none.
const MODELS: &[(&str, &str, &str, &str)] = &[
    ("anthropic", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_AUTH_TOKEN"),
    ("openai", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"),
    ("gemini", "GOOGLE_GEMINI_BASE_URL", "", "GEMINI_API_KEY"),
];

/// The models that the host has, asked at its socket.
pub fn models(socket: &Path) -> io::Result<Vec<Model>> {
    #[derive(Deserialize)]
    struct All {
        models: Vec<Model>,
    }
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(GIVING))?;
    stream.set_write_timeout(Some(GIVING))?;
    io::Write::write_all(&mut stream, b"GET /model HTTP/1.1\r\nHost: bashgate\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(&stream, MAX_ANSWER), &mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    // One that is older has none.
    let Some((head, body)) = answer.split_once("\r\n\r\n").filter(|(head, _)| head.starts_with("HTTP/1.1 200 ")) else {
        return Ok(Vec::new());
    };
    if head.to_ascii_lowercase().contains("transfer-encoding") {
        return Err(io::Error::other("the host says which models there are in a way that is not understood"));
    }
    Ok(serde_json::from_str::<All>(body)?.models)
}

/// Variables by which agents ask these models at a port of loopback: of several of one kind the first.
pub fn environment_of_models(models: &[Model], at: SocketAddr) -> Vec<(&'static str, String)> {
    let of = |(kind, url, end, key): &(&str, &'static str, &str, &'static str)| {
        let model = models.iter().find(|model| model.kind == *kind)?;
        Some([(*url, format!("http://{at}/model/{}{end}", model.name)), (*key, "held-by-the-host".to_owned())])
    };
    MODELS.iter().filter_map(of).flatten().collect()
}

/// What git goes by in such a run, whatever a repository says: it starts nothing, and signs in by the file of its own alone.
const SETTINGS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("safe.bareRepository", "explicit"),
    ("credential.helper", ""),
    ("credential.helper", "store"),
    ("protocol.ext.allow", "never"),
    ("protocol.file.allow", "never"),
    ("rebase.instructionFormat", "%s"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.gpgSign", "false"),
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", "true"),
    ("core.attributesFile", "/dev/null"),
    ("merge.verifySignatures", "false"),
    ("merge.default", "text"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// The same for a run whose command reads over the network, at this port of its own. Here stands besides what keeps the programs that are
/// known to read from starting anything else, or going elsewhere by themselves.
pub fn environment_of_run(at: SocketAddr, own: &Path) -> Vec<(String, String)> {
    let mut all: Vec<_> = environment(at).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let own = bashgate_shared::shell::quoted(&own.to_string_lossy());
    let way = format!("{own} egress --via {at} --connect %h:%p");
    let mut set = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
    // ssh starts the command for its way by it.
    set("SHELL", "/bin/sh");
    // No settings of ssh, which may start programs.
    set(
        "GIT_SSH_COMMAND",
        &format!("ssh -F none -o BatchMode=yes -o ProxyCommand={}", bashgate_shared::shell::quoted(&way)),
    );
    set("GIT_SSH_VARIANT", "ssh");
    set("GIT_ALLOW_PROTOCOL", "https:ssh");
    // Nobody is there to be asked, or to write.
    set("GIT_TERMINAL_PROMPT", "0");
    set("GIT_ASKPASS", "true");
    set("SSH_ASKPASS_REQUIRE", "never");
    set("GIT_EDITOR", ":");
    set("GIT_MERGE_AUTOEDIT", "no");
    set("GH_PROMPT_DISABLED", "1");
    set("GH_NO_UPDATE_NOTIFIER", "1");
    set("GH_PAGER", "cat");
    set("PAGER", "cat");
    // Before the settings of any repository, also of one that a fetch brings, or that somebody changes meanwhile.
    for (at, (key, value)) in SETTINGS.iter().enumerate() {
        set(&format!("GIT_CONFIG_KEY_{at}"), key);
        set(&format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    set("GIT_CONFIG_COUNT", &SETTINGS.len().to_string());
    // One answer is final: who is refused here is refused again.
    set("CARGO_NET_RETRY", "0");
    all
}

/// What the host has given a run, for as long as this lives.
#[derive(Debug)]
pub struct Way {
    socket: PathBuf,
    answer: RequestId,
    /// The host takes it for over when this is closed, and says here what it has refused.
    held: std::os::unix::net::UnixStream,
    /// What the host says of it.
    pub given: Given,
}

/// The host's word on an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// Why there is no way out, or why a connection was refused.
    pub refused: Option<String>,
    /// Where it leads.
    pub hosts: Vec<String>,
    /// The programs of the command, whose own credentials are there for this run.
    pub programs: Vec<String>,
}

/// How long the host may take to say what it gives.
const GIVING: Duration = Duration::from_secs(10);
/// Longest word of the host's, in bytes.
const MAX_GIVEN: u64 = 16 * 1024;

impl Way {
    /// Asks the host for what goes with an answer, for what it was about
    /// ([`EgressWire::subject`](bashgate_shared::protocol::EgressWire::subject)). An error where there is nothing, in words for the agent.
    pub fn of(folder: &Path, answer: RequestId, subject: Digest) -> Result<Self, String> {
        let socket = folder.join(mailbox::EGRESS_SOCKET);
        let failed = |error: io::Error| format!("the host's way out is not there ({}: {error})", socket.display());
        // What is given is this process's alone.
        kernel::keep_from_others().map_err(failed)?;
        let mut held = std::os::unix::net::UnixStream::connect(&socket).map_err(failed)?;
        held.set_read_timeout(Some(GIVING)).map_err(failed)?;
        held.set_write_timeout(Some(GIVING)).map_err(failed)?;
        let digest = subject.hex();
        let asked = [&[mailbox::EGRESS_PRESENTS], answer.as_str().as_bytes(), digest.as_bytes()].concat();
        io::Write::write_all(&mut held, &asked).map_err(failed)?;
        let mut line = Vec::new();
        let mut read = io::BufReader::new(io::Read::take(&held, MAX_GIVEN));
        io::BufRead::read_until(&mut read, b'\n', &mut line).map_err(failed)?;
        let given: Given = serde_json::from_slice(&line).map_err(|error| failed(error.into()))?;
        match given.refused {
            Some(why) => Err(why),
            None => Ok(Self { socket, answer, held, given }),
        }
    }

    /// Files with what its programs sign in with by themselves, below these home folders, and variables.
    pub fn credentials(&self, homes: &[PathBuf]) -> (Vec<PathBuf>, Vec<&'static str>) {
        let rows = self.given.programs.iter().filter_map(|name| programs::row(name));
        // As the host writes them: the port where it is not the usual one.
        let port_of = |host: &String| host.rsplit_once(':').map_or(Some(443), |(_, port)| port.parse().ok());
        let ports = || self.given.hosts.iter().filter_map(port_of);
        let (mut files, mut variables) = (Vec::new(), Vec::new());
        for one in rows.flat_map(|row| row.signs_in).filter(|one| one.is_for(ports())) {
            let names = one.files.iter().filter_map(|name| name.strip_prefix("~/"));
            files.extend(names.flat_map(|name| homes.iter().map(move |home| home.join(name))));
            variables.extend(one.variables);
        }
        // One behind a link is another file to whoever hides and shows.
        files.retain(|file| std::fs::canonicalize(file).is_ok_and(|real| real == *file));
        (files, variables)
    }

    /// Why connections were refused so far, each reason once and only the first ones.
    pub fn refusals(&self) -> Vec<String> {
        const MOST: usize = 5;
        let mut said = Vec::new();
        if self.held.set_nonblocking(true).is_ok() {
            let _ = io::Read::read_to_end(&mut io::Read::take(&self.held, MAX_GIVEN), &mut said);
        }
        let mut found: Vec<String> = Vec::new();
        for line in said.split(|byte| *byte == b'\n') {
            let why = serde_json::from_slice::<Given>(line).ok().and_then(|word| word.refused);
            found.extend(why.filter(|why| found.len() < MOST && !found.contains(why)));
        }
        found
    }

    /// Takes what connects to a port until what is returned is dropped, and passes it on as this run's. Where others can connect there, too,
    /// `ports` tells from which ports the run's connections come.
    pub fn serve(
        &self,
        listener: std::net::TcpListener,
        ports: Option<OwnedFd>,
    ) -> io::Result<tokio::runtime::Runtime> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let begins = [&[mailbox::EGRESS_CONNECTS], self.answer.as_str().as_bytes()].concat();
        let (listener, ports) = {
            let _inside = runtime.enter();
            (TcpListener::from_std(listener)?, ports.map(pipe::Receiver::from_owned_fd).transpose()?)
        };
        let own = ports.is_some().then(Arc::<Own>::default);
        if let (Some(ports), Some(own)) = (ports, own.clone()) {
            runtime.spawn(async move { own.hear(ports).await });
        }
        runtime.spawn(serve_as(listener, self.socket.clone(), (begins.into(), own)));
        Ok(runtime)
    }
}

/// A port of loopback, before anybody connects.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        return Err(io::Error::other(format!("{address} is no address of loopback, such as 127.0.0.1:3128")));
    }
    TcpListener::bind(address).await
}

/// Takes connections until it is ended.
pub async fn serve(listener: TcpListener, socket: PathBuf) {
    serve_as(listener, socket, (Arc::default(), None)).await;
}

/// The ends from which a run has connected, and when that was heard.
#[derive(Default)]
struct Own {
    ports: Mutex<BTreeMap<SocketAddrV4, Instant>>,
    more: Notify,
}

/// How long a connection may take from where it is told of to where it is taken, and the other way round: both are here.
const TOLD: Duration = Duration::from_secs(10);
const TELLING: Duration = Duration::from_secs(2);

impl Own {
    fn ports(&self) -> MutexGuard<'_, BTreeMap<SocketAddrV4, Instant>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn hear(&self, mut told: pipe::Receiver) {
        let mut end = [0; 6];
        while told.read_exact(&mut end).await.is_ok() {
            let [address @ .., high, low] = end;
            let end = SocketAddrV4::new(Ipv4Addr::from(address), u16::from_be_bytes([high, low]));
            let mut ports = self.ports();
            ports.retain(|_, since| since.elapsed() < TOLD);
            ports.insert(end, Instant::now());
            drop(ports);
            self.more.notify_waiters();
        }
    }

    /// True for a connection of the run, which is told of at about the time when it comes.
    async fn has(&self, end: SocketAddr) -> bool {
        let SocketAddr::V4(end) = end else { return false };
        let told = async {
            loop {
                let more = self.more.notified();
                tokio::pin!(more);
                more.as_mut().enable();
                if self.ports().remove(&end).is_some_and(|since| since.elapsed() < TOLD) {
                    break;
                }
                more.await;
            }
        };
        tokio::time::timeout(TELLING, told).await.is_ok()
    }
}

/// The same, where each connection to the host begins with these bytes, and those of others are not taken.
async fn serve_as(listener: TcpListener, socket: PathBuf, (begins, own): (Arc<[u8]>, Option<Arc<Own>>)) {
    let (socket, seats) = (Arc::new(socket), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        let Ok((client, peer)) = listener.accept().await else {
            // No descriptors, say: others may give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (socket, begins, own) = (socket.clone(), begins.clone(), own.clone());
        tokio::spawn(async move {
            let is_own = match &own {
                Some(own) => own.has(peer).await,
                None => true,
            };
            if is_own {
                pass_on(client, &socket, &begins).await;
            }
            drop(seat);
        });
    }
}

async fn pass_on(mut client: TcpStream, socket: &Path, begins: &[u8]) {
    let _ = client.set_nodelay(true);
    let connects = async {
        let mut host = UnixStream::connect(socket).await?;
        host.write_all(begins).await?;
        Ok::<_, io::Error>(host)
    };
    match connects.await {
        Ok(mut host) => both_ways(&mut client, &mut host).await,
        Err(error) => {
            let why = format!("bashgate: the host's way out is not there ({}: {})", socket.display(), error.kind());
            let answer = format!(
                "HTTP/1.1 503 {why}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{why}\n",
                why.len() + 1
            );
            // What the client says is read, or it would see a connection that was reset instead of the answer.
            let mut said = [0; 4096];
            let _ = tokio::time::timeout(Duration::from_secs(5), client.read(&mut said)).await;
            let _ = client.write_all(answer.as_bytes()).await;
            let _ = client.shutdown().await;
        }
    }
}

/// Passes on what both say. A host that refuses does so before it has heard all: its answer arrives although it takes no more.
async fn both_ways(client: &mut TcpStream, host: &mut UnixStream) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_host, mut to_host) = host.split();
    let up = async {
        let _ = tokio::io::copy(&mut from_client, &mut to_host).await;
        let _ = to_host.shutdown().await;
    };
    let down = async {
        let _ = tokio::io::copy(&mut from_host, &mut to_client).await;
        let _ = to_client.shutdown().await;
    };
    tokio::join!(up, down);
}

/// Connects standard input and output to a host, through the host's socket: for `ssh` as its `ProxyCommand`.
pub async fn connect(socket: &Path, host: &str) -> io::Result<()> {
    let stream = UnixStream::connect(socket).await?;
    let (read, write) = stream.into_split();
    connect_by(read, write, host).await
}

/// The same through a port that leads out.
pub async fn connect_via(at: SocketAddr, host: &str) -> io::Result<()> {
    let stream = TcpStream::connect(at).await?;
    let (read, write) = stream.into_split();
    connect_by(read, write, host).await
}

async fn connect_by(read: impl AsyncRead + Unpin, mut write: impl AsyncWrite + Unpin, host: &str) -> io::Result<()> {
    if !host.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(io::Error::other("this is no HOST:PORT"));
    }
    write.write_all(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await?;
    let mut read = BufReader::new(read);
    let mut status = String::new();
    let mut head = (&mut read).take(MAX_ANSWER);
    head.read_line(&mut status).await?;
    let (code, words) =
        status.trim_end().split_once(' ').and_then(|(_, rest)| rest.split_once(' ')).unwrap_or_default();
    if code != "200" {
        return Err(io::Error::other(if words.is_empty() { "the host does not answer" } else { words }.to_owned()));
    }
    loop {
        let mut line = String::new();
        if head.read_line(&mut line).await? == 0 || line.trim_end().is_empty() {
            break;
        }
    }
    let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    let up = async {
        tokio::io::copy(&mut stdin, &mut write).await?;
        write.shutdown().await
    };
    let down = async {
        tokio::io::copy(&mut read, &mut stdout).await?;
        stdout.flush().await
    };
    // Once the host has nothing more to say it is over, whether or not somebody still types.
    tokio::select! {
        down = down => down,
        Err(error) = up => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever is refused hears why, however much it still had to say.
    #[tokio::test]
    async fn an_answer_that_comes_before_all_was_said_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let host = tokio::net::UnixListener::bind(&socket).unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = host.accept().await {
                let _ = client.write_all(b"HTTP/1.1 403 no\r\n\r\n").await;
            }
        });
        let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, socket));
        for _ in 0..50 {
            let mut client = TcpStream::connect(at).await.unwrap();
            for _ in 0..64 {
                if client.write_all(&[b'x'; 16 << 10]).await.is_err() {
                    break;
                }
            }
            let mut heard = Vec::new();
            let _ = client.read_to_end(&mut heard).await;
            assert_eq!(String::from_utf8_lossy(&heard), "HTTP/1.1 403 no\r\n\r\n");
        }
    }
}
