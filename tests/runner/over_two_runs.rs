//! What one run prepares and another one puts into force; and what a run's own words about a repository are worth.

use std::fs;
use std::path::Path;

use bashgate_tests::{Output, until};

use super::acting::{changes, git, give_all};
use super::{Ground, cages};

/// A project with a repository and an old folder, for each user and sandbox of the cage.
fn grounds() -> impl Iterator<Item = Ground> {
    cages().inspect(|ground| {
        let work = ground.work();
        git(&work, &["init", "-q", "-b", "main"]);
        git(&work, &["config", "user.name", "n"]);
        git(&work, &["config", "user.email", "n@example.invalid"]);
        ground.write("work/README", "x");
        ground.write("work/src/a", "x");
        ground.write("work/app/b", "x");
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "one"]);
        give_all(ground, &work);
    })
}

/// What the person's own git does in a folder, with a canary in its settings.
fn touches(ground: &Ground, folder: &str, words: &[&str]) -> bool {
    let canary = ground.path().join("canary");
    if !ground.work().join(folder).is_dir() {
        return false;
    }
    let mut command = ground.as_user(Path::new("git"));
    command.args(["-c", "safe.directory=*"]).args(words).current_dir(ground.work().join(folder));
    Output::of(&mut command, b"");
    fs::remove_file(&canary).is_ok()
}

/// Settings and hooks are no older than the repository that they act in.
#[test]
fn what_was_prepared_acts_for_nobody_when_a_repository_is_made_around_it() {
    for ground in grounds() {
        let canary = ground.path().join("canary").display().to_string();
        let prepared = |folder: &str| {
            format!(
                "mkdir -p {folder}/objects {folder}/refs {folder}/hooks; printf '[core]\\n\\trepositoryformatversion = 0\\n\
                 \\tbare = false\\n\\tfsmonitor = \"touch {canary}; false\"\\n' > {folder}/config\n"
            )
        };
        for (first, then, folder) in [
            (prepared("src"), "echo ref: refs/heads/master > src/HEAD; mkdir -p src/x".to_owned(), "src"),
            (prepared("src/tpl"), "mv src/tpl app/.git; echo ref: refs/heads/master > app/.git/HEAD".to_owned(), "app"),
            (
                format!("{}echo ref: refs/heads/master > src/tpl2/HEAD2", prepared("src/tpl2")),
                "mv src/tpl2/HEAD2 src/tpl2/HEAD; mkdir app2; mv src/tpl2 app2/.git".to_owned(),
                "app2",
            ),
            // With a harmless repository below; with settings elsewhere, and a hook that is moved in.
            (
                format!("{}git init -q other/sub", prepared("other")),
                "echo ref: refs/heads/master > other/HEAD".to_owned(),
                "other",
            ),
            (
                format!("{}mkdir -p lead/objects lead/refs; echo ../led > lead/commondir", prepared("led")),
                "echo ref: refs/heads/master > lead/HEAD".to_owned(),
                "lead",
            ),
        ] {
            ground.run_script(&first);
            std::thread::sleep(std::time::Duration::from_millis(30));
            let outcome = ground.run_script(&then);
            assert!(!touches(&ground, folder, &["status"]), "{}: {then}: {outcome:#}", ground.name());
            let aside = [changes(&outcome, "set_aside"), changes(&outcome, "put_back")].concat();
            assert!(!aside.is_empty(), "{}: {then}: {outcome:#}", ground.name());
        }
    }
}

/// Nobody looks through git's own folders, so that nothing else leads into them.
#[test]
fn an_old_folder_is_not_moved_to_where_nobody_looks() {
    for ground in grounds() {
        let canary = ground.path().join("canary").display().to_string();
        let evil = |folder: &str| {
            format!(
                "git init -q {folder}; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \"touch {canary}; false\"\\n' \
                 > {folder}/.git/config; echo x > {folder}/.envrc; mkdir {folder}/.claude; echo '{{}}' > {folder}/.claude/settings.json"
            )
        };
        for (number, place) in [".git/objects/app", ".git/x/app", "lib/.git/app"].into_iter().enumerate() {
            let folder = format!("f{number}");
            ground.write(&format!("work/{folder}/a"), "x");
            give_all(&ground, &ground.work());
            let outcome = ground.run_script(&format!(
                "git init -q lib; mkdir -p $(dirname {place}); mv {folder} {place}; {}; ln -s {place} {folder}",
                evil(place)
            ));
            assert!(!touches(&ground, &folder, &["status"]), "{}: {place}: {outcome:#}", ground.name());
            assert!(!ground.work().join(&folder).join(".envrc").exists(), "{}: {place}: {outcome:#}", ground.name());
        }
        // An address that says it in another way.
        for address in [
            "file:///%74mp/r.git",
            "/dev//shm/r.git",
            "../.git/objects/e.git",
            "../.git/objects/e",
            "~/../../../tmp/x",
            "not/there",
            "ext::sh",
            "-x",
        ] {
            let outcome = ground.run_script(&format!(
                "mkdir -p .git/objects/e.git; rm -rf g; git init -q g; cd g; git config remote.origin.url '{address}'"
            ));
            assert!(!ground.work().join("g/.git/config").exists(), "{}: {address}: {outcome:#}", ground.name());
        }
    }
}

/// What is in a folder that acts by its name is nobody's working tree, whatever lies beside it.
#[test]
fn a_copy_of_the_projects_file_is_one_only_under_its_name() {
    for ground in grounds() {
        for (name, text) in [("work/tasks.json", "{}"), ("work/pre-commit", "touch x"), ("work/settings.json", "{}")] {
            ground.write(name, text);
        }
        git(&ground.work(), &["add", "-A"]);
        git(&ground.work(), &["commit", "-qm", "two"]);
        give_all(&ground, &ground.work());
        std::thread::sleep(std::time::Duration::from_millis(30));
        for (from, to) in [
            ("tasks.json", "app/.vscode/tasks.json"),
            ("pre-commit", "app/.husky/pre-commit"),
            ("settings.json", "app/.claude/settings.json"),
            ("tasks.json", ".devcontainer/tasks.json"),
        ] {
            let folder = Path::new(to).parent().unwrap().display();
            let outcome = ground.run_script(&format!("mkdir -p {folder}/.git; cp {from} {to}"));
            assert!(!ground.work().join(to).exists(), "{}: {to}: {outcome:#}", ground.name());
        }
    }
}

/// What a run closes, an agent cannot read: it would run ungated.
#[test]
fn folders_of_settings_stay_open() {
    use std::os::unix::fs::PermissionsExt as _;
    for ground in grounds() {
        for name in ["work/.claude/settings.json", "work/src/.vscode/tasks.json", "home/.claude/settings.json"] {
            ground.write(name, "{}");
        }
        give_all(&ground, &ground.work());
        for closed in ["000 .claude", "0300 .claude", "000 src/.vscode", "0300 src", "000 ."] {
            let folder = ground.work().join(closed.split_once(' ').unwrap().1);
            let before = fs::metadata(&folder).unwrap().permissions().mode();
            let outcome = ground.run_script(&format!("chmod {closed}; true"));
            assert_eq!(
                fs::metadata(&folder).unwrap().permissions().mode(),
                before,
                "{}: {closed}: {outcome:#}",
                ground.name()
            );
        }
    }
}

/// Git takes a name as it stands: blanks are letters of it.
#[test]
fn a_worktrees_way_back_is_read_as_git_reads_it() {
    for ground in grounds() {
        let canary = ground.path().join("canary").display().to_string();
        let outcome = ground.run_script(&format!(
            "git worktree add -q wt\nmkdir -p evil/refs evil/objects\n\
             printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \"touch {canary}; false\"\\n' > evil/config\n\
             cp -r .git/refs .git/objects evil/; cp .git/HEAD evil/s 2>/dev/null\n\
             printf ' ../..\\n' > .git/worktrees/wt/commondir\nln -s ../../../evil/refs '.git/worktrees/wt/ ..'\ntrue"
        ));
        assert!(!touches(&ground, "wt", &["status"]), "{}: {outcome:#}", ground.name());
        let outcome = ground.run_script("printf 'gitdir:  ../e\\n' > app/.git; ln -s .git/worktrees/wt e; true");
        assert!(!ground.work().join("app/.git").exists(), "{}: {outcome:#}", ground.name());
        let outcome = ground.run_script(
            "ln -sfn .git/worktrees/wt e; mkdir x; ln -s x \"$(printf 'e\\nx')\"; printf 'gitdir: ../e\\n\\0x' > app/.git\n\
             realpath app/.git > .git/worktrees/wt/gitdir; true",
        );
        assert!(!ground.work().join("app/.git").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// What runs at a fetch, a push or a tool's start, in a repository that a run has made.
#[test]
fn settings_that_act_at_a_remote_start_nothing() {
    for ground in grounds() {
        let canary = ground.path().join("canary").display().to_string();
        for (number, (settings, words)) in [
            (
                format!(
                    "git config protocol.ext.allow always; git config branch.master.remote 'ext::sh -c touch% {canary};exit% 1'; \
                     git config branch.master.merge refs/heads/master"
                ),
                vec!["fetch"],
            ),
            (
                format!(
                    "git config protocol.ext.allow always; git config remote.pushdefault 'ext::sh -c touch% {canary};exit% 1'"
                ),
                vec!["push"],
            ),
            ("git config diff.guitool ../../../../../../../../tmp/tool.sh".to_owned(), vec![]),
            ("git config remote.origin.url /tmp/r.git".to_owned(), vec![]),
            ("git config remote.origin.url /dev/shm/r.git".to_owned(), vec![]),
            ("git config remote.origin.url https://h.example/x; git config remote.origin.mirror true".to_owned(), vec![]),
        ]
        .iter()
        .enumerate()
        {
            let folder = format!("r{number}");
            let outcome = ground.run_script(&format!("mkdir {folder}; cd {folder}; git init -q -b master; {settings}"));
            if !words.is_empty() {
                assert!(!touches(&ground, &folder, words), "{}: {settings}: {outcome:#}", ground.name());
            }
            assert!(!ground.work().join(&folder).join(".git/config").exists(), "{}: {settings}: {outcome:#}", ground.name());
        }
        // What a clone and everyday settings write stays.
        ground.run_script("git init -q --bare 'a b.git'");
        for settings in [
            "git config remote.origin.url 'https://dev.example/o/My%20Project/_git/x?y=(1)'",
            "git config remote.origin.url '../a b.git'",
            "git config remote.origin.url https://h.example/x.git; git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; \
             git config branch.main.remote origin; git config branch.main.merge refs/heads/main",
            "git config remote.up.url git@h.example:x.git; git config branch.a.pushremote up; git config diff.tool meld",
        ] {
            let folder = format!("s{}", settings.len());
            let outcome = ground.run_script(&format!("mkdir {folder}; cd {folder}; git init -q -b master; {settings}"));
            assert!(
                ground.work().join(&folder).join(".git/config").exists(),
                "{}: {settings}: {outcome:#}",
                ground.name()
            );
        }
    }
}

/// A rebase that never was, and a link to where everybody writes.
#[test]
fn steps_and_links_that_a_run_leaves_start_nothing() {
    for ground in grounds() {
        let outcome = ground.run_script(
            "mkdir -p .git/rebase-merge; printf 'exec touch canary\\n' > .git/rebase-merge/git-rebase-todo\n\
             echo refs/heads/main > .git/rebase-merge/head-name; git rev-parse HEAD > .git/rebase-merge/onto\n\
             git rev-parse HEAD > .git/rebase-merge/orig-head; true",
        );
        assert!(!ground.work().join(".git/rebase-merge/git-rebase-todo").exists(), "{}: {outcome:#}", ground.name());
        // The same in two runs; and a way to join branches that is a program.
        ground.run_script("echo noop > .git/rebase-merge/git-rebase-todo");
        let outcome = ground.run_script("echo 'exec touch canary' > .git/rebase-merge/git-rebase-todo");
        assert!(!ground.work().join(".git/rebase-merge/git-rebase-todo").exists(), "{}: {outcome:#}", ground.name());
        let outcome = ground.run_script(
            "mkdir -p .git/sequencer; printf '[options]\\nstrategy = /../src/run.sh\\n' > .git/sequencer/opts\n\
             git rev-parse HEAD > .git/sequencer/head; echo pick > .git/sequencer/todo; echo ../x > .git/rebase-merge/strategy",
        );
        for name in ["sequencer/opts", "rebase-merge/strategy"] {
            assert!(!ground.work().join(".git").join(name).exists(), "{}: {name}: {outcome:#}", ground.name());
        }
        for (name, text) in [
            ("sequencer/opts", "[options] strategy = /../src/run.sh\\n"),
            ("sequencer/opts", "[options]\\nStrategy = x\\n"),
            ("rebase-merge/strategy", "ort\\n/../src/run.sh\\n"),
        ] {
            let outcome = ground.run_script(&format!("printf '{text}' > .git/{name}"));
            assert!(!ground.work().join(".git").join(name).exists(), "{}: {text}: {outcome:#}", ground.name());
        }
        let outcome = ground.run_script("printf '[options]\\n\\tstrategy = ort\\n' > .git/sequencer/opts");
        assert!(ground.work().join(".git/sequencer/opts").exists(), "{}: {outcome:#}", ground.name());
        // What was in force is so where it is moved to.
        let theirs = ground.work().join("vend");
        git(&ground.work(), &["init", "-q", "vend"]);
        git(&theirs, &["config", "core.fsmonitor", "./watch"]);
        give_all(&ground, &ground.work());
        let outcome = ground.run_script("mkdir third; mv vend third/vend");
        assert!(ground.work().join("third/vend/.git/config").exists(), "{}: {outcome:#}", ground.name());
        // A repository without its files, or what only looked like one, is none that anybody has worked in there.
        fs::create_dir_all(ground.work().join("fixture/objects")).unwrap();
        fs::create_dir_all(ground.work().join("fixture/refs")).unwrap();
        ground.write("work/fixture/HEAD", "ref: refs/heads/main\n");
        ground.write("work/fixture/config", "[core]\n\tbare = false\n\tfsmonitor = ./watch\n");
        give_all(&ground, &ground.work());
        for (from, folder) in [("fixture", "src"), ("third/vend/.git", "app")] {
            let outcome = ground.run_script(&format!("mv {from} {folder}/.git"));
            assert!(!ground.work().join(folder).join(".git/config").exists(), "{}: {from}: {outcome:#}", ground.name());
        }
        let elsewhere = tempfile::Builder::new().prefix("elsewhere-").tempdir_in("/tmp").unwrap();
        fs::create_dir_all(elsewhere.path().join(".git")).unwrap();
        let to = elsewhere.path().display();
        let outcome = ground.run_script(&format!("rm -rf app; ln -s {to} app"));
        assert!(!ground.work().join("app").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// What a person has read is what is given back, also behind a link.
#[test]
fn a_link_that_was_set_aside_is_given_back_as_it_was_read() {
    for ground in grounds() {
        let work = ground.work();
        ground.run_script("echo '{\"harmless\":1}' > x.json; mkdir -p lib; ln -s x.json .mcp.json; mkdir skills; echo x > skills/s; ln -s skills .vscode");
        ground.run_script("echo '{\"evil\":1}' > x.json; echo evil > skills/s");
        let tool = |arguments: &[&str]| {
            let mut command = ground.as_user(&ground.path().join("bin/bashgate-run"));
            Output::of(command.arg("set-aside").args(arguments).current_dir(&work), b"")
        };
        let all: serde_json::Value = serde_json::from_str(&tool(&["--json"]).expect(0).stdout).unwrap();
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), 2, "{}: {all:?}", ground.name());
        for one in all {
            let said = tool(&["--give-back", one["aside"].as_str().unwrap()]).expect(2).stderr;
            assert!(said.contains("changed") || said.contains("more than is looked at"), "{}: {said}", ground.name());
            assert!(!Path::new(one["path"].as_str().unwrap()).is_symlink(), "{}", ground.name());
        }
    }
}

/// A worktree and a clone in the project have the project's own files, and no others.
#[test]
fn working_trees_in_the_project_have_the_projects_own_files() {
    for ground in grounds() {
        let work = ground.work();
        let acting = [".envrc", ".mcp.json", ".vscode/tasks.json", ".claude/settings.json", "app/.codex/hooks.json"];
        for name in acting {
            ground.write(&format!("work/{name}"), "{\"mine\":1}\n");
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "two"]);
        give_all(&ground, &work);
        std::thread::sleep(std::time::Duration::from_millis(30));
        let outcome = ground.run_script("git worktree add -q wt; git clone -q . cl; true");
        for name in acting {
            for tree in ["wt", "cl"] {
                assert!(work.join(tree).join(name).exists(), "{}: {tree}/{name}: {outcome:#}", ground.name());
            }
        }
        let outcome = ground.run_script("git worktree add -q wt2; echo evil > wt2/.envrc; cp .envrc src/.envrc");
        for plant in ["wt2/.envrc", "src/.envrc"] {
            assert!(!work.join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        assert!(work.join("wt2/.mcp.json").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// What stands in the place of another object is written out by the person's own git, though nobody has committed it.
#[test]
fn no_object_takes_the_place_of_another_one() {
    for ground in grounds() {
        let work = ground.work();
        let replaces = "git replace $(git rev-parse HEAD:README) $(echo evil | git hash-object -w --stdin)";
        let outcome = ground.run_script(replaces);
        let written = |folder: &str| {
            git(&work, &["worktree", "add", "-q", "--detach", folder]);
            fs::read_to_string(work.join(folder).join("README")).unwrap()
        };
        assert_eq!(written("../one"), "x", "{}: {outcome:#}", ground.name());
        assert!(!changes(&outcome, "set_aside").is_empty(), "{}: {outcome:#}", ground.name());
        // Packed, it is a line among all references, which are not taken away: it is told.
        let outcome = ground.run_script(&format!("{replaces}; git pack-refs --all"));
        let told = serde_json::to_string(&outcome).unwrap();
        assert!(told.contains(".git/packed-refs"), "{}: {outcome:#}", ground.name());
        let line = "git rev-parse HEAD | tr -d '\\n' > .git/info/grafts";
        let outcome = ground.run_script(line);
        assert!(!work.join(".git/info/grafts").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// The folder of what gates an agent becomes a link to one that an earlier run has made.
#[test]
fn what_gates_an_agent_does_not_lie_behind_a_new_link() {
    for ground in grounds() {
        let work = ground.work();
        ground.write("work/tools/gate.sh", "#!/bin/sh\nexit 2\n");
        ground.write(
            "work/.claude/settings.json",
            r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"sh tools/gate.sh"}]}]}}"#,
        );
        give_all(&ground, &work);
        ground.run_script("mkdir t0; printf '#!/bin/sh\\nexit 0\\n' > t0/gate.sh");
        let outcome = ground.run_script("mv tools t2; ln -s t0 tools");
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, "#!/bin/sh\nexit 2\n", "{}: {outcome:#}", ground.name());
        assert!(!work.join("tools").is_symlink(), "{}: {outcome:#}", ground.name());
    }
}

/// The same of a run that is killed before it can put anything back.
#[test]
fn what_gates_an_agent_comes_back_from_behind_links_of_a_killed_run() {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;

    for (ground, turn) in [
        "mv tools t2; mkdir tools; ln -s ../old.sh tools/gate.sh",
        "mv tools t2; mkdir t3; cp old.sh t3/gate.sh; ln -s t3 tools",
        "rm -f tools/gate.sh; ln -s ../old.sh tools/gate.sh || { mv tools t2; mkdir tools; ln -s ../old.sh tools/gate.sh; }",
    ]
    .into_iter()
    .flat_map(|turn| super::cages().map(move |ground| (ground, turn)))
    {
        let work = ground.work();
        ground.write("work/tools/gate.sh", "exit 2\n");
        ground.write("work/old.sh", "exit 0\n");
        let settings = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"sh tools/gate.sh"}]}]}}"#;
        ground.write("work/.claude/settings.json", settings);
        ground.write("work/script.sh", &format!("{turn}\ntouch turned\nsleep 60\n"));
        let mut driver = ground.driver();
        driver.process_group(0).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
        let mut running = driver.stderr(std::process::Stdio::null()).spawn().unwrap();
        running.stdin.take().unwrap().write_all(ground.order("bash script.sh").to_string().as_bytes()).unwrap();
        until("its turn", || work.join("turned").exists().then_some(()));
        let group = rustix::process::Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        running.wait().unwrap();
        let outcome = ground.run("true");
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, "exit 2\n", "{}: {turn}: {outcome:#}", ground.name());
        assert!(!work.join("tools").is_symlink(), "{}: {turn}: {outcome:#}", ground.name());
        assert!(!work.join("tools/gate.sh").is_symlink(), "{}: {turn}: {outcome:#}", ground.name());
    }
}
