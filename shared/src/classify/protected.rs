//! The gate itself: its files, its processes, and the settings that put it in front of an agent.

use super::later::{self, Tier};
use super::paths::{is_within, resolve};

/// Where the gate lives in a container unless its configuration says otherwise.
const GATE_PATHS: &[&str] = &[
    "/etc/bashgate",
    "/run/bashgate",
    "/usr/local/bin/bashgate-hook",
    "/usr/local/bin/bashgate-run",
    "/usr/local/bin/bashgate",
];

/// The gate's own places: those that are said to be protected, and those that it has unless its configuration says otherwise.
pub fn places(protected: &[String]) -> impl Iterator<Item = &str> + Clone {
    protected.iter().map(String::as_str).chain(GATE_PATHS.iter().copied())
}

/// The part of the gate that a resolved path is, holds or lies in, for a command that started in `cwd`.
///
/// A relative path is judged as it is: the gate's files are named absolutely, an agent's settings by their end.
pub fn gate_part(path: &str, protected: &[String], cwd: Option<&str>) -> Option<String> {
    own_part(path, protected).or_else(|| {
        let is_settings = later::of(path, cwd).is_some_and(|later| later.tier == Tier::Gate);
        (is_settings || path == "~").then(|| path.to_owned())
    })
}

/// The gate's own files and mailbox.
fn own_part(path: &str, protected: &[String]) -> Option<String> {
    let touches = |gate: &str| is_within(path, gate) || path == "/" || is_within(gate, path);
    let mut gate = places(protected);
    if path.starts_with('/') { gate.find(|gate| touches(gate)).map(str::to_owned) } else { None }
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
    if later::may_become_settings(&prefix) {
        return true;
    }
    prefix.starts_with('/') && places(protected).any(|gate| gate.starts_with(&prefix))
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
            assert!(gate_part(path, &own, None).is_some(), "{path}");
        }
        for path in ["/etc/hosts", "/mnt/other", "src/bashgate", "settings.json", "/tmp/x", "."] {
            assert!(gate_part(path, &own, None).is_none(), "{path}");
        }
        assert!(prefix_reaches_gate("/etc/bash", &own));
        assert!(prefix_reaches_gate("/", &own));
        assert!(!prefix_reaches_gate("/etc/hosts", &own));
        assert!(!prefix_reaches_gate("src/", &own));
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
