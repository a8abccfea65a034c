//! Ways out of the sandbox, each tried for real.

use std::collections::BTreeMap;
use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;

use bashgate_tests::until;

use super::{Ground, MATRIX, Who, behind, compiled, everywhere, install, mark, processes_with};
use serde_json::json;

/// What each attempt of `attempts.c` came to.
fn attempts(ground: &Ground) -> BTreeMap<String, String> {
    install(&compiled("attempts"), &ground.work().join("attempts"));
    let text = ground.prints("./attempts");
    text.lines().filter_map(|line| line.split_once(' ')).map(|(name, got)| (name.to_owned(), got.to_owned())).collect()
}

#[test]
fn refused_calls_are_refused_everywhere() {
    for ground in everywhere("[presets.p.network]\naccess = \"never\"\nunix_sockets = \"none\"") {
        let got = attempts(&ground);
        let refused = [
            "unix",
            "vsock",
            "netlink",
            "packet",
            "alg",
            "bluetooth",
            "pair-datagram",
            "fast-open",
            "fast-open-message",
            "fast-open-messages",
            "io-uring",
            "ptrace",
            "bpf",
            "perf",
            "userfaultfd",
            "keyctl",
            "mount",
            "unshare-user",
            "unshare-net",
            "clone-user",
            "setuid-mode",
            "lease",
            "notify",
            "limits-of-others",
        ];
        for name in refused {
            assert_eq!(got[name], "EPERM", "{}: {name}: {got:?}", ground.name());
        }
        assert_eq!((&*got["pair-stream"], &*got["own-limits"]), ("done", "done"), "{}", ground.name());
        // Queues and memory without a file are the machine's, unless there is a namespace for them.
        if ground.backend == "bwrap" {
            assert_eq!(got["shared-memory"], "done", "{}", ground.name());
        } else {
            assert_eq!((&*got["shared-memory"], &*got["queue"]), ("EPERM", "EPERM"), "{}", ground.name());
        }
        assert_eq!((got["clone3"].as_str(), got["x32"].as_str()), ("ENOSYS", "ENOSYS"), "{}", ground.name());
        assert_eq!(got["int80"], "killed", "{}", ground.name());
        assert_ne!(got["tty"], "done", "{}", ground.name());
        assert_eq!((got["tiocsti"].as_str(), got["tioclinux"].as_str()), ("EPERM", "EPERM"), "{}", ground.name());
        assert_ne!(got["core-pattern"], "done", "{}", ground.name());
        // A network of its own has a loopback of its own.
        assert_eq!(got["inet"], if ground.backend == "bwrap" { "done" } else { "EPERM" }, "{}", ground.name());
    }
}

#[test]
fn root_cannot_change_the_kernel_or_remount() {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    for ground in everywhere("") {
        let tries = "printf '%s' \"$(cat /proc/sys/kernel/core_pattern)\" > /proc/sys/kernel/core_pattern; \
                     mount -o remount,rw,bind /usr; mount -o remount,rw /; touch /usr/planted; echo over";
        let outcome = ground.run_script(tries);
        assert_eq!(outcome["stdout"], "over\n", "{}: {outcome:#}", ground.name());
        assert!(outcome["stderr"].as_str().unwrap().contains("core_pattern: "), "{outcome:#}");
        assert!(!std::path::Path::new("/usr/planted").exists());
    }
    assert_eq!(fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap(), pattern);
}

#[test]
fn inherited_descriptors_are_gone() {
    for ground in everywhere("") {
        let victim = ground.write("outside/victim", "untouched");
        // What a careless caller leaves open: the root folder, a file for writing, a socket.
        let mut driver = Command::new("bash");
        let exec = format!("exec 9</ 10>>{} 11<>/dev/null; exec \"$@\"", victim.display());
        driver.args(["-c", &exec, "bash"]);
        let mut driver = behind(driver, &ground.driver());
        driver.current_dir(ground.path());
        let mut order =
            ground.order("ls -l /proc/self/fd | wc -l; echo x > /proc/self/fd/9/srv/planted; echo x >&10; echo over");
        order["env"] = json!({});
        let outcome = ground.run_with(driver, &order);
        // The three standard ones, the folder that ls reads, and the line with the total.
        assert_eq!(outcome["stdout"], "5\nover\n", "{}: {outcome:#}", ground.name());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched", "{}", ground.name());
        assert!(!std::path::Path::new("/srv/planted").exists());
    }
}

#[test]
fn unix_sockets_of_others_are_out_of_reach() {
    for (who, backend) in MATRIX {
        let ground = Ground::new(who, backend, "[presets.p.network]\naccess = \"never\"\nunix_sockets = \"own\"");
        let in_run = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/run").unwrap();
        fs::set_permissions(in_run.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let path = in_run.path().join("sock");
        let elsewhere = ground.outside().join("sock");
        let _listening = [&path, &elsewhere].map(|path| {
            let listener = UnixListener::bind(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
            listener
        });
        let name = mark();
        let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let program = "import socket, sys\n\
            for path in sys.argv[1:]:\n    path = path.replace('@', '\\0')\n    try:\n        s = socket.socket(socket.AF_UNIX); s.connect(path); print('connected')\n    except OSError as error: print(error.errno)\n";
        ground.write("work/reach.py", program);
        let got = ground.prints(&format!("python3 reach.py {} {} @{name}", path.display(), elsewhere.display()));
        let got: Vec<&str> = got.lines().collect();
        let want = match backend {
            // No such file; nobody in this network; the same.
            "bwrap" => ["2", "111", "111"],
            // Somebody else's, twice; a name that is nobody's here.
            "landlock" => ["13", "13", "111"],
            _ => ["1", "1", "1"],
        };
        assert_eq!(got, want, "{}", ground.name());
    }
}

#[test]
fn abstract_sockets_stay_out_of_reach_with_network() {
    // The host's network, and still not its abstract sockets: by Landlock's scope, or because there are no unix sockets.
    for (who, backend) in [(Who::Root, "bwrap"), (Who::User, "bwrap"), (Who::Root, "landlock"), (Who::User, "landlock")]
    {
        let ground = Ground::new(who, backend, "");
        let name = mark();
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let program = format!(
            "import socket\ntry:\n    s = socket.socket(socket.AF_UNIX); s.connect('\\0{name}'); print('connected')\nexcept OSError as error: print(error.errno)\n"
        );
        ground.write("work/reach.py", &program);
        assert_eq!(ground.prints("python3 reach.py"), "111\n", "{}", ground.name());
    }
}

/// A listener outside of every sandbox, that notes each connection.
struct Canary(std::process::Child);

impl Canary {
    /// In a folder, at a relative name, in the network namespace of this test or in one of its own.
    fn listens(folder: &Path, name: &str, apart: bool) -> Self {
        let text = format!(
            "import os, socket\ns = socket.socket(socket.AF_UNIX); s.bind('{name}'); os.chmod('{name}', 0o777); s.listen(64)\n\
             open('{name}.ready', 'w').close()\nwhile True:\n    s.accept(); open('{name}.reached', 'a').close()\n"
        );
        let mut command = if apart { Command::new("unshare") } else { Command::new("python3") };
        if apart {
            command.args(["-n", "python3"]);
        }
        let child = command.args(["-c", &text]).current_dir(folder).spawn().unwrap();
        until("the canary", || folder.join(format!("{name}.ready")).exists().then_some(()));
        Self(child)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Those that supervise unix sockets.
const SUPERVISED: [(Who, &str); 4] =
    [(Who::Root, "bwrap"), (Who::User, "bwrap"), (Who::Root, "landlock"), (Who::User, "landlock")];
const OWN_SOCKETS: &str = "unix_sockets = \"own\"";

#[test]
fn sockets_of_others_are_known_whatever_they_are_called() {
    for network in ["never", "always"] {
        for (who, backend) in SUPERVISED {
            let more = format!("[presets.p.network]\naccess = \"{network}\"\n{OWN_SOCKETS}");
            let ground = Ground::new(who, backend, &more);
            let work = ground.work();
            let _canaries =
                [("relative", false), ("moved", false), ("linked", false), ("apart", true), ("late", false)]
                    .map(|(name, apart)| Canary::listens(&work, name, apart));
            fs::rename(work.join("moved"), work.join("m2")).unwrap();
            symlink(work.join("linked"), work.join("l2")).unwrap();
            fs::hard_link(work.join("linked"), work.join("h2")).unwrap();
            ground.write(
                "work/reach.py",
                "import os, socket, sys\n\
                 os.makedirs('sub', exist_ok=True)\n\
                 os.rename('late', 'sub/late2')\n\
                 here = os.getcwd()\n\
                 names = ['relative', './relative', here + '/relative', '/proc/self/cwd/relative', 'm2', 'l2', 'h2', 'apart', 'sub/late2', 'sub/../relative']\n\
                 for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:\n    for name in names:\n        s = socket.socket(socket.AF_UNIX, kind)\n        s.setblocking(kind == socket.SOCK_STREAM)\n\
                 \x20       try: s.connect(name); print('reached', name)\n        except OSError as error: pass\n\
                 for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:\n    try: socket.socket(socket.AF_UNIX, kind); print('datagram')\n    except OSError as error: assert error.errno == 1\n    try: socket.socketpair(socket.AF_UNIX, kind); print('pair')\n    except OSError as error: assert error.errno == 1\n\
                 print('over')\n",
            );
            assert_eq!(ground.prints("python3 reach.py"), "over\n", "{} {network}", ground.name());
            for name in ["relative", "moved", "linked", "apart", "late"] {
                let reached = work.join(format!("{name}.reached"));
                assert!(!reached.exists(), "{} {network}: {name} was reached", ground.name());
            }
        }
    }
}

#[test]
fn a_runs_own_sockets_work() {
    for network in ["never", "always"] {
        for (who, backend) in SUPERVISED {
            let more = format!("[presets.p.network]\naccess = \"{network}\"\n{OWN_SOCKETS}");
            let ground = Ground::new(who, backend, &more);
            ground.write(
                "work/own.py",
                "import multiprocessing, os, socket, sys, threading\n\
                 def serve(s):\n    while True:\n        c, _ = s.accept(); c.sendall(c.recv(9)); c.close()\n\
                 def talk(name):\n    s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(name); s.sendall(b'ping'); return s.recv(9) == b'ping'\n\
                 os.mkdir('d')\n\
                 servers = []\n\
                 for name in ['a', 'd/b', '\\0' + os.getcwd(), os.environ.get('TMPDIR', '/tmp') + '/c']:\n    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen(64); servers.append(name)\n    threading.Thread(target=serve, args=(s,), daemon=True).start()\n\
                 print([talk(name) for name in servers])\n\
                 os.rename('a', 'a2'); os.symlink('a2', 'a3')\n\
                 os.chdir('d'); print(talk('../a3'), talk('b'), talk('/proc/self/cwd/b')); os.chdir('..')\n\
                 child = os.fork()\n\
                 if child == 0:\n    ok = all(talk(name) for name in ['a2', 'd/b'] * 20); os._exit(0 if ok else 1)\n\
                 print(os.waitpid(child, 0)[1])\n\
                 gone = socket.socket(socket.AF_UNIX); gone.bind('g'); gone.listen(); gone.close()\n\
                 for name, want in [('g', 111), ('nowhere', 2), ('own.py', 111), ('', 22)]:\n    try: socket.socket(socket.AF_UNIX).connect(name); print('connected', name)\n    except OSError as error: print(error.errno == want)\n\
                 many = [threading.Thread(target=lambda: [talk('a2') for _ in range(20)]) for _ in range(16)]\n\
                 [t.start() for t in many]; [t.join() for t in many]\n\
                 print('over')\n",
            );
            let got = ground.prints("timeout 60 python3 own.py");
            let want = "[True, True, True, True]\nTrue True True\n0\nTrue\nTrue\nTrue\nTrue\nover\n";
            assert_eq!(got, want, "{} {network}", ground.name());
        }
    }
}

#[test]
fn an_address_that_changes_while_it_is_judged_leads_nowhere_else() {
    for (who, backend) in SUPERVISED {
        let ground = Ground::new(who, backend, "[presets.p.network]\naccess = \"never\"\nunix_sockets = \"own\"");
        let work = ground.work();
        let _canary = Canary::listens(&work, "theirs", false);
        install(&compiled("swap"), &work.join("swap"));
        let got = ground.prints("./swap mine_1 theirs 500");
        // Connections to its own server, which shows that there was something to race with.
        let own: u32 = got.trim().parse().unwrap();
        assert!(own > 20, "{}: {got}", ground.name());
        assert!(!work.join("theirs.reached").exists(), "{}: the other one was reached", ground.name());
    }
}

#[test]
fn nothing_is_reached_over_the_network() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    for ground in everywhere("[presets.p.network]\naccess = \"never\"") {
        let program = format!(
            "import socket\nfor family, kind, where in [(2,1,('127.0.0.1',{port})),(2,2,('127.0.0.1',53)),(2,1,('192.0.2.1',80)),(10,1,('::1',{port}))]:\n\
             \x20   try:\n        s = socket.socket(family, kind); s.settimeout(1); s.connect(where); s.send(b'x'); print('reached', where)\n    except OSError as error: print('refused')\n\
             try:\n    socket.getaddrinfo('localhost.example.com', 80); print('resolved')\nexcept OSError: print('unresolved')\n"
        );
        ground.write("work/reach.py", &program);
        let got = ground.prints("python3 reach.py; curl -sS --max-time 2 http://127.0.0.1:1 2>&1 | head -c 5");
        // A datagram socket connects without a packet, to a loopback where nobody listens.
        assert!(!got.replace("reached ('127.0.0.1', 53)", "").contains("reached"), "{}: {got}", ground.name());
        assert!(got.contains("unresolved"), "{}: {got}", ground.name());
    }
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "somebody connected");
}

#[test]
fn devices_work_and_shared_memory_is_bounded() {
    for ground in everywhere("[presets.p.filesystem]\ntmp_mib = 64") {
        let got = ground.prints(
            ": > /dev/null && echo x 2>/dev/null && head -c 4 /dev/urandom | wc -c && head -c 3 /dev/zero | wc -c",
        );
        assert_eq!(got, "x\n4\n3\n", "{}", ground.name());
        if ground.backend == "bwrap" {
            let outcome = ground.run("head -c 100M /dev/zero > /dev/shm/big; head -c 100M /dev/zero > /tmp/big");
            assert_eq!(outcome["stderr"].as_str().unwrap().matches("No space left").count(), 2, "{outcome:#}");
        }
    }
}

#[test]
fn any_folder_can_be_a_workspace() {
    for ground in everywhere("") {
        let base = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/tmp").unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["plain", "with space", "-dash", "new\nline", "ünï¢ode", "quote'\""] {
            if ground.backend == "firejail" && name.contains(['\n', '"']) {
                // Firejail refuses such characters in a path, and so the run.
                continue;
            }
            let folder = base.path().join(name);
            fs::create_dir(&folder).unwrap();
            ground.give(&folder);
            let mut order = ground.order("pwd > here && echo done");
            order["workspace"] = json!(folder);
            let outcome = ground.run_order(&order);
            assert_eq!(outcome["stdout"], "done\n", "{} {name:?}: {outcome:#}", ground.name());
            assert_eq!(fs::read_to_string(folder.join("here")).unwrap(), format!("{}\n", folder.display()));
        }
    }
}

#[test]
fn a_workspace_behind_a_link_is_refused_before_the_start() {
    for ground in everywhere("") {
        symlink(ground.outside(), ground.path().join("out")).unwrap();
        let mut order = ground.order("touch planted");
        order["workspace"] = json!(ground.path().join("out"));
        let outcome = ground.run_order(&order);
        assert!(
            outcome["error"].as_str().unwrap().contains("it is a link, or lies behind one; it leads to"),
            "{outcome:#}"
        );
        assert!(!ground.outside().join("planted").exists());
        for system in ["/", "/etc", "/usr", "/proc/self"] {
            order["workspace"] = json!(system);
            assert!(ground.run_order(&order)["error"].is_string(), "{system}");
        }
    }
}

/// Something that goes on until the test is over, however that ends.
struct Flipper(std::process::Child);

impl Flipper {
    fn start(program: &Path, one: &Path, other: &Path) -> Self {
        Self(Command::new(program).args([one, other]).spawn().unwrap())
    }
}

impl Drop for Flipper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_workspace_that_is_swapped_while_it_is_mounted_is_never_written_elsewhere() {
    // 2,000 launches in all; each place of the matrix has its own flipper, and two work at a time.
    let matrix = [(Who::Root, "bwrap"), (Who::User, "bwrap"), (Who::User, "landlock"), (Who::Root, "landlock")];
    let flip = compiled("flip");
    let flip = &flip;
    std::thread::scope(|scope| {
        for half in matrix.chunks(2) {
            let each = || half.iter().for_each(|(who, backend)| swapped_while_it_is_mounted(*who, backend, flip, 500));
            scope.spawn(each);
        }
    });
}

fn swapped_while_it_is_mounted(who: Who, backend: &'static str, flip: &Path, launches: usize) {
    let ground = Ground::new(who, backend, "");
    symlink(ground.outside(), ground.path().join("link")).unwrap();
    let flipper = Flipper::start(flip, &ground.work(), &ground.path().join("link"));
    let (mut ran, mut refused) = (0, 0);
    // What it would reach if the link were followed, by either name.
    let command = format!("touch {}/planted; touch {}/planted", ground.work().display(), ground.outside().display());
    for _ in 0..launches {
        let mut order = ground.order(&command);
        order["cwd"] = json!("/");
        let outcome = ground.run_order(&order);
        if outcome["error"].is_string() {
            refused += 1;
        } else {
            ran += 1;
        }
        assert!(!ground.outside().join("planted").exists(), "{}: escaped: {outcome:#}", ground.name());
    }
    drop(flipper);
    assert!(refused > 0 && ran + refused == launches, "{}: {ran} ran, {refused} refused", ground.name());
    println!("{}: {ran} ran, {refused} refused", ground.name());
}

/// A folder that may be written inside of a protected place is mounted by its name, too.
#[test]
fn a_repository_that_is_swapped_while_it_is_mounted_changes_nothing_elsewhere() {
    let flip = compiled("flip");
    for who in [Who::Root, Who::User] {
        let ground = Ground::new(who, "bwrap", "[presets.p.git]\nrepository = \"write\"");
        fs::write(ground.outside().join("kept"), "kept").unwrap();
        fs::set_permissions(ground.outside().join("kept"), fs::Permissions::from_mode(0o640)).unwrap();
        for name in ["config", "hooks"] {
            fs::create_dir(ground.outside().join(name)).unwrap();
        }
        let mut flipper = repository_and_link(&ground, &flip);
        let before = fs::metadata(ground.outside().join("kept")).unwrap();
        let command = "chmod 666 .git/kept link/kept; touch -d 2001-01-01 .git/kept link/kept; echo x > .git/new";
        let (mut ran, mut refused) = (0, 0);
        for _ in 0..200 {
            let outcome = ground.run_script(command);
            if outcome["error"].is_string() {
                refused += 1;
            } else {
                ran += 1;
            }
            let now = fs::metadata(ground.outside().join("kept")).unwrap();
            let same = (now.mode(), now.mtime()) == (before.mode(), before.mtime());
            assert!(same && !ground.outside().join("new").exists(), "{}: {outcome:#}", ground.name());
            // Where a run set one of the two names aside, nothing is swapped any more.
            let mut names = fs::read_dir(ground.work()).unwrap().map(|entry| entry.unwrap().file_name());
            if names.any(|name| name.to_string_lossy().contains(".set-aside-")) {
                drop(flipper);
                flipper = repository_and_link(&ground, &flip);
            }
        }
        drop(flipper);
        println!("{}: {ran} ran, {refused} refused", ground.name());
        assert!(ran > 0 && refused > 0, "{}: {ran} ran, {refused} refused", ground.name());
    }
}

/// An empty workspace but for a repository and a link to the outside, which are swapped from now on.
fn repository_and_link(ground: &Ground, flip: &Path) -> Flipper {
    let work = ground.work();
    for entry in fs::read_dir(&work).unwrap().map(Result::unwrap) {
        let is_folder = entry.file_type().unwrap().is_dir();
        let remove = if is_folder { fs::remove_dir_all } else { fs::remove_file };
        remove(&entry.path()).unwrap();
    }
    fs::create_dir_all(work.join(".git/hooks")).unwrap();
    fs::write(work.join(".git/config"), "").unwrap();
    // A link that leads the same way from wherever the whole machine is mounted.
    let up = "../".repeat(work.components().count() - 1);
    symlink(format!("{up}{}", ground.outside().display()).replace("//", "/"), work.join("link")).unwrap();
    for path in [".git", ".git/hooks", ".git/config", "link"] {
        ground.give(&work.join(path));
    }
    Flipper::start(flip, &work.join(".git"), &work.join("link"))
}

/// Root hands over to whoever owns the workspace. That one swaps it for root's own folder.
#[test]
fn root_never_works_for_a_user_in_roots_folders() {
    let flip = compiled("flip");
    for backend in ["bwrap", "landlock"] {
        let ground = Ground::new(Who::User, backend, "");
        let owned = ground.path().join("owned");
        fs::create_dir(&owned).unwrap();
        symlink(&owned, ground.path().join("link")).unwrap();
        let flipper = Flipper::start(&flip, &ground.work(), &ground.path().join("link"));
        for _ in 0..150 {
            let mut root = Command::new(ground.path().join("bin/runner-driver"));
            root.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/root");
            let mut order = ground.order(&format!(
                "touch {0}/planted; touch {1}/planted",
                owned.display(),
                ground.work().display()
            ));
            order["cwd"] = json!("/");
            let outcome = ground.run_with(root, &order);
            assert!(outcome["error"].is_string() || outcome["sandbox"]["user"]["as"] == "owner", "{outcome:#}");
            assert!(!owned.join("planted").exists(), "{}: {outcome:#}", ground.name());
        }
        drop(flipper);
    }
}

#[test]
fn a_hard_link_to_a_file_outside_is_reported() {
    for ground in everywhere("") {
        let victim = ground.write("outside/victim", "before\n");
        fs::hard_link(&victim, ground.work().join("linked")).unwrap();
        let outcome = ground.run("echo after >> linked");
        // No sandbox can tell the names of a file apart: it is written, and said.
        assert_eq!(fs::read_to_string(&victim).unwrap(), "before\nafter\n");
        let violations = outcome["violations"].to_string();
        assert!(violations.contains("written_through_hard_link"), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn nothing_outside_is_written_and_its_modes_stay() {
    for ground in everywhere("") {
        let victim = ground.write("outside/victim", "untouched");
        let before = fs::metadata(&victim).unwrap();
        let there = ground.outside();
        let there = there.display();
        let outcome = ground.run(&format!(
            "echo x > {there}/victim; echo x >> {there}/victim; : > {there}/victim; truncate -s 0 {there}/victim; rm -f {there}/victim; \
             mv {there}/victim {there}/other; ln {there}/victim linked; mkdir {there}/new; ln -s x {there}/sym; mkfifo {there}/fifo; \
             chmod 777 {there}/victim; touch -d 2001-01-01 {there}/victim; echo over"
        ));
        assert_eq!(outcome["stdout"], "over\n", "{}", ground.name());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched", "{}", ground.name());
        assert_eq!(fs::read_dir(ground.outside()).unwrap().count(), 1, "{}", ground.name());
        let after = fs::metadata(&victim).unwrap();
        let kept = (before.mode(), before.mtime()) == (after.mode(), after.mtime());
        let claimed = outcome["sandbox"]["enforces"].as_array().unwrap().contains(&json!("file_modes"));
        assert_eq!(kept, claimed, "{}: modes kept, and said so", ground.name());
    }
}

#[test]
fn a_missing_protected_file_leaves_no_ghost() {
    for ground in everywhere("") {
        ground.run("echo hello");
        assert_eq!(fs::read_dir(ground.work()).unwrap().count(), 0, "{}", ground.name());
    }
}

#[test]
fn a_protected_file_is_kept_or_its_change_reported() {
    for ground in everywhere("") {
        ground.write("work/.envrc", "before");
        let outcome = ground.run("echo after > .envrc; mkdir .vscode; echo x > .vscode/tasks.json");
        let violations = outcome["violations"].to_string();
        assert!(violations.contains(".vscode/tasks.json"), "{}: {outcome:#}", ground.name());
        let kept = fs::read_to_string(ground.work().join(".envrc")).unwrap() == "before";
        assert!(kept || violations.contains(".envrc"), "{}: {outcome:#}", ground.name());
        if ground.backend == "bwrap" {
            assert!(kept, "{}", ground.name());
        }
    }
}

#[test]
fn secrets_are_unreadable() {
    for ground in everywhere("") {
        let state = ground.write("state/key", "the runner's own");
        ground.write("home/.ssh/id_ed25519", "a private key");
        ground.write("home/.aws/credentials", "aws");
        ground.write("home/readable", "fine");
        let home = ground.path().join("home");
        let home = home.display();
        let mut order = ground.order(&format!(
            "cat {home}/.ssh/id_ed25519 {home}/.aws/credentials /etc/shadow {} ; cp -r {home}/.ssh stolen; ln -s {home}/.ssh/id_ed25519 l; cat l; cat {home}/readable",
            state.display()
        ));
        order["gate"] = json!([state]);
        let outcome = ground.run_order(&order);
        assert_eq!(outcome["stdout"], "fine", "{}: {outcome:#}", ground.name());
        assert!(!ground.work().join("stolen/id_ed25519").exists());
    }
}

/// Editors replace files instead of changing them, and a secret may come into being while a command runs.
#[test]
fn a_secret_that_is_replaced_or_made_during_a_run_stays_unreadable() {
    for (who, backend) in MATRIX.into_iter().filter(|(_, backend)| *backend != "firejail") {
        let ground = Ground::new(who, backend, "");
        ground.write("home/.netrc", "old");
        ground.write("home/.ssh/id_ed25519", "old");
        ground.write("home/notes", "fine");
        let command = "touch started; until test -e go; do sleep 0.02; done; cat ~/.netrc ~/.ssh/id_ed25519 ~/.ssh-old/id_ed25519 ~/.pypirc ~/.aws/credentials; cat ~/notes";
        let outcome = std::thread::scope(|scope| {
            let running = scope.spawn(|| ground.run(command));
            until("the start", || ground.work().join("started").exists().then_some(()));
            ground.write("home/.netrc.new", "secret");
            fs::rename(ground.path().join("home/.netrc.new"), ground.path().join("home/.netrc")).unwrap();
            fs::rename(ground.path().join("home/.ssh"), ground.path().join("home/.ssh-old")).unwrap();
            ground.write("home/.ssh/id_ed25519", "secret");
            ground.write("home/.pypirc", "secret");
            ground.write("home/.aws/credentials", "secret");
            ground.write("work/go", "");
            running.join().unwrap()
        });
        assert_eq!(outcome["stdout"], "fine", "{}: {outcome:#}", ground.name());
    }
}

/// Git's hooks for the trailer run in every commit, so no command may write them, whoever it runs as.
#[test]
fn the_runners_own_folders_are_not_written_by_commands() {
    let preset = "[presets.p.git]\nrepository = \"write\"\ntrailer = \"Co-authored-by: A <a@example.org>\"\n\
                  [presets.p.filesystem]\ntmp = \"shared\"";
    for ground in everywhere(preset) {
        let state = ground.path().join("home/.local/state/bashgate-run");
        let script = "p=$(git config core.hooksPath); ls $p | wc -l; touch $p/x; echo x > $p/pre-commit; chmod 777 $p $p/*; rm -rf $p; mv $p /tmp/away; ls $p | wc -l";
        let lines = ground.run_script(&format!("{script}\ntouch {0}/x {0}/hooks/x; ls {0}", state.display()));
        // Only namespaces take away names, too; what is behind them is hidden everywhere.
        let listed = if ground.backend == "bwrap" { "hooks\n" } else { "hooks\nturns\nturns.lock\nwatch\n" };
        assert_eq!(lines["stdout"], format!("14\n14\n{listed}"), "{}: {lines:#}", ground.name());
        assert_eq!(fs::read_dir(state.join("hooks")).unwrap().count(), 0, "{}: it is gone afterwards", ground.name());
    }
    // Handed over to a user by root, who writes where the user does not.
    for backend in ["bwrap", "landlock"] {
        let ground = Ground::new(Who::User, backend, preset);
        let mut root = Command::new(ground.path().join("bin/runner-driver"));
        root.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/root");
        let script = "p=$(git config core.hooksPath); id -u; touch $p/x; rm -rf $p; mv $p /tmp/away; ls $p | wc -l";
        ground.write("work/script.sh", script);
        let outcome = ground.run_with(root, &ground.order("bash script.sh"));
        assert_eq!(outcome["stdout"], format!("{}\n14\n", super::USER), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn folders_of_the_system_are_no_workspaces() {
    for ground in everywhere("") {
        for folder in ["/", "/etc/apt", "/usr/lib", "/var/log", "/var/lib/dpkg", "/boot", "/home", "/tmp", "/dev/shm"] {
            let mut order = ground.order("touch here");
            order["workspace"] = json!(folder);
            let outcome = ground.run_order(&order);
            assert!(outcome["error"].as_str().unwrap().contains("belongs to the system"), "{folder}: {outcome:#}");
        }
    }
}

#[test]
fn the_environment_holds_no_secret_anywhere() {
    for ground in everywhere("") {
        let mut driver = ground.driver();
        let hostile = [
            "DISCORD_TOKEN",
            "ANTHROPIC_API_KEY",
            "AWS_SESSION_TOKEN",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "GIT_SSH_COMMAND",
            "PGPASSWORD",
        ];
        for name in hostile {
            driver.env(name, "s3cretvalue");
        }
        let order =
            ground.order("env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls >/dev/null");
        let outcome = ground.run_with(driver, &order);
        assert!(!outcome["stdout"].as_str().unwrap().contains("s3cretvalue"), "{}: {outcome:#}", ground.name());
    }
}

#[test]
fn other_processes_are_not_signalled() {
    for ground in everywhere("") {
        let victim_mark = mark();
        let mut command = ground.as_user(std::path::Path::new("bash"));
        let mut victim = command.args(["-c", "sleep 300; :", &victim_mark]).spawn().unwrap();
        let pid = victim.id();
        let outcome = ground.run(&format!("kill -9 {pid}; kill -STOP {pid}; echo over"));
        assert_eq!(outcome["stdout"], "over\n", "{}", ground.name());
        assert!(matches!(victim.try_wait(), Ok(None)), "{}: killed", ground.name());
        assert_eq!(processes_with(&victim_mark).len(), 1);
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
}

#[test]
fn only_the_caller_can_hand_over_to_the_owner() {
    // Root works in an ordinary user's folder: the command runs as that user.
    let ground = Ground::new(Who::Root, "bwrap", "");
    std::os::unix::fs::chown(ground.work(), Some(super::USER), Some(super::USER)).unwrap();
    let outcome = ground.run("id -u; touch made");
    assert_eq!(outcome["stdout"], format!("{}\n", super::USER), "{outcome:#}");
    assert_eq!(outcome["sandbox"]["user"]["as"], "owner");
    assert_eq!(fs::metadata(ground.work().join("made")).unwrap().uid(), super::USER);
    let own = Ground::new(Who::Root, "bwrap", "");
    assert_eq!(own.run("id -u")["sandbox"]["user"]["as"], "root");
}

#[test]
fn a_terminal_is_not_typed_into() {
    // A pseudo terminal as the caller's own: what is typed into it would be read by the shell behind.
    for ground in everywhere("") {
        install(&compiled("attempts"), &ground.work().join("attempts"));
        let order = ground.order("./attempts | grep -E 'tty|tioc'");
        let file = ground.write("order.json", &order.to_string());
        let driver = ground.driver();
        let line: Vec<String> = std::iter::once(driver.get_program())
            .chain(driver.get_args())
            .map(|word| format!("'{}'", word.to_string_lossy()))
            .collect();
        let mut script = Command::new("script");
        script
            .args(["-qec", &format!("{} < {}", line.join(" "), file.display()), "/dev/null"])
            .envs(driver.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(ground.path());
        let text = String::from_utf8(script.output().unwrap().stdout).unwrap();
        assert!(text.contains("tiocsti EPERM") && !text.contains("tty done"), "{}: {text}", ground.name());
    }
}

/// There is no quota on names: a million of them end with the private folder that they are in, and what cannot be looked
/// through afterwards is said.
#[test]
fn a_million_files_end_with_the_run() {
    let made = "python3 -c 'import os, sys\nfor i in range(int(sys.argv[2])): os.close(os.open(sys.argv[1] + str(i), os.O_CREAT))'";
    let ground = Ground::new(Who::User, "bwrap", "[presets.p.filesystem]\ntmp_mib = 4096");
    let outcome = ground.run(&format!("{made} /tmp/ 1000000; ls -f /tmp | wc -l"));
    assert_eq!(outcome["stdout"], "1000002\n", "{outcome:#}");
    assert_eq!(outcome["violations"], json!([]));
    // Nothing is drowned in sixty thousand names.
    let plant = "mkdir many/z; mkdir many/z/.vscode; echo '{}' > many/z/.vscode/tasks.json";
    let outcome = ground.run(&format!("mkdir many; {made} many/ 60000; {plant}"));
    let violations = outcome["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1, "{outcome:#}");
    assert!(violations[0]["path"].as_str().unwrap().ends_with("many/z/.vscode/tasks.json"), "{outcome:#}");
    // What acts later is only read by the next run.
    std::fs::remove_dir_all(ground.work().join("many/z")).unwrap();
    assert_eq!(ground.prints("rm -r many; ls"), "");
}

/// What bubblewrap says where namespaces are refused, or where it is too old, is the reason of a refusal: the command never
/// runs without its sandbox.
#[test]
fn a_bubblewrap_that_does_not_work_is_a_refusal_with_its_own_words() {
    for said in [
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
        "bwrap: setting up uid map: Permission denied",
        "bwrap: Unknown option --size",
        "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
        "",
    ] {
        for status in [1, 0, 127] {
            let ground = Ground::new(Who::User, "bwrap", "");
            let fake = ground.write("bin/fake", &format!("#!/bin/sh\necho '{said}' >&2\nexit {status}\n"));
            fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
            let mut driver = Command::new("unshare");
            let bind = "mount --bind \"$1\" \"$(readlink -f /usr/bin/bwrap)\" && shift && exec setpriv \"$@\"";
            driver.args(["--mount", "sh", "-c", bind, "sh"]).arg(fake);
            driver.args([
                format!("--reuid={0}", super::USER),
                format!("--regid={0}", super::USER),
                "--clear-groups".into(),
            ]);
            driver
                .arg(ground.path().join("bin/runner-driver"))
                .env_clear()
                .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            let outcome = ground.run_with(driver, &ground.order("touch ran"));
            let error = outcome["error"].as_str().unwrap_or_else(|| panic!("{said} {status}: {outcome:#}"));
            assert!(error.contains("bwrap") && error.contains(said), "{error}");
            assert!(!ground.work().join("ran").exists());
        }
    }
}
