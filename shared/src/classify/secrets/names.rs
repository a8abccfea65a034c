//! Names of files that are secrets wherever they lie.
//!
//! Nearly every name is told to be none of them at once (`quick`), which takes its lists from here: what a rule looks for besides
//! them is to be known there, too.

use super::quick;

/// Names of files that are secrets wherever they lie.
pub(super) const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".flaskenv",
    ".dev.vars",
    ".claude.json",
    "kubeconfig",
    "rclone.conf",
    ".databrickscfg",
    ".terraformrc",
    ".mylogin.cnf",
    "pgpass.conf",
    "secret.json",
    "secret.yml",
    "secret.yaml",
    "secret.toml",
    "application_default_credentials.json",
    ".psql_history",
    ".b2_account_info",
    ".cdsapirc",
    ".ecmwfapirc",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".python_history",
    ".node_repl_history",
    ".irb_history",
    ".sh_history",
    ".ksh_history",
    ".ash_history",
    "fish_history",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".htpasswd",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    "credentials",
    "credentials.json",
    "client_secret.json",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "master.key",
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".histfile",
    ".php_history",
    ".xonsh_history",
    ".mycli-history",
    ".rhistory",
    ".rapp.history",
    "repl_history.jl",
    "ghci_history",
    ".octave_hist",
    ".octave-hist",
    ".hsqldb_history",
    ".scala_history_jline3",
    ".pry_history",
    ".iex_history",
    ".litecli-history",
    ".pgcli-history",
    ".usql_history",
    ".duckdb_history",
    ".mongorc.js",
    ".wget-hsts",
    "main.shada",
    ".gdb_history",
    ".lftp_history",
    ".zcalc_history",
    ".nushell-history",
    ".dbshell",
    ".viminfo",
    ".lesshst",
    ".dockerconfigjson",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "k3s.yaml",
    "clouds.yaml",
    ".sentryclirc",
    ".passwd-s3fs",
    "rootkey.csv",
    "accesskeys.csv",
    "serviceaccountkey.json",
    "service_account.json",
    "gcp-key.json",
    "client_secrets.json",
    "auth.json",
    ".secrets",
    ".secrets.toml",
    ".credentials",
    "credentials.yml",
    "credentials.yaml",
    "credentials.toml",
    "credentials.csv",
    "credentials.xml",
    "credentials.ini",
    "creds.json",
    "creds.yml",
    "creds.yaml",
    "secrets.properties",
    "keystore.properties",
    "secrets.exs",
    "prod.secret.exs",
    "wp-config.php",
    "vault.yml",
    "vault.yaml",
    ".vault_pass",
    "vault_pass",
    ".token",
    "token.json",
    "token.pickle",
    ".api_key",
    ".password",
    ".passwd",
    "secring.gpg",
    "wallet.dat",
    "deploy_key",
    "ssh_key",
    "private_key",
    ".smbcredentials",
    ".fetchmailrc",
    ".msmtprc",
    ".mbsyncrc",
    ".offlineimaprc",
    ".authinfo",
    ".curlrc",
    ".wgetrc",
    "logins.json",
    "key4.db",
    "login data",
    ".edgerc",
    ".credentials_rsaparams",
    "local.settings.json",
    ".saml2aws",
    ".google_authenticator",
    ".pg_service.conf",
    ".erlang.cookie",
    ".cvspass",
    ".xauthority",
    ".muttrc",
    ".yarnrc.yml",
    "nuget.config",
    "credentials-config.json",
    "cookies.sqlite",
    "wpa_supplicant.conf",
    ".aider.conf.yml",
    ".yarnrc",
    ".bunfig.toml",
    ".condarc",
    "privkey.der",
    ".vault-pass",
    ".environment",
    ".envfile",
    "envfile",
    "dotenv",
    "env.list",
    "serviceaccount.json",
    "sa-key.json",
    "gcp-sa.json",
    "firebase-key.json",
    "signing.properties",
    "age-key.txt",
    "mnemonic.txt",
    "kaggle.json",
    "storagestate.json",
    "cookies.txt",
    "http-client.private.env.json",
    ".ansible_vault_pass",
    "vault_password_file",
    "backend.hcl",
    "tomcat-users.xml",
    "config.inc.php",
    "state.vscdb",
    ".aider.input.history",
    "tailscaled.state",
    "local_settings.py",
    "secrets.tdb",
    "pg_service.conf",
    ".odbc.ini",
    ".ssh_key",
    "privkey",
    "rsa_key",
    "identity.age",
    "accesstokens.json",
    "msal_token_cache.json",
    "secrets.sh",
    "sftp-config.json",
    ".ftpconfig",
    ".envrc.private",
    ".envrc.local",
    ".rbenv-vars",
    ".zuliprc",
    ".clasprc.json",
    ".vast_api_key",
    "vault_pass.txt",
    ".vault_pass.txt",
    "key.json",
    "keys.json",
    "keyfile.json",
    "keypair.json",
    "gcs-key.json",
    "vault-keys.json",
    "unseal-keys.txt",
    "tfplan",
    "pip.conf",
    "http-client.env.json",
    "talosconfig",
    "storage_state.json",
    ".gitcookies",
    ".rclone.conf",
    ".tofurc",
    ".modal.toml",
    "mongosh_repl_history",
    "consolehost_history.txt",
    ".lftprc",
    ".renviron",
    ".hgrc",
    ".iceauthority",
    "secrets.dec.yaml",
    "mcp-auth.json",
    "credentials.sbt",
    "htpasswd",
    "users.htpasswd",
    ".openai_key",
    ".anthropic_key",
    "apikey",
    "tokens.txt",
    "tokens.yml",
    "gcloud-service-key.json",
    "bitwarden_export.json",
    ".authinfo.gpg",
    "sssd.conf",
    "nslcd.conf",
    "ntp.keys",
];

/// How people end the names of keys.
pub(super) const KEY_ENDS: &[&str] = &["_rsa", "_ed25519", "_ecdsa", "_dsa"];

/// What stands behind the last dot of secrets.
pub(super) const ENDINGS: &[&str] = &[
    "pem",
    "key",
    "p12",
    "pfx",
    "jks",
    "keystore",
    "kdbx",
    "ppk",
    "tfvars",
    "ovpn",
    "keytab",
    "tfplan",
    "keyring",
    "keychain",
    "keychain-db",
    "agekey",
    "p8",
    "kdb",
    "psafe3",
    "kubeconfig",
    "publishsettings",
    "1pux",
    "keyx",
    "kwl",
    "pk8",
    "pkcs12",
    "jceks",
    "bks",
    "env",
];

/// How those begin that the rules below know by their beginning, besides hidden ones.
pub(super) const BEGINNINGS: &[&str] = &["env.", "krb5cc_", "kubeconfig", "ssh_host_"];
/// The same of private keys, and of settings in JSON.
pub(super) const KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
pub(super) const JSON_BEGINNINGS: &[&str] = &["client_secret_", "appsettings", "service-account", "gha-creds-"];

/// What the rules below look for inside of a name, besides what says that it is a secret.
pub(super) const INSIDE: &[&str] = &[".sw", ".tfstate", ".tfvars.json", "firebase-adminsdk"];

/// True for an ending of code and texts: such a name is not secret whatever stands before it, as long as that is no dot.
fn is_code(name: &[u8]) -> bool {
    let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return false };
    let ending = name.get(dot + 1..).unwrap_or_default();
    let is_code = matches!(
        ending,
        b"js"
            | b"ts"
            | b"map"
            | b"py"
            | b"pyc"
            | b"rs"
            | b"go"
            | b"c"
            | b"h"
            | b"o"
            | b"d"
            | b"md"
            | b"css"
            | b"html"
            | b"svg"
            | b"png"
            | b"java"
            | b"class"
            | b"rb"
            | b"so"
    );
    is_code && dot > 0 && !name.starts_with(b".") && !names_state(name)
}

/// True for a name that says that it is Terraform's state, which holds what it has made in the clear.
fn names_state(name: &[u8]) -> bool {
    const STATE: &[u8] = b".tfstate";
    name.windows(STATE.len()).any(|part| part.starts_with(b".") && part.eq_ignore_ascii_case(STATE))
}

/// True when a file of this name, as the file system has it, is a secret wherever it lies.
pub(super) fn is_secret_in_any_case(name: &[u8]) -> bool {
    let mut buffer = [0; 255];
    // No file system has longer ones.
    let Some(lower) = buffer.get_mut(..name.len()) else { return true };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    is_secret_name(&String::from_utf8_lossy(lower))
}

/// True when a file of this name is a secret wherever it lies. The name is in lower case.
pub fn is_secret_name(name: &str) -> bool {
    let is_known = |name: &str| quick::NAMED.have(name.as_bytes());
    // Some end like code, or like a copy, themselves.
    if is_known(name) {
        return true;
    }
    if is_code(name.as_bytes()) {
        return false;
    }
    let whole = name;
    let name = without_copy_marks(name);
    let is_copy = name.len() != whole.len();
    // An editor hides a copy behind a dot, unless there is one already.
    if is_copy && whole.starts_with('.') && !name.starts_with('.') && is_known(&format!(".{name}")) {
        return true;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if matches!(ending, "example" | "sample" | "template" | "dist" | "defaults" | "pub" | "md" | "rs" | "go" | "ts") {
        return false;
    }
    is_known(name)
        || ends_as_secret(name, ending)
        || begins_as_secret(name, ending)
        || says_secret(whole)
        || is_copy && says_secret(name)
}

/// True for what ends as secrets do: with what stands behind its last dot, above all.
fn ends_as_secret(name: &str, ending: &str) -> bool {
    let is_called_so = || match ending {
        "json" => {
            name.ends_with(".tfvars.json")
                || name.contains("firebase-adminsdk")
                || JSON_BEGINNINGS.iter().any(|start| name.starts_with(start))
        }
        "conf" => name.starts_with("wg") && name.len() <= 12,
        _ => ENDINGS.contains(&ending),
    };
    is_called_so() || KEY_ENDS.iter().any(|end| name.ends_with(end)) || names_state(name.as_bytes())
}

/// True for what begins as secrets do.
fn begins_as_secret(name: &str, ending: &str) -> bool {
    let goes_on = |rest: &str| rest.is_empty() || rest.starts_with(['_', '-', '.', ' ']);
    let is_environment = |rest: &str| {
        rest.starts_with(|first: char| matches!(first, '.' | '-' | '_' | ' ' | '(') || first.is_ascii_digit())
            || is_surrounding(rest)
    };
    match name.as_bytes().first() {
        Some(b'.') => {
            name.strip_prefix(".env").is_some_and(is_environment)
                || name.ends_with("_history")
                || [".netrc", ".npmrc", ".flaskenv", ".dev.vars"]
                    .iter()
                    .any(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(['.', '-', '_'])))
        }
        Some(b'i') => KEYS.iter().any(|key| name.strip_prefix(key).is_some_and(goes_on)),
        Some(b'e') => ending.len() + "env.".len() == name.len() && name.starts_with("env.") && is_surrounding(ending),
        Some(b'k') => {
            name.starts_with("krb5cc_")
                || name.strip_prefix("kubeconfig").is_some_and(|rest| goes_on(rest) && holds_data(name))
        }
        Some(b's') => name.starts_with("ssh_host_") && name.ends_with("_key"),
        _ => false,
    }
}

/// Words for where something is used, and for copies of it: they say nothing of what it is.
const SURROUNDINGS: &str = "local prod production dev development staging stage test live qa my copy of bak backup old new orig \
                            final real";

pub(in crate::classify) fn is_surrounding(word: &str) -> bool {
    SURROUNDINGS.split(' ').any(|known| known == word)
}

/// Endings of files that hold data, not code or text about it.
const DATA: &[&str] = &[
    "txt",
    "json",
    "yml",
    "yaml",
    "toml",
    "ini",
    "conf",
    "cfg",
    "xml",
    "csv",
    "properties",
    "env",
    "asc",
    "b64",
    "enc",
    "dat",
];

/// One of these is in each name that says that it is a secret: what says an API's key has the key in it.
pub(super) const SAYING: &[&str] = &["secret", "cred", "pass", "token", "key", "recovery"];

/// True for a name whose words end in one for a credential: `db_password`, `prod-secrets.yaml`, `credentials (1).json`. One
/// word without an ending is more often a folder of somebody's program. The name is in lower case.
fn says_secret(name: &str) -> bool {
    if !SAYING.iter().any(|word| name.contains(word)) {
        return false;
    }
    let is_dotted = name.starts_with('.');
    let mut words: Vec<&str> = name
        .split(['.', '_', '-', ' ', '(', ')'])
        .filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let has_ending = name.contains('.') && !is_dotted && words.len() > 1;
    let is_data = has_ending && words.iter().skip(1).any(|word| DATA.contains(word));
    // What has another ending is code, a text or a picture.
    if has_ending && !is_data && !words.last().is_some_and(|last| is_surrounding(last)) {
        return false;
    }
    words.retain(|word| !is_surrounding(word) && !DATA.contains(word));
    // Forms and tests speak of passwords.
    let about = [
        "reset", "forgot", "change", "update", "lost", "verify", "confirm", "set", "no", "detect", "example", "sample",
        "scanning", "scan", "scanner", "baseline", "policy", "policies", "provider", "rotation", "sharing", "schema",
    ];
    if words.iter().any(|word| about.contains(word)) {
        return false;
    }
    match words.as_slice() {
        [.., "secret" | "secrets" | "credential" | "credentials" | "creds" | "apikey" | "apikeys" | "passphrase"] => {
            is_data || words.len() > 1 || is_dotted
        }
        [.., "password" | "passwords" | "passwd" | "token"] => is_data || words.len() > 1,
        [.., "api" | "private" | "secret" | "access" | "signing" | "encryption" | "deploy", "key" | "keys"]
        | [
            ..,
            "api" | "oauth" | "auth" | "access" | "refresh" | "session" | "github" | "gitlab" | "slack" | "bot",
            "tokens",
        ]
        | [.., "recovery", "codes" | "keys" | "key"] => true,
        // As names of a cluster's resources have it: what it is stands first.
        ["secret" | "secrets" | "credential" | "credentials" | "creds" | "passwords", ..] => is_data && words.len() > 1,
        ["openai" | "anthropic" | "stripe" | "azure", "key" | "keys"] => is_data,
        ["key"] => is_data && name.ends_with(".properties"),
        [.., last] => {
            is_data
                && ["secret", "passwd", "passwords", "accesskey", "accesskeys"].iter().any(|end| last.ends_with(end))
                && last.len() > 9
        }
        [] => false,
    }
}

/// True for a name with the ending of data, or with none: no code, and no text about it. The name is in lower case.
pub(super) fn holds_data(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, ending)) => DATA.contains(&ending) && !stem.is_empty(),
        None => true,
    }
}

/// What is put behind a name for a copy.
pub(super) const MARKS: &[&str] = &[
    // Ends with the next one.
    ".un~",
    "~",
    ".bak",
    ".orig",
    ".old",
    ".save",
    ".backup",
    ".copy",
    ".tmp",
    ".rpmsave",
    ".rpmnew",
    ".dpkg-old",
    ".dpkg-new",
    ".dpkg-dist",
    ".ucf-old",
    " (copy)",
    " copy",
    ".txt",
    ".gz",
    ".xz",
    ".bz2",
    ".zst",
    "_old",
    "-old",
    "-bak",
    "_bak",
    ".bk",
    ".new",
    ".sav",
    ".b64",
    ".lzma",
    ".lz4",
    ".z",
    ".dec",
    ".pacnew",
    ".pacsave",
    ".kate-swp",
    ".svz",
];

/// A name without what editors, packages and people put around it for a copy: `.x.swp`, `#x#`, `x~`, `x.bak.2`, `x (copy)`,
/// `x.gz`. The name is in lower case.
pub(super) fn without_copy_marks(mut name: &str) -> &str {
    if let Some(inside) = name.strip_prefix('#').and_then(|rest| rest.strip_suffix('#')) {
        name = inside;
    }
    loop {
        // Of nearly every name.
        if !name.ends_with(['~', 'k', 'g', 'd', 'e', 'p', 'y', 'w', 't', ')', 'z', 'o', 'n', 'v', 'a', 'c'])
            && !name.contains(".sw")
            && !name.ends_with(|last: char| last.is_ascii_digit())
        {
            return name;
        }
        let last = name.as_bytes().last();
        // `NAME.~7~`, and what vim keeps beside a file that others edit, too: `.NAME.swp`, `.NAME.swo` and so on.
        let by_version = name
            .strip_suffix('~')
            .and_then(|rest| rest.rsplit_once(".~"))
            .filter(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        let swap = name
            .rsplit_once(".sw")
            .filter(|(_, end)| end.len() == 1 && end.bytes().all(|byte| byte.is_ascii_lowercase()));
        let by_editor =
            swap.map(|(rest, _)| rest.strip_prefix('.').filter(|_| !rest.starts_with(".env")).unwrap_or(rest));
        let by_mark = by_version.map(|(rest, _)| rest).or(by_editor).or_else(|| {
            MARKS.iter().find_map(|mark| {
                // To compare one letter costs less than to begin comparing a text.
                let rest = if mark.as_bytes().last() == last { name.strip_suffix(mark)? } else { return None };
                // An editor hides its own file behind a dot.
                Some(if *mark == ".un~" {
                    rest.strip_prefix('.').filter(|_| !rest.starts_with(".env")).unwrap_or(rest)
                } else {
                    rest
                })
            })
        });
        let digits = name.trim_end_matches(|last: char| last.is_ascii_digit());
        let by_number = || (digits.len() < name.len()).then(|| digits.strip_suffix('.')).flatten();
        let by_numbered_mark = || {
            let is_mark = digits.len() < name.len()
                && [".old", ".bak", ".orig", ".save"].iter().any(|mark| digits.ends_with(mark));
            is_mark.then_some(digits)
        };
        match by_mark.or_else(by_number).or_else(by_numbered_mark) {
            Some(rest) if !rest.is_empty() => name = rest,
            _ => return name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::is_secret_file_name;
    use super::*;

    #[test]
    fn names_of_code_are_no_secrets_either_way() {
        for ending in "js ts map py pyc rs go c h o d md css html svg png java class rb so".split(' ') {
            assert!(is_code(format!("id_rsa.{ending}").as_bytes()), "{ending}");
            for stem in ["main", "credentials", "id_rsa", "secrets", "x.env", "terraform.tfstate", "key", "wg0"] {
                let name = format!("{stem}.{ending}");
                assert_eq!(is_secret_file_name(name.as_bytes()), is_secret_name(&name), "{name}");
            }
        }
        for name in [".env.js", "ID_RSA", "Server.PEM", ".env", "a.tfvars", "a.TfState.js"] {
            assert!(is_secret_file_name(name.as_bytes()), "{name}");
        }
    }
}
