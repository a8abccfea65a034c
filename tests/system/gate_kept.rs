//! An agent's settings, in which the gate's own entry stands, stay where they are: whatever takes them away, or puts others there, is
//! asked about or denied, though no word of it names them.

use bashgate_tests::Site;

use super::bound::{program, tainted};
use super::code_unseen::each_in;
use super::hostile_world::git;

/// A project with settings that nobody has committed, and another branch that holds some.
fn project() -> Site {
    let site = tainted();
    let work = site.work();
    git(&work, &["init", "-q", "-b", "main"]);
    for (name, text) in [
        ("run.sh", "echo hi\n"),
        ("src/a.py", "a\n"),
        ("src/b.orig", "a\n"),
        ("x5/README", "x\n"),
        ("z/settings.json", "{\"disableAllHooks\": true}\n"),
        ("z/list", "README\n"),
    ] {
        program(&work.join(name), text);
    }
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "one"]);
    git(&work, &["switch", "-qc", "other"]);
    program(&work.join(".claude/settings.json"), "{}\n");
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "other"]);
    git(&work, &["switch", "-q", "main"]);
    git(&work, &["switch", "-qc", "same"]);
    program(&work.join("src/c.py"), "c\n");
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "same"]);
    git(&work, &["switch", "-q", "main"]);
    program(&work.join(".claude/settings.json"), "{\"hooks\": {}}\n");
    program(&work.join("x6/.claude/settings.json"), "{}\n");
    for name in ["x7/git/config", "x8/bin/ls", "x9/usercustomize/__init__.py"] {
        program(&work.join(name), "x\n");
    }
    site
}

#[test]
fn what_would_take_the_gate_away_is_asked_about() {
    const COMMANDS: &[&str] = &[
        // By git, which knows no words for it.
        "git stash -u",
        "git clean -fdx",
        "git clean -fd",
        "git switch other",
        "git checkout -f other",
        "git checkout other -- .",
        "git merge other",
        "git cherry-pick other",
        "git checkout main:x5 -- .",
        "git restore --source=main:x5 .",
        "git merge -X subtree=x5 same",
        "cd src && git stash -u",
        "bash -c 'git clean -fdx'",
        // With what it lies in.
        "rm -rf ../work",
        "mv ../work ../elsewhere",
        "cd .. && rm -rf work",
        "ls -A | xargs rm -r",
        "for f in $(ls -A); do rm -r $f; done",
        "for f in .*; do rm -r $f; done",
        // In a folder of which only the run knows the name, or by a name that only it knows.
        "cd .c*; cat ../z/settings.json > sett*",
        "cd $(ls -d .c*) && cat ../z/settings.json > sett*",
        "cd $(ls -d .c*) && rm *",
        "cd $(ls -d .c*); ln -f ../z/settings.json .",
        "cd $(ls -d .c*); find . -delete",
        "pushd $(ls -d .c*); rm -r *",
        "for d in .c*; do cd $d; cat ../z/settings.json > s*; done",
        "rm $(cat z/list)",
        "xargs rm < z/list",
        "rm $(find . -name 'sett*')",
        "cd src && for f in $(cat ../z/list); do rm ../$f; done",
        "cd src && for f in $(cat ../z/list); do cat ../z/settings.json > ../$f; done",
        "rm ../work/$(cat z/list)",
        "rm .//$(cat z/list)",
        "rm $PWD/./$(cat z/list)",
        "rm ./src/../$(cat z/list)",
        "read f < z/list; cat z/settings.json > ../work/$f",
        "cat z/settings.json > ../w*/.c*/s*",
        "rm ../w*/.c*/*",
        "rm -r ../w*/.c*",
        "cat z/settings.json > /ho*/*/.bashr*",
        "cat z/settings.json > /etc/cl*/m*",
        "rm -r /etc/cron*",
        "shopt -s dotglob; rm -r */",
        "shopt -s dotglob; rm */*.json",
        "bash -O dotglob -c 'rm */*.json'",
        // With what it lies in, by a name that only the run knows, or behind another program.
        "rm -rf \"$PWD\"",
        "mv $PWD ../elsewhere",
        "rm -rf ../wor*",
        "cd ..; rm -rf w*",
        "rm -rf \"${PWD%/*}\"/work",
        // A folder that comes as a whole.
        "mkdir -p lx/git && cp src/a.py lx/git/config && ln -s $PWD/x7 ~/.config",
        "mv x7 ~/.config",
        "ln -s $PWD/x8 ~/.local",
        "mv x8 ~/.local",
        "cp -r x9/usercustomize ~/.local/lib/python3.11/site-packages/",
        "mkdir -p ~/.local/lib/python3.11/site-packages/usercustomize; cp src/a.py ~/.local/lib/python3.11/site-packages/usercustomize/__init__.py",
        "cp src/a.py ~/.local/lib/python3.11/site-packages/usercustomize.abi3.so",
        "git worktree remove -f .",
        "git worktree remove --force work",
        "git -C src worktree remove -f ../",
        "git worktree move . ../elsewhere",
        "nice rm -rf ../work",
        "busybox rm -rf ../work",
        "sh -c 'rm -rf \"$PWD\"'",
        // By two steps, of which the first one is not looked at when it is looked at the second.
        "mv x6 x9; cp -r x9/. .",
        "ln -s x6 lk; cp -r lk/. .",
        "git worktree add -q x9 other; cp -r x9/. .",
        "git add -A; git stash",
        "git switch -qc wip; git add -A; git commit -qm wip; git switch -q main",
        "git branch -f t other; git checkout -q t",
        "git clean -fdxq :/",
        "git stash push -uq -- ':!src'",
        "find x6 -maxdepth 1 -name '.c*' -exec mv {} . \\;",
        "find x6 -mindepth 1 -maxdepth 1 -exec ln -s {} . \\;",
        // With a folder that holds it, whatever stands in front of the copy.
        "nice cp -r x6/. .",
        "command cp -r x6/. .",
        "timeout 5 cp -r x6/. .",
        "find x6 -mindepth 1 -maxdepth 1 -exec cp -r {} . \\;",
        "find .. -path '*x6*' -name '.c*' -exec cp -r {} . \\;",
        // By what is found.
        "find . -maxdepth 1 -name '.c*' -exec ln -f z/settings.json {} \\;",
        "find . -name 'sett*.json' -exec sed -i s/hooks/x/ {} \\;",
        "find . -path '*c*' -name 'sett*' -delete",
        "find . -maxdepth 1 -name '.c*' -exec rm -r {} +",
        "find . -delete",
    ];
    each_in(&project(), COMMANDS, true);
}

#[test]
fn ordinary_work_beside_the_gate_goes_on() {
    const COMMANDS: &[&str] = &[
        "git stash list",
        "git status",
        "git clean -fdn",
        "git merge -q same",
        "git checkout -q -b topic",
        "git checkout -q same",
        "git checkout -q main",
        "git checkout -- src",
        "git restore src/a.py",
        "find . -name '*.orig' -delete",
        "find . -name '*.pyc' | xargs rm -f",
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "find src -type f -exec sed -i s/b/a/ {} +",
        "rm -rf build dist",
        "mv run.sh src/",
        "mv src/a.py .",
        "rm -f ./*.log",
        "rm -f *.log",
        "cp -r src src2",
        "nice cp -r src src3",
        "sh run.sh & wait",
        "rm -rf build/*",
        "rm -rf \"$TMPDIR/x\"",
        "rm -f src/*.pyc",
        "for f in README run.sh; do cp \"$f\" src/\"$f\"; done",
        "git add src && git commit -qm x && git checkout -q same",
        "git rm -rq --cached x5",
        "git switch -q --detach same",
        "git rm -q typo || true",
        "git stash apply -q || true",
        "ln -s $PWD/src ~/src-of-project",
        "mv src/c.orig ~/old || true",
        "git mv README src/",
        "git worktree remove -f ../other",
    ];
    each_in(&project(), COMMANDS, false);
}

/// Teams change the settings of their agents: to join what others have committed is for a person, with a network as well, and never denied.
#[test]
fn what_others_have_committed_is_for_a_person() {
    let site = project();
    let work = site.work();
    git(&work, &["add", ".claude"]);
    git(&work, &["commit", "-qm", "settings"]);
    git(&work, &["remote", "add", "o", "https://x.example/x.git"]);
    git(&work, &["update-ref", "refs/remotes/o/main", "other"]);
    git(&work, &["config", "branch.main.remote", "o"]);
    git(&work, &["config", "branch.main.merge", "refs/heads/main"]);
    let _host = site.serve();
    site.raise_both("default");
    for command in [
        "git merge other",
        "git fetch -q o && git merge o/main",
        "git pull",
        "git pull --rebase",
        "git merge --ff-only",
    ] {
        let running = site.check_later(command);
        let Some(id) = site.held_or_ended(&running) else { panic!("{command} is not held: {:?}", running.join()) };
        site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
}

/// Programs that an agent's settings start are parts of the gate as well: another branch's do not take their place unasked.
#[test]
fn what_an_agents_settings_start_is_not_exchanged_by_git() {
    const EXCHANGE: &[&str] = &[
        "git checkout other",
        "git switch other",
        "git merge other",
        "git checkout other -- tools",
        "git checkout other -- .",
        "git restore -s other tools",
        "git cherry-pick other",
    ];
    let site = tainted();
    let work = site.work();
    git(&work, &["init", "-q", "-b", "main"]);
    let settings = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"python3 tools/gate.py"}]}]}}"#;
    for (name, text) in [
        (".claude/settings.json", settings),
        ("tools/gate.py", "exit(2)\n"),
        ("src/a.py", "a\n"),
        ("run.sh", "echo hi\n"),
    ] {
        program(&work.join(name), text);
    }
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "one"]);
    git(&work, &["switch", "-qc", "same"]);
    program(&work.join("src/b.py"), "b\n");
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "same"]);
    git(&work, &["switch", "-qc", "other", "main"]);
    program(&work.join("tools/gate.py"), "exit(0)\n");
    git(&work, &["commit", "-qam", "other"]);
    git(&work, &["switch", "-q", "main"]);
    each_in(&site, EXCHANGE, true);
    each_in(&site, &["git checkout -q same", "git merge -q same", "git stash", "git checkout other -- src"], false);
}
