//! The inside of the way out: a port on loopback whose connections go to the host's socket, for a container that has no network. It
//! decides nothing and holds nothing back: the host at the other end does.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bashgate_shared::mailbox;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;

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

/// A port of loopback, before anybody connects.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        return Err(io::Error::other(format!("{address} is no address of loopback, such as 127.0.0.1:3128")));
    }
    TcpListener::bind(address).await
}

/// Takes connections until it is ended.
pub async fn serve(listener: TcpListener, socket: PathBuf) {
    let (socket, seats) = (Arc::new(socket), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else {
            // No descriptors, say: others may give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let socket = socket.clone();
        tokio::spawn(async move {
            pass_on(client, &socket).await;
            drop(seat);
        });
    }
}

async fn pass_on(mut client: TcpStream, socket: &Path) {
    let _ = client.set_nodelay(true);
    match UnixStream::connect(socket).await {
        Ok(mut host) => drop(tokio::io::copy_bidirectional(&mut client, &mut host).await),
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

/// Connects standard input and output to a host, through the host's socket: for `ssh` as its `ProxyCommand`.
pub async fn connect(socket: &Path, host: &str) -> io::Result<()> {
    if !host.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(io::Error::other("this is no HOST:PORT"));
    }
    let stream = UnixStream::connect(socket).await?;
    let (read, mut write) = stream.into_split();
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
