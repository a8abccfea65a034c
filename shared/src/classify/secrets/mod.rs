//! Names that secrets have: files and variables.
//!
//! A name is all that the text gives. A file is a secret when its path says so; what it holds is never looked at.

mod names;
mod quick;
mod variables;

use super::paths::{Beginnings, ends_in, file_name, is_within, lies_in};

pub use names::is_secret_name;
pub(super) use names::is_surrounding;
pub use variables::{code_shows_the_environment, is_secret_variable};

use names::{NAMES, without_copy_marks};
use quick::Known;

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
        let is_public = name.rsplit_once('.').is_some_and(|(_, ending)| ending == "pub");
        return !(is_public || name.starts_with("known_hosts") || name == "config");
    }
    let beginnings = Beginnings::of(&lower);
    let may_hold = |components: &str| beginnings.may_hold(components);
    if FOLDERS.iter().any(|folder| may_hold(folder) && (lies_in(&lower, folder) || ends_in(&lower, folder))) {
        return true;
    }
    if git_text(&lower).is_some() || is_device(&lower) {
        return true;
    }
    if CALLED_AFTER_SECRETS.iter().any(|folder| may_hold(folder) && lies_in(&lower, folder)) && names::holds_data(name)
    {
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
        || lower == "/proc/keys"
}

/// Devices behind which any file's bytes lie, or what somebody types.
fn is_device(path: &str) -> bool {
    const STARTS: &[&str] = &[
        "sd", "vd", "xvd", "hd", "nvme", "dm-", "md", "loop", "mapper/", "disk/", "mmcblk", "mem", "kmem", "port",
        "vcs", "input/", "ram", "zram", "nbd", "sr",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| STARTS.iter().any(|start| name.starts_with(start)))
}

/// Folders that people call after what lies in them: data there is secret.
const CALLED_AFTER_SECRETS: &[&str] = &["secrets", ".env.d", ".auth"];

/// The command's own input and outputs, which are judged where they come from.
fn is_standard_stream(path: &str) -> bool {
    ["/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"].contains(&path)
}

/// Folders with little but secrets in them, wherever they lie.
const FOLDERS: &[&str] = &[
    ".aws",
    ".local/share/telegramdesktop/tdata",
    ".foundry/keystores",
    ".gnupg",
    ".azure",
    ".kube",
    ".age",
    ".config/age",
    ".config/anthropic",
    ".config/linode-cli",
    ".config/openstack",
    ".claude/file-history",
    ".codex/sessions",
    ".grok/user-settings.json",
    ".kimi/config.toml",
    ".config/turso",
    ".config/planetscale",
    ".claude/projects",
    ".davfs2",
    ".step/secrets",
    ".near-credentials",
    ".config/bitwarden",
    ".librewolf",
    ".svn/auth",
    ".local/share/atuin",
    ".tofu.d",
    ".config/atuin",
    ".config/io.datasette.llm",
    ".influxdbv2",
    ".jira.d",
    ".local/share/jupyter/runtime",
    ".twilio-cli",
    ".password-store",
    ".mcp-auth",
    ".config/composer",
    ".config/cursor/auth.json",
    ".local/share/amp",
    ".local/share/amazon-q",
    ".local/share/kiro-cli",
    ".local/share/mkcert",
    ".local/share/remmina",
    ".local/share/dbeaverdata",
    ".openhands",
    ".config/neonctl",
    ".config/hcp",
    ".config/gitlab-runner",
    ".config/slack",
    ".config/discord",
    ".config/bitwarden cli",
    ".config/exercism",
    ".config/earthengine",
    ".config/remmina",
    ".config/pnpm/auth.ini",
    ".conan2/credentials.json",
    ".ivy2/.credentials",
    ".sbt/.credentials",
    ".minikube/certs",
    ".lpass",
    ".chef",
    ".runpod",
    ".n8n",
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
    ".weechat",
    ".mutt",
    ".openai",
    ".config/heroku",
    ".config/wandb",
    ".config/cachix",
    ".config/attic",
    ".config/code-server",
    ".jfrog",
];

/// Single files, by the end of their path.
const FILES: &[&str] = &[
    ".docker/config.json",
    ".gem/credentials",
    ".rancher/cli2.json",
    ".openvpn/auth.txt",
    ".mcli/config.json",
    ".config/aerc/accounts.conf",
    ".config/himalaya/config.toml",
    ".config/slack/cookies",
    ".config/code/cookies",
    ".config/syncthing/key.pem",
    ".minikube/client.key",
    ".tmux/resurrect/last",
    ".local/share/powershell/psreadline/consolehost_history.txt",
    ".composer/auth.json",
    ".pulumi/credentials.json",
    ".factory/auth.json",
    ".vercel/auth.json",
    ".config/goose/secrets.yaml",
    ".local/share/fish/fish_history",
    ".bitcoin/wallet.dat",
    ".gemini/mcp-oauth-tokens.json",
    ".config/nix/netrc",
    ".stripe/config.toml",
    ".config/npm/npmrc",
    ".config/llm/keys.json",
    ".local/state/bash/history",
    ".local/state/zsh/history",
    ".local/share/mongosh/mongosh_repl_history",
    ".mongodb/mongosh/mongosh_repl_history",
    ".clickhouse-client-history",
    ".hg/hgrc",
    "etc/pip.conf",
    "etc/npmrc",
    "usr/local/etc/npmrc",
    "etc/postfix/sasl_passwd.db",
    "etc/exim4/passwd.client",
    "idea/httprequests/http-client.private.env.json",
    ".git/logs/head",
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
    ".kamal/secrets-common",
    ".kamal/secrets.production",
    ".kamal/secrets.staging",
    ".pm2/dump.pm2",
    ".config/snowflake/connections.toml",
    ".config/aichat/config.yaml",
    ".config/shell_gpt/.sgptrc",
    ".config/coderv2/session",
    ".tccli/default.credential",
    ".prefect/profiles.toml",
    ".config/linear/token",
    ".config/exoscale/exoscale.toml",
    ".travis/config.yml",
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
    ".auth/user.json",
    ".gemini/.env",
    ".codex/history.jsonl",
    ".claude/history.jsonl",
    "config/database.yml",
    ".idea/webservers.xml",
    ".local/share/uv/credentials",
    ".config/borgmatic/config.yaml",
    ".netlify/config.json",
    ".irssi/config",
    ".jupyter/jupyter_server_config.json",
    ".jupyter/jupyter_notebook_config.json",
    ".config/nix/nix.conf",
    "etc/nix/nix.conf",
    ".continue/config.json",
    ".continue/config.yaml",
];

/// Places of the machine that hold secrets.
const PLACES: &[&str] = &[
    "/run/credentials",
    "/var/backups/shadow.bak",
    "/etc/zypp/credentials.d",
    "/var/lib/rancher/k3s/server/token",
    "/var/lib/kubelet/pki",
    "/etc/cni/net.d",
    "/etc/boto.cfg",
    "/etc/gitea/app.ini",
    "/etc/gitlab/gitlab.rb",
    "/etc/passwd-s3fs",
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

/// Names of the above as programs write them, where that is not in lower case.
const CASED: &[&str] = &[
    ".Xauthority",
    ".ICEauthority",
    ".Renviron",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet/NuGet.Config",
    ".config/Bitwarden",
    ".config/Signal",
];

/// Where secrets lie by the list: in a home folder (as `~/…`) or at a place of the machine. What a sandbox hides.
pub fn places() -> impl Iterator<Item = String> {
    let of_home =
        FOLDERS.iter().chain(NAMES).chain(FILES).chain(CASED).filter(|path| path.starts_with('.')).chain([&".ssh"]);
    let of_machine = FILES.iter().filter(|path| path.starts_with("etc/"));
    let of_home = of_home.map(|path| format!("~/{path}"));
    of_home.chain(of_machine.map(|path| format!("/{path}"))).chain(PLACES.iter().map(|&place| place.to_owned()))
}

/// A text of git's own that may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitText {
    /// Its configuration.
    Config,
    /// A log of what was done.
    Log,
    /// Changes of a commit that was begun.
    Leftover,
}

/// Which of git's own texts a path names, if any. The path is in lower case.
pub fn git_text(path: &str) -> Option<GitText> {
    if is_git_config(path) {
        Some(GitText::Config)
    } else if is_git_log(path) {
        Some(GitText::Log)
    } else {
        is_git_leftover(path).then_some(GitText::Leftover)
    }
}

/// True for git's configuration, which may hold tokens and passwords. The path is in lower case.
pub fn is_git_config(path: &str) -> bool {
    let name = without_copy_marks(file_name(path));
    let is_bare = || path.split('/').any(|part| part.strip_suffix(".git").is_some() || part == ".bare");
    name.starts_with(".gitconfig")
        || matches!(name, "gitconfig" | ".gitmodules")
        || matches!(name, "config" | "config.worktree") && (lies_in(path, ".git") || is_bare())
        || lies_in(path, ".config/git") && name != "ignore" && name != "attributes"
}

/// True for a log of git's, in which commands stand as they were typed. The path is in lower case.
pub fn is_git_log(path: &str) -> bool {
    let is_folder = matches!(file_name(path), "refs" | "heads" | "remotes" | "tags");
    !is_folder
        && (lies_in(path, ".git/logs") || path.split_once(".git/").is_some_and(|(_, rest)| rest.contains("/logs/")))
}

/// True for what git keeps of all files that were ever added: who reads it reads them. A search passes by it, which sees only how they
/// are packed.
pub fn is_git_store(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let inside = lower.split_once(".git/objects/").map(|(_, rest)| rest);
    inside.is_some_and(|rest| !rest.is_empty() && !rest.starts_with("info/"))
}

/// True for what git leaves of a commit that was begun: files in which changes stand as they are, of whatever file; also of linked
/// worktrees and of submodules. The path is in lower case.
fn is_git_leftover(path: &str) -> bool {
    let inside = path.strip_prefix(".git/").or_else(|| path.split_once(".git/").map(|(_, rest)| rest));
    let name = file_name(path);
    inside.is_some_and(|inside| {
        // Whatever folders of git's stand in front: those of submodules may have several names.
        let is_below = |folder: &str| lies_in(inside, folder);
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let is_of_objects =
            inside.starts_with("objects/") || inside.starts_with("refs/") || inside.starts_with("logs/");
        matches!(name, "commit_editmsg" | "add_edit.patch" | "addp-hunk-edit.diff") && !is_of_objects
            || is_below("rebase-merge") && name == "patch"
            || is_below("rebase-apply") && (name == "patch" || is_number)
            || is_below("rr-cache")
                && ["preimage", "postimage", "thisimage"].iter().any(|start| name.starts_with(start))
    })
}

/// True for a file whose name private keys have, and certificates as well, or for git's configuration: whether it holds a
/// secret, only its content tells.
pub fn may_be_public(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    if git_text(&lower).is_some() {
        return true;
    }
    let Some(stem) = lower.strip_suffix(".pem") else { return false };
    // Everything else about its name and place says nothing.
    is_secret_path(&lower) && !stem.is_empty() && !is_secret_path(&format!("{stem}.crt"))
}

/// True when what lies in this folder may be a secret by its place alone, whatever its own name is. Quick.
pub fn may_hold_by_place(folder: &str) -> bool {
    static HOLDERS: Known<{ FILES.len() + FOLDERS.len() + PLACES.len() }> =
        Known::holders_of(&[FILES, FOLDERS, PLACES]);
    let begins = |top: &&str| folder.get(..top.len()).is_some_and(|start| start.eq_ignore_ascii_case(top));
    let holds_all = |part: &[u8]| {
        let end = part.len().checked_sub(".git".len()).and_then(|at| part.get(at..));
        part.starts_with(b".")
            || end.is_some_and(|end| end.eq_ignore_ascii_case(b".git"))
            || is_or_copies(part, quick::is_ordinary(part), |part| NAMED_OUTRIGHT.have(part))
    };
    let last = file_name(folder).as_bytes();
    ["/etc", "/run", "/proc", "/var", "/dev"].iter().chain(PLACES).any(begins)
        || folder.split('/').any(|part| holds_all(part.as_bytes()))
        || is_or_copies(last, quick::is_ordinary(last), |name| HOLDERS.have(name))
}

/// Last names of files and folders that are secrets, and of folders that are called after what lies in them.
static NAMED_OUTRIGHT: Known<{ FILES.len() + FOLDERS.len() + CALLED_AFTER_SECRETS.len() }> =
    Known::last_of(&[FILES, FOLDERS, CALLED_AFTER_SECRETS]);

/// True for a name that is so in the lists above, or git's configuration.
fn is_named_outright(name: &[u8]) -> bool {
    NAMED_OUTRIGHT.have(name) || name.eq_ignore_ascii_case(b"gitconfig")
}

/// True for a file's name that no rule takes for a secret's, and for a text, a packed file and the like with such a name in front
/// of its ending. False says nothing.
fn is_ordinary_file(name: &[u8]) -> bool {
    quick::is_ordinary(name)
        || !quick::NAMED.have(name)
            && quick::without_mark(name).is_some_and(|stem| is_ordinary_file(stem) && !is_named_outright(stem))
}

/// True for a name that is so, and for that of a copy of such. An ordinary one is no copy.
fn is_or_copies(name: &[u8], is_ordinary: bool, is: impl Fn(&[u8]) -> bool) -> bool {
    is(name)
        || !is_ordinary && {
            let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
            is(without_copy_marks(&lower).as_bytes())
        }
}

/// True for a file of this name in a folder, of which it is known whether [what lies there may be a secret by its place
/// alone](may_hold_by_place): the same as of its whole path, and quicker.
pub fn is_secret_in(folder: &str, may_hold: bool, name: &[u8]) -> bool {
    let is_ordinary = is_ordinary_file(name);
    if !is_ordinary && names::is_secret_in_any_case(name) {
        return true;
    }
    let may_be = may_hold || name.starts_with(b".") || is_or_copies(name, is_ordinary, is_named_outright);
    may_be && is_secret_path(&format!("{}/{}", folder.trim_end_matches('/'), String::from_utf8_lossy(name)))
}

/// True when a file of this name, as the file system has it, is a secret wherever it lies. Quick, for a hundred thousand of
/// them.
pub fn is_secret_file_name(name: &[u8]) -> bool {
    !is_ordinary_file(name) && names::is_secret_in_any_case(name)
}

/// True when a folder of this name holds little but secrets. The name is in lower case.
pub fn is_secret_folder(name: &str) -> bool {
    let known = |name: &str| name == ".ssh" || FOLDERS.contains(&name);
    let says_where = |(start, place)| is_surrounding(place) && known(start);
    known(name)
        || name.starts_with('.')
            && (known(without_copy_marks(name)) || name.rsplit_once(['-', '_', '.']).is_some_and(says_where))
}

/// True for a secret, and for a folder in which secrets lie: who reads all of it reads them.
pub fn is_secret_tree(path: &str) -> bool {
    let name = super::paths::file_name(path.trim_end_matches('/'));
    let is_place = path.contains('/') || name.starts_with('.');
    is_secret_path(path) || is_place && is_secret_folder(&name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            "keys/age-key.txt",
            "/tmp/krb5cc_1000",
            "/proc/keys",
            "~/.config/age/keys.txt",
            "release.pk8",
            "~/.weechat/sec.conf",
            "~/.mutt/secrets",
            "~/.config/wandb/settings",
            "~/.netlify/config.json",
            "~/.Renviron",
            "~/.ICEauthority",
            "~/.lftprc",
            "~/.hgrc",
            "/etc/nix/nix.conf",
            "/etc/boto.cfg",
            "cookies.txt",
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
        // To go around a place there would hide every process that comes later, the run's own among them.
        assert!(!places.iter().any(|place| place.starts_with("/proc/")));
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
    fn what_passes_folders_by_quickly_passes_none_of_the_list() {
        for path in FILES.iter().chain(FOLDERS).chain(PLACES) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("/w", path));
            assert!(is_secret_in(folder, may_hold_by_place(folder), name.as_bytes()), "{path}");
        }
        assert!(!may_hold_by_place("/w/src"));
    }

    /// Parts of paths: names of the lists, what is made of them, and others.
    fn parts() -> impl Strategy<Value = String> {
        let lists = [FILES, FOLDERS, PLACES, CALLED_AFTER_SECRETS, NAMES];
        let known: Vec<String> = lists
            .into_iter()
            .flatten()
            .flat_map(|path| path.split('/'))
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let whole: Vec<String> = lists.into_iter().flatten().map(|path| path.trim_matches('/').to_owned()).collect();
        let others = "a src db.json prod config gitconfig .gitconfig-work .gitmodules repo.git .git .bare logs refs heads remotes HEAD \
                      environ known_hosts id.pub x.txt x.yml main.rs .env.d secret token config.worktree";
        let others: Vec<String> = others.split_whitespace().map(str::to_owned).collect();
        let name = prop_oneof![
            2 => proptest::sample::select(known),
            1 => proptest::sample::select(whole),
            3 => proptest::sample::select(others),
        ];
        let mark =
            proptest::sample::select(vec!["", "", "", "", ".bak", "~", ".old", ".1", ".gz", ".swp", "-local", "_old"]);
        (name, mark, 0..8_u8).prop_map(|(name, mark, case)| {
            let name = format!("{name}{mark}");
            if case == 0 { name.to_ascii_uppercase() } else { name }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30_000))]

        /// A walk asks in pieces what a path in a text is asked as a whole.
        #[test]
        fn a_name_in_a_folder_is_what_its_path_is(parts in proptest::collection::vec(parts(), 1..5), top in 0..6_u8) {
            let tops = ["/w", "/home/u", "/etc", "/", "/proc/1", "/var/lib"];
            let top = tops[usize::from(top)];
            let path = format!("{}/{}", top.trim_end_matches('/'), parts.join("/"));
            let (folder, name) = path.rsplit_once('/').unwrap();
            let walked = is_secret_in(folder, may_hold_by_place(folder), name.as_bytes());
            prop_assert_eq!(walked, is_secret_path(&path), "{}", path);
        }
    }
}
