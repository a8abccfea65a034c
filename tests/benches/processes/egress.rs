//! The way out, beside a proxy that only copies: the same words on the same kind of socket, a thread for each direction.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use bashgate_tests::{Site, until};

use super::ROUNDS;
use super::load::memory;
use super::table::{Table, Times};

/// Sent by the server where a hello asks for it, in bytes.
const LOAD: usize = 256 << 20;
/// Open at once.
const CONNECTIONS: usize = 1000;
const NAME: &str = "localhost";

/// A client's first words in TLS 1.3: that it asks for this host is all that is looked at. What is random says what the server is to do.
fn hello(wish: u8) -> Vec<u8> {
    let sized = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let name = sized(&[&[0], sized(NAME.as_bytes()).as_slice()].concat());
    let extensions = [&[0, 0], sized(&name).as_slice(), &[0, 43, 0, 3, 2, 3, 4], &[0, 13, 0, 4, 0, 2, 4, 3]].concat();
    let body = [&[3, 3], [wish; 32].as_slice(), &[0, 0, 2, 0x13, 1, 1, 0], &sized(&extensions)].concat();
    let message = [&[1, 0], sized(&body).as_slice()].concat();
    [&[22, 3, 1], sized(&message).as_slice()].concat()
}

/// Answers a hello with one byte, and then with all that it was asked for.
fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        std::thread::spawn(move || {
            let _ = stream.set_nodelay(true);
            let mut said = [0; 512];
            while let Ok(count @ 1..) = stream.read(&mut said) {
                if stream.write_all(b"x").is_err() {
                    break;
                }
                if said.get(11..count).and_then(<[u8]>::first) == Some(&b'D') {
                    let piece = vec![b'x'; 64 << 10];
                    for _ in 0..LOAD / piece.len() {
                        if stream.write_all(&piece).is_err() {
                            return;
                        }
                    }
                }
            }
        });
    }
}

/// Copies, and looks at nothing but where it is to go.
fn plain_proxy(listener: &UnixListener) {
    for stream in listener.incoming() {
        let Ok(mut client) = stream else { continue };
        std::thread::spawn(move || {
            let head = head_of(&mut client);
            let to = head.split(' ').nth(1).unwrap_or_default();
            let Ok(mut server) = TcpStream::connect(to) else { return };
            let _ = server.set_nodelay(true);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let (mut up, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                copy(&mut up, &mut to_server);
                let _ = to_server.shutdown(Shutdown::Write);
            });
            copy(&mut server, &mut client);
            let _ = client.shutdown(Shutdown::Both);
        });
    }
}

fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
    }
}

fn head_of(stream: &mut UnixStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A tunnel through which the server has answered once.
fn tunnel(socket: &Path, port: u16, wish: u8) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(format!("CONNECT {NAME}:{port} HTTP/1.1\r\nHost: {NAME}:{port}\r\n\r\n").as_bytes()).unwrap();
    let head = head_of(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    stream.write_all(&hello(wish)).unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream
}

fn first_byte(socket: &Path, port: u16) -> f64 {
    let since = Instant::now();
    drop(tunnel(socket, port, b' '));
    since.elapsed().as_secs_f64() * 1000.0
}

fn download(socket: &Path, port: u16) -> Duration {
    let since = Instant::now();
    let mut stream = tunnel(socket, port, b'D');
    let (mut piece, mut left) = (vec![0; 64 << 10], LOAD);
    while left > 0 {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "{left} bytes are missing");
        left -= count;
    }
    since.elapsed()
}

/// The first byte, a long answer, and a thousand connections at once.
pub fn beside_a_plain_proxy(table: &mut Table) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || serve(&server));
    let site = Site::new(&format!(
        "[egress]\nenabled = true\nprivate = [\"127.0.0.0/8\"]\nhosts = [\"{NAME}:{port}\"]\nup_mib_per_hour = 1000000\ndown_mib_per_hour = 1000000\n"
    ));
    let host = site.serve();
    let plain = site.path().join("plain.sock");
    let listener = UnixListener::bind(&plain).unwrap();
    std::thread::spawn(move || plain_proxy(&listener));
    let ours = site.path().join("egress/default/proxy.sock");
    until("the way out", || ours.exists().then_some(()));
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(first_byte(&ours, port));
        two.push(first_byte(&plain, port));
    }
    table.compare("first byte through the way out", &Times(one), "a proxy that only copies", &Times(two), ["1.3", ""]);
    let (mut one, mut two) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..5 {
        one += download(&ours, port);
        two += download(&plain, port);
    }
    let mib = 5 * (LOAD >> 20);
    table.rates("MiB through the way out", mib, one, "a proxy that only copies", mib, two, "0.8 x");
    let before = memory(&host, "VmRSS");
    let mut open: Vec<UnixStream> = (0..CONNECTIONS).map(|_| tunnel(&ours, port, b' ')).collect();
    let each = memory(&host, "VmRSS").saturating_sub(before) * 1024 / CONNECTIONS as u64;
    // All of them are alive.
    for stream in &mut open {
        stream.write_all(b"again").unwrap();
    }
    for stream in &mut open {
        stream.read_exact(&mut [0]).unwrap();
    }
    table.row("memory of a connection of 1,000 that are idle", &format!("{each} bytes"), "", "", "32768 bytes");
}
