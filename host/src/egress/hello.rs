//! The first words of a TLS client (RFC 8446, section 4.1.2; RFC 6066, section 3): which server it asks for. It is only read: a
//! connection to a host must ask for that host, or its address would be a way to another one that lives there, too.

/// What has come so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hello {
    /// Not enough to say.
    Part,
    /// No TLS, or none that is whole.
    Broken,
    /// A client's hello.
    Whole {
        /// The server's name, where it says one.
        name: Option<String>,
        /// It hides the name that counts (ECH), or pretends to.
        hides: bool,
        /// So many bytes it takes, with its records: what stands behind them is something else.
        bytes: usize,
    },
}

/// Longest hello that is read, in bytes.
pub const MAX_HELLO: usize = 32 * 1024;

/// In how many records it may come: a library uses one or two.
const MAX_RECORDS: usize = 64;
const ALERT: u8 = 21;
const WARNING: u8 = 1;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;
/// `encrypted_client_hello` (RFC 9849), and its draft's older form of hiding the name.
const HIDING: [u16; 2] = [0xfe0d, 0xffce];

/// Reads what a client has sent so far.
pub fn read(bytes: &[u8]) -> Hello {
    let mut message = Vec::new();
    let mut records = Reader(bytes);
    let mut count = 0;
    // A hello may lie in several records.
    loop {
        if let Some(length) = length_of(&message)
            && message.len() >= 4 + length
        {
            // Something else in the same record would be read together with it.
            let (name, hides) = match inside(message.get(4..4 + length).unwrap_or_default()) {
                Some(found) if message.len() == 4 + length => found,
                _ => return Hello::Broken,
            };
            return Hello::Whole { name, hides, bytes: bytes.len() - records.0.len() };
        }
        count += 1;
        if message.len() > MAX_HELLO || count > MAX_RECORDS {
            return Hello::Broken;
        }
        let Some(kind) = records.number(1) else { return Hello::Part };
        if kind != u64::from(HANDSHAKE) {
            return Hello::Broken;
        }
        let Some(version) = records.number(2) else { return Hello::Part };
        let Some(length) = records.number(2) else { return Hello::Part };
        if version >> 8 != 3 || !(1..=16384).contains(&length) {
            return Hello::Broken;
        }
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        let part = records.0.get(..wanted.min(records.0.len())).unwrap_or_default();
        message.extend_from_slice(part);
        if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Hello::Broken;
        }
        if records.take(wanted).is_none() {
            return Hello::Part;
        }
    }
}

/// How long a handshake message is behind its first four bytes.
fn length_of(message: &[u8]) -> Option<usize> {
    let [_, a, b, c, ..] = message else { return None };
    usize::try_from(u32::from_be_bytes([0, *a, *b, *c])).ok()
}

/// The random of a server's answer that asks for another hello (RFC 8446, section 4.1.3).
const AGAIN: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];
/// How much of an answer is needed to say that: a record's head, a message's, a version and what is random.
pub const ANSWER: usize = 5 + 4 + 2 + 32;

/// True for first words that some library would take for TLS: a record, of whatever version where a server may take it, or the hello of old.
/// `None` where more has to come. Other protocols begin with such a byte as well, and have something else behind it.
pub fn may_be_tls(words: &[u8]) -> Option<bool> {
    match *words.first()? {
        kind @ 20..=24 => {
            let major = *words.get(1)?;
            Some(major == 3 || matches!(kind, ALERT | HANDSHAKE) && major < 0x10)
        }
        // Its length, its kind, and a version.
        0x80.. => Some(*words.get(2)? == CLIENT_HELLO && matches!(*words.get(3)?, 0 | 2 | 3)),
        _ => Some(false),
    }
}

/// Whether a server asks for another hello; `None` where too little of its answer is there.
pub fn asks_again(mut answer: &[u8]) -> Option<bool> {
    let length = loop {
        let kind = *answer.first()?;
        if !matches!(kind, ALERT | HANDSHAKE) {
            return Some(false);
        }
        let length = answer.get(3..5)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
        if kind == HANDSHAKE {
            break length;
        }
        // It may warn of something first; else it is over.
        if answer.get(5).is_some_and(|level| *level != WARNING) {
            return Some(false);
        }
        answer = answer.get(5 + length..)?;
    };
    // In pieces it might be.
    if length < ANSWER - 5 {
        return Some(true);
    }
    answer.get(11..ANSWER).map(|random| random == AGAIN)
}

/// What stands in front of a second hello, without whole records of early data, which the server that asked for one passes over; and what is
/// left behind that.
pub fn without_early(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let (mut front, mut rest) = (Vec::new(), bytes);
    while let Some(&[kind, _, _, high, low]) = rest.first_chunk::<5>() {
        let end = 5 + usize::from(u16::from_be_bytes([high, low]));
        let Some((record, behind)) = rest.split_at_checked(end).filter(|_| is_before_hello(kind)) else { break };
        if kind == 20 {
            front.extend_from_slice(record);
        }
        rest = behind;
    }
    (front, rest)
}

/// True for a kind of records that may stand in front of a second hello: the change of the cipher, and early data.
pub const fn is_before_hello(kind: u8) -> bool {
    matches!(kind, 20 | 23)
}

/// What the body of a hello says: the name, and whether it hides one.
fn inside(body: &[u8]) -> Option<(Option<String>, bool)> {
    let mut body = Reader(body);
    // The version, and what is random.
    body.take(2 + 32)?;
    // The session, the ciphers, the ways of compression.
    body.list(1)?;
    body.list(2)?;
    body.list(1)?;
    if body.0.is_empty() {
        return Some((None, false));
    }
    let mut extensions = Reader(body.list(2)?);
    if !body.0.is_empty() {
        return None;
    }
    let (mut name, mut hides) = (None, false);
    while !extensions.0.is_empty() {
        let kind = u16::try_from(extensions.number(2)?).ok()?;
        let content = extensions.list(2)?;
        hides |= HIDING.contains(&kind);
        if kind == SERVER_NAME {
            // Two of them would mean one to us and another one to somebody else.
            if name.is_some() {
                return None;
            }
            name = Some(server_name(content)?);
        }
    }
    Some((name, hides))
}

/// The one name of the extension.
fn server_name(content: &[u8]) -> Option<String> {
    let mut content = Reader(content);
    let mut names = Reader(content.list(2)?);
    if !content.0.is_empty() || names.number(1)? != u64::from(HOST_NAME) {
        return None;
    }
    let name = names.list(2)?;
    if !names.0.is_empty() {
        return None;
    }
    String::from_utf8(name.to_vec()).ok()
}

/// Bytes that are read from their beginning.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// What stands behind its length, which has so many bytes.
    fn list(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number(bytes)?).ok()?;
        self.take(length)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use rustls::pki_types::ServerName;

    use super::*;

    /// What a real client says first.
    pub fn hello(name: &'static str) -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let name = ServerName::try_from(name).unwrap();
        let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    fn named(name: &'static str) -> Hello {
        Hello::Whole { name: Some(name.to_owned()), hides: false, bytes: hello(name).len() }
    }

    /// The same message in records of so many bytes.
    fn split(hello: &[u8], size: usize) -> Vec<u8> {
        let records = hello[5..].chunks(size).map(|part| {
            let length = u16::try_from(part.len()).unwrap().to_be_bytes();
            [&[22, 3, 1], &length[..], part].concat()
        });
        records.collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_name_is_read_however_it_comes() {
        let whole = hello("example.org");
        assert_eq!(read(&whole), named("example.org"));
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), Hello::Part, "{end}");
        }
        for size in [5, 50, 200] {
            let pieces = split(&whole, size);
            let read = read(&pieces);
            assert!(
                matches!(&read, Hello::Whole { name: Some(name), bytes, .. } if name == "example.org" && *bytes == pieces.len()),
                "{size}: {read:?}"
            );
        }
        let nameless = hello("192.0.2.1");
        assert_eq!(read(&nameless), Hello::Whole { name: None, hides: false, bytes: nameless.len() });
        assert_eq!(read(&split(&whole, 1)), Hello::Broken, "in more records than any library makes");
        // What comes behind it is the handshake's business.
        assert_eq!(read(&[whole.as_slice(), b"more"].concat()), named("example.org"));
    }

    #[test]
    fn what_is_none_is_broken_at_once() {
        for bytes in [
            &b"GET / HTTP/1.1"[..],
            b"SSH-2.0-x",
            b"\x16\x02\x00",
            b"\x16\x03\x01\x00\x00",
            b"\x16\x03\x01\xff\xff",
            b"\x16\x03\x01\x00\x01\x02",
            b"\x80\x2e\x01",
        ] {
            let read = read(bytes);
            assert!(matches!(read, Hello::Broken | Hello::Part), "{bytes:?}: {read:?}");
        }
        assert_eq!(read(b"GET / HTTP/1.1"), Hello::Broken);
        assert_eq!(read(b"\x16\x03\x01\x00\x01\x02"), Hello::Broken);
        // One that says that it is longer than any may be.
        let mut long = vec![22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff];
        long.extend(vec![0; 16380]);
        let many = long.repeat(4);
        assert_eq!(read(&many), Hello::Broken);
    }

    #[test]
    fn a_name_that_is_said_twice_or_hidden_is_none() {
        let whole = hello("example.org");
        let body = &whole[9..];
        let at = body.windows(11).position(|part| part == b"example.org").unwrap();
        // The extension begins nine bytes before its name.
        let extension = body[at - 9..at + 11].to_vec();
        let with = |more: &[u8]| {
            let mut body = body.to_vec();
            let lengths = 2 + 32;
            let session = usize::from(body[lengths]);
            let ciphers = lengths + 1 + session;
            let compression = ciphers + 2 + usize::from(u16::from_be_bytes([body[ciphers], body[ciphers + 1]]));
            let extensions = compression + 1 + usize::from(body[compression]);
            let length =
                u16::from_be_bytes([body[extensions], body[extensions + 1]]) + u16::try_from(more.len()).unwrap();
            body[extensions..extensions + 2].copy_from_slice(&length.to_be_bytes());
            body.extend_from_slice(more);
            let length = u32::try_from(body.len()).unwrap().to_be_bytes();
            let message = [&[1], &length[1..], &body].concat();
            split(&[&[0; 5], message.as_slice()].concat(), 16000)
        };
        assert!(matches!(read(&with(&[])), Hello::Whole { name: Some(name), .. } if name == "example.org"));
        assert_eq!(read(&with(&extension)), Hello::Broken);
        assert!(matches!(read(&with(&[0xfe, 0x0d, 0, 1, 0])), Hello::Whole { hides: true, .. }));
        // Its length goes beyond the end.
        assert_eq!(read(&with(&[0, 99, 0, 9, 0])), Hello::Broken);
    }

    #[test]
    fn an_answer_that_asks_for_another_hello_is_known() {
        let answer = |random: &[u8]| [&[22, 3, 3, 0, 88, 2, 0, 0, 84, 3, 3], random, &[0; 50]].concat();
        assert_eq!(asks_again(&answer(&AGAIN)), Some(true));
        assert_eq!(asks_again(&answer(&[7; 32])), Some(false));
        assert_eq!(asks_again(&answer(&AGAIN)[..42]), None);
        assert_eq!(asks_again(&[22, 3, 3, 0, 1, 2]), Some(true), "in pieces");
        assert_eq!(asks_again(b"SSH-2.0"), Some(false));
        // A server may warn first, and says it then.
        let warns = [21, 3, 1, 0, 2, 1, 112];
        assert_eq!(asks_again(&[&warns[..], &answer(&AGAIN)].concat()), Some(true));
        assert_eq!(asks_again(&[&warns[..], &answer(&[7; 32])].concat()), Some(false));
        assert_eq!(asks_again(&warns), None);
        assert_eq!(asks_again(&[21, 3, 3, 0, 2, 2, 40]), Some(false), "it ends");
        for words in
            [&[22, 3][..], &[21, 3, 1], &[20, 3], &[24, 3], &[0x80, 0x2e, 1, 3], &[22, 2, 1], &[22, 0], &[21, 1]]
        {
            assert_eq!(may_be_tls(words), Some(true), "{words:?}");
        }
        // SSH, plain HTTP, PostgreSQL, MySQL, memcached, Thrift, ZMTP.
        let others: [&[u8]; 7] = [
            b"SSH-2.0",
            b"GET /",
            &[0, 0, 0, 8],
            &[20, 0, 0, 1],
            &[0x80, 0, 0, 1, 0],
            &[0x80, 1, 0, 1],
            &[0xff, 0, 0, 0],
        ];
        for words in others {
            assert_eq!(may_be_tls(words), Some(false), "{words:?}");
        }
        assert_eq!((may_be_tls(&[]), may_be_tls(&[22]), may_be_tls(&[0x80, 1])), (None, None, None));
        assert_eq!(asks_again(b""), None);
        let whole = hello("example.org");
        let before = [20, 3, 3, 0, 1, 1].repeat(2);
        let early = [23, 3, 3, 0, 2, 0, 0];
        let all = [&early, before.as_slice(), &early, &whole].concat();
        assert_eq!(without_early(&all), (before, whole.as_slice()));
        assert_eq!(without_early(&[23, 3, 3, 0, 9, 1]), (Vec::new(), &[23, 3, 3, 0, 9, 1][..]));
        assert_eq!(
            (without_early(&whole), without_early(b"")),
            ((Vec::new(), whole.as_slice()), (Vec::new(), &b""[..]))
        );
    }

    #[test]
    fn no_bytes_are_too_odd() {
        let mut seed = 7_u64;
        let mut dice = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let whole = hello("example.org");
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            for _ in 0..=dice() % 4 {
                let at = usize::try_from(dice() % bytes.len() as u64).unwrap();
                bytes[at] = u8::try_from(dice() % 256).unwrap();
            }
            let cut = usize::try_from(dice() % bytes.len() as u64).unwrap();
            read(&bytes);
            read(&bytes[..cut]);
        }
    }
}
