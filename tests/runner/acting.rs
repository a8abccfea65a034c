//! Files that act later, anywhere in a workspace: what was there stays as it was, what is new is set aside.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use bashgate_tests::Output;
use serde_json::Value;

use super::{Ground, Who, behind, cages, everywhere};

/// Plants in folders of their own, in any case of letters, and behind names that look harmless.
const PLANTS: [&str; 12] = [
    "app/.claude/settings.json",
    "app/.claude/settings.local.json",
    "app/.mcp.json",
    "app/.envrc",
    "app/.vscode/tasks.json",
    "a/b/c/d/.VSCode/tasks.json",
    "web/.husky/pre-commit",
    "node_modules/x/.cursor/hooks.json",
    "pkg/.devcontainer/devcontainer.json",
    "sub/.githooks/post-checkout",
    ".gemini/settings.json",
    "opencode.json",
];

fn planting(path: &str) -> String {
    format!("mkdir -p \"$(dirname {path})\" && printf planted > {path}")
}

pub(super) fn changes(outcome: &Value, change: &str) -> Vec<String> {
    let violations = outcome["violations"].as_array().unwrap_or_else(|| panic!("{outcome:#}"));
    let of = violations.iter().filter(|violation| violation["change"] == change);
    of.map(|violation| violation["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_new_and_acts_later_is_set_aside_wherever_it_lies() {
    for ground in everywhere("") {
        for (number, plant) in PLANTS.iter().enumerate() {
            let folder = format!("f{number}");
            let path = format!("{folder}/{plant}");
            let outcome = ground.run_script(&planting(&path));
            let planted = ground.work().join(&path);
            assert!(!planted.exists(), "{}: {plant}: {outcome:#}", ground.name());
            assert_eq!(changes(&outcome, "set_aside").len(), 1, "{}: {plant}: {outcome:#}", ground.name());
            // A person finds it under its new name.
            let aside = outcome["violations"][0]["aside"].as_str().unwrap();
            assert_eq!(fs::read_to_string(aside).unwrap(), "planted", "{}: {plant}", ground.name());
            fs::remove_dir_all(ground.work().join(folder)).unwrap();
        }
    }
}

#[test]
fn a_hook_in_a_new_repository_is_set_aside_and_git_works() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let outcome = ground.run("git init -q sub && printf 'touch x' > sub/.git/hooks/pre-commit && chmod +x sub/.git/hooks/pre-commit && echo fine");
        assert_eq!(outcome["stdout"], "fine\n", "{}: {outcome:#}", ground.name());
        assert!(!ground.work().join("sub/.git/hooks/pre-commit").exists(), "{}: {outcome:#}", ground.name());
        assert!(ground.work().join("sub/.git/config").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// Settings of submodules, linked worktrees and repositories in the workspace make git run something as the workspace's own do.
#[test]
fn settings_of_repositories_in_the_repository_are_as_they_were() {
    let files = [
        ".git/modules/sm/config",
        ".git/modules/a/b/config",
        ".git/worktrees/wt/config.worktree",
        "nest/.git/config",
        "d/e/.git/config",
    ];
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        ground.write("work/.git/HEAD", "ref: refs/heads/main\n");
        for file in files {
            ground.write(&format!("work/{file}"), "[core]\n");
            let folder = ground.work().join(file).parent().unwrap().to_owned();
            fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        give_all(&ground, &ground.work());
        for change in [
            "echo 'fsmonitor = x' >> F",
            "mv F F.old; echo '[core] fsmonitor = x' > F",
            "rm -f F",
            "sed -i s/core/x/ F",
        ] {
            let all: Vec<String> = files.iter().map(|file| change.replace('F', file)).collect();
            let outcome = ground.run_script(&all.join("\n"));
            for file in files {
                let now = fs::read_to_string(ground.work().join(file)).unwrap_or_default();
                let is_told = outcome["violations"].to_string().contains(file);
                // What is gone makes git run nothing.
                assert!(
                    now == "[core]\n" || now.is_empty() && is_told,
                    "{}: {change}: {file}: {now}: {outcome:#}",
                    ground.name()
                );
                ground.write(&format!("work/{file}"), "[core]\n");
            }
            give_all(&ground, &ground.work());
        }
    }
}

#[test]
fn what_was_there_and_acts_later_is_as_it_was() {
    for ground in everywhere("") {
        for plant in PLANTS {
            ground.write(&format!("work/{plant}"), "before");
        }
        give_all(&ground, &ground.work());
        let overwrite: Vec<String> = PLANTS.iter().map(|plant| format!("printf after > {plant}")).collect();
        let outcome = ground.run_script(&overwrite.join("\n"));
        for plant in PLANTS {
            let now = fs::read_to_string(ground.work().join(plant)).unwrap();
            assert_eq!(now, "before", "{}: {plant}: {outcome:#}", ground.name());
        }
        // Without the file there would be no gate.
        let outcome = ground.run_script("rm -rf .gemini app/.claude");
        assert!(ground.work().join(".gemini/settings.json").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// Gives a folder to whoever works there, with all that is in it.
pub(super) fn give_all(ground: &Ground, folder: &Path) {
    ground.give(folder);
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            give_all(ground, &entry.path());
        } else {
            ground.give(&entry.path());
        }
    }
}

pub(super) fn git(folder: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command
        .args(["-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "safe.directory=*"])
        .args(arguments)
        .current_dir(folder);
    assert!(command.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn what_everyday_tools_make_is_told_and_stays() {
    let alone = "[presets.p.git]\nrepository = \"write\"\n[presets.p.limits]\ntimeout_s = 60";
    for ground in everywhere(alone).chain(cages()) {
        let work = ground.work();
        git(&work, &["init", "-q", "-b", "main"]);
        fs::write(work.join("README"), "x").unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "one"]);
        git(&work, &["checkout", "-qb", "side"]);
        fs::create_dir_all(work.join("app/.vscode")).unwrap();
        fs::write(work.join("app/.vscode/tasks.json"), "{}").unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "two"]);
        git(&work, &["checkout", "-q", "main"]);
        give_all(&ground, &work);
        let outcome =
            ground.run("git checkout -q side && python3 -m venv --without-pip venv && venv/bin/python -c 'print(1)'");
        assert_eq!(outcome["stdout"], "1\n", "{}: {outcome:#}", ground.name());
        assert!(work.join("app/.vscode/tasks.json").exists(), "{}: {outcome:#}", ground.name());
        assert!(changes(&outcome, "set_aside").is_empty(), "{}: {outcome:#}", ground.name());
        let told = changes(&outcome, "created");
        assert!(told.iter().any(|path| path.ends_with("app/.vscode/tasks.json")), "{}: {outcome:#}", ground.name());
        assert!(told.iter().any(|path| path.contains("venv/bin/")), "{}: {outcome:#}", ground.name());
    }
}

/// A linked worktree commits into its repository, wherever that lies, and can do nothing else there; one that only claims to be of a
/// repository cannot even that.
#[test]
fn linked_worktrees_commit_and_no_more() {
    for ground in cages() {
        let (work, main) = (ground.work(), ground.outside().join("main"));
        git(&ground.outside(), &["init", "-q", "-b", "main", "main"]);
        git(&main, &["config", "user.name", "n"]);
        git(&main, &["config", "user.email", "n@example.invalid"]);
        fs::write(main.join("README"), "x").unwrap();
        git(&main, &["add", "."]);
        git(&main, &["commit", "-qm", "one"]);
        fs::remove_dir(&work).unwrap();
        git(&main, &["worktree", "add", "-q", "-b", "side", work.to_str().unwrap()]);
        give_all(&ground, &ground.outside());
        give_all(&ground, &work);
        let outcome = ground.run("echo y > f && git add f && git commit -qm two && git log --format=%s | head -1");
        assert_eq!(outcome["stdout"], "two\n", "{}: {outcome:#}", ground.name());
        let config = fs::read_to_string(main.join(".git/config")).unwrap();
        let outcome = ground.run_script(&format!(
            "m={0}; git config core.pager evil; echo evil >> $m/.git/config; mkdir -p $m/.git/hooks; echo evil > $m/.git/hooks/post-commit\n\
             echo evil > $m/README; echo evil > $m/.git/config.worktree; mv $m/.git $m/other; echo $m/x > $m/.git/commondir; true",
            main.display()
        ));
        assert_eq!(fs::read_to_string(main.join(".git/config")).unwrap(), config, "{}: {outcome:#}", ground.name());
        assert_eq!(fs::read_to_string(main.join("README")).unwrap(), "x", "{}", ground.name());
        for plant in ["hooks/post-commit", "config.worktree", "commondir"] {
            assert!(!main.join(".git").join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        // The folder's own word is not enough.
        let other = ground.outside().join("other");
        git(&ground.outside(), &["init", "-q", "other"]);
        give_all(&ground, &other);
        for said in [other.join(".git"), other.join(".git/worktrees/x"), main.join(".git")] {
            ground.write("work/.git", &format!("gitdir: {}\n", said.display()));
            ground.run_script(&format!(
                "echo evil > {}/.git/objects/evil; echo evil > {}/.git/objects/evil",
                other.display(),
                main.display()
            ));
            for repository in [&other, &main] {
                assert!(!repository.join(".git/objects/evil").exists(), "{}: {}", ground.name(), said.display());
            }
        }
    }
}

/// What makes git run something in a repository of the workspace, of a submodule or a worktree, wherever a run may write it: new ones are
/// set aside, others have their old content again.
#[test]
fn settings_that_a_run_brings_with_a_repository_start_nothing() {
    for ground in cages() {
        let work = ground.work();
        fs::create_dir(work.join("main")).unwrap();
        let main = work.join("main");
        git(&main, &["init", "-q", "-b", "main"]);
        fs::write(main.join("README"), "x").unwrap();
        git(&main, &["add", "."]);
        git(&main, &["commit", "-qm", "one"]);
        git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
        git(&main, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.to_str().unwrap(), "sm"]);
        git(&main, &["commit", "-qm", "two"]);
        fs::create_dir(work.join("old")).unwrap();
        give_all(&ground, &work);
        let canary = ground.path().join("home/CANARY");
        let evil =
            format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch {}; false\"\n", canary.display());
        let planted = ground.write("work/evil-config", &evil);
        // Git does run it where nobody keeps it from that.
        let control = ground.outside().join("control");
        git(&ground.outside(), &["init", "-q", "control"]);
        fs::copy(planted, control.join(".git/config")).unwrap();
        git(&control, &["status"]);
        fs::remove_file(&canary).unwrap();
        for plant in [
            "cp -r main/.git evil; cp evil-config evil/config; echo $PWD/evil > main/.git/worktrees/side/commondir",
            "cp -r main/.git evil; cp evil-config evil/config; echo $PWD/evil > main/.git/modules/sm/commondir",
            "git -C main config extensions.worktreeConfig true; cp evil-config main/.git/worktrees/side/config.worktree",
            "cp -r main/.git/modules/sm evil; cp evil-config evil/config; echo gitdir: ../../evil > main/sm/.git",
            "cp evil-config main/.git/modules/sm/config",
            "git init -q old; cp evil-config old/.git/config",
            "git init -q .; cp evil-config .git/config",
            "git init -q new; printf '[include]\\n\\tpath = ../../evil-config\\n' >> new/.git/config",
        ] {
            let outcome = ground.run_script(plant);
            for folder in ["", "main", "side", "main/sm", "old", "new"] {
                let mut status = ground.as_user(Path::new("git"));
                status
                    .args(["-c", "safe.directory=*", "status"])
                    .current_dir(work.join(folder).canonicalize().unwrap_or(work.clone()));
                drop(Output::of(&mut status, b""));
            }
            assert!(!canary.exists(), "{}: {plant}: {outcome:#}", ground.name());
            for left in ["evil", "old/.git", ".git", "new"] {
                let _ = fs::remove_dir_all(work.join(left));
            }
        }
        // Nor does one wait for what it has put there.
        let outcome = ground.run_script("rm -f main/.git/worktrees/side/commondir; mkfifo main/.git/worktrees/side/commondir main/.git/modules/sm/commondir; true");
        assert!(!outcome["violations"].as_array().unwrap().is_empty(), "{}: {outcome:#}", ground.name());
        assert_eq!(ground.run("echo fine")["stdout"], "fine\n", "{}", ground.name());
    }
}

/// What was set aside is listed and has its name again by a person's word, and by no run.
#[test]
fn what_was_set_aside_is_given_back_by_a_word() {
    for ground in cages() {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        give_all(&ground, &work);
        let outcome = ground.run_script("mkdir app; echo mine > app/.envrc; ln -s /x .mcp.json");
        let tool = |arguments: &[&str]| {
            let mut command = ground.as_user(&ground.path().join("bin/bashgate-run"));
            Output::of(command.arg("set-aside").args(arguments).current_dir(&work), b"")
        };
        let all: Value = serde_json::from_str(&tool(&["--json"]).expect(0).stdout).unwrap();
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), 2, "{}: {all:?} {outcome:#}", ground.name());
        let plain = tool(&[]).expect(0).stdout;
        for one in all {
            let (path, aside) = (one["path"].as_str().unwrap(), one["aside"].as_str().unwrap());
            assert!(plain.contains(path) && plain.contains(aside), "{plain}");
            // A run knows the name, and gives nothing back.
            ground.run_script(&format!(
                "mv {aside} {path}; {} set-aside --give-back {aside}; true",
                ground.path().join("bin/bashgate-run").display()
            ));
            assert!(Path::new(path).symlink_metadata().is_err(), "{}: {path}", ground.name());
        }
        let all: Value = serde_json::from_str(&tool(&["--json"]).expect(0).stdout).unwrap();
        for one in all.as_array().unwrap() {
            let path = one["path"].as_str().unwrap();
            tool(&["--give-back", one["aside"].as_str().unwrap()]).expect(0);
            assert!(Path::new(path).symlink_metadata().is_ok(), "{}: {path}", ground.name());
        }
        assert_eq!(fs::read_to_string(work.join("app/.envrc")).unwrap(), "mine\n");
        assert!(tool(&["--give-back", "README"]).expect(2).stderr.contains("nothing that was set aside"));
        assert!(tool(&[]).expect(0).stdout.contains("nothing below"));
    }
}

/// What a package manager installs, its programs and what they build, works in the run that installs it and stays.
#[test]
fn packages_are_installed_and_stay() {
    for ground in everywhere("[presets.p.limits]\ntimeout_s = 120").chain(cages()) {
        let work = ground.work();
        let package = work.join("package");
        fs::create_dir(&package).unwrap();
        fs::write(
            package.join("package.json"),
            r#"{"name":"dep","version":"1.0.0","bin":{"dep":"run.js"},"scripts":{"postinstall":"echo built > built"}}"#,
        )
        .unwrap();
        fs::write(
            package.join("run.js"),
            "#!/usr/bin/env node\nconsole.log(require('fs').readFileSync(__dirname + '/built', 'utf8').trim())\n",
        )
        .unwrap();
        let mut tar = std::process::Command::new("tar");
        tar.args(["czf", "dep.tgz", "package"]).current_dir(&work);
        assert!(tar.status().unwrap().success());
        fs::remove_dir_all(&package).unwrap();
        let root = r#"{"name":"app","version":"1.0.0","dependencies":{"dep":"file:dep.tgz"}}"#;
        fs::write(work.join("package.json"), root).unwrap();
        let locked = r#"{"version":"1.0.0","resolved":"file:dep.tgz","hasInstallScript":true,"bin":{"dep":"run.js"}}"#;
        let lock = format!(
            r#"{{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{{"":{root},"node_modules/dep":{locked}}}}}"#
        );
        fs::write(work.join("package-lock.json"), lock).unwrap();
        give_all(&ground, &work);
        let outcome =
            ground.run("npm ci --loglevel=error --no-audit --no-fund >&2 && node_modules/.bin/dep && npx dep");
        assert_eq!(outcome["stdout"], "built\nbuilt\n", "{}: {outcome:#}", ground.name());
        assert!(work.join("node_modules/.bin/dep").exists(), "{}: {outcome:#}", ground.name());
        assert!(changes(&outcome, "set_aside").is_empty(), "{}: {outcome:#}", ground.name());
        let told = changes(&outcome, "created");
        assert!(told.iter().any(|path| path.contains("node_modules/.bin")), "{}: {outcome:#}", ground.name());
        // A second one takes the first one's away and installs it again.
        let outcome = ground.run("npm ci --loglevel=error --no-audit --no-fund >&2 && npx dep");
        assert_eq!(outcome["stdout"], "built\n", "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn a_folder_of_a_thousand_plants_is_one_line_of_words() {
    let ground = Ground::new(Who::User, "bwrap", "");
    let outcome = ground.run("mkdir -p venv/bin; for i in $(seq 1000); do echo x > venv/bin/p$i; done");
    let violations = outcome["violations"].as_array().unwrap();
    assert!(violations.len() <= 64, "{outcome:#}");
    assert_eq!(violations.iter().filter_map(|violation| violation["more"].as_u64()).sum::<u64>(), 936, "{outcome:#}");
    let remarks = outcome["remarks"].as_str().unwrap();
    assert!(remarks.lines().count() <= 8 && remarks.contains("992 more"), "{remarks}");
}

#[test]
fn nothing_that_is_put_back_lends_rights() {
    for ground in everywhere("") {
        let kept = ground.write("work/pkg/.husky/sh", "before");
        give_all(&ground, &ground.work());
        fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
        ground.run_script("mv pkg pkg2; mkdir -p pkg/.husky; echo x > pkg/.husky/sh; rm -f .husky/sh");
        if let Ok(found) = fs::metadata(&kept) {
            let mode = std::os::unix::fs::MetadataExt::mode(&found);
            let owner = std::os::unix::fs::MetadataExt::uid(&found);
            let worker = std::os::unix::fs::MetadataExt::uid(&fs::metadata(ground.work()).unwrap());
            assert!(mode & 0o6000 == 0 && owner == worker, "{}: {mode:o} of {owner}", ground.name());
        }
    }
}

#[test]
fn what_the_watch_meets_does_not_hold_it_up_or_hide_from_it() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        git(&ground.work(), &["init", "-q"]);
        give_all(&ground, &ground.work());
        for (script, plant) in [
            ("rm -f .git/index; mkfifo .git/index; echo x > a.envrc; mkdir a; echo x > a/.envrc", "a/.envrc"),
            ("mkdir b; mkfifo b/.git; echo x > b/.envrc", "b/.envrc"),
            ("d=$(printf 'c\\377'); mkdir \"$d\"; echo x > \"$d/.envrc\"; ln -s \"$d\" c", "c/.envrc"),
            ("mkdir d; echo x > d/.envrc; chmod 555 d", "d/.envrc"),
            ("mkdir e; echo x > e/.envrc; chmod 000 e", "e/.envrc"),
            ("rm -f .git/index; mkdir f; echo x > f/.envrc; git add -f f/.envrc", "f/.envrc"),
            ("git init -q g; cd g; echo x > .envrc; git add -f .envrc", "g/.envrc"),
        ] {
            let outcome = ground.run_script(script);
            assert!(!ground.work().join(plant).exists(), "{}: {script}: {outcome:#}", ground.name());
        }
        let long = format!("mkdir -p .opencode/plugin; echo x > .opencode/plugin/{}.js", "A".repeat(240));
        let outcome = ground.run_script(&long);
        assert_eq!(changes(&outcome, "set_aside").len(), 1, "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn hooks_that_included_settings_name_are_seen() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        git(&work, &["config", "include.path", "../team.cfg"]);
        fs::write(work.join("team.cfg"), "[core]\nhooksPath = \"tools\"/hooks ; of the team\n").unwrap();
        fs::create_dir_all(work.join("tools/hooks")).unwrap();
        fs::write(work.join("tools/hooks/pre-commit"), "true\n").unwrap();
        give_all(&ground, &work);
        let outcome = ground.run_script("echo evil >> tools/hooks/pre-commit; echo evil > tools/hooks/post-commit");
        assert!(!work.join("tools/hooks/post-commit").exists(), "{}: {outcome:#}", ground.name());
        let now = fs::read_to_string(work.join("tools/hooks/pre-commit")).unwrap();
        assert_eq!(now, "true\n", "{}: {outcome:#}", ground.name());
    }
}

/// What a run tries, and where nothing of it may stand afterwards.
struct Trick {
    name: &'static str,
    /// Before the run, outside of it, in the workspace.
    before: &'static str,
    run: &'static str,
    /// Files that must not hold EVIL, relative to the workspace.
    clean: &'static [&'static str],
}

const fn trick(name: &'static str, before: &'static str, run: &'static str, clean: &'static [&'static str]) -> Trick {
    Trick { name, before, run, clean }
}

const TRICKS: &[Trick] = &[
    trick(
        "a folder that nobody may list",
        "git init -q --template= .",
        "mkdir -p .git/hooks; echo EVIL > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; chmod 300 .git/hooks",
        &[".git/hooks/pre-commit"],
    ),
    trick(
        "the same in a repository in it",
        "git init -q --template= .",
        "git init -q --template= sub; mkdir sub/.git/hooks; echo EVIL > sub/.git/hooks/post-merge; chmod 300 sub/.git/hooks",
        &["sub/.git/hooks/post-merge"],
    ),
    trick(
        "a folder of hooks by another name",
        "git init -q --template= .; mkdir th; echo old > th/pre-commit; git config core.hooksPath th",
        "echo EVIL > th/pre-commit; echo EVIL > th/post-merge; chmod 300 th",
        &["th/pre-commit", "th/post-merge"],
    ),
    trick(
        "its name ends like a sample's",
        "git init -q --template= .; mkdir hk.sample; echo x > hk.sample/README; git config core.hooksPath hk.sample",
        "echo EVIL > hk.sample/pre-push",
        &["hk.sample/pre-push"],
    ),
    trick(
        "the folder above it is exchanged",
        "git init -q --template= .; mkdir -p a/hooks b/hooks; echo old > a/hooks/pre-commit; git config core.hooksPath a/hooks",
        "mv a a.old; mkdir -p a/hooks; echo EVIL > a/hooks/pre-commit; echo EVIL > a/hooks/pre-push",
        &["a/hooks/pre-commit", "a/hooks/pre-push"],
    ),
    trick(
        "settings behind a linked folder",
        "mkdir -p conf/claude; echo old > conf/claude/settings.json; ln -s conf/claude .claude",
        "mv conf c2; mkdir -p conf/claude; echo EVIL > conf/claude/settings.json; echo EVIL > conf/claude/settings.local.json",
        &[".claude/settings.json", ".claude/settings.local.json"],
    ),
    trick(
        "tasks behind one that is written directly",
        "mkdir -p conf/vs; echo old > conf/vs/tasks.json; ln -s conf/vs .vscode",
        "echo EVIL > conf/vs/tasks.json; echo EVIL > conf/vs/settings.json",
        &[".vscode/tasks.json", ".vscode/settings.json"],
    ),
    trick(
        "hooks behind one",
        "git init -q --template= .; mkdir -p cfg/hooks; ln -s ../cfg/hooks .git/hooks",
        "echo EVIL > cfg/hooks/pre-commit; echo EVIL > cfg/hooks/post-checkout",
        &[".git/hooks/pre-commit", ".git/hooks/post-checkout"],
    ),
    trick(
        "what gates an agent in a folder of its own, taken away with it",
        "mkdir -p packages/x/.claude packages/x/src; echo old > packages/x/.claude/settings.json",
        "mv packages/x packages/y; mkdir -p packages/x/.claude; echo EVIL > packages/x/.claude/settings.json",
        &["packages/x/.claude/settings.json", "packages/y/.claude/settings.json"],
    ),
    trick(
        "a name that looks as if it had been set aside",
        "mkdir .bashrc.d",
        "echo EVIL > .bashrc.d/x.set-aside-0123456789abcdef",
        // Nobody's start-up file: it is told, and stays.
        &[],
    ),
    trick(
        "remotes of an older form",
        "git init -q --template= .",
        "mkdir -p .git/remotes .git/branches; echo URL: EVIL > .git/remotes/origin; echo EVIL > .git/branches/b",
        &[".git/remotes/origin", ".git/branches/b"],
    ),
    trick(
        "hooks of a bare repository whose head leads nowhere",
        "git init -q --bare --template= fix.git; rm fix.git/HEAD; ln -s refs/heads/none fix.git/HEAD",
        "mkdir -p fix.git/hooks; echo EVIL > fix.git/hooks/pre-receive",
        &["fix.git/hooks/pre-receive"],
    ),
    trick(
        "hooks of a repository that another one borrows",
        "git init -q --bare --template= store; rm store/HEAD; mkdir gd; echo ref: refs/heads/m > gd/HEAD; echo ../store > gd/commondir",
        "mkdir -p store/hooks; echo EVIL > store/hooks/pre-receive",
        &["store/hooks/pre-receive"],
    ),
    trick(
        "a link to settings, led elsewhere",
        "mkdir -p cfg evil; echo old > cfg/settings.json; echo EVIL > evil/settings.json; ln -s cfg .claude",
        "ln -sfn evil .claude",
        &[".claude/settings.json"],
    ),
    trick(
        "a link on the way to settings, led elsewhere",
        "mkdir -p cfg evil; echo old > cfg/settings.json; echo EVIL > evil/settings.json; ln -s cfg l2; ln -s l2 .claude",
        "rm l2; ln -s evil l2",
        &[".claude/settings.json"],
    ),
    trick(
        "a linked file of settings whose folder is exchanged",
        "mkdir -p .claude cfg; echo old > cfg/s.json; ln -s ../cfg/s.json .claude/settings.json",
        "mv cfg cfg2; mkdir cfg; echo EVIL > cfg/s.json",
        &[".claude/settings.json"],
    ),
    trick(
        "a linked start-up file whose folder is exchanged",
        "mkdir envs; echo old > envs/dev; ln -s envs/dev .envrc",
        "mv envs e2; mkdir envs; echo EVIL > envs/dev",
        &[".envrc"],
    ),
    trick(
        "a folder with a hook, moved to where hooks lie",
        "git init -q --template= .; mkdir .git/d; echo EVIL > .git/d/pre-commit",
        "mv .git/d .git/hooks",
        &[".git/hooks/pre-commit"],
    ),
    trick(
        "hooks that a submodule's settings name",
        "mkdir sub gd; cd sub; git init -q --template= --separate-git-dir ../gd/x .; mkdir hk; echo old > hk/pre-commit; git config core.hooksPath hk",
        "echo EVIL > sub/hk/pre-commit; echo EVIL > sub/hk/post-merge",
        &["sub/hk/pre-commit", "sub/hk/post-merge"],
    ),
    trick(
        "hooks of a bare repository elsewhere in it",
        "git init -q --bare --template= n.git; mkdir n.git/hk; echo old > n.git/hk/pre-receive; git -C n.git config core.hooksPath hk",
        "echo EVIL > n.git/hk/pre-receive",
        &["n.git/hk/pre-receive"],
    ),
    trick(
        "a link that is such a file, led elsewhere",
        "mkdir scripts; echo old > scripts/env; echo EVIL > scripts/other; ln -s scripts/env .envrc",
        "ln -sf scripts/other .envrc",
        &[".envrc"],
    ),
    trick("another name of the same file", "echo old > .envrc; ln .envrc notes", "echo EVIL > notes", &[".envrc"]),
    trick(
        "hooks that the settings of a repository in it name",
        "mkdir sub; cd sub; git init -q --template= .; mkdir gh; echo old > gh/pre-commit; git config core.hooksPath gh",
        "echo EVIL > sub/gh/pre-commit; echo EVIL > sub/gh/post-merge",
        &["sub/gh/pre-commit", "sub/gh/post-merge"],
    ),
    trick(
        "a program that settings name in the middle of a line",
        "git init -q --template= .; mkdir t; echo old > t/clean.sh; git config filter.x.clean 'sh t/clean.sh %f'",
        "echo EVIL > t/clean.sh",
        &["t/clean.sh"],
    ),
    trick(
        "a monitor of the file system",
        "git init -q --template= .; mkdir t; echo old > t/watch; git config core.fsmonitor t/watch",
        "echo EVIL > t/watch",
        &["t/watch"],
    ),
    trick(
        "included settings that are called a sample",
        "git init -q --template= .; echo '#old' > team.sample; git config include.path ../team.sample",
        "echo '[core] sshCommand = EVIL' > team.sample",
        &["team.sample"],
    ),
    trick(
        "the last of very many",
        "for i in $(seq 1000 1600); do mkdir a$i; echo old > a$i/.envrc; done",
        "for i in $(seq 1000 1600); do echo EVIL > a$i/.envrc; done",
        &["a1000/.envrc", "a1300/.envrc", "a1599/.envrc", "a1600/.envrc"],
    ),
    trick(
        "programs that settings name in other spellings",
        "git init -q --template= .; mkdir scripts tools; for f in scripts/a.sh scripts/b.sh scripts/c.sh tools/d.js tools/e.py; do echo old > $f; done; \
         git config filter.a.clean '\"$(git rev-parse --show-toplevel)/scripts/a.sh\" %f'; git config filter.b.clean '\"$PWD\"/scripts/b.sh'; \
         git config filter.c.clean 'D=scripts; \"$D/c.sh\"'; git config filter.d.clean 'node tools/d'; git config filter.e.clean 'python3 -m tools.e'",
        "for f in scripts/a.sh scripts/b.sh scripts/c.sh tools/d.js tools/e.py; do echo EVIL > $f; done",
        &["scripts/a.sh", "scripts/b.sh", "scripts/c.sh", "tools/d.js", "tools/e.py"],
    ),
    trick(
        "a repository that git does not understand any more",
        "git init -q --template= .; mkdir hk; echo old > hk/pre-commit; git config core.hooksPath hk",
        "echo nowhere > .git/commondir; echo EVIL > hk/post-commit",
        &["hk/post-commit"],
    ),
    trick(
        "a workspace that looks like a broken repository itself",
        "git init -q --template= .; mkdir hk; echo old > hk/pre-commit; git config core.hooksPath hk; mkdir objects refs; echo nowhere > commondir",
        "echo EVIL > hk/post-commit; echo EVIL > hk/pre-commit",
        &["hk/post-commit", "hk/pre-commit"],
    ),
    trick(
        "many links that hide a hook",
        "git init -q --template= .; mkdir -p .git/hooks",
        "git init -q --template= n; mkdir n/.git/hooks; cd n/.git/hooks; for i in $(seq 60); do ln -s . l$i; done; cd ../../..; mkdir s; echo EVIL > s/.envrc",
        &["s/.envrc"],
    ),
    trick(
        "what editors, managers of hooks and agents read at their start",
        "echo old > .exrc; mkdir .helix; echo old > .helix/config.toml",
        "for f in .exrc .helix/config.toml .nvim.lua .gdbinit hk.pkl tui.json kilo.json; do echo EVIL > $f; done; mkdir -p .cursor .devin .github/extensions/x; \
         echo EVIL > .cursor/sandbox.json; echo EVIL > .devin/config.json; echo EVIL > .github/extensions/x/extension.mjs",
        &[
            ".exrc",
            ".helix/config.toml",
            ".nvim.lua",
            ".gdbinit",
            "hk.pkl",
            "tui.json",
            "kilo.json",
            ".cursor/sandbox.json",
            ".devin/config.json",
            ".github/extensions/x/extension.mjs",
        ],
    ),
    trick(
        "a whole folder of tasks",
        "true",
        "mkdir -p app/.vscode; for i in $(seq 2000); do echo EVIL > app/.vscode/$i.json; done; echo EVIL > app/.vscode/tasks.json",
        &["app/.vscode/tasks.json", "app/.vscode/1.json"],
    ),
];

#[test]
fn plants_behind_links_names_and_closed_folders_are_found() {
    for (who, backend) in [(Who::Root, "bwrap"), (Who::User, "bwrap"), (Who::Root, "landlock"), (Who::User, "landlock")]
    {
        for Trick { name, before, run, clean } in TRICKS {
            let ground = Ground::new(who, backend, "[presets.p.git]\nrepository = \"write\"");
            let work = ground.work();
            let safe = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")];
            let mut set_up = std::process::Command::new("bash");
            let set_up = set_up.args(["-ec", before]).envs(safe).current_dir(&work).output().unwrap();
            assert!(set_up.status.success(), "{name}: {set_up:?}");
            give_all(&ground, &work);
            let outcome = ground.run_script(run);
            for file in *clean {
                let now = fs::read_to_string(work.join(file)).unwrap_or_default();
                assert!(!now.contains("EVIL"), "{}: {name}: {file} stays: {outcome:#}", ground.name());
            }
            let violations =
                outcome["violations"].as_array().unwrap_or_else(|| panic!("{}: {name}: {outcome:#}", ground.name()));
            let stderr = outcome["stderr"].as_str().unwrap();
            let kept_from_it = stderr.contains("Read-only") || stderr.contains("denied") || stderr.contains("busy");
            assert!(!violations.is_empty() || kept_from_it, "{}: {name}: {outcome:#}", ground.name());
        }
    }
}

/// The runner looks with more rights than the run has: nothing that a run writes may lead it elsewhere.
#[test]
fn the_runner_renames_nothing_outside_of_the_workspace_and_nothing_that_was_there() {
    for ground in everywhere("") {
        let other = ground.outside();
        for folder in ["hooks", "modules/m/hooks"] {
            fs::create_dir_all(other.join(folder)).unwrap();
            fs::write(other.join(folder).join("gate.json"), "theirs").unwrap();
        }
        give_all(&ground, &other);
        let work = ground.work();
        for file in [".github/hooks/bashgate.json", "tools/hooks/lint.sh"] {
            ground.write(&format!("work/{file}"), "mine");
        }
        give_all(&ground, &work);
        // What is as young as the clock is coarse may be the run's own.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let lead = |to: &str, name: &str| format!("mkdir -p {name}; echo 'gitdir: {to}' > {name}/.git");
        let outside = other.display().to_string();
        let script = [lead(&outside, "a"), lead("../../outside", "b"), lead("../.github", "c"), lead("../tools", "d")]
            .join("\n");
        let outcome = ground.run_script(&script);
        for folder in ["hooks", "modules/m/hooks"] {
            let names: Vec<_> =
                fs::read_dir(other.join(folder)).unwrap().flatten().map(|entry| entry.file_name()).collect();
            assert_eq!(names, ["gate.json"], "{}: {outcome:#}", ground.name());
        }
        for file in [".github/hooks/bashgate.json", "tools/hooks/lint.sh"] {
            assert_eq!(fs::read_to_string(work.join(file)).unwrap(), "mine", "{}: {outcome:#}", ground.name());
        }
    }
}

#[test]
fn what_somebody_else_changes_meanwhile_is_theirs() {
    for (who, backend) in [(Who::Root, "bwrap"), (Who::User, "bwrap")] {
        let ground = Ground::new(who, backend, "");
        ground.write("work/.claude/settings.json", "old");
        let outcome = std::thread::scope(|scope| {
            let run = scope.spawn(|| ground.run("touch started; until [ -e go ]; do sleep 0.05; done"));
            bashgate_tests::until("the start", || ground.work().join("started").exists().then_some(()));
            ground.write("work/.claude/new", "by a person");
            fs::rename(ground.work().join(".claude/new"), ground.work().join(".claude/settings.json")).unwrap();
            ground.write("work/go", "");
            run.join().unwrap()
        });
        let now = fs::read_to_string(ground.work().join(".claude/settings.json")).unwrap();
        assert_eq!(now, "by a person", "{}: {outcome:#}", ground.name());
        assert_eq!(changes(&outcome, "modified").len(), 1, "{}: {outcome:#}", ground.name());
    }
}

/// Where what lies in a folder acts later, it is nobody's project: the cage writes nothing there.
#[test]
fn a_folder_that_acts_is_no_workspace_of_the_cage() {
    use bashgate_run::sandbox::{around, is_project};
    let ground = Ground::new(Who::Root, "bwrap", "");
    let work = ground.work();
    git(&work, &["init", "-q"]);
    for folder in [".claude", ".vscode", ".githooks", ".claude/skills/x", ".github/workflows", "src"] {
        fs::create_dir_all(work.join(folder)).unwrap();
    }
    git(&work, &["init", "-q", ".claude"]);
    git(&work, &["init", "-q", "--bare", "alone.git"]);
    for folder in [".claude", ".vscode", ".githooks", ".git", ".git/hooks", "alone.git", "alone.git/hooks"] {
        assert!(!is_project(&work.join(folder), &[]), "{folder}");
    }
    for folder in ["", "src", ".github/workflows"] {
        assert!(is_project(&work.join(folder), &[]), "{folder}");
    }
    // What other projects use is nobody's project either, unless it is a repository.
    let apart = ground.outside();
    let others = [
        "node_modules/dep",
        "lib/python3.11/site-packages/x",
        "go/pkg/mod/example.com/lib@v1.0.0",
        "x/pkg/mod/cache",
        "perl5/lib/perl5",
        "env/lib",
        "conda/lib",
    ];
    for folder in others.into_iter().chain(["plain", "node_modules/own"]) {
        fs::create_dir_all(apart.join(folder)).unwrap();
    }
    fs::write(apart.join("env/pyvenv.cfg"), "").unwrap();
    fs::create_dir(apart.join("conda/conda-meta")).unwrap();
    git(&apart, &["init", "-q", "node_modules/own"]);
    for folder in others {
        assert!(!is_project(&apart.join(folder), &[]), "{folder}");
    }
    // Nor is one in which somebody's home folder lies.
    for folder in ["/home", "/root/..", "/var"] {
        assert!(!is_project(Path::new(folder), &[]), "{folder}");
    }
    for folder in ["plain", "node_modules/own"] {
        assert!(is_project(&apart.join(folder), &[]), "{folder}");
    }
    assert_eq!(around(&work.join(".claude")), work);
    assert_eq!(around(&work.join("src")), work);
}

/// What a link leads to outside of the workspace is called so by way of the link alone: the link is what acts.
#[test]
fn links_out_of_the_workspace_that_act_later_are_found() {
    for ground in everywhere("") {
        let elsewhere = tempfile::tempdir_in("/tmp").unwrap();
        fs::create_dir_all(elsewhere.path().join(".git")).unwrap();
        let to = elsewhere.path().display().to_string();
        for link in [".agents", ".github", "app/.config", ".vscode", "a/b/.cursor", "vendor"] {
            let plant = format!("mkdir -p \"$(dirname x{link})\" \"$(dirname {link})\" && ln -s {to} {link}");
            let outcome = ground.run_script(&plant);
            assert!(!outcome["violations"].as_array().unwrap().is_empty(), "{}: {link}: {outcome:#}", ground.name());
            let _ = fs::remove_file(ground.work().join(link));
        }
        // An ordinary link is no news, but where everybody writes: what acts may come to lie there at any time.
        for target in ["/tmp", "/tmp/not-there-yet", "/dev/shm", "../../../../../../tmp", ".git/objects", "app/.git"] {
            ground.run_script("git init -q app");
            let outcome = ground.run_script(&format!("ln -s {target} data"));
            assert_eq!(changes(&outcome, "set_aside").len(), 1, "{}: {target}: {outcome:#}", ground.name());
            assert!(ground.work().join("data").symlink_metadata().is_err(), "{target}");
        }
        let plain = tempfile::tempdir_in("/srv").unwrap();
        fs::write(plain.path().join("notes.txt"), "").unwrap();
        let outcome = ground.run_script(&format!("ln -s {} data && ln -s . here", plain.path().display()));
        let named = changes(&outcome, "set_aside").len() + changes(&outcome, "created").len();
        assert_eq!(named, 0, "{}: {outcome:#}", ground.name());
        fs::remove_file(ground.work().join("data")).unwrap();
    }
}

/// A person's own folder of programs in the project, a home folder with names that are no text, and a sequence without an end.
mod by_command_line {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use bashgate_tests::{Output, until};

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::Builder::new().prefix("project-").tempdir_in("/srv").unwrap();
        for name in ["work/.git", "home"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn cage(folder: &Path, command: &str) -> Command {
        let mut cage = bashgate_tests::runner();
        cage.args(["exec", "--cage", "--json", "--", command]).current_dir(folder.join("work"));
        cage.env("HOME", folder.join("home"));
        cage
    }

    #[test]
    fn folders_of_path_in_a_project_are_kept() {
        let folder = folder();
        let work = folder.path().join("work");
        for name in ["bin", "node_modules/.bin", "venv/bin"] {
            fs::create_dir_all(work.join(name)).unwrap();
        }
        for name in ["venv/pyvenv.cfg", "venv/bin/activate", "venv/bin/python", "pyvenv.cfg"] {
            fs::write(work.join(name), "").unwrap();
        }
        let all = ["bin", "node_modules/.bin", "venv/bin"].map(|name| work.join(name).display().to_string()).join(":");
        let mut run = cage(folder.path(), "for d in bin node_modules/.bin venv/bin; do echo x > $d/ls; done");
        let told = Output::of(run.env("PATH", format!("{all}:/usr/bin:/bin")), b"").stdout;
        // A mark that any run can make makes no manager.
        assert!(!work.join("bin/ls").exists(), "a person's next command would be it");
        assert!(work.join("node_modules/.bin/ls").exists() && work.join("venv/bin/ls").exists(), "managers work");
        assert!(told.contains("venv/bin/ls"), "and somebody hears of it: {told}");
    }

    #[test]
    fn a_secret_that_no_name_could_cover_keeps_the_run_from_starting() {
        let folder = folder();
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        fs::create_dir(&odd).unwrap();
        fs::write(odd.join("id_rsa"), "CANARY").unwrap();
        symlink(&odd, folder.path().join("home/.ssh")).unwrap();
        let output = Output::of(&mut cage(folder.path(), "cat $HOME/.ssh/id_rsa"), b"");
        assert!(output.code != Some(0) && !output.stdout.contains("CANARY"), "{output:?}");
        assert!(output.stdout.contains("UTF-8"), "{output:?}");
    }

    /// Who could open what another run has written down could hold it as if that run went on.
    #[test]
    fn what_is_written_down_of_runs_cannot_be_opened_by_them() {
        let folder = folder();
        let watch = folder.path().join("home/.local/state/bashgate-run/watch");
        let look =
            format!("ls {0} && cat {0}/*; for f in {0}/*; do flock -n \"$f\" true && echo OPEN; done", watch.display());
        let output = Output::of(&mut cage(folder.path(), &look), b"");
        let said: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        let stdout = said["stdout"].as_str().unwrap();
        assert!(!stdout.contains("workspace") && !stdout.contains("OPEN"), "{output:?}");
        assert!(watch.is_dir(), "{output:?}");
    }

    /// A cache that the caller names is one that somebody believes later.
    #[test]
    fn caches_that_the_caller_names_are_not_the_runs() {
        let folder = folder();
        let theirs = tempfile::tempdir_in("/tmp").unwrap();
        let mut run = cage(
            folder.path(),
            "for c in \"$npm_config_cache\" \"$PIP_CACHE_DIR\" \"$GOCACHE\"; do mkdir -p \"$c\" && echo x > \"$c/poison\" && echo made; done",
        );
        for name in ["npm_config_cache", "PIP_CACHE_DIR", "GOCACHE"] {
            run.env(name, theirs.path());
        }
        let said: serde_json::Value = serde_json::from_str(&Output::of(&mut run, b"").stdout).unwrap();
        assert_eq!(said["stdout"], "made\nmade\nmade\n", "{said:#}");
        assert!(fs::read_dir(theirs.path()).unwrap().next().is_none(), "{said:#}");
    }

    #[test]
    fn a_sequence_without_an_end_takes_no_memory() {
        let folder = folder();
        let mut live = bashgate_tests::runner();
        live.args(["exec", "--cage", "--", "printf '\\033]0;'; head -c 300000000 /dev/zero | tr '\\0' a; sleep 3"]);
        live.current_dir(folder.path().join("work")).env("HOME", folder.path().join("home"));
        let mut running = live.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let status = format!("/proc/{}/status", running.id());
        let mut most = 0;
        while running.try_wait().unwrap().is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let peak =
                text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
            most = most.max(peak.unwrap_or(0));
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert!(most > 1000 && most < 100_000, "{most} KiB");
    }

    /// Agents kill their tool's whole group when it is late.
    #[test]
    fn nothing_survives_the_death_of_the_runners_group() {
        use std::io::Write as _;
        use std::os::unix::process::CommandExt as _;

        for (who, backend, nap) in [
            (Who::User, "landlock", "77.125"),
            (Who::Root, "landlock", "77.25"),
            (Who::User, "bwrap", "77.375"),
            (Who::Root, "bwrap", "77.5"),
        ] {
            let ground = Ground::new(who, backend, "");
            let script = format!("(setsid sh -c 'trap \"\" HUP TERM; sleep {nap}' &)\nsleep {nap}\n");
            ground.write("work/script.sh", &script);
            let mut driver = ground.driver();
            driver.process_group(0).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
            let mut running = driver.stderr(std::process::Stdio::null()).spawn().unwrap();
            running.stdin.take().unwrap().write_all(ground.order("bash script.sh").to_string().as_bytes()).unwrap();
            let sleeping = || {
                let all = fs::read_dir("/proc").unwrap().flatten();
                let line = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let meant = format!("sleep\0{nap}\0");
                all.map(line).filter(|line| line == meant.as_bytes()).count()
            };
            until("both", || (sleeping() == 2).then_some(()));
            let group = rustix::process::Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
            running.wait().unwrap();
            until("the end of what it started", || (sleeping() == 0).then_some(()));
        }
    }
}

#[test]
fn a_new_link_costs_nobody_a_file() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(work.join("src/f1.c"), "mine").unwrap();
        fs::create_dir_all(work.join("scripts/git-hooks")).unwrap();
        fs::write(work.join("scripts/git-hooks/post-merge"), "true\n").unwrap();
        git(&work, &["config", "core.hooksPath", "scripts/git-hooks"]);
        give_all(&ground, &work);
        let config = fs::read(work.join(".git/config")).unwrap();
        for run in [
            "ln -s src .vscode",
            "ln -s .git .vscode",
            "ln -s ../src scripts/.windsurf",
            "mv scripts s2; mkdir scripts; ln -s ../.git scripts/git-hooks",
            "rm -r scripts; mkdir scripts; ln -s ../src scripts/git-hooks",
        ] {
            let outcome = ground.run_script(run);
            assert_eq!(
                fs::read(work.join(".git/config")).ok(),
                Some(config.clone()),
                "{}: {run}: {outcome:#}",
                ground.name()
            );
            assert!(work.join(".git/HEAD").exists(), "{}: {run}: {outcome:#}", ground.name());
            assert_eq!(
                fs::read_to_string(work.join("src/f1.c")).unwrap(),
                "mine",
                "{}: {run}: {outcome:#}",
                ground.name()
            );
            assert!(!work.join(".vscode").is_symlink(), "{}: {run}: {outcome:#}", ground.name());
            let _ = fs::remove_dir_all(work.join("scripts"));
            let _ = fs::remove_dir_all(work.join("s2"));
            fs::create_dir_all(work.join("scripts/git-hooks")).unwrap();
            fs::write(work.join("scripts/git-hooks/post-merge"), "true\n").unwrap();
            give_all(&ground, &work.join("scripts"));
        }
    }
}

#[test]
fn a_folder_outside_stays_closed() {
    for ground in everywhere("") {
        let closed = ground.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("f"), "CANARY").unwrap();
        ground.give(&closed);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let name = closed.display();
        ground.run_script(&format!(
            "mkdir n m; echo gitdir: {name} > n/.git; echo {name} > m/commondir; echo x > m/HEAD"
        ));
        ground.run_script("true");
        assert_eq!(fs::metadata(&closed).unwrap().mode() & 0o777, 0, "{}", ground.name());
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// Two runs at once, of which one works in a part of what the other works in.
#[test]
fn what_one_run_makes_and_another_makes_again() {
    let ground = Ground::new(Who::Root, "bwrap", "");
    let work = ground.work();
    fs::create_dir(work.join("sub")).unwrap();
    let waits = |name: &str| format!("for i in $(seq 400); do [ -e {name} ] && break; sleep 0.01; done");
    let outer =
        format!("echo EVIL > sub/.envrc; touch made; {}; rm sub/.envrc; touch gone; {}", waits("seen"), waits("over"));
    let inner = format!("touch ../seen; {}; echo EVIL > .envrc; touch ../over", waits("../gone"));
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| ground.run_script(&outer));
        bashgate_tests::until("the first run", || work.join("made").exists().then_some(()));
        let mut order = ground.order(&inner);
        order["cwd"] = serde_json::json!(work.join("sub"));
        order["workspace"] = serde_json::json!(work.join("sub"));
        let second = ground.run_order(&order);
        fs::write(work.join("over"), "").unwrap();
        (first.join().unwrap(), second)
    });
    assert!(!work.join("sub/.envrc").exists(), "{first:#} {second:#}");
}

#[test]
fn a_new_name_for_what_was_there_costs_nobody_a_file() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        fs::create_dir_all(work.join("src")).unwrap();
        for name in ["f1.c", "pre-commit", "lib.sh"] {
            fs::write(work.join("src").join(name), "mine").unwrap();
        }
        git(&work, &["add", "src"]);
        git(&work, &["commit", "-qm", "x"]);
        fs::create_dir_all(work.join("cfg/vs")).unwrap();
        std::os::unix::fs::symlink("cfg/vs", work.join(".vscode")).unwrap();
        give_all(&ground, &work);
        let listed = |folder: &str| {
            let mut names: Vec<_> =
                fs::read_dir(work.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let (source, own) = (listed("src"), listed(".git"));
        for (number, run) in [
            "git init -q --template= NAME; git -C NAME config core.hooksPath ../.git",
            "git init -q --template= NAME; git -C NAME config core.hooksPath ../src",
            "git init -q --template= NAME; git -C NAME config include.path ../../.git/config",
            "git init -q --template= NAME; git -C NAME config core.fsmonitor ../src/lib.sh",
            "mv cfg NAME; mkdir cfg; ln -s ../.git cfg/vs",
            "rm -r cfg; mkdir cfg; ln -s ../src cfg/vs; : NAME",
        ]
        .iter()
        .enumerate()
        {
            let outcome = ground.run_script(&run.replace("NAME", &format!("sub{number}")));
            for name in ["HEAD", "config", "objects"] {
                assert!(work.join(".git").join(name).exists(), "{}: {run}: {outcome:#}", ground.name());
            }
            assert_eq!(listed("src"), source, "{}: {run}: {outcome:#}", ground.name());
            let now = listed(".git");
            assert!(own.iter().all(|name| now.contains(name)), "{}: {run}: {outcome:#}", ground.name());
        }
        // What an earlier run has left, and what is written in the same run, and is named a hook, is none of the person's.
        ground.run_script("mkdir hk; echo EVIL > hk/pre-commit");
        let outcome = ground.run_script("git init -q --template= two; git -C two config core.hooksPath ../hk");
        assert!(!work.join("hk/pre-commit").exists(), "{}: {outcome:#}", ground.name());
        let outcome = ground.run_script(
            "git init -q --template= last; git -C last config core.hooksPath ../src; echo EVIL > src/pre-commit",
        );
        let now = fs::read_to_string(work.join("src/pre-commit")).unwrap_or_default();
        assert!(!now.contains("EVIL"), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn what_gates_an_agent_comes_back_whatever_stands_in_its_way() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        for (number, run) in [
            "mv N N2; ln -s /tmp N",
            "mv N N2; mkdir N",
            "mv N N2; mkdir N; chmod 500 N",
            "mv N N2; mkdir -p N/.claude; chmod 0 N/.claude",
            "mv N N2; echo x > N",
            "rm -r N; mkdir -p N/.claude; echo EVIL > N/.claude/settings.json",
            "rm -r N/.claude; ln -s ../N2 N/.claude",
            "rm -r N/.claude; echo x > N/.claude",
            "rm N/.claude/settings.json; mkdir N/.claude/settings.json",
        ]
        .iter()
        .enumerate()
        {
            let name = format!("app{number}");
            let folder = work.join(&name).join(".claude");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("settings.json"), "mine").unwrap();
            give_all(&ground, &work);
            ground.give(&work.join(&name));
            // The agent works in it.
            let mut order = ground.order(&format!("cd ..; {}", run.replace('N', &name)));
            order["cwd"] = serde_json::json!(work.join(&name));
            let outcome = ground.run_order(&order);
            let now = fs::read_to_string(folder.join("settings.json"));
            assert_eq!(now.ok().as_deref(), Some("mine"), "{}: {run}: {outcome:#}", ground.name());
            let left = fs::read_dir(&work).unwrap().flatten().map(|entry| entry.file_name());
            let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".bashgate-")).collect();
            assert!(left.is_empty(), "{}: {run}: {left:?}", ground.name());
        }
    }
}

#[test]
fn a_workspace_chooses_no_weaker_sandbox() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::new(who, "bwrap", "");
        let deep: std::path::PathBuf = std::iter::repeat_n("d".repeat(240), 8).collect();
        for number in 0..520 {
            let folder = ground.work().join(&deep).join(format!("{number:04}/.vscode"));
            fs::create_dir_all(&folder).unwrap();
        }
        give_all(&ground, &ground.work());
        let outcome = ground.run("echo fine");
        assert_eq!(outcome["sandbox"]["backend"], "bwrap", "{outcome:#}");
        assert_eq!(outcome["stdout"], "fine\n", "{outcome:#}");
    }
}

#[test]
fn what_runs_before_a_commit_and_links_to_open_folders_are_seen() {
    for ground in everywhere("") {
        let work = ground.work();
        for plant in ["lefthook.yml", ".lefthook.yml", "lefthook-local.yml", "sub/.pre-commit-config.yaml"] {
            let outcome = ground.run_script(&planting(plant));
            assert!(!work.join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        let outcome = ground.run_script("mkdir -p /tmp/open; ln -s /tmp app");
        let told = outcome["violations"].as_array().unwrap();
        let is_told = told.iter().any(|one| one["path"].as_str().is_some_and(|path| path.ends_with("/app")));
        assert!(is_told, "{}: {outcome:#}", ground.name());
    }
}

/// A run that begins while another one goes on takes nothing of git's away, nor what a person changed.
#[test]
fn two_runs_at_once_cost_nobody_a_repository() {
    let ground = Ground::new(Who::Root, "bwrap", "[presets.p.git]\nrepository = \"write\"");
    let work = ground.work();
    let waits = |name: &str| format!("for i in $(seq 400); do [ -e {name} ] && break; sleep 0.01; done");
    let first =
        format!("touch begun; {}; git init -q --template= .; echo x > f; touch made; {}", waits("go"), waits("over"));
    let second = format!("touch go; {}; sleep 0.2", waits("made"));
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| ground.run_script(&first));
        bashgate_tests::until("the first run", || work.join("begun").exists().then_some(()));
        let second = ground.run_script(&second);
        fs::write(work.join("over"), "").unwrap();
        (first.join().unwrap(), second)
    });
    assert!(work.join(".git/HEAD").exists() && work.join(".git/config").exists(), "{first:#} {second:#}");
}

#[test]
fn hooks_of_repositories_in_the_workspace_stay_as_they_were() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q", "."]);
        git(&work, &["init", "-q", "sub"]);
        git(&work, &["init", "-q", "--bare", "fix.git"]);
        let hooks = ["sub/.git/hooks/pre-commit", ".git/modules/m/hooks/post-checkout", "fix.git/hooks/post-receive"];
        fs::create_dir_all(work.join(".git/modules/m/objects")).unwrap();
        fs::write(work.join(".git/modules/m/HEAD"), "ref: refs/heads/main\n").unwrap();
        for hook in hooks {
            fs::create_dir_all(work.join(hook).parent().unwrap()).unwrap();
            fs::write(work.join(hook), "mine").unwrap();
        }
        give_all(&ground, &work);
        let write: Vec<String> = hooks.iter().map(|hook| format!("echo EVIL >> {hook}")).collect();
        let outcome = ground.run_script(&write.join("\n"));
        for hook in hooks {
            let now = fs::read_to_string(work.join(hook)).unwrap();
            assert_eq!(now, "mine", "{}: {hook}: {outcome:#}", ground.name());
        }
    }
}

/// Settings that include one another, and name very much, hold nobody up.
#[test]
fn settings_without_an_end_hold_up_nobody() {
    let ground = Ground::new(Who::Root, "bwrap", "[presets.p.git]\nrepository = \"write\"");
    let long = format!("[x]\n\ty = {}\n", "a b c d ".repeat(100_000));
    for number in 0..20 {
        let folder = ground.work().join(format!("r{number:02}"));
        git(&ground.work(), &["init", "-q", "--template=", folder.to_str().unwrap()]);
        let includes: Vec<String> = (0..60).map(|one| format!("[include]\n\tpath = ../c{one}\n")).collect();
        fs::write(folder.join(".git/config"), includes.concat()).unwrap();
        for one in 0..60 {
            fs::write(folder.join(format!("c{one}")), &long).unwrap();
        }
    }
    let outcome = ground.run_script("mkdir -p .vscode; echo x > .vscode/tasks.json");
    let looked = outcome["looked_ms"].to_string();
    assert!(!ground.work().join(".vscode/tasks.json").exists(), "{outcome:#}");
    assert!(!changes(&outcome, "not_all_seen").is_empty(), "{looked}: {outcome:#}");
}

/// One that is too large to be remembered comes back from where it was moved to.
#[test]
fn what_gates_an_agent_comes_home() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        let folder = work.join("app/.claude");
        fs::create_dir_all(&folder).unwrap();
        let large = "x".repeat(5 << 20);
        fs::write(folder.join("settings.json"), &large).unwrap();
        give_all(&ground, &work);
        let mut order = ground.order("cd ..; mv app app2; mkdir app");
        order["cwd"] = serde_json::json!(work.join("app"));
        let outcome = ground.run_order(&order);
        let now = fs::read_to_string(folder.join("settings.json")).unwrap_or_default();
        assert!(now == large, "{}: {outcome:#}", ground.name());
    }
}

/// A script that gates an agent because its settings start it is kept as they are; what only permissions name is not.
#[test]
fn scripts_that_settings_of_agents_start_are_kept() {
    // Whoever works in a folder below is gated by what lies there, wherever the run works.
    let grounds = || everywhere("[presets.p.git]\nrepository = \"write\"");
    for (ground, at) in grounds().map(|ground| (ground, ".")).chain(grounds().map(|ground| (ground, "app"))) {
        let work = ground.work().join(at);
        let settings = serde_json::json!({
            "permissions": {"allow": ["Edit(./src.rs)"]},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/tools/gate.sh"}]}]},
        });
        fs::create_dir_all(work.join(".claude")).unwrap();
        fs::create_dir_all(work.join("tools")).unwrap();
        for (name, text) in
            [(".claude/settings.json", settings.to_string().as_str()), ("tools/gate.sh", "mine"), ("src.rs", "mine")]
        {
            fs::write(work.join(name), text).unwrap();
        }
        give_all(&ground, &work);
        for run in
            ["echo EVIL > tools/gate.sh", "rm tools/gate.sh", "mv tools t2; mkdir tools; echo EVIL > tools/gate.sh"]
        {
            let outcome = ground.run_script(&format!("cd {at}; {run}; echo new > src.rs"));
            let now = fs::read_to_string(work.join("tools/gate.sh"));
            assert_eq!(now.ok().as_deref(), Some("mine"), "{} in {at}: {run}: {outcome:#}", ground.name());
            assert_eq!(fs::read_to_string(work.join("src.rs")).unwrap(), "new\n", "{}: {outcome:#}", ground.name());
        }
    }
}

/// A person's git would write through them.
#[test]
fn links_that_git_would_write_through_are_set_aside() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        std::fs::write(work.join("a"), "x").unwrap();
        git(&work, &["add", "a"]);
        git(&work, &["commit", "-qm", "one"]);
        give_all(&ground, &work);
        let precious = ground.write("outside/precious", "precious");
        let names =
            ["COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "MERGE_MSG", "gc.log", "logs/HEAD", "logs/refs/heads/later"];
        let links: Vec<String> =
            names.iter().map(|name| format!("ln -sf {} .git/{name}", precious.display())).collect();
        let outcome = ground.run_script(&links.join("\n"));
        for name in names {
            assert!(!work.join(".git").join(name).is_symlink(), "{}: {name}: {outcome:#}", ground.name());
        }
        assert_eq!(changes(&outcome, "set_aside").len(), names.len(), "{}: {outcome:#}", ground.name());
        git(&work, &["commit", "--allow-empty", "-qm", "two"]);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        // What was there is no matter of the run's.
        std::os::unix::fs::symlink(&precious, work.join(".git/own")).unwrap();
        let outcome = ground.run("true");
        assert_eq!(changes(&outcome, "set_aside"), Vec::<String>::new(), "{}: {outcome:#}", ground.name());
    }
}

/// People change them all day, so that it is only told.
#[test]
fn scripts_that_hooks_and_shells_start_are_told() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        let starts = [
            (".git/hooks/pre-commit", "#!/bin/sh\nexec ./tools/commit.sh \"$@\"", "tools/commit.sh"),
            (".husky/pre-push", "cd tools && sh push.sh", "tools/push.sh"),
            (".envrc", "source ./enter.sh", "enter.sh"),
            (".vscode/tasks.json", r#"{"tasks": [{"command": "sh", "args": ["tools/task.sh"]}]}"#, "tools/task.sh"),
            ("sub/.mcp.json", r#"{"mcpServers": {"x": {"command": "node", "args": ["server.js"]}}}"#, "sub/server.js"),
        ];
        for folder in ["tools", ".husky", ".vscode", "sub"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        for (script, text, named) in starts {
            fs::write(work.join(script), text).unwrap();
            fs::write(work.join(named), "mine").unwrap();
        }
        fs::write(work.join("plain.sh"), "mine").unwrap();
        give_all(&ground, &work);
        for (_, _, named) in starts {
            let outcome = ground.run_script(&format!("echo theirs > {named}; echo theirs > plain.sh"));
            let told = changes(&outcome, "modified");
            assert_eq!(told, [work.join(named).display().to_string()], "{}: {outcome:#}", ground.name());
        }
    }
}

/// However a setting says it, and in whatever language it is written.
#[test]
fn scripts_are_kept_however_settings_spell_them() {
    let hook = |command: &str| {
        serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}})
            .to_string()
    };
    for (settings, text, script) in [
        (".claude/settings.json", hook("cd \"$CLAUDE_PROJECT_DIR/tools\" && sh gate.sh"), "tools/gate.sh"),
        (".claude/settings.json", hook("sh gate"), "gate"),
        (".claude/settings.json", hook("node tools/g"), "tools/g.js"),
        (".claude/settings.json", serde_json::json!({"apiKeyHelper": "sh ./tools/key.sh"}).to_string(), "tools/key.sh"),
        (".codex/config.toml", "notify = [\"python3\", \"tools/notify.py\"]\n".to_owned(), "tools/notify.py"),
        (".claude/settings.json", hook("sh \"$CLAUDE_PROJECT_DIR/my tools/gate.sh\""), "my tools/gate.sh"),
        (".claude/settings.json", hook("cd tools && cd deep && sh ./g"), "tools/deep/g"),
        (".claude/settings.json", hook("node tools"), "tools/index.js"),
        (".claude/settings.json", hook("run-parts tools/gates"), "tools/gates/a"),
        (".claude/settings.json", hook("for f in tools/gates/*.sh; do sh $f; done"), "tools/gates/a.sh"),
        (".claude/settings.json", hook("sh tools/gat?.sh"), "tools/gate.sh"),
        (".claude/settings.json", hook("sh tools/a,b=c!.sh"), "tools/a,b=c!.sh"),
        (".claude/settings.json", hook("go run ./cmd/gate"), "cmd/gate/main.go"),
        (".claude/settings.json", hook("python3 tools/gate.py"), "tools/rules.py"),
        (".claude/settings.json", hook("python3 -m tools.gate"), "tools/__pycache__/gate.cpython-311.pyc"),
        (
            ".github/hooks/a.json",
            r#"{"hooks": {"preToolUse": [{"bash": "./a.sh", "cwd": "scripts"}]}}"#.to_owned(),
            "scripts/a.sh",
        ),
    ] {
        let ground = Ground::new(Who::Root, "bwrap", "");
        // What a script is, for those that only lie beside one.
        ground.write("work/tools/gate.py", "import rules");
        ground.write(&format!("work/{settings}"), &text);
        ground.write(&format!("work/{script}"), "mine");
        let outcome = ground.run_script(&format!("echo EVIL > {script}"));
        assert_eq!(fs::read_to_string(ground.work().join(script)).unwrap(), "mine", "{script}: {outcome:#}");
    }
    // What is new beside them.
    for (command, plant) in [
        ("python3 tools/gate.py", "tools/json.py"),
        ("run-parts tools/gates", "tools/gates/b"),
        ("node tools", "tools/package.json"),
        ("sh tools/gate-$(uname).sh", "tools/gate-Linux.sh"),
    ] {
        let ground = Ground::new(Who::User, "landlock", "");
        ground.write("work/.claude/settings.json", &hook(command));
        for name in ["tools/gate.py", "tools/gates/a", "tools/index.js"] {
            ground.write(&format!("work/{name}"), "mine");
        }
        give_all(&ground, &ground.work());
        let outcome = ground.run_script(&format!("echo EVIL > {plant}"));
        assert!(!ground.work().join(plant).exists(), "{plant}: {outcome:#}");
    }
}

/// Words of settings that name no program are no names of hooks, and a folder is no repository's for being called like one.
#[test]
fn everyday_names_are_nobodys_hooks() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"\n[presets.p.limits]\ntimeout_s = 60") {
        let work = ground.work();
        git(&work, &["init", "-q", "-b", "main"]);
        for setting in [
            ["init.defaultBranch", "main"],
            ["user.name", "test"],
            ["branch.main.description", "report"],
            ["core.autocrlf", "input"],
        ] {
            git(&work, &["config", setting[0], setting[1]]);
        }
        fs::write(work.join("f"), "x").unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "one"]);
        give_all(&ground, &work);
        for _ in 0..2 {
            // Made, and made anew.
            let outcome = ground.run(
                "for name in main test report input true false; do rm -f $name; echo built > $name; done; echo fine",
            );
            assert_eq!(outcome["stdout"], "fine\n", "{}: {outcome:#}", ground.name());
            for name in ["main", "test", "report", "input", "true", "false"] {
                assert!(work.join(name).exists(), "{}: {name}: {outcome:#}", ground.name());
            }
        }
        let outcome = ground.run("git -c safe.directory='*' clone -q . packages/hooks && echo fine");
        assert_eq!(outcome["stdout"], "fine\n", "{}: {outcome:#}", ground.name());
        assert!(work.join("packages/hooks/.git/config").exists(), "{}: {outcome:#}", ground.name());
        let outcome = ground
            .run("mkdir -p pkg/lefthook src && echo x > pkg/lefthook/run.go && echo x > src/mise.rs && echo fine");
        assert!(changes(&outcome, "set_aside").is_empty(), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn closed_folders_stay_as_closed_as_they_were() {
    for ground in everywhere("") {
        let work = ground.work();
        for (name, mode) in [("vault", 0o000), ("drop", 0o2300)] {
            fs::create_dir(work.join(name)).unwrap();
            give_all(&ground, &work);
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let outcome = ground.run("true");
        for (name, mode) in [("vault", 0o000), ("drop", 0o2300)] {
            let now = fs::metadata(work.join(name)).unwrap().permissions().mode() & 0o7777;
            assert_eq!(now, mode, "{}: {name}: {outcome:#}", ground.name());
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}

/// A folder of programs in PATH is one however it is spelled, and as soon as it is there.
#[test]
fn folders_of_programs_are_kept_however_they_are_spelled() {
    for ground in everywhere("") {
        let work = ground.work();
        std::os::unix::fs::symlink(&work, ground.path().join("other")).unwrap();
        fs::create_dir(work.join("tools")).unwrap();
        fs::write(work.join("tools/date"), "mine").unwrap();
        give_all(&ground, &work);
        let path = format!(
            "{}/bin:{}/tools:./relative:{}",
            work.display(),
            ground.path().join("other").display(),
            std::env::var("PATH").unwrap()
        );
        for folder in ["bin", "relative", "tools"] {
            let mut driver = ground.driver();
            driver.env("PATH", &path);
            let run = format!("mkdir -p {folder}; echo evil > {folder}/date; chmod +x {folder}/date");
            let outcome = ground.run_with(driver, &ground.order(&format!("sh -c '{run}'")));
            let now = fs::read_to_string(work.join(folder).join("date")).ok();
            // Landlock cannot keep one folder in a workspace from being written; then somebody hears of it.
            let keeps = !["landlock", "firejail"].iter().any(|backend| ground.name().starts_with(backend));
            if folder == "tools" && !keeps {
                let is_kept = now.as_deref() == Some("mine");
                assert!(
                    is_kept || outcome["violations"].to_string().contains("tools/date"),
                    "{}: {outcome:#}",
                    ground.name()
                );
                continue;
            }
            let want = (folder == "tools").then(|| "mine".to_owned());
            assert_eq!(now, want, "{}: {folder}: {outcome:#}", ground.name());
        }
    }
}

/// What only a person's own git starts is what it was: its editor, its way to a remote, and what an alias goes to.
#[test]
fn what_a_persons_git_starts_later_is_kept() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        let work = ground.work();
        git(&work, &["init", "-q", "."]);
        fs::create_dir(work.join("tools")).unwrap();
        let files = ["ssh_config", "glued", "tools/ed.sh", "tools/st.sh", "tools/in.sh", "tools/cred.sh"];
        for file in files {
            fs::write(work.join(file), "mine").unwrap();
        }
        for (key, value) in [
            ("core.sshCommand", "ssh -F ssh_config -Fglued"),
            ("core.editor", "./tools/ed.sh"),
            ("alias.sst", "!./tools/st.sh"),
            ("alias.in", "!cd tools && ./in.sh"),
            ("credential.helper", "!./tools/cred.sh"),
        ] {
            git(&work, &["config", key, value]);
        }
        give_all(&ground, &work);
        let write: Vec<String> = files.iter().map(|file| format!("echo EVIL > {file}")).collect();
        let outcome = ground.run_script(&write.join("\n"));
        for file in files {
            assert_eq!(fs::read_to_string(work.join(file)).unwrap(), "mine", "{}: {file}: {outcome:#}", ground.name());
        }
        fs::create_dir(work.join(".git/rebase-merge")).unwrap();
        give_all(&ground, &work);
        let outcome = ground.run_script("printf x/../evil > .git/rebase-merge/strategy");
        let told = outcome["violations"].to_string();
        assert!(told.contains("rebase-merge/strategy"), "{}: {outcome:#}", ground.name());
    }
}

/// What a run cannot write is not its own, whatever it lets name it.
#[test]
fn a_persons_own_hooks_stay_whatever_names_them() {
    for (run, mine) in [
        ("git init -q --template= x; git -C x config core.hooksPath ../.git/hooks", ".git/hooks/pre-commit"),
        ("git init -q --template= x; ln -s ../../.git/hooks x/.git/hooks", ".git/hooks/pre-commit"),
        ("git init -q --template= x; git -C x config include.path ../../.git/config.worktree", ".git/config.worktree"),
    ] {
        let ground = Ground::new(Who::User, "bwrap", "");
        let work = ground.work();
        git(&work, &["init", "-q"]);
        fs::create_dir_all(work.join(".git/hooks")).unwrap();
        fs::write(work.join(mine), "mine").unwrap();
        give_all(&ground, &work);
        let outcome = ground.run_script(run);
        assert_eq!(fs::read_to_string(work.join(mine)).ok().as_deref(), Some("mine"), "{run}: {outcome:#}");
    }
}

/// Settings that a run brings with a repository count as such that run something, but for those of which it is known that they do not.
#[test]
fn settings_of_a_new_repository_run_nothing() {
    for ground in cages() {
        let work = ground.work();
        for (number, run) in [
            "git -C N config core.pager 'touch x; cat'",
            "git -C N config pager.log 'touch x'",
            "git -C N config interactive.diffFilter 'touch x'",
            "git -C N config difftool.x.cmd 'touch x'",
            "git -C N config trailer.x.cmd 'touch x'",
            "git -C N config init.templateDir ../t",
            "git -C N config man.x.cmd 'touch x'",
            "git -C N config tar.x.command 'touch x'",
            "git -C N config uploadpack.packObjectsHook 'touch x'",
            "git -C N config hook.x.command 'touch x'",
            "git -C N config unheard.of 'touch x'",
            "git -C N config extensions.worktreeConfig true; git -C N config --worktree core.fsmonitor 'touch x'",
            "printf '[core]\\n\\tfsmonitor = x\\n' > N/.git/config.worktree",
            "{ cat N/.git/config; yes '# x' | head -300000; printf '[core]\\n\\tfsmonitor = x\\n'; } > c; mv c N/.git/config",
            "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = x\\n' > evil; rm N/.git/config; ln -s ../../evil N/.git/config",
            "echo ../../y > N/.git/commondir",
        ]
        .iter()
        .enumerate()
        {
            let name = format!("sub{number}");
            let outcome = ground.run_script(&format!("git init -q {name}; {}", run.replace('N', &name)));
            let git = work.join(&name).join(".git");
            let text = |file: &str| fs::read_to_string(git.join(file)).unwrap_or_default();
            let left = format!("{}{}{}", text("config"), text("config.worktree"), text("commondir"));
            let is_left = ["touch x", "../t", "= x", "../../y"].iter().any(|mark| left.contains(mark));
            assert!(!is_left, "{}: {run}: {left}: {outcome:#}", ground.name());
        }
        // What git itself writes stays.
        for (number, run) in [
            "git init -q N",
            "git init -q N; git -C N config user.name a; git -C N config user.email a@b; git -C N remote add origin https://h.example/x.git",
            "git init -q o; git -C o -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git clone -q o N",
            "git init -q -b main N; git -C N config branch.main.remote origin; git -C N config color.ui never",
        ]
        .iter()
        .enumerate()
        {
            let name = format!("fine{number}");
            let outcome = ground.run(&run.replace('N', &name));
            assert!(work.join(&name).join(".git/config").exists(), "{}: {run}: {outcome:#}", ground.name());
        }
    }
}

/// The project's own settings of git are no run's to change, whatever the backend can keep; a worktree that git makes is one.
#[test]
fn own_settings_of_git_come_back_and_own_worktrees_stay() {
    for ground in cages() {
        let work = ground.work();
        git(&work, &["init", "-q", "-b", "main"]);
        fs::write(work.join("README"), "x").unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "one"]);
        git(&work, &["config", "user.name", "n"]);
        git(&work, &["config", "user.email", "n@example.invalid"]);
        give_all(&ground, &work);
        let config = fs::read_to_string(work.join(".git/config")).unwrap();
        for run in [
            "git config core.fsmonitor 'touch x; false'",
            "echo '[core] pager = touch x' >> .git/config",
            "cp .git/config c; echo '[alias] st = !touch x' >> c; mv -f c .git/config",
            "mv .git g2; cp -r g2 .git; echo '[core] editor = touch x' >> .git/config",
            "rm .git/config; printf '[core]\\n\\tsshCommand = x\\n' > .git/config",
        ] {
            let outcome = ground.run_script(run);
            assert_eq!(
                fs::read_to_string(work.join(".git/config")).unwrap(),
                config,
                "{}: {run}: {outcome:#}",
                ground.name()
            );
            let _ = fs::remove_dir_all(work.join("g2"));
        }
        let outcome = ground.run("git worktree add -q wt && cd wt && echo y > f && git add f && git commit -qm two");
        assert_eq!(outcome["exit_code"], 0, "{}: {outcome:#}", ground.name());
        assert!(work.join("wt/.git").is_file(), "{}: {outcome:#}", ground.name());
        let outcome = ground.run_script("mkdir wu; echo 'gitdir: ../.git/worktrees/wt' > wu/.git");
        assert!(!work.join("wu/.git").exists(), "{}: {outcome:#}", ground.name());
    }
}

/// More closed folders than there are descriptors hide nothing, and are closed again.
#[test]
fn more_closed_folders_than_descriptors_hide_nothing() {
    for ground in cages() {
        let work = ground.work();
        fs::create_dir(work.join("app")).unwrap();
        fs::create_dir_all(work.join("old/in")).unwrap();
        give_all(&ground, &work);
        let program = "import os\nos.makedirs('zz')\nfor n in range(3000):\n    os.mkdir(f'zz/{n}')\n    os.chmod(f'zz/{n}', 0)\n\
                       os.chmod('old/in', 0)\nos.chmod('old', 0)\n";
        ground.write("work/e.py", program);
        let plants = [
            ".claude/settings.json",
            ".envrc",
            ".mcp.json",
            "app/.envrc",
            "app/.vscode/tasks.json",
            "sub/.vscode/tasks.json",
        ];
        let plant: Vec<String> =
            plants.iter().map(|plant| format!("mkdir -p $(dirname {plant}); echo EVIL > {plant}")).collect();
        ground.write("work/script.sh", &format!("python3 e.py\n{}\n", plant.join("\n")));
        let mut driver = std::process::Command::new("prlimit");
        driver.arg("--nofile=1024:1024");
        let mut driver = behind(driver, &ground.driver());
        driver.current_dir(ground.path());
        let outcome = ground.run_with(driver, &ground.order("bash script.sh"));
        for plant in plants {
            assert!(!work.join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        let mode = |path: &str| fs::metadata(work.join(path)).map(|meta| meta.permissions().mode() & 0o777);
        assert_eq!(mode("old").unwrap(), 0, "{}: {outcome:#}", ground.name());
        for path in ["old", "old/in", "zz"] {
            let _ = fs::set_permissions(work.join(path), fs::Permissions::from_mode(0o755));
        }
        assert_eq!(mode("zz/2999").unwrap(), 0, "{}: {outcome:#}", ground.name());
        assert_eq!(mode("old/in").unwrap(), 0o755, "{}", ground.name());
    }
}
