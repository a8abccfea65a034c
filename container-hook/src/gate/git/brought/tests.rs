//! Whatever git really does was said before.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::OnceLock;

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;

use super::*;

/// How the settings of a project lie there.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Settings {
    None,
    Untracked,
    Committed,
    Changed,
}

/// Whether it worked, and what it said.
fn git(folder: &Path, command: &str) -> (bool, String) {
    let mut call = Command::new("bash");
    call.args(["-c", command]).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
        call.env(name, "a");
    }
    let output = call.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), told)
}

const OWN: &str = r#"{"hooks":{"PreToolUse":["gate"]}}"#;

/// A copy of a project of this kind, which is made once.
fn project(settings: Settings) -> tempfile::TempDir {
    static MADE: [OnceLock<tempfile::TempDir>; 4] = [const { OnceLock::new() }; 4];
    let copy = tempfile::tempdir().unwrap();
    let made = MADE[settings as usize].get_or_init(|| made(settings));
    assert!(git(made.path(), &format!("cp -a . '{}'", copy.path().display())).0);
    copy
}

/// A project with another branch, something put by, and settings of an agent that nobody has committed.
fn made(settings: Settings) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let all = "git init -q -b main; mkdir -p src app/.claude; echo a > src/a.py; echo .cache > .gitignore; git add .; git commit -qm one
        git switch -qc same; echo b > src/b.py; git add .; git commit -qm same; git switch -q main
        git switch -qc other; mkdir .claude; echo '{}' > .claude/settings.json; git add .; git commit -qm other; echo c > src/c.py; git add .; git commit -qm more; git switch -q main
        git tag v1; mkdir .claude; echo put > .claude/settings.json; git stash -qu
        echo d > src/a.py; git stash -q";
    git(root.path(), all);
    // A link in the place of their folder; a branch that only a remote has; commits that bring settings, and take them away again.
    git(
        root.path(),
        "git switch -qc links; mkdir tools; echo '{\"l\":1}' > tools/settings.json; ln -s tools .claude; git add .; git commit -qm links; git switch -q main
         git update-ref refs/remotes/origin/feature other; git update-ref refs/remotes/origin/plain same
         git switch -qc there-and-back; mkdir .claude; echo '{\"x\":1}' > .claude/settings.json; git add .; git commit -qm there; git rm -qr .claude; git commit -qm back; echo e > e; git add .; git commit -qm more; git switch -q main
         git switch -qc one main; mkdir .claude; echo '{\"y\":1}' > .claude/settings.json; git add .; git commit -qm one; git switch -qc joined main; git merge -q --no-ff --no-edit one; git switch -q main
         git switch -qc follows main; git config branch.follows.remote .; git config branch.follows.merge refs/heads/other; git switch -q main",
    );
    if matches!(settings, Settings::Committed | Settings::Changed) {
        git(
            root.path(),
            "mkdir -p .claude; echo '{\"a\":1}' > .claude/settings.json; git add .; git commit -qm settings; git branch behind main~1",
        );
    }
    if matches!(settings, Settings::Untracked | Settings::Changed) {
        std::fs::create_dir_all(root.path().join(".claude")).unwrap();
        std::fs::write(root.path().join(".claude/settings.json"), OWN).unwrap();
    }
    root
}

/// The parts of the gate by what they hold.
fn parts(root: &Path) -> BTreeMap<String, String> {
    let parts = Parts::new(root, &root.join("app"));
    let mut there = BTreeSet::new();
    on_disk(root, "", &parts, &mut there).unwrap();
    let content = |name: &String| match std::fs::read_link(root.join(name)) {
        Ok(to) => to.to_string_lossy().into_owned(),
        Err(_) => std::fs::read_to_string(root.join(name)).unwrap(),
    };
    there.into_iter().map(|name| (name.clone(), content(&name))).collect()
}

fn said(root: &Path, command: &str) -> Brought {
    let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
    by(&found.calls, &found.effects, root)
}

/// Whatever git really does to settings was said. What is said too much stands in `TOO_STRICT`.
#[test]
fn nothing_happens_to_the_gate_unsaid() {
    const COMMANDS: &[&str] = &[
        "git stash",
        "git stash -u",
        "git stash push -m src",
        "git stash save src",
        "git stash push -- src",
        "git stash push src",
        "git stash -a",
        "git stash push -um 'wip: x'",
        "git stash pop",
        "git stash pop 1",
        "git stash apply stash@{1}",
        "git stash apply --index",
        "git stash branch new stash@{1}",
        "git stash drop",
        "git checkout .",
        "git checkout -- .",
        "git checkout src",
        "git checkout -- src/a.py",
        "git checkout -- '*.py'",
        "git checkout -- '*.json'",
        "git checkout -f",
        "git checkout same",
        "git checkout other",
        "git checkout -f other",
        "git checkout -q other",
        "git checkout -b new",
        "git checkout -b new other",
        "git checkout other -- .",
        "git checkout other src",
        "git checkout other -- .claude",
        "git checkout behind",
        "git checkout -f behind",
        "git checkout v1",
        "git checkout -f v1",
        "git checkout -",
        "git switch -",
        "git switch same",
        "git switch other",
        "git switch -f other",
        "git switch --discard-changes other",
        "git switch -c new",
        "git restore .",
        "git restore src",
        "git restore -s other .",
        "git restore --source=other .",
        "git restore --staged .",
        "git restore -SW .",
        "git restore -sother .claude",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git reset --hard other",
        "git reset",
        "git reset --soft HEAD~1",
        "git reset --keep other",
        "git reset --merge other",
        "git merge same",
        "git merge other",
        "git merge -m 'fix: other' same",
        "git merge --no-ff other -m x",
        "git rebase other",
        "git rebase same",
        "git cherry-pick other",
        "git cherry-pick other~1",
        "git cherry-pick main..other",
        "git cherry-pick -n other~1",
        "git revert HEAD",
        "git revert --no-edit HEAD",
        "git clean -fd",
        "git clean -fdx",
        "git clean -fdn",
        "git clean -fdx -en",
        "git clean -fdX",
        "git clean -ndx",
        "git clean -fd src",
        "git clean -fd .claude",
        "git clean -ffdx -- .",
        "git rm -rf --ignore-unmatch .",
        "git rm -r src",
        "git rm -rqf .claude",
        "git mv src lib",
        "git mv .claude aside",
        "git sparse-checkout set --no-cone src",
        "git read-tree -u --reset other",
        "git read-tree -um other",
        "git commit -qam x",
        "git status",
        "git add -A",
        "cd app && git stash",
        "cd app && git stash -u",
        "git -C src stash -u",
        "cd src && git checkout ..",
        "cd src && git clean -fdx ..",
        "bash -c 'git stash -u'",
        "git stash; git switch other",
        "git checkout $(echo other) -- .",
        "git -c alias.x='stash -u' x",
        "git gc -q",
        "git switch links",
        "git switch -f links",
        "git checkout -qf links",
        "git merge -q links",
        "git reset --hard links",
        "git checkout links -- .",
        "git switch feature",
        "git checkout feature",
        "git checkout -q --guess feature",
        "git switch plain",
        "git checkout ':/other'",
        "git switch --orphan new",
        "git checkout --orphan new",
        "git checkout -qf",
        "git checkout -- :/",
        "git checkout :/",
        "git checkout -- ':!src'",
        "git checkout --no-progress .",
        "git checkout --no-overlay .",
        "git checkout -m .",
        "git restore :/",
        "git restore ':!src'",
        "git restore -- ':(top)'",
        "git stash push -- :/",
        "git stash push -uq :/",
        "git stash push -uq -- ':!src'",
        "git clean -fdxq :/",
        "git clean -fdq ':(top)'",
        "git clean -fdxq -- ':!src'",
        "git rm -rq --cached .",
        "git switch --detach v1",
        "git switch -d v1",
        "git checkout --track -b y other",
        "git add -A; git stash",
        "git add . && git stash -q",
        "git add -A && git reset -q --hard",
        "git switch -qc wip; git add -A; git commit -qm wip; git switch -q main",
        "git add src && git commit -qm x; git switch -q same",
        "git checkout -q same && git reset -q --hard main",
        "git add -A && git commit -qm x",
        "git add src && git stash",
        "git reset --soft other; git checkout -qf",
        "git branch -f tmp other; git checkout -q tmp",
        "git tag t other; git checkout -q t",
        "git symbolic-ref HEAD refs/heads/other; git reset -q --hard",
        "git update-ref HEAD other; git checkout -qf",
        "git reset -q --soft other; git stash -q",
        "git read-tree other && git checkout -q .",
        "git branch -qu other; git rebase -q",
        "git switch -q follows; git merge -q --no-edit",
        "git switch -q follows; git rebase -q --autostash",
        "(sleep 0.1; git reset -q --hard) & git reset -q --soft other; wait",
        "(sleep 0.1; git stash -q) & git add -A; wait",
        "git bisect start there-and-back~1 HEAD",
        "git rebase -q main there-and-back",
        "git rebase -q --onto main same there-and-back",
        // Values of options, and words that look like such.
        "git merge -q --no-edit -Xdiff-algorithm=histogram other",
        "git cherry-pick -Xdiff-algorithm=histogram other~1",
        "git merge --no-edit -q -m x other",
        "git merge -q -mx same",
        "git checkout -qb other2 same",
        // A backslash is special in a pattern.
        "git checkout other -- '.clau\\de/settings.json'",
        "git restore -s other -- '.clau\\de/setting*.js\\on'",
        "git checkout -- '.clau\\de/settings.json'",
        "git stash push -q -- '.clau\\de/settings.json'",
        "git clean -fdxq -- '.clau\\de/settings.json'",
        // `--` ends the options only.
        "git merge -q --no-edit -- other",
        "git switch -q -- other",
        "git cherry-pick -- other~1",
        "git stash pop -q -- stash@{1}",
        // What looks like a stash is one.
        "git stash branch x joined",
        "git stash apply -q joined",
        // Settings that the call brings.
        "git -c branch.main.remote=. -c branch.main.merge=refs/heads/other merge -q --no-edit",
        "git config branch.main.remote .; git config branch.main.merge refs/heads/other; git merge -q --no-edit",
        // Options that are taken back.
        "git rm -rfq --cached --no-cached .",
        "git restore --staged --no-staged --source=other .",
        "git rm -q typo",
        "git rm -rq src",
        // Names that are another one's by then.
        "git worktree add -q -B nb wt2 other; git worktree remove wt2; git checkout -q nb",
        "git worktree add -q -b nb wt3 other && git merge -q --no-edit nb",
        "git worktree add -q --detach wt4 other; git -C wt4 tag nt; git merge -q --no-edit nt",
        "git worktree add -q --detach wt5 other; (cd wt5 && git branch nb5) && git merge -q --no-edit nb5",
        "git stash drop -q; git stash pop -q",
        "git stash pop -q; git checkout -q .; git stash pop -q",
        "git stash -q; git stash pop -q 'stash@{1}'",
        "git commit -q --allow-empty -m x; git reset -q --hard HEAD~2",
        "git commit -q --allow-empty -m x; git reset -q --hard 'HEAD@{2}'",
        "git commit -q --allow-empty -m x; git revert --no-edit HEAD~1",
        "git bisect start -q; git bisect bad there-and-back; git bisect good main",
    ];
    // What is said though this git leaves it alone: it refuses, or takes only what is as it was.
    const TOO_STRICT: &[&str] = &[
        "git sparse-checkout set --no-cone src",
        "git rebase same",
        "git rebase -q main there-and-back",
        "git rebase -q --onto main same there-and-back",
        "git checkout -q same && git reset -q --hard main",
        "git restore --staged --no-staged --source=other .",
        "git worktree add -q -B nb wt2 other; git worktree remove wt2; git checkout -q nb",
        "git commit -q --allow-empty -m x; git reset -q --hard HEAD~2",
        "git commit -q --allow-empty -m x; git reset -q --hard 'HEAD@{2}'",
        "git commit -q --allow-empty -m x; git revert --no-edit HEAD~1",
        "git bisect start -q; git bisect bad there-and-back; git bisect good main",
        // It may be told to ignore them in ways that are not read.
        "git clean -fdX",
        "(sleep 0.1; git stash -q) & git add -A; wait",
    ];
    let kinds = [Settings::None, Settings::Untracked, Settings::Committed, Settings::Changed];
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = kinds
            .map(|settings| {
                scope.spawn(move || COMMANDS.iter().filter_map(|one| differs(settings, one, TOO_STRICT)).collect())
            })
            .into_iter()
            .collect();
        running
            .into_iter()
            .flat_map(|kind: std::thread::ScopedJoinHandle<'_, Vec<String>>| kind.join().unwrap())
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// By its attributes git may write something else than was committed.
#[test]
fn what_git_writes_otherwise_is_said() {
    let made = project(Settings::Committed);
    assert_eq!(said(made.path(), "git reset -q --hard"), Brought::default());
    std::fs::write(made.path().join(".gitattributes"), "*.bin filter=lfs -text\n*.py eol=lf\n").unwrap();
    assert_eq!(said(made.path(), "git reset -q --hard"), Brought::default());
    for (file, line) in [
        (".gitattributes", "*.json working-tree-encoding=UTF-16"),
        (".claude/.gitattributes", "* ident"),
        (".git/info/attributes", "* ident"),
    ] {
        let path = made.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, line).unwrap();
        for command in ["git reset -q --hard", "git checkout -q .", "git stash -q"] {
            assert_ne!(said(made.path(), command), Brought::default(), "{file}: {command}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

/// By another index git finds other files that nobody tracks.
#[test]
fn another_index_is_said() {
    let made = project(Settings::Committed);
    assert_ne!(said(made.path(), "GIT_INDEX_FILE=z git clean -fdq"), Brought::default());
    assert_eq!(said(made.path(), "git clean -fdq"), Brought::default());
}

/// What was not said of a command in a project of this kind, or said though nothing of it came.
fn differs(settings: Settings, command: &str, too_strict: &[&str]) -> Option<String> {
    let made = project(settings);
    let root = made.path().canonicalize().unwrap();
    let before = parts(&root);
    assert_eq!(before.is_empty(), settings == Settings::None);
    let said = said(&root, command);
    let (worked, told) = git(&root, command);
    let after = parts(&root);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).peekable();
    let came_to_nothing = worked && changed.peek().is_none();
    let is_said = |name: &&String| said.lost.iter().chain(&said.brought).any(|path| Path::new(path) == root.join(name));
    let unsaid: Vec<_> = changed.filter(|name| !is_said(name)).collect();
    let too_much = came_to_nothing && said != Brought::default() && !too_strict.contains(&command);
    (!unsaid.is_empty() || too_much).then(|| format!("{settings:?} {command}: {unsaid:?} {said:?} {told}"))
}
