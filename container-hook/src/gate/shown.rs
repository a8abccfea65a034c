//! What a text or a value shows: known forms of credentials, told by their names and never by their values.

use bashgate_shared::credentials::{FORMS, Form, TELLING};
use regex_lite::Regex;

/// Most of a result that is looked at, in bytes: as much from its start as from its end.
const MOST_BYTES: usize = 256 * 1024;

/// The forms of credentials that a text shows. What is made up, as in a document, is none: it has no digits and letters of
/// both cases, or says that it is an example.
pub fn credentials_in(text: &str) -> Vec<&'static str> {
    // Colours may stand in the middle of a mark.
    let plain = if text.contains('\x1b') { without_escapes(text) } else { String::new() };
    let text = if plain.is_empty() { text } else { plain.as_str() };
    let parts = if text.len() <= 2 * MOST_BYTES {
        [text, ""]
    } else {
        let (head, tail) = (text.floor_char_boundary(MOST_BYTES), text.ceil_char_boundary(text.len() - MOST_BYTES));
        [text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default()]
    };
    FORMS.iter().filter(|form| parts.iter().any(|part| shows(form, part))).map(|form| form.name).collect()
}

/// True for a value that is a credential, whatever its variable is called.
pub fn is_credential(value: &str) -> bool {
    let is_bearer = ["bearer ", "basic ", "token "].iter().any(|word| value.to_ascii_lowercase().starts_with(word));
    is_bearer || holds_password(value) || !credentials_in(value).is_empty()
}

/// True for an address with a password in it, as proxies and databases are given: `scheme://user:password@host`.
fn holds_password(value: &str) -> bool {
    let in_address = value.match_indices("://").any(|(at, mark)| {
        let rest = value.get(at + mark.len()..).unwrap_or_default();
        let address = rest.split([' ', '\n', '"', '\'']).next().unwrap_or_default();
        let Some((user, _)) = address.rsplit_once('@') else { return false };
        match user.split_once(':') {
            // A password may hold anything, a name no slash.
            Some((name, password)) => !password.is_empty() && !name.contains(['/', '?']),
            // A token in place of a name.
            None => user.len() >= 20 && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
        }
    });
    // The form of Go's drivers: `user:password@tcp(host:port)/name`.
    let in_driver = ["@tcp(", "@unix("].iter().any(|mark| {
        value
            .split_once(mark)
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    });
    in_address || in_driver
}

fn shows(form: &Form, text: &str) -> bool {
    let mut marks = form.marks.iter().flat_map(|mark| text.match_indices(mark));
    if form.shortest > TELLING {
        // Long lines, which other programs indent, number, or write with `\n` between them.
        return marks.any(|(at, mark)| has_long_run(text, at + mark.len()));
    }
    if marks.next().is_none() {
        return false;
    }
    // Only where a mark stands, so that nobody else waits for it.
    let Ok(pattern) = Regex::new(form.pattern) else { return true };
    pattern.captures_iter(text).any(|found| {
        let secret = found.name("secret").or_else(|| found.get(0)).map_or("", |found| found.as_str());
        is_random(secret)
    })
}

/// True when a run of forty letters as keys are written in stands soon behind this place.
fn has_long_run(text: &str, from: usize) -> bool {
    let end = text.floor_char_boundary((from + 400).min(text.len()));
    let behind = text.get(from..end).unwrap_or_default();
    let runs = behind.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')));
    runs.into_iter().any(|run| run.len() >= 40 && is_random(run))
}

/// A text without the escape sequences of colours.
pub(super) fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letters = part.strip_prefix('[').map_or(part, |rest| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
            rest.get(end..).unwrap_or_default()
        });
        plain.push_str(letters);
    }
    plain
}

fn is_random(secret: &str) -> bool {
    let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
    let is_example = ["EXAMPLE", "XXXX", "xxxx"].iter().any(|word| secret.contains(word));
    // Forms in capitals only have no small letters.
    let is_mixed = has(u8::is_ascii_lowercase) || !has(|byte| b"_-".contains(byte));
    let is_as_keys_are = has(u8::is_ascii_uppercase) && is_mixed;
    has(u8::is_ascii_digit) && (is_as_keys_are || has_long_number(secret)) && !is_example
}

/// True for what has a number of 32 hexadecimal digits in it, as tokens of some services are written, and not the same few over and
/// over.
fn has_long_number(secret: &str) -> bool {
    let runs = secret.split(|c: char| !matches!(c, '0'..='9' | 'a'..='f'));
    let differ = |run: &str| run.bytes().collect::<std::collections::BTreeSet<u8>>().len() >= 8;
    runs.into_iter().any(|run| run.len() >= 32 && differ(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_told_by_name() {
        let random = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        for (text, want) in [
            (format!("token: ghp_{random}\n"), "GitHub token"),
            (format!("AKIA{}", "A1B2C3D4E5F6G7H8"), "AWS access key"),
            (format!("export OPENAI_API_KEY=sk-proj-{random}"), "OpenAI key"),
            (format!("-----BEGIN OPENSSH {} KEY-----\n{random}{random}", "PRIVATE"), "private key"),
            (format!("\"private_key\": \"-----BEGIN {} KEY-----\\n{random}{random}\\n", "PRIVATE"), "private key"),
            (format!("k.pem:1:-----BEGIN {} KEY-----\nk.pem:2:{random}{random}", "PRIVATE"), "private key"),
            (format!("\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K{random}"), "GitHub token"),
            (format!("xoxb-1234567890-{random}"), "Slack token"),
            (format!("{}\nglpat-{}{}", "x".repeat(1 << 20), "A1b2C3d4E5", "f6G7h8I9j0"), "GitLab token"),
        ] {
            assert_eq!(credentials_in(&text), [want], "{text:.80}");
        }
    }

    #[test]
    fn what_documents_show_is_none() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE",
            "class=\"sk-cube-grid-animation-container-x\"",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "curl https://user:password@example.com",
            "Authorization: Bearer $TOKEN",
            "-----BEGIN CERTIFICATE-----\nMIIB",
            "-----BEGIN PRIVATE KEY----- (as above)",
            "12:30:45 ok",
            "sk-",
            "",
        ] {
            assert_eq!(credentials_in(text), Vec::<&str>::new(), "{text}");
        }
    }
}
