//! Git. As a class it is Unknown even where it only reads, because its configuration may name programs to run; the
//! subcommands that talk to a remote are Network. What stays local under a condition is in [`mod@local`].

mod behind;
mod editor;
mod hooks;
mod leaves;
mod local;
mod reading;
mod shown;

pub use editor::opens_editor;
pub use hooks::{GIT_HOOKS_OF_WORK, git_hooks, is_git_hook, starts_hook};
pub(super) use leaves::writes_by_number;
pub use leaves::{Leaves, Untracked, leaves, may_leave_files, moves, takes_only_paths};
pub(super) use local::EXAMPLES;

use super::row::{By, SignsIn};
use super::{Judge, Judgement, Kind, Program, Reach, Rule, Runs, Talks, Trait, reaches, row};
use crate::classify::call::{Arg, Call, Known};
use crate::classify::{Condition, GitShown, GitWork, Shown, git_config, paths, secrets};

pub(super) const TABLE: &[Program] = &[
    Program::new(&["git"], "runs programs that its configuration names", Kind::Mixed, Rule::Custom(git))
        .runs(Runs::Named)
        .subcommands(local::SUBCOMMANDS)
        .configured_by(crate::programs::network::SSH_FILES)
        // Where its output is a terminal.
        .starts(&["less", "pager"])
        .tells(&["credential fill", "credential-store get", "credential-cache get"])
        .signs_in(&[
            SignsIn {
                by: By::Ssh,
                files: &["~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa", "~/.ssh/known_hosts"],
                variables: &[],
            },
            // What `credential.helper = store` reads.
            SignsIn { by: By::Web, files: &["~/.git-credentials"], variables: &[] },
        ])
        .here(HERE)
        .plants(&["maintenance start", "maintenance register", "hook run"])
        .steers(&[
            "lfs install",
            "remote add",
            "remote set-url",
            "config --edit",
            "config --rename-section",
            "config -e",
        ])
        .talks(Talks::Behind(&[
            "commit",
            "tag",
            "log",
            "grep",
            "notes",
            "status",
            "diff",
            "show",
            "merge",
            "stash",
            "revert",
            "cherry-pick",
            "rebase",
            "am",
        ]))
        .belongings(&["/usr/lib/git-core", "/usr/share/git-core"])
        .traits(&[Trait::Steady, Trait::HasSubcommands, Trait::NamesOnly])
        .not_safe(&[
            "git status",
            "git push origin main",
            "git -C x pull",
            "git clone https://h/x",
            "git commit -m 'fix curl call'",
            "git",
        ]),
    Program::new(&["gh"], "talks to a forge", Kind::Network, Rule::Custom(forge))
        .configured_by(&["~/.config/gh/config.yml", "~/.config/gh/hosts.yml", ".git/config", ".git/HEAD"])
        .tells(&["auth token", "auth status -t", "auth status --show-token"])
        .signs_in(&[SignsIn {
            by: By::Any,
            files: &["~/.config/gh/hosts.yml"],
            // Those for a forge of one's own go to whichever host a call names.
            variables: &["GH_TOKEN", "GITHUB_TOKEN"],
        }])
        .steers(&["alias set", "config set", "extension install"])
        .runs(Runs::Named)
        .talks(Talks::Always)
        .traits(&[Trait::Steady, Trait::SendsByGit])
        .not_safe(&["gh pr list", "gh api user"]),
    Program::new(&["glab", "hub"], "talks to a forge", Kind::Network, Rule::Custom(forge))
        .configured_by(&["~/.config/glab-cli/config.yml", "~/.config/hub", ".git/config", ".git/HEAD"])
        .tells(&["auth status -t", "auth status --show-token", "auth token", "config get token"])
        .runs(Runs::Named)
        .traits(&[Trait::SendsByGit])
        .not_safe(&["glab mr list"]),
];

/// Its own subcommands that work on what is here, hooks and settings of the repository included. What is none of git's own may be an
/// alias, or any program.
const HERE: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "bisect start",
    "bisect good",
    "bisect bad",
    "bisect reset",
    "bisect skip",
    "bisect log",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fast-export",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote -v",
    "remote",
    "remote show -n",
    "remote get-url",
    "remote rename",
    "remote remove",
    "replace",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule status",
    "submodule foreach",
    "submodule init",
    "submodule summary",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-objects",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "lfs ls-files",
    "lfs status",
    "lfs track",
    "bisect run",
    "filter-branch",
    "archive",
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

/// Settings of sections with programs in them that name none.
const HARMLESS: &[&str] = &[
    "merge.conflictstyle",
    "merge.ff",
    "merge.log",
    "merge.stat",
    "merge.renames",
    "merge.renamelimit",
    "submodule.recurse",
];

fn git(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.iter();
    let mut subcommand = None;
    let mut unknown = false;
    let mut is_led_elsewhere = false;
    // A setting for one call by which a connection starts something.
    let mut is_told_how = false;
    // What stands before the subcommand is read: folders to go to, and nothing that steers.
    let mut folders = judge.folders();
    // Where it goes by `-C` alone, whatever else it is told; `None` for another repository than that of the folder.
    let mut places = folders.clone();
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else {
            unknown = true;
            break;
        };
        match text {
            "-C" => {
                let to = args.next().and_then(Arg::exact);
                let there = |folders: Option<Vec<String>>, to: Option<&str>| -> Option<Vec<String>> {
                    folders
                        .zip(to)
                        .map(|(folders, to)| folders.iter().map(|folder| paths::resolve(Some(folder), to)).collect())
                };
                places = there(places, to);
                // Where `..` leads behind a link, the text cannot tell.
                folders = there(folders, to.filter(|to| !to.split('/').any(|part| part == "..")));
            }
            "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--config-env" => {
                folders = None;
                is_led_elsewhere |= text == "--config-env";
                if !matches!(text, "--namespace" | "--super-prefix") {
                    places = None;
                }
                args.next();
            }
            "-c" => {
                // `-c alias.p=push` makes `p` another name for `push`. What goes on in an unknown way may be any setting, and more.
                let Some(setting) = args.next().and_then(Arg::exact) else {
                    judge.untrusted("git");
                    is_led_elsewhere = true;
                    folders = None;
                    continue;
                };
                let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
                if let Some(alias) = setting.strip_prefix("alias.").and_then(|alias| alias.split_once('=')) {
                    let words = alias.1.trim_start_matches('!').split_whitespace();
                    words.filter(|word| *word != "git").take(4).for_each(|word| judge.git(word));
                }
                // The address that the text says is then not the one that is asked.
                if ["url.", "http.", "https.", "remote.", "core.sshcommand", "core.gitproxy"]
                    .iter()
                    .any(|start| key.to_ascii_lowercase().starts_with(start))
                {
                    judge.untrusted("git");
                    is_led_elsewhere = true;
                }
                let lower = key.to_ascii_lowercase();
                is_told_how |= !is_of_people(&lower);
                // What is given for one call may throw away what is kept, show an ignored file's lines, or lend files to others.
                let does_more = ["gc.", "maintenance.", "core.excludesfile", "core.sharedrepository"]
                    .iter()
                    .any(|start| lower.starts_with(start));
                if does_more || key.starts_with("alias") || !git_config::is_inert(&lower, value) {
                    is_led_elsewhere = true;
                    folders = None;
                }
            }
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            "--version" | "-v" => {
                subcommand = Some("version");
                break;
            }
            _ if text.starts_with('-') => {
                is_led_elsewhere |= text.starts_with("--config-env") || text.starts_with("--exec-path");
                folders = None;
                if text.starts_with("--git-dir") || text.starts_with("--work-tree") || text.starts_with("--config-env")
                {
                    places = None;
                }
            }
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
    let rest = args.as_slice();
    let first = rest.iter().find_map(|arg| arg.exact().filter(|text| !text.starts_with('-'))).unwrap_or("");
    // `git show HEAD:.env` reads a file out of a commit.
    let only_names =
        ["commit", "rm", "tag", "status", "check-ignore", "ls-files", "restore", "reset", "mv", "log", "checkout"];
    let is_patch = |arg: &Arg| {
        ["-p", "-u", "-U", "-L", "-c", "--patch", "--unified", "--binary", "--cc", "--word-diff"]
            .iter()
            .any(|option| arg.start().starts_with(option))
    };
    let shows_content = subcommand == "log" && rest.iter().any(is_patch);
    if !only_names.contains(&subcommand) || shows_content {
        for arg in rest {
            judge.secret_by_end(arg);
            let path = arg.start().rsplit([':', '=']).next().unwrap_or("");
            // A pattern of git's own that fits what most secrets are called.
            if let Some((start, _)) = path.split_once(['*', '?', '['])
                && arg.exact().is_some()
                && paths::file_name(start).starts_with('.')
                && ".env".starts_with(paths::file_name(start))
            {
                judge.secret(path);
            }
            let from_there = folders.iter().flatten().map(|folder| paths::resolve(Some(folder), path));
            if let Some(secret) = from_there.chain([path.to_owned()]).find(|path| secrets::is_secret_path(path)) {
                judge.secret(secret);
            }
        }
    }
    walked(judge, subcommand, rest, folders.as_deref());
    // Whatever it shows can go into a file, by an option that may be shortened.
    for (at, arg) in rest.iter().enumerate() {
        let (name, glued) =
            arg.start().split_once('=').map_or((arg.start(), None), |(name, value)| (name, Some(value)));
        let is_output = name.len() > 3 && "--output".starts_with(name) || name == "--output-directory";
        match (is_output, glued) {
            (true, Some(value)) => drop(judge.write(&arg.with_start(value))),
            (true, None) => drop(rest.get(at + 1).map(|file| judge.write(file))),
            (false, _) => {}
        }
    }
    // Hooks come with what a repository is made from.
    let is_template =
        |arg: &Arg| arg.start().len() > 4 && "--template".starts_with(arg.start().split('=').next().unwrap_or(""));
    if matches!(subcommand, "init" | "clone") && rest.iter().any(is_template) {
        judge.persistence(format!("git {subcommand} --template"));
    }
    if subcommand == "config" {
        let mut is_file = false;
        let mut plain = rest.iter().filter_map(Arg::exact).filter(|text| {
            // The value of an option that takes one.
            let is_value = std::mem::replace(&mut is_file, reading::takes_value(text));
            !is_value && !text.starts_with('-')
        });
        // Newer versions have words for what options say in older ones.
        let key = plain.find(|text| !matches!(*text, "set" | "get" | "unset" | "edit" | "list")).unwrap_or(first);
        let value = plain.next();
        let key = key.to_ascii_lowercase();
        drop(plain);
        let reads = reading::only_reads_settings(rest);
        let is_harmless = HARMLESS.contains(&key.as_str())
            || key.starts_with("remote.") && [".fetch", ".prune", ".tagopt"].iter().any(|end| key.ends_with(end));
        let runs = !is_harmless && RUNS.iter().any(|runs| key == *runs || key.starts_with(&format!("{runs}.")));
        let starts = !is_harmless
            && key.contains('.')
            && value.is_some_and(|value| !git_config::is_inert(&key, value) || git_config::names_program(&key));
        // Under another name settings that run nothing may.
        let renames = first == "rename-section";
        if !reads && (runs || starts || renames) && rest.len() > 1 {
            judge.persistence(format!("git config {key}"));
        }
    }
    let (behind, runs_elsewhere) = behind::run(judge, call, subcommand, rest);
    if runs_elsewhere {
        judge.git_in(None);
    }
    let own = if let Some(judgement) =
        remote(judge, subcommand, (first, is_led_elsewhere), rest, folders.as_deref().filter(|_| !is_told_how))
    {
        judge.git_in(places);
        judgement
    } else {
        let own = local(judge, subcommand, rest, folders.clone());
        let words = reaches::known(rest).filter(|_| !own.local && !is_led_elsewhere && !is_told_how);
        let beside = words
            .zip(folders.as_deref())
            .and_then(|(words, folders)| reaches::git::beside(subcommand, &words, folders));
        if own.local { own } else { own.reaching(beside) }
    };
    if !own.local && shown::may_show_files(subcommand, rest) {
        // How much of it nobody can say, so it counts as all that there is.
        for folder in folders.unwrap_or_else(|| vec![".".to_owned()]) {
            judge.condition(Condition::GitShowsNoSecret { folder, shown: shown::everything() });
        }
    }
    behind.map_or(own.clone(), |behind| own.max(behind))
}

/// True for git, by its name or a path, and for one of its subcommands that lies there as a program of its own.
pub fn is_git(program: &str) -> bool {
    let name = paths::file_name(program);
    name == "git" || name.starts_with("git-")
}

/// True for a call of git that shows what another repository says, though it fetches nothing.
pub fn brings_from_remote(program: &str, args: &[Arg]) -> bool {
    let is = |words: &[&str]| args.iter().any(|arg| words.iter().any(|word| arg.start().starts_with(word)));
    is_git(program)
        && (paths::file_name(program) == "git-ls-remote" || is(&["ls-remote"]) || is(&["archive"]) && is(&["--remote"]))
}

/// What it reads of files that it does not track: folders as they are, what is ignored, and files that options name.
fn walked(judge: &mut Judge<'_>, subcommand: &str, rest: &[Arg], folders: Option<&[String]>) {
    let has = |option: &str, shortest: usize| {
        rest.iter().any(|arg| arg.start().len() >= shortest && option.starts_with(arg.start()))
    };
    let here = || folders.map_or_else(|| vec![".".to_owned()], <[String]>::to_vec);
    let no_index = has("--no-index", "--no-i".len());
    let is_all = |arg: &Arg| {
        let letters = arg.start().strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('a'))
    };
    let trees: Vec<Arg> = match subcommand {
        "grep" if no_index || has("--untracked", "--unt".len()) || has("--no-exclude-standard", "--no-ex".len()) => {
            here().iter().map(Arg::literal).collect()
        }
        "diff" if no_index => {
            let named = rest.iter().filter(|arg| !arg.start().starts_with('-'));
            named.flat_map(|arg| from_each(&here(), arg)).collect()
        }
        "stash" if has("--all", "--al".len()) || rest.iter().any(is_all) => here().iter().map(Arg::literal).collect(),
        _ => Vec::new(),
    };
    for tree in trees {
        let _ = judge.read_tree(&tree);
    }
    // One letter, alone or behind others, and a long name, of which the beginning is enough.
    let (letter, long) = match subcommand {
        "tag" | "commit" | "notes" | "merge" => ('F', "--file"),
        "archive" => ('\0', "--add-file"),
        "blame" => ('\0', "--contents"),
        "config" => ('f', "--file"),
        _ => return,
    };
    for (at, arg) in rest.iter().enumerate() {
        let text = arg.start();
        let next = || rest.get(at + 1).cloned();
        let file = if text.starts_with("--") {
            let (name, glued) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let is_it = name.len() > 3 && long.starts_with(name);
            is_it.then(|| glued.map(|value| arg.with_start(value)).or_else(next)).flatten()
        } else {
            let behind = text.strip_prefix('-').and_then(|letters| letters.split_once(letter));
            behind.and_then(|(_, glued)| {
                if glued.is_empty() && arg.exact().is_some() { next() } else { Some(arg.with_start(glued)) }
            })
        };
        if let Some(file) = file {
            for file in from_each(&here(), &file) {
                let _ = judge.read(&file);
            }
            judge.secret_by_end(&file);
        }
    }
}

/// Subcommands that talk to a remote.
fn remote(
    judge: &mut Judge<'_>,
    subcommand: &str,
    (first, is_led_elsewhere): (&str, bool),
    rest: &[Arg],
    folders: Option<&[String]>,
) -> Option<Judgement> {
    let reach = row("git").and_then(|row| row.subcommand(subcommand, first)).map_or(Reach::Local, |found| found.reach);
    let talks = reach != Reach::Local
        || subcommand == "archive" && rest.iter().any(|arg| arg.start().starts_with("--rem") || arg.exact().is_none() && arg.may_be_option())
        // A remote that is fetched from at once, and the question which branch is its first.
        || subcommand == "remote" && first == "add" && has_option(rest, 'f', "--fetch", "tm")
        || subcommand == "remote" && first == "set-head" && has_option(rest, 'a', "--auto", "");
    if !talks {
        return None;
    }
    let mut hosts = super::addresses::of_git(subcommand, rest);
    if hosts.is_empty() || is_led_elsewhere {
        hosts.insert(0, None);
        hosts.dedup();
    }
    if matches!(subcommand, "pull" | "fetch" | "clone" | "remote" | "submodule" | "lfs") {
        for host in &hosts {
            judge.untrusted(host.clone().unwrap_or_else(|| format!("git {subcommand}")));
        }
    }
    if subcommand == "clone"
        && let Some(url) = rest.iter().find_map(|arg| arg.exact().filter(|text| text.contains(['/', ':'])))
    {
        judge.fetched_file(url.trim_end_matches('/').trim_end_matches(".git"));
    }
    for host in hosts {
        judge.network("git", host);
    }
    let words = reaches::known(rest).filter(|_| !is_led_elsewhere);
    let reaches = words.zip(folders).and_then(|(words, folders)| reaches::git::of(subcommand, &words, folders));
    Some(Judgement::network(format!("`git {subcommand}` talks to a remote")).reaching(reaches))
}

/// True where an option stands among the words, alone, in a cluster, or shortened; behind the letters of the last word a value
/// stands.
fn has_option(words: &[Arg], letter: char, long: &str, valued: &str) -> bool {
    words.iter().any(|word| {
        let Some(text) = word.exact() else { return true };
        match text.strip_prefix('-') {
            Some(rest) if rest.starts_with('-') => text.len() > 2 && long.starts_with(text),
            Some(cluster) => cluster.chars().take_while(|c| !valued.contains(*c)).any(|c| c == letter),
            None => false,
        }
    })
}

/// Subcommands that are local where git's configuration is inert. Their class stays Unknown.
fn local(judge: &mut Judge<'_>, subcommand: &str, rest: &[Arg], folders: Option<Vec<String>>) -> Judgement {
    if subcommand == "config" && !reading::only_reads_settings(rest) {
        return Judgement::unknown("`git config`: it sets what it names");
    }
    let form = row("git").and_then(|row| row.subcommand(subcommand, "")).and_then(|found| found.form);
    let Some(form) = form else {
        return Judgement::unknown(format!("`git {subcommand}` is not on the list of what stays local"));
    };
    let accepted = form.accepts(rest).and_then(|scan| local::obstacle(subcommand, &scan).map_or(Ok(scan), Err));
    let scan = match accepted {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(format!("`git {subcommand}`: {reason}")),
    };
    let Some(folders) = folders else {
        return Judgement::unknown(format!(
            "`git {subcommand}`: where it runs, or a setting, is only known when it runs"
        ));
    };
    let shows =
        if form.shows { local::shown(subcommand, rest.first().and_then(Arg::exact), &scan) } else { Shown::Nothing };
    let mut judgement =
        Judgement::conditional(format!("`git {subcommand}` stays local where git's configuration names no program"));
    // Files outside of the repository are compared as they are.
    let leads_out =
        |operand: &&Arg| operand.start().starts_with(['/', '~']) || operand.start().split('/').any(|part| part == "..");
    // With one of them, and wherever git takes a repository for none, `diff` compares two of its words as files and folders, whoever
    // tracks them: then it reads all that it is given.
    let all = subcommand == "diff" && (scan.operands.len() > 1 || scan.operands.iter().any(leads_out));
    // What is ignored on purpose comes into the index, too.
    let forced = subcommand == "add" && scan.has(&["-f", "--force"]);
    // Git expands patterns itself, and words with a colon in front are its own language.
    let is_pathspec = |operand: &Arg| {
        operand.start().starts_with(':') || operand.start().contains(['*', '?', '[', '\\']) || operand.exact().is_none()
    };
    let forced_all = forced && scan.operands.iter().any(|operand| is_pathspec(operand));
    if form.shows || forced && !forced_all {
        for operand in scan.operands.iter().filter(|operand| all || forced || leads_out(operand)) {
            for operand in from_each(&folders, operand) {
                judgement = judgement.max(judge.read_tree(&operand));
            }
        }
    }
    // The file as it is now, behind whatever links: `blame` always, `diff` where one of two is no commit.
    if subcommand == "blame" || subcommand == "diff" && scan.operands.len() > 1 {
        for operand in &scan.operands {
            for operand in from_each(&folders, operand) {
                judgement = judgement.max(judge.read(&operand));
            }
        }
    }
    if forced && (scan.operands.is_empty() || forced_all) {
        for folder in &folders {
            judgement = judgement.max(judge.read_tree(&Arg::literal(folder)));
        }
    }
    if subcommand == "add" && !forced && !scan.has(&["-u", "--update", "-n", "--dry-run"]) {
        for folder in &folders {
            // Without a path it takes the whole tree, or nothing.
            let exact = |operand: &Arg| {
                operand.exact().filter(|_| !is_pathspec(operand)).map(|path| paths::resolve(Some(folder), path))
            };
            let mut paths: Vec<Option<String>> = scan.operands.iter().map(|operand| exact(operand)).collect();
            if paths.is_empty() {
                paths.push(None);
            }
            for path in paths {
                judge.condition(Condition::NoSecretAdded { folder: folder.clone(), path });
            }
        }
    }
    if let Some(file) = scan.value(&["-F", "--file"]) {
        for file in from_each(&folders, file) {
            judgement = judgement.max(judge.read(&file));
        }
    }
    // What it adds holds no repository, on the condition above.
    let is_plain_add = subcommand == "add" && !forced;
    let changes = changes_the_index(subcommand);
    // A commit of nothing shows a status.
    let looks = matches!(subcommand, "add" | "commit") || looks_into_tracked(subcommand);
    if judge.git_meets_new(looks, changes && !is_plain_add) {
        judgement =
            judgement.max(Judgement::unknown("an earlier part changes what git tracks, and so what it looks into"));
    }
    if subcommand == "commit" && (scan.has(&["-o", "--only", "-i", "--include"]) || !scan.operands.is_empty()) {
        judgement = judgement.max(Judgement::unknown(
            "`git commit` of single files goes by the last commit, which nobody has looked at",
        ));
    }
    // Files that are in no index, of another repository, or of none.
    let compares_any = match subcommand {
        "blame" => true,
        "ls-files" => scan.has(&["--with-tree"]),
        "diff" | "diff-index" => {
            scan.operands.iter().any(|operand| leads_out(operand) || operand.exact().is_none())
                || scan.operands.len() > 1 && scan.operands.iter().any(|operand| operand.start().contains(':'))
        }
        _ => false,
    };
    let work = match subcommand {
        _ if compares_any => GitWork::ComparesAny,
        "commit" => GitWork::Records,
        _ if changes => GitWork::Records,
        _ if local::only_reads(subcommand) => GitWork::Reads,
        _ => GitWork::Compares,
    };
    // A file out of one, too.
    let numbers = if form.shows && (shows == Shown::Numbered || subcommand != "log") {
        local::numbers(&scan)
    } else {
        Vec::new()
    };
    if !numbers.is_empty() && !matches!(shows, Shown::Settings | Shown::Logs) {
        for folder in &folders {
            judge.condition(Condition::GitNumbers { folder: folder.clone(), numbers: numbers.clone() });
        }
    }
    for folder in folders {
        if shows.is_content() {
            let shown = GitShown { added: judge.has_called_git("add"), ..shown::shown_by(subcommand, rest, &scan) };
            judge.condition(Condition::GitShowsNoSecret { folder: folder.clone(), shown });
        }
        judge.condition(Condition::GitIsInert { folder, shows, work });
    }
    judgement
}

/// True for a subcommand that changes what git tracks.
pub(crate) fn changes_the_index(subcommand: &str) -> bool {
    matches!(subcommand, "add" | "restore" | "checkout" | "switch")
}

/// True for a subcommand that makes files of git's own: refs, whose names are anybody's choice, and what it keeps.
pub fn records(subcommand: &str) -> bool {
    changes_the_index(subcommand) || checks_out(subcommand) || matches!(subcommand, "commit" | "branch" | "tag" | "?")
}

/// True for a subcommand that brings files of commits into the working tree.
pub fn checks_out(subcommand: &str) -> bool {
    matches!(
        subcommand,
        "checkout" | "switch" | "restore" | "merge" | "pull" | "rebase" | "stash" | "cherry-pick" | "revert" | "am"
    )
}

/// The same for a call of git, whatever options stand in front of its subcommand.
pub fn brings_files(args: &[Arg]) -> bool {
    let words: Vec<Option<&str>> = args.iter().map(Arg::exact).collect();
    subcommand_of(&words).is_some_and(|(subcommand, _)| checks_out(subcommand))
}

/// What a call of git does to folders that stand in its words: it moves the first ones to the last one, or takes them away.
pub fn does_to_folders(args: &[Arg]) -> Option<Trait> {
    let words: Vec<Option<&str>> = args.iter().map(Arg::exact).collect();
    let (subcommand, rest) = subcommand_of(&words)?;
    match (subcommand, rest.first()) {
        ("mv", _) | ("worktree", Some(Some("move"))) => Some(Trait::Moves),
        ("worktree", Some(Some("remove") | None)) => Some(Trait::Deletes),
        _ => None,
    }
}

/// The subcommand among git's words, and the words behind it. Words that are not known count for nothing.
fn subcommand_of<'w>(words: &'w [Option<&'w str>]) -> Option<(&'w str, &'w [Option<&'w str>])> {
    const VALUED: &[&str] =
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path"];
    let mut is_value = false;
    let at = words.iter().position(|word| {
        word.is_some_and(|text| {
            let was_value = std::mem::replace(&mut is_value, VALUED.contains(&text));
            !was_value && !text.starts_with('-')
        })
    })?;
    Some(((*words.get(at)?)?, words.get(at + 1..).unwrap_or_default()))
}

/// True for a setting that changes what people see and how they are called. Any other for one call may say where a connection goes, what
/// it sends or what it starts.
fn is_of_people(key: &str) -> bool {
    matches!(key, "user.name" | "user.email" | "core.quotepath" | "core.pager")
        || ["color.", "advice.", "column."].iter().any(|start| key.starts_with(start))
}

/// True for a subcommand of git's that opens no file of the working tree by a name that its words give.
pub fn opens_no_file(subcommand: &str) -> bool {
    const NONE: &[&str] = &[
        "fetch",
        "pull",
        "clone",
        "ls-remote",
        "remote",
        "push",
        "checkout",
        "switch",
        "reset",
        "merge",
        "rebase",
        "branch",
        "stash",
        "status",
        "log",
        "rev-parse",
    ];
    NONE.contains(&subcommand)
}

/// True for a subcommand that looks into whatever git tracks, a repository in the repository as well.
pub(crate) fn looks_into_tracked(subcommand: &str) -> bool {
    matches!(subcommand, "status" | "diff" | "diff-index" | "diff-files" | "stash" | "ls-files" | "describe")
}

/// True for a call whose end says something of branches and of whether a service answers, and as good as nothing of what files hold.
pub(crate) fn ends_by_state(words: &[Option<&str>]) -> bool {
    const ALIKE: &[&str] = &[
        "add", "commit", "fetch", "pull", "push", "status", "log", "branch", "remote", "merge", "rebase", "clone",
        "checkout", "switch", "reset", "stash", "tag",
    ];
    let is_test =
        words.iter().any(|word| word.is_none_or(|word| word.starts_with("--ex") || word.starts_with("--quiet")));
    subcommand_of(words).is_some_and(|(subcommand, _)| ALIKE.contains(&subcommand) && !(is_test && subcommand == "log"))
}

/// A path as git sees it from each folder in which it may start.
fn from_each(folders: &[String], path: &Arg) -> Vec<Arg> {
    match path.exact() {
        Some(text) if !text.starts_with(['/', '~']) && text != "-" => {
            folders.iter().map(|folder| Arg::literal(paths::resolve(Some(folder), text))).collect()
        }
        _ => vec![path.clone()],
    }
}

fn forge(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = crate::classify::paths::file_name(&call.program).to_owned();
    judge.network(&name, None);
    judge.untrusted(&*name);
    let words: Vec<Option<&str>> = call.args.iter().map(Arg::exact).collect();
    let folders = judge.folders();
    // A word that may become several may be an option.
    let is_counted = call.args.iter().all(|arg| arg.exact().is_some() || arg.known == Known::OneWord);
    let reaches = if name == "gh" && is_counted { reaches::forge::of(&words, folders.as_deref()) } else { None };
    Judgement::network("").reaching(reaches)
}
