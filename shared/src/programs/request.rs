//! What a call of curl or wget asks for, where every word of it is understood. One table for each: the same letter means another thing
//! to the other.
//!
//! Source: curl(1) 7.88 to 8.17, wget(1) 1.21.

/// A request whose every word is understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Whom it asks: scheme, host and port, as the address says.
    pub origins: Vec<String>,
    /// The method, where the text names one.
    pub method: Option<String>,
    /// It sends a body, or lines of a header.
    pub sends: bool,
    /// It goes where the answer leads it.
    pub follows: bool,
    /// It writes a file whose name the text does not say as a path.
    pub writes_by_name: bool,
    /// Files whose content it sends. `-` is its input.
    pub files: Vec<String>,
}

/// What an option does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Nothing that matters.
    Plain,
    /// It goes where it is led.
    Follows,
    /// It writes a file that is called like the address.
    WritesByName,
    /// Its value is text that matters to nobody.
    Text,
    /// Its value is a path that is written, or `-`.
    Output,
    /// Its value is the method.
    Method,
    /// Its value is sent as it is.
    Sends,
    /// Its value is sent; behind an `@` stands a file.
    SendsData,
    /// Its value is a file that is sent.
    SendsFile,
}
use Does::{Follows, Method, Output, Plain, Sends, SendsData, SendsFile, Text, WritesByName};

struct Client {
    options: &'static [(&'static str, Does)],
    /// Flags of one letter that may stand together.
    together: &'static str,
    /// `--option=value` is the option and its value.
    glues: bool,
    /// Without an option that says otherwise.
    usual: Does,
}

const CURL: Client = Client {
    options: &[
        ("-s", Plain),
        ("--silent", Plain),
        ("-S", Plain),
        ("--show-error", Plain),
        ("-f", Plain),
        ("--fail", Plain),
        ("-i", Plain),
        ("--include", Plain),
        ("-I", Plain),
        ("--head", Plain),
        ("-v", Plain),
        ("--verbose", Plain),
        ("-q", Plain),
        ("--compressed", Plain),
        ("-L", Follows),
        ("--location", Follows),
        ("-O", WritesByName),
        ("--remote-name", WritesByName),
        ("-m", Text),
        ("--max-time", Text),
        ("-o", Output),
        ("--output", Output),
        ("-X", Method),
        ("--request", Method),
        ("-H", Sends),
        ("--header", Sends),
        ("-d", SendsData),
        ("--data", SendsData),
        ("--data-binary", SendsData),
        ("--data-ascii", SendsData),
        ("-T", SendsFile),
        ("--upload-file", SendsFile),
    ],
    together: "sSfiIvLO",
    glues: false,
    usual: Plain,
};

const WGET: Client = Client {
    options: &[
        ("-q", Plain),
        ("--quiet", Plain),
        ("-nv", Plain),
        ("--no-verbose", Plain),
        ("-O", Output),
        ("--output-document", Output),
        ("--header", Sends),
        ("--post-file", SendsFile),
        ("--body-file", SendsFile),
    ],
    together: "",
    glues: true,
    usual: WritesByName,
};

impl Request {
    /// Reads the words behind a program's name; `None` where one of them is not understood.
    pub fn of(program: &str, words: &[Option<String>]) -> Option<Self> {
        let client = match program {
            "curl" => &CURL,
            // It goes where it is led by itself.
            "wget" => &WGET,
            _ => return None,
        };
        let mut found = Self { follows: program == "wget", ..Self::default() };
        let mut names_output = false;
        let mut words = words.iter().map(Option::as_deref);
        while let Some(word) = words.next() {
            let word = word?;
            let (option, glued) = match word.split_once('=') {
                Some((option, value)) if client.glues && option.starts_with("--") => (option, Some(value)),
                _ => (word, None),
            };
            let does = client.options.iter().find(|(name, _)| *name == option).map(|(_, does)| *does);
            let Some(does) = does else {
                match word.strip_prefix('-') {
                    Some(letters) if letters.len() > 1 && letters.chars().all(|l| client.together.contains(l)) => {
                        found.follows |= letters.contains('L');
                        found.writes_by_name |= letters.contains('O');
                    }
                    Some(_) => return None,
                    None => found.origins.push(origin(word)?),
                }
                continue;
            };
            if matches!(does, Plain | Follows | WritesByName) {
                if glued.is_some() {
                    return None;
                }
                found.follows |= does == Follows;
                found.writes_by_name |= does == WritesByName;
                continue;
            }
            let value = match glued {
                Some(value) => value,
                None => words.next()??,
            };
            // What begins like an option is more likely meant as one.
            if value.len() > 1 && value.starts_with('-') {
                return None;
            }
            found.sends |= matches!(does, Sends | SendsData | SendsFile);
            match does {
                // A header may say another host or another method than the rest.
                Sends if value.starts_with('@') || leads_elsewhere(value) => return None,
                Method => found.method = Some(value.to_owned()),
                SendsData => found.files.extend(value.strip_prefix('@').map(str::to_owned)),
                SendsFile if value.contains(['{', '[', ',']) => return None,
                SendsFile => found.files.push(value.to_owned()),
                Output => names_output = true,
                _ => {}
            }
        }
        found.writes_by_name |= client.usual == WritesByName && !names_output;
        (!found.origins.is_empty()).then_some(found)
    }
}

/// True for a line of a header that may say whom the request is for, by which method, or how it is read.
fn leads_elsewhere(header: &str) -> bool {
    const PARTS: &[&str] = &[
        "host",
        "authority",
        "method",
        "override",
        "forward",
        "original",
        "rewrite",
        "destination",
        "proxy",
        "transfer",
        "upgrade",
        "connection",
        "length",
    ];
    let name = header.trim_start_matches(':').split([':', ';']).next().unwrap_or(header).to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part)) || header.contains(['\r', '\n'])
}

/// Scheme, host and port of an address without anything that stands for several, or for a user.
fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    let fits = matches!(scheme, "https" | "http")
        && !authority.is_empty()
        && authority.bytes().all(is_plain)
        && !address.contains(['{', '[', '\\']);
    fits.then(|| format!("{scheme}://{}", authority.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Option<Request> {
        let mut words = command.split(' ');
        let program = words.next().unwrap();
        Request::of(program, &words.map(|word| Some(word.to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn each_client_has_its_own_letters_and_what_is_not_understood_is_nothing() {
        let read = of("curl -sSL -H x:y -X DELETE https://a.example:8443/x").unwrap();
        assert_eq!(read.origins, ["https://a.example:8443"]);
        assert_eq!((read.method.as_deref(), read.sends, read.follows), (Some("DELETE"), true, true));
        assert_eq!(of("curl -d @f --data x https://a.example").unwrap().files, ["f"]);
        assert_eq!(of("wget --post-file=f https://a.example/").unwrap().files, ["f"]);
        assert!(of("wget -q https://a.example/x").unwrap().writes_by_name);
        assert!(!of("wget -q -O - https://a.example/x").unwrap().writes_by_name);
        assert!(of("curl -sO https://a.example/x").unwrap().writes_by_name);
        for command in [
            "curl -O -d@notes.txt https://a.example/x".to_owned(),
            "curl -O -XDELETE https://a.example/x".to_owned(),
            "curl -sd@f https://a.example/x".to_owned(),
            "curl -o -d https://a.example/x".to_owned(),
            "curl -m -n https://a.example/x".to_owned(),
            "curl -nv https://a.example/x".to_owned(),
            "curl -n https://a.example/x".to_owned(),
            "curl -u a:b https://a.example/x".to_owned(),
            "curl -k https://a.example/x".to_owned(),
            "curl -O HTTP://a.example/x".to_owned(),
            "curl -O gopher://a.example:25/x".to_owned(),
            "curl a.example".to_owned(),
            "curl --data=x https://a.example".to_owned(),
            "curl https://u:p@a.example/".to_owned(),
            "curl https://a.example\\@b.example/".to_owned(),
            "curl -H @f https://a.example".to_owned(),
            "curl -H Host:evil.example https://a.example".to_owned(),
            "curl --header host:evil.example https://a.example".to_owned(),
            "curl -H :authority:evil.example https://a.example".to_owned(),
            "curl -H X-HTTP-Method-Override:DELETE https://a.example".to_owned(),
            "curl -H x-forwarded-host:evil.example https://a.example".to_owned(),
            "curl -H Transfer-Encoding:chunked https://a.example".to_owned(),
            "curl -H x-original-url:/admin https://a.example".to_owned(),
            "wget --header=Host:evil.example https://a.example".to_owned(),
            "curl -H x:y\r\nHost:evil.example https://a.example".to_owned(),
            "curl https://{a,b}.example".to_owned(),
            "curl -T {a,b} https://a.example".to_owned(),
            "curl -s".to_owned(),
            "wget -m https://a.example/x".to_owned(),
            "wget -rH https://a.example/x".to_owned(),
            "wget -m -rH https://a.example/x".to_owned(),
            "wget -e x=y https://a.example/x".to_owned(),
            "xh https://a.example".to_owned(),
        ] {
            assert_eq!(of(&command), None, "{command}");
        }
    }
}
