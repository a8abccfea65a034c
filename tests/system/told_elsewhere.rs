//! Commands whose files stand in what they read: patches, archives, lists. Where that is in the text, it is judged as if they were
//! named; where it is not, nobody can tell.

use bashgate_tests::Site;
use serde_json::json;

fn diff(path: &str) -> String {
    format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n")
}

/// So many of them.
fn many(count: usize) -> String {
    (0..count).map(|number| diff(&format!("b/{number}"))).collect::<Vec<_>>().concat()
}

fn patch(path: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n")
}

#[test]
fn what_a_patch_in_the_text_names_is_judged_as_if_it_were_named() {
    let site = Site::default();
    let _host = site.serve();
    let fed = |program: &str, text: &str| format!("{program} <<'EOF'\n{text}EOF");
    for command in [
        fed("patch -p0", &diff(".claude/settings.json")),
        fed("patch -p1", &diff("b/.claude/settings.json")),
        fed("patch", &diff("x/y/.codex/hooks.json")),
        fed("git apply", &diff("b/.gemini/settings.json")),
        fed("git -C . apply --index", &diff("b/.claude/settings.json")),
        fed("git am", &diff("b/.claude/settings.json")),
        fed("git apply --stat --apply", &diff("b/.claude/settings.json")),
        fed("git apply --directory=.claude", &diff("b/settings.json")),
        fed("patch -p1 -d .claude", &diff("b/settings.json")),
        // However many stand in front.
        fed("patch -p1", &format!("{}{}", many(200), diff("b/.claude/settings.json"))),
        fed(
            "git apply",
            "diff --git a/.claude/settings.json b/.claude/settings.json\nnew file mode 100644\nGIT binary patch\n",
        ),
        fed("apply_patch", &patch(".codex/hooks.json")),
        fed("applypatch", &patch(".claude/settings.json")),
        format!("apply_patch '{}'", patch(".claude/settings.json")),
        format!("mkdir .claude; cd .claude && {}", fed("apply_patch", &patch("settings.json"))),
        fed("python3 -", "open('.claude/settings.json', 'w')\n"),
        fed("ed -s", "a\nx\n.\nw .claude/settings.json\n"),
    ] {
        let denied = site.check(&command);
        assert!(denied.code == Some(2) && denied.stderr.contains("gate"), "{command}: {denied:?}");
    }
    // The same for what acts later: asked about as soon as anything was seen.
    site.raise("default", "corruption");
    for command in [
        fed("patch -p0", &diff(".git/hooks/pre-commit")),
        fed("patch -p1", &diff("b/.envrc")),
        fed("git apply", &diff("b/.claude/skills/x/SKILL.md")),
        fed("apply_patch", &patch(".git/hooks/pre-commit")),
    ] {
        let running = site.check_later(&command);
        let id = site.held(&command);
        site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
    for command in [fed("patch -p1", &diff("b/src/a.rs")), fed("apply_patch", &patch("src/a.rs"))] {
        site.check(&command).expect(0);
    }
}

#[test]
fn what_stands_elsewhere_is_let_through_by_no_rule_about_words() {
    let site = Site::default();
    let _host = site.serve();
    for name in ["x.patch", "x.tar", "x.zip", "list"] {
        std::fs::write(site.work().join(name), "x").unwrap();
    }
    site.raise_both("default");
    for command in [
        "git apply x.patch",
        "git am x.patch",
        "patch -p1 < x.patch",
        "patch -p1 -i x.patch",
        "tar xf x.tar",
        "tar --extract -f x.tar",
        "unzip x.zip",
        "7z x x.zip",
        "cpio -i < x.tar",
        "xargs touch < list",
        "xargs cp -t . < list",
    ] {
        let running = site.check_later(command);
        let id = site.held(command);
        site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
}

/// What a patch moves, shows what it holds under another name.
#[test]
fn a_secret_that_is_moved_by_a_patch_is_read() {
    for (agent, tool, input) in [
        (
            "codex",
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Update File: .env\n*** Move to: notes.txt\n@@\n+x\n*** End Patch"}),
        ),
        (
            "opencode",
            "apply_patch",
            json!({"patchText": "*** Begin Patch\n*** Update File: .env\n*** Move to: notes.txt\n@@\n+x\n*** End Patch"}),
        ),
        ("gemini", "replace", json!({"file_path": ".env", "old_string": "B=2", "new_string": "B=3"})),
        ("claude", "Edit", json!({"file_path": ".env", "old_string": "B=2", "new_string": "B=3"})),
    ] {
        let site = Site::default();
        let _host = site.serve();
        std::fs::write(site.work().join(".env"), "A=1\nB=2\n").unwrap();
        super::tools::ask(&site, agent, tool, &input).expect(0);
        assert_eq!(site.taint("default"), "secret", "{agent} {tool}");
    }
}
