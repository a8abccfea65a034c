//! Files that are not what their names say: pipes and devices, lists that are links, settings that versions of git read in different
//! ways. The hook alone lets nothing through that meets one.

use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, Site};

fn lets_through(site: &Site, config: &Path, command: &str) -> bool {
    let mut hook = site.hook_command(config);
    hook.env("HOME", site.path().join("home")).args(["check", "--", command]);
    Output::of(&mut hook, b"").code == Some(0)
}

#[test]
fn pipes_and_devices_are_none_of_the_hooks_business() {
    let site = Site::default();
    let alone = site.hook_toml_alone();
    std::fs::create_dir(site.path().join("home")).unwrap();
    site.file("a.txt", "x");
    for arguments in [
        &["-m", "666", "pipe", "p"][..],
        &["-m", "666", "rnd", "c", "1", "8"],
        &["-m", "666", "sub/dev", "c", "1", "8"],
    ] {
        std::fs::create_dir_all(site.work().join("sub")).unwrap();
        let made = Command::new("mknod").args(arguments).current_dir(site.work()).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    for command in [
        "echo id > pipe",
        "cp a.txt pipe",
        "tee pipe < a.txt",
        "cat pipe",
        "head -c 4 rnd",
        "strings rnd",
        "echo x > rnd",
        "cat rnd > y",
        "cat sub/*",
        "grep -r x sub",
    ] {
        assert!(!lets_through(&site, &alone, command), "{command}");
    }
    for command in ["cat a.txt", "echo x > /dev/null", "head -c 4 /dev/urandom | wc -c", "echo x > b.txt"] {
        assert!(lets_through(&site, &alone, command), "{command}");
    }
}

/// What is checked, or passed over, by a list that somebody else has written.
#[test]
fn lists_of_others_show_nothing() {
    let site = Site::default();
    let alone = site.hook_toml_alone();
    std::fs::create_dir(site.path().join("home")).unwrap();
    site.file(".env", "API=\"k{ey\"\n");
    site.file("lib/x/a", "hello");
    site.file("list", "0  .env\n");
    for command in [
        "md5sum -c list",
        "sha256sum --check list",
        "sha1sum -bc list",
        "grep -r x lib --exclude-from=.env",
        "git ls-files -o -i --exclude-per-directory=.env",
    ] {
        assert!(!lets_through(&site, &alone, command), "{command}");
    }
    for command in ["md5sum list", "sha256sum -b list", "sha256sum l*"] {
        assert!(lets_through(&site, &alone, command), "{command}");
    }
}

/// A hook runs wherever some version of git finds it.
#[test]
fn settings_that_versions_of_git_read_in_different_ways_are_not_understood() {
    for value in ["\\\n\t\ttools/hk", "\rtools/hk", "tools\t/hk", "\\\n  \\\n tools/hk", "tools/hk \\\n"] {
        let site = Site::default();
        let alone = site.hook_toml_alone();
        std::fs::create_dir(site.path().join("home")).unwrap();
        let made =
            Command::new("git").args(["init", "-q", "--template=", "."]).current_dir(site.work()).status().unwrap();
        assert!(made.success());
        let config = site.work().join(".git/config");
        let plain = std::fs::read_to_string(&config).unwrap();
        for command in ["git commit -q --allow-empty -m x", "git add a"] {
            assert!(lets_through(&site, &alone, command), "{value:?}: {command}");
        }
        std::fs::write(&config, format!("{plain}\thooksPath = {value}\n")).unwrap();
        for name in ["tools/hk/pre-commit", "tools/hk/post-index-change", "tools\t/hk/post-index-change"] {
            site.file(name, "#!/bin/sh\ntouch canary\n");
            std::fs::set_permissions(site.work().join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
        }
        for command in ["git commit -q --allow-empty -m x", "git add a"] {
            assert!(!lets_through(&site, &alone, command), "{value:?}: {command}");
        }
    }
}

/// What an agent or a login shell starts next lies at home: its own program, and folders that are searched as soon as they are there.
#[test]
fn programs_at_home_that_are_started_later_are_not_written() {
    let site = Site::default();
    let alone = site.hook_toml_alone();
    let home = site.path().join("home");
    for folder in [".claude/local", "bin", "etc/profile.d", ".pyenv/pyenv.d/exec", ".local/share/claude/versions"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    for path in [
        ".claude/local/claude",
        "bin/ls",
        ".pyenv/pyenv.d/exec/x.bash",
        ".local/share/claude/versions/2",
        ".zimrc",
        "etc/profile.d/x.sh",
    ] {
        let mut hook = site.hook_command(&alone);
        hook.env("HOME", &home).current_dir(&home).args(["check", "--", &format!("echo x > {path}")]);
        assert_ne!(Output::of(&mut hook, b"").code, Some(0), "{path}");
    }
    let mut hook = site.hook_command(&alone);
    hook.env("HOME", &home).current_dir(&home).args(["check", "--", "echo x > notes.txt"]);
    assert_eq!(Output::of(&mut hook, b"").code, Some(0));
    // The same where a link at home leads into a project.
    site.file("bashrc", "x");
    site.file("claude/settings.json", "{}");
    std::fs::remove_dir_all(home.join(".claude")).unwrap();
    std::os::unix::fs::symlink(site.work().join("bashrc"), home.join(".bashrc")).unwrap();
    std::os::unix::fs::symlink(site.work().join("claude"), home.join(".claude")).unwrap();
    for path in ["bashrc", "claude/settings.json"] {
        assert!(!lets_through(&site, &alone, &format!("echo x > {path}")), "{path}");
    }
    assert!(lets_through(&site, &alone, "echo x > other"));
}
