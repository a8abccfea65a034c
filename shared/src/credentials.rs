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
    form("service's token", SERVICES, MARKS_OF_SERVICES),
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

/// What services' documents say their tokens begin with, and how long the rest is.
const SERVICES: &str = concat!(
    r"\b(?:",
    // Docker, Vault, xAI, Groq, Replicate, Perplexity, DigitalOcean, Linear, Notion.
    r"dckr_[po]at_[A-Za-z0-9_-]{20,}|hv[sbr]\.[A-Za-z0-9_-]{20,}|xai-[A-Za-z0-9]{40,}|gsk_[A-Za-z0-9]{40,}|",
    r"r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,}|do[opr]_v1_[a-f0-9]{64}|lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|",
    // SendGrid, Shopify, Databricks, Grafana, Tailscale, Sentry, New Relic, Postman, RubyGems, crates.io.
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}|",
    r"gl(?:sa|c)_[A-Za-z0-9_=-]{32,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}|sntry[su]_[A-Za-z0-9+/=_-]{40,}|NRAK-[A-Z0-9]{27}|",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}|rubygems_[a-f0-9]{48}|cio[A-Za-z0-9]{32}\b|",
    // Supabase, Netlify, Doppler, PlanetScale, Google, Slack, Figma, Atlassian, GitLab's others.
    r"sbp_[a-f0-9]{40}|nfp_[A-Za-z0-9]{36,}|dp\.[a-z]{2,5}\.[A-Za-z0-9.]{40,}|pscale_[a-z]+_[A-Za-z0-9_-]{32,}|",
    r"ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|xapp-\d-[A-Za-z0-9-]{20,}|figd_[A-Za-z0-9_-]{20,}|",
    r"ATATT3[A-Za-z0-9_=-]{20,}|ATBB[A-Za-z0-9]{20,}|gl(?:dt|rt|cbt|ptt|ft|soat|agent|imt)-[A-Za-z0-9_-]{20,}|",
    // age, 1Password, CircleCI, Buildkite, Pulumi, JFrog, Twilio, Mailgun, Square, webhooks, Bedrock, Fly, Terraform, Airtable.
    r"AGE-SECRET-KEY-1[0-9A-Z]{50,}|ops_eyJ[A-Za-z0-9_-]{40,}|CCIPAT_[A-Za-z0-9_-]{40,}|bkua_[a-f0-9]{40}|",
    r"pul-[a-f0-9]{40}|AKCp[A-Za-z0-9]{60,}|SK[a-f0-9]{32}\b|key-[a-f0-9]{32}\b|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|",
    r"whsec_[A-Za-z0-9+/=]{24,}|ABSK[A-Za-z0-9+/=]{40,}|f[mo][12]_[A-Za-z0-9+/=_-]{40,}|",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    ")"
);

/// See [`SERVICES`].
const MARKS_OF_SERVICES: &[&str] = &[
    "dckr_",
    "hvs.",
    "hvb.",
    "hvr.",
    "xai-",
    "gsk_",
    "r8_",
    "pplx-",
    "_v1_",
    "lin_api_",
    "ntn_",
    "SG.",
    "shpat_",
    "shpca_",
    "shppa_",
    "shpss_",
    "dapi",
    "glsa_",
    "glc_",
    "tskey-",
    "sntry",
    "NRAK-",
    "PMAK-",
    "rubygems_",
    "cio",
    "sbp_",
    "nfp_",
    "dp.",
    "pscale_",
    "ya29.",
    "GOCSPX-",
    "xapp-",
    "figd_",
    "ATATT3",
    "ATBB",
    "gldt-",
    "glrt-",
    "glcbt-",
    "glptt-",
    "glft-",
    "glsoat-",
    "glagent-",
    "glimt-",
    "AGE-SECRET-KEY-",
    "ops_eyJ",
    "CCIPAT_",
    "bkua_",
    "pul-",
    "AKCp",
    "SK",
    "key-",
    "sq0",
    "whsec_",
    "ABSK",
    "fm1_",
    "fm2_",
    "fo1_",
    "fo2_",
    ".atlasv1.",
    "pat",
];
