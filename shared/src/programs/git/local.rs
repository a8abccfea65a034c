//! The forms of git that stay on this machine and show no page, start no editor and take no code: local where its
//! configuration is inert. One row for each subcommand; an option that is not listed makes it the host's business.

use super::super::{Form, Needs, Subcommand};
use crate::classify::Shown;
use crate::classify::call::{Arg, Options, Scan};

/// Git takes the value of some options only where it is glued to them (`PARSE_OPT_OPTARG`, `skip_prefix`): to it the next word is another
/// option, or an operand. They stand as flags, `-U3` as one of them with a number, and as `--unified=?`.
const DIFF: Options = Options {
    flags: "pusRabwzqMCDBtrWcU0123456789m",
    values: "SGl",
    long: &[
        "--stat=?",
        "--numstat",
        "--shortstat",
        "--name-only",
        "--name-status",
        "--summary",
        "--patch",
        "--no-patch",
        "--raw",
        "--unified=?",
        "--color=?",
        "--no-color",
        "--word-diff=?",
        "--word-diff-regex=",
        "--ignore-all-space",
        "--ignore-space-change",
        "--ignore-space-at-eol",
        "--ignore-cr-at-eol",
        "--ignore-blank-lines",
        "--minimal",
        "--patience",
        "--histogram",
        "--diff-algorithm=",
        "--cached",
        "--staged",
        "--merge-base",
        "--diff-filter=",
        "--find-renames=?",
        "--find-copies=?",
        "--find-object=",
        "--no-renames",
        "--full-index",
        "--binary",
        "--abbrev=?",
        "--exit-code",
        "--quiet",
        "--check",
        "--relative=?",
        "--text",
        "--function-context",
        "--inter-hunk-context=",
        "--ignore-submodules=?",
        "--no-ext-diff",
        "--no-textconv",
        "--src-prefix=",
        "--dst-prefix=",
        "--no-prefix",
        "--compact-summary",
        "--dirstat=?",
        "--pickaxe-regex",
        "--pickaxe-all",
        "--color-moved=?",
        "--no-color-moved",
        "--line-prefix=",
        "--cc",
        "--patch-with-stat",
        "--diff-merges=",
    ],
};

const LOG: Options = Options {
    flags: "iEFPg",
    values: "nL",
    long: &[
        "--oneline",
        "--graph",
        "--all",
        "--decorate=?",
        "--no-decorate",
        "--decorate-refs=",
        "--format=?",
        "--pretty=?",
        "--max-count=",
        "--skip=",
        "--since=",
        "--until=",
        "--after=",
        "--before=",
        "--author=",
        "--committer=",
        "--grep=",
        "--all-match",
        "--invert-grep",
        "--regexp-ignore-case",
        "--extended-regexp",
        "--fixed-strings",
        "--perl-regexp",
        "--merges",
        "--no-merges",
        "--min-parents=?",
        "--max-parents=?",
        "--first-parent",
        "--reverse",
        "--follow",
        "--date=",
        "--date-order",
        "--topo-order",
        "--author-date-order",
        "--branches=?",
        "--tags=?",
        "--remotes=?",
        "--glob=",
        "--exclude=",
        "--not",
        "--left-right",
        "--left-only",
        "--right-only",
        "--cherry",
        "--cherry-pick",
        "--cherry-mark",
        "--ancestry-path",
        "--simplify-by-decoration",
        "--full-history",
        "--abbrev-commit",
        "--no-abbrev-commit",
        "--no-abbrev",
        "--parents",
        "--children",
        "--no-walk",
        "--boundary",
        "--source",
        "--walk-reflogs",
        "--reflog",
        "--no-notes",
        "--notes",
        "--relative-date",
        "--full-diff",
        "--count",
        "--objects",
        "--show-pulls",
        "--no-mailmap",
        "--no-commit-id",
        "--root",
    ],
};

const LIST_REFS: Options = Options {
    flags: "arlvi",
    values: "",
    long: &[
        "--list",
        "--all",
        "--remotes",
        "--show-current",
        "--contains=?",
        "--no-contains=?",
        "--merged=?",
        "--no-merged=?",
        "--points-at=",
        "--sort=",
        "--format=",
        "--column=?",
        "--no-column",
        "--color=?",
        "--no-color",
        "--verbose",
        "--ignore-case",
        "--count=",
    ],
};

const LISTS: &[&str] = &["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];

const fn reads(words: &'static str, options: &'static [Options]) -> Subcommand {
    Subcommand::local(words, Form::new(options))
}

const fn shows(words: &'static str, options: &'static [Options]) -> Subcommand {
    Subcommand::local(words, Form::new(options).shows())
}

const fn with(subcommand: Subcommand, needs: Needs) -> Subcommand {
    match subcommand.form {
        Some(form) => Subcommand { form: Some(form.needs(needs)), ..subcommand },
        None => subcommand,
    }
}

/// Subcommands that stay here in a form, and those that talk to a remote.
pub(super) const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand::reads("clone"),
    Subcommand::reads("fetch"),
    Subcommand::reads("pull"),
    Subcommand::reads("ls-remote"),
    Subcommand::reads("fetch-pack"),
    Subcommand::reads("http-fetch"),
    Subcommand::reads("maintenance run"),
    Subcommand::reads("maintenance start"),
    Subcommand::reads("remote update"),
    Subcommand::reads("remote show"),
    Subcommand::reads("remote prune"),
    Subcommand::reads("submodule update"),
    Subcommand::reads("submodule add"),
    Subcommand::reads("submodule sync"),
    Subcommand::writes("push"),
    Subcommand::writes("send-pack"),
    Subcommand::writes("send-email"),
    Subcommand::writes("svn"),
    Subcommand::writes("p4"),
    Subcommand::writes("imap-send"),
    Subcommand::writes("lfs"),
    Subcommand::writes("request-pull"),
    Subcommand::writes("http-push"),
    Subcommand::writes("subtree push"),
    Subcommand::reads("subtree"),
    Subcommand::reads("backfill"),
    Subcommand::reads("remote-http"),
    Subcommand::reads("remote-https"),
    Subcommand::reads("remote-ftp"),
    Subcommand::reads("remote-ftps"),
    Subcommand::reads("remote-ext"),
    Subcommand::reads("remote-fd"),
    Subcommand::reads("cvsimport"),
    Subcommand::reads("archimport"),
    Subcommand::writes("daemon"),
    Subcommand::writes("instaweb"),
    Subcommand::writes("cvsexportcommit"),
    Subcommand::writes("scalar"),
    reads(
        "status",
        &[Options {
            flags: "sbuznoalrm",
            values: "",
            long: &[
                "--short",
                "--branch",
                "--porcelain=?",
                "--untracked-files=?",
                "--ignored=?",
                "--show-stash",
                "--long",
                "--ahead-behind",
                "--no-ahead-behind",
                "--renames",
                "--no-renames",
                "--ignore-submodules=?",
                "--column=?",
            ],
        }],
    ),
    with(
        reads("clean", &[Options { flags: "ndxXq", values: "e", long: &["--dry-run", "--quiet", "--exclude="] }]),
        Needs::Option(&["-n", "--dry-run"]),
    ),
    shows("diff", &[DIFF]),
    shows("diff-tree", &[DIFF, LOG, Options { flags: "v", values: "", long: &[] }]),
    shows("diff-index", &[DIFF]),
    shows("diff-files", &[DIFF]),
    shows("show", &[DIFF, LOG]),
    shows("log", &[DIFF, LOG]),
    reads("rev-list", &[DIFF, LOG]),
    reads(
        "shortlog",
        &[Options { flags: "nse", values: "", long: &["--numbered", "--summary", "--email", "--group="] }, LOG],
    ),
    reads("cherry", &[Options { flags: "v", values: "", long: &["--abbrev=?"] }]),
    reads(
        "ls-files",
        &[Options {
            flags: "cdmoiskutvzf",
            values: "x",
            long: &[
                "--cached",
                "--deleted",
                "--modified",
                "--others",
                "--ignored",
                "--stage",
                "--unmerged",
                "--killed",
                "--exclude=",
                "--exclude-standard",
                "--error-unmatch",
                "--full-name",
                "--abbrev=?",
                "--debug",
                "--directory",
                "--no-empty-directory",
                "--eol",
                "--deduplicate",
                "--with-tree=",
            ],
        }],
    ),
    reads(
        "ls-tree",
        &[Options {
            flags: "drtlz",
            values: "",
            long: &[
                "--long",
                "--name-only",
                "--name-status",
                "--object-only",
                "--full-name",
                "--full-tree",
                "--abbrev=?",
            ],
        }],
    ),
    reads(
        "rev-parse",
        &[Options {
            flags: "q",
            values: "",
            long: &[
                "--show-toplevel",
                "--abbrev-ref=?",
                "--short=?",
                "--git-dir",
                "--git-common-dir",
                "--absolute-git-dir",
                "--is-inside-work-tree",
                "--is-inside-git-dir",
                "--is-bare-repository",
                "--is-shallow-repository",
                "--show-prefix",
                "--show-cdup",
                "--verify",
                "--quiet",
                "--symbolic",
                "--symbolic-full-name",
                "--all",
                "--branches=?",
                "--tags=?",
                "--remotes=?",
                "--git-path=",
                "--path-format=?",
                "--revs-only",
                "--no-revs",
            ],
        }],
    ),
    reads(
        "show-ref",
        &[Options {
            flags: "qdsh",
            values: "",
            long: &[
                "--heads",
                "--branches",
                "--tags",
                "--verify",
                "--hash=?",
                "--abbrev=?",
                "--dereference",
                "--head",
                "--quiet",
            ],
        }],
    ),
    reads("for-each-ref", &[LIST_REFS]),
    reads(
        "merge-base",
        &[Options {
            flags: "a",
            values: "",
            long: &["--all", "--octopus", "--independent", "--is-ancestor", "--fork-point"],
        }],
    ),
    reads(
        "name-rev",
        &[Options { flags: "", values: "", long: &["--tags", "--name-only", "--always", "--all", "--refs="] }],
    ),
    reads(
        "describe",
        &[Options {
            flags: "",
            values: "",
            long: &[
                "--tags",
                "--all",
                "--always",
                "--long",
                "--abbrev=?",
                "--dirty=?",
                "--broken=?",
                "--match=",
                "--exclude=",
                "--exact-match",
                "--first-parent",
                "--contains",
                "--candidates=",
            ],
        }],
    ),
    reads(
        "check-ignore",
        &[Options {
            flags: "qvnz",
            values: "",
            long: &["--quiet", "--verbose", "--non-matching", "--no-index", "--stdin"],
        }],
    ),
    reads("check-attr", &[Options { flags: "az", values: "", long: &["--all", "--cached", "--stdin"] }]),
    reads(
        "check-ref-format",
        &[Options { flags: "", values: "", long: &["--branch", "--normalize", "--allow-onelevel"] }],
    ),
    reads("count-objects", &[Options { flags: "vH", values: "", long: &["--verbose", "--human-readable"] }]),
    reads(
        "fsck",
        &[Options {
            flags: "",
            values: "",
            long: &[
                "--full",
                "--no-full",
                "--unreachable",
                "--no-reflogs",
                "--no-dangling",
                "--dangling",
                "--connectivity-only",
                "--no-progress",
                "--strict",
                "--root",
                "--tags",
                "--cache",
            ],
        }],
    ),
    reads("verify-pack", &[Options { flags: "vs", values: "", long: &["--verbose", "--stat-only"] }]),
    reads("version", &[Options { flags: "", values: "", long: &["--build-options"] }]),
    shows("cat-file", &[Options { flags: "pets", values: "", long: &[] }]),
    shows(
        "blame",
        &[Options {
            flags: "bltsewpcMCfn",
            values: "L",
            long: &[
                "--date=",
                "--since=",
                "--porcelain",
                "--line-porcelain",
                "--incremental",
                "--show-email",
                "--root",
                "--abbrev=?",
                "--ignore-rev=",
                "--show-name",
                "--show-number",
                "--first-parent",
            ],
        }],
    ),
    shows(
        "grep",
        &[Options {
            flags: "ivwhHlLcnEFGPqzoWpraI",
            values: "eABCm",
            long: &[
                "--cached",
                "--ignore-case",
                "--name-only",
                "--files-with-matches",
                "--files-without-match",
                "--count",
                "--line-number",
                "--column",
                "--extended-regexp",
                "--basic-regexp",
                "--perl-regexp",
                "--fixed-strings",
                "--only-matching",
                "--break",
                "--heading",
                "--show-function",
                "--function-context",
                "--and",
                "--or",
                "--not",
                "--all-match",
                "--max-depth=",
                "--max-count=",
                "--context=",
                "--after-context=",
                "--before-context=",
                "--color=?",
                "--no-color",
                "--word-regexp",
                "--invert-match",
                "--text",
                "--full-name",
                "--quiet",
            ],
        }],
    ),
    with(reads("branch", &[LIST_REFS]), Needs::Listing(LISTS)),
    with(reads("tag", &[LIST_REFS, Options { flags: "n0123456789", values: "", long: &[] }]), Needs::Listing(LISTS)),
    with(
        reads("symbolic-ref", &[Options { flags: "q", values: "", long: &["--short", "--quiet", "--no-recurse"] }]),
        Needs::AtMost(1),
    ),
    with(shows("reflog", &[DIFF, LOG]), Needs::Word(&["show", "exists", ""])),
    with(shows("stash", &[DIFF, LOG]), Needs::Word(&["list", "show"])),
    with(
        reads("worktree", &[Options { flags: "vz", values: "", long: &["--porcelain", "--verbose"] }]),
        Needs::Word(&["list"]),
    ),
    with(
        shows("remote", &[Options { flags: "v", values: "", long: &["--verbose", "--all", "--push"] }]),
        Needs::Word(&["get-url", ""]),
    ),
    with(
        shows(
            "config",
            &[Options {
                flags: "lz",
                values: "",
                long: &[
                    "--get",
                    "--get-all",
                    "--get-regexp",
                    "--list",
                    "--global",
                    "--local",
                    "--system",
                    "--worktree",
                    "--show-origin",
                    "--show-scope",
                    "--name-only",
                    "--bool",
                    "--int",
                    "--path",
                    "--type=",
                    "--null",
                    "--includes",
                ],
            }],
        ),
        Needs::OptionOrKey(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
    ),
    reads(
        "add",
        &[Options {
            flags: "Auvnf",
            values: "",
            long: &[
                "--all",
                "--update",
                "--verbose",
                "--dry-run",
                "--intent-to-add",
                "--force",
                "--ignore-errors",
                "--no-all",
            ],
        }],
    ),
    with(
        reads(
            "commit",
            &[Options {
                flags: "aqsn",
                values: "mF",
                long: &[
                    "--message=",
                    "--file=",
                    "--all",
                    "--amend",
                    "--no-edit",
                    "--quiet",
                    "--allow-empty",
                    "--allow-empty-message",
                    "--signoff",
                    "--author=",
                    "--date=",
                    "--no-verify",
                    "--no-gpg-sign",
                    "--only",
                    "--include",
                    "--reset-author",
                    "--no-status",
                    "--cleanup=",
                ],
            }],
        ),
        Needs::Message,
    ),
    with(reads("checkout", &[Options { flags: "q", values: "b", long: &["--quiet"] }]), Needs::OptionAlone(&["-b"])),
    with(
        reads("switch", &[Options { flags: "q", values: "c", long: &["--quiet", "--create="] }]),
        Needs::OptionAlone(&["-c", "--create"]),
    ),
    with(
        reads("restore", &[Options { flags: "Sq", values: "", long: &["--staged", "--quiet"] }]),
        Needs::Option(&["-S", "--staged"]),
    ),
];

/// Calls that are local where git's configuration is inert, and calls that look like them and are not.
pub(in crate::programs) const EXAMPLES: &[(&str, bool)] = &[
    ("git status --short", true),
    ("git log --oneline -5", true),
    ("git -C sub diff HEAD~1 --stat -- src", true),
    ("git show HEAD:src/main.rs", true),
    ("git --no-pager blame -L 1,20 a.rs", true),
    ("git grep -n pattern", true),
    ("git branch --show-current", true),
    ("git rev-parse --abbrev-ref HEAD", true),
    ("git ls-files '*.rs' | wc -l", true),
    ("git stash list", true),
    ("git remote -v", true),
    ("git config --get user.name", true),
    ("git config user.name", true),
    ("git config --global user.email", true),
    ("git config user.name x", false),
    ("git config \"user.$x\"", false),
    ("git config edit", false),
    ("git log --pretty=%B -3", true),
    ("git log --pretty='%h %s'", true),
    ("git log --pretty=mine", false),
    ("git log --pretty=%G?", false),
    ("git clean -n", true),
    ("git clean -ndx -e target", true),
    ("git clean --dry-run -d", true),
    ("git clean -fd", false),
    ("git clean -n -f", false),
    ("git clean -ni", false),
    ("git clean", false),
    ("git add -A && git commit -m 'fix the curl call'", true),
    ("git checkout -b feature", true),
    ("git -c color.ui=never log", true),
    ("git -c core.pager=x log", false),
    ("git -c alias.x=!sh x", false),
    ("git -p help", false),
    ("git branch --help", false),
    ("git diff -U3 a.rs", true),
    ("git log --author=me --grep \"$x\" -5", false),
    ("git log -S \"$x\" --oneline", false),
    ("git commit -m \"$x\"", true),
    ("git diff --unified=5", true),
    ("git diff -U \"$x\" a.txt", false),
    ("git show --unified \"$x\"", false),
    ("git shortlog -n \"$x\" HEAD", false),
    ("git log --min-parents \"$x\"", false),
    ("git rev-list -U \"$x\" HEAD", false),
    ("git blame --abbrev \"$x\" a.txt", false),
    ("git describe --abbrev \"$x\"", false),
    ("git log -L \"$x\" other", false),
    ("git rev-parse --path-format \"$x\"", false),
    ("git for-each-ref --sort \"$x\"", false),
    ("git -c \"core.fsmonitor=0$x\" status", false),
    ("git -c user.name=$(cat g) status", false),
    ("git -c \"diff.context$x\" diff", false),
    ("git -c user.name=* status", false),
    ("git -c user.name status", true),
    ("git -c color.ui=never -c \"$x\" log", false),
    ("git diff --ext-diff", false),
    ("git diff --output=x", false),
    ("git diff --textconv", false),
    ("git log --format=%G?", false),
    ("git shortlog -s --group=author HEAD", true),
    ("git for-each-ref --format='%(*raw)'", false),
    ("git for-each-ref --format='%(raw:size)'", false),
    ("git shortlog --group=format:%G? HEAD", false),
    ("git shortlog --group=%GS HEAD", false),
    ("git shortlog --group=\"$x\" HEAD", false),
    ("git log --format='%+G?'", false),
    ("git branch --sort=signature", false),
    ("git -C l/.. status", false),
    ("git status -vv", false),
    ("git grep --untracked x", false),
    ("git add inner && git diff", true),
    ("git add f && git add g && git commit -m x && git status", true),
    ("git add -f inner && git diff", false),
    ("git add -f inner && git commit -m x", false),
    ("git checkout -b x && git commit -m x", false),
    ("mkdir r/n.md && git -C r/n.md status", false),
    ("git grep -O pattern", false),
    ("git commit", false),
    ("git commit -S -m x", false),
    ("git add -p", false),
    ("git stash", false),
    ("git checkout main", false),
    ("git branch -D x", false),
    ("git remote add x y", false),
    ("git config core.pager x", false),
    ("git config core.fsmonitor ./x -l", false),
    ("git config --global core.hooksPath /x --list", false),
    ("git config core.hooksPath --get", false),
    ("git config -f -l -f .git/config core.hooksPath x", false),
    ("git --git-dir=x status", false),
    ("git -C \"$x\" status", false),
    ("git log \"$x\"", false),
    ("cd \"$x\" && git status", false),
    ("GIT_DIR=x git status", false),
    ("git show HEAD:.env", false),
    ("echo x > config && git status", false),
    ("git rebase -i HEAD~2", false),
    ("git archive HEAD", false),
    ("git stash show -p -S stash@{0} -S --output=x", false),
    ("git stash show -S x", false),
    ("git stash list -G x", false),
    ("git log -S --output=x", false),
    ("git log -S x", true),
    ("git log -mS --output=x", false),
    ("git log -mS \"$x\"", false),
    ("git diff -cG --output=x", false),
    ("git show -tG --output=x", false),
    ("git stash list -mS --output=x", false),
    ("git reflog -gS --output=x", false),
    ("git diff-tree -vS --output=x HEAD", false),
    ("git help log", false),
];

/// What in an accepted call makes git run another program or read what nobody named.
pub(super) fn obstacle(subcommand: &str, scan: &Scan<'_>) -> Option<String> {
    // Many of its commands take one letter a word: to them, `-mS x` is an option that they do not know, and then any other word.
    if let Some((name, _)) = scan.clustered.iter().find(|(_, value)| value.may_be_option()) {
        return Some(format!("what stands behind `{name}` may be an option to git"));
    }
    // `git stash show` takes the words without a hyphen out first, so that an option's value is another one to it.
    let is_searched = |name: &str| matches!(name, "-S" | "-G");
    let by_hyphen = |value: &Option<Arg>| value.as_ref().is_some_and(|value| value.start().starts_with('-'));
    let odd =
        scan.options.iter().find(|(name, value)| is_searched(name) && (subcommand == "stash" || by_hyphen(value)));
    if let Some((name, _)) = odd {
        return Some(format!("what stands behind `{name}` may be an option to git"));
    }
    for (name, value) in &scan.options {
        let text = match value.as_ref().map(Arg::exact) {
            None => "",
            Some(Some(text)) => text,
            Some(None) if MAY_BE_ANYTHING.contains(&name.as_str()) => "",
            Some(None) => return Some(format!("the value of `{name}` is only known when it runs")),
        };
        // Git might see an option where a number or a pattern stands here.
        if text.starts_with('-') && matches!(name.as_str(), "-n" | "-L" | "-x" | "-l" | "-b" | "-c") {
            return Some(format!("the value of `{name}` looks like an option"));
        }
        let is_format = matches!(name.as_str(), "--format" | "--pretty" | "--group");
        if signs(text) || is_format && text.contains("signature") {
            return Some("checking signatures runs another program".to_owned());
        }
        // `%(raw)`, `%(*raw)`, `%(raw:size)`, in any option that takes a format.
        if text.split("%(").skip(1).any(|field| field.trim_start_matches('*').starts_with("raw")) {
            return Some("a ref may point to any file's content".to_owned());
        }
        if name == "--sort" && text.contains("signature") {
            return Some("checking signatures runs another program".to_owned());
        }
        if subcommand == "stash" && matches!(name.as_str(), "-u" | "--include-untracked" | "--only-untracked") {
            return Some("what is not tracked may be secret".to_owned());
        }
        // `--pretty=NAME` takes a format from the configuration; one with a `%` is the format itself.
        let is_name = name == "--pretty" && !text.is_empty() && !text.contains('%');
        if is_name && !PRETTY.iter().any(|known| text.starts_with(known)) {
            return Some("this name of a format may stand in the configuration".to_owned());
        }
    }
    // The third parent of a stash holds what was not tracked; every ref is also that of the stash.
    let has = |names: &[&str]| scan.options.iter().any(|(name, _)| names.contains(&name.as_str()));
    let shows_patches = subcommand == "show" || has(PATCHES);
    if subcommand == "cat-file" && !has(&["-t", "-s", "-e"]) && scan.operands.iter().any(|operand| is_number(operand)) {
        return Some("what has a number may be any file that was ever added".to_owned());
    }
    if shows_patches && has(&["--all", "--reflog", "--walk-reflogs", "-g", "--glob"]) {
        return Some("what was stashed may not have been tracked".to_owned());
    }
    let names_stash = |revision: &str| {
        let revision = revision.trim_start_matches('^');
        revision.contains("refs/stash")
            || revision
                .strip_prefix("stash")
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '^', '~', ':']))
            || revision.starts_with(":/")
    };
    let of_stash = |operand: &str| operand.split("..").any(|part| names_stash(part.trim_start_matches('.')));
    if subcommand != "stash" && scan.operands.iter().any(|operand| of_stash(operand.start())) {
        return Some("what was stashed may not have been tracked".to_owned());
    }
    None
}

/// Options whose value is a message, a name or a time: whatever it is, it leads nowhere. Each of them takes the next word as its value,
/// even one that looks like an option. What `-S` and `-G` search for is none: git goes through the words of a look at history twice, and
/// the first time takes options of its own away from behind them, so that the next word is the value and the one behind it an option.
const MAY_BE_ANYTHING: &[&str] =
    &["-m", "--message", "-e", "--grep", "--author", "--committer", "--since", "--until", "--after", "--before"];

/// Options with which `git log` shows what the files hold.
pub(super) const PATCHES: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "-U",
    "--unified",
    "-W",
    "--function-context",
    "--word-diff",
    "--color-words",
    "--patch-with-stat",
    "--patch-with-raw",
    "--binary",
    "-c",
    "--cc",
    "-m",
    "-L",
    "--diff-merges",
    "--remerge-diff",
];

/// True for a format with a field of signatures, such as `%G?` and `%+GS`.
fn signs(format: &str) -> bool {
    format.split('%').skip(1).any(|field| field.trim_start_matches(['+', '-', ' ']).starts_with('G'))
}

/// Options of `diff` with which names and numbers are shown in place of content.
const SUMMARIES: &[&str] = &[
    "--stat",
    "--numstat",
    "--shortstat",
    "--name-only",
    "--name-status",
    "--summary",
    "--no-patch",
    "--raw",
    "--compact-summary",
    "--dirstat",
    "-s",
];

/// True for a subcommand that looks at no file of the working tree, so that no filter runs for one (gitattributes(5)).
pub(super) fn only_reads(subcommand: &str) -> bool {
    const ALL: &[&str] = &[
        "log",
        "show",
        "rev-list",
        "shortlog",
        "cherry",
        "ls-tree",
        "rev-parse",
        "show-ref",
        "for-each-ref",
        "merge-base",
        "name-rev",
        "check-ignore",
        "check-attr",
        "check-ref-format",
        "count-objects",
        "fsck",
        "verify-pack",
        "version",
        "cat-file",
        "branch",
        "tag",
        "symbolic-ref",
        "reflog",
        "stash",
        "worktree",
        "remote",
        "config",
        "diff-tree",
    ];
    ALL.contains(&subcommand)
}

/// Others of them that show no content of their own.
const SHOW_NOTHING_MORE: &[&str] = &[
    "--cached",
    "--staged",
    "--merge-base",
    "--color",
    "--no-color",
    "--abbrev",
    "--relative",
    "--diff-filter",
    "-M",
    "-C",
    "--find-renames",
    "--find-copies",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules",
];

/// What a call shows of which the row says that it shows something; `second` is the word behind the subcommand.
pub(super) fn shown(subcommand: &str, second: Option<&str>, scan: &Scan<'_>) -> Shown {
    // `HEAD:path` names the one file that is shown; whether it is a secret, its name has said. A colon in front, or in braces,
    // stands in front of words that are searched for, or of a time.
    let names_file = |operand: &&Arg| {
        operand.exact().is_some_and(|text| {
            // Behind a colon stands a path of the index, words that are searched for, or what all other files are.
            !text.starts_with(':')
                && !text.contains(['{', '}'])
                && text.split_once(':').is_some_and(|(_, path)| !path.is_empty())
        })
    };
    // What is a commit by its form: a blob, or a tag of one, is shown whole whatever the options say.
    let is_commit = |operand: &&Arg| {
        operand.exact().is_some_and(|text| {
            let base = text.split(['~', '^']).next().unwrap_or("");
            let steps = text.get(base.len()..).unwrap_or("");
            matches!(base, "HEAD" | "@") && steps.bytes().all(|byte| byte.is_ascii_digit() || b"~^".contains(&byte))
        })
    };
    let has_file = scan.operands.iter().any(|operand| operand.start().contains(':'));
    let content = match subcommand {
        "config" | "remote" => return Shown::Settings,
        "log" | "reflog" => shows_content(scan),
        "stash" => shows_content(scan) || second != Some("list"),
        "show" if !scan.operands.is_empty() && scan.operands.iter().all(names_file) => return Shown::Named,
        "show" if !scan.operands.iter().all(is_commit) => true,
        "show" | "diff" | "diff-tree" | "diff-index" | "diff-files" => has_file || !summarizes(scan),
        "blame" => scan.operands.iter().any(|operand| operand.exact().is_none()),
        _ => true,
    };
    match content {
        // By its number, a commit of the stash is one like any other.
        true if scan.operands.iter().any(|operand| is_number(operand) || operand.exact().is_none()) => Shown::Numbered,
        true => Shown::Content,
        false if subcommand == "blame" => Shown::Named,
        // What was typed stands there, with passwords in addresses.
        false if subcommand == "reflog" || scan.has(&["-g", "--walk-reflogs"]) => Shown::Logs,
        false => Shown::Nothing,
    }
}

/// True where names and numbers are shown in place of what files hold.
pub(super) fn summarizes(scan: &Scan<'_>) -> bool {
    scan.has(SUMMARIES) && !shows_content(scan)
}

/// True for what names a commit or another object by its number.
fn is_number(operand: &Arg) -> bool {
    numbers_in(operand.start()).next().is_some()
}

/// What may be the beginning of a number.
fn numbers_in(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    // Behind a `g` stands one in what `git describe` prints (gitrevisions(7)), whatever is in front of that.
    let ends = parts.flat_map(|part| [Some(part), part.rsplit_once(['g', 'G']).map(|(_, end)| end)]);
    ends.flatten()
        .filter(|part| part.len() >= 4 && part.len() <= 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The numbers that the operands may name.
pub(super) fn numbers(scan: &Scan<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for operand in &scan.operands {
        match operand.exact() {
            Some(text) => found.extend(numbers_in(text).map(str::to_ascii_lowercase)),
            None => found.push("?".to_owned()),
        }
    }
    found.sort();
    found.dedup();
    found
}

/// True when `log` or `reflog` with these options shows content.
fn shows_content(scan: &Scan<'_>) -> bool {
    scan.options.iter().any(|(name, _)| {
        let of_diff = match name.strip_prefix('-').filter(|letter| letter.len() == 1) {
            Some(letter) => {
                DIFF.flags.contains(letter) && !letter.bytes().all(|b| b.is_ascii_digit())
                    || DIFF.values.contains(letter)
                    || letter == "L"
            }
            None => DIFF.long.iter().any(|long| long.trim_end_matches(['=', '?']) == name),
        };
        of_diff && !SUMMARIES.contains(&name.as_str()) && !SHOW_NOTHING_MORE.contains(&name.as_str())
    })
}

const PRETTY: &[&str] =
    &["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw", "mboxrd", "format:", "tformat:"];

#[cfg(test)]
mod tests {
    use super::EXAMPLES;
    use crate::classify::{CommandClass, Decided, Surroundings, classify};
    use crate::command::CommandLine;

    #[test]
    fn every_example_holds_and_the_class_stays_unknown() {
        for (command, local) in EXAMPLES {
            let found = classify(&CommandLine::parse(*command).unwrap(), &Surroundings::default());
            assert_eq!(found.decided == Decided::LocalIf, *local, "{command}: {}", found.reason);
            assert_ne!(found.class, CommandClass::Safe, "{command}");
        }
    }
}
