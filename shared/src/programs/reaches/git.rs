//! git, by its manual (git 2.47): what it fetches, and to where it pushes.

use super::{Brings, FETCH_BYTES, PUSH_BYTES, Place, Reaches, Sorted, Target, is_host, is_plain, of_https};
use crate::classify::{Condition, GitWork, Shown};
use crate::programs::SSH;

/// Options of `fetch` that neither start a program nor send anything of ours but names and numbers.
const FETCH: &str = "-a --all --atomic --append --depth= --deepen= --shallow-since= --shallow-exclude= --unshallow \
    --update-shallow --dry-run --no-write-fetch-head -f --force -k --keep --multiple --no-auto-maintenance --no-auto-gc \
    --auto-maintenance -p --prune -P --prune-tags -n --no-tags --refetch -t --tags --no-recurse-submodules -j= --jobs= \
    --set-upstream -q --quiet -v --verbose --progress --no-progress -4 -6 --ipv4 --ipv6 --filter= --no-show-forced-updates";
/// The same of `pull`, with what it does then with what it has.
const PULL: &str = "-a --all --append --depth= --deepen= --shallow-since= --unshallow --update-shallow --dry-run -f --force -k \
    --keep -p --prune --no-tags -t --tags --no-recurse-submodules -j= --jobs= --set-upstream -q --quiet -v --verbose \
    --progress --no-progress -4 -6 --ipv4 --ipv6 --ff-only --ff --no-ff -r --rebase? --no-rebase --no-edit \
    --no-autostash -X= --strategy-option= --stat --no-stat -n --commit --no-commit --no-verify --no-log --no-signoff --no-squash";
const CLONE: &str = "--depth= -b= --branch= --single-branch --no-single-branch --no-tags --shallow-since= --shallow-exclude= \
    -n --no-checkout --bare --mirror --sparse --filter= -q --quiet -v --verbose --progress --no-hardlinks -o= --origin= \
    -l --local --no-local -j= --jobs= -4 -6 --ipv4 --ipv6 --no-shallow-submodules --revision=";
const LS_REMOTE: &str =
    "-b --branches --heads -h -t --tags --refs -q --quiet --exit-code --symref --sort= -4 -6 --ipv4 --ipv6";
const PUSH: &str = "--all --branches --tags --follow-tags -n --dry-run -u --set-upstream --atomic --no-atomic -q --quiet -v \
    --verbose --progress --no-progress --porcelain --no-verify --verify -4 -6 --ipv4 --ipv6 --no-recurse-submodules \
    --no-signed --thin --no-thin -f --force --force-with-lease? --no-force-with-lease --force-if-includes -d --delete \
    --prune --mirror";
/// A push that throws away what others have there.
const OVER: &str = "push over what is there";
/// By which options it does.
const PUSH_OVER: &[&str] = &["-f", "--force", "--force-with-lease", "-d", "--delete", "--prune", "--mirror"];

/// What a call of git reaches, where all that it does is understood. The words stand behind its subcommand, the folders are those in
/// which it starts; both are needed, since what git does there is up to the folder.
pub(in crate::programs) fn of(subcommand: &str, words: &[&str], folders: &[String]) -> Option<Reaches> {
    let (known, writes) = match subcommand {
        "fetch" => (FETCH, None),
        "pull" => (PULL, None),
        "clone" => (CLONE, None),
        "ls-remote" => (LS_REMOTE, None),
        "push" => (PUSH, Some("push")),
        "remote" => return of_remote(words, folders),
        _ => return None,
    };
    let sorted = Sorted::of(words, known)?;
    // One that asks in an editor.
    if sorted.value(&["--rebase"]).is_some_and(|how| !matches!(how, "true" | "false" | "merges")) {
        return None;
    }
    let mut sent = sorted.operands.iter().copied().chain(sorted.values());
    // What stands behind `%` in a name is a word to some forges.
    if !sent.all(|word| is_plain(word) && !word.contains(['\n', ' ']) && !(writes.is_some() && word.contains('%'))) {
        return None;
    }
    let places: Vec<Place> = match (subcommand, sorted.operands.first()) {
        // The folder that it makes may be named, and is no address.
        ("clone", Some(address))
            if sorted.operands.len() <= 2
                && is_new_folder(folder_of(address))
                && sorted.operands.iter().skip(1).all(|to| is_new_folder(to)) =>
        {
            vec![address_of(address)?]
        }
        ("clone", _) => return None,
        (_, Some(_)) if sorted.has(&["--multiple"]) => {
            let all = sorted.operands.iter().map(|name| remote_of(name, folders));
            all.collect::<Option<Vec<_>>>()?.concat()
        }
        // Anybody's, over what is there; and what acts later came from its own repository, for whoever looks at it.
        ("pull", Some(remote)) if !is_name(remote) => return None,
        // Into a branch of ours, or a remote's.
        ("fetch", Some(remote))
            if !is_name(remote) && sorted.operands.iter().skip(1).any(|spec| spec.contains(':')) =>
        {
            return None;
        }
        (_, Some(remote)) => remote_of(remote, folders)?,
        (_, None) => by_name(if sorted.has(&["--all"]) { "*" } else { "" }, folders),
    };
    let mut reaches = Reaches::reads(places, FETCH_BYTES).when(inert(folders)).bringing(match subcommand {
        "pull" => Brings::ByGit,
        "clone" => Brings::Anywhere,
        // Whoever goes on with that works with anybody's.
        "fetch" if sorted.operands.first().is_some_and(|remote| !is_name(remote)) => Brings::Anywhere,
        _ => Brings::Nothing,
    });
    if subcommand == "clone" {
        let made = sorted.operands.get(1).copied().or(sorted.operands.first().map(|address| folder_of(address)));
        reaches = reaches.making(made.unwrap_or_default(), folders);
    }
    if let Some(kind) = writes {
        // A branch in front of which stands `+` or nothing: as one of the options.
        let over = sorted.has(PUSH_OVER)
            || sorted.operands.iter().skip(1).any(|spec| spec.starts_with('+') || spec.starts_with(':'));
        // Who lets others' work be thrown away lets more be added, too.
        reaches.writes.extend([kind.to_owned()].into_iter().chain(over.then(|| OVER.to_owned())));
        reaches.up_bytes = PUSH_BYTES;
        let target =
            |(folder, remote): (&String, &String)| Target::Remote { folder: folder.clone(), remote: remote.clone() };
        reaches.targets = match sorted.operands.first() {
            Some(address) if !is_name(address) => [Target::Named(repository_of(address)?)].into(),
            _ => reaches.remotes().map(target).collect(),
        };
    }
    Some(reaches)
}

/// True for a folder that a clone may make: none that programs look into by themselves.
pub(super) fn is_new_folder(path: &str) -> bool {
    let is_outside = path.starts_with('/') && !path.starts_with("/tmp/") && !path.starts_with("/var/tmp/");
    !is_outside
        && !path.starts_with(['~', '-'])
        && path.split('/').all(|part| part != ".." && (part == "." || !part.starts_with('.')))
}

/// What git calls the folder that it makes for an address.
pub(super) fn folder_of(address: &str) -> &str {
    let path = address.trim_end_matches('/').trim_end_matches("/.git");
    let last = path.rsplit(['/', ':']).next().unwrap_or(path);
    last.trim_end_matches(".git")
}

/// `git remote` where it asks the remotes.
fn of_remote(words: &[&str], folders: &[String]) -> Option<Reaches> {
    let places = match words {
        ["update", rest @ ..] => {
            let sorted = Sorted::of(rest, "-p --prune -v --verbose")?;
            let named = sorted.operands.iter().map(|name| is_name(name).then(|| by_name(name, folders)));
            let named = named.collect::<Option<Vec<_>>>()?.concat();
            if named.is_empty() { by_name("*", folders) } else { named }
        }
        ["show" | "prune", name] | ["prune", "-n" | "--dry-run", name] | ["prune", name, "-n" | "--dry-run"]
            if is_name(name) =>
        {
            by_name(name, folders)
        }
        _ => return None,
    };
    Some(Reaches::reads(places, FETCH_BYTES).when(inert(folders)))
}

/// Nothing but git itself runs there, whatever it fetches.
pub(super) fn inert(folders: &[String]) -> impl Iterator<Item = Condition> {
    let of = |folder: &String| Condition::GitIsInert {
        folder: folder.clone(),
        shows: Shown::Nothing,
        work: GitWork::Fetches,
    };
    folders.iter().map(of)
}

/// What git does with branches and the working tree, by which nothing but itself runs where it is inert. Nothing that asks in an editor, goes
/// on with what was begun, is told how to merge, or goes by the names of files in other ones.
const BESIDE: &[(&str, &str)] = &[
    (
        "merge",
        "--ff-only --ff --no-ff --no-edit --commit --no-commit --squash --no-squash --stat --no-stat -n -q --quiet -v --verbose \
            --no-autostash --abort -m= --allow-unrelated-histories",
    ),
    (
        "rebase",
        "--onto= --no-autostash -q --quiet -v --verbose --stat --no-stat -n --abort -f --force-rebase --fork-point \
            --no-fork-point",
    ),
    (
        "branch",
        "-d -D -m -M -f --delete --force -q --quiet -u= --set-upstream-to= --unset-upstream -t --track --no-track",
    ),
    (
        "checkout",
        "-b= -B= --orphan= -t --track --no-track --detach -f --force -q --quiet --guess --no-guess --no-recurse-submodules",
    ),
    (
        "switch",
        "-c= -C= --create= --force-create= --orphan= -t --track --no-track -d --detach -f --force --discard-changes -q --quiet \
            --guess --no-guess --no-recurse-submodules",
    ),
    ("reset", "--hard --soft --mixed --keep -q --quiet --no-recurse-submodules"),
    ("stash", "-q --quiet -u --include-untracked --index -m= --message="),
];
/// Those of them that look into repositories which lie in the folder, where a commit has made one of them its own.
const LOOKS_INTO: &[&str] = &["checkout", "switch", "reset", "stash"];

/// The same as nothing that is reached, for what git does beside it.
pub(in crate::programs) fn beside(subcommand: &str, words: &[&str], folders: &[String]) -> Option<Reaches> {
    let (_, known) = BESIDE.iter().find(|(name, _)| *name == subcommand)?;
    let sorted = Sorted::of(words, known)?;
    // Which branch it is, or what that one follows, is sent by what asks for it behind.
    let names = matches!(subcommand, "checkout" | "switch" | "branch").then(|| sorted.values());
    if !sorted.operands.iter().copied().chain(names.into_iter().flatten()).all(is_plain) {
        return None;
    }
    let mut beside = Reaches::reads([], 0).when(inert(folders));
    if LOOKS_INTO.contains(&subcommand) {
        beside.with_no_repository_below();
    }
    Some(if subcommand == "branch" { beside } else { beside.bringing(Brings::ByGit) })
}

fn by_name(name: &str, folders: &[String]) -> Vec<Place> {
    folders.iter().map(|folder| Place::Remote { folder: folder.clone(), remote: name.to_owned() }).collect()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
        && !text.starts_with('.')
}

/// A remote by its name, or an address in its place.
fn remote_of(text: &str, folders: &[String]) -> Option<Vec<Place>> {
    if is_name(text) { Some(by_name(text, folders)) } else { address_of(text).map(|place| vec![place]) }
}

/// The host of a repository's address, as git reads it: `https://`, `ssh://`, or a machine and a path with a colon between them. No
/// folder of this machine, and no helper of git's (`ext::`).
pub fn address_of(text: &str) -> Option<Place> {
    if text.contains("::") {
        return None;
    }
    if text.starts_with("https://") {
        // Behind these stands something for whoever answers, and no repository.
        return of_https(text).filter(|_| !text.contains(['?', '#', '%', '&', ';']));
    }
    let is_user =
        |user: &str| !user.starts_with('-') && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if let Some(rest) = text.strip_prefix("ssh://") {
        let authority = rest.split('/').next()?;
        let (user, machine) = authority.rsplit_once('@').unwrap_or(("git", authority));
        let (host, port) = match machine.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0)?),
            None => (machine, SSH),
        };
        return (is_user(user) && is_host(host)).then(|| Place::Host { host: host.to_ascii_lowercase(), port });
    }
    if text.contains("://") {
        return None;
    }
    let (machine, path) = text.split_once(':')?;
    let (user, host) = machine.rsplit_once('@').unwrap_or(("git", machine));
    // With a slash in front of the colon it is a folder.
    (!machine.contains('/') && !path.starts_with('-') && is_user(user) && is_host(host))
        .then(|| Place::Host { host: host.to_ascii_lowercase(), port: SSH })
}

/// The name of the repository at an address: the address without what says nothing of it, `host/owner/name`, `host:owner/name`. Whoever
/// signs in by another name may mean another one, and so does a path that begins at the root.
pub fn repository_of(text: &str) -> Option<String> {
    address_of(text)?;
    let (scheme, rest) = match text.split_once("://") {
        Some(("https", rest)) => ("", rest),
        Some((scheme, rest)) => (scheme, rest),
        None => ("", text),
    };
    let rest = rest.strip_prefix("git@").unwrap_or(rest);
    let end = rest.find(['/', ':'])?;
    let (machine, path) = rest.split_at_checked(end)?;
    let is_part = |part: &str| {
        !part.starts_with('.') && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~:-".contains(&byte))
    };
    let has_name = path.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let between = if scheme.is_empty() { "" } else { "://" };
    (has_name && path.split('/').all(is_part))
        .then(|| format!("{scheme}{between}{}{path}", machine.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> Option<Reaches> {
        let words: Vec<&str> = text.split(' ').collect();
        let (subcommand, rest) = words.split_first().unwrap();
        of(subcommand, rest, &[".".to_owned()])
    }

    #[test]
    fn fetching_reads_pushing_writes_and_what_starts_something_is_neither() {
        for text in [
            "fetch",
            "fetch origin",
            "fetch origin main",
            "fetch --all --prune",
            "fetch -q --depth=1 origin a:b",
            "pull",
            "pull --rebase origin main",
            "pull --ff-only",
            "ls-remote --heads origin",
            "clone https://h.example/o/r.git",
            "clone --depth 1 -b main git@h.example:o/r.git dir",
            "remote update",
            "remote show origin",
            "fetch -pt",
            "pull --no-edit -X theirs origin main",
            "fetch https://h.example/x main",
        ] {
            let found = of_text(text).unwrap_or_else(|| panic!("{text}"));
            assert!(found.only_reads() && !found.places.is_empty(), "{text}");
        }
        for text in ["push", "push -u origin HEAD", "push origin main --tags"] {
            assert_eq!(of_text(text).unwrap().writes, ["push".to_owned()].into(), "{text}");
        }
        for text in [
            "push -f",
            "push origin +main",
            "push origin :main",
            "push --force-with-lease origin x",
            "push -d origin x",
        ] {
            assert_eq!(of_text(text).unwrap().writes, ["push".to_owned(), OVER.to_owned()].into(), "{text}");
        }
        for text in [
            "fetch --upload-pack=x origin",
            "fetch --recurse-submodules",
            "fetch -o x origin",
            "fetch ext::sh",
            "fetch ../other",
            "fetch /srv/x",
            "fetch file:///srv/x",
            "fetch http://h.example/x",
            "fetch --stdin",
            "clone",
            "clone --recurse-submodules https://h.example/x",
            "clone -c core.sshCommand=x https://h.example/x",
            "clone --template=x https://h.example/x",
            "clone https://h.example/x ~/.config/nvim",
            "clone https://h.example/x .vim",
            "clone https://h.example/.cargo.git",
            "clone https://h.example/.claude/",
            "pull --autostash",
            "clone https://h.example/x ../y",
            "clone https://h.example/x a b",
            "clone -u x https://h.example/x",
            "clone https://u:p@h.example/x",
            "clone -ssh@h.example:x",
            "clone ssh://-oProxyCommand=x/y",
            "pull -s x",
            "pull --rebase=interactive",
            "pull --strategy=x",
            "pull --edit",
            "pull -S",
            "push --receive-pack=x origin",
            "push --exec=x origin",
            "push -o ci.skip",
            "push --repo=x",
            "ls-remote --upload-pack=x origin",
            "remote add -f x https://h.example/x",
            "remote set-head origin -a",
            "submodule update",
            "lfs fetch",
            "fetch --no-such",
            "fetch origin aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_push_writes_to_what_is_at_its_remote() {
        let targets = |text: &str| of_text(text).map(|found| found.targets.into_iter().collect::<Vec<_>>());
        let remote = |name: &str| Target::Remote { folder: ".".to_owned(), remote: name.to_owned() };
        assert_eq!(targets("push"), Some(vec![remote("")]));
        assert_eq!(targets("push -u fork HEAD"), Some(vec![remote("fork")]));
        let named = |name: &str| Some(vec![Target::Named(name.to_owned())]);
        assert_eq!(targets("push git@h.example:o/r.git main"), named("h.example:o/r.git"));
        assert_eq!(targets("push https://h.example/o/r main"), named("h.example/o/r"));
        assert_eq!(targets("push https://h.example/o/r HEAD:refs/for/main%submit"), None);
        for text in ["push https://h.example main", "push https://h.example/o/../r main", "push git@h.example:~/r x"] {
            assert!(targets(text).is_none_or(|found| found != [Target::Named("h.example/r".to_owned())]), "{text}");
        }
    }

    #[test]
    fn what_goes_on_beside_starts_nothing() {
        let of = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            let (subcommand, rest) = words.split_first().unwrap();
            beside(subcommand, rest, &[".".to_owned()])
        };
        for text in ["merge origin/main", "rebase origin/main", "branch -d x"] {
            assert!(of(text).is_some_and(|found| found.places.is_empty()), "{text}");
        }
        for text in [
            "checkout x",
            "checkout -b x origin/y",
            "switch -c x",
            "reset --hard origin/x",
            "stash",
            "stash pop",
            "checkout -- a.c",
        ] {
            let looks = |one: &Condition| matches!(one, Condition::GitIsInert { work: GitWork::ChecksOut, .. });
            assert!(of(text).is_some_and(|found| found.conditions.iter().all(looks)), "{text}");
        }
        for text in [
            "rebase -i x",
            "rebase -x make x",
            "rebase --continue",
            "merge -s ours x",
            "merge -e x",
            "merge -S x",
            "stash -p",
            "stash -a",
            "checkout --pathspec-from-file=x",
            "checkout -t origin/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
            "checkout -b aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw x",
            "branch -u origin/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
            "switch -m x",
            "reset --hard --recurse-submodules x",
            "merge --autostash x",
            "rebase --autostash x",
            "checkout -p",
            "difftool",
            "bisect run x",
            "submodule foreach x",
            "commit",
            "rebase -ix y",
            "checkout --recurse-submodules x",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn repositories_are_called_by_host_and_path() {
        for (text, name) in [
            ("git@H.example:Own/r.git", "h.example:Own/r.git"),
            ("https://h.example/o/r", "h.example/o/r"),
            ("ssh://git@h.example:22/o/r.git", "ssh://h.example:22/o/r.git"),
            ("h.example:/srv/r", "h.example:/srv/r"),
            ("alice@h.example:r", "alice@h.example:r"),
        ] {
            assert_eq!(repository_of(text).as_deref(), Some(name), "{text}");
        }
        for text in
            ["https://h.example", "https://h.example/", "h.example:", "h.example:a/../b", "https://h.example/o/r?x"]
        {
            assert_eq!(repository_of(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_are_read_as_git_reads_them() {
        let of = |host: &str, port| Some(Place::Host { host: host.to_owned(), port });
        assert_eq!(address_of("https://h.example/o/r.git"), of("h.example", 443));
        assert_eq!(address_of("git@H.example:o/r"), of("h.example", 22));
        assert_eq!(address_of("ssh://git@h.example:2222/o/r"), of("h.example", 2222));
        for text in
            ["./a:b", "a/b:c", "h:x", "git://h.example/x", "C:\\x", "::", "h.example:-x", "ssh://h.example:x/", "x"]
        {
            assert_eq!(address_of(text), None, "{text}");
        }
    }
}
