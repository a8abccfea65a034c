//! Package managers: what fetches is Network, the rest runs build scripts and is Unknown.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call};
use crate::classify::paths::file_name;

const fn manager(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program {
        names,
        about: "runs what packages bring along",
        kind: Kind::Mixed,
        rule: Rule::Custom(package),
        safe: &[],
        not_safe,
    }
}

pub(super) const TABLE: &[Program] = &[
    manager(
        &["pip", "pipx", "uv", "poetry", "conda"],
        &["pip install requests", "pip3 install x", "uv pip install x", "pip list"],
    ),
    manager(&["npm", "pnpm", "yarn"], &["npm install playwright", "npm test", "npm run build", "yarn add x"]),
    manager(
        &["apt", "apt-get", "apk", "dnf", "yum", "pacman", "zypper", "brew", "snap"],
        &["apt install netcat", "apt-get install curl", "apk add x"],
    ),
    manager(
        &["cargo", "go", "gem", "composer", "mvn", "gradle", "dotnet", "bundle"],
        &["cargo test", "cargo install x", "go get x", "go test ./..."],
    ),
];

fn package(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = file_name(&call.program);
    let words: Vec<&str> = call
        .args
        .iter()
        .filter_map(Arg::exact)
        .filter(|text| !text.starts_with('-') && !text.starts_with('+'))
        .collect();
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let manager = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let fetches = match manager {
        "uv" => {
            matches!(first, "add" | "sync" | "lock" | "publish" | "tool" | "python" | "self")
                || first == "pip" && second == "install"
        }
        "cargo" => {
            matches!(first, "install" | "add" | "update" | "fetch" | "publish" | "search" | "login" | "yank" | "owner")
        }
        "go" => matches!(first, "get" | "install") || first == "mod" && matches!(second, "download" | "tidy"),
        "npm" | "pnpm" | "yarn" => {
            matches!(
                first,
                "install"
                    | "i"
                    | "ci"
                    | "add"
                    | "update"
                    | "up"
                    | "upgrade"
                    | "publish"
                    | "audit"
                    | "view"
                    | "info"
                    | "search"
                    | "login"
                    | "dlx"
                    | "create"
                    | "init"
                    | "outdated"
            ) || manager == "yarn" && first.is_empty()
        }
        "poetry" | "bundle" | "composer" => {
            matches!(first, "add" | "install" | "update" | "publish" | "require" | "create-project")
        }
        "gem" | "brew" | "snap" | "pipx" | "conda" | "pip" => {
            matches!(
                first,
                "install"
                    | "download"
                    | "update"
                    | "upgrade"
                    | "fetch"
                    | "search"
                    | "create"
                    | "run"
                    | "push"
                    | "index"
                    | "wheel"
            )
        }
        "apt" | "apt-get" | "dnf" | "yum" | "zypper" => {
            matches!(
                first,
                "install"
                    | "update"
                    | "upgrade"
                    | "dist-upgrade"
                    | "full-upgrade"
                    | "source"
                    | "download"
                    | "build-dep"
                    | "changelog"
                    | "reinstall"
            )
        }
        "apk" => matches!(first, "add" | "update" | "upgrade" | "fetch"),
        "pacman" => call.args.iter().any(|arg| arg.text.starts_with("-S")),
        "mvn" | "gradle" | "dotnet" => matches!(first, "deploy" | "publish" | "restore" | "nuget" | "tool" | "add"),
        _ => false,
    };
    super::build::note_steering(judge, call);
    if !fetches {
        return Judgement::unknown("");
    }
    // The default registry is trusted to deliver what was named; another source is not.
    let other = call.args.iter().find(|arg| {
        let text = arg.text.as_str();
        text.contains("://")
            || text.starts_with("git+")
            || text.starts_with("git@")
            || text.starts_with("github:")
            || [
                "--index-url",
                "--extra-index-url",
                "--registry",
                "-i",
                "--find-links",
                "-f",
                "--index",
                "--source",
                "--repository",
                "--git",
            ]
            .iter()
            .any(|option| text == *option || text.starts_with(&format!("{option}=")))
    });
    if let Some(other) = other {
        judge.untrusted(super::network::host_in(&other.text).unwrap_or_else(|| format!("{manager} {}", other.text)));
    }
    judge.network(manager, None);
    Judgement::network(format!("`{manager} {first}` fetches from the network"))
}
