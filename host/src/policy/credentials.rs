//! Known forms of credentials in a text: to ask about, and to mask wherever people or an inspector read it.
//!
//! Only the audit keeps a command as it was.

use std::sync::LazyLock;

use regex::Regex;

/// Name and pattern of each form. The patterns are the issuers' documented prefixes.
const FORMS: &[(&str, &str)] = &[
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI key", r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abprse]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{16,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a Discord or Telegram bot token", r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("a bearer token", r"(?i)\bauthorization:\s*(?:bearer|basic|token)\s+[A-Za-z0-9+/._=-]{16,}"),
    ("a password in a URL", r"(?P<before>://[A-Za-z0-9._~%+-]+:)[A-Za-z0-9._~!%+*=-]{3,}(?P<after>@)"),
];

static COMPILED: LazyLock<Vec<(&'static str, Regex)>> =
    LazyLock::new(|| FORMS.iter().filter_map(|(name, form)| Some((*name, Regex::new(form).ok()?))).collect());

/// The first known form of a credential in a text.
pub fn find(text: &str) -> Option<&'static str> {
    COMPILED.iter().find(|(_, form)| form.is_match(text)).map(|(name, _)| *name)
}

/// The text with every known credential replaced.
pub fn mask(text: &str) -> String {
    COMPILED.iter().fold(text.to_owned(), |text, (name, form)| {
        form.replace_all(&text, format!("${{before}}[{name}, masked]${{after}}").as_str()).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_compiles_is_found_and_masked() {
        assert_eq!(COMPILED.len(), FORMS.len());
        // Made up here, so that no scanner mistakes this file for a leak.
        for text in [
            format!("AKIA{}", "A1B2C3D4E5F6G7H8"),
            format!("ghp_{}", "a".repeat(36)),
            format!("sk-ant-{}", "x".repeat(30)),
            format!("xoxb-{}", "1".repeat(12)),
            format!("AIza{}", "b".repeat(35)),
            format!("https://user:{}@host/x", "hunter22"),
            format!("Authorization: Bearer {}", "z".repeat(20)),
            format!("-----BEGIN RSA {} KEY-----", "PRIVATE"),
            format!("hf_{}", "c".repeat(34)),
        ] {
            let command = format!("curl -H '{text}' https://x");
            assert!(find(&command).is_some(), "{text}");
            assert_ne!(mask(&command), command, "{text}");
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
}
