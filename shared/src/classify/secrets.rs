//! Names that secrets have: files and variables.
//!
//! A name is all that the text gives. A file is a secret when its path says so; what it holds is never looked at.

use super::paths::{Beginnings, ends_in, file_name, is_within, lies_in};

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
    let beginnings = Beginnings::of(&lower);
    let may_hold = |components: &str| beginnings.may_hold(components);
    if FOLDERS.iter().any(|folder| may_hold(folder) && (lies_in(&lower, folder) || ends_in(&lower, folder))) {
        return true;
    }
    if is_git_config(&lower) {
        return true;
    }
    // A copy of such a folder.
    if lower.split('/').any(|part| part.starts_with('.') && is_secret_folder(part) && part != ".ssh") {
        return true;
    }
    let bare: Vec<&str> = lower.split('/').map(without_copy_marks).collect();
    let bare = bare.join("/");
    if bare != lower && FOLDERS.iter().any(|folder| lies_in(&bare, folder) || ends_in(&bare, folder)) {
        return true;
    }
    let plain = without_copy_marks(&lower);
    let plain_beginnings = Beginnings::of(plain);
    let is =
        |file: &str| may_hold(file) && ends_in(&lower, file) || plain_beginnings.may_hold(file) && ends_in(plain, file);
    if FILES.iter().any(|file| is(file)) {
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
    ".okta",
    ".tsh",
    ".doppler",
    ".aws-vault",
    ".awsvault",
    ".infisical",
    ".config/doppler",
    ".config/argocd",
    ".config/fastly",
    ".config/helm/registry",
    ".config/borg",
    ".config/weechat",
    ".config/bitwarden cli",
    ".talos",
    ".vnc",
    ".purple",
    ".subversion/auth",
    ".hex",
    ".dbt",
    ".snowflake",
    ".cassandra",
    ".config/brave",
    ".config/bravesoftware",
    ".config/vivaldi",
    ".config/opera",
    ".config/signal",
    ".local/share/telegramdesktop",
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/microsoft-edge",
    ".ethereum",
    ".electrum",
    ".mail-password",
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
    "etc/kubernetes/admin.conf",
    "etc/rancher/rke2/rke2.yaml",
    "etc/rancher/k3s/k3s.yaml",
    "server/node-token",
    "etc/gitlab-runner/config.toml",
    ".gitlab-runner/config.toml",
    ".circleci/cli.yml",
    ".idea/datasources.local.xml",
    ".vscode/sftp.json",
    ".config/filezilla/sitemanager.xml",
    ".config/msmtp/config",
    ".config/dart/pub-credentials.json",
    ".android/adbkey",
    "etc/cloud/instance/user-data.txt",
    "var/lib/cloud/instance/user-data.txt",
    ".expo/state.json",
    ".cf/config.json",
    ".config/fish/fish_variables",
    "etc/environment",
    "etc/nginx/htpasswd",
    "etc/nginx/.htpasswd",
    "etc/borg/passphrase",
    ".config/gh-copilot/hosts.json",
    ".config/restic/password",
    ".config/syncthing/config.xml",
    ".config/pnpm/rc",
    ".config/b2/account_info",
    ".foundry/keystores",
    ".auth/user.json",
    ".gemini/.env",
    ".codex/history.jsonl",
    ".claude/history.jsonl",
    "config/database.yml",
    ".idea/webservers.xml",
    ".local/share/uv/credentials",
    ".config/borgmatic/config.yaml",
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
];

/// Places of the machine that hold secrets.
const PLACES: &[&str] = &[
    "/run/credentials",
    "/etc/secrets",
    "/var/lib/cloud/instances",
    "/var/lib/kubelet/pods",
    "/vault/secrets",
    "/mnt/secrets-store",
    "/run/agenix",
    "/run/keys",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/pki/tls/private",
    "/etc/netplan",
    "/var/cache/debconf/passwords.dat",
    "/run/secrets",
    "/var/run/secrets",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/sudoers.d",
    "/etc/ldap.secret",
    "/etc/samba/private",
    "/var/lib/samba/private",
    "/etc/letsencrypt/accounts",
    "/etc/smbcredentials",
    "/var/lib/jenkins/secrets",
    "/var/lib/docker/swarm",
    "/var/lib/tailscale",
    "/etc/kubernetes",
];

/// Where secrets lie by the list: in a home folder (as `~/…`) or at a place of the machine. What a sandbox hides.
pub fn places() -> impl Iterator<Item = String> {
    let of_home = FOLDERS.iter().chain(NAMES).chain(FILES).filter(|path| path.starts_with('.')).chain([&".ssh"]);
    let of_machine = FILES.iter().filter(|path| path.starts_with("etc/"));
    let of_home = of_home.map(|path| format!("~/{path}"));
    of_home.chain(of_machine.map(|path| format!("/{path}"))).chain(PLACES.iter().map(|&place| place.to_owned()))
}

/// True for git's configuration, which may hold tokens and passwords. The path is in lower case.
pub fn is_git_config(path: &str) -> bool {
    let name = without_copy_marks(file_name(path));
    name.starts_with(".gitconfig")
        || matches!(name, "config" | "config.worktree")
            && (lies_in(path, ".git") || ends_in(path, ".config/git/config"))
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

/// How people end the names of keys.
const KEY_ENDS: [&str; 4] = ["_rsa", "_ed25519", "_ecdsa", "_dsa"];

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
    let whole = name;
    let name = without_copy_marks(name);
    // An editor hides a copy behind a dot, unless there is one already.
    let dotted = format!(".{name}");
    let may_have_had_dot = whole.starts_with('.') && name != whole && !name.starts_with('.');
    if may_have_had_dot && NAMES.contains(&dotted.as_str()) {
        return true;
    }
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
        ".publishsettings",
        ".1pux",
        ".keyx",
        ".kwl",
    ];
    NAMES.contains(&name)
        || keys.iter().any(|key| name.strip_prefix(key).is_some_and(is_key))
        || KEY_ENDS.iter().any(|end| name.ends_with(end))
        || name.strip_prefix(".env").is_some_and(|rest| {
            rest.starts_with(|first: char| matches!(first, '.' | '-' | '_' | ' ' | '(') || first.is_ascii_digit())
                || is_surrounding(rest)
        })
        || name.strip_prefix("env.").is_some_and(is_surrounding)
        || name.starts_with('.') && name.ends_with("_history")
        || name.contains("firebase-adminsdk") && ends_with(name, ".json")
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
        || endings.iter().any(|ending| name.ends_with(ending))
        || says_secret(whole)
        || name != whole && says_secret(name)
}

/// Words for where something is used, and for copies of it: they say nothing of what it is.
const SURROUNDINGS: &str = "local prod production dev development staging stage test live qa my copy of bak backup old new orig \
                            final real";

fn is_surrounding(word: &str) -> bool {
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

/// True for a name whose words end in one for a credential: `db_password`, `prod-secrets.yaml`, `credentials (1).json`. One
/// word without an ending is more often a folder of somebody's program. The name is in lower case.
fn says_secret(name: &str) -> bool {
    // Of nearly every name.
    const LETTERS: [&str; 7] = ["secret", "cred", "passw", "passphrase", "token", "key", "recovery"];
    if !LETTERS.iter().any(|letters| name.contains(letters)) {
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
        | [.., "recovery", "codes" | "keys" | "key"] => true,
        ["key"] => is_data && name.ends_with(".properties"),
        [.., last] => {
            is_data && ["secret", "passwd", "passwords"].iter().any(|end| last.ends_with(end)) && last.len() > 9
        }
        [] => false,
    }
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
        ".un~",
    ];
    if let Some(inside) = name.strip_prefix('#').and_then(|rest| rest.strip_suffix('#')) {
        name = inside;
    }
    loop {
        // Of nearly every name.
        if !name.ends_with(['~', 'k', 'g', 'd', 'e', 'p', 'y', 'w', 't', ')', 'z', 'o', 'n', 'v', 'a', 'c'])
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
    FILES.iter().chain(FOLDERS).chain(PLACES).filter_map(holder).any(|is_holder| is_holder)
}

/// True when a folder of this name holds little but secrets. The name is in lower case.
pub fn is_secret_folder(name: &str) -> bool {
    let known = |name: &str| name == ".ssh" || FOLDERS.contains(&name);
    let says_where = |(start, place)| is_surrounding(place) && known(start);
    known(name)
        || name.starts_with('.')
            && (known(without_copy_marks(name)) || name.rsplit_once(['-', '_', '.']).is_some_and(says_where))
}

/// True when a variable's name says that it holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let bare = without_surroundings(&upper);
    is_called_secret(&upper) || bare != upper && is_called_secret(bare)
}

/// A variable's name without what says where it is used, or how it is written down: `KEY_2`, `PASS_PROD`, `KEY_B64`.
fn without_surroundings(upper: &str) -> &str {
    const MARKS: &[&str] = &[
        "_PROD",
        "_PRODUCTION",
        "_DEV",
        "_STAGING",
        "_TEST",
        "_LIVE",
        "_B64",
        "_BASE64",
        "_PEM",
        "_JSON",
        "_OLD",
        "_NEW",
    ];
    let mut name = upper;
    loop {
        let digits = name.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end_matches('_');
        let rest = MARKS.iter().find_map(|mark| name.strip_suffix(mark)).unwrap_or(digits);
        if rest.is_empty() || rest == name {
            return name;
        }
        name = rest;
    }
}

fn is_called_secret(upper: &str) -> bool {
    // Counts, columns of databases, what is public.
    let harmless = [
        "PRIMARY_KEY",
        "PARTITION_KEY",
        "SORT_KEY",
        "FOREIGN_KEY",
        "CACHE_KEY",
        "PUBLIC_KEY",
        "KEY_NAME",
        "TOKENIZERS_PARALLELISM",
        "TOKENIZER",
        "SECRETARY",
        "_COUNT",
        "_LIMIT",
        "_TYPE",
        "_EXPIRY",
        "_EXPIRES",
        "_EXPIRATION",
        "_LENGTH",
        "_PORT",
        "_DIR",
        "_PATH",
        "_FILE",
        "_TTL",
        "_ENABLED",
        "BYPASS",
        "COMPASS",
    ];
    // Several of them are what a model counts, but for these.
    let held = ["API", "AUTH", "ACCESS", "REFRESH", "BEARER", "BOT", "GITHUB", "GITLAB", "SLACK", "DEPLOY", "SESSION"];
    let is_count = upper.ends_with("TOKENS") && !held.iter().any(|word| upper.split('_').any(|part| part == *word));
    if is_count || harmless.iter().any(|end| upper.ends_with(end)) {
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
        "_KEY",
        "_PAT",
        "GHPAT",
        "PASS",
        "_PWD",
        "_PW",
        "_AUTH",
        "_OAUTH",
        "_DSN",
        "_CREDS",
        "_SK",
        "_SAS",
        "_JWT",
        "_COOKIE",
        "AIKEY",
        "SSHKEY",
        "PRIVATEKEY",
        "ACCESSKEY",
        "AESKEY",
        "DBPW",
        "ROOTPW",
        "_PSK",
        "SEED_PHRASE",
        "SERVICE_ACCOUNT",
        "KEYSTORE",
        "DOCKERCONFIGJSON",
        "PRIVKEY",
        "GPGKEY",
        "MASTERKEY",
        "DBPWD",
        "_SIGNING",
        "_HOOK",
        "CONN_STR",
        "_CONFIG_DATA",
        "_SA_JSON",
        "OTLP_HEADERS",
        "DBURL",
        "DB_CONN",
        "DIRECT_URL",
        "PRISMA_URL",
        "REDIS_REST_URL",
        "INDEX_URL",
        "_CRED",
        "_OTP",
        "TOTP_SEED",
        "WALLET_SEED",
        "RECOVERY_PHRASE",
        "PASSCODE",
        "AUTH_HEADER",
        "AUTH_BEARER",
        "_HMAC",
        "FERNET",
        "_PRIVATE",
        "SERVICE_ROLE",
        "P12_BASE64",
        "PFX_B64",
        "_GCP_SA",
        "KUBECONFIG_B64",
        "KUBECONFIG_DATA",
    ];
    let whole = [
        "AUTH",
        "DSN",
        "DB_CONNECTION",
        "UV_DEFAULT_INDEX",
        "BEARER",
        "JWT",
        "COOKIE",
        "CELERY_RESULT_BACKEND",
        "RESTIC_REPOSITORY",
        "BW_SESSION",
        "FASTLANE_SESSION",
        "CI_REPOSITORY_URL",
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
    ];
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
        "JDBC_URL",
        "DATASOURCE_URL",
        "SAS_URL",
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
        "CACHE",
        "MAILER",
    ];
    let is_address = upper.ends_with("_URL") || upper.ends_with("_URI");
    is_address && services.iter().any(|service| upper.starts_with(service) || upper.contains("POSTGRES"))
        || whole.contains(&upper)
        || upper.starts_with("OP_SESSION_")
        || upper.starts_with("GIT_CONFIG_VALUE_")
        || upper.starts_with("CONNECTIONSTRINGS__")
        || upper.starts_with("BUNDLE_") && upper.contains("__")
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
            "~/.config/gh.old/hosts.yml",
            "~/.config/gcloud.bak/x",
            ".npmrc.swp",
            ".netrc.swo",
            "github_rsa",
            "deploy_ed25519",
            "/var/lib/cloud/instance/user-data.txt",
            "/var/lib/kubelet/pods/x/volumes/kubernetes.io~secret/db/password",
            "~/.yarnrc",
            "/etc/environment",
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
            "benchmark_rsa.rs",
            ".config/app/settings.json",
            ".swp.txt",
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
        for name in ["DSN", "GIT_CONFIG_VALUE_0", "PRIVKEY", "CACHE_URL", "SLACK_HOOK", "OTEL_EXPORTER_OTLP_HEADERS"] {
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
