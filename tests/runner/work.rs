//! Real work under the presets: builds, tests, commits, a server on localhost.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{Ground, MATRIX, Who, everywhere};

fn git(ground: &Ground, words: &[&str]) {
    let mut command = ground.as_user(std::path::Path::new("git"));
    let status = command
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(words)
        .current_dir(ground.work())
        .status();
    assert!(status.unwrap().success(), "{words:?}");
}

/// A repository with one commit.
fn repository(ground: &Ground) {
    git(ground, &["init", "-q", "-b", "main", "."]);
    ground.write("work/readme", "hello\n");
    git(ground, &["config", "user.name", "t"]);
    git(ground, &["config", "user.email", "t@example.com"]);
    git(ground, &["add", "."]);
    git(ground, &["commit", "-qm", "first"]);
}

#[test]
fn build_tools_work_under_the_build_preset() {
    for (who, backend) in MATRIX {
        let ground = Ground::new(who, backend, "extends = \"runner-build\"\n[presets.p.limits]\ntimeout_s = 60");
        repository(&ground);
        ground.write("work/Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        ground.write("work/src/lib.rs", "#[test]\nfn works() { assert_eq!(1 + 1, 2); }\n");
        ground.write("work/Makefile", "all:\n\t@echo made > made.txt && cat made.txt\n");
        ground.write("work/package.json", "{\"scripts\": {\"test\": \"node test.js\"}}\n");
        ground.write("work/test.js", "console.log('npm ran');\n");
        ground.write("work/test_it.py", "def test_it():\n    assert True\n");
        let checks = [
            ("make all", "made"),
            ("npm test --silent", "npm ran"),
            ("python3 -m pytest -q test_it.py", "1 passed"),
            ("cargo test --offline -q", "1 passed"),
            ("git add made.txt && git commit -qm second && git log --oneline | wc -l", "2"),
        ];
        for (command, want) in checks {
            if command.starts_with("cargo") && who == Who::User {
                // The toolchain of this machine is root's.
                continue;
            }
            let outcome = with_toolchain(&ground, command);
            let text = format!("{}{}", outcome["stdout"], outcome["stderr"]);
            assert_eq!(outcome["exit_code"], 0, "{} {command}: {outcome:#}", ground.name());
            assert!(text.contains(want), "{} {command}: {outcome:#}", ground.name());
            assert_eq!(
                outcome["violations"].as_array().map(Vec::len),
                Some(0),
                "{} {command}: {outcome:#}",
                ground.name()
            );
        }
        if backend == "bwrap" {
            let server = "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 0.6; python3 -m pytest -q test_server.py";
            ground.write(
                "work/test_server.py",
                "import urllib.request\ndef test_server():\n    assert b'readme' in urllib.request.urlopen('http://127.0.0.1:8123/').read()\n",
            );
            let outcome = ground.run(server);
            assert!(outcome["stdout"].as_str().unwrap().contains("1 passed"), "{}: {outcome:#}", ground.name());
        }
    }
}

/// Cargo with the caller's PATH and toolchain homes, as in real use.
fn with_toolchain(ground: &Ground, command: &str) -> serde_json::Value {
    let mut driver = ground.driver();
    if command.starts_with("cargo") {
        for name in ["PATH", "CARGO_HOME", "RUSTUP_HOME", "HOME"] {
            driver.env(name, std::env::var_os(name).unwrap_or_default());
        }
    }
    ground.run_with(driver, &ground.order(command))
}

#[test]
fn asyncio_and_worker_processes_work() {
    for ground in everywhere("[presets.p.network]\naccess = \"never\"\nunix_sockets = \"none\"") {
        ground.write(
            "work/workers.py",
            "import asyncio, multiprocessing\nasync def main():\n    loop = asyncio.get_running_loop()\n    print(await loop.run_in_executor(None, lambda: 41 + 1))\n    p = await asyncio.create_subprocess_exec('echo', 'sub', stdout=asyncio.subprocess.PIPE)\n    print((await p.communicate())[0].decode().strip())\ndef double(x): return x * 2\nif __name__ == '__main__':\n    asyncio.run(main())\n    with multiprocessing.Pool(2) as pool: print(sum(pool.map(double, range(10))))\n",
        );
        assert_eq!(ground.prints("python3 workers.py"), "42\nsub\n90\n", "{}", ground.name());
    }
}

/// What an agent may plant in a repository, so that the user's next git command outside runs it.
#[test]
fn a_planted_hook_never_runs_unreported() {
    let canary = "echo '#!/bin/sh' > $H; echo 'touch $CANARY' >> $H; chmod +x $H";
    let plants = [
        ("a hook", format!("H=.git/hooks/pre-commit; {canary}")),
        ("the configuration", "git config core.fsmonitor 'touch $CANARY; false'".to_owned()),
        (
            "the configuration by hand",
            "printf '[core]\\n\\tfsmonitor = touch $CANARY; false\\n' >> .git/config".to_owned(),
        ),
        (
            "another folder",
            format!("mv .git .git2; git init -q .; H=.git/hooks/pre-commit; mkdir -p .git/hooks; {canary}"),
        ),
        (
            "commondir",
            format!(
                "mkdir -p evil/hooks; cp .git/config evil/; cp -r .git/objects .git/refs evil/; H=evil/hooks/pre-commit; {canary}; echo ../evil > .git/commondir"
            ),
        ),
        (
            "hooksPath in a worktree's configuration",
            "mkdir -p .git; printf '[core]\\n\\thooksPath = /tmp/x\\n' > .git/config.worktree".to_owned(),
        ),
        (
            "a nested repository",
            "mkdir sub; cd sub; git init -q .; git config core.fsmonitor 'touch $CANARY; false'".to_owned(),
        ),
        (
            "a submodule's configuration",
            "mkdir -p .git/modules/s; printf '[core]\\n\\tfsmonitor = touch $CANARY; false\\n' > .git/modules/s/config".to_owned(),
        ),
        (
            "a worktree's configuration",
            "mkdir -p .git/worktrees/w; printf '[core]\\n\\tfsmonitor = touch $CANARY; false\\n' > .git/worktrees/w/config.worktree"
                .to_owned(),
        ),
        ("attributes", "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes".to_owned()),
        ("a start file", "echo 'touch $CANARY' > .envrc".to_owned()),
    ];
    for repository_access in ["read", "write"] {
        for ground in everywhere(&format!("[presets.p.git]\nrepository = \"{repository_access}\"")) {
            for (what, plant) in &plants {
                fs::remove_dir_all(ground.work()).unwrap();
                fs::create_dir(ground.work()).unwrap();
                ground.give(&ground.work());
                repository(&ground);
                let canary = ground.path().join("canary");
                let outcome = ground.run(&plant.replace("$CANARY", &canary.display().to_string()));
                let reported = !outcome["violations"].as_array().unwrap().is_empty();
                for place in [ground.work(), ground.work().join("sub")] {
                    if place.is_dir() {
                        let mut host = ground.as_user(std::path::Path::new("git"));
                        let _ = host
                            .args(["-c", "user.name=t", "-c", "user.email=t@e", "status"])
                            .current_dir(&place)
                            .output();
                        let mut host = ground.as_user(std::path::Path::new("git"));
                        let _ = host.args(["commit", "-q", "--allow-empty", "-m", "x"]).current_dir(&place).output();
                    }
                }
                assert!(!canary.exists() || reported, "{} {repository_access}: {what}: {outcome:#}", ground.name());
                let _ = fs::remove_file(&canary);
                if ground.backend == "bwrap"
                    && repository_access == "read"
                    && !what.contains("nested")
                    && !what.contains("start")
                {
                    assert!(!reported, "{}: {what} was possible: {outcome:#}", ground.name());
                }
            }
        }
    }
}

/// What was prepared before the run and only moved into place, and what keeps its times.
#[test]
fn a_nested_repository_is_reported_however_it_comes_to_be() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"") {
        repository(&ground);
        ground.write("work/vendor/parts/config", "[core]\n\tfsmonitor = touch x; false\n");
        ground.write("work/vendor/parts/HEAD", "ref: refs/heads/main\n");
        ground.write("work/old/.git/config", "[core]\n");
        ground.write("work/old/.git/hooks/post-checkout", "#!/bin/sh\n");
        ground.write("work/old/.git/modules/a/b/config", "[core]\n");
        for folder in ["work/vendor", "work/old"] {
            ground.give(&ground.path().join(folder));
        }
        let quiet = ground.run("ls -R vendor old; echo x > notes");
        assert_eq!(quiet["violations"], json!([]), "{}: {quiet:#}", ground.name());
        for (what, command) in [
            ("moved", "mv vendor/parts vendor/.git"),
            (
                "same time",
                "cp -p old/.git/config t; echo '[core] fsmonitor = y' >> old/.git/config; touch -r t old/.git/config",
            ),
            ("a submodule of it", "echo '[core] fsmonitor = x' >> old/.git/modules/a/b/config"),
            ("moved as a whole", "mkdir deep; mv old deep/new"),
        ] {
            let settings = || fs::read(ground.path().join("work/old/.git/config")).ok();
            let of_submodule = || fs::read(ground.path().join("work/old/.git/modules/a/b/config")).ok();
            let (before, submodule) = (settings(), of_submodule());
            let outcome = ground.run(command);
            let changes = outcome["violations"].as_array().unwrap();
            // What was there is kept from being written, or told.
            let is_kept = what == "same time" && outcome["exit_code"] != 0 && settings() == before
                || what == "a submodule of it" && outcome["exit_code"] != 0 && of_submodule() == submodule;
            assert!(
                is_kept
                    || changes.iter().any(|change| ["nested_repository", "modified", "put_back", "set_aside"]
                        .iter()
                        .any(|one| change["change"] == *one)),
                "{}: {what}: {outcome:#}",
                ground.name()
            );
        }
    }
}

#[test]
fn a_commit_gets_one_trailer_however_it_is_made() {
    let trailer = "Co-authored-by: Helper <helper@example.com>";
    for ground in everywhere(&format!("[presets.p.git]\nrepository = \"write\"\ntrailer = \"{trailer}\"")) {
        repository(&ground);
        git(&ground, &["config", "alias.ci", "commit"]);
        let hook = ground.write("work/.git/hooks/pre-commit", "#!/bin/sh\necho ran >> hooked\n");
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let makes = [
            "git commit -q --allow-empty -m one",
            "echo two > msg; git commit -q --allow-empty -F msg",
            "git commit -q --allow-empty --amend --no-edit",
            "git commit -q --allow-empty --no-verify -m four",
            "git ci -q --allow-empty -m five",
            "printf 'git commit -q --allow-empty -m six\\n' > s.sh; sh s.sh",
        ];
        for make in makes {
            let outcome = ground.run(&format!("{make} && git log -1 --format=%B"));
            let text = outcome["stdout"].as_str().unwrap();
            assert_eq!(text.matches(trailer).count(), 1, "{} {make}: {outcome:#}", ground.name());
        }
        // All but the one with --no-verify.
        assert_eq!(fs::read_to_string(ground.work().join("hooked")).unwrap().lines().count(), makes.len() - 1);
        assert_eq!(ground.prints("echo git commit -m x"), "git commit -m x\n");
        // The repository's own `core.hooksPath` counts, too.
        fs::create_dir(ground.work().join("own")).unwrap();
        let hook = ground.write("work/own/commit-msg", "#!/bin/sh\necho own >> hooked\n");
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        git(&ground, &["config", "core.hooksPath", "own"]);
        assert!(ground.prints("git commit -q --allow-empty -m seven && git log -1 --format=%B").contains(trailer));
        assert!(fs::read_to_string(ground.work().join("hooked")).unwrap().ends_with("own\n"), "{}", ground.name());
    }
}

#[test]
fn what_wants_a_person_fails_fast() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"\n[presets.p.limits]\ntimeout_s = 20") {
        repository(&ground);
        git(&ground, &["config", "core.editor", "vim"]);
        git(&ground, &["commit", "-q", "--allow-empty", "-m", "second"]);
        for (command, want) in [
            ("git commit --allow-empty", "there is no editor here"),
            ("git rebase -i HEAD~1", "an interactive rebase needs a person"),
            ("git -c core.pager=less log --oneline", ""),
            ("read -p 'sure? ' x; echo \"[$x]\"", "[]"),
            ("ssh -o ConnectTimeout=1 nowhere.invalid true", ""),
            ("$EDITOR file", ""),
        ] {
            let outcome = ground.run(command);
            assert_ne!(outcome["ending"], "timed_out", "{} {command}: {outcome:#}", ground.name());
            let text = format!("{}{}", outcome["stdout"], outcome["stderr"]);
            assert!(text.contains(want), "{} {command}: {outcome:#}", ground.name());
        }
    }
}

#[test]
fn the_tools_that_the_tests_need_are_there() {
    for program in ["bwrap", "firejail", "shellcheck", "setpriv", "script", "npm", "make", "git"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
        assert!(found.status.success(), "{program} is missing: run `make tools`");
    }
}
