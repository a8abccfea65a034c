//! What `make install` and the Debian package put where.

use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, Site, bin, repository};

const PROGRAMS: [&str; 4] = ["bashgate", "bashgate-fleet", "bashgate-hook", "bashgate-run"];

fn make(words: &[&str]) -> Output {
    let mut make = Command::new("make");
    make.arg("--no-print-directory").args(words).current_dir(repository()).env_remove("MAKEFLAGS");
    Output::of(&mut make, b"").expect(0)
}

/// Everything that a person is told about lies there, and starts from there.
fn holds_everything(root: &Path, prefix: &str, man: &str) {
    let at = |path: &str| root.join(prefix.trim_start_matches('/')).join(path);
    for program in PROGRAMS {
        let installed = at(&format!("bin/{program}"));
        assert_eq!(std::fs::read(&installed).unwrap(), std::fs::read(bin(program)).unwrap(), "{program}");
        let version = Output::of(Command::new(&installed).arg("--version"), b"");
        assert!(version.expect(0).stdout.contains(env!("CARGO_PKG_VERSION")));
    }
    for path in [
        &format!("share/man/man1/bashgate-up.{man}"),
        "share/bash-completion/completions/bashgate",
        "share/bash-completion/completions/bashgate-run",
        "share/zsh/site-functions/_bashgate",
        "share/fish/vendor_completions.d/bashgate.fish",
        "lib/systemd/user/bashgate.service",
    ] {
        assert!(at(path).is_file(), "{path}");
    }
    // What a shell completes.
    let completes = "source \"$1\"; COMP_WORDS=(bashgate wor); COMP_CWORD=1; _bashgate bashgate wor bashgate; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", completes, "bash"]).arg(at("share/bash-completion/completions/bashgate"));
    assert_eq!(Output::of(&mut bash, b"").expect(0).stdout.trim(), "workspace");
}

#[test]
fn make_install_puts_everything_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("opt");
    make(&["install", &format!("PREFIX={}", prefix.display())]);
    holds_everything(&prefix, "", "1");
    // As systemd reads it. A unit of a person's own: nothing in it needs root.
    let unit = prefix.join("lib/systemd/user/bashgate.service");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--user", "--man=no"]).arg(&unit).env("XDG_RUNTIME_DIR", folder.path());
    let output = Output::of(&mut verify, b"");
    assert!(!output.stderr.contains("bashgate.service"), "{}", output.stderr);
    let text = std::fs::read_to_string(&unit).unwrap();
    assert!(text.contains(&format!("ExecStart={}/bin/bashgate serve", prefix.display())), "{text}");
}

#[test]
fn the_debian_package_holds_the_same() {
    let said = make(&["deb"]);
    let package =
        said.stdout.split('\'').find(|part| part.strip_suffix(".deb").is_some_and(|name| !name.contains(' '))).unwrap();
    let package = repository().join(package);
    let folder = tempfile::tempdir().unwrap();
    Output::of(Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder.path()), b"").expect(0);
    holds_everything(folder.path(), "/usr", "1.gz");
    let listed = Output::of(Command::new("dpkg-deb").arg("-c").arg(&package), b"").expect(0).stdout;
    assert!(listed.lines().all(|line| line.contains("root/root")), "{listed}");
    let fields = Output::of(Command::new("dpkg-deb").arg("-f").arg(&package), b"").expect(0).stdout;
    assert!(fields.contains("Package: bashgate\n") && fields.contains(env!("CARGO_PKG_VERSION")), "{fields}");
}

/// The host runs without a terminal, as a unit's program does, and what the unit forbids it does not need.
#[test]
fn the_host_runs_without_a_terminal_and_with_what_the_unit_leaves() {
    let site = Site::default();
    let mut command = Command::new("setpriv");
    command.args(["--no-new-privs", "setsid", "--wait"]).arg(bin("bashgate")).arg("serve").arg("--config");
    command.arg(site.host_toml()).env_clear().env("HOME", site.path()).stdin(std::process::Stdio::null());
    let (mut host, ready) = bashgate_tests::Host::try_start(&mut command);
    assert!(ready, "{}", host.said.lock().unwrap());
    assert!(site.cli(["pending"]).expect(0).stdout.to_lowercase().contains("nothing"));
    host.terminate();
}

/// The bugs that tests plant are in no program that is handed out, whichever features somebody turns on.
#[test]
fn no_release_has_the_bugs_of_the_tests() {
    let target = tempfile::tempdir().unwrap();
    let mut check = Command::new(env!("CARGO"));
    check.args(["check", "--locked", "--offline", "--profile", "hook", "-p", "bashgate-hook"]);
    check.args(["--features", "bashgate-shared/planted-bug", "--target-dir"]).arg(target.path());
    let output = Output::of(check.current_dir(repository()).env_remove("RUSTC_WORKSPACE_WRAPPER"), b"");
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("built with the bugs of the tests"), "{}", output.stderr);
}

/// Who runs one machine has nothing of a fleet's database or of telemetry in what he runs: that is in the program beside it.
#[test]
fn only_the_fleets_own_program_knows_postgresql_and_opentelemetry() {
    let built_of = |package: &str| {
        let words = ["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--package", package];
        Output::of(Command::new(env!("CARGO")).args(words).current_dir(repository()), b"").expect(0).stdout
    };
    let knows = |all: &str| ["postgres", "opentelemetry"].map(|part| all.lines().any(|line| line.contains(part)));
    for package in ["bashgate", "bashgate-hook", "bashgate-run"] {
        let all = built_of(package);
        assert!(all.contains("bashgate-shared"), "{all}");
        assert_eq!(knows(&all), [false, false], "{package}: {all}");
    }
    assert_eq!(knows(&built_of("bashgate-fleet")), [true, true]);
}
