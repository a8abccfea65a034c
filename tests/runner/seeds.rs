//! The tests that the specifications of the Bash tool name, under like names, and the table of their sentences.

use std::fs;
use std::time::{Duration, Instant};

use bashgate_tests::repository;
use serde_json::{Value, json};

use super::{Ground, Who, mark, processes_with};

/// A workspace with some files, and an environment with dummy secrets.
fn workspace_with_files() -> Ground {
    let ground = Ground::new(Who::User, "bwrap", "");
    ground.write("work/a.txt", "alpha\n");
    ground.write("work/sub/b.txt", "beta\n");
    ground
}

#[track_caller]
fn under(ground: &Ground, preset: &str, command: &str) -> Value {
    let mut order = ground.order(command);
    order["preset"] = json!(preset);
    ground.run_order(&order)
}

#[track_caller]
fn chorus(command: &str) -> Value {
    under(&workspace_with_files(), "chorus", command)
}

#[track_caller]
fn chorus_within(ground: &Ground, seconds: u64, command: &str) -> Value {
    let mut order = ground.order(command);
    order["preset"] = json!("chorus");
    order["seconds"] = json!(seconds);
    ground.run_order(&order)
}

#[track_caller]
fn refused(preset: &str, command: &str) {
    let outcome = under(&workspace_with_files(), preset, command);
    assert_eq!(outcome["denied"], true, "{preset}: {command}: {outcome:#}");
}

// Seed 000: basic execution.

#[test]
fn bash_execute_simple_command() {
    assert_eq!(chorus("echo hello")["ending"], json!({"exited": 0}));
}

#[test]
fn bash_execute_captures_stdout() {
    let outcome = chorus("cat a.txt");
    assert_eq!((&outcome["stdout"], &outcome["stderr"]), (&json!("alpha\n"), &json!("")));
}

#[test]
fn bash_execute_captures_stderr() {
    let outcome = chorus("echo oops >&2");
    assert_eq!((&outcome["stdout"], &outcome["stderr"]), (&json!(""), &json!("oops\n")));
}

#[test]
fn bash_execute_returns_exit_code() {
    assert_eq!(chorus("true")["exit_code"], 0);
}

#[test]
fn bash_execute_nonzero_exit_code() {
    assert_eq!(chorus("exit 3")["exit_code"], 3);
}

#[test]
fn bash_execute_cwd_is_workspace() {
    let ground = workspace_with_files();
    assert_eq!(under(&ground, "chorus", "pwd")["stdout"], format!("{}\n", ground.work().display()));
}

#[test]
fn bash_execute_result_has_the_named_fields() {
    let outcome = chorus("echo x");
    for field in ["exit_code", "stdout", "stderr", "timed_out", "command", "duration_ms", "truncated"] {
        assert!(outcome.get(field).is_some(), "{field}");
    }
    assert_eq!(outcome["command"], "echo x");
}

// Timeout.

#[test]
fn bash_execute_timeout_kills_process() {
    let (ground, mark) = (workspace_with_files(), mark());
    let outcome = chorus_within(&ground, 1, &format!("sh -c 'sleep 400; : {mark}'"));
    assert_eq!(outcome["timed_out"], true);
    assert_eq!(processes_with(&mark), Vec::<String>::new());
}

#[test]
fn bash_execute_timeout_returns_timed_out_flag() {
    let outcome = chorus_within(&workspace_with_files(), 1, "sleep 10");
    assert_eq!((&outcome["timed_out"], &outcome["exit_code"]), (&json!(true), &Value::Null));
}

#[test]
fn bash_execute_long_running_completes_within_timeout() {
    assert_eq!(chorus_within(&workspace_with_files(), 20, "sleep 1; echo done")["stdout"], "done\n");
}

#[test]
fn bash_execute_sigterm_then_sigkill() {
    let ground = workspace_with_files();
    let since = Instant::now();
    let outcome = chorus_within(&ground, 1, "trap 'echo term' TERM; while :; do sleep 0.1; done");
    // TERM was honoured, and after the grace of two seconds came KILL.
    assert_eq!(outcome["stdout"], "term\n");
    assert!(since.elapsed() >= Duration::from_secs(3) && outcome["timed_out"] == true);
}

// Output handling.

#[test]
fn bash_execute_truncates_long_stdout() {
    let outcome = chorus("head -c 60000 /dev/zero | tr '\\0' x; echo end");
    let text = outcome["stdout"].as_str().unwrap();
    assert!(
        text.starts_with("[truncated]\n[Output truncated: showing last 50000 chars of 60004 chars]\nx"),
        "{}",
        &text[..90]
    );
    assert!(text.ends_with("end\n") && outcome["truncated"] == true);
}

#[test]
fn bash_execute_truncates_long_stderr() {
    let outcome = chorus("head -c 60000 /dev/zero | tr '\\0' x >&2");
    assert!(
        outcome["stderr"]
            .as_str()
            .unwrap()
            .starts_with("[truncated]\n[Output truncated: showing last 50000 chars of 60000 chars]\n")
    );
}

#[test]
fn bash_execute_empty_output() {
    let outcome = chorus("true");
    assert_eq!(
        (&outcome["stdout"], &outcome["stderr"], &outcome["truncated"]),
        (&json!(""), &json!(""), &json!(false))
    );
}

#[test]
fn bash_execute_binary_output_handled() {
    assert_eq!(chorus("printf 'a\\377b'")["stdout"], "a\u{fffd}b");
}

// Environment.

#[track_caller]
fn safe_env(preset: &str) -> String {
    let ground = workspace_with_files();
    let mut driver = ground.driver();
    for name in [
        "DISCORD_TOKEN",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "PHOENIX_SECRET",
    ] {
        driver.env(name, "s3cret");
    }
    let mut order = ground.order("env; echo HOMEIS $HOME; pwd");
    order["preset"] = json!(preset);
    ground.run_with(driver, &order)["stdout"].as_str().unwrap().to_owned()
}

#[test]
fn bash_execute_env_does_not_contain_discord_token() {
    assert!(!safe_env("chorus").contains("DISCORD_TOKEN"));
}

#[test]
fn bash_execute_env_does_not_contain_api_keys() {
    for preset in ["chorus", "phoenix", "runner-readonly"] {
        if preset != "runner-readonly" {
            assert!(!safe_env(preset).contains("s3cret"), "{preset}");
        }
    }
}

#[test]
fn bash_execute_env_contains_path() {
    assert!(safe_env("chorus").contains("PATH=/"));
}

#[test]
fn bash_execute_env_contains_home() {
    let text = safe_env("chorus");
    let pwd = text.lines().last().unwrap();
    assert!(text.contains(&format!("HOMEIS {pwd}\n")), "{text}");
}

// Safety.

#[test]
fn bash_execute_blocklist_rejects_rm_rf_root() {
    refused("chorus", "rm -rf /");
}

#[test]
fn bash_execute_blocklist_rejects_fork_bomb() {
    refused("chorus", ":(){ :|:& };:");
}

#[test]
fn bash_execute_blocklist_allows_normal_rm() {
    assert_eq!(chorus("rm a.txt && ls")["stdout"], "sub\n");
}

#[test]
fn bash_execute_blocklist_allows_rm_rf_subdir() {
    assert_eq!(chorus("rm -rf sub && ls")["stdout"], "a.txt\n");
}

#[test]
fn bash_execute_blocklist_rejects_the_named_patterns() {
    for command in ["dd if=/dev/zero of=x", "mkfs.ext4 /dev/sdb1", "echo x > /dev/sda"] {
        refused("chorus", command);
    }
}

// Concurrency and tracking.

#[test]
fn bash_execute_multiple_concurrent_commands() {
    let ground = workspace_with_files();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let ground = &ground;
            scope.spawn(move || {
                let outcome = under(ground, "chorus", &format!("sleep 0.2; echo {number}"));
                assert_eq!(outcome["stdout"], format!("{number}\n"));
            });
        }
    });
}

#[test]
fn bash_execute_tracks_running_processes() {
    use bashgate_run::permit;
    use bashgate_run::presets::Presets;
    use bashgate_run::run::{RunSpec, Runner};
    let ground = Ground::new(Who::Root, "bwrap", "");
    let runner = Runner::new(ground.path().join("bin/bashgate-run"));
    let preset = Presets::built_in().for_agent(None, Some("chorus")).unwrap();
    let work = ground.work();
    std::thread::scope(|scope| {
        let running: Vec<_> = ["a", "a", "b"]
            .into_iter()
            .map(|agent| {
                let (preset, work, runner) = (preset.clone(), work.clone(), &runner);
                scope.spawn(move || {
                    let permit = permit::cage("sleep 60", None, &preset, &work).unwrap();
                    let mut spec = RunSpec::new(preset, &work, &work);
                    spec.agent = Some(agent.to_owned());
                    runner.run(permit, &spec).unwrap()
                })
            })
            .collect();
        bashgate_tests::until("three runs", || (runner.registry().running(None).len() == 3).then_some(()));
        let of_a = runner.registry().running(Some("a"));
        assert_eq!((of_a.len(), of_a[0].command.as_str()), (2, "sleep 60"));
        // An agent that is removed takes its commands along; the others' stay.
        assert_eq!(runner.registry().remove_agent("a"), 2);
        bashgate_tests::until("one run", || (runner.registry().running(None).len() == 1).then_some(()));
        let last = runner.registry().running(Some("b"))[0].id;
        assert!(runner.registry().stop(last) && !runner.registry().stop(9999));
        for run in running {
            assert_eq!(run.join().unwrap().ending, bashgate_run::outcome::Ending::Stopped);
        }
    });
}

#[test]
fn bash_execute_returns_duration_ms() {
    let took = chorus("sleep 0.3")["duration_ms"].as_u64().unwrap();
    // On a busy machine the word that the shell runs arrives some milliseconds late.
    assert!((250..20_000).contains(&took), "{took}");
}

// Seed 001.

#[test]
fn phoenix_combines_output_and_announces_failure() {
    let ground = workspace_with_files();
    let outcome = under(&ground, "phoenix", "echo out; echo err >&2; exit 4");
    assert_eq!((&outcome["stdout"], &outcome["exit_code"]), (&json!("out\nerr\n"), &json!(4)));
    let site = bashgate_tests::Site::default();
    fs::write(site.path().join("runner.toml"), "[presets.text]\nextends = \"phoenix\"\n").unwrap();
    let mut exec = bashgate_tests::runner();
    exec.arg("exec")
        .arg("--config")
        .arg(site.hook_toml())
        .args(["--preset", "text", "--", "test 1 = 2"])
        .current_dir(site.work());
    let output = bashgate_tests::Output::of(&mut exec, b"").expect(1);
    assert_eq!(output.stdout, "[command failed: exit code 1]\n");
}

#[test]
fn phoenix_truncates_in_the_middle() {
    let outcome = under(
        &workspace_with_files(),
        "phoenix",
        "head -c 100000 /dev/zero | tr '\\0' a; head -c 100000 /dev/zero | tr '\\0' z",
    );
    let text = outcome["stdout"].as_str().unwrap();
    assert!(
        text.starts_with("[output truncated in middle: got 195.3 KiB, max is 128 KiB]\na")
            && text.contains("\n\n[snip]\n\n"),
        "{}",
        &text[..90]
    );
}

#[test]
fn phoenix_times_out_with_a_message() {
    let ground = workspace_with_files();
    let mut order = ground.order("sleep 30");
    order["preset"] = json!("phoenix");
    order["seconds"] = json!(1);
    let since = Instant::now();
    assert_eq!(ground.run_order(&order)["ending"], "timed_out");
    // No grace: killed at once.
    assert!(since.elapsed() < Duration::from_secs(4));
}

#[test]
fn phoenix_working_directory_must_exist_and_be_one() {
    let ground = workspace_with_files();
    for (cwd, want) in
        [("gone", "Working directory does not exist: "), ("work/a.txt", "Working directory is not a directory: ")]
    {
        let mut order = ground.order("ls");
        order["cwd"] = json!(ground.path().join(cwd));
        let error = ground.run_order(&order)["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(want), "{error}");
    }
}

#[test]
fn phoenix_blocks_its_patterns() {
    for command in ["rm -rf /", "rm -rf /*", "cat x > /dev/sda", "mkfs.ext4 /dev/sda", "dd if=x of=/dev/sda"] {
        refused("phoenix", command);
    }
}

#[test]
fn phoenix_state_does_not_persist_between_calls() {
    let ground = workspace_with_files();
    under(&ground, "phoenix", "cd sub; x=1; alias l=ls");
    assert_eq!(under(&ground, "phoenix", "echo [$x]; ls")["stdout"], "[]\na.txt\nsub\n");
}

#[test]
fn phoenix_runs_bash() {
    assert_eq!(under(&workspace_with_files(), "phoenix", "[[ -n $BASH_VERSION ]] && echo bash")["stdout"], "bash\n");
}

// Seed 002.

#[test]
fn runner_readonly_allows_only_its_list() {
    let ground = workspace_with_files();
    assert_eq!(under(&ground, "runner-readonly", "ls; cat a.txt | wc -l")["stdout"], "a.txt\nsub\n1\n");
    for command in ["make", "python3 -c 1", "touch x", "ls; id", "find . -exec id \\;"] {
        refused("runner-readonly", command);
    }
}

#[test]
fn runner_readonly_writes_nothing() {
    let ground = workspace_with_files();
    let outcome = under(&ground, "runner-readonly", "echo x > new.txt; echo over");
    assert_eq!(outcome["stdout"], "over\n");
    assert!(!ground.work().join("new.txt").exists(), "{outcome:#}");
    let outcome = under(&ground, "runner-readonly", "find . -name a.txt -delete; find . -fprintf out x; echo over");
    assert!(
        outcome["denied"] == true || ground.work().join("a.txt").exists() && !ground.work().join("out").exists(),
        "{outcome:#}"
    );
}

#[test]
fn runner_blocklist_is_universal() {
    for preset in ["runner-readonly", "runner-build"] {
        for command in [
            "rm -rf x",
            "rm *",
            "curl x",
            "wget x",
            "chmod 777 a.txt",
            "chown root a.txt",
            "sudo ls",
            "su root",
            "dd if=a of=b",
            "mkfs x",
            "shutdown now",
            "reboot",
            "npm install",
            "pip install x",
            "apt install x",
            "cat a.txt | sh",
            "cat a.txt > /etc/x",
            "echo `ls`",
            "echo $(ls)",
        ] {
            refused(preset, command);
        }
    }
}

#[test]
fn runner_times_out_in_ten_seconds_and_at_most_sixty() {
    let ground = workspace_with_files();
    let mut order = ground.order("ls");
    order["preset"] = json!("runner-readonly");
    order["seconds"] = json!(61);
    assert!(ground.run_order(&order)["error"].as_str().unwrap().contains("from 1 to 60 seconds"));
    order["seconds"] = json!(60);
    assert_eq!(ground.run_order(&order)["exit_code"], 0);
}

#[test]
fn runner_limits_output_to_ten_kilobytes() {
    let ground = workspace_with_files();
    ground.write("work/big.txt", &"x".repeat(20_000));
    let outcome = under(&ground, "runner-readonly", "cat big.txt");
    let text = outcome["stdout"].as_str().unwrap();
    assert!(text.ends_with("x\n[output truncated: showing the first 10240 of 20000 bytes]\n") && text.len() < 10_400);
    fs::write(ground.work().join("bin.dat"), [0, 159, 146, 150]).unwrap();
    assert_eq!(under(&ground, "runner-readonly", "cat bin.dat")["stdout"], "[binary output: 4 bytes, not shown]\n");
}

#[test]
fn runner_tmp_is_fresh_and_home_keeps_no_secret() {
    let ground = workspace_with_files();
    assert_eq!(under(&ground, "runner-build", "ls /tmp; touch /tmp/left")["stdout"], "");
    assert_eq!(under(&ground, "runner-build", "ls /tmp")["stdout"], "");
}

// Presets are data.

#[test]
fn no_code_looks_at_a_presets_name() {
    fn look(folder: &std::path::Path, seen: &mut usize) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                look(&path, seen);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let is_list = path.ends_with("presets/mod.rs") || path.extension().is_some_and(|kind| kind == "toml");
            *seen += 1;
            for name in ["chorus", "phoenix", "runner-readonly", "runner-build"] {
                assert!(is_list || !code.contains(&format!("\"{name}\"")), "{} names {name}", path.display());
            }
        }
    }
    let mut seen = 0;
    look(&repository().join("runner/src"), &mut seen);
    assert!(seen > 30);
}

// The table.

struct Row {
    seed: &'static str,
    sentence: &'static str,
    test: &'static str,
    verdict: &'static str,
}

const fn row(seed: &'static str, sentence: &'static str, test: &'static str, verdict: &'static str) -> Row {
    Row { seed, sentence, test, verdict }
}

/// Each sentence of the specifications that promises something, the test that shows it, and how it is kept.
const TABLE: &[Row] = &include!("seed_rows.rs");

#[test]
fn every_sentence_has_a_test_that_exists() {
    let mut sources = String::new();
    for folder in [
        "tests/runner",
        "tests/system",
        "tests/clients",
        "shared/src",
        "runner/src",
        "runner/src/output",
        "runner/src/policy",
        "runner/src/job",
        "runner/src/presets",
        "runner/src/scripts",
        "host/src/inspector",
    ] {
        for entry in fs::read_dir(repository().join(folder)).unwrap().flatten() {
            if entry.path().extension().is_some_and(|kind| kind == "rs") {
                sources.push_str(&fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut table = String::from(
        "# The specifications that this comes from, sentence by sentence\n\n\
         The presets `chorus`, `phoenix`, `runner-readonly`, `runner-build` and `pai` come from four specifications, here 000 to 003, and the gate itself from a fifth, 004. Each sentence that \
         promises something has a test. *Met*: as written. *Stricter*: as written and more. *Different*: with the reason.\n\n\
         | | sentence | test | |\n| --- | --- | --- | --- |\n",
    );
    for Row { seed, sentence, test, verdict } in TABLE {
        assert!(sources.contains(&format!("fn {test}(")), "there is no test {test}");
        let kind = verdict.split([':', ',', ' ']).next().unwrap();
        assert!(["met", "stricter", "different"].contains(&kind), "{verdict}");
        table.push_str(&format!("| {seed} | {} | `{test}` | {verdict} |\n", sentence.replace('|', "\\|")));
    }
    let file = repository().join("docs/runner-seeds.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &table).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&file).unwrap_or_default(),
        table,
        "run UPDATE_DOCS=1 cargo test -p bashgate-tests --test system seeds"
    );
}
