//! Places that must not change unseen: the gate itself, and the files through which a command would run again later.

use super::paths::{ends_in, file_name, is_within, lies_in, resolve};

/// Where the gate lives in a container unless its configuration says otherwise.
pub const GATE_PATHS: &[&str] = &[
    "/etc/bashgate",
    "/run/bashgate",
    "/usr/local/bin/bashgate-hook",
    "/usr/local/bin/bashgate-run",
    "/usr/local/bin/bashgate",
];

/// Settings in which agents name their hooks, as the end of a path.
const AGENT_SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/managed-settings.json",
    "claude-code/managed-settings.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".copilot/hooks",
    ".github/hooks",
    ".cursor/hooks.json",
];

const START_UP: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".inputrc",
    ".lesskey",
    "lesskey",
    ".jq",
    ".rpmmacros",
    ".popt",
    "config.fish",
    "authorized_keys",
    "crontab",
    ".xprofile",
    ".pam_environment",
    ".gitconfig",
    ".mcp.json",
    "bash.bashrc",
    "profile",
];

const PATH_FOLDERS: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "~/bin",
    "~/.local/bin",
    "~/.cargo/bin",
];

/// Agents' settings and snapshots that a text names, wherever it does.
pub fn settings_in(text: &str) -> impl Iterator<Item = &'static str> {
    // Claude Code reads settings under several names, which start alike.
    let marks = AGENT_SETTINGS.iter().copied().chain([".claude/settings", "managed-settings.json", "shell-snapshots"]);
    marks.filter(move |mark| text.contains(mark))
}

/// The part of the gate that a resolved path is, holds or lies in.
///
/// A relative path is judged as it is: the gate's files are named absolutely, the agent's settings by their end.
pub fn gate_part(path: &str, protected: &[String]) -> Option<String> {
    let touches = |gate: &str| is_within(path, gate) || path == "/" || is_within(gate, path);
    let gate = protected.iter().map(String::as_str).chain(GATE_PATHS.iter().copied());
    if path.starts_with('/')
        && let Some(gate) = gate.into_iter().find(|gate| touches(gate))
    {
        return Some(gate.to_owned());
    }
    let settings = AGENT_SETTINGS.iter().find(|end| ends_in(path, end) || lies_in(path, end));
    if settings.is_some() {
        return Some(path.to_owned());
    }
    // The folder that holds them.
    let name = file_name(path);
    ([".claude", ".codex", ".gemini", ".cursor", ".copilot"].contains(&name)
        || path == "/etc/claude-code"
        || path == "~")
        .then(|| path.to_owned())
}

/// The kind of start-up file, hook or `PATH` folder that a resolved path is.
pub fn persistence(path: &str) -> Option<&'static str> {
    let name = file_name(path);
    let inside = |folder: &str| lies_in(path, folder);
    if inside(".git/hooks")
        || path == ".git/hooks"
        || path.ends_with("/.git/hooks")
        || inside(".husky")
        || inside(".githooks")
    {
        return Some("a git hook");
    }
    if lies_in(path, "hooks") && path.contains(".git/hooks/") {
        return Some("a git hook");
    }
    if name == ".git" {
        return Some("a pointer to another git folder");
    }
    if path == ".git/config" || path.ends_with("/.git/config") || inside(".git/info") || inside(".config/git") {
        return Some("git's configuration");
    }
    if git_reads(path) {
        return Some("git's own folder");
    }
    if START_UP.contains(&name)
        || path.starts_with("/etc/profile.d/")
        || inside(".config/fish")
        || path == "/etc/environment"
    {
        return Some("a start-up file");
    }
    if inside("shell-snapshots") || inside("session-env") {
        return Some("an agent's shell snapshot");
    }
    if path.starts_with("/etc/cron") || path.starts_with("/var/spool/cron") {
        return Some("cron");
    }
    if inside(".ssh") {
        return Some("the SSH configuration");
    }
    if path.starts_with("/etc/systemd/")
        || inside(".config/systemd")
        || inside(".config/autostart")
        || path.starts_with("/etc/init.d/")
    {
        return Some("a service that starts by itself");
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let home_folder = ["bin", ".local/bin", ".cargo/bin"];
    let in_home = (path.starts_with("/home/") || path.starts_with("/root/"))
        && home_folder.iter().any(|tail| ends_in(folder, tail));
    if PATH_FOLDERS.contains(&folder) || in_home && !folder.contains("/src/") && folder.matches('/').count() <= 4 {
        return Some("a folder of PATH");
    }
    None
}

/// True for a file below `.git` that git itself reads. Other tools keep files of their own there.
fn git_reads(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "config",
        "config.worktree",
        "hooks",
        "info",
        "modules",
        "worktrees",
        "objects",
        "refs",
        "HEAD",
        "ORIG_HEAD",
        "FETCH_HEAD",
        "MERGE_HEAD",
        "MERGE_MSG",
        "index",
        "commondir",
        "gitdir",
        "packed-refs",
        "logs",
        "shallow",
        "rebase-merge",
        "rebase-apply",
        "sequencer",
        "remotes",
        "branches",
        "COMMIT_EDITMSG",
        "reftable",
        "lfs",
        "annex",
        "svn",
        "common",
    ];
    path.split("/.git/").skip(1).chain(path.strip_prefix(".git/")).any(|rest| {
        let first = rest.split('/').next().unwrap_or("");
        NAMES.contains(&first) || first.is_empty()
    })
}

/// True when a pattern for process names (`pkill`, `killall`) can reach a process of the gate.
///
/// A pattern is a regular expression; it cannot match a name that lacks one of its plain runs of letters.
pub fn reaches_gate_process(pattern: &str) -> bool {
    pattern.split('|').any(|branch| {
        let chars: Vec<char> = branch.chars().collect();
        let mut runs = vec![String::new()];
        for (at, c) in chars.iter().enumerate() {
            let optional = matches!(chars.get(at + 1), Some('*' | '?' | '{'));
            if (c.is_ascii_alphanumeric() || *c == '-' || *c == '_') && !optional {
                if let Some(run) = runs.last_mut() {
                    run.push(*c);
                }
            } else {
                runs.push(String::new());
            }
        }
        let matches = |name: &str| runs.iter().all(|run| name.contains(run.as_str()));
        branch.contains("bashgate") || ["bashgate-hook", "bashgate-run", "bashgate"].into_iter().any(matches)
    })
}

/// True when an absolute prefix, which a glob or variable continues, can reach a part of the gate.
pub fn prefix_reaches_gate(prefix: &str, protected: &[String]) -> bool {
    let prefix = if prefix.ends_with('/') { format!("{}/", resolve(None, prefix)) } else { resolve(None, prefix) };
    let prefix = if prefix == "//" { "/".to_owned() } else { prefix };
    let settings = AGENT_SETTINGS.iter().filter_map(|end| end.split('/').next());
    let name = prefix.rsplit('/').next().unwrap_or("");
    if name.len() > 1 && name.starts_with('.') && settings.into_iter().any(|folder| folder.starts_with(name)) {
        return true;
    }
    if AGENT_SETTINGS.iter().any(|end| {
        let folder = end.rsplit_once('/').map_or("", |(folder, _)| folder);
        prefix.split_once(folder).is_some_and(|(_, rest)| {
            end.strip_prefix(folder).is_some_and(|tail| !rest.is_empty() && tail.starts_with(rest))
        })
    }) {
        return true;
    }
    prefix.starts_with('/')
        && protected.iter().map(String::as_str).chain(GATE_PATHS.iter().copied()).any(|gate| gate.starts_with(&prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_touched_at_below_and_above_its_paths() {
        let own = vec!["/mnt/box/default".to_owned()];
        for path in [
            "/etc/bashgate",
            "/etc/bashgate/hook.toml",
            "/etc",
            "/",
            "/mnt/box/default/requests/x.json",
            "/mnt",
            ".claude/settings.json",
            "/root/.claude/settings.local.json",
            "~/.codex/config.toml",
            ".claude",
        ] {
            assert!(gate_part(path, &own).is_some(), "{path}");
        }
        for path in ["/etc/hosts", "/mnt/other", "src/bashgate", "settings.json", "/tmp/x", "."] {
            assert!(gate_part(path, &own).is_none(), "{path}");
        }
        assert!(prefix_reaches_gate("/etc/bash", &own));
        assert!(prefix_reaches_gate("/", &own));
        assert!(!prefix_reaches_gate("/etc/hosts", &own));
        assert!(!prefix_reaches_gate("src/", &own));
    }

    #[test]
    fn start_up_files_and_the_like() {
        for path in [
            "~/.bashrc",
            "/root/.profile",
            ".git/hooks/pre-commit",
            "/w/.git/config",
            "/etc/cron.d/x",
            "~/.ssh/authorized_keys",
            "/usr/local/bin/ls",
            "~/.local/bin/x",
            "/home/u/.local/bin/x",
            "/etc/profile.d/x.sh",
            ".git/info/attributes",
            "a/.git/rebase-merge/git-rebase-todo",
            ".git/index",
        ] {
            assert!(persistence(path).is_some(), "{path}");
        }
        for path in [
            ".git/index.lock",
            ".git/entire-sessions/x.json",
            "src/main.rs",
            "/w/bin/run.sh",
            "/tmp/x",
            "README.md",
            ".gitignore",
        ] {
            assert!(persistence(path).is_none(), "{path}");
        }
    }

    #[test]
    fn patterns_that_reach_the_gates_processes() {
        for pattern in
            ["bashgate-hook", "bash", "gate", "bashgate", ".", "^bash", "b.shgate", "x*bash", "node|bash", ""]
        {
            assert!(reaches_gate_process(pattern), "{pattern}");
        }
        for pattern in ["node", "vite", "python3", "node.*server"] {
            assert!(!reaches_gate_process(pattern), "{pattern}");
        }
    }
}
