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
    let leads_anywhere = |part: &str| matches!(part, "root" | "cwd" | "map_files" | "fd");
    if lower.strip_prefix("/proc/").is_some_and(|inside| inside.split('/').skip(1).any(leads_anywhere)) {
        return !is_standard_stream(&lower);
    }
    if lies_in(&lower, ".ssh") {
        return !(ends_with(name, ".pub") || name.starts_with("known_hosts") || name == "config");
    }
    if FOLDERS.iter().any(|folder| lies_in(&lower, folder) || ends_in(&lower, folder)) {
        return true;
    }
    if is_git_config(&lower) {
        return true;
    }
    let plain = without_copy_marks(&lower);
    if FILES.iter().any(|file| ends_in(&lower, file) || ends_in(plain, file)) {
        return true;
    }
    PLACES.iter().any(|place| is_within(&lower, place))
        || lower.starts_with("/proc/") && (name == "environ" || name == "mem" || name == "kcore")
}

/// The command's own input and outputs, which are judged where they come from.
fn is_standard_stream(path: &str) -> bool {
    ["/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"].contains(&path)
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
    ".envs",
    ".ngrok2",
    ".cloudflared",
    ".supabase",
    ".railway",
    ".bluemix",
    ".mc",
    ".config/hcloud",
    ".config/scw",
    ".config/stripe",
    ".config/netlify",
    ".config/tea",
    ".config/solana",
    ".config/pypoetry",
    ".config/containers",
    ".config/configstore",
    ".local/share/com.vercel.cli",
    ".ssh_backup",
    ".secrets",
    "etc/networkmanager/system-connections",
    "etc/wpa_supplicant",
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
    "etc/postfix/sasl_passwd",
    "etc/msmtprc",
    "etc/mysql/debian.cnf",
    ".bundle/config",
    ".config/git/credentials",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".kamal/secrets",
    ".wrangler/config/default.toml",
    ".config/.wrangler/config/default.toml",
    ".cache/huggingface/stored_tokens",
    ".openai/api_key",
    ".codeium/config.json",
    ".ipython/profile_default/history.sqlite",
    ".config/nushell/history.txt",
    ".local/share/zsh/history",
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
    ".zhistory",
    ".histfile",
    ".php_history",
    ".xonsh_history",
    ".mycli-history",
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

/// True for git's configuration, which may hold tokens and passwords. The path is in lower case.
pub fn is_git_config(path: &str) -> bool {
    let name = file_name(path);
    name == ".gitconfig" || name == "config" && (lies_in(path, ".git") || ends_in(path, ".config/git/config"))
}

/// True for a file whose name private keys have, and certificates as well, or for git's configuration: whether it holds a
/// secret, only its content tells.
pub fn may_be_public(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    if is_git_config(&lower) {
        return true;
    }
    let Some(stem) = lower.strip_suffix(".pem") else { return false };
    // Everything else about its name and place says nothing.
    is_secret_path(&lower) && !stem.is_empty() && !is_secret_path(&format!("{stem}.crt"))
}

/// Endings of names that are not secret, whatever stands before them, as long as that is no dot.
const CODE: [&[u8]; 20] = [
    b".js", b".ts", b".map", b".py", b".pyc", b".rs", b".go", b".c", b".h", b".o", b".d", b".md", b".css", b".html",
    b".svg", b".png", b".java", b".class", b".rb", b".so",
];

fn is_code(name: &[u8]) -> bool {
    let names_state = || name.windows(8).any(|part| part.eq_ignore_ascii_case(b".tfstate"));
    !name.starts_with(b".") && CODE.iter().any(|ending| name.ends_with(ending)) && !names_state()
}

/// True when a file of this name, as the file system has it, is a secret wherever it lies. Quick, for a hundred thousand of
/// them.
pub fn is_secret_file_name(name: &[u8]) -> bool {
    if is_code(name) {
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
    if is_code(name.as_bytes()) {
        return false;
    }
    let name = without_copy_marks(name);
    let harmless_suffix =
        [".example", ".sample", ".template", ".dist", ".defaults", ".pub", ".md", ".rs", ".go", ".ts"];
    if harmless_suffix.iter().any(|suffix| name.ends_with(suffix)) {
        return false;
    }
    let keys = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let is_key = |rest: &str| rest.is_empty() || rest.starts_with(['_', '-', '.', ' ']);
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
        ".p8",
        ".kdb",
        ".psafe3",
        ".kubeconfig",
    ];
    NAMES.contains(&name)
        || keys.iter().any(|key| name.strip_prefix(key).is_some_and(is_key))
        || name.strip_prefix(".env").is_some_and(|rest| rest.starts_with(['.', '-', '_', ' ', '1', '2', '3']))
        || name.starts_with('.') && name.ends_with("_history")
        || name.starts_with("firebase-adminsdk") && ends_with(name, ".json")
        || name.starts_with("client_secret_") && ends_with(name, ".json")
        || [".netrc", ".npmrc", ".flaskenv", ".dev.vars"]
            .iter()
            .any(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(['.', '-', '_'])))
        || name.contains(".tfstate")
        || name.starts_with("wg") && ends_with(name, ".conf") && name.len() <= 12
        || name.starts_with("appsettings") && ends_with(name, ".json")
        || name.starts_with("ssh_host_") && name.ends_with("_key")
        || ends_with(name, ".env")
        || name.starts_with("service-account") && ends_with(name, ".json")
        || endings.iter().any(|ending| name.ends_with(ending) && name.len() > ending.len())
}

/// A name without what editors, packages and people put around it for a copy: `.x.swp`, `#x#`, `x~`, `x.bak.2`, `x (copy)`,
/// `x.gz`. The name is in lower case.
fn without_copy_marks(mut name: &str) -> &str {
    const MARKS: &[&str] = &[
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
        ".swp",
        ".swo",
        ".swn",
    ];
    if let Some(inside) = name.strip_prefix('#').and_then(|rest| rest.strip_suffix('#')) {
        name = inside;
    }
    loop {
        // Of nearly every name.
        if !name.ends_with(['~', 'k', 'g', 'd', 'e', 'p', 'y', 'w', 't', ')', 'z', 'o', 'n'])
            && !name.ends_with(|last: char| last.is_ascii_digit())
        {
            return name;
        }
        let by_mark = MARKS.iter().find_map(|mark| {
            let rest = name.strip_suffix(mark)?;
            // An editor hides its own file behind a dot.
            Some(if mark.starts_with(".sw") {
                rest.strip_prefix('.').filter(|_| !rest.starts_with(".env")).unwrap_or(rest)
            } else {
                rest
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

/// Names are in lower case already.
fn ends_with(name: &str, ending: &str) -> bool {
    name.ends_with(ending)
}

/// True when what lies in a folder of this name may be a secret by its place alone, whatever its own name is. Quick.
pub fn may_hold_by_place(name: &[u8]) -> bool {
    let holder =
        |path: &&str| path.rsplit_once('/').map(|(folder, _)| file_name(folder).as_bytes().eq_ignore_ascii_case(name));
    FILES.iter().chain(FOLDERS).filter_map(holder).any(|is_holder| is_holder)
}

/// True when a folder of this name holds little but secrets. The name is in lower case.
pub fn is_secret_folder(name: &str) -> bool {
    name == ".ssh" || FOLDERS.contains(&name)
}

/// True when a variable's name says that it holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // Counts, columns of databases, what is public.
    let harmless = [
        "TOKENS",
        "PRIMARY_KEY",
        "PARTITION_KEY",
        "SORT_KEY",
        "FOREIGN_KEY",
        "CACHE_KEY",
        "PUBLIC_KEY",
        "KEY_NAME",
        "TOKENIZERS_PARALLELISM",
        "TOKEN_COUNT",
        "TOKEN_LIMIT",
        "BYPASS",
        "COMPASS",
    ];
    if harmless.iter().any(|end| upper.ends_with(end)) {
        return false;
    }
    let words = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "API_KEY",
        "CREDENTIAL",
        "PRIVATE_KEY",
        "MNEMONIC",
        "UNSEAL_KEY",
        "SIGNING_KEY",
        "ENCRYPTION_KEY",
        "AUTHORIZATION",
        "BINDPW",
        "JAAS_CONFIG",
        "AUTH_CONFIG",
        "WEBHOOK",
    ];
    let endings = [
        "_KEY", "_PAT", "GHPAT", "PASS", "_PWD", "_PW", "_AUTH", "_OAUTH", "_DSN", "_CREDS", "_SK", "_SAS", "_JWT",
        "_COOKIE", "AIKEY",
    ];
    let whole = ["AUTH", "BEARER", "JWT", "COOKIE", "CELERY_RESULT_BACKEND", "RESTIC_REPOSITORY"];
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
    let services = [
        "POSTGRES",
        "PG",
        "MYSQL",
        "MONGO",
        "REDIS",
        "AMQP",
        "RABBITMQ",
        "CLICKHOUSE",
        "NEO4J",
        "ELASTICSEARCH",
        "CLOUDINARY",
        "SMTP",
        "BROKER",
        "DATABASE",
    ];
    let is_address = upper.ends_with("_URL") || upper.ends_with("_URI");
    is_address && services.iter().any(|service| upper.starts_with(service))
        || whole.contains(&upper.as_str())
        || addresses.iter().any(|end| upper.ends_with(end))
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
            ".id_rsa.swp",
            "#.env#",
            "id_rsa.bak~",
            "id_ed25519_github",
            "server.key.old2",
            "id_rsa.1",
            "id_rsa (copy)",
            "~/.docker/config.json.bak",
            "/proc/7/fd/3",
            "/proc/7/cwd",
            "/proc/7/task/8/root/etc/x",
            ".git/config",
            "~/.gitconfig",
            "credentials.yml",
            ".env1",
            "~/.config/hcloud/cli.toml",
            "~/.zhistory",
            "backup/sops/age/keys.txt",
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
            "id_rsa_work.pub",
            "/proc/self/fd/0",
            "/proc/self/status",
            "src/config",
            "report.txt",
            "CHANGELOG.md",
            "archive.tar.gz",
            "src/.gitignore",
            ".environment.ts",
            "app.2",
        ] {
            assert!(!is_secret_path(path), "{path}");
        }
    }

    #[test]
    fn a_sandbox_hides_what_lies_in_home_folders_and_on_the_machine() {
        let places: Vec<String> = places().collect();
        for path in [
            "~/.ssh",
            "~/.aws",
            "~/.netrc",
            "~/.config/gh",
            "~/.config/git/credentials",
            "~/.cargo/credentials.toml",
            "~/.local/share/keyrings",
            "~/.mozilla",
            "~/.bash_history",
            "~/.claude/.credentials.json",
            "~/.codex/auth.json",
            "/etc/shadow",
            "/etc/gshadow-",
            "/etc/sudoers",
            "/etc/sudoers.d",
            "/etc/ssl/private",
        ] {
            assert!(places.iter().any(|place| place == path), "{path}");
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
        for name in ["DBPASS", "SSHPASS", "CI_JOB_JWT", "POSTGRES_URI", "LDAP_BINDPW", "AUTH"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["next_tokens", "PRIMARY_KEY", "sort_key", "PUBLIC_KEY", "HTTP_PROXY", "BASE_URL"] {
            assert!(!is_secret_variable(name), "{name}");
        }
        for name in ["HOME", "PATH", "KEYBOARD", "TZ", "x", "PWD", "OLDPWD"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
