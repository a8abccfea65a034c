//! Links that lead to nothing yet, through another process, or further than one name can say: none of them is "not there".
//! See `hostile_world.rs`.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::hostile_world::{World, git};

fn executable(path: &Path) {
    std::fs::write(path, "#!/bin/sh\ntouch canary\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A command makes what a link waits for, and goes through it.
#[test]
fn dangling_links_that_the_command_completes() {
    let world = World::new();
    let work = world.work();
    let other = work.parent().unwrap().join("other");
    std::fs::create_dir_all(other.join("keys")).unwrap();
    std::fs::write(other.join("keys/work"), "x").unwrap();
    std::fs::create_dir_all(work.join("real/deep")).unwrap();
    world.file("tool.sh", "x");
    for (link, target) in [
        ("k", "nd/../../other/keys"),
        ("n", "nd/../../other/keys/work"),
        ("h", "nd/../.git/hooks"),
        ("c", "nd/../.claude"),
        ("once", "twice"),
        ("twice", "nd/../.git"),
        ("d", "a/b"),
        ("good", "real/deep"),
    ] {
        symlink(target, work.join(link)).unwrap();
    }
    world.asked(&[
        "mkdir nd && echo x > k/new",
        "mkdir nd && cp -p tool.sh h/pre-commit",
        "mkdir nd && echo '{}' > c/settings.json",
        "mkdir nd; cp tool.sh once/config",
        "mkdir -p a/b; echo x > d/y",
        "echo x > k/new",
        "mkdir nd; chmod 777 k/work",
        "mkdir nd; cat n",
        "mkdir nd && cat k/*",
        "mkdir nd; grep -r . k/",
        "mkdir nd; grep -R . .",
        "mkdir nd; find k/ -type f -exec cat {} +",
        "mkdir nd; x=$(cat n)",
        "mkdir nd; cat < n",
        "mkdir nd; cd k && cat w*",
        "mkdir nd; cp n o && cat o",
    ]);
    // Where nothing is made, nothing is there; and where the link leads to something, all is said.
    world.local(&["cat n", "grep -r x .", "mkdir nd && ls", "mkdir real/new && echo x > real/new/y", "cat good/x"]);
}

/// `/proc/self/cwd` is another folder for each process, and so is what lies behind it.
#[test]
fn links_through_a_process() {
    let world = World::new();
    let work = world.work();
    world.file("a.md", "x");
    std::fs::create_dir(work.join("pc")).unwrap();
    symlink("/proc/self/cwd/work", work.join("pc/n")).unwrap();
    symlink("/proc/999999/environ", work.join("pc/e")).unwrap();
    world.asked(&["cat pc/*", "grep -R . pc", "cat pc/n", "ls; ls; cat pc/e", "cd /usr && cat /proc/self/cwd/x"]);
    for (setting, link) in [
        (Some("/proc/self/cwd/hk"), None),
        (Some("hkl"), Some("hkl")),
        (None, Some(".git/hooks")),
        (None, Some("sub/.git")),
    ] {
        let world = World::new();
        let work = world.work();
        git(&work, &["init", "-q"]);
        std::fs::create_dir_all(work.join("hk")).unwrap();
        std::fs::create_dir_all(work.join("sub/inner/.git")).unwrap();
        executable(&work.join("hk/post-index-change"));
        world.file("a.md", "x");
        world.local(&["git status"]);
        if let Some(value) = setting {
            git(&work, &["config", "core.hooksPath", value]);
        }
        if let Some(link) = link {
            let _ = std::fs::remove_dir_all(work.join(link));
            let target = if link.starts_with("sub") { "/proc/self/cwd/inner/.git" } else { "/proc/self/cwd/hk" };
            symlink(target, work.join(link)).unwrap();
        }
        let folder = if link == Some("sub/.git") { "cd sub && " } else { "" };
        world.asked(&[&format!("{folder}git status"), &format!("{folder}git add a.md"), &format!("{folder}git diff")]);
    }
    let world = World::new();
    git(&world.work(), &["init", "-q"]);
    std::fs::create_dir(world.work().join("sub")).unwrap();
    std::fs::write(world.work().join("sub/.git"), "gitdir: /proc/self/cwd/inner/.git\n").unwrap();
    world.asked(&["cd sub && git status", "git -C sub status", "cd sub; git diff"]);
}

/// The kernel follows link by link what is too long to be said at once.
#[test]
fn links_that_lead_further_than_a_name_can_say() {
    let world = World::new();
    let work = world.work();
    let other = work.parent().unwrap().join("other/.ssh");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("work"), "x").unwrap();
    // Each link leads through twenty long names; the last one to what lies beside the folder it is in.
    let long = "d".repeat(200);
    let mut folder = work.clone();
    for name in ["l1", "l2"] {
        let mut path = std::path::PathBuf::from(name.replace('l', "r"));
        for _ in 0..10 {
            path.push(&long);
        }
        // Made step by step: no name is as long as all of it.
        let status = std::process::Command::new("bash")
            .args(["-c", "cd -P -- \"$1\" && IFS=/; for part in $2; do mkdir -p -- \"$part\" && cd -P -- \"$part\" || exit 1; done", "b"])
            .arg(&folder)
            .arg(&path)
            .status()
            .unwrap();
        assert!(status.success());
        rustix::fs::symlinkat(
            &path,
            rustix::fs::open(&folder, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap(),
            name,
        )
        .unwrap();
        folder.push(name);
    }
    symlink("l1/l2/x", work.join("notes.txt")).unwrap();
    let at = rustix::fs::open(&folder, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
    rustix::fs::symlinkat(other.join("work"), &at, "x").unwrap();
    assert_eq!(std::fs::read(work.join("notes.txt")).unwrap(), b"x", "the kernel follows it");
    world.asked(&[
        "cat *.txt",
        "cat n*",
        "head *.txt",
        "grep -R x .",
        "cat notes.txt",
        "for f in n*; do cat \"$f\"; done",
    ]);
}

/// A file that is called like an option turns a search for one word in some files into one in everything.
#[test]
fn names_that_are_options_of_a_search() {
    for name in ["-R", "-r", "--directories=recurse", "-fpattern"] {
        let world = World::new();
        world.file("a.txt", "x");
        world.local(&["grep x *", "grep -n x *", "egrep 'a|b' *", "fgrep x *", "cat a.txt | grep x *"]);
        std::fs::write(world.work().join(name), "").unwrap();
        world.asked(&[
            "grep x *",
            "grep -n x *",
            "egrep 'a|b' *",
            "fgrep x *",
            "grep -e x *",
            "grep x a.txt *",
            "cat a.txt | grep x *",
            "for f in *; do grep x \"$f\"; done",
        ]);
        world.local(&["grep x ./*", "grep x -- *", "grep x a.txt"]);
    }
}

/// Git compares a commit's file with what lies at a path now, behind whatever links.
#[test]
fn git_shows_files_behind_links() {
    let world = World::new();
    let work = world.work();
    git(&work, &["init", "-q"]);
    let aws = work.parent().unwrap().join(".aws");
    std::fs::create_dir_all(&aws).unwrap();
    std::fs::write(aws.join("config"), "x").unwrap();
    std::fs::create_dir(work.join("vendor")).unwrap();
    symlink(&aws, work.join("vendor/conf")).unwrap();
    world.file("R", "x");
    git(&work, &["add", "R"]);
    world.asked(&[
        "git diff :R vendor/conf/config",
        "git diff HEAD:R ./vendor/conf/config",
        "git diff :R -- vendor/conf/config",
        "git diff --no-color :R vendor/conf/config",
        "git blame vendor/conf/config",
    ]);
    world.local(&["git diff :R R", "git diff R", "git status"]);

    let world = World::new();
    let work = world.work();
    git(&work, &["init", "-q"]);
    let odd = work.join(std::ffi::OsStr::from_bytes(b"f\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("work"), "x").unwrap();
    git(&work, &["add", "."]);
    world.asked(&["git grep x", "git diff", "git show"]);
}

/// What git does not read as a line that ignores.
#[test]
fn lines_that_ignore_less_than_they_seem_to() {
    for line in [".env\t", "//.env", ".env\u{a0}", ".env\r\r", ".env\u{c}", "/./.env", "x\\.env"] {
        let world = World::new();
        git(&world.work(), &["init", "-q"]);
        world.file(".env", "x");
        world.file(".gitignore", ".env\n");
        world.local(&["git add -A"]);
        world.file(".gitignore", &format!("{line}\n"));
        world.asked(&["git add -A", "git add ."]);
    }
}
