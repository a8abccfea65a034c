//! curl and wget, where all they do is to ask for what an address names, or to send there what their words say. Source: curl(1) 7.88 to 8.17, wget(1) 1.21.

use super::{PUSH_BYTES, Place, Reaches, VIEW_BYTES, WORDS_BYTES, is_plain, of_https};
use crate::classify::Condition;
use crate::classify::call::Call;
use crate::programs::addresses::{Word, words};

/// What configures them, in the home folder.
const CURL_FILES: [&str; 4] = [".curlrc", ".config/curlrc", ".config/.curlrc", ".netrc"];
const WGET_FILES: [&str; 2] = [".wgetrc", ".netrc"];

/// The options with which a client still only asks; whatever is not here may send, start or go elsewhere.
struct Asks {
    /// Letters without a value.
    letters: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
    /// Options with a value that stays here: times, places, formats.
    values: &'static [&'static str],
    /// Options with a value that is sent.
    sent: &'static [(&'static str, Sent)],
    files: &'static [&'static str],
}

impl Asks {
    fn sent(&self, option: &str) -> Option<Sent> {
        self.sent.iter().find(|(name, _)| *name == option).map(|(_, sent)| *sent)
    }
}

const CURL: Asks = Asks {
    letters: "sSfiIvLOq46#NgG",
    long: &[
        "silent",
        "show-error",
        "fail",
        "fail-with-body",
        "include",
        "head",
        "verbose",
        "location",
        "remote-name",
        "compressed",
        "http1.1",
        "http2",
        "no-progress-meter",
        "progress-bar",
        "globoff",
        "ipv4",
        "ipv6",
        "no-buffer",
        "get",
        "retry-all-errors",
        "retry-connrefused",
        "create-dirs",
    ],
    values: &[
        "o",
        "output",
        "m",
        "max-time",
        "connect-timeout",
        "retry",
        "retry-delay",
        "retry-max-time",
        "max-redirs",
        "r",
        "range",
        "w",
        "write-out",
        "output-dir",
        "max-filesize",
        "limit-rate",
        "y",
        "Y",
    ],
    sent: &[
        ("X", Sent::Method),
        ("request", Sent::Method),
        ("A", Sent::Agent),
        ("user-agent", Sent::Agent),
        ("H", Sent::Header),
        ("header", Sent::Header),
        ("d", Sent::Data),
        ("data", Sent::Data),
        ("data-ascii", Sent::Data),
        ("data-binary", Sent::Data),
        ("json", Sent::Data),
        ("data-urlencode", Sent::Encoded),
        ("F", Sent::Form),
        ("form", Sent::Form),
        ("T", Sent::File),
        ("upload-file", Sent::File),
        ("b", Sent::Cookie),
        ("cookie", Sent::Cookie),
        ("data-raw", Sent::Words),
        ("form-string", Sent::Words),
        ("u", Sent::Words),
        ("user", Sent::Words),
        ("e", Sent::Words),
        ("referer", Sent::Words),
        ("oauth2-bearer", Sent::Words),
        ("url-query", Sent::Query),
    ],
    files: &CURL_FILES,
};
const WGET: Asks = Asks {
    // What is there already it would tell the other side.
    letters: "qnvS46",
    long: &[
        "quiet",
        "no-verbose",
        "verbose",
        "spider",
        "server-response",
        "show-progress",
        "inet4-only",
        "inet6-only",
        "content-on-error",
    ],
    values: &[
        "O",
        "output-document",
        "P",
        "directory-prefix",
        "T",
        "timeout",
        "t",
        "tries",
        "connect-timeout",
        "read-timeout",
        "dns-timeout",
        "progress",
        "waitretry",
        "max-redirect",
        "limit-rate",
    ],
    sent: &[
        ("method", Sent::Method),
        ("U", Sent::Agent),
        ("user-agent", Sent::Agent),
        ("header", Sent::Header),
        ("post-data", Sent::Words),
        ("body-data", Sent::Words),
        ("post-file", Sent::File),
        ("body-file", Sent::File),
        ("user", Sent::Words),
        ("password", Sent::Words),
        ("http-user", Sent::Words),
        ("http-password", Sent::Words),
        ("referer", Sent::Words),
    ],
    files: &WGET_FILES,
};

/// Lines of a header that say what is wanted, and nothing of who asks.
const HEADERS: &[&str] = &["accept", "accept-language", "x-github-api-version", "cache-control", "user-agent"];
/// Parts of addresses that say that asking does something.
const ACTS: &[&str] = &[
    "unsubscribe",
    "subscribe",
    "logout",
    "signout",
    "delete",
    "remove",
    "destroy",
    "confirm",
    "activate",
    "deactivate",
    "approve",
    "trigger",
    "webhook",
    "webhooks",
    "hook",
    "hooks",
    "build",
    "deploy",
    "restart",
    "reboot",
    "stop",
    "start",
    "shutdown",
    "vote",
    "like",
    "cancel",
    "accept",
    "reject",
    "reset",
    "revoke",
    "enable",
    "disable",
    "publish",
    "merge",
    "dispatch",
    "toggle",
    "kill",
    "execute",
    "exec",
    "run",
    "eval",
    "send",
    "notify",
    "ping",
    "pixel",
    "track",
    "collect",
    "beacon",
    "log",
    "update",
    "create",
    "add",
    "set",
    "buy",
    "pay",
    "invite",
    "register",
    "callback",
    "verify",
];

/// How much of a request is more than a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sends {
    Nothing,
    /// What stands in the text.
    Words,
    /// A file, or what comes in.
    File,
}

/// What a call of one of them reaches, where it asks for what its addresses name, or sends there what its words say, and does nothing else.
pub(in crate::programs) fn of(name: &str, call: &Call) -> Option<Reaches> {
    let asks = match name {
        "curl" => &CURL,
        "wget" => &WGET,
        _ => return None,
    };
    let mut places: Vec<Place> = Vec::new();
    let (mut sends, mut data, mut is_get) = (Sends::Nothing, false, false);
    let mut address = |text: &str| {
        places.push(of_https(text).filter(|_| is_one(text))?);
        Some(if is_question(text) { Sends::Nothing } else { Sends::Words })
    };
    for word in words(call, name)? {
        match word {
            Word::Letters(letters) => {
                is_get |= letters.contains('G');
                // The last one may have a value, which is looked at by itself.
                let has_value = |letter: char| {
                    let letter = letter.to_string();
                    asks.values.contains(&letter.as_str()) || asks.sent(&letter).is_some()
                };
                letters.chars().all(|letter| asks.letters.contains(letter) || has_value(letter)).then_some(())?;
            }
            Word::Long(long) => {
                is_get |= long == "get";
                let is_known = asks.long.contains(&long) || asks.values.contains(&long) || asks.sent(long).is_some();
                (is_known || name == "curl" && long == "url").then_some(())?;
            }
            Word::Value(option, value) => {
                let value = value.exact()?;
                match option.as_str() {
                    "url" if name == "curl" => sends = sends.max(address(value)?),
                    option if asks.values.contains(&option) => stays(option, value).then_some(())?,
                    // In the address, by `-G`.
                    "d" | "data" | "data-urlencode"
                        if name == "curl" && is_plain(value) && !value.contains('@') && acts_not(value) =>
                    {
                        data = true;
                    }
                    option => sends = sends.max(asks.sent(option)?.of(value)?),
                }
            }
            Word::Operand { arg, may_be_value: false } => sends = sends.max(address(arg.exact()?)?),
            Word::Operand { .. } | Word::Unclear => return None,
        }
    }
    if data && !is_get {
        sends = sends.max(Sends::Words);
    }
    if places.is_empty() {
        return None;
    }
    let each = match sends {
        Sends::Nothing => VIEW_BYTES,
        Sends::Words => WORDS_BYTES,
        Sends::File => PUSH_BYTES,
    };
    let bytes = each * u64::try_from(places.len()).unwrap_or(1);
    let names = asks.files.iter().map(|name| (*name).to_owned()).collect();
    let mut reaches = Reaches::reads(places, bytes).when([Condition::NoFileAbove { folder: "~".to_owned(), names }]);
    if sends > Sends::Nothing {
        reaches.writes.insert("requests".to_owned());
    }
    Some(reaches)
}

/// What is sent, by what may stand there.
#[derive(Clone, Copy)]
enum Sent {
    Method,
    Agent,
    Header,
    /// Of a file behind `@`.
    Data,
    /// Of a file behind `@`, in front of which a name may stand.
    Encoded,
    Form,
    File,
    /// Without a sign of what it is set to it is a file of them.
    Cookie,
    Words,
    /// Of a file in front of which a name may stand.
    Query,
}

impl Sent {
    /// What a value has a request send, where it is known to be that and nothing else.
    fn of(self, value: &str) -> Option<Sends> {
        let words = |is_question: bool| if is_question { Sends::Nothing } else { Sends::Words };
        let of_file = |is_file: bool| if is_file { Sends::File } else { Sends::Words };
        Some(match self {
            Self::Method => words(matches!(value, "GET" | "HEAD")),
            Self::Agent => words(is_plain(value) && value.len() < 128),
            Self::Header => {
                let (field, content) = value.split_once(':')?;
                // Another host would be meant than the one that is named.
                let is_field = !field.starts_with('@') && !field.eq_ignore_ascii_case("host");
                (is_field && !value.contains(['\r', '\n'])).then_some(())?;
                words(HEADERS.contains(&field.to_ascii_lowercase().as_str()) && is_plain(content))
            }
            Self::Data => of_file(value.starts_with('@')),
            Self::Encoded => of_file(value.contains('@')),
            Self::Form => of_file(value.contains("=@") || value.contains("=<")),
            // One word may stand for several.
            Self::File => (!value.contains(['{', '['])).then_some(Sends::File)?,
            Self::Cookie => value.contains('=').then_some(Sends::Words)?,
            Self::Query => (!value.contains('@')).then_some(Sends::Words)?,
            Self::Words => Sends::Words,
        })
    }
}

/// True for a value that is neither read from elsewhere nor written to elsewhere than it says, nor sent but for numbers.
fn stays(option: &str, value: &str) -> bool {
    match option {
        "w" | "write-out" => !value.starts_with(['-', '@']) && !value.contains("%output") && !value.contains("%header"),
        "r" | "range" => value.len() < 32 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
        _ => !value.starts_with('-') || value == "-",
    }
}

/// True for an address that stands for nothing but itself.
fn is_one(address: &str) -> bool {
    !address.contains(['{', '[', '\\', ' ']) && !address.chars().any(char::is_control)
}

/// True for an address that names something and does not say that asking for it does something.
fn is_question(address: &str) -> bool {
    is_plain(address) && acts_not(address.split_once("://").map_or(address, |(_, rest)| rest))
}

fn acts_not(text: &str) -> bool {
    let path = text.split_once(['/', '?']).map_or("", |(_, path)| path);
    let path = if text.contains('/') || text.contains('?') { path } else { text };
    let is_act = |part: &str| {
        let part = part.to_ascii_lowercase();
        // Short ones begin many a word.
        ACTS.iter().any(|act| if act.len() < 6 { part == *act } else { part.contains(act) })
    };
    // `addUser` is two words.
    let mut apart = String::with_capacity(path.len());
    let mut was_small = false;
    for letter in path.chars() {
        if was_small && letter.is_ascii_uppercase() {
            apart.push(' ');
        }
        was_small = letter.is_ascii_lowercase();
        apart.push(letter);
    }
    !path.contains('%')
        && !path.split(|c: char| !c.is_ascii_alphanumeric()).any(is_act)
        && !apart.split(|c: char| !c.is_ascii_alphanumeric()).any(is_act)
        && !path.to_ascii_lowercase().contains("build")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::call::Arg;

    fn of_text(text: &str) -> Option<Reaches> {
        let mut words = text.split(' ').map(|word| word.replace('~', " "));
        let program = words.next().unwrap();
        let args = words.map(Arg::literal).collect();
        of(&program.clone(), &Call { program, args, fetched_in_words: false, fed: None })
    }

    #[test]
    fn a_question_reads() {
        for text in [
            "curl https://a.example/x",
            "curl -sSfL https://a.example/x -o y",
            "curl -fsSLo /tmp/y https://a.example/x",
            "curl -sSLO https://a.example/x.tgz",
            "curl -I https://a.example",
            "curl -X GET https://a.example/x?y=z",
            "curl -sXGET https://a.example/x",
            "curl -s -o /dev/null -w %{http_code} https://a.example/",
            "curl --retry 3 --connect-timeout 2 --url https://a.example/x",
            "curl -sG https://a.example/search --data-urlencode q=markdown~table -d size=5",
            "curl -H Accept:~application/json -A Mozilla/5.0 https://a.example/x",
            "curl -L https://a.example/releases/v1.json",
            "wget -q https://a.example/x.tar.gz",
            "wget -qO- https://a.example/x",
            "wget -O - https://a.example/x",
            "wget --spider -S https://a.example/x",
            "wget -nv --timeout=20 --tries=2 -P /tmp https://a.example/x",
            "wget --method=GET --header=Accept:x -qO - https://a.example/x",
        ] {
            assert!(of_text(text).is_some_and(|found| found.only_reads()), "{text}");
        }
    }

    #[test]
    fn what_sends_there_what_its_words_say_writes() {
        for (text, bytes) in [
            ("curl -d x https://a.example", WORDS_BYTES),
            ("curl -sd x https://a.example", WORDS_BYTES),
            ("curl --data x https://a.example", WORDS_BYTES),
            ("curl -G --data-binary x https://a.example", WORDS_BYTES),
            ("curl -X POST https://a.example", WORDS_BYTES),
            ("curl -XDELETE https://a.example", WORDS_BYTES),
            ("curl -H x:y https://a.example", WORDS_BYTES),
            ("curl -u a:b https://a.example", WORDS_BYTES),
            ("curl -b c=d https://a.example", WORDS_BYTES),
            ("curl -e https://b.example https://a.example", WORDS_BYTES),
            ("curl --json {} https://a.example", WORDS_BYTES),
            ("curl -F x=y https://a.example", WORDS_BYTES),
            ("curl -F x=@f https://a.example", PUSH_BYTES),
            ("curl -T f https://a.example", PUSH_BYTES),
            ("curl --data-binary @f https://a.example", PUSH_BYTES),
            ("curl -G -d x=@f https://a.example", WORDS_BYTES),
            ("curl -G --data-urlencode x@f https://a.example", PUSH_BYTES),
            ("curl https://a.example/unsubscribe?email=x", WORDS_BYTES),
            ("curl https://a.example/job/x/build?token=y", WORDS_BYTES),
            ("curl https://a.example/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw", WORDS_BYTES),
            ("curl https://a.example/hooks/x", WORDS_BYTES),
            ("curl https://a.example/job/x/%62uild?token=y", WORDS_BYTES),
            ("curl https://a.example/job/x/buildWithParameters", WORDS_BYTES),
            ("curl https://a.example/admin/deleteUser", WORDS_BYTES),
            ("curl https://a.example/users/1/destroy.json", WORDS_BYTES),
            ("curl https://a.example/x?action=deleteAll.x", WORDS_BYTES),
            ("wget --post-file=f https://a.example", PUSH_BYTES),
            ("wget --post-data x https://a.example", WORDS_BYTES),
            ("wget --method=PUT https://a.example", WORDS_BYTES),
            ("wget --header=Cookie:x https://a.example", WORDS_BYTES),
        ] {
            let found = of_text(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.only_reads(), found.up_bytes), (false, bytes), "{text}");
            assert_eq!(found.places, [Place::https("a.example")].into(), "{text}");
        }
    }

    #[test]
    fn whatever_starts_something_or_goes_elsewhere_is_none() {
        for text in [
            "curl http://a.example/x",
            "curl --dat x https://a.example",
            "curl -b jar https://a.example",
            "curl -c jar -d x https://a.example",
            "curl -T {f,g} https://a.example",
            "curl -d x https://a.example/[1-9]",
            "curl -H @f https://a.example",
            "curl -H Host:b.example https://a.example",
            "curl -K f https://a.example",
            "curl -n https://a.example",
            "curl -x b:1 https://a.example",
            "curl --proxy b https://a.example",
            "curl --resolve a.example:443:127.0.0.1 https://a.example",
            "curl --connect-to ::b:443 https://a.example",
            "curl --doh-url https://b.example https://a.example",
            "curl -w @f https://a.example",
            "curl -w %output{~/.bashrc}x https://a.example",
            "curl --next https://a.example https://b.example",
            "curl --engine x https://a.example",
            "curl -k https://a.example",
            "curl -J -O https://a.example",
            "curl --location-trusted https://a.example",
            "curl a.example",
            "curl ftp://a.example/x",
            "curl https://127.0.0.1/x",
            "curl https://u:p@a.example/",
            "curl https://{a,b}.example/",
            "curl -r aGVsbG8gd29ybGQ- https://a.example/x",
            "wget -i f https://a.example",
            "wget -e x=y https://a.example",
            "wget -m https://a.example",
            "wget -r https://a.example",
            "wget --use-askpass=x https://a.example",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
