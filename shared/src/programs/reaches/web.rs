//! curl and wget, where all they do is to ask for what an address names. Source: curl(1) 7.88 to 8.17, wget(1) 1.21.

use super::{Place, Reaches, VIEW_BYTES, is_plain, of_https};
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
    files: &'static [&'static str],
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
        "no-clobber",
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

/// What a call of one of them reaches, where it is nothing but a question.
pub(in crate::programs) fn of(name: &str, call: &Call) -> Option<Reaches> {
    let asks = match name {
        "curl" => &CURL,
        "wget" => &WGET,
        _ => return None,
    };
    let mut places: Vec<Place> = Vec::new();
    let (mut data, mut is_get) = (false, false);
    let mut address = |text: &str| -> Option<()> {
        places.push(of_https(text).filter(|_| is_question(text))?);
        Some(())
    };
    for word in words(call, name)? {
        match word {
            Word::Letters(letters) => {
                is_get |= letters.contains('G');
                // The last one may have a value, which is looked at by itself.
                let has_value =
                    |letter: char| asks.values.contains(&letter.to_string().as_str()) || "XAUHd".contains(letter);
                letters.chars().all(|letter| asks.letters.contains(letter) || has_value(letter)).then_some(())?;
            }
            Word::Long(long) => {
                is_get |= long == "get";
                let is_known = asks.long.contains(&long) || asks.values.contains(&long) || is_sent(long);
                is_known.then_some(())?;
            }
            Word::Value(option, value) => {
                let value = value.exact()?;
                match option.as_str() {
                    "url" if name == "curl" => address(value)?,
                    option if asks.values.contains(&option) => stays(option, value).then_some(())?,
                    "X" | "request" | "method" => matches!(value, "GET" | "HEAD").then_some(())?,
                    "A" | "user-agent" | "U" => (is_plain(value) && value.len() < 128).then_some(())?,
                    "H" | "header" => {
                        let (field, content) = value.split_once(':')?;
                        let is_one = HEADERS.contains(&field.to_ascii_lowercase().as_str());
                        (is_one && is_plain(content) && !value.contains(['\r', '\n'])).then_some(())?;
                    }
                    // In the address, by `-G`.
                    "d" | "data" | "data-urlencode" => {
                        data = true;
                        (is_plain(value) && !value.contains('@') && acts_not(value)).then_some(())?;
                    }
                    _ => return None,
                }
            }
            Word::Operand { arg, may_be_value: false } => address(arg.exact()?)?,
            Word::Operand { .. } | Word::Unclear => return None,
        }
    }
    if places.is_empty() || data && !is_get {
        return None;
    }
    let bytes = VIEW_BYTES * u64::try_from(places.len()).unwrap_or(1);
    let names = asks.files.iter().map(|name| (*name).to_owned()).collect();
    Some(Reaches::reads(places, bytes).when([Condition::NoFileAbove { folder: "~".to_owned(), names }]))
}

/// Options whose values are looked at one by one.
fn is_sent(long: &str) -> bool {
    ["url", "request", "method", "user-agent", "header", "data", "data-urlencode"].contains(&long)
}

/// True for a value that is neither read from elsewhere nor written to elsewhere than it says, nor sent but for numbers.
fn stays(option: &str, value: &str) -> bool {
    match option {
        "w" | "write-out" => !value.starts_with(['-', '@']) && !value.contains("%output") && !value.contains("%header"),
        "r" | "range" => value.len() < 32 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
        _ => !value.starts_with('-') || value == "-",
    }
}

/// True for an address that names something and does not say that asking for it does something, nor stands for several.
fn is_question(address: &str) -> bool {
    is_plain(address)
        && !address.contains(['{', '[', '\\', ' '])
        && acts_not(address.split_once("://").map_or(address, |(_, rest)| rest))
}

fn acts_not(text: &str) -> bool {
    let path = text.split_once(['/', '?']).map_or("", |(_, path)| path);
    let path = if text.contains('/') || text.contains('?') { path } else { text };
    let is_act = |part: &str| {
        let part = part.to_ascii_lowercase();
        // Short ones begin many a word.
        ACTS.iter().any(|act| if act.len() < 6 { part == *act } else { part.contains(act) })
    };
    !path.contains('%')
        && !path.split(|c: char| !c.is_ascii_alphanumeric()).any(is_act)
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
    fn whatever_sends_starts_or_goes_elsewhere_is_none() {
        for text in [
            "curl http://a.example/x",
            "curl -d x https://a.example",
            "curl -sd x https://a.example",
            "curl --data x https://a.example",
            "curl --dat x https://a.example",
            "curl -X POST https://a.example",
            "curl -XDELETE https://a.example",
            "curl -G -d x=@f https://a.example",
            "curl -G --data-urlencode x@f https://a.example",
            "curl -G --data-binary x https://a.example",
            "curl -H x:y https://a.example",
            "curl -H @f https://a.example",
            "curl -H Host:b.example https://a.example",
            "curl -T f https://a.example",
            "curl -u a:b https://a.example",
            "curl -F x=@f https://a.example",
            "curl --json {} https://a.example",
            "curl -K f https://a.example",
            "curl -b c=d https://a.example",
            "curl -e https://b.example https://a.example",
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
            "curl https://a.example/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
            "curl https://a.example/unsubscribe?email=x",
            "curl https://a.example/job/x/build?token=y",
            "curl https://a.example/hooks/x",
            "curl https://a.example/job/x/%62uild?token=y",
            "curl https://a.example/job/x/buildWithParameters",
            "curl https://a.example/admin/deleteUser",
            "curl https://a.example/users/1/destroy.json",
            "curl https://a.example/x?action=deleteAll.x",
            "curl -r aGVsbG8gd29ybGQ- https://a.example/x",
            "wget --post-file=f https://a.example",
            "wget --post-data x https://a.example",
            "wget --method=PUT https://a.example",
            "wget -i f https://a.example",
            "wget -e x=y https://a.example",
            "wget -m https://a.example",
            "wget -r https://a.example",
            "wget --use-askpass=x https://a.example",
            "wget --header=Cookie:x https://a.example",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
