//! Names that secrets have: files and variables.
//!
//! A name is all that the text gives. A file is a secret when its path says so; what it holds is never looked at.

use super::paths::{ends_in, file_name, is_within, lies_in};

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
    if FOLDERS.iter().any(|folder| lies_in(&lower, folder) || ends_in(&lower, folder)) {
        return true;
    }
    if FILES.iter().any(|file| ends_in(&lower, file)) {
        return true;
    }
    PLACES.iter().any(|place| is_within(&lower, place))
        || lower.starts_with("/proc/") && (name == "environ" || name == "mem" || name == "kcore")
}

/// Folders with little but secrets in them, wherever they lie.
const FOLDERS: &[&str] = &[
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".password-store",
    ".local/share/keyrings",
    ".config/gcloud",
    ".config/op",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/rclone",
    ".config/sops",
    ".config/doctl",
    ".config/github-copilot",
    ".config/ngrok",
    ".oci",
    ".aliyun",
    ".snowsql",
    ".kaggle",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/microsoft-edge",
];

/// Single files, by the end of their path.
const FILES: &[&str] = &[
    ".docker/config.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".copilot/config.json",
    ".local/share/opencode/auth.json",
    ".config/opencode/auth.json",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".fly/config.yml",
    ".huggingface/token",
    ".cache/huggingface/token",
    "sops/age/keys.txt",
    "etc/shadow",
    "etc/shadow-",
    "etc/gshadow",
    "etc/gshadow-",
    "etc/sudoers",
    "etc/security/opasswd",
    "etc/ipsec.secrets",
    "etc/ppp/chap-secrets",
    "etc/ppp/pap-secrets",
];

/// Names of files that are secrets wherever they lie.
const NAMES: &[&str] = &[
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
];

/// Places of the machine that hold secrets.
const PLACES: &[&str] =
    &["/run/secrets", "/var/run/secrets", "/etc/ssl/private", "/etc/wireguard", "/etc/openvpn", "/etc/sudoers.d"];

/// Where secrets lie by the list: in a home folder (as `~/…`) or at a place of the machine. What a sandbox hides.
pub fn places() -> impl Iterator<Item = String> {
    let of_home = FOLDERS.iter().chain(NAMES).chain(FILES).filter(|path| path.starts_with('.')).chain([&".ssh"]);
    let of_machine = FILES.iter().filter(|path| path.starts_with("etc/"));
    let of_home = of_home.map(|path| format!("~/{path}"));
    of_home.chain(of_machine.map(|path| format!("/{path}"))).chain(PLACES.iter().map(|&place| place.to_owned()))
}

/// True for a file whose name private keys have, and certificates as well: what it is, only its content tells.
pub fn may_be_public(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let Some(stem) = lower.strip_suffix(".pem") else { return false };
    // Everything else about its name and place says nothing.
    is_secret_path(&lower) && !stem.is_empty() && !is_secret_path(&format!("{stem}.crt"))
}

/// Endings of names that are not secret, whatever stands before them, as long as that is no dot.
const CODE: [&[u8]; 20] = [
    b".js", b".ts", b".map", b".py", b".pyc", b".rs", b".go", b".c", b".h", b".o", b".d", b".md", b".css", b".html",
    b".svg", b".png", b".java", b".class", b".rb", b".so",
];

/// True when a file of this name, as the file system has it, is a secret wherever it lies. Quick, for a hundred thousand of
/// them.
pub fn is_secret_file_name(name: &[u8]) -> bool {
    let names_state = || name.windows(8).any(|part| part.eq_ignore_ascii_case(b".tfstate"));
    if !name.starts_with(b".") && CODE.iter().any(|ending| name.ends_with(ending)) && !names_state() {
        return false;
    }
    let mut buffer = [0; 255];
    // No file system has longer ones.
    let Some(lower) = buffer.get_mut(..name.len()) else { return true };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    is_secret_name(&String::from_utf8_lossy(lower))
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
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];
    let endings = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".ppk",
        ".asc.key",
        ".tfvars",
        ".tfvars.json",
        ".ovpn",
        ".keytab",
        ".keyring",
        ".keychain",
        ".keychain-db",
        ".agekey",
    ];
    NAMES.contains(&name)
        || key.contains(&name)
        || [".env.", ".env-", ".env_"].iter().any(|start| name.starts_with(start))
        || name.contains(".tfstate")
        || name.starts_with("wg") && ends_with(name, ".conf") && name.len() <= 12
        || name.starts_with("appsettings") && ends_with(name, ".json")
        || name.starts_with("ssh_host_") && name.ends_with("_key")
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
    name == ".ssh" || FOLDERS.contains(&name)
}

/// True when a variable's name says that it holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words =
        ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "CREDENTIAL", "PRIVATE_KEY"];
    let endings = ["_KEY", "_PAT", "_PASS", "_PWD", "_AUTH", "_DSN", "_CREDS"];
    // Where a password is part of the address.
    let addresses = [
        "DATABASE_URL",
        "DATABASE_URI",
        "DB_URL",
        "DB_URI",
        "REDIS_URL",
        "MONGO_URL",
        "MONGO_URI",
        "MONGODB_URL",
        "MONGODB_URI",
        "AMQP_URL",
        "BROKER_URL",
        "POSTGRES_URL",
        "MYSQL_URL",
        "CONNECTION_STRING",
        "WEBHOOK_URL",
    ];
    addresses.iter().any(|end| upper.ends_with(end))
        || words.iter().any(|word| upper.contains(word))
        || endings.iter().any(|end| upper.ends_with(end))
        || upper == "PGPASS"
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
            ".env-prod",
            "app/.env_local",
            ".dev.vars",
            "prod.tfvars",
            "x.auto.tfvars.json",
            "terraform.tfstate.backup",
            "config/secret.yml",
            "~/.m2/settings.xml",
            "~/.config/gh",
            "~/.config/gh/hosts.yml",
            "~/.config/rclone/rclone.conf",
            "~/.claude.json",
            "~/.python_history",
            "vpn/client.ovpn",
            "/etc/wireguard/wg0.conf",
            "appsettings.Production.json",
            "/etc/shadow-",
            "/etc/ssh/ssh_host_ed25519_key",
            "~/.local/share/keyrings/login.keyring",
            "/run/secrets",
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
            "/etc/ssh/ssh_host_ed25519_key.pub",
            "src/appsettings.rs",
            "environment.yml",
            "/etc/hosts",
            "history.txt",
        ] {
            assert!(!is_secret_path(path), "{path}");
        }
    }

    #[test]
    fn names_of_code_are_no_secrets_either_way() {
        for ending in CODE {
            let ending = std::str::from_utf8(ending).unwrap();
            for stem in ["main", "credentials", "id_rsa", "secrets", "x.env", "terraform.tfstate", "key", "wg0"] {
                let name = format!("{stem}{ending}");
                assert_eq!(is_secret_file_name(name.as_bytes()), is_secret_name(&name), "{name}");
            }
        }
        for name in [".env.js", "ID_RSA", "Server.PEM", ".env", "a.tfvars"] {
            assert!(is_secret_file_name(name.as_bytes()), "{name}");
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
