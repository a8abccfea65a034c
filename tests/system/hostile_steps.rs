//! Two harmless steps that would be one harmful act: what the first one makes, the second one must not trip over. See
//! `hostile_world.rs`.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, bin};

use super::hostile_world::{World, git};

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
    let world = World::new();
    let work = world.work();
    world.file("f", "x");
    git(&work, &["init", "-q"]);
    git(&work, &["add", "f"]);
    git(&work, &["commit", "-qm", "one"]);
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
        let mut hook = Command::new(bin("bashgate-hook"));
        hook.arg("--config").arg(world.alone()).args(["check", "--", command]).current_dir(world.work());
        Output::of(hook.env("PATH", "/usr/bin:/bin").env_remove("LD_LIBRARY_PATH").env(name, value), b"").code
            == Some(0)
    };
    for (name, value, command) in [
        ("GAWK_LOCALE_DIR", "/srv/loc", "awk 1 a"),
        ("GAWK_LOCALE_DIR", "loc", "cat a | awk '{print $1}'"),
        ("SHELLCHECK_OPTS", "-x", "shellcheck a"),
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
        let mut hook = Command::new(bin("bashgate-hook"));
        hook.arg("--config").arg(&other).args(["check", "--", command]).current_dir(world.work());
        Output::of(hook.env("PATH", "/usr/bin:/bin").env_remove("LD_LIBRARY_PATH"), b"").code == Some(0)
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
