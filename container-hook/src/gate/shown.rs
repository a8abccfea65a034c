//! What a tool's result shows: known forms of credentials, told by their names and never by their values.

use bashgate_shared::credentials::{FORMS, Form};
use regex_lite::Regex;

/// Most of a result that is looked at, in bytes: as much from its start as from its end.
const MOST_BYTES: usize = 256 * 1024;

/// The forms of credentials that a text shows. What is made up, as in a document, is none: it has no digits and letters of
/// both cases, or says that it is an example.
pub fn credentials_in(text: &str) -> Vec<&'static str> {
    let parts = if text.len() <= 2 * MOST_BYTES {
        [text, ""]
    } else {
        let (head, tail) = (text.floor_char_boundary(MOST_BYTES), text.ceil_char_boundary(text.len() - MOST_BYTES));
        [text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default()]
    };
    FORMS.iter().filter(|form| parts.iter().any(|part| shows(form, part))).map(|form| form.name).collect()
}

fn shows(form: &Form, text: &str) -> bool {
    if !form.marks.iter().any(|mark| text.contains(mark)) {
        return false;
    }
    // Only where a mark stands, so that nobody else waits for it.
    let Ok(pattern) = Regex::new(form.pattern) else { return true };
    pattern.captures_iter(text).any(|found| {
        let secret = found.name("secret").or_else(|| found.get(0)).map_or("", |found| found.as_str());
        is_random(secret)
    })
}

fn is_random(secret: &str) -> bool {
    let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
    let is_example = ["EXAMPLE", "example", "XXXX", "xxxx", "1234567890"].iter().any(|word| secret.contains(word));
    // Forms in capitals only have no small letters.
    let is_mixed = has(u8::is_ascii_lowercase) || !has(|byte| b"_-".contains(byte));
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && is_mixed && !is_example
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
