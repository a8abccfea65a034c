//! Agents' other tools, in the words of each agent: what reads, writes and sends is judged as a command that does.

use std::os::unix::fs::symlink;

use bashgate_tests::{Output, Site};
use serde_json::{Value, json};

/// An event before a tool is used, in the form of an agent.
fn event(agent: &str, tool: &str, input: &Value, cwd: &std::path::Path) -> Value {
    match agent {
        "copilot" => {
            json!({"sessionId": "s", "timestamp": 1_700_000_000_000_u64, "cwd": cwd, "toolName": tool, "toolArgs": input})
        }
        "neutral" | "opencode" => {
            json!({"event": "before_tool_use", "tool_name": tool, "tool_input": input, "cwd": cwd})
        }
        "codex" => {
            json!({"hook_event_name": "PreToolUse", "turn_id": "t", "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": input})
        }
        "cursor" => {
            json!({"hook_event_name": "preToolUse", "generation_id": "g", "cwd": cwd, "tool_name": tool, "tool_input": input})
        }
        "gemini" => {
            json!({"hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s", "cwd": cwd,
            "tool_name": tool, "tool_input": input})
        }
        _ => {
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": input})
        }
    }
}

fn send(site: &Site, agent: &str, event: &Value) -> Output {
    let mut hook = site.hook_command(&site.hook_toml());
    Output::of(hook.args(["--agent", agent]), event.to_string().as_bytes())
}

pub(super) fn ask(site: &Site, agent: &str, tool: &str, input: &Value) -> Output {
    send(site, agent, &event(agent, tool, input, &site.work()))
}

/// What nobody answers is over soon.
const SOON: &str = "[approval]\nexpires_s = 20\n";

/// Each agent's tools that read, search and write a file, with the field that names it.
const FILE_TOOLS: &[(&str, &str, &str, &str)] = &[
    ("claude", "Read", "Write", "file_path"),
    ("claude", "NotebookRead", "NotebookEdit", "notebook_path"),
    ("claude", "Read", "MultiEdit", "file_path"),
    ("gemini", "read_file", "write_file", "file_path"),
    ("gemini", "read_file", "replace", "absolute_path"),
    ("copilot", "view", "create", "path"),
    ("copilot", "view", "edit", "path"),
    ("opencode", "read", "write", "filePath"),
    ("neutral", "Read", "Edit", "file_path"),
    ("codex", "view_image", "apply_patch", "path"),
];

fn write_input(tool: &str, field: &str, path: &str) -> Value {
    if tool == "apply_patch" {
        return json!({"command": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch")});
    }
    json!({field: path, "content": "x", "new_string": "x"})
}

#[test]
fn ordinary_files_need_no_host() {
    let site = Site::new(SOON);
    std::fs::create_dir(site.work().join("src")).unwrap();
    std::fs::write(site.work().join("src/a.rs"), "x").unwrap();
    for (agent, read, write, field) in FILE_TOOLS {
        for path in ["src/a.rs", site.work().join("src/new.rs").to_str().unwrap(), "new/folder/x.md"] {
            ask(&site, agent, read, &json!({*field: path})).expect(0);
            ask(&site, agent, write, &write_input(write, field, path)).expect(0);
        }
    }
    for (agent, search) in [("claude", "Grep"), ("gemini", "grep_search"), ("copilot", "rg"), ("opencode", "grep")] {
        ask(&site, agent, search, &json!({"pattern": "x", "path": "src"})).expect(0);
        ask(&site, agent, search, &json!({"pattern": "x"})).expect(0);
    }
    for (agent, tool) in
        [("claude", "TodoWrite"), ("codex", "update_plan"), ("gemini", "glob"), ("copilot", "report_intent")]
    {
        ask(&site, agent, tool, &json!({"x": 1})).expect(0);
    }
}

#[test]
fn files_that_act_later_are_as_for_the_shell() {
    let site = Site::new(SOON);
    let _host = site.serve();
    std::fs::create_dir_all(site.work().join(".git/hooks")).unwrap();
    std::fs::create_dir(site.work().join("sub")).unwrap();
    symlink(site.path().join("hook.toml"), site.work().join("innocent.toml")).unwrap();
    symlink(".git/hooks", site.work().join("links")).unwrap();
    let hook = site.hook_toml().display().to_string();
    for (agent, _, write, field) in FILE_TOOLS {
        for path in [".claude/settings.json", hook.as_str(), "~/.codex/config.toml", "innocent.toml"] {
            let denied = ask(&site, agent, write, &write_input(write, field, path)).expect(2);
            assert!(denied.stderr.contains("touches the gate"), "{agent} {write} {path}: {denied:?}");
        }
        for path in [".git/hooks/pre-commit", "links/post-merge", "sub/.envrc"] {
            let flagged = ask(&site, agent, write, &write_input(write, field, path)).expect(2);
            assert!(flagged.stderr.contains("which runs later"), "{agent} {write} {path}: {flagged:?}");
        }
        // What steers builds and agents is on record in a clean workspace.
        let before = site.audit().len();
        ask(&site, agent, write, &write_input(write, field, "CLAUDE.md")).expect(0);
        assert_eq!(site.audit().len(), before + 1, "{agent} {write}");
    }
    site.raise("default", "corruption");
    let id = site.held_by(
        &site.hook_toml(),
        &event("claude", "Write", &write_input("Write", "file_path", ".git/hooks/x"), &site.work()),
    );
    site.cli(["deny", &id]).expect(0);
    let flagged = ask(&site, "gemini", "write_file", &write_input("write_file", "file_path", "CLAUDE.md"));
    assert_eq!(
        flagged.code,
        Some(0),
        "one step stricter is a look by the rules, which say nothing against it: {flagged:?}"
    );
}

#[test]
fn secrets_that_tools_meet_are_remembered() {
    let site = Site::new(SOON);
    let _host = site.serve();
    std::fs::write(site.work().join(".env"), "X=1").unwrap();
    std::fs::create_dir(site.work().join("src")).unwrap();
    symlink("../.env", site.work().join("src/notes")).unwrap();
    let clear = || site.cli(["taint", "clear", "default"]).expect(0);
    for (agent, read, _, field) in FILE_TOOLS {
        for path in [".env", "src/notes", "~/.ssh/id_ed25519"] {
            assert_eq!(site.taint("default"), "clean");
            ask(&site, agent, read, &json!({*field: path})).expect(0);
            assert_eq!(site.taint("default"), "secret", "{agent} {read} {path}");
            clear();
        }
    }
    for (agent, search) in
        [("claude", "Grep"), ("gemini", "search_file_content"), ("copilot", "grep"), ("opencode", "grep")]
    {
        ask(&site, agent, search, &json!({"pattern": "x"})).expect(0);
        assert_eq!(site.taint("default"), "secret", "{agent} {search}");
        clear();
    }
    ask(&site, "gemini", "read_many_files", &json!({"paths": ["src/a", ".env"]})).expect(0);
    assert_eq!(site.taint("default"), "secret");
    clear();
    // A tool whose input says nothing may read whatever lies there.
    ask(&site, "claude", "Read", &json!({"document": 7})).expect(0);
    assert_eq!(site.taint("default"), "secret");
    clear();
    for (agent, name) in [("claude", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")] {
        let prompt = |words: &str| json!({"hook_event_name": name, "session_id": "s", "turn_id": "t", "cwd": site.work(), "prompt": words});
        send(&site, agent, &prompt("what does src/main.rs do? ask me@example.org")).expect(0);
        assert_eq!(site.taint("default"), "clean", "{agent}");
        send(&site, agent, &prompt("see @src/main.rs and @.env, please")).expect(0);
        assert_eq!(site.taint("default"), "secret", "{agent}");
        clear();
    }
}

#[test]
fn what_sends_obeys_the_table() {
    let site = Site::new(
        "[services.tracker]\nsecret_data = false\ndangerous_writes = false\n[services.notes]\npublic_source = false\nsecret_data = false\npublic_sink = false\ndangerous_writes = false\n[services.bank]\ndangerous_writes = \"forbidden\"\n",
    );
    let _host = site.serve();
    let fetches = [
        ("claude", "WebFetch", json!({"url": "https://a.example/x?q=1", "prompt": "sum up"})),
        ("gemini", "web_fetch", json!({"prompt": "read https://a.example/x and say what it says"})),
        ("opencode", "webfetch", json!({"url": "https://a.example/x", "format": "text"})),
        ("copilot", "web_fetch", json!({"url": "https://a.example/x"})),
    ];
    for (agent, tool, input) in &fetches {
        ask(&site, agent, tool, input).expect(0);
        assert_eq!(site.taint("default"), "corruption", "{agent} {tool}");
        site.cli(["taint", "clear", "default"]).expect(0);
    }
    let denied = ask(&site, "claude", "mcp__bank__balance", &json!({})).expect(2);
    assert!(denied.stderr.contains("forbids the service `bank`"), "{denied:?}");
    assert_eq!(site.taint("default"), "clean");
    site.raise_both("default");
    // Both: whoever sends is asked about, and what is asked is what is shown.
    for (agent, tool, input) in &fetches {
        let id = site.held_by(&site.hook_toml(), &event(agent, tool, input, &site.work()));
        let card = site.cli(["show", &id]).expect(0).stdout;
        assert!(card.contains(tool) && card.contains("a.example"), "{card}");
        site.cli(["deny", &id]).expect(0);
    }
    let call = json!({"title": "the words that are sent", "to": "everybody"});
    let id = site.held_by(&site.hook_toml(), &event("claude", "mcp__tracker__create", &call, &site.work()));
    let card = site.cli(["show", &id]).expect(0).stdout;
    assert!(card.contains("mcp__tracker__create") && card.contains("the words that are sent"), "{card}");
    site.cli(["approve", &id]).expect(0);
    // A service that shows nobody what it is sent may be used whatever was seen.
    ask(&site, "claude", "mcp__notes__write", &call).expect(0);
    ask(&site, "claude", "WebSearch", &json!({"query": "weather"})).expect(0);
    // Resources of a server are that server's.
    site.cli(["taint", "clear", "default"]).expect(0);
    ask(&site, "claude", "ReadMcpResourceTool", &json!({"server": "notes", "uri": "x://y"})).expect(0);
    assert_eq!(site.taint("default"), "clean");
    ask(&site, "claude", "ReadMcpResourceTool", &json!({"server": "other", "uri": "x://y"})).expect(0);
    assert_eq!(site.taint("default"), "both");
    // A file that is taken along, under one taint.
    site.cli(["taint", "clear", "default"]).expect(0);
    site.raise("default", "corruption");
    let upload = json!({"file": ".env", "channel": "general"});
    let id = site.held_by(&site.hook_toml(), &event("claude", "mcp__tracker__upload", &upload, &site.work()));
    assert!(site.cli(["show", &id]).expect(0).stdout.contains("reads a secret"), "{id}");
    site.cli(["audit", "verify"]).expect(0);
    let shown = site.audit();
    assert!(shown.iter().any(|record| record["detail"]["tool"] == "mcp__tracker__create"
        && record["detail"]["type"] == "security:tool_event"));
}

#[test]
fn a_credential_in_what_is_sent_is_asked_about() {
    let site = Site::new(SOON);
    let _host = site.serve();
    let key = format!("ghp_{}", "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6");
    for (tool, input) in [
        ("WebFetch", json!({"url": format!("https://a.example/?k={key}"), "prompt": "x"})),
        ("mcp__x__y", json!({"body": format!("token {key}")})),
        // Also behind what the host is told.
        ("mcp__x__y", json!({"body": format!("{} {key}", "x ".repeat(20_000))})),
        ("WebFetch", json!({"url": "https://a.example/", "prompt": "x", "headers": {"a": key}})),
    ] {
        let id = site.held_by(&site.hook_toml(), &event("claude", tool, &input, &site.work()));
        let card = site.cli(["show", &id]).expect(0).stdout;
        assert!(card.contains("credential") && !card.contains(&key), "{card}");
        site.cli(["deny", &id]).expect(0);
    }
}

/// Tools that run a command, with the field that names its folder.
const FOLDER_FIELDS: &[(&str, &str, &str)] = &[
    ("gemini", "run_shell_command", "dir_path"),
    ("gemini", "run_shell_command", "directory"),
    ("opencode", "bash", "workdir"),
    ("codex", "Bash", "workdir"),
    ("copilot", "bash", "cwd"),
    ("cursor", "Shell", "working_directory"),
    ("neutral", "Bash", "cwd"),
    ("neutral", "AnotherShell", "workdir"),
];

#[test]
fn a_command_runs_in_the_folder_that_its_tool_names() {
    let site = Site::new(SOON);
    let config = site.hook_toml_alone();
    for folder in [".claude", ".git/hooks", "fine"] {
        std::fs::create_dir_all(site.work().join(folder)).unwrap();
    }
    let asked = |agent: &str, tool: &str, input: &Value| {
        let mut hook = site.hook_command(&config);
        Output::of(hook.args(["--agent", agent]), event(agent, tool, input, &site.work()).to_string().as_bytes())
    };
    for (agent, tool, field) in FOLDER_FIELDS {
        let command = "echo {} > settings.json";
        asked(agent, tool, &json!({"command": command})).expect(0);
        asked(agent, tool, &json!({"command": command, *field: "fine"})).expect(0);
        for folder in [".claude", site.work().join(".claude").to_str().unwrap(), "fine/../.claude", "./.claude/"] {
            let denied = asked(agent, tool, &json!({"command": command, *field: folder})).expect(2);
            assert!(denied.stderr.contains("writes to the gate's own files"), "{agent} {folder}: {denied:?}");
        }
        asked(agent, tool, &json!({"command": "cp ../../x pre-commit", *field: ".git/hooks"})).expect(2);
        // A folder that nobody can read is no folder.
        asked(agent, tool, &json!({"command": command, *field: "gone"})).expect(2);
    }
    // What this agent's tool does not know says nothing; nor does one of two, or what is no text.
    for (agent, tool, input) in [
        ("claude", "Bash", json!({"command": "ls", "dir_path": "fine"})),
        ("claude", "AnotherShell", json!({"command": "ls", "cwd": "fine"})),
        ("codex", "Bash", json!({"command": "ls", "dir_path": "fine"})),
        ("gemini", "run_shell_command", json!({"command": "ls", "dir_path": "fine", "workdir": ".claude"})),
        ("neutral", "Bash", json!({"command": "ls", "cwd": "fine", "directory": ".claude"})),
        ("opencode", "bash", json!({"command": "ls", "workdir": ["fine"]})),
    ] {
        let denied = asked(agent, tool, &input).expect(2);
        assert!(denied.stderr.contains("folder"), "{agent} {input}: {denied:?}");
    }
    for cwd in ["work", "", ".", "../work"] {
        let mut event = event("claude", "Bash", &json!({"command": "ls"}), &site.work());
        event["cwd"] = json!(cwd);
        let denied = send(&site, "claude", &event).expect(2);
        assert!(denied.stderr.contains("no absolute path"), "{cwd}: {denied:?}");
    }
}

#[test]
fn what_is_no_bash_is_not_read_as_bash() {
    let site = Site::new(SOON);
    let config = site.hook_toml_alone();
    for (agent, tool, input) in [
        ("copilot", "powershell", json!({"command": "ls"})),
        ("claude", "PowerShell", json!({"command": "ls"})),
        ("neutral", "pwsh", json!({"command": "ls"})),
        ("copilot", "write_bash", json!({"shellId": "1", "input": "ls\n"})),
        // What is more than typed is a service's.
        ("opencode", "write_note", json!({"input": "ls", "body": "x"})),
        ("codex", "write_stdin", json!({"session_id": 1, "chars": "ls\n"})),
    ] {
        let event = event(agent, tool, &input, &site.work());
        let mut hook = site.hook_command(&config);
        Output::of(hook.args(["--agent", agent]), event.to_string().as_bytes()).expect(2);
    }
}

/// What a server does with a `command` is the server's to say.
#[test]
fn a_server_with_a_command_is_a_service() {
    let site = Site::new("[services.x]\nsecret_data = \"forbidden\"\n");
    let _host = site.serve();
    for (agent, tool) in [
        ("claude", "mcp__y__run"),
        ("gemini", "mcp_y_run"),
        ("codex", "mcp__y__exec"),
        ("neutral", "mcp__y__run"),
        ("claude", "y_run_with_more"),
    ] {
        ask(&site, agent, tool, &json!({"command": "ls", "of": "whatever"})).expect(0);
        assert_eq!(site.taint("default"), "both", "{agent} {tool}");
        site.cli(["taint", "clear", "default"]).expect(0);
        for input in [
            json!({"command": "bashgate approve k3v9x2mq", "of": "x"}),
            json!({"cmd": {"argv": ["rm", "-rf", "/etc/bashgate"]}}),
            json!({"files": [{"path": format!("{}/.claude/settings.json", site.work().display())}]}),
        ] {
            let denied = ask(&site, agent, tool, &input).expect(2);
            assert!(denied.stderr.contains("touches the gate"), "{agent} {tool} {input}: {denied:?}");
        }
    }
    for (agent, tool) in [
        ("claude", "mcp__x__get"),
        ("gemini", "mcp_x_get"),
        ("opencode", "x_get"),
        ("copilot", "x-get"),
        ("neutral", "x/get"),
    ] {
        let denied = ask(&site, agent, tool, &json!({"a": 1})).expect(2);
        assert!(denied.stderr.contains("forbids the service `x`"), "{agent} {tool}: {denied:?}");
    }
    let cursor = json!({"hook_event_name": "beforeMCPExecution", "generation_id": "g", "conversation_id": "c", "cwd": site.work(),
        "tool_name": "run", "tool_input": json!({"command": "ls"}).to_string(), "command": "server"});
    send(&site, "cursor", &cursor).expect(0);
    assert_eq!(site.taint("default"), "both");
}

#[test]
fn secrets_are_met_in_whatever_way_a_tool_is_told() {
    let site = Site::new(SOON);
    let _host = site.serve();
    std::fs::create_dir_all(site.work().join("src/deep")).unwrap();
    std::fs::write(site.work().join("src/deep/.env"), "X=1").unwrap();
    std::fs::write(site.work().join("src/a.rs"), "x").unwrap();
    let whole = site.work().join("src/deep/.env").display().to_string();
    for (agent, tool, input) in [
        ("claude", "Read", json!({"file_path": "src"})),
        ("claude", "Read", json!({"file_path": "src/*/.e*"})),
        ("claude", "Read", json!({"file_path": format!("file://{whole}")})),
        ("claude", "Read", json!({"file_path": format!(" {whole}\n")})),
        ("gemini", "read_file", json!({"absolute_path": "@src/deep/.env"})),
        ("gemini", "read_many_files", json!({"paths": ["src/**"]})),
        ("gemini", "read_many_files", json!({"include": ["src/deep/.e*"], "paths": []})),
        ("cursor", "Read", json!({"target_file": "src/deep/.env"})),
        ("cursor", "Read", json!({"uri": format!("file://{whole}")})),
        ("copilot", "view", json!({"path": "src/deep"})),
        ("copilot", "str_replace_editor", json!({"command": "view", "path": "src/deep/.env"})),
        ("claude", "Read", json!({"file_path": "src/a.rs", "also": [{"x": "src/deep/.env"}]})),
        ("claude", "Grep", json!({"pattern": "x", "path": "src/a.rs", "second": "src/deep/.env"})),
        ("claude", "Grep", json!({"pattern": "x", "path": "src/a.rs", "glob": "*env"})),
        // Patterns are one way to read a path, its very letters the other.
        ("claude", "Read", json!({"file_path": "other/{x}/../../src/deep/.env"})),
        ("claude", "Read", json!({"file_path": "other/[x]/../../src/deep/.env"})),
    ] {
        assert_eq!(site.taint("default"), "clean");
        ask(&site, agent, tool, &input).expect(0);
        assert_eq!(site.taint("default"), "secret", "{agent} {tool} {input}");
        site.cli(["taint", "clear", "default"]).expect(0);
    }
    // What may lead anywhere is looked for everywhere: on a machine with many files not to the end. It is never let through unasked.
    let alone = site.hook_toml_alone();
    for (agent, tool, input) in [
        ("claude", "Read", json!({"file_path": "other/*/../../src/deep/.env"})),
        ("gemini", "read_many_files", json!({"paths": ["other/{x}/../../src/deep/.env"]})),
        ("gemini", "read_many_files", json!({"paths": ["other/[x]/../../src/deep/.env"]})),
        ("gemini", "read_many_files", json!({"paths": ["{src/deep,x}/.e*"]})),
        ("gemini", "read_many_files", json!({"paths": ["other/*/../../src/**"]})),
    ] {
        let mut hook = site.hook_command(&alone);
        let event = event(agent, tool, &input, &site.work()).to_string();
        Output::of(hook.args(["--agent", agent]), event.as_bytes()).expect(2);
    }
    for attachment in [
        json!([{"type": "file", "file_path": "src/deep/.env"}]),
        json!([{"type": "file", "path": "src/deep/"}]),
        json!(["src/deep/.env"]),
    ] {
        let prompt = json!({"hook_event_name": "beforeSubmitPrompt", "generation_id": "g", "conversation_id": "c",
            "cwd": site.work(), "prompt": "look", "attachments": attachment});
        send(&site, "cursor", &prompt).expect(0);
        assert_eq!(site.taint("default"), "secret", "{attachment}");
        site.cli(["taint", "clear", "default"]).expect(0);
    }
    // What is read of ordinary files stays so.
    for (agent, tool, input) in [
        ("claude", "Read", json!({"file_path": "src/a.rs", "offset": 3, "limit": 9})),
        ("gemini", "read_many_files", json!({"paths": ["other/**"]})),
        ("claude", "Grep", json!({"pattern": "x", "path": "src/a.rs", "output_mode": "content"})),
        // What is looked for is no file, and brackets are letters of a name.
        ("claude", "Grep", json!({"pattern": "process.env", "path": "src/a.rs"})),
        ("gemini", "grep_search", json!({"pattern": "import\\.meta\\.env", "path": "src/a.rs"})),
        ("claude", "Read", json!({"file_path": "src/[slug].tsx"})),
        ("claude", "Read", json!({"file_path": "[locale]/page.tsx"})),
    ] {
        ask(&site, agent, tool, &input).expect(0);
        assert_eq!(site.taint("default"), "clean", "{agent} {tool} {input}");
    }
}

#[test]
fn what_tampers_is_found_in_whichever_field_it_stands() {
    let site = Site::new(SOON);
    let _host = site.serve();
    std::fs::create_dir_all(site.work().join("moved")).unwrap();
    let patch = |file: &str| format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch");
    for (agent, tool, input) in [
        ("codex", "apply_patch", json!({"command": patch("a"), "input": patch(".claude/settings.json")})),
        ("codex", "apply_patch", json!({"command": patch("a"), "patch": patch(".codex/config.toml")})),
        ("claude", "Write", json!({"file_path": "a", "path": ".claude/settings.json", "content": ""})),
        ("claude", "Write", json!({"file_path": " .claude/settings.json ", "content": ""})),
        ("gemini", "write_file", json!({"file_path": "@.gemini/settings.json", "content": ""})),
        ("cursor", "Write", json!({"uri": format!("file://{}/.cursor/hooks.json", site.work().display())})),
    ] {
        let denied = ask(&site, agent, tool, &input).expect(2);
        assert!(denied.stderr.contains("touches the gate"), "{agent} {tool} {input}: {denied:?}");
    }
    // Where an agent's settings were moved to.
    for (variable, agent, file) in [
        ("CLAUDE_CONFIG_DIR", "claude", "moved/settings.json"),
        ("CODEX_HOME", "codex", "moved/config.toml"),
        ("COPILOT_HOME", "copilot", "moved/config.json"),
    ] {
        let moved = |input: &Value, tool: &str| {
            let mut hook = site.hook_command(&site.hook_toml());
            hook.args(["--agent", agent]).env(variable, site.work().join("moved"));
            Output::of(&mut hook, event(agent, tool, input, &site.work()).to_string().as_bytes())
        };
        let denied = moved(&json!({"command": format!("echo {{}} > {file}")}), "Bash");
        assert!(denied.stderr.contains("touches the gate"), "{variable}: {denied:?}");
    }
}

#[test]
fn what_is_not_understood_is_denied_and_says_what_to_do() {
    let site = Site::new(SOON);
    let _host = site.serve();
    for (agent, tool, input, want) in [
        ("neutral", "Bash", json!({"cmd": "ls"}), "has no `command`"),
        ("neutral", "Bash", json!({"script": "ls"}), "has no `command`"),
        ("neutral", "Bash", json!({"command": ["ls"]}), "has no `command`"),
        ("claude", "Bash", json!({"command": null}), "has no `command`"),
        ("gemini", "run_shell_command", json!({"cmd": "ls"}), "has no `command`"),
        ("copilot", "bash", json!([]), "has no `tool_input`"),
        ("claude", "Write", json!({"content": "x"}), "has no path"),
        ("codex", "apply_patch", json!({"command": "*** Begin Patch\n*** End Patch"}), "has no patch"),
        ("claude", "WebFetch", json!({"prompt": 7}), "has no address"),
        ("claude", "ReadMcpResourceTool", json!({"uri": "x"}), "has no `server`"),
        ("claude", "NewTool", json!({"command": 7}), "has no `command`"),
    ] {
        let denied = ask(&site, agent, tool, &input).expect(2);
        assert!(denied.stderr.contains(want), "{agent} {tool} {input}: {denied:?}");
    }
    for (agent, event, want) in [
        ("claude", json!({"hook_event_name": "BeforeLunch"}), "take the hook off that event"),
        ("gemini", json!({"hook_event_name": "PreToolUse"}), "is not known to this version"),
        ("neutral", json!({"event": "before_tool_use"}), "no agent's event has this shape"),
        ("opencode", json!({"event": "after", "tool_name": "x", "tool_input": {}}), "is not known"),
        ("cursor", json!({"hook_event_name": "beforeShellExecution", "generation_id": "g"}), "has no `tool_input`"),
    ] {
        let denied = send(&site, agent, &event).expect(2);
        assert!(denied.stderr.contains(want), "{agent} {event}: {denied:?}");
    }
    // A field that stands twice, however deep.
    let twice = r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__x__y","tool_input":{"a":[{"b":1,"b":2}]}}"#;
    let denied = Output::of(&mut site.hook_command(&site.hook_toml()), twice.as_bytes()).expect(2);
    assert!(denied.stderr.contains("duplicate field `b`"), "{denied:?}");
    // A tool that nobody knows counts as a service that nobody knows.
    ask(&site, "claude", "TimeMachine", &json!({"year": 1999})).expect(0);
    assert_eq!(site.taint("default"), "both");
}

#[test]
fn each_agent_is_answered_in_its_own_words() {
    let site = Site::new(SOON);
    let _host = site.serve();
    let command = json!({"command": "rm -rf /etc/bashgate"});
    for (agent, tool, pointer, want) in [
        ("claude", "Bash", "/hookSpecificOutput/permissionDecision", "deny"),
        ("codex", "Bash", "/hookSpecificOutput/permissionDecision", "deny"),
        ("gemini", "run_shell_command", "/decision", "deny"),
        ("copilot", "bash", "/permissionDecision", "deny"),
        ("cursor", "Shell", "/permission", "deny"),
    ] {
        let denied = ask(&site, agent, tool, &command).expect(2);
        let said: Value = serde_json::from_str(&denied.stdout).unwrap_or_else(|_| panic!("{agent}: {denied:?}"));
        assert_eq!(said.pointer(pointer).and_then(Value::as_str), Some(want), "{agent}: {said}");
        assert!(denied.stdout.contains("touches the gate") && denied.stderr.contains("touches the gate"), "{denied:?}");
        let fine = ask(&site, agent, tool, &json!({"command": "ls"})).expect(0);
        assert_eq!(fine.stdout, "", "{agent}: silence leaves the agent's own rules in force");
    }
    assert_eq!(
        ask(&site, "opencode", "bash", &json!({"command": "ls"})).expect(0).stdout.trim(),
        r#"{"allowed":true}"#
    );
    let whole = json!({"hook_event_name": "beforeShellExecution", "generation_id": "g", "conversation_id": "c", "cwd": site.work(),
        "command": "rm -rf /etc/bashgate"});
    // Detected by what it has, without `--agent`.
    for event in [
        whole,
        event("gemini", "run_shell_command", &command, &site.work()),
        event("copilot", "bash", &command, &site.work()),
        event("codex", "Bash", &command, &site.work()),
    ] {
        let output = Output::of(&mut site.hook_command(&site.hook_toml()), event.to_string().as_bytes()).expect(2);
        assert!(output.stderr.contains("touches the gate"), "{event}: {output:?}");
    }
}

/// What is looked at before a command may be another thing when one in the background gets there.
#[test]
fn a_command_that_the_agent_does_not_wait_for() {
    let site = Site::new(SOON);
    let in_background = |command: &str, field: &str, value: Value| {
        let mut input = json!({"command": command});
        input[field] = value;
        ask(&site, "claude", "Bash", &input).code
    };
    for (command, field, value) in [
        ("sleep 4; sort * > /dev/null", "run_in_background", json!(true)),
        ("sleep 4; echo x > f", "is_background", json!("yes")),
        ("sleep 4; git status", "background", json!(1)),
    ] {
        assert_eq!(in_background(command, field, value), Some(2), "{command}");
    }
    assert_eq!(in_background("sleep 4; ls -la", "run_in_background", json!(true)), Some(0));
    assert_eq!(in_background("cat *", "run_in_background", json!(false)), Some(0));
}

/// What a client makes of an input that is written in an odd way is what counts: it writes, reads and mentions all the same.
#[test]
fn odd_spellings_are_what_clients_make_of_them() {
    let site = Site::new(SOON);
    let alone = site.hook_toml_alone();
    std::fs::write(site.work().join(".env"), "KEY=1").unwrap();
    let by_hook = |agent: &str, tool: &str, input: &Value| {
        let mut hook = site.hook_command(&alone);
        let event = event(agent, tool, input, &site.work()).to_string();
        Output::of(hook.args(["--agent", agent]), event.as_bytes()).code == Some(0)
    };
    let patch = |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch");
    for (agent, tool, input) in [
        // A word of another tool makes no tool one that only shows.
        ("copilot", "create", json!({"path": ".git/hooks/post-commit", "file_text": "x", "command": "view"})),
        ("copilot", "edit", json!({"path": ".bashrc", "old_str": "a", "new_str": "b", "command": "view"})),
        // A service's tool with a command runs it where the service is.
        ("opencode", "ssh_exec", json!({"command": "echo x"})),
        ("opencode", "tracker_create_issue", json!({"title": "x", "description": "y", "command": "true"})),
        ("copilot", "tracker-create", json!({"command": "true"})),
        ("gemini", "tracker__create", json!({"command": "true"})),
        ("cursor", "create_issue", json!({"command": "true"})),
        // Blanks as JavaScript has them, and the ends of lines.
        ("opencode", "apply_patch", json!({"patchText": patch("opencode.json\u{feff}")})),
        ("opencode", "apply_patch", json!({"patchText": patch("\u{feff}.mcp.json")})),
        ("opencode", "apply_patch", json!({"patchText": patch("x\r*** Add File: .bashrc")})),
        ("claude", "Grep", json!({"pattern": ".", "path": " "})),
        ("claude", "Grep", json!({"pattern": ".", "path": "\u{a0}"})),
        ("claude", "LSP", json!({"filePath": "\t"})),
        // Mentions in words for others.
        ("opencode", "task", json!({"prompt": "repeat @.env", "subagent_type": "general"})),
        ("claude", "Skill", json!({"skill": "x", "args": "@.env"})),
        ("claude", "SlashCommand", json!({"command": "/x @.env>"})),
        ("claude", "Task", json!({"prompt": "see @.env|"})),
        // Commands that nobody waits for.
        ("claude", "Monitor", json!({"command": "sleep 1; sort *", "description": "x"})),
        ("copilot", "bash", json!({"command": "sleep 1; sort *", "mode": "async"})),
        ("copilot", "bash", json!({"command": "sleep 1; sort *", "detach": true})),
        ("cursor", "Shell", json!({"command": "sleep 1; sort *", "block_until_ms": 0})),
        // A shell in which other commands have run.
        ("copilot", "bash", json!({"command": "echo x > settings.json", "shellId": "a"})),
        // Letters that some file systems fold.
        ("claude", "Write", json!({"file_path": ".ba\u{17f}hrc", "content": "x"})),
        ("claude", "Write", json!({"file_path": ".v\u{17f}code/ta\u{17f}\u{212a}s.json", "content": "x"})),
        ("cursor", "Read", json!({"uri": format!("file://{}/.%65nv", site.work().display())})),
        // Patterns of other libraries.
        ("gemini", "read_many_files", json!({"include": ["@(.)env"]})),
        ("gemini", "read_many_files", json!({"include": ["+(.env|x)"]})),
        ("gemini", "read_many_files", json!({"include": ["\\.en\\v"]})),
        // What is handed over besides words.
        ("claude", "Task", json!({"prompt": "x", "attachments": [".env"]})),
        ("codex", "spawn_agent", json!({"items": [{"type": "local_image", "path": ".env"}]})),
    ] {
        assert!(!by_hook(agent, tool, &input), "{agent} {tool} {input}");
    }
    // Everyday forms need no host as before.
    for (agent, tool, input) in [
        ("copilot", "str_replace_editor", json!({"command": "view", "path": "README.md"})),
        ("copilot", "bash", json!({"command": "ls", "mode": "sync"})),
        ("claude", "Task", json!({"prompt": "ask a@example.org about @types/node"})),
        ("claude", "Monitor", json!({"command": "ls"})),
        ("opencode", "apply_patch", json!({"patchText": patch("src/a.rs")})),
    ] {
        assert!(by_hook(agent, tool, &input), "{agent} {tool} {input}");
    }
}

/// A file that a call hands over is the one that people saw.
#[test]
fn what_a_service_takes_along_is_bound() {
    let site = Site::new(SOON);
    let _host = site.serve();
    site.raise_both("default");
    let report = site.work().join("report.txt");
    std::fs::write(&report, "x").unwrap();
    std::fs::write(site.path().join("other"), "y").unwrap();
    let config = site.hook_toml();
    let mut ask = site.hook_command(&config);
    ask.args(["--agent", "claude"]);
    let input = json!({"to": "a@good.example", "attachment": "report.txt"});
    let text = event("claude", "mcp__mail__send", &input, &site.work()).to_string();
    let asking = std::thread::spawn(move || Output::of(&mut ask, text.as_bytes()));
    let id = bashgate_tests::until("a card", || {
        assert!(!asking.is_finished(), "{:?}", site.audit().last());
        site.pending().first().map(|card| card["id"].as_str().unwrap().to_owned())
    });
    std::fs::remove_file(&report).unwrap();
    std::os::unix::fs::symlink(site.path().join("other"), &report).unwrap();
    site.cli(["approve", &id]).expect(0);
    let answered = asking.join().unwrap().expect(2);
    assert!(answered.stderr.contains("was changed while"), "{answered:?}");
}

/// However a path is written, a service is told of the file that it leads to.
#[test]
fn a_path_for_a_service_is_the_file_that_it_leads_to() {
    let site = Site::new(
        "[services.fs]\npublic_source = false\nsecret_data = false\npublic_sink = false\ndangerous_writes = false\n",
    );
    let _host = site.serve();
    let work = site.work();
    std::fs::write(work.join(".env"), "KEY=1").unwrap();
    std::fs::create_dir(work.join("my dir")).unwrap();
    std::fs::write(work.join("my dir/.env"), "KEY=1").unwrap();
    std::os::unix::fs::symlink(".env", work.join("link.txt")).unwrap();
    // Whatever names the gate is denied; so all of them are as seen from here.
    for path in [
        ".claude/settings.json",
        ".claude/./settings.json",
        ".claude//settings.json",
        "x/../.claude/settings.json",
        "file:%2eclaude/settings.json",
        "../hook.toml",
        "..//hook.toml",
        ".././x/../hook.toml",
    ] {
        let answered = ask(&site, "claude", "mcp__fs__write_file", &json!({"path": path, "content": "x"}));
        assert_eq!(answered.code, Some(2), "{path}: {answered:?}");
    }
    for input in [
        json!({"path": ".env"}),
        json!({"path": "my dir/.env"}),
        json!({"path": " .env"}),
        json!({"path": ".en*"}),
        json!({"path": ".", "pattern": "**/.e*"}),
        json!({"path": "file:%2eenv"}),
        json!({"path": "link.txt"}),
    ] {
        ask(&site, "claude", "mcp__fs__read_file", &input).expect(0);
        assert_eq!(site.taint("default"), "secret", "{input}");
        site.cli(["taint", "clear", "default"]).expect(0);
    }
    ask(&site, "claude", "mcp__fs__read_file", &json!({"path": "README.md"})).expect(0);
    assert_eq!(site.taint("default"), "clean");
}

/// An address counts as this machine's only in the form that every client reads alike.
#[test]
fn addresses_that_clients_read_in_another_way_bring_untrusted_content() {
    let site = Site::default();
    let _host = site.serve();
    for address in [
        "https://localhost\t.evil.example/",
        "https:/evil.example/?u=http://localhost/",
        "HTTPS:evil.example/?u=http://localhost/",
        "http:\\\\evil.example\\?http://localhost/",
        "http://localhost'.evil.example/",
    ] {
        for (agent, tool, input) in [
            ("claude", "WebFetch", json!({"url": address, "prompt": "what does http://localhost/ say"})),
            ("opencode", "webfetch", json!({"url": address})),
            ("gemini", "web_fetch", json!({"prompt": format!("read {address} and http://localhost/")})),
        ] {
            ask(&site, agent, tool, &input).expect(0);
            assert_eq!(site.taint("default"), "corruption", "{agent} {address:?}");
            site.cli(["taint", "clear", "default"]).expect(0);
        }
    }
    ask(&site, "claude", "WebFetch", &json!({"url": "http://localhost:3000/x", "prompt": "x"})).expect(0);
    assert_eq!(site.taint("default"), "clean");
}
