//! Two harmless steps that would be one harmful act: what the first one makes, the second one must not trip over. See
//! `hostile_world.rs`.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, bin};

use super::hostile_world::{World, git};

/// A world whose workspace is a repository with one commit of a file `f`.
fn with_one_commit() -> World {
    let world = World::new();
    world.file("f", "x");
    git(&world.work(), &["init", "-q"]);
    git(&world.work(), &["add", "f"]);
    git(&world.work(), &["commit", "-qm", "one"]);
    world
}

#[test]
fn words_that_only_some_shells_take_for_assignments() {
    let world = World::new();
    world.asked(&[
        "sh -c 'x+=/y'",
        "sh -c 'x+=y ls'",
        "dash -c '{ x+=/y; }'",
        "env sh -c 'if x+=/y; then :; fi'",
        "timeout 5 sh -c '( x+=/y )'",
        "sh -c 'x=1 y+=/evil'",
        "sh -c 'echo $(x+=/y)'",
        "sh -c 'f() { x+=/y; }; f'",
        "sh -c 'while x+=/evil; do break; done'",
        "sh -c \"eval 'x+=/y'\"",
    ]);
    world.local(&["x+=/y; echo \"$x\"", "bash -c 'x+=/y; echo $x'", "sh -c 'x=/y; echo $x'"]);
}

#[test]
fn a_folder_that_is_made_and_moved_in_one_line() {
    let world = World::new();
    world.file("evil", "x");
    world.file("a", "x");
    world.asked(&[
        "mkdir -p t/bin && cp evil t/bin/python && chmod +x t/bin/python && mv t venv",
        "mkdir -p n/.bin && cp evil n/.bin/tsc && mv n node_modules",
        "mkdir n && mv n node_modules",
        "mkdir t && cd t && cp ../evil x && cd .. && mv t venv",
        "mkdir -p t/hooks; echo x > t/hooks/pre-commit; mv t .husky",
    ]);
    world.local(&["cp a b && mv b c", "echo x > b && mv b c", "mkdir t && cp a t/b", "mv a c"]);
    // What git's settings name lies below what is moved.
    git(&world.work(), &["init", "-q"]);
    git(&world.work(), &["config", "core.hooksPath", "tools/githooks"]);
    world.asked(&["mv a tools", "cp evil tools/githooks/pre-commit"]);
}

#[test]
fn a_repository_that_only_the_last_commit_knows() {
    let world = with_one_commit();
    let work = world.work();
    world.local(&[
        "git add f && git commit -m x",
        "git add -A && git commit -m x && git status",
        "git add f && git diff --cached --stat",
        "git add f && git add f",
    ]);
    let inner = work.join("inner");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    world.file("inner/g", "x");
    git(&inner, &["add", "g"]);
    git(&inner, &["commit", "-qm", "in"]);
    // As a folder, and as a file that points elsewhere.
    for moved in [false, true] {
        if moved {
            std::fs::rename(inner.join(".git"), work.join("gd")).unwrap();
            world.file("inner/.git", "gitdir: ../gd");
        }
        world.asked(&[
            "git add inner && git commit -m x",
            "git add -A && git commit -m x",
            "git add . ; git commit -qm x",
            "git add inner/g",
            "git add inner && git status",
            "git add -f inner && git commit --no-edit",
        ]);
        world.local(&["git add f && git commit -m x"]);
    }
}

#[test]
fn formats_that_check_signatures_wherever_they_stand() {
    let world = World::new();
    git(&world.work(), &["init", "-q"]);
    world.asked(&[
        "git shortlog --group='format:%G?' HEAD",
        "git shortlog -s --group=%GK HEAD",
        "git log --pretty='tformat:%h %G?'",
        "git log --grep=x --format='%+GS'",
    ]);
    world.local(&["git shortlog -sn HEAD", "git shortlog --group=author HEAD", "git log --format=%h"]);
}

#[test]
fn inherited_variables_that_steer_what_is_called() {
    let world = World::new();
    world.file("a", "x");
    let ask = |name: &str, value: &str, command: &str| {
        let mut hook = bashgate_tests::hook();
        hook.arg("--config").arg(world.alone()).args(["check", "--", command]).current_dir(world.work());
        Output::of(hook.env("PATH", "/usr/bin:/bin").env(name, value), b"").code == Some(0)
    };
    for (name, value, command) in [
        ("GAWK_LOCALE_DIR", "/srv/loc", "awk 1 a"),
        ("GAWK_LOCALE_DIR", "loc", "cat a | awk '{print $1}'"),
        ("SHELLCHECK_OPTS", "-x", "shellcheck a"),
        ("BZIP2", "-f .env", "bzcat a"),
        ("BZIP", "-f .env", "cat a | bzcat"),
        ("XZ_OPT", "--files=a", "xzcat a"),
        ("XZ_DEFAULTS", "-vv", "xzcat a"),
        ("DPKG_ADMINDIR", "/srv/dp", "dpkg -L jq"),
        ("DPKG_PAGER", "sh", "dpkg -s jq"),
    ] {
        assert!(!ask(name, value, command), "{name}={value} {command}");
        assert!(ask("HARMLESS", value, command), "{command}");
    }
}

#[test]
fn numbers_that_some_shells_evaluate() {
    let world = World::new();
    let alone = std::fs::read_to_string(world.alone()).unwrap();
    let other = world.alone().with_file_name("zsh.toml");
    let other_shell = alone.lines().filter(|line| !line.starts_with("shell =")).collect::<Vec<_>>().join("\n");
    std::fs::write(&other, format!("shell = \"zsh\"\n{other_shell}")).unwrap();
    let ask = |command: &str| {
        let mut hook = bashgate_tests::hook();
        hook.arg("--config").arg(&other).args(["check", "--", command]).current_dir(world.work());
        Output::of(hook.env("PATH", "/usr/bin:/bin"), b"").code == Some(0)
    };
    for command in ["read -r x < f; read -t \"$x\" y", "read -n \"$x\" y", "read -t 'a[$(id)]' y", "read -n a y"] {
        assert!(!ask(command), "{command}");
    }
    assert!(ask("read -t 5 y") && ask("read -r line"));
}

const USER: u32 = 23_015;

/// The hook as an ordinary user, whom modes keep out.
fn asked_as_user(world: &World, bins: &Path, command: &str) -> bool {
    let mut hook = Command::new("setpriv");
    hook.args([format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()]);
    hook.arg(bins.join("bashgate-hook")).arg("--config").arg(bins.join("hook.toml")).args(["check", "--", command]);
    let said =
        Output::of(hook.current_dir(world.work()).env("PATH", "/usr/bin:/bin").env_remove("LD_LIBRARY_PATH"), b"");
    assert!(matches!(said.code, Some(0 | 2)), "{command}: {said:?}");
    said.code != Some(0)
}

#[test]
fn folders_that_the_command_itself_opens() {
    let world = World::new();
    let work = world.work();
    let bins = world.programs.path().to_owned();
    std::fs::copy(bin("bashgate-hook"), bins.join("bashgate-hook")).unwrap();
    std::fs::copy(world.alone(), bins.join("hook.toml")).unwrap();
    std::fs::set_permissions(bins.join("hook.toml"), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.file("outside/victim", "x");
    world.file("conf/.env", "x");
    world.file("plain/a", "x");
    world.file("hooks/x", "x");
    std::fs::create_dir(work.join("d")).unwrap();
    symlink("/etc/passwd", work.join("d/l")).unwrap();
    symlink("outside", work.join("link")).unwrap();
    std::fs::create_dir(work.join("sub")).unwrap();
    for name in ["", "d", "conf", "conf/.env", "plain", "plain/a", "hooks", "sub", "outside"] {
        chown(work.join(name), Some(USER), Some(USER)).unwrap();
    }
    assert!(!asked_as_user(&world, &bins, "cat plain/*"));
    assert!(!asked_as_user(&world, &bins, "chmod 755 plain && cat plain/*"));
    for closed in ["d", "conf", "hooks", "sub"] {
        std::fs::set_permissions(work.join(closed), std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    for command in [
        "chmod 755 d && echo x > d/l",
        "chmod 755 d; printf x >> d/l",
        "chmod 755 d && chmod +x d/l",
        "chmod 755 conf && grep -r . conf",
        "chmod 755 conf && cat conf/*",
        "chmod u+rwx conf; head conf/.e*",
        "grep -r x .",
        "chmod 755 sub && mv sub/x y",
        "cd link/../hooks && echo x > pre-commit",
        "cd link/../hooks; echo x > y",
    ] {
        assert!(asked_as_user(&world, &bins, command), "{command}");
    }
    // So that they can be deleted.
    for closed in ["d", "conf", "hooks", "sub"] {
        std::fs::set_permissions(work.join(closed), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// What is looked at now, and used later or by way of what the line itself makes.
#[test]
fn names_that_come_to_lie_where_they_were_not_looked_for() {
    let world = World::new();
    world.file("data", "x");
    world.asked(&[
        "mkdir -p ./--compress-program=sh/y ./-S1b/y; sort * > /dev/null",
        "mkdir s; cd s && mkdir -p ../-x/y && cd .. && sort *",
        "mkdir ./-x && sort *",
        "{ sleep 4; sort *; } > /dev/null &",
        "(sleep 4; sort *) & sleep 1",
        "ls > >(sleep 3; sort *)",
        "ls > >(sleep 3; find . -type f | xargs sort -S1b > /dev/null)",
        "coproc { sleep 2; sort *; }",
        "exec setsid sh -c 'sleep 3; echo > ./--compress-program=sh'",
        "setsid ls",
    ]);
    world.local(&["sort *", "mkdir -p a/b; sort a/*", "sleep 1; ls *", "(sleep 1; ls) & wait"]);
    git(&world.work(), &["init", "-q"]);
    git(&world.work(), &["add", "data"]);
    git(&world.work(), &["commit", "-qm", "one"]);
    world.asked(&[
        "git checkout -q -b x/--compress-program=sh; cd .git/refs/heads/x && sort -S1b * data",
        "git checkout -b x/y && find . | xargs sort",
        "{ sleep 4; git status; } &",
    ]);
    world.local(&["git status", "git checkout -q -b fine"]);
}

#[test]
fn files_that_are_read_by_being_there() {
    let world = World::new();
    world.asked(&[
        "mkdir -p .gemini/x; echo x > .gemini/sandbox.bashrc",
        "echo x > .gemini/sandbox.bashrc",
        "echo 'GEMINI_CLI_SYSTEM_SETTINGS_PATH=s.json' > .env",
        "echo x > .envrc.local",
        "echo x > .envrc.override",
        "echo x > devfile.yaml",
        "echo x > .hg/hgrc-not-shared",
    ]);
    world.local(&["mkdir -p src/a/b", "mkdir -p docs", "mkdir -p .github/x"]);
}

#[test]
fn secrets_that_git_is_made_to_take_in_or_give_back() {
    let world = World::new();
    let work = world.work();
    world.file("README.md", "x");
    world.file("sub/id_rsa", "K");
    world.file(".env", "K");
    git(&work, &["init", "-q"]);
    git(&work, &["add", "README.md"]);
    git(&work, &["commit", "-qm", "one"]);
    world.asked(&[
        "git add '*'",
        "git add './*'",
        "git add '.e*' && git commit -qm x",
        "git add '.en[v]'",
        "git add ':!README.md'",
        "git add ':(glob)**'",
        "git add ':(top,glob)*'",
        "git add -A ':!README.md'",
        "git add 'sub/*'",
        "git add \\*",
        "cd sub && git add '*'",
        "git -C sub add '*'",
        "git log -u dev -- .env",
        "git log -U1 dev -- .env",
        "git log --binary dev -- .env",
        "git log -L1,1:.env dev",
        "git diff dev -- '.e*'",
        "git grep -h K dev -- '.en[v]'",
    ]);
    world.file(".gitignore", ".env\nsub/id_rsa\n");
    world.asked(&[
        "git add -f '?env'",
        "git add -f '*'",
        "git add -f '[.]env'",
        "git add -f ':'",
        "git add -f ':^README.md'",
        "git add -f ':(exclude)README.md'",
        "git cat-file -p 605f3ab5",
    ]);
    world.local(&["git add '*'", "git add '*.md'", "git add -A", "git show HEAD", "git diff"]);
    // A stash has a number like every commit.
    git(&work, &["add", ".gitignore"]);
    git(&work, &["commit", "-qm", "two"]);
    world.asked(&["git show 2a17830", "git diff HEAD 2a17830"]);
    git(&work, &["stash", "-q", "--all"]);
    world.asked(&[
        "git show 2a17830",
        "git diff HEAD 2a17830",
        "git log -p -1 2a17830",
        "git diff-tree -p --root 2a17830",
        "git grep -h K 2a17830",
        "git show 2a17830^3",
    ]);
    world.local(&["git log --oneline", "git diff HEAD~1"]);
    // What commits hold is guarded by the names in the index.
    git(&work, &["stash", "drop", "-q"]);
    world.file(".env", "K");
    git(&work, &["add", "-f", ".env"]);
    git(&work, &["commit", "-qm", "three"]);
    std::fs::remove_file(work.join(".env")).unwrap();
    world.asked(&["git add -u", "git add -A", "git commit -qam rm", "git restore --staged ."]);
}

#[test]
fn passwords_in_what_git_keeps_of_addresses() {
    let world = with_one_commit();
    let work = world.work();
    let shown = ["git reflog", "git log -g --oneline", "git log -g --format=%gs", "cat .git/logs/HEAD"];
    let branch = ["git branch --format='%(push:remotename)'", "git for-each-ref", "git log --oneline"];
    world.local(&shown);
    world.local(&branch);
    let mut log = std::fs::OpenOptions::new().append(true).open(work.join(".git/logs/HEAD")).unwrap();
    let zero = "0".repeat(40);
    let line = format!("{zero} {zero} n <n@x> 1 +0000\tpull https://x-access-token:TOKEN@h.example/o/r.git main\n");
    std::io::Write::write_all(&mut log, line.as_bytes()).unwrap();
    world.asked(&shown);
    world.local(&branch);
    git(&work, &["config", "branch.main.pushRemote", "https://me:pw@h.example/x.git"]);
    world.asked(&branch);
    for name in ["bare.git/config", ".bare/config", ".gitmodules", "gitconfig"] {
        world.file(name, "[remote \"o\"]\n\turl = https://me:pw@h.example/x.git\n");
        world.asked(&[&format!("cat {name}")]);
        world.file(name, "[remote \"o\"]\n\turl = https://h.example/x.git\n");
        world.local(&[&format!("cat {name}")]);
    }
}

#[test]
fn names_that_programs_make_of_names() {
    let world = World::new();
    world.file(".env", "K");
    world.file("m.gz", "x");
    std::fs::create_dir(world.work().join("z")).unwrap();
    for (name, target) in [("z/notes.gz", "../.env"), ("z/n2.Z", "../.env"), ("z/n3-gz", "../.env")] {
        symlink(target, world.work().join(name)).unwrap();
    }
    world.asked(&[
        "zcat -f z/notes",
        "cd z && zcat -f notes",
        "zcat -f z/n2",
        "zcat z/n3",
        "gzip -dc z/notes",
        "gunzip -c z/notes",
        "gzip -l z/notes",
        "cat /dev/vda",
        "strings -n 20 /dev/sda1",
        "od -c /dev/mem",
        "cat /dev/vcs1",
    ]);
    world.local(&["zcat m", "zcat m.gz", "gzip -dc m.gz", "cat /dev/null"]);
    world.file("run.sh", ". ./.env");
    world.local(&["shellcheck run.sh", "shellcheck --norc run.sh"]);
    world.file(".shellcheckrc", "external-sources=true");
    world.asked(&["shellcheck run.sh", "cd z && shellcheck ../run.sh"]);
}

#[test]
fn links_that_lead_elsewhere_when_a_job_in_the_background_gets_there() {
    let world = World::new();
    world.file("app.log", "x");
    world.file(".env", "KEY=x");
    symlink("mk/../.env", world.work().join("waits")).unwrap();
    symlink("app.log", world.work().join("link")).unwrap();
    world.asked(&[
        "sleep 5; cat waits &",
        "(sleep 5; cat waits) &",
        "tail -F waits &",
        "tail -F link &",
        "coproc { sleep 5; cat waits; }",
        "{ sleep 1; jq . waits; } & echo x",
        // It may be one by then.
        "(sleep 5; cat app.log) &",
    ]);
    // What has no link on its way goes on as before.
    world.local(&["tail -F app.log &", "cat link", "sleep 1 &"]);
}

#[test]
fn objects_that_are_in_no_history_are_shown_by_their_number_only_on_request() {
    let world = with_one_commit();
    let work = world.work();
    let number = |what: &str| {
        let mut command = Command::new("git");
        command.args(["rev-parse", what]).current_dir(&work);
        Output::of(&mut command, b"").expect(0).stdout.trim().to_owned()
    };
    world.file("new", "KEY=x");
    git(&work, &["stash", "-qu"]);
    let (stash, untracked) = (number("stash"), number("stash^3"));
    git(&work, &["stash", "pop", "-q"]);
    let blob = {
        let mut command = Command::new("git");
        command.args(["hash-object", "-w", "new"]).current_dir(&work);
        Output::of(&mut command, b"").expect(0).stdout.trim().to_owned()
    };
    for dropped in [&stash, &untracked, &blob] {
        for command in [
            "show {}",
            "show {}:new",
            "diff HEAD {}",
            "diff HEAD..{}",
            "log -p {}",
            "grep KEY {}",
            "diff-tree -p --root {}",
        ] {
            world.asked(&[format!("git {}", command.replace("{}", dropped)).as_str()]);
            world.asked(&[format!("git {}", command.replace("{}", &dropped[..8])).as_str()]);
            // As `git describe` prints them.
            let described = format!("x-0-g{dropped}");
            world.asked(&[format!("git {}", command.replace("{}", &described)).as_str()]);
        }
    }
    let head = number("HEAD");
    world.local(&[
        format!("git show {head}").as_str(),
        format!("git show {}", &head[..7]).as_str(),
        format!("git show {head}:f").as_str(),
        format!("git show {head} --stat").as_str(),
        format!("git diff {}..HEAD", &head[..8]).as_str(),
    ]);
    // What is packed is history.
    git(&work, &["gc", "-q", "--prune=now"]);
    world.local(&[format!("git show {}", &head[..7]).as_str()]);
}
