//! The hook's way into agents' settings and out again, and what a doctor says of them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use bashgate_tests::{Output, Site, bin};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home folder and a project of somebody who uses agents.
struct Person {
    folder: TempDir,
}

impl Person {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("bashgate-person-").tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn hook(&self, words: &[&str]) -> Output {
        let mut command = bashgate_tests::hook();
        command.args(words).env_clear().env("HOME", self.at("home")).env("PATH", "/usr/bin:/bin");
        Output::of(command.current_dir(self.at("project")), b"")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.at(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Every file, with its mode and its bytes.
    fn files(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let (mut folders, mut files) = (vec![self.folder.path().to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let mode = entry.metadata().unwrap().permissions().mode();
                    files.push((entry.path(), mode, std::fs::read(entry.path()).unwrap_or_default()));
                }
            }
        }
        files.sort();
        files
    }
}

const CLAUDE: &str = "home/.claude/settings.json";

fn json_of(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Settings as people have them, in all the ways of writing them.
fn kinds() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut kinds = vec![
        ("claude", CLAUDE, "{}"),
        ("claude", CLAUDE, "{}\n"),
        ("claude", CLAUDE, ""),
        ("claude", CLAUDE, "\n\n"),
        ("claude", CLAUDE, "{\r\n  \"model\": \"opus\"\r\n}\r\n"),
        ("claude", CLAUDE, "{\"model\":\"opus\",\"env\":{\"A\":\"1\"}}"),
        ("claude", CLAUDE, "{\n\t\"permissions\": {\n\t\t\"allow\": [\"Bash(ls:*)\"]\n\t}\n}\n"),
        ("claude", CLAUDE, "{\"hooks\": {}}"),
        ("claude", CLAUDE, "{\"hooks\": {\"PreToolUse\": []}}"),
        (
            "claude",
            CLAUDE,
            r#"{"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "fmt.sh"}]}]}}"#,
        ),
        (
            "claude",
            CLAUDE,
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "z": [1, 2.50, 1e3]}"#,
        ),
        ("claude", CLAUDE, r#"{"disableSkillShellExecution": false, "permissions": {"deny": ["WebFetch"]}}"#),
        ("claude", CLAUDE, "{\"text\": \"\\u00e4 \u{00e4} \\\" \\\\ bashgate\"}"),
        ("claude", "project/.claude/settings.json", "{\n    \"a\" : [ ] ,\n    \"b\":null }"),
        ("codex", "home/.codex/hooks.json", "{}"),
        (
            "codex",
            "home/.codex/hooks.json",
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]}}"#,
        ),
        ("codex", "project/.codex/hooks.json", "{\n \"hooks\": {}\n}\n"),
        ("gemini", "home/.gemini/settings.json", "{\n  // the theme\n  \"theme\": \"Dark\",\n}\n"),
        ("gemini", "home/.gemini/settings.json", "/* all */ {\"security\": {\"auth\": {\"selectedType\": \"x\"}}}"),
        ("gemini", "project/.gemini/settings.json", r#"{"tools": {"exclude": ["x"]}, "hooks": {"BeforeTool": []}}"#),
        (
            "cursor",
            "home/.cursor/hooks.json",
            r#"{"version": 1, "hooks": {"beforeShellExecution": [{"command": "./x.sh"}]}}"#,
        ),
        ("cursor", "home/.cursor/hooks.json", r#"{"version": 1, "hooks": {}}"#),
        ("cursor", "project/.cursor/hooks.json", "{}"),
    ];
    // Where there is nothing yet.
    for (agent, path) in [
        ("claude", CLAUDE),
        ("codex", "home/.codex/hooks.json"),
        ("gemini", "home/.gemini/settings.json"),
        ("copilot", "home/.copilot/hooks/bashgate.json"),
        ("copilot", "project/.github/hooks/bashgate.json"),
        ("opencode", "home/.config/opencode/plugin/bashgate.js"),
        ("opencode", "project/.opencode/plugin/bashgate.js"),
        ("cursor", "home/.cursor/hooks.json"),
    ] {
        kinds.push((agent, path, "none"));
    }
    kinds
}

#[test]
fn what_was_there_is_there_again_byte_for_byte() {
    assert!(kinds().len() >= 30);
    for (agent, path, text) in kinds() {
        let person = Person::new();
        if text != "none" {
            let file = person.write(path, text);
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).unwrap();
        }
        let before = person.files();
        let scope = if path.starts_with("project") { "project" } else { "user" };
        let words = |name: &'static str| [name, "--agent", agent, "--scope", scope];
        let what = format!("{agent} {path}: {text:?}");
        let dry = person.hook(&[&words("install")[..], &["--dry-run"]].concat()).expect(0);
        assert_eq!(person.files(), before, "{what}");
        person.hook(&words("install")).expect(0);
        let written = std::fs::read_to_string(person.at(path)).unwrap();
        assert!(written.contains("bashgate-hook"), "{what}: {written}");
        assert_eq!(dry.stdout.trim_end(), written.trim_end(), "{what}");
        // What people have written stays, in its order and its words.
        let kept = |line: &&str| line.len() > 3 && !line.contains("disableSkill");
        for line in text.lines().map(str::trim).filter(kept).filter(|_| text != "none" && text.contains('\n')) {
            assert!(written.contains(line.trim_end_matches(['}', ',', ' '])), "{what}: {line:?} in {written}");
        }
        // Once more changes nothing, with other options everything, and it still leads back.
        let once = person.files();
        let again = person.hook(&words("install")).expect(0);
        assert!(again.stdout.contains("already"), "{what}: {again:?}");
        assert_eq!(person.files(), once, "{what}");
        person.hook(&[&words("install")[..], &["--timeout", "900"]].concat()).expect(0);
        assert_ne!(person.files(), once, "{what}");
        person.hook(&[&words("uninstall")[..], &["--dry-run"]].concat()).expect(0);
        person.hook(&words("uninstall")).expect(0);
        assert_eq!(person.files(), before, "{what}");
        let nothing = person.hook(&words("uninstall")).expect(0);
        assert!(nothing.stdout.contains("nothing of bashgate"), "{what}: {nothing:?}");
    }
}

#[test]
fn entries_are_as_the_agents_read_them() {
    let person = Person::new();
    person.write(CLAUDE, r#"{"hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/guard_git.sh"}, {"type": "command", "command": "log.sh"}]},
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/bashgate-hook --agent claude"}]}]},
        "permissions": {"deny": ["Bash(rm:*)"]}}"#);
    person.hook(&["install", "--agent", "claude", "--deny-webfetch"]).expect(0);
    let settings = json_of(&person.at(CLAUDE));
    let hooks = settings["hooks"]["PreToolUse"].as_array().unwrap();
    // Ours comes first; an old guard and an old entry of ours are gone; what else stood there stays.
    assert_eq!(hooks.len(), 2, "{settings:#}");
    assert_eq!(hooks[0]["matcher"], "*");
    let own = &hooks[0]["hooks"][0];
    assert_eq!((&own["timeout"], &own["onFailure"]), (&json!(330), &json!("block")));
    let command = own["command"].as_str().unwrap();
    assert_eq!(command, format!("{} --agent claude", bin("bashgate-hook").display()));
    assert_eq!(hooks[1], json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "log.sh"}]}));
    assert_eq!(settings["permissions"]["deny"], json!(["Bash(rm:*)", "WebFetch"]));
    assert_eq!(settings["disableSkillShellExecution"], true);
    assert!(settings.get("allowManagedHooksOnly").is_none());
    for event in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit"] {
        assert_eq!(settings["hooks"][event][0]["hooks"][0]["command"], command, "{event}");
    }

    person.hook(&["install", "--agent", "gemini", "--timeout=60"]).expect(0);
    let settings = json_of(&person.at("home/.gemini/settings.json"));
    assert_eq!(settings["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"], 60_000, "in milliseconds: {settings:#}");
    person.hook(&["install", "--agent", "copilot", "--config", "/x y/hook.toml"]).expect(0);
    let settings = json_of(&person.at("home/.copilot/hooks/bashgate.json"));
    let entry = &settings["hooks"]["preToolUse"][0];
    assert_eq!((&settings["version"], &entry["timeoutSec"]), (&json!(1), &json!(330)));
    assert!(entry["bash"].as_str().unwrap().ends_with(" --agent copilot --config '/x y/hook.toml'"), "{entry}");
    for (words, want) in [
        (&["install", "--agent", "copilot", "--scope", "managed"][..], "has no managed settings"),
        (&["install", "--agent", "codex", "--deny-webfetch"], "no setting that takes its web tool away"),
        (&["install", "--agent", "emacs"], "there is no agent `emacs`; known are: claude, codex"),
        (&["install", "--agent", "neutral"], "no settings of its own"),
        (&["install"], "--agent"),
        (&["install", "--agent", "claude", "--scope", "world"], "known are: user, project, managed"),
        (&["install", "--agent", "claude", "--timeout", "0"], "from 1 to 86400"),
        (&["uninstall", "--agent", "claude", "--keep-mcp"], "not known to uninstall"),
    ] {
        let refused = person.hook(words).expect(2);
        assert!(refused.stderr.contains(want), "{words:?}: {refused:?}");
    }
}

#[test]
fn codex_requirements_are_kept_as_they_are_written() {
    use bashgate_hook::install::Wanted;
    use bashgate_shared::agents::{self, Scope, SettingsForm};
    let hook = ["/usr/local/bin/bashgate-hook".to_owned(), "--agent".to_owned(), "codex".to_owned()];
    let agent = agents::named("codex").unwrap();
    let wanted =
        Wanted { agent, scope: Scope::Managed, hook: &hook, timeout_s: 330, deny_webfetch: false, keep_mcp: false };
    let before = "# ours\nallowed_approval_policies = [\"never\"]\n\n[[hooks.PreToolUse]]\nmatcher = \"x\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"y\"\n";
    for before in ["", before] {
        let now = wanted.added(SettingsForm::CodexRequirements, Some(before)).unwrap();
        assert!(before.lines().all(|line| now.contains(line)), "{now}");
        let value: Value = toml::from_str(&now).unwrap();
        let entries = value["hooks"]["PreToolUse"].as_array().unwrap();
        let own = entries.last().unwrap();
        assert_eq!(own["matcher"].as_str(), Some("*"));
        assert_eq!(own["hooks"][0]["command"].as_str(), Some("/usr/local/bin/bashgate-hook --agent codex"));
        assert_eq!(own["hooks"][0]["timeout"].as_i64(), Some(330));
        assert!(value["allowed_web_search_modes"].as_array().unwrap().is_empty());
        assert!(value["hooks"]["UserPromptSubmit"][0].get("matcher").is_none());
        // Nobody turns them off, adds others, or starts servers.
        assert_eq!((&value["features"]["hooks"], &value["allow_managed_hooks_only"]), (&json!(true), &json!(true)));
        assert!(value["mcp_servers"].is_object());
        // Again: no second entry.
        let again = wanted.added(SettingsForm::CodexRequirements, Some(&now)).unwrap();
        assert_eq!(toml::from_str::<Value>(&again).unwrap(), value);
    }
    assert!(wanted.added(SettingsForm::CodexRequirements, Some("a = [")).is_err());
    assert!(wanted.added(SettingsForm::CodexRequirements, Some("hooks = 1")).is_err());
}

#[test]
fn what_cannot_be_written_rightly_is_left_as_it_is() {
    let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(5 << 20));
    for (text, want) in [
        ("{\"hooks\": ", "is not understood"),
        ("{\"a\": 1,}", "is not understood"),
        ("// a comment\n{}", "is not understood"),
        ("{'a': 1}", "is not understood"),
        ("[]", "no JSON object"),
        ("{\"hooks\": []}", "`hooks` is not what it is"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse` is not what it is"),
        ("{\"hooks\": {}, \"hooks\": {}}", "duplicate field `hooks`"),
        ("{\"env\": {\"A\": 1, \"\\u0041\": 2}}", "duplicate field `A`"),
        (huge.as_str(), "larger than 4 MiB"),
    ] {
        let person = Person::new();
        person.write(CLAUDE, text);
        let before = person.files();
        let refused = person.hook(&["install", "--agent", "claude"]).expect(2);
        let start: String = text.chars().take(40).collect();
        assert!(refused.stderr.contains(want), "{start}: {refused:?}");
        assert_eq!(person.files(), before, "{start}");
    }
    let person = Person::new();
    let real = person.write("elsewhere.json", "{}");
    std::fs::create_dir(person.at("home/.claude")).unwrap();
    symlink(&real, person.at(CLAUDE)).unwrap();
    assert!(person.hook(&["install", "--agent", "claude"]).expect(2).stderr.contains("a link"));
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}");
    // A file of another one's making, in the place of ours.
    let foreign = person.write("project/.opencode/plugin/bashgate.js", "export const X = 1\n");
    assert!(
        person
            .hook(&["install", "--agent", "opencode", "--scope", "project"])
            .expect(2)
            .stderr
            .contains("not of bashgate")
    );
    person.hook(&["uninstall", "--agent", "opencode", "--scope", "project"]).expect(0);
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "export const X = 1\n");
    // Bytes that are no text, a folder, a pipe that nobody writes.
    let odd = Person::new();
    std::fs::create_dir_all(odd.at(CLAUDE)).unwrap();
    assert!(odd.hook(&["install", "--agent", "claude"]).expect(2).stderr.contains("no regular file"));
    std::fs::remove_dir(odd.at(CLAUDE)).unwrap();
    std::fs::write(odd.at(CLAUDE), b"{\"a\": \"\xff\"}").unwrap();
    assert!(odd.hook(&["install", "--agent", "claude"]).expect(2).stderr.contains("no UTF-8"));
    std::fs::remove_file(odd.at(CLAUDE)).unwrap();
    let fifo = std::ffi::CString::new(odd.at(CLAUDE).to_str().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644), 0)
        .unwrap();
    assert!(odd.hook(&["install", "--agent", "claude"]).expect(2).stderr.contains("no regular file"));
}

#[test]
fn what_was_edited_since_stays_edited() {
    let person = Person::new();
    let file = person.write(CLAUDE, "{\n  \"model\": \"opus\"\n}\n");
    person.hook(&["install", "--agent", "claude"]).expect(0);
    let edited = std::fs::read_to_string(&file).unwrap().replace("opus", "haiku");
    std::fs::write(&file, &edited).unwrap();
    // Whoever installs again keeps the edit, and so does whoever takes the hook out.
    person.hook(&["install", "--agent", "claude", "--timeout", "400"]).expect(0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("haiku"));
    let edited = std::fs::read_to_string(&file).unwrap().replace("haiku", "sonnet");
    std::fs::write(&file, &edited).unwrap();
    let out = person.hook(&["uninstall", "--agent", "claude"]).expect(0);
    assert!(out.stdout.contains("was edited since"), "{out:?}");
    let settings = json_of(&file);
    assert_eq!(settings["model"], "sonnet");
    assert!(!settings.to_string().contains("bashgate"), "{settings:#}");
    assert_eq!(person.files().len(), 1);
    // Broken since: nothing is made worse.
    person.hook(&["install", "--agent", "claude"]).expect(0);
    let broken = std::fs::read_to_string(&file).unwrap() + "}";
    std::fs::write(&file, &broken).unwrap();
    assert!(person.hook(&["uninstall", "--agent", "claude"]).expect(2).stderr.contains("is not understood"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
    // A note of what was before that is no note: only the entries go.
    std::fs::write(&file, broken.trim_end_matches('}').to_owned() + "}").unwrap();
    std::fs::write(person.at("home/.claude/settings.json.before-bashgate"), "[1]").unwrap();
    std::fs::write(&file, r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "bashgate-hook"}]}]}}"#).unwrap();
    person.hook(&["uninstall", "--agent", "claude"]).expect(0);
    assert_eq!(json_of(&file), json!({"hooks": {}}));
}

#[test]
fn two_at_once_and_a_full_disk_leave_whole_files() {
    let person = Person::new();
    let file = person.write(CLAUDE, "{\"model\": \"opus\"}");
    let before = person.files();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let person = &person;
            scope.spawn(move || {
                let timeout = (400 + number).to_string();
                person.hook(&["install", "--agent", "claude", "--timeout", &timeout]).expect(0);
            });
        }
    });
    assert_eq!(json_of(&file)["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    person.hook(&["uninstall", "--agent", "claude"]).expect(0);
    assert_eq!(person.files(), before);
    // A disk with no room for the new settings, in a mount of its own.
    let script = "mount -t tmpfs -o size=16k none \"$1\" && mkdir \"$1/.claude\" && printf %s '{\"model\":\"opus\"}' > \"$1/.claude/settings.json\" \
        && dd if=/dev/zero of=\"$1/full\" bs=4096 count=16 2>/dev/null; HOME=$1 \"$2\" install --agent claude; echo \"exit $?\"; cat \"$1/.claude/settings.json\"; ls -A \"$1/.claude\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(person.at("project")).arg(bin("bashgate-hook"));
    let output = Output::of(command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), b"").expect(0);
    assert!(output.stdout.contains("exit 2") && output.stdout.contains("{\"model\":\"opus\"}"), "{output:?}");
    assert!(output.stdout.trim_end().ends_with("settings.json"), "{output:?}");
}

/// What the doctor says of one thing.
fn says(output: &Output, state: &str, part: &str) -> bool {
    output.stdout.lines().any(|line| line.starts_with(state) && line.contains(part))
}

#[test]
fn the_doctor_names_every_hole_that_it_can_see() {
    let site = Site::default();
    let person = Person::new();
    let config = site.hook_toml();
    let doctor = |more: &[&str]| {
        let words = [&["doctor", "--agent", "claude", "--config", config.to_str().unwrap()][..], more].concat();
        person.hook(&words)
    };
    let none = doctor(&[]).expect(2);
    assert!(says(&none, "broken", "everything runs unseen") && says(&none, "broken", "no host answers"), "{none:?}");
    let host = site.serve();
    let install = || person.hook(&["install", "--agent", "claude", "--config", config.to_str().unwrap()]).expect(0);
    install();
    let fine = doctor(&[]);
    assert!(
        says(&fine, "fine", "is denied on PreToolUse") && says(&fine, "fine", "its signature is right"),
        "{fine:?}"
    );
    assert!(says(&fine, "look", "can be changed from here: the agent can take the hook out"), "{fine:?}");
    assert!(
        fine.stdout.lines().all(|line| !line.starts_with("broken")
            || line.contains("with it who is asked")
            || line.contains("bashgate-hook can be changed")),
        "{fine:?}"
    );
    let lines = doctor(&["--json"]).stdout;
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["state"].is_string())));

    let written = std::fs::read_to_string(person.at(CLAUDE)).unwrap();
    let with = |from: &str, to: &str| {
        assert!(written.contains(from), "{from}: {written}");
        person.write(CLAUDE, &written.replacen(from, to, 1));
        doctor(&[]).expect(2)
    };
    for (from, to, want) in [
        ("\"timeout\": 330", "\"timeout\": 60", "lets the command run"),
        ("\"onFailure\": \"block\"", "\"x\": 1", "missing or killed lets the command run"),
        ("bashgate-hook --agent", "bashgate-hook-gone --agent", "is not this program"),
        ("bashgate-hook --agent", "bashgate-hook; exit 2 # --agent", "is not this program"),
        ("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", "only sees some tools"),
        ("\"type\": \"command\"", "\"type\": \"prompt\"", "no command"),
        ("\"type\": \"command\"", "\"async\": true, \"type\": \"command\"", "`async`"),
        ("\"type\": \"command\"", "\"if\": \"Bash(git *)\", \"type\": \"command\"", "`if`"),
        ("{\n", "{\n  \"disableAllHooks\": true,\n", "turns the hook off"),
        ("{\n", "{\n  \"env\": {\"BASH_ENV\": \"/tmp/x\"},\n", "sets BASH_ENV"),
        ("{\n", "{\n  \"env\": {\"CLAUDE_CODE_SHELL_PREFIX\": \"/tmp/x\"},\n", "sets CLAUDE_CODE_SHELL_PREFIX"),
        ("\"type\": \"command\"", "\"asyncRewake\": true, \"type\": \"command\"", "`async`"),
    ] {
        let found = with(from, to);
        assert!(says(&found, "broken", want), "{to}: {found:?}");
    }
    let found = with("{\n", "{\n  \"apiKeyHelper\": \"./x\",\n");
    assert!(says(&found, "look", "`apiKeyHelper` runs a program"), "{found:?}");
    for (setting, name) in [
        ("\"otelHeadersHelper\": \"./x\"", "otelHeadersHelper"),
        ("\"gcpAuthRefresh\": \"./x\"", "gcpAuthRefresh"),
        ("\"tools\": {\"discoveryCommand\": \"./x\"}", "tools.discoveryCommand"),
    ] {
        person.write(CLAUDE, &written.replacen("{\n", &format!("{{\n  {setting},\n"), 1));
        let found = doctor(&[]);
        assert!(says(&found, "look", &format!("`{name}` runs a program")), "{found:?}");
    }
    // A skill that runs a program, and nothing that stops it.
    person.write("project/.claude/skills/x/SKILL.md", "Today is !`date`.\n");
    assert!(says(&with("\"disableSkillShellExecution\": true", "\"y\": 1"), "broken", "SKILL.md"));
    person.write("project/.mcp.json", "{}");
    assert!(says(&doctor(&[]), "look", ".mcp.json starts programs"));
    // Shadow mode protects nobody.
    drop(host);
    site.configure("[policy]\nenforce = false\n");
    let _host = site.serve();
    person.write(CLAUDE, &written);
    assert!(says(&doctor(&[]).expect(2), "broken", "lets `bashgate-hook uninstall"), "{:?}", doctor(&[]));
}

#[test]
fn the_doctor_knows_units_trust_and_old_versions() {
    let site = Site::default();
    let _host = site.serve();
    let person = Person::new();
    let config = site.hook_toml().display().to_string();
    let doctor = |agent: &str| person.hook(&["doctor", "--agent", agent, "--config", &config]);
    for agent in ["codex", "gemini", "copilot", "opencode", "cursor"] {
        person.hook(&["install", "--agent", agent, "--config", &config]).expect(0);
        let fine = doctor(agent);
        assert!(says(&fine, "fine", "is denied on"), "{agent}: {fine:?}");
        assert!(!says(&fine, "broken", agent), "{agent}: {fine:?}");
    }
    assert!(says(&doctor("codex"), "look", "skipped in silence until a person trusts them"));
    let gemini = person.at("home/.gemini/settings.json");
    let text = std::fs::read_to_string(&gemini).unwrap();
    std::fs::write(&gemini, text.replace("330000", "330")).unwrap();
    assert!(says(&doctor("gemini").expect(2), "broken", "waits 330 ms"));
    person.write(
        "project/.codex/config.toml",
        "[shell_environment_policy.set]\nBASH_ENV = \"/w/x\"\n[features]\nhooks = false\n",
    );
    let found = doctor("codex").expect(2);
    assert!(says(&found, "broken", "sets BASH_ENV") && says(&found, "broken", "`features.hooks`"), "{found:?}");
    // A plug-in that the agent cannot load is dropped, and everything runs.
    for change in
        [|text: &str| format!("{text})))"), |text: &str| text.replace("tool.execute.before", "tool.execute.after")]
    {
        person.hook(&["install", "--agent", "opencode", "--config", &config]).expect(0);
        let plugin = person.at("home/.config/opencode/plugin/bashgate.js");
        let text = std::fs::read_to_string(&plugin).unwrap();
        std::fs::write(&plugin, change(&text)).unwrap();
        assert!(says(&doctor("opencode").expect(2), "broken", "is not the plug-in"), "{:?}", doctor("opencode"));
        std::fs::write(&plugin, &text).unwrap();
    }
    // An old Claude Code, in the PATH.
    let old = person.write("bin/claude", "#!/bin/sh\necho '2.1.197 (Claude Code)'\n");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    person.hook(&["install", "--agent", "claude", "--config", &config]).expect(0);
    let mut command = bashgate_tests::hook();
    command.args(["doctor", "--config", &config]).env_clear().env("HOME", person.at("home")).env("BASH_ENV", "/tmp/x");
    command.env("PATH", format!("{}:/usr/bin:/bin", person.at("bin").display())).current_dir(person.at("project"));
    let found = Output::of(&mut command, b"").expect(2);
    assert!(says(&found, "broken", "2.1.197") && says(&found, "broken", "BASH_ENV names /tmp/x"), "{found:?}");
}

#[test]
fn help_helps_in_a_pipe_and_is_no_answer_to_an_event() {
    let run = |word: &str, input: &[u8]| Output::of(bashgate_tests::hook().arg(word), input);
    assert!(run("--help", b"").expect(0).stdout.contains("install --agent NAME"));
    assert!(run("--help", b"").stdout.contains("claude, codex, gemini, copilot, opencode, cursor, neutral"));
    assert!(run("--version", b"").expect(0).stdout.starts_with("bashgate-hook 0."));
    for word in ["--help", "--version"] {
        let refused = run(word, br#"{"hook_event_name":"PreToolUse"}"#).expect(2);
        assert!(refused.stderr.contains("decides nothing"), "{refused:?}");
    }
}
