//! Git. As a class it is Unknown even where it only reads, because its configuration may name programs to run; the
//! subcommands that talk to a remote are Network.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call};
use crate::classify::secrets;

pub(super) const TABLE: &[Program] = &[
    Program {
        names: &["git"],
        about: "runs programs that its configuration names",
        kind: Kind::Mixed,
        rule: Rule::Custom(git),
        safe: &[],
        not_safe: &[
            "git status",
            "git push origin main",
            "git -C x pull",
            "git clone https://h/x",
            "git commit -m 'fix curl call'",
            "git",
        ],
    },
    Program {
        names: &["gh", "glab", "hub"],
        about: "talks to a forge",
        kind: Kind::Network,
        rule: Rule::Custom(forge),
        safe: &[],
        not_safe: &["gh pr list", "gh api user"],
    },
];

/// Configuration that makes git run a program.
const RUNS: &[&str] = &[
    "core.hookspath",
    "core.fsmonitor",
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.gitproxy",
    "sequence.editor",
    "diff.external",
    "credential",
    "gpg",
    "include",
    "alias",
    "filter",
    "pager",
    "difftool",
    "mergetool",
    "merge",
    "remote",
    "url",
    "protocol",
    "init.templatedir",
    "uploadpack",
    "http.proxy",
];

fn git(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.iter();
    let mut subcommand = None;
    let mut unknown = false;
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else {
            unknown = true;
            break;
        };
        match text {
            "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--config-env" => {
                args.next();
            }
            "-c" => {
                // `-c alias.p=push` makes `p` another name for `push`.
                let setting = args.next().map_or("", |setting| setting.text.as_str());
                if let Some(alias) = setting.strip_prefix("alias.").and_then(|alias| alias.split_once('=')) {
                    let words = alias.1.trim_start_matches('!').split_whitespace();
                    words.filter(|word| *word != "git").take(4).for_each(|word| judge.git(word));
                }
            }
            _ if text.starts_with('-') => {}
            _ => {
                subcommand = Some(text);
                break;
            }
        }
    }
    if unknown {
        judge.git("?");
        return Judgement::unknown("the subcommand is only known when it runs");
    }
    let Some(subcommand) = subcommand else { return Judgement::unknown("") };
    judge.git(subcommand);
    let rest: Vec<&Arg> = args.collect();
    let first = rest.iter().find_map(|arg| arg.exact().filter(|text| !text.starts_with('-'))).unwrap_or("");
    // `git show HEAD:.env` reads a file out of a commit.
    if !matches!(subcommand, "commit" | "add" | "rm" | "tag" | "status") {
        for arg in &rest {
            let path = arg.text.rsplit(':').next().unwrap_or("");
            if secrets::is_secret_path(path) {
                judge.secret(path);
            }
        }
    }
    if subcommand == "config" {
        let key = first.to_ascii_lowercase();
        if RUNS.iter().any(|runs| key == *runs || key.starts_with(&format!("{runs}."))) && rest.len() > 1 {
            judge.persistence(format!("git config {first}"));
        }
    }
    let talks = match subcommand {
        "push" | "pull" | "fetch" | "clone" | "ls-remote" | "fetch-pack" | "send-pack" | "send-email" | "svn"
        | "p4" | "imap-send" | "lfs" | "request-pull" | "http-fetch" | "http-push" | "maintenance" => true,
        "remote" => matches!(first, "update" | "show" | "prune"),
        "submodule" => matches!(first, "update" | "add" | "sync"),
        "archive" => rest.iter().any(|arg| arg.text.starts_with("--remote")),
        _ => false,
    };
    if !talks {
        return Judgement::unknown("");
    }
    let host = rest.iter().find_map(|arg| super::network::host_in(&arg.text));
    if matches!(subcommand, "pull" | "fetch" | "clone" | "remote" | "submodule" | "lfs") {
        judge.untrusted(host.clone().unwrap_or_else(|| format!("git {subcommand}")));
    }
    if subcommand == "clone"
        && let Some(url) = rest.iter().find_map(|arg| arg.exact().filter(|text| text.contains(['/', ':'])))
    {
        judge.fetched_file(url.trim_end_matches('/').trim_end_matches(".git"));
    }
    judge.network("git", host);
    Judgement::network(format!("`git {subcommand}` talks to a remote"))
}

fn forge(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = super::paths::file_name(&call.program).to_owned();
    judge.network(&name, None);
    judge.untrusted(name);
    Judgement::network("")
}
