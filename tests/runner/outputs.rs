//! Output: floods, binaries, order, and what is left of them.

use serde_json::json;

use super::{Ground, Who, behind, everywhere};

#[test]
fn a_gigabyte_is_counted_exactly_in_little_memory() {
    let ground = Ground::new(Who::User, "bwrap", "[presets.p.limits]\ntimeout_s = 300");
    let count: u64 = 1 << 30;
    let mut order =
        ground.order("yes 0123456789abcde | head -c 1G; yes 0123456789abcde | head -c 64M >&2; echo; echo the end");
    order["seconds"] = json!(300);
    // GNU time is not everywhere: the runner's own highest memory is asked of the kernel when it ends.
    let mut driver = std::process::Command::new("python3");
    let measure = "import os, sys\npid = os.fork()\nif pid == 0: os.execvp(sys.argv[1], sys.argv[1:])\n_, status, usage = os.wait4(pid, 0)\nprint('MAXRSS', usage.ru_maxrss, file=sys.stderr)\n";
    driver.args(["-c", measure]);
    let mut driver = behind(driver, &ground.driver());
    driver.current_dir(ground.path());
    let output = bashgate_tests::Output::of(&mut driver, order.to_string().as_bytes());
    let outcome: serde_json::Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(outcome["stdout_bytes"], count + 9, "{}", outcome["ending"]);
    assert_eq!(outcome["stderr_bytes"], 64 << 20);
    assert!(outcome["stdout"].as_str().unwrap().ends_with("abcde\n\nthe end\n"), "the tail is right");
    assert_eq!(outcome["truncated"], true);
    let kib: u64 = output.stderr.lines().find_map(|line| line.strip_prefix("MAXRSS ")).unwrap().parse().unwrap();
    println!("highest memory of the runner after 1 GiB: {kib} KiB");
    assert!(kib <= 16 * 1024, "{kib} KiB");
}

#[test]
fn combined_streams_keep_their_order() {
    for ground in everywhere("[presets.p.output]\nstreams = \"combined\"") {
        let got = ground.prints("for i in $(seq 500); do echo o$i; echo e$i >&2; done");
        let want = (1..=500).map(|i| format!("o{i}\ne{i}\n")).collect::<Vec<_>>().concat();
        assert!(got == want, "{}", ground.name());
    }
}

#[test]
fn binary_output_is_handled() {
    for ground in everywhere("") {
        let outcome = ground.run("printf 'a\\0b\\377\\360\\237'; printf '\\360\\237\\230\\200' >&2");
        assert_eq!(outcome["stdout"], "a\0b\u{fffd}\u{fffd}", "{}", ground.name());
        assert_eq!(outcome["stderr"], "😀");
    }
}

#[test]
fn nothing_waits_for_input() {
    for ground in everywhere("") {
        let outcome = ground.run("read x; echo read: $?; cat; sudo -n true 2>/dev/null; echo sudo: $?");
        let text = outcome["stdout"].as_str().unwrap();
        assert!(text.starts_with("read: 1\nsudo: ") && !text.contains("sudo: 0"), "{}: {outcome:#}", ground.name());
    }
}
