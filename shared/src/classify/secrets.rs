//! Names that secrets have: files and variables.
//!
//! A name is all that the text gives. A file is a secret when its path says so; what it holds is never looked at.

use super::paths::{ends_in, file_name, lies_in};

/// True when a resolved path names a secret: a credential, a private key, an environment file.
pub fn is_secret_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = file_name(&lower);
    if is_secret_name(name) {
        return true;
    }
    // Below these, any file of the machine or of another process may lie.
    if lower.starts_with("/proc/") && ["/root/", "/cwd/", "/map_files/"].iter().any(|link| lower.contains(link)) {
        return true;
    }
    if lies_in(&lower, ".ssh") {
        return !(ends_with(name, ".pub") || name.starts_with("known_hosts") || name == "config");
    }
    let folders = [".aws", ".gnupg", ".azure", ".kube", ".config/gcloud", ".password-store", ".config/op"];
    if folders.iter().any(|folder| lies_in(&lower, folder)) {
        return true;
    }
    let files = [
        ".docker/config.json",
        ".config/gh/hosts.yml",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".cargo/credentials.toml",
        ".cargo/credentials",
        ".terraform.d/credentials.tfrc.json",
        "etc/shadow",
        "etc/gshadow",
        "etc/sudoers",
    ];
    if files.iter().any(|file| ends_in(&lower, file)) {
        return true;
    }
    let absolute = |folder: &str| lower.starts_with(folder);
    absolute("/run/secrets/")
        || absolute("/var/run/secrets/")
        || absolute("/etc/ssl/private/")
        || absolute("/proc/") && (name == "environ" || name == "mem" || name == "kcore")
}

/// True when a file of this name is a secret wherever it lies. The name is in lower case.
pub fn is_secret_name(name: &str) -> bool {
    let name =
        ["~", ".bak", ".orig", ".old", ".save", ".swp"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let harmless_suffix =
        [".example", ".sample", ".template", ".dist", ".defaults", ".pub", ".md", ".rs", ".go", ".ts"];
    if harmless_suffix.iter().any(|suffix| name.ends_with(suffix)) {
        return false;
    }
    let exact = [
        ".env",
        ".envrc",
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
        "terraform.tfvars",
        ".bash_history",
        ".zsh_history",
    ];
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];
    let endings = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key", ".tfstate"];
    exact.contains(&name)
        || key.contains(&name)
        || name.starts_with(".env.")
        || ends_with(name, ".env")
        || name.starts_with("service-account") && ends_with(name, ".json")
        || endings.iter().any(|ending| name.ends_with(ending) && name.len() > ending.len())
}

/// Names are in lower case already.
fn ends_with(name: &str, ending: &str) -> bool {
    name.ends_with(ending)
}

/// True when a folder of this name holds little but secrets. The name is in lower case.
pub fn is_secret_folder(name: &str) -> bool {
    [".ssh", ".aws", ".gnupg", ".azure", ".kube", ".password-store"].contains(&name)
}

/// True when a variable's name says that it holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words =
        ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "CREDENTIAL", "PRIVATE_KEY"];
    let endings = ["_KEY", "_PAT", "_PASS", "_PWD", "_AUTH", "_DSN", "_CREDS"];
    words.iter().any(|word| upper.contains(word)) || endings.iter().any(|end| upper.ends_with(end)) || upper == "PGPASS"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for path in [
            ".env",
            "app/.env.production",
            "~/.ssh/id_rsa",
            "/root/.ssh/deploy",
            "~/.aws/credentials",
            "server.pem",
            "/proc/self/environ",
            "/proc/1/environ",
            "/run/secrets/db",
            "~/.netrc",
            "/etc/shadow",
            "a/id_ed25519",
            "~/.kube/config",
            ".ssh/id_x",
            "/home/u/.docker/config.json",
        ] {
            assert!(is_secret_path(path), "{path}");
        }
        for path in [
            ".env.example",
            "README.md",
            "~/.ssh/id_rsa.pub",
            "~/.ssh/known_hosts",
            "src/secrets.rs",
            "key",
            "/proc/cpuinfo",
            "environ",
            "env",
            "tokens.md",
        ] {
            assert!(!is_secret_path(path), "{path}");
        }
    }

    #[test]
    fn variables_with_secret_names() {
        for name in ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "OPENAI_API_KEY", "SSH_KEY"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["HOME", "PATH", "KEYBOARD", "TZ", "x", "PWD", "OLDPWD"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
