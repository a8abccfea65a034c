//! Secrets that a harmless text shows, because a path, a name or a folder is something else than it says; and files that act
//! later under other names. See `hostile_world.rs`.

use std::os::unix::fs::symlink;

use bashgate_tests::Output;

use super::hostile_world::{World, git};

#[test]
fn patterns_and_trees_behind_a_link_and_back() {
    let world = World::new();
    let other = world.work().parent().unwrap().join("other");
    std::fs::create_dir_all(other.join("deep")).unwrap();
    std::fs::create_dir_all(other.join("conf")).unwrap();
    for secret in ["server.key", "conf/.env"] {
        std::fs::write(other.join(secret), "x").unwrap();
    }
    symlink("conf/.env", other.join("notes")).unwrap();
    symlink("../other/deep", world.work().join("link")).unwrap();
    world.file("a.md", "x");
    world.asked(&[
        "cat link/../s*",
        "head link/../serv?r.key",
        "grep -rh . link/../conf",
        "find link/../conf -type f | xargs cat",
        "cd link && cat ../s*",
        "cd link; grep -r . ../conf",
        "diff link/../notes /dev/null",
        "grep -r . link/../notes",
        "cp link/../notes x.txt",
        "for f in link/../s*; do cat \"$f\"; done",
        "cat /var/run/../proc/self/environ*",
        "strings /var/run/../proc/self/envir?n",
        "grep -rhz X /var/run/../proc/self/task",
        "cat /var/run/../etc/shad?w",
        "cd /var/run; cat ../proc/self/envir*",
    ]);
    std::fs::create_dir(world.work().join("docs")).unwrap();
    world.local(&["cat ./*.md", "cat ../w/*.md", "grep -r x ../w/docs", "cd docs && grep -r x .", "cat a.md"]);
    // Another call may move that folder meanwhile.
    world.asked(&["cd docs && grep -r x ../docs"]);
}

#[test]
fn one_folder_with_two_names() {
    let world = World::new();
    let deep = world.work().parent().unwrap().join("other/deep");
    std::fs::create_dir_all(&deep).unwrap();
    world.file("server.key", "x");
    symlink(&deep, world.work().join("link")).unwrap();
    let ask = |pwd: &std::path::Path, command: &str| {
        let mut hook = bashgate_tests::hook();
        hook.arg("--config").arg(world.alone()).args(["check", "--", command]).current_dir(&deep);
        hook.env("PWD", pwd).env("PATH", "/usr/bin:/bin");
        Output::of(&mut hook, b"").code == Some(0)
    };
    for command in ["cd .. && cat s*", "cd ..; cat *", "cd .. && grep -r . .", "cat ../s*; cd .. && head *"] {
        assert!(!ask(&world.work().join("link"), command), "{command}");
        assert!(ask(&deep, command), "{command} where the names agree");
    }
    // A name of another folder is no name of this one.
    assert!(ask(&world.work(), "cd .. && cat s*"));
    assert!(ask(&world.work().join("link"), "ls"));
}

#[test]
fn links_that_are_called_like_secrets() {
    let world = World::new();
    world.file("cfg/production", "x");
    world.file("real/dc.json", "x");
    world.file("conf2/config", "x");
    let work = world.work();
    std::fs::create_dir(work.join(".docker")).unwrap();
    symlink("cfg/production", work.join(".env")).unwrap();
    symlink("../real/dc.json", work.join(".docker/config.json")).unwrap();
    symlink("conf2", work.join(".aws")).unwrap();
    symlink("real/dc.json", work.join("server.key")).unwrap();
    world.asked(&[
        "cat .e*",
        "head .en?",
        "cat server.k*",
        "cat .docker/*",
        "grep -R x .",
        "find . -name .env -exec cat {} \\;",
        "find . -type l -print0 | xargs -0 cat",
        "cat .a*/config",
        "sort *",
    ]);
    world.local(&["cat cfg/*", "cat real/*.json", "grep -r x real"]);
}

#[test]
fn git_in_folders_with_secrets() {
    let world = World::new();
    for file in [".aws/config", ".docker/config.json", "etc/shadow", "sops/age/keys.txt", "src/main.rs"] {
        world.file(file, "x\n");
    }
    let work = world.work();
    git(&work, &["init", "-q", "-b", "main"]);
    git(&work, &["add", "-f", "."]);
    git(&work, &["commit", "-qm", "one"]);
    world.asked(&[
        "git -C .aws show HEAD:./config",
        "git -C .aws show :./config",
        "git -C .aws blame config",
        "cd .aws && git blame config",
        "cd .docker && git blame config.json",
        "cd sops/age && git blame keys.txt",
        "cd etc; git show HEAD:./shadow",
    ]);
    world.local(&["git -C src show HEAD:./main.rs", "cd src && git blame main.rs"]);
    // A repository that is such a folder.
    let keeper = World::new();
    keeper.file("etc/shadow", "x");
    let etc = keeper.work().join("etc");
    git(&etc, &["init", "-q", "-b", "main"]);
    git(&etc, &["add", "."]);
    git(&etc, &["commit", "-qm", "one"]);
    keeper.asked(&["git -C etc show", "git -C etc log -p", "git -C etc grep ."]);
    keeper.local(&["cd etc && git diff HEAD"]);
    keeper.file("etc/shadow", "y");
    keeper.asked(&["cd etc && git diff HEAD"]);
}

#[test]
fn names_that_everybody_takes_for_secrets() {
    let world = World::new();
    for name in [
        ".kubeconfig",
        ".keystore",
        "my-project-firebase-adminsdk-x1.json",
        "credentials (1).json",
        "credentials.bak.json",
        "Copy of credentials.json",
        ".env(1)",
        ".env4",
        ".envprod",
        "env.prod",
        "passwords.csv",
        "db_password",
        "token.txt",
        "prod-secrets.yaml",
        "secrets.prod.yaml",
        "google_credentials.json",
        "private-key.txt",
        "secrets.ini",
        "id_rsa_old",
        ".env.bk",
        ".aws.bak/config",
        ".kube-prod/config",
        ".okta/okta.yaml",
        "etc/kubernetes/admin.conf",
        ".yarnrc.yml",
        "github-recovery-codes.txt",
        ".git/config.worktree",
    ] {
        let file = world.file(name, "x");
        world.asked(&[&format!("cat '{name}'"), &format!("head -n 1 './{name}'")]);
        assert!(name.starts_with(".git/") || !world.ask("grep -rh x .", "/usr/bin:/bin"), "{name} in a walk");
        std::fs::remove_file(file).unwrap();
    }
    let world = World::new();
    for name in [
        "src/token.rs",
        "app/password.html",
        "design/tokens.json",
        "docs/secrets.md",
        "src/password/mod.rs",
        "password_reset.txt",
        "secret-scanning.yml",
        "tokenizer.json",
        "keys.ts",
        "keyboard.txt",
        "monkey.json",
        "i18n/en.json",
        "test_key.py",
    ] {
        world.file(name, "x");
        world.local(&[&format!("cat {name}")]);
    }
    world.local(&["grep -rn x ."]);
}

#[test]
fn variables_that_hold_secrets() {
    let world = World::new();
    for name in [
        "API_TOKENS",
        "OPENAI_KEY_2",
        "DB_PASS_PROD",
        "GITHUB_PAT_2",
        "STRIPE_SK_LIVE",
        "SSH_KEY_B64",
        "TLS_KEY_PEM",
        "DATABASE_URL_PROD",
        "SSHKEY",
        "DBPW",
        "BW_SESSION",
        "OP_SESSION_my",
        "PIP_INDEX_URL",
        "WIFI_PSK",
    ] {
        world.asked(&[&format!("echo \"${name}\""), &format!("printf '%s' \"${{{name}}}\"")]);
    }
    for name in
        ["MAX_TOKENS", "TOKEN_TYPE", "TOKENIZER", "SECRETARY", "PASSWORD_MIN_LENGTH", "CREDENTIALS_DIR", "next_tokens"]
    {
        world.local(&[&format!("echo \"${name}\"")]);
    }
}

#[test]
fn settings_of_git_that_hold_secrets() {
    for setting in [
        "[remote \"o\"]\n\turl = https://ghp_short@h.example/x\n",
        "[url \"https://tok@h.example/\"]\n\tinsteadOf = x:\n",
        "[github]\n\tpat = x1\n",
        "[user]\n\tpw = x1\n",
        "[core]\n\tsshCommand = sshpass -pX ssh\n",
        "[alias]\n\tapi = \"!curl -u me:X h.example\"\n",
        "[jira]\n\tapikey = x1\n",
    ] {
        let world = World::new();
        git(&world.work(), &["init", "-q"]);
        let config = world.work().join(".git/config");
        std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + setting).unwrap();
        for command in ["cat .git/config", "git config -l"] {
            assert!(!world.ask(command, "/usr/bin:/bin"), "{command} with {setting}");
        }
    }
    let world = World::new();
    git(&world.work(), &["init", "-q"]);
    git(&world.work(), &["remote", "add", "origin", "git@h.example:x.git"]);
    git(&world.work(), &["config", "user.email", "a@b.example"]);
    world.local(&["cat .git/config", "git config -l"]);
}

#[test]
fn repositories_under_other_names() {
    let world = World::new();
    let work = world.work();
    git(&work, &["init", "-q", "--separate-git-dir=store"]);
    git(&work, &["config", "core.hooksPath", "tools/hk"]);
    git(&work, &["config", "include.path", "../gitinc"]);
    git(&work, &["init", "-q", "--bare", "r.git"]);
    world.file("tools/hk/README", "x");
    world.file("a", "x");
    world.asked(&[
        "printf '[core]' >> store/config",
        "cp a store/hooks/pre-commit",
        "echo x > store/commondir",
        "echo x > store/info/attributes",
        "echo x > tools/hk/post-index-change",
        "chmod +x tools/hk/README",
        "cp a r.git/hooks/update",
        "echo x >> r.git/config",
        "mkdir -p r.git/hooks/x",
        "echo x > gitinc",
    ]);
    world.local(&["echo x > b", "mkdir -p src/deep", "echo x > tools/b", "cp a src"]);
}

#[test]
fn secrets_that_git_would_take_in() {
    let world = World::new();
    world.file("src/main.rs", "x");
    world.file("a.txt", "x");
    let work = world.work();
    git(&work, &["init", "-q", "-b", "main"]);
    let adds = ["git add -A", "git add .", "git add --all", "git add -v . && git commit -m x", "git -C src add .."];
    world.local(&adds);
    world.file("conf/.env", "x");
    world.asked(&adds);
    world.asked(&["git add conf", "git add conf/.env", "git add ./conf/", "cd conf && git add ."]);
    world.local(&["git add src", "git add a.txt", "git add -u", "git add --dry-run ."]);
    // Ignored, in any of the plain ways; or tracked already, which is another question.
    for (list, line, ignores) in [
        (".gitignore", ".env\n", true),
        (".gitignore", "# x\nconf/\n", true),
        ("conf/.gitignore", "*.env\n", true),
        (".git/info/exclude", "/conf/.env\n", true),
        (".gitignore", ".env\n!conf/.env\n", false),
        (".gitignore", "/.env\n", false),
        (".gitignore", ".en?\n", false),
    ] {
        let file = world.file(list, line);
        for command in ["git add -A", "git add ."] {
            assert_eq!(world.ask(command, "/usr/bin:/bin"), ignores, "{command} with {line:?} in {list}");
        }
        std::fs::remove_file(file).unwrap();
    }
    git(&work, &["add", "-f", "conf/.env"]);
    world.local(&["git add -A"]);
}

#[test]
fn what_git_shows_whatever_its_options_say() {
    let world = World::new();
    let work = world.work();
    git(&work, &["init", "-q"]);
    world.file(".env", "SECRET=x");
    world.file("a.txt", "x");
    git(&work, &["add", "-f", "."]);
    git(&work, &["commit", "-qm", "first: begin"]);
    git(&work, &["tag", "light", "HEAD:.env"]);
    world.asked(&[
        "git show :/first",
        "git show 'HEAD^{/first: begin}'",
        "git show 'HEAD@{0:00:00}'",
        "git show --stat light",
        "git show -s light",
        "git show --no-patch light",
        "git show --name-only light",
        "git show --raw 533450e788350e690d487c09b8911519e75c857d",
        "git for-each-ref --format='%(*raw)'",
        "git for-each-ref --format='%(refname) %(raw)'",
    ]);
    world.local(&[
        "git show --stat HEAD",
        "git show --stat",
        "git show HEAD:a.txt",
        "git show -s HEAD~0",
        "git for-each-ref",
    ]);
}

#[test]
fn places_of_secrets_are_met_from_above() {
    let world = World::new();
    world.file("mnt/.config/gh.old/hosts.yml", "x");
    world.file("plain/x", "x");
    world.asked(&["grep -r . mnt", "cat mnt/.config/gh.old/*", "cat mnt/.config/*/*"]);
    world.local(&["grep -r . plain"]);
}
