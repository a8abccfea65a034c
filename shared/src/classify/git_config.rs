//! Settings of git that make it start no program and reach no network when it only reads or records locally.
//!
//! A list of what is known to be harmless: a setting that is not here counts as one that runs something.

use std::collections::BTreeSet;

use super::Argv;

/// True for a value that only turns something on or off.
pub fn is_switch(value: &str) -> bool {
    value.parse::<bool>().is_ok() || value.parse::<u64>().is_ok() || matches!(value, "yes" | "no" | "on" | "off" | "")
}

/// True for a setting that no local subcommand obeys, or that only an answer of a person's does, and that names a program all the same:
/// one that git starts when it connects, signs in, or lets somebody write a text. Any other inert one names none.
pub fn names_program(key: &str) -> bool {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let name = rest.rsplit('.').next().unwrap_or("");
    match section {
        "alias" | "credential" | "sendemail" | "lfs" | "web" | "help" => true,
        "core" => matches!(name, "editor" | "sshcommand" | "askpass" | "gitproxy"),
        "remote" => matches!(name, "uploadpack" | "receivepack" | "vcs" | "proxy"),
        "rebase" => name == "instructionformat",
        _ => false,
    }
}

/// Whether a setting is inert. The key is `section.name` or `section.subsection.name`, section and name in lower case.
pub fn is_inert(key: &str, value: &str) -> bool {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let name = rest.rsplit('.').next().unwrap_or("");
    match section {
        // Names only what people see, or steers what no local subcommand does.
        "user" | "author" | "committer" | "color" | "column" | "advice" | "alias" | "push" | "pull" | "fetch"
        | "url" | "credential" | "http" | "https" | "safe" | "i18n" | "help" | "rerere" | "versionsort"
        | "sendemail" | "github" | "hub" | "web" | "apply" | "am" | "describe" | "checkout" | "switch" | "add"
        | "protocol" | "receive" | "transfer" | "lfs" | "worktree" | "oh-my-zsh" | "pack" | "index" | "feature" => true,
        "core" => {
            CORE.contains(&name)
                || name == "repositoryformatversion" && matches!(value, "0" | "1")
                || name == "fsmonitor" && is_false(value)
                || name == "pager" && is_plain_pager(value)
        }
        "branch" => {
            matches!(
                name,
                "remote" | "merge" | "rebase" | "pushremote" | "description" | "autosetupmerge" | "autosetuprebase"
            )
        }
        "status" => {
            matches!(
                name,
                "showuntrackedfiles" | "short" | "branch" | "relativepaths" | "renames" | "aheadbehind" | "showstash"
            )
        }
        "init" => name == "defaultbranch",
        // A line of a rebase's list may be an order.
        "rebase" => name != "instructionformat",
        "stash" => name == "showstat",
        // Others of them change what of merges, and under which names, is shown.
        "log" => !matches!(name, "showsignature" | "diffmerges" | "follow") || is_false(value),
        "commit" => matches!(name, "verbose" | "status" | "cleanup") || name == "gpgsign" && is_false(value),
        "tag" => name == "gpgsign" && is_false(value),
        "gpg" => rest == "format",
        "diff" => DIFF.contains(&rest),
        "merge" => {
            matches!(rest, "conflictstyle" | "ff" | "tool" | "log" | "renames" | "renamelimit" | "stat" | "guitool")
        }
        "remote" => matches!(
            name,
            "url"
                | "pushurl"
                | "fetch"
                | "push"
                | "tagopt"
                | "prune"
                | "mirror"
                | "skipfetchall"
                | "pushdefault"
                | "gh-resolved"
        ),
        "gc" => matches!(
            name,
            "auto" | "autodetach" | "autopacklimit" | "pruneexpire" | "reflogexpire" | "worktreepruneexpire"
        ),
        "maintenance" => matches!(name, "auto" | "strategy"),
        "extensions" => {
            matches!(name, "objectformat" | "worktreeconfig" | "noop") || name == "refstorage" && value == "files"
        }
        "pager" => is_false(value) || is_plain_pager(value),
        _ => false,
    }
}

/// True for a setting of a filter: it starts a program for those files alone whose attributes name it (gitattributes(5)). git-lfs sets
/// four of them for everybody who has it.
pub fn is_of_filter(key: &str) -> bool {
    key.starts_with("filter.") && [".clean", ".smudge", ".process", ".required"].iter().any(|end| key.ends_with(end))
}

const CORE: &[&str] = &[
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
    "eol",
    "safecrlf",
    "editor",
    "excludesfile",
    "quotepath",
    "whitespace",
    "abbrev",
    "untrackedcache",
    "preloadindex",
    "commentchar",
    "compression",
    "loosecompression",
    "longpaths",
    "protecthfs",
    "protectntfs",
    "sharedrepository",
    "trustctime",
    "checkstat",
    "sshcommand",
    "askpass",
    "gitproxy",
    "multipackindex",
    "commitgraph",
    "fscache",
];

const DIFF: &[&str] = &[
    "algorithm",
    "renames",
    "renamelimit",
    "colormoved",
    "colormovedws",
    "mnemonicprefix",
    "noprefix",
    "context",
    "interhunkcontext",
    "indentheuristic",
    "wordregex",
    "tool",
    "guitool",
    "suppressblankempty",
    "statgraphwidth",
    "statnamewidth",
    "autorefreshindex",
    "relative",
];

fn is_false(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0")
}

/// A pager that is found in `PATH` and runs nothing by itself.
fn is_plain_pager(value: &str) -> bool {
    value == "cat" || value.is_empty()
}

/// How settings of drivers end that start a program.
const RUN_BY_MERGES: &[&str] = &[".driver", ".command", ".textconv", ".tool", ".external"];

/// True for a setting that makes git send elsewhere than a remote's address says, or through a program: no address settles it.
pub fn leads_elsewhere(key: &str, value: &str) -> bool {
    const ENDS: &[&str] = &["insteadof", ".pushurl", ".proxy", ".receivepack", ".uploadpack", ".vcs"];
    const KEYS: &[&str] = &[
        "core.sshcommand",
        "core.gitproxy",
        "core.askpass",
        "core.hookspath",
        "core.worktree",
        "core.attributesfile",
        "core.editor",
        "sequence.editor",
        "ssh.variant",
    ];
    let lower = key.to_ascii_lowercase();
    // A helper that is one word lies with git's own programs, or in PATH.
    let is_helper = || lower.starts_with("credential.") && lower.ends_with(".helper");
    let is_word = || value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_address = lower.starts_with("remote.") && lower.rsplit('.').next() == Some("url");
    let is_local = || is_address && (!value.contains(':') || value.starts_with("file:"));
    // Each of them has a remote of its own.
    let recurses = || {
        matches!(lower.as_str(), "push.recursesubmodules" | "fetch.recursesubmodules" | "submodule.recurse")
            && !is_false(value)
            && value != "check"
            && !(lower == "fetch.recursesubmodules" && value == "on-demand")
    };
    KEYS.contains(&lower.as_str())
        || starts_on_the_way(&lower, value)
        || is_local()
        || recurses()
        || ENDS.iter().any(|end| lower.ends_with(end))
        // An order to the other side, as `-o` is; and a remote that an address in the text means.
        || lower == "push.pushoption"
        || lower.strip_prefix("remote.").is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(name, _)| name.contains(':')))
        // What merges, and what is asked for a rebase, is a program.
        || (lower.starts_with("merge.") || lower.starts_with("diff.")) && RUN_BY_MERGES.iter().any(|end| lower.ends_with(end))
        || (lower == "pull.rebase" || lower.starts_with("branch.") && lower.ends_with(".rebase"))
            && !is_false(value)
            && !matches!(value, "true" | "merges")
        || lower.starts_with("http.") && lower.contains("curlopt")
        || is_helper() && !is_word()
}

/// True for a setting by which fetching, pulling or pushing starts a program, trusts another certificate, adds to the request or sends
/// more than was named.
fn starts_on_the_way(key: &str, value: &str) -> bool {
    let is_off = || is_false(value);
    match key {
        // The last one is sent with each request.
        "core.alternaterefscommand"
        | "lfs.standalonetransferagent"
        | "pull.twohead"
        | "pull.octopus"
        | "http.useragent"
        // Orders in the list of a rebase, and what is fetched besides.
        | "rebase.instructionformat"
        | "fetch.bundleuri"
        | "fetch.bundlecreationtoken" => true,
        "core.fsmonitor" | "push.gpgsign" | "rebase.autostash" | "merge.autostash" => !is_off(),
        _ if key.starts_with("credential.") && key.ends_with("username") => true,
        // Files of names that are shown where they are none.
        _ if key.contains("fsck.") => true,
        _ if key.starts_with("gpg.") && key.ends_with("program")
            || key.starts_with("gpg.") && key.ends_with("command") =>
        {
            true
        }
        _ if key.starts_with("filter.") || key.starts_with("lfs.customtransfer.") => true,
        _ if key.starts_with("submodule.") => key.rsplit('.').next() == Some("update") && value.starts_with('!'),
        _ if key.starts_with("http.") && key.ends_with("sslverify") => is_off(),
        _ if key.starts_with("http.") => {
            ["sslcainfo", "sslcapath", "sslcert", "sslkey", "extraheader", "cookiefile", "useragent"]
                .iter()
                .any(|end| key.ends_with(end))
        }
        _ if key.starts_with("remote.") => match key.rsplit('.').next() {
            Some("push") => true,
            Some("mirror") => !is_off(),
            _ => false,
        },
        _ => false,
    }
}

/// True for a setting that says where git sends.
pub fn says_where(key: &str, value: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let named = ["remote.", "url.", "branch.", "include"].iter().any(|start| lower.starts_with(start))
        && [".url", ".path", ".remote", ".pushremote", ".pushdefault", ".merge"].iter().any(|end| lower.ends_with(end));
    named
        || leads_elsewhere(key, value)
        || lower.ends_with("recursesubmodules")
        || lower == "submodule.recurse"
        || lower == "push.default"
}

/// The words of a command that may name a remote: as they stand in the text, and as bash takes them.
pub fn words_of(command: &str, calls: &[Argv]) -> BTreeSet<String> {
    const MOST: usize = 2000;
    let divides = |c: char| c.is_whitespace() || "'\"`$(){}|&;<>=".contains(c);
    let in_calls = calls.iter().flatten().flatten().map(String::as_str);
    in_calls.chain(command.split(divides)).filter(|word| !word.is_empty()).take(MOST).map(str::to_owned).collect()
}

/// How far in front a setting stands where people look, the first ones first: what puts another address in a remote's place, then
/// what is used.
pub fn rank(key: &str, value: &str, used: &BTreeSet<String>) -> (bool, bool) {
    (!leads_elsewhere(key, value), !is_of_remote(key, used))
}

/// True for a setting of one of these remotes, of a branch that is called like one of them, or of the remote for all pushes.
pub fn is_of_remote(key: &str, names: &BTreeSet<String>) -> bool {
    let name = |section: &str| key.strip_prefix(section)?.rsplit_once('.').map(|(name, _)| name.to_owned());
    name("remote.").or_else(|| name("branch.")).is_some_and(|name| names.contains(&name))
        || key.eq_ignore_ascii_case("remote.pushdefault")
}

/// True for a setting of this branch that names a remote.
pub fn is_of_branch(key: &str, branch: &str) -> bool {
    let Some((name, last)) = key.strip_prefix("branch.").and_then(|rest| rest.rsplit_once('.')) else { return false };
    name == branch && ["remote", "pushremote"].contains(&last.to_ascii_lowercase().as_str())
}

/// True for a log of git's in which no address has a password, a value behind a question mark, or whatever else may stand in front of
/// its host.
pub fn is_plain_log(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.split("://").skip(1).all(|rest| {
        let address = rest.split(char::is_whitespace).next().unwrap_or("");
        if address.split_once('?').is_some_and(|(_, query)| query.contains('=')) {
            return false;
        }
        let authority = rest.split(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or("");
        authority.rsplit_once('@').is_none_or(|(user, _)| user == "git")
    })
}

/// Whether showing a setting shows a secret: a credential in a URL, a header with a token, a password in a command.
pub fn is_secret(key: &str, value: &str) -> bool {
    const NAMES: &[&str] =
        &["password", "passwd", "smtppass", "token", "secret", "oauth", "cookie", "extraheader", "apikey", "api_key"];
    let lower = key.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or("");
    let named = NAMES.iter().any(|part| lower.contains(part))
        || ["pat", "pw", "pass", "auth", "sas", "key"].contains(&last)
        || crate::classify::secrets::is_secret_variable(last);
    let words = value.to_ascii_lowercase();
    // Names of helpers and files are no secrets, a command may hold one.
    let told = words.contains(['=', ' ', ':'])
        && NAMES.iter().chain(&["authorization", "bearer", "api_key", "apikey"]).any(|part| words.contains(part));
    let url = |text: &str| {
        text.split_once("://").is_some_and(|(_, rest)| {
            let authority = rest.split('/').next().unwrap_or("");
            // Who it is for says no secret; a token may stand in its place.
            authority.rsplit_once('@').is_some_and(|(user, _)| {
                user.contains(':') || text.contains("http") && !matches!(user, "git" | "oauth2" | "") || user.len() > 20
            })
        })
    };
    // `sshpass -pX`, `curl -u me:X`, `-H "X-Key: …"` in a command.
    let told = told
        || value.split_whitespace().any(|word| {
            let word = word.trim_start_matches(['\'', '"']);
            word.starts_with("-u")
                || word.starts_with("-H")
                || word.starts_with("-p") && word.len() > 2 && value.contains("pass")
        }) && value.contains(' ');
    // What a filter encrypts with.
    let is_filter = lower.starts_with("filter.");
    let keyed = is_filter
        && value.split_whitespace().any(|word| {
            let word = word.trim_start_matches(['\'', '"']);
            word == "-k"
                || word.starts_with("-pass")
                || word.starts_with("pass:")
                || word.starts_with("--pass")
                || word.starts_with("--key")
        });
    // `user:password@proxy:3128`, `https:/u:p@h`; not `git@host:path`.
    let bare = value.split_whitespace().any(|word| {
        word.split_once('@')
            .is_some_and(|(user, _)| user.rsplit(['/', '=']).next().is_some_and(|user| user.contains(':')))
    });
    let says = ["sshpass", "--user", "pwd=", "auth=", "sig=", "key="].iter().any(|part| words.contains(part))
        || ["pwd", "creds"].contains(&last)
        || lower == "credential.username" && value.len() > 20;
    named || told || keyed || bare || says || url(value) || url(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_run_programs_are_not_inert() {
        for (key, value) in [
            ("core.fsmonitor", "./x"),
            ("core.fsmonitor", "true"),
            ("core.hookspath", ".husky"),
            ("core.pager", "delta"),
            ("core.worktree", "/x"),
            ("core.attributesfile", "x"),
            ("core.alternaterefscommand", "x"),
            ("pager.log", "sh -c x"),
            ("diff.external", "x"),
            ("diff.foo.textconv", "x"),
            ("diff.foo.command", "x"),
            ("diff.foo.algorithm", "x"),
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("gpg.program", "x"),
            ("gpg.ssh.program", "x"),
            ("log.showsignature", "true"),
            ("log.follow", "true"),
            ("log.diffmerges", "separate"),
            ("commit.gpgsign", "true"),
            ("include.path", "x"),
            ("includeif.gitdir:x.path", "x"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
            ("remote.origin.uploadpack", "x"),
            ("extensions.partialclone", "origin"),
            ("extensions.refstorage", "reftable"),
            ("gc.recentobjectshook", "x"),
            ("trace2.eventtarget", "/x"),
            ("trailer.x.command", "x"),
            ("merge.x.driver", "x"),
            ("submodule.x.update", "!x"),
            ("init.templatedir", "x"),
            ("hook.x.command", "x"),
            ("unheard.of", "x"),
            ("core.fsmonitor", "off "),
            ("status.submodulesummary", "true"),
            ("format.pretty", "%G?"),
            ("branch.sort", "signature"),
            ("tag.sort", "signature"),
            ("grep.fallbacktonoindex", "true"),
        ] {
            assert!(!is_inert(key, value), "{key} = {value}");
        }
        for (key, value) in [
            ("user.name", "A B"),
            ("core.bare", "false"),
            ("core.fsmonitor", "false"),
            ("remote.origin.url", "https://h/x"),
            ("branch.main.merge", "refs/heads/main"),
            ("alias.st", "!sh"),
            ("pull.rebase", "true"),
            ("diff.algorithm", "histogram"),
            ("credential.helper", "store"),
            ("pager.branch", "false"),
        ] {
            assert!(is_inert(key, value), "{key} = {value}");
        }
    }

    #[test]
    fn credentials_in_settings_are_secrets() {
        for (key, value, want) in [
            ("remote.origin.url", "https://user:hunter2@h/x", true),
            ("remote.origin.url", "https://ghp_0123456789abcdefghij@h/x", true),
            ("remote.origin.url", "https://h/x", false),
            ("remote.origin.url", "ssh://git@h/x", false),
            ("http.https://h/.extraheader", "AUTHORIZATION: basic x", true),
            ("user.name", "x", false),
        ] {
            assert_eq!(is_secret(key, value), want, "{key} = {value}");
        }
    }
}
