//! Ends: in time, of everything, told apart; and no end of what must go on.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bashgate_tests::until;
use serde_json::{Value, json};

use super::{Ground, USER, Who, behind, everywhere, mark, processes_with};

const GRACE: &str = "[presets.p.limits]\nterm_grace_ms = 700";

/// Runs a command with so many seconds.
#[track_caller]
fn within(ground: &Ground, seconds: u64, command: &str) -> (Value, Duration) {
    let mut order = ground.order(command);
    order["seconds"] = json!(seconds);
    let since = Instant::now();
    (ground.run_order(&order), since.elapsed())
}

#[test]
fn what_ignores_term_is_killed_with_everything_that_it_started() {
    for ground in everywhere(GRACE) {
        let mark = mark();
        let command = format!(
            "trap '' TERM; (trap '' TERM; setsid sleep 3001 {mark} 2>/dev/null || setsid bash -c 'trap \"\" TERM; while :; do sleep 3001; done' {mark}) & \
             nohup bash -c 'trap \"\" TERM; while :; do sleep 3002; done' {mark} >/dev/null 2>&1 & \
             ( (setsid bash -c 'while :; do sleep 3003; done' {mark} &) & ) ; echo started; while :; do sleep 1; done"
        );
        let (outcome, took) = within(&ground, 1, &command);
        assert_eq!(outcome["timed_out"], true, "{}: {outcome:#}", ground.name());
        assert_eq!(outcome["stdout"], "started\n");
        assert!(took < Duration::from_secs(8), "{}: {took:?}", ground.name());
        assert_eq!(processes_with(&mark), Vec::<String>::new(), "{}", ground.name());
        assert_eq!(outcome["survivors"], 0);
    }
}

#[test]
fn a_trap_on_term_is_honoured() {
    for ground in everywhere(GRACE) {
        let (outcome, _) =
            within(&ground, 1, "trap 'echo said goodbye; exit 9' TERM; echo ready; while :; do sleep 0.05; done");
        assert_eq!(outcome["stdout"], "ready\nsaid goodbye\n", "{}: {outcome:#}", ground.name());
        assert_eq!((&outcome["timed_out"], &outcome["exit_code"]), (&json!(true), &json!(9)));
    }
}

#[test]
fn a_stopped_process_is_killed_on_time() {
    for ground in everywhere(GRACE) {
        let (outcome, took) = within(&ground, 1, "kill -STOP $$");
        assert_eq!(outcome["timed_out"], true, "{}: {outcome:#}", ground.name());
        assert!(took < Duration::from_secs(8), "{took:?}");
    }
}

#[test]
fn a_background_child_that_holds_the_pipe_delays_nothing() {
    for ground in everywhere("") {
        let mark = mark();
        let since = Instant::now();
        let outcome =
            ground.run(&format!("bash -c 'sleep 600; :' {mark} & setsid bash -c 'sleep 600; :' {mark} & echo done"));
        assert_eq!(outcome["stdout"], "done\n", "{}: {outcome:#}", ground.name());
        assert!(since.elapsed() < Duration::from_secs(3), "{}: {:?}", ground.name(), since.elapsed());
        assert!(outcome["killed_leftovers"].as_u64().unwrap() >= 2, "{}: {outcome:#}", ground.name());
        assert_eq!(processes_with(&mark), Vec::<String>::new(), "{}", ground.name());
    }
}

#[test]
fn ends_are_told_apart() {
    for ground in everywhere("") {
        let ending = |command: &str| ground.run(command)["ending"].clone();
        assert_eq!(ending("exit 1"), json!({"exited": 1}), "{}", ground.name());
        assert_eq!(ending("exit 126"), json!({"exited": 126}));
        assert_eq!(ending("no-such-program"), json!({"exited": 127}));
        assert_eq!(ending("kill -9 $$"), json!({"signalled": 9}), "{}", ground.name());
        assert_eq!(ending("kill -SEGV $$"), json!({"signalled": 11}), "{}", ground.name());
        let (outcome, _) = within(&ground, 1, "sleep 30");
        assert_eq!((&outcome["ending"], &outcome["exit_code"]), (&json!("timed_out"), &Value::Null), "{outcome:#}");
        // A set-up that fails is no end of the command.
        let mut order = ground.order("echo never");
        order["workspace"] = json!("/nonexistent");
        assert!(ground.run_order(&order)["error"].is_string());
        let mut order = ground.order("echo never");
        order["own"] = json!("/bin/false");
        let error = ground.run_order(&order)["error"].as_str().unwrap().to_owned();
        assert!(error.contains("the sandbox ended before the shell ran"), "{}: {error}", ground.name());
    }
}

#[test]
fn the_supervisor_cannot_be_killed_by_the_command() {
    for ground in everywhere(GRACE) {
        let mark = mark();
        ground.write(
            "work/script.sh",
            &format!("setsid bash -c 'sleep 900; :' {mark} &\nkill -9 1 $PPID; kill -9 -1; kill -TERM $PPID; echo still here; sleep 900"),
        );
        let mut order = ground.order("bash script.sh");
        order["seconds"] = json!(2);
        // Whatever gets out of the sandbox ends here: a process namespace of the test's own around it.
        let mut driver = Command::new("unshare");
        driver.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
        let mut driver = behind(driver, &ground.driver());
        driver.current_dir(ground.path());
        let outcome = ground.run_with(driver, &order);
        if ground.name().starts_with("firejail") {
            // Inside of another one it would do nothing, and say that it did: that is found before anything runs.
            assert!(
                outcome["error"].as_str().is_some_and(|why| why.contains("inside of another sandbox")),
                "{outcome:#}"
            );
            continue;
        }
        assert_eq!(outcome["ending"], "timed_out", "{}: {outcome:#}", ground.name());
        assert_eq!(processes_with(&mark), Vec::<String>::new(), "{}", ground.name());
    }
}

/// Firejail inside of another sandbox keeps what it claims, or nothing runs.
#[test]
fn firejail_in_another_sandbox_claims_nothing_that_it_does_not_keep() {
    for outer in [
        &["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as &[&str],
        &["unshare", "--net"],
        &["unshare", "--ipc", "--uts"],
        &["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"],
        &["bwrap", "--dev-bind", "/", "/", "--unshare-net"],
        &["setpriv", "--no-new-privs"],
    ] {
        let ground = Ground::new(Who::User, "firejail", GRACE);
        let outside = ground.outside().join("x");
        let mut sandboxed = Command::new(outer[0]);
        sandboxed.args(&outer[1..]);
        let mut driver = behind(sandboxed, &ground.driver());
        driver.current_dir(ground.path());
        let script = format!("touch {}; (exec 3<>/dev/tcp/127.0.0.1/9) && echo out; id -u", outside.display());
        ground.write("work/script.sh", &script);
        let outcome = ground.run_with(driver, &ground.order("bash script.sh"));
        let is_refused =
            outcome["error"].as_str().is_some_and(|why| why.contains("sandbox") || why.contains("firejail"));
        let has_run = outcome["stdout"].as_str().is_some_and(|said| said.trim() == USER.to_string());
        assert!(is_refused || has_run, "{outer:?}: {outcome:#}");
        assert!(!outside.exists(), "{outer:?}: {outcome:#}");
    }
}

#[test]
fn fork_bombs_are_bounded_and_cleaned_up() {
    for ground in everywhere("[presets.p.limits]\nprocesses = 60\nterm_grace_ms = 200") {
        let mark = mark();
        let (outcome, _) =
            within(&ground, 2, &format!("boom() {{ bash -c 'sleep 500; :' {mark} & boom; }}; boom 2>/dev/null"));
        assert!(outcome["ending"].is_string() || outcome["ending"].is_object(), "{outcome:#}");
        // The machine can fork all the while: this test did, to start the driver.
        assert!(Command::new("true").status().unwrap().success());
        assert_eq!(processes_with(&mark), Vec::<String>::new(), "{}", ground.name());
    }
}

#[test]
fn want_of_memory_is_an_end_of_its_own() {
    // Root can make control groups here; an ordinary user has limits of each process.
    let eat = "python3 -c \"x = []\nwhile True: x.append(bytearray(4 << 20))\"";
    let limits = "[presets.p.limits]\nmemory_mib = 96";
    for backend in ["bwrap", "landlock"] {
        let root = Ground::new(Who::Root, backend, limits);
        let outcome = root.run(eat);
        assert_eq!(outcome["out_of_memory"], true, "{outcome:#}");
        assert!(outcome["sandbox"]["enforces"].as_array().unwrap().contains(&json!("memory")));
        let user = Ground::new(Who::User, backend, limits);
        let outcome = user.run(eat);
        assert!(outcome["stderr"].as_str().unwrap().contains("MemoryError"), "{outcome:#}");
        assert!(!outcome["sandbox"]["enforces"].as_array().unwrap().contains(&json!("memory")));
    }
}

#[test]
fn a_file_beyond_the_limit_ends_by_its_signal() {
    for ground in everywhere("[presets.p.limits]\nfile_mib = 1") {
        let outcome = ground.run("exec head -c 3M /dev/zero > big");
        assert_eq!(outcome["ending"], json!({"signalled": 25}), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn when_the_runner_is_killed_so_is_its_command() {
    for ground in everywhere("") {
        let mark = mark();
        let order =
            ground.order(&format!("setsid bash -c 'trap \"\" TERM; sleep 700; :' {mark} & sleep 700; : {mark}"));
        let mut driver = ground.driver();
        let mut child = driver.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0).spawn().unwrap();
        child.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
        until("the command", || (processes_with(&mark).len() >= 2).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        until("its end", || processes_with(&mark).is_empty().then_some(()));
    }
}

#[test]
fn a_run_does_not_depend_on_the_thread_that_started_it() {
    use bashgate_run::permit;
    use bashgate_run::presets::Presets;
    use bashgate_run::run::{RunSpec, Runner};
    let ground = Ground::new(Who::Root, "bwrap", "");
    let runner = Runner::new(ground.path().join("bin/bashgate-run"));
    let mut preset = Presets::built_in().for_agent(None, None).unwrap();
    preset.sandbox.require.clear();
    let work = ground.work();
    let first = permit::cage("echo first", None, &preset, &work).unwrap();
    // The thread that runs the first command ends; a sandbox tied to it would end later ones, too.
    std::thread::scope(|scope| {
        scope.spawn(|| runner.run(first, &RunSpec::new(preset.clone(), &work, &work)).unwrap());
    });
    let second = permit::cage("sleep 1; echo second", None, &preset, &work).unwrap();
    let outcome = runner.run(second, &RunSpec::new(preset, &work, &work)).unwrap();
    assert_eq!(outcome.stdout.text, "second\n");
}

#[test]
fn two_hundred_runs_half_of_them_stopped_leave_nothing() {
    use bashgate_run::outcome::Ending;
    use bashgate_run::permit;
    use bashgate_run::presets::Presets;
    use bashgate_run::registry::Stop;
    use bashgate_run::run::{RunSpec, Runner};
    let ground = Ground::new(Who::Root, "bwrap", "");
    let runner = Runner::new(ground.path().join("bin/bashgate-run"));
    let preset = Presets::built_in().for_agent(None, None).unwrap();
    let work = ground.work();
    let mark = mark();
    let groups = || {
        let found = Command::new("find")
            .args(["/sys/fs/cgroup", "-name", &format!("bashgate-run-{}-*", std::process::id())])
            .output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };
    std::thread::scope(|scope| {
        for number in 0..200 {
            let (preset, work, runner, mark) = (preset.clone(), work.clone(), &runner, mark.clone());
            scope.spawn(move || {
                let stop = Stop::new().unwrap();
                let is_stopped = number % 2 == 0;
                let text = if is_stopped { format!("sleep 900; : {mark}") } else { format!("echo {number}; : {mark}") };
                let permit = permit::cage(&text, None, &preset, &work).unwrap();
                let mut spec = RunSpec::new(preset, &work, &work);
                spec.preset.limits.term_grace_ms = 0;
                if is_stopped {
                    let stop = stop.clone();
                    std::thread::spawn(move || {
                        bashgate_tests::pause(Duration::from_millis(300));
                        stop.stop();
                    });
                }
                let outcome = runner.run_until(permit, &spec, &stop).unwrap();
                assert_eq!(outcome.ending, if is_stopped { Ending::Stopped } else { Ending::Exited(0) });
                if !is_stopped {
                    assert_eq!(outcome.stdout.text, format!("{number}\n"));
                }
            });
        }
    });
    assert_eq!(processes_with(&mark), Vec::<String>::new());
    assert_eq!(runner.registry().running(None).len(), 0);
    until("no group", || groups().is_empty().then_some(()));
    let zombies = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    for child in zombies.collect::<String>().split_ascii_whitespace() {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        assert!(!stat.contains("(bwrap) Z"), "{stat}");
    }
}
