//! For every backend: what it claims is what it keeps. The doctor's own probes, as root and as an ordinary user.

use bashgate_tests::Output;
use serde_json::Value;

use super::{Ground, MATRIX, Who};

fn diagnosis(ground: &Ground, arguments: &[&str]) -> Value {
    let program = ground.path().join("bin/bashgate-run");
    let mut doctor = ground.as_user(&program);
    let output =
        Output::of(doctor.arg("doctor").arg("--json").args(arguments).current_dir(ground.path().join("home")), b"");
    assert_eq!(output.code, Some(0), "{}: {output:?}", ground.name());
    serde_json::from_str(&output.stdout).unwrap()
}

/// What each backend must claim here, so that a claim cannot quietly be dropped.
const OF_BWRAP: &str = "writes file_modes gate_modes secrets git_metadata network socket_families unix_sockets abstract_sockets signals \
    process_list kill_tree private_tmp descriptors privileges terminal kernel_surface";
const OF_LANDLOCK: &str = "writes secrets network socket_families unix_sockets abstract_sockets signals kill_tree descriptors privileges terminal kernel_surface";

#[test]
fn what_is_claimed_is_enforced() {
    for (who, backend) in MATRIX.into_iter().chain([(Who::Root, "none"), (Who::User, "none")]) {
        let ground = Ground::new(who, backend, "");
        let found = diagnosis(&ground, &["--sandbox", backend]);
        let report = &found["backends"][0];
        assert_eq!(report["unavailable"], Value::Null, "{}: {report:#}", ground.name());
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 19);
        let claims: Vec<&str> = findings
            .iter()
            .filter(|one| one["claimed"] == true)
            .map(|one| one["guarantee"].as_str().unwrap())
            .collect();
        for one in findings {
            assert!(one["claimed"] == false || one["kept"] == true, "{}: claimed and not kept: {one}", ground.name());
        }
        let mut wanted: Vec<&str> = match backend {
            "bwrap" => OF_BWRAP.split_ascii_whitespace().collect(),
            "landlock" => OF_LANDLOCK.split_ascii_whitespace().collect(),
            "firejail" => {
                OF_LANDLOCK.split_ascii_whitespace().chain(["file_modes", "gate_modes", "process_list"]).collect()
            }
            _ => vec!["descriptors"],
        };
        if who == Who::Root {
            // Only root can make control groups here.
            wanted.extend(["memory", "processes"]);
        }
        wanted.sort_unstable();
        let mut claims = claims;
        claims.sort_unstable();
        assert_eq!(claims, wanted, "{}", ground.name());
    }
}

#[test]
fn the_probes_find_what_is_open() {
    // Without a sandbox nearly everything can be done: a probe that could not fail would be seen here.
    let ground = Ground::new(Who::User, "none", "");
    let found = diagnosis(&ground, &["--sandbox", "none"]);
    let broken: Vec<&str> = found["backends"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kept"] == false)
        .map(|one| one["guarantee"].as_str().unwrap())
        .collect();
    for guarantee in [
        "writes",
        "file_modes",
        "gate_modes",
        "secrets",
        "git_metadata",
        "network",
        "socket_families",
        "unix_sockets",
        "abstract_sockets",
        "signals",
        "process_list",
        "kill_tree",
        "private_tmp",
        "privileges",
        "kernel_surface",
    ] {
        assert!(broken.contains(&guarantee), "{guarantee} held without a sandbox: {found:#}");
    }
}
