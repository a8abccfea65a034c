//! Files that act later, anywhere in a workspace: what was there stays as it was, what is new is set aside.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Ground, Who, everywhere};

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

fn changes(outcome: &Value, change: &str) -> Vec<String> {
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
fn give_all(ground: &Ground, folder: &Path) {
    ground.give(folder);
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            give_all(ground, &entry.path());
        } else {
            ground.give(&entry.path());
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command
        .args(["-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "safe.directory=*"])
        .args(arguments)
        .current_dir(folder);
    assert!(command.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn what_everyday_tools_make_is_told_and_stays() {
    for ground in everywhere("[presets.p.git]\nrepository = \"write\"\n[presets.p.limits]\ntimeout_s = 60") {
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

#[test]
fn a_folder_of_a_thousand_plants_is_one_line_of_words() {
    let ground = Ground::new(Who::User, "bwrap", "");
    let outcome = ground.run("mkdir -p venv/bin; for i in $(seq 1000); do echo x > venv/bin/p$i; done");
    let violations = outcome["violations"].as_array().unwrap();
    assert!(violations.len() <= 8, "{outcome:#}");
    assert_eq!(violations.iter().filter_map(|violation| violation["more"].as_u64()).sum::<u64>(), 992, "{outcome:#}");
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
        let changed = changes(&outcome, "modified");
        assert!(changed.iter().any(|path| path.ends_with("tools/hooks/pre-commit")), "{}: {outcome:#}", ground.name());
    }
}
