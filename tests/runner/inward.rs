//! What outside of a workspace leads into it: links at home, variables, settings of agents. A run changes none of that.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Ground, Who, everywhere};

/// Dotfiles that lie in the workspace, with links to them at home.
#[test]
fn what_links_at_home_lead_to_is_kept() {
    for ground in everywhere("") {
        let home = ground.path().join("home");
        fs::create_dir_all(home.join(".config/git")).unwrap();
        let files = ["bashrc", "claude/settings.json", "gitconfig"];
        for (file, link) in files.iter().zip([".bashrc", ".claude/settings.json", ".config/git/config"]) {
            ground.write(&format!("work/{file}"), "mine");
            fs::create_dir_all(home.join(link).parent().unwrap()).unwrap();
            symlink(ground.work().join(file), home.join(link)).unwrap();
        }
        let outcome = ground
            .run_script("for f in bashrc claude/settings.json gitconfig; do echo EVIL > $f; done; echo x > other");
        for file in files {
            let now = fs::read_to_string(ground.work().join(file)).unwrap();
            assert_eq!(now, "mine", "{}: {file}: {outcome:#}", ground.name());
        }
        assert_eq!(fs::read_to_string(ground.work().join("other")).unwrap(), "x\n", "{}: {outcome:#}", ground.name());
    }
}

/// Settings of agents outside of the workspace, and in the forms that agents take, name scripts in it.
#[test]
fn scripts_that_settings_outside_start_are_kept() {
    let hook = |command: &str| {
        serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}})
            .to_string()
    };
    for (settings, text) in [
        ("home/.claude/settings.json", hook("WORK/tools/gate.sh")),
        (".claude/settings.json", hook("sh work/tools/gate.sh")),
        ("work/.gemini/settings.json", format!("// ours\n{}", hook("sh tools/gate.sh"))),
        ("work/.gemini/settings.json", format!("\u{feff}{}", hook("sh tools/gate.sh"))),
        (
            "work/.github/hooks/g.json",
            r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "sh tools/gate.sh"}]}}"#.to_owned(),
        ),
        ("work/opencode.json", r#"{"plugin": ["./tools/gate.sh"]}"#.to_owned()),
        ("work/opencode.jsonc", "{\"mcp\": {\"x\": {\"command\": [\"sh\", \"tools/gate.sh\"]}}, /* x */ }".to_owned()),
        ("work/.claude/settings.json", r#"{"env": {"BASH_ENV": "./tools/gate.sh"}}"#.to_owned()),
    ] {
        let ground = Ground::new(Who::Root, "bwrap", "");
        ground.write("work/tools/gate.sh", "mine");
        ground.write(settings, &text.replace("WORK", &ground.work().display().to_string()));
        let outcome = ground.run_script("echo EVIL > tools/gate.sh");
        let now = fs::read_to_string(ground.work().join("tools/gate.sh")).unwrap();
        assert_eq!(now, "mine", "{settings} {text}: {outcome:#}");
    }
}

/// A link that leads nowhere yet, to where the next run may make something.
#[test]
fn a_link_that_leads_nowhere_yet_is_told() {
    for ground in everywhere("") {
        let outcome = ground.run_script("ln -s /tmp/later-$$ vendor");
        assert!(outcome["violations"].to_string().contains("vendor"), "{}: {outcome:#}", ground.name());
    }
}

/// Of several rules for a name the strictest counts, in any letters.
#[test]
fn the_strictest_rule_for_a_name_counts() {
    for ground in everywhere("") {
        for plant in [
            ".agents/plugins/marketplace.json",
            ".github/workflows/.exrc",
            ".agents/x/.nvim.lua",
            "sub/.v\u{17f}code/tasks.json",
        ] {
            let outcome = ground.run_script(&format!("mkdir -p \"$(dirname {plant})\" && echo x > {plant}"));
            assert!(!ground.work().join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
    }
}

/// Among many programs that a package manager makes, one that takes the place of a known one is named.
#[test]
fn a_program_in_the_place_of_another_is_named_among_many() {
    for ground in everywhere("") {
        let outcome = ground.run_script(
            "mkdir -p node_modules/.bin; for i in $(seq 40); do echo x > node_modules/.bin/tool$i; done; echo x > node_modules/.bin/zcat",
        );
        assert!(outcome["violations"].to_string().contains("node_modules/.bin/zcat"), "{}: {outcome:#}", ground.name());
    }
}
