//! What gates an agent in a project stays as it is, however many files stand beside it, by way of whichever link it is found, and however
//! many runs go on at once.

use std::fs;

use bashgate_tests::until;

use super::acting::{git, give_all};
use super::{Ground, cages};

const GATE: &str = "exit 2\n";

/// A project whose settings start a script.
fn grounds() -> impl Iterator<Item = Ground> {
    cages().inspect(|ground| {
        let work = ground.work();
        git(&work, &["init", "-q", "-b", "main"]);
        for (name, value) in [("user.name", "n"), ("user.email", "n@example.invalid")] {
            git(&work, &["config", name, value]);
        }
        ground.write("work/tools/gate.sh", GATE);
        ground.write("work/tools/helper.py", "x = 1\n");
        ground.write("work/.claude/settings.json", &settings("sh tools/gate.sh; python3 tools/gate.py"));
        ground.write("work/tools/gate.py", "import json, helper\n");
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "one"]);
        give_all(ground, &work);
    })
}

fn settings(command: &str) -> String {
    let hook = serde_json::json!({"type": "command", "command": command});
    serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string()
}

#[test]
fn what_stands_beside_a_gates_script_is_found_among_any_number() {
    for ground in grounds() {
        let outcome = ground.run_script(
            "cd tools; python3 -c 'for i in range(9000): open(f\"d{i}.py\", \"w\").close()'; echo evil > json.py; echo evil > helper.so",
        );
        let tools = ground.work().join("tools");
        for plant in ["json.py", "helper.so"] {
            assert!(!tools.join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        for (name, text) in [("gate.sh", GATE), ("helper.py", "x = 1\n"), ("gate.py", "import json, helper\n")] {
            assert_eq!(fs::read_to_string(tools.join(name)).unwrap_or_default(), text, "{}: {name}", ground.name());
        }
        // And it goes on as before.
        let outcome = ground.run_script("echo evil > tools/os.py; echo fine");
        assert!(!tools.join("os.py").exists() && outcome["stdout"] == "fine\n", "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn what_stands_behind_a_link_is_found_among_any_number() {
    for ground in cages() {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        for (link, target, file) in
            [(".claude", "conf/claude", "settings.json"), (".vscode", "cfg/vscode", "settings.json")]
        {
            ground.write(&format!("work/{target}/{file}"), "{}");
            std::os::unix::fs::symlink(target, work.join(link)).unwrap();
        }
        give_all(&ground, &work);
        let outcome = ground.run_script(
            "mv conf c2; cp -r c2 conf; mv cfg g2; cp -r g2 cfg
             for folder in conf/claude cfg/vscode; do
                 python3 -c \"for i in range(9000): open(f'$folder/z{i}', 'w').close()\"
             done
             echo evil > conf/claude/settings.local.json; echo evil > cfg/vscode/tasks.json",
        );
        for plant in [".claude/settings.local.json", ".vscode/tasks.json"] {
            assert!(!work.join(plant).exists(), "{}: {plant}: {outcome:#}", ground.name());
        }
        assert!(work.join(".claude/settings.json").exists(), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn what_gates_whoever_works_below_comes_back_from_behind_a_link() {
    for ground in grounds() {
        let work = ground.work();
        for (folder, link, target) in [("app", ".claude", "cl"), ("packages/x", ".codex", "cx")] {
            let file = if target == "cl" { "settings.json" } else { "hooks.json" };
            ground.write(&format!("work/cfg/{target}/{file}"), &settings("bashgate-hook"));
            fs::create_dir_all(work.join(folder)).unwrap();
            let up = "../".repeat(folder.split('/').count());
            std::os::unix::fs::symlink(format!("{up}cfg/{target}"), work.join(folder).join(link)).unwrap();
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "two"]);
        give_all(&ground, &work);
        for change in
            ["mv cfg c2; mkdir -p cfg/cl cfg/cx", "mv cfg c3; cp -r c3 cfg; rm cfg/cl/*; echo '{}' > cfg/cx/hooks.json"]
        {
            let outcome = ground.run_script(change);
            for file in ["app/.claude/settings.json", "packages/x/.codex/hooks.json"] {
                let now = fs::read_to_string(work.join(file)).unwrap_or_default();
                assert_eq!(now, settings("bashgate-hook"), "{}: {change}: {file}: {outcome:#}", ground.name());
            }
        }
    }
}

/// Runs `first` until it has made the file `started` and goes on, begins another run meanwhile, which ends last.
fn beside_another(ground: &Ground, first: &str) -> serde_json::Value {
    let work = ground.work();
    for mark in ["started", "go", "over"] {
        let _ = fs::remove_file(work.join(mark));
    }
    ground.write("work/first.sh", &format!("{first}\ntouch started\nuntil test -e go; do sleep 0.05; done\n"));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| ground.run("bash first.sh"));
        until("the first run", || work.join("started").exists().then_some(()));
        let other =
            scope.spawn(|| ground.run("touch other; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do test -e over && break; sleep 0.3; done"));
        until("the other one", || work.join("other").exists().then_some(()));
        fs::write(work.join("go"), "").unwrap();
        running.join().unwrap();
        fs::write(work.join("over"), "").unwrap();
        let outcome = other.join().unwrap();
        let _ = fs::remove_file(work.join("other"));
        outcome
    })
}

#[test]
fn what_another_run_had_left_is_not_put_back() {
    for ground in grounds() {
        let work = ground.work();
        let change = "mv tools t2; cp -r t2 tools; echo evil > tools/gate.sh; ln tools/gate.sh hl2";
        let outcome = beside_another(&ground, change);
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, GATE, "{}: {outcome:#}", ground.name());
        ground.run("true");
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, GATE, "{}: {outcome:#}", ground.name());
    }
    // Where there were none before.
    for ground in cages() {
        let work = ground.work();
        git(&work, &["init", "-q"]);
        ground.write("work/README", "x");
        give_all(&ground, &work);
        for (folder, file) in [(".claude", "settings.json"), (".codex", "hooks.json"), (".gemini", "settings.json")] {
            let change = format!(
                "mkdir -p {folder} x5; echo '{{\"disableAllHooks\":true}}' > {folder}/{file}; git -c safe.directory='*' add -f {folder}"
            );
            let outcome = beside_another(&ground, &change);
            assert!(!work.join(folder).join(file).exists(), "{}: {folder}: {outcome:#}", ground.name());
            ground.run("true");
            assert!(!work.join(folder).join(file).exists(), "{}: {folder}: {outcome:#}", ground.name());
        }
        let outcome =
            beside_another(&ground, "mkdir -p x6; echo '{}' > x6/settings.json; rm -rf .claude; ln -s x6 .claude");
        assert!(!work.join(".claude").is_symlink(), "{}: {outcome:#}", ground.name());
    }
}

/// The one that began second is killed, and the next one finds what it had written down.
#[test]
fn what_another_run_had_left_is_not_put_back_behind_a_killed_one() {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;

    for ground in grounds() {
        let work = ground.work();
        ground.write(
            "work/first.sh",
            "mv tools t2; cp -r t2 tools; echo evil > tools/gate.sh\ntouch started\nuntil test -e go; do sleep 0.05; done\n",
        );
        std::thread::scope(|scope| {
            let running = scope.spawn(|| ground.run("bash first.sh"));
            until("the first run", || work.join("started").exists().then_some(()));
            let mut driver = ground.driver();
            driver.process_group(0).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
            let mut other = driver.stderr(std::process::Stdio::null()).spawn().unwrap();
            let order = ground.order("touch other; sleep 60").to_string();
            other.stdin.take().unwrap().write_all(order.as_bytes()).unwrap();
            until("the other one", || work.join("other").exists().then_some(()));
            fs::write(work.join("go"), "").unwrap();
            running.join().unwrap();
            let group = rustix::process::Pid::from_raw(i32::try_from(other.id()).unwrap()).unwrap();
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
            other.wait().unwrap();
        });
        let outcome = ground.run("true");
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, GATE, "{}: {outcome:#}", ground.name());
    }
}

/// While it gets its old content again, it has no name under which another run could exchange it.
#[test]
fn what_is_put_back_is_not_exchanged_on_its_way() {
    for ground in grounds() {
        let work = ground.work();
        ground.write(
            "work/race.py",
            "import os, time\nend = time.time() + 4\nopen('racing', 'w').close()\nwhile time.time() < end:\n    for f in os.listdir('tools') if os.path.isdir('tools') else []:\n        if f.startswith('.bashgate-'):\n            try:\n                open('ev', 'w').write('evil')\n                os.rename('ev', 'tools/' + f)\n            except OSError:\n                pass\n",
        );
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| ground.run("python3 race.py"));
            until("the race", || work.join("racing").exists().then_some(()));
            ground.run_script("mv tools t2; cp -r t2 tools; rm tools/gate.sh; echo evil > tools/gate.sh")
        });
        let gate = fs::read_to_string(work.join("tools/gate.sh")).unwrap_or_default();
        assert_eq!(gate, GATE, "{}: {outcome:#}", ground.name());
    }
}
