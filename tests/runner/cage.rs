//! The cage against a program that tries everything: sockets of all kinds, names, descriptors that were left open, and the
//! way around sockets. On the machine under each backend, and in a container, where there is only Landlock.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bashgate_tests::{Output, bin, repository, until};
use serde_json::{Value, json};

use super::{behind, cages};

/// What the program reaches without a cage, at the least.
const IN_THE_OPEN: [&str; 9] =
    ["tcp", "udp", "a name", "unix", "unix datagram", "unix pair", "abstract", "descriptors", "a file"];

pub(super) fn program(name: &str) -> std::path::PathBuf {
    repository().join("tests/runner/programs").join(name)
}

struct Listener(Child);

impl Listener {
    fn start(reach: &Path, folder: &Path) -> Self {
        let child = Command::new("python3").arg(reach).arg("listen").arg(folder).stdin(Stdio::null()).spawn().unwrap();
        let listener = Self(child);
        until("the listener", || folder.join("ready").exists().then_some(()));
        listener
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("no list: {text}"))
}

#[track_caller]
fn check_control(reached: &[String]) {
    for what in IN_THE_OPEN {
        assert!(reached.iter().any(|found| found == what), "without a cage, {what} is not reached: {reached:?}");
    }
}

#[test]
fn a_program_that_tries_everything_reaches_nothing() {
    for ground in cages() {
        let outside = ground.outside();
        std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o777)).unwrap();
        let reach = ground.write("bin/reach.py", &std::fs::read_to_string(program("reach.py")).unwrap());
        let _listener = Listener::start(&reach, &outside);
        let leaking = || {
            let mut command = ground.as_user(Path::new("python3"));
            command.arg(&reach).arg("leak").arg(&outside);
            command
        };
        let control = Output::of(leaking().arg("python3").arg(&reach).arg("try").arg(&outside), b"").expect(0);
        check_control(&list(&control.stdout));
        let contacts = outside.join("contacts");
        until("the last contact", || {
            let seen = std::fs::read_to_string(&contacts).unwrap_or_default();
            let is_there = |what: &str| seen.lines().any(|line| line == what);
            (seen.matches("unix datagram").count() >= 2 && seen.contains("abstract") && is_there("unix")).then_some(())
        });
        std::fs::remove_file(&contacts).unwrap();
        std::fs::remove_file(outside.join("written")).unwrap();

        let mut driver = leaking();
        driver.arg(ground.path().join("bin/runner-driver"));
        let order = ground.order(&format!("python3 {} try {}", reach.display(), outside.display()));
        let outcome = ground.run_with(driver, &order);
        assert_eq!(outcome["exit_code"], 0, "{}: {outcome:#}", ground.name());
        let mut reached = list(outcome["stdout"].as_str().unwrap());
        if ground.backend == "bwrap" {
            // Into a network of its own, where nobody is; who was reached is seen below.
            reached.retain(|what| !["udp", "a name"].contains(&what.as_str()));
        }
        assert_eq!(reached, Vec::<String>::new(), "{}", ground.name());
        std::thread::sleep(std::time::Duration::from_millis(300));
        // The one connection is the caller's own, which it had left open.
        assert_eq!(std::fs::read_to_string(&contacts).unwrap(), "tcp\n", "{}", ground.name());
        assert!(!outside.join("written").exists());
    }
}

/// A profile that refuses what Docker's refuses: namespaces in every way, and mounts.
fn as_docker_does() -> Value {
    let namespaces = [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
    let mut rules = vec![
        json!({"names": ["unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen"],
               "action": "SCMP_ACT_ERRNO", "errnoRet": 1}),
        json!({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}),
    ];
    rules.extend(namespaces.map(|flag| {
        let has = json!([{"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}]);
        json!({"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": has})
    }));
    json!({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"], "syscalls": rules})
}

/// How podman works in a machine without systemd.
pub(super) const PODMAN: [&str; 4] = ["--runtime", "runc", "--cgroup-manager", "cgroupfs"];

pub(crate) fn podman(arguments: &[&str]) -> Output {
    let mut command = Command::new("podman");
    command.args(PODMAN).args(arguments);
    Output::of(&mut command, b"")
}

/// An image of a container in which there is only Landlock, with folders that are mounted into it.
struct Contained {
    folder: tempfile::TempDir,
    image: String,
}

/// Who somebody is in a container, whose runtime may refuse what Docker's refuses.
const IN_CONTAINERS: [(&str, bool); 4] = [("0:0", false), ("1000:1000", false), ("0:0", true), ("1000:1000", true)];

impl Contained {
    /// With these programs of the tests in `/probe`.
    fn new(programs: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/srv").unwrap();
        let image = format!("localhost/sandbox-test:{}", uuid::Uuid::new_v4().simple());
        let contained = Self { folder, image };
        let path = |name: &str| contained.path(name);
        let tar = path("root.tar");
        Output::of(Command::new("sh").arg(program("rootfs.sh")).arg(&tar), b"").expect(0);
        podman(&["import", tar.to_str().unwrap(), &contained.image]).expect(0);
        std::fs::write(path("profile.json"), as_docker_does().to_string()).unwrap();
        std::fs::create_dir(path("gate")).unwrap();
        super::install(&bin("bashgate-run"), &path("gate/bashgate-run"));
        std::fs::create_dir(path("probe")).unwrap();
        for name in programs {
            std::fs::copy(program(name), path("probe").join(name)).unwrap();
        }
        contained
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Runs words in a container, with `/work` and `/outside` of its own, which are the user's.
    fn run(&self, number: usize, words: &[&str]) -> (String, Output) {
        let (user, like_docker) = IN_CONTAINERS[number];
        let mut arguments: Vec<String> = ["run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024"]
            .into_iter()
            .chain(["--ulimit", "nproc=1024:1024", "--user", user, "--workdir", "/work"])
            .map(str::to_owned)
            .collect();
        for (from, to) in [("probe", "/probe:ro"), ("gate", "/gate:ro"), ("outside", "/outside"), ("work", "/work")] {
            let from = if to.ends_with(":ro") { self.path(from) } else { self.path(&format!("{from}-{number}")) };
            std::fs::create_dir_all(&from).unwrap();
            if !to.ends_with(":ro") {
                std::fs::set_permissions(&from, std::fs::Permissions::from_mode(0o777)).unwrap();
                let id: u32 = user.split(':').next().unwrap().parse().unwrap();
                std::os::unix::fs::chown(&from, Some(id), Some(id)).unwrap();
            }
            arguments.extend(["-v".to_owned(), format!("{}:{to}", from.display())]);
        }
        if like_docker {
            let profile = format!("seccomp={}", self.path("profile.json").display());
            arguments.extend(["--security-opt".to_owned(), profile]);
        }
        arguments.push(self.image.clone());
        arguments.extend(words.iter().map(|word| (*word).to_owned()));
        let output = podman(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        (format!("user {user}, like Docker: {like_docker}"), output)
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        podman(&["rmi", "--force", &self.image]);
    }
}

#[test]
fn in_a_container_landlock_carries_the_cage_alone() {
    let contained = Contained::new(&["reach.py", "in_container.sh"]);
    for number in 0..IN_CONTAINERS.len() {
        let (name, output) = contained.run(number, &["sh", "/probe/in_container.sh"]);
        let part = |from: &str| {
            let rest = output.stdout.split_once(&format!("{from}\n")).unwrap_or_else(|| panic!("{name}: {output:?}")).1;
            let ends = ["CAGED\n", "CONTACTS\n", "LEFT\n", "WORK\n", "DOCTOR\n"];
            let end = ends.iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
            rest[..end].trim().to_owned()
        };
        check_control(&list(&part("CONTROL")));
        assert_eq!(list(&part("CAGED")), Vec::<String>::new(), "{name}: {output:?}");
        assert_eq!(part("CONTACTS"), "tcp", "{name}: {output:?}");
        assert_eq!(part("LEFT"), "0", "{name}: {output:?}");
        assert_eq!(part("WORK"), "6", "{name}: {output:?}");
        let said = std::fs::read_to_string(contained.path(&format!("outside-{number}")).join("said")).unwrap();
        assert!(said.contains("ran without network"), "{name}: {said}");
        let doctor: Value = serde_json::from_str(&part("DOCTOR")).unwrap_or_else(|_| panic!("{name}: {output:?}"));
        let reports = doctor["backends"].as_array().unwrap();
        let landlock = reports.iter().find(|report| report["backend"] == "landlock").unwrap();
        assert_eq!(landlock["unavailable"], Value::Null, "{name}: {landlock:#}");
        for report in reports {
            for finding in report["findings"].as_array().unwrap() {
                assert!(!(finding["claimed"] == true && finding["kept"] == false), "{name}: {finding}");
            }
        }
    }
}

/// The same that `acting.rs` and `escapes.rs` try on the machine, for each user of a container.
#[test]
fn in_a_container_the_cage_leaves_nothing_that_acts_later() {
    let contained = Contained::new(&["left_behind.py"]);
    for (number, (user, _)) in IN_CONTAINERS.iter().enumerate() {
        let home = if *user == "0:0" { "HOME=/root" } else { "HOME=/home/agent" };
        let words =
            ["env", home, "python3", "/probe/left_behind.py", "/work", "/outside", "/gate/bashgate-run", "3010"];
        let (name, output) = contained.run(number, &words);
        leaves_nothing(&name, "landlock", &output);
    }
}

/// On the machine under each backend, and for each user. Landlock carries the cage where there is no bubblewrap.
#[test]
fn on_the_machine_the_cage_leaves_nothing_that_acts_later() {
    for ground in cages() {
        let probe = ground.write("bin/left_behind.py", &std::fs::read_to_string(program("left_behind.py")).unwrap());
        let mut probing = ground.as_user(Path::new("python3"));
        probing.arg(probe).args([ground.work(), ground.outside(), ground.path().join("bin/bashgate-run")]).arg("50010");
        // Nothing of it touches what the machine has there.
        let alone = "mount -t tmpfs none /run && { test \"$1\" = bwrap || mount --bind /dev/null \"$(command -v bwrap)\"; } && shift && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", alone, "sh", ground.backend]);
        let mut command = behind(command, &probing);
        // Whoever runs it there owns the runner, whose mode nothing keeps: so nothing runs. In a container it is mounted read-only.
        let is_refused = ground.backend == "landlock";
        let backend = if is_refused { "refused" } else { ground.backend };
        leaves_nothing(&ground.name(), backend, &Output::of(&mut command, b""));
    }
}

/// Without the cage each case does harm, and in it none.
#[track_caller]
fn leaves_nothing(name: &str, backend: &str, output: &Output) {
    let said: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{name}: {output:?}"));
    assert_eq!(said["backend"], backend, "{name}");
    for (case, done) in said["control"].as_object().unwrap() {
        let without = done.as_array().unwrap();
        assert!(without.len() >= 2, "{name}: {case}: {without:?}");
        assert_eq!(said["caged"][case], json!([]), "{name}: {case}");
    }
}
