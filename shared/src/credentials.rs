//! Known forms of credentials: the issuers' documented prefixes. Data only; who looks for them has an engine of its own.

/// A form of credentials.
#[derive(Debug)]
pub struct Form {
    /// What it is, for people.
    pub name: &'static str,
    /// A regular expression; where there is a group `secret`, only that is one.
    pub pattern: &'static str,
    /// The shortest run in it that is masked, in characters.
    pub shortest: usize,
    /// One of these stands in each, so that most texts need no second look. Empty for a form that harmless texts have, too:
    /// in a command it is a credential, in a result it may be an example.
    pub marks: &'static [&'static str],
}

/// From this length on, the first and the last character of what is masked are shown.
pub const TELLING: usize = 13;

const fn form(name: &'static str, pattern: &'static str, marks: &'static [&'static str]) -> Form {
    Form { name, pattern, shortest: TELLING, marks }
}

/// All of them.
pub const FORMS: &[Form] = &[
    form("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", &["AKIA", "ASIA"]),
    form(
        "GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    ),
    form("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}", &["glpat-"]),
    form("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}", &["sk-ant-"]),
    form("OpenAI key", r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}", &["sk-"]),
    form("Slack token", r"\bxox[abprse]-[A-Za-z0-9-]{10,}", &["xox"]),
    form("Google API key", r"\bAIza[0-9A-Za-z_-]{35}", &["AIza"]),
    form("Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}", &["k_live_", "k_test_"]),
    form("npm token", r"\bnpm_[A-Za-z0-9]{36}", &["npm_"]),
    form("PyPI token", r"\bpypi-[A-Za-z0-9_-]{16,}", &["pypi-"]),
    form("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}", &["hf_"]),
    form("Discord or Telegram bot token", r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b", &[":AA"]),
    form("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", &["eyJ"]),
    // Its lines are long; what is shorter behind it is something else.
    Form {
        shortest: 32,
        ..form("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>[A-Za-z0-9+/=\s]*)", &["PRIVATE KEY-----"])
    },
    form(
        "bearer token",
        r"(?i)\bauthorization:[ \t]*(?:bearer|basic|token)[ \t]+(?P<secret>[A-Za-z0-9+/._=][A-Za-z0-9+/._=-]{15,})",
        &[],
    ),
    Form {
        shortest: 1,
        ..form("password in a URL", r"://[A-Za-z0-9._~%+-]+:(?P<secret>[A-Za-z0-9._~!%+*=-]{3,})@", &[])
    },
];
