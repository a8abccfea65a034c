//! Real clients through the way out, against real servers that demand a key or a token: git over ssh and https, gh and curl as an agent
//! runs them by answers, in namespaces and by Landlock alone; npm, pip, cargo, apt and wget by a workspace's list.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use bashgate_shared::command::Digest;
use bashgate_shared::shell::quoted;
use bashgate_tests::{Host, Output, Site, bin, until};
use serde_json::json;

use crate::egress_reads::{certificate, instead, leads_out, passes_on, run};

const FORGE: &str = "git.example.test";
/// Hosts that package managers ask. All of them lie on loopback, in a network that holds nothing but these servers and the host of the gate.
const REGISTRIES: &[&str] = &[
    "registry.npmjs.org",
    "pypi.org",
    "files.pythonhosted.org",
    "index.crates.io",
    "static.crates.io",
    "deb.example.test",
];

/// Serves a folder for each name, over TLS and without; repositories of the forge to whoever has the token, by git's own program.
const SERVER: &str = r#"
import base64, http.server, os, ssl, subprocess, sys, threading
cert, folder, token, log = sys.argv[1:5]
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def name(self): return self.headers.get("Host", "").split(":")[0]
    def translate_path(self, path): return folder + "/" + self.name() + path.split("?")[0]
    def note(self):
        with open(log, "a") as out: out.write(self.command + " " + self.name() + self.path + "\n")
    def says(self, code, body=b"", **headers):
        self.send_response(code)
        for k, v in headers.items(): self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked": return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = b""
        while size := int(self.rfile.readline(), 16): said += self.rfile.read(size); self.rfile.readline()
        self.rfile.readline(); return said
    def may(self, scheme, secret):
        return self.headers.get("Authorization", "") == scheme + " " + secret
    def of_git(self):
        body = self.body()
        if not self.may("Basic", base64.b64encode(b"agent:" + token.encode()).decode()): return self.says(401, WWW_Authenticate='Basic realm="x"')
        path, _, query = self.path.partition("?")
        env = dict(os.environ, GIT_PROJECT_ROOT=folder + "/" + self.name(), GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path, QUERY_STRING=query,
            REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type", ""), REMOTE_USER="agent",
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""), CONTENT_LENGTH=str(len(body)),
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""), GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, out = out.partition(b"\r\n\r\n")
        said = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.says(int(said.pop("Status", "200").split()[0]), out, Content_Type=said["Content-Type"])
    def of_api(self):
        body = self.body()
        if not self.may("token", token): return self.says(401, b"{}")
        self.note()
        self.says(201 if self.command == "POST" else 200, b'{"full_name": "o/r", "got": %d}' % len(body), Content_Type="application/json")
    def any(self):
        if self.name() == "api.github.com": return self.of_api()
        if ".git/" in self.path: self.note(); return self.of_git()
        self.note()
        if self.command == "POST": self.body(); return self.says(200, b"taken\n")
        super().do_GET()
    do_GET = do_POST = any
def serve(port, tls):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(cert)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever).start()
serve(443, True); serve(80, False)
open(log + ".ready", "w")
"#;

/// An agent in a container without a network, and everything outside of it.
struct World {
    site: Site,
    /// What the servers demand over the web.
    token: String,
    host: Option<Host>,
}

impl Drop for World {
    fn drop(&mut self) {
        for name in ["server.pid", "sshd.pid"] {
            let pid = fs::read_to_string(self.outside(name)).unwrap_or_default();
            if let Some(pid) = pid.trim().parse().ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// By what a run is kept: in namespaces as root, or by Landlock alone as an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    Bubblewrap,
    Landlock,
}

const USER: u32 = 64321;

impl World {
    /// A world where anybody may go to these hosts.
    fn new(listed: &[&str]) -> Self {
        let site = Site::new(&format!(
            "[egress]\nenabled = true\nprivate = [\"127.0.0.0/8\"]\nrun_reads = true\nread_hosts = [\"{FORGE}\", \"github.com\"]\n\
             read_kib_per_hour = 65536\nhosts = {}\n",
            json!(listed)
        ));
        leads_out(&site);
        let outside = site.path().join("outside");
        fs::create_dir_all(outside.join("files").join(FORGE)).unwrap();
        let names = [&[FORGE, "api.github.com"], REGISTRIES].concat();
        fs::write(outside.join("hosts"), format!("127.0.0.1 localhost {}\n", names.join(" "))).unwrap();
        certificate(&outside, &names);
        let token = format!("t{}", Digest::of(&fs::read(outside.join("own.key")).unwrap()).hex());
        fs::write(outside.join("server.py"), SERVER).unwrap();
        let mut world = Self { site, token, host: None };
        world.makes();
        let mut host = Command::new("unshare");
        host.args(["-n", "-m", "sh", "-e", "-c", &world.servers(), "sh"]);
        passes_on(&world.site.host_command(), &mut host);
        world.host = Some(Host::start(&mut host));
        until("the servers", || world.outside("log.ready").exists().then_some(()));
        world.site.raise_both("default");
        world
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.site.path().join("outside").join(name)
    }

    fn home(&self) -> PathBuf {
        self.site.path().join("agent")
    }

    /// The agent's key, and the forge's repository with a clone of it in the agent's folder.
    fn makes(&self) {
        let script = format!(
            "mkdir -p {home}/.ssh; chmod 700 {home}/.ssh; cd {outside}
            ssh-keygen -q -t ed25519 -N '' -f {home}/.ssh/id_ed25519; ssh-keygen -q -t ed25519 -N '' -f host
            cp {home}/.ssh/id_ed25519.pub authorized; echo \"{FORGE} $(cut -d' ' -f1,2 host.pub)\" > {home}/.ssh/known_hosts
            sed 's|^root:.*|root:x:0:0::{home}:/bin/sh|' /etc/passwd > passwd; echo 'agent:x:{USER}:{USER}::{home}:/bin/sh' >> passwd
            git init -q -b main made; cd made; echo one > file; git add file
            git -c user.name=t -c user.email=t@example.test commit -q -m one
            git clone -q --bare . ../files/{FORGE}/r.git; git -C ../files/{FORGE}/r.git config http.receivepack true
            cd {work}; git clone -q {outside}/made own; cd own
            git config user.name t; git config user.email t@example.test; git remote remove origin",
            home = self.home().display(),
            outside = self.outside("").display(),
            work = self.site.work().display(),
        );
        run(Command::new("sh").args(["-e", "-c", &script]).env("HOME", self.outside("")));
    }

    /// Starts the servers in a network of their own, then the host of the gate in the same one.
    fn servers(&self) -> String {
        let outside = self.outside("");
        let config = format!(
            "Port 22\nListenAddress 127.0.0.1\nHostKey {0}/host\nAuthorizedKeysFile {0}/authorized\nStrictModes no\n\
             PasswordAuthentication no\nUsePAM no\nPermitRootLogin yes\nPidFile {0}/sshd.pid\n",
            outside.display()
        );
        fs::write(self.outside("sshd.conf"), config).unwrap();
        format!(
            "ip link set lo up; cd {}; mount --bind hosts /etc/hosts; mkdir -p /run/sshd
            /usr/sbin/sshd -f $PWD/sshd.conf -E $PWD/sshd.log
            python3 server.py $PWD/both.pem $PWD/files {} $PWD/log > server.log 2>&1 & echo $! > server.pid
            cd - > /dev/null; exec \"$@\"",
            outside.display(),
            self.token
        )
    }

    /// Runs a text as the agent's shell does, in a container without a network.
    fn agent(&self, backend: Option<Backend>, text: &str) -> Output {
        let hidden = match backend {
            Some(Backend::Landlock) => "mount --bind /dev/null /usr/bin/bwrap; chown -R 64321:64321 \"$HOME\" .; ",
            Some(Backend::Bubblewrap) | None => "chown -R 0:0 \"$HOME\" .; ",
        };
        let user = match backend {
            // Landlock alone keeps the gate's modes from those alone whose they are not.
            Some(Backend::Landlock) => "setpriv --reuid 64321 --regid 64321 --clear-groups ",
            Some(Backend::Bubblewrap) | None => "",
        };
        let script = format!(
            "mount --bind {0}/bundle.pem /etc/ssl/certs/ca-certificates.crt; mount --bind {0}/passwd /etc/passwd; ip link set lo up
            mount --bind {toolchain} /mnt; {hidden}exec {user}bash -c {1}",
            self.outside("").display(),
            quoted(text),
            // It may lie in somebody's home folder.
            toolchain = Path::new(env!("CARGO")).parent().and_then(Path::parent).unwrap().display(),
        );
        let mut shell = Command::new("unshare");
        shell.args(["-m", "-n", "-p", "-f", "--mount-proc", "sh", "-e", "-c", &script]).current_dir(self.site.work());
        shell.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin").env("HOME", self.home());
        Output::of(&mut shell, b"")
    }

    /// What the hook answers to a command of the agent's.
    fn hook(&self, command: &str) -> impl FnOnce() -> Option<String> + Send + use<> {
        instead(&self.site, &self.home(), command)
    }

    /// What runs in the place of a command that nobody is asked about.
    fn let_through(&self, command: &str) -> String {
        let answer = thread::spawn(self.hook(command));
        if let Some(id) = self.site.held_or_ended(&answer) {
            panic!("{command} is asked about: {}", self.site.cli(["show", &id]).stdout);
        }
        let form = answer.join().unwrap().unwrap_or_else(|| panic!("{command}: {:?}", self.site.audit().last()));
        assert!(form.contains(" --egress "), "{form}");
        form
    }

    /// What runs in the place of a command once a person has said this, and the card that was shown.
    fn approved(&self, command: &str, word: &[&str]) -> (String, String) {
        let answer = thread::spawn(self.hook(command));
        let id = self.site.held_or_ended(&answer);
        let id = id.unwrap_or_else(|| panic!("{command} is not held: {:?}", self.site.audit().last()));
        let card = self.site.cli(["show", &id]).expect(0).stdout;
        self.site.cli(["approve", &id].iter().chain(word)).expect(0);
        let form = answer.join().unwrap().unwrap_or_else(|| panic!("{command}: {:?}", self.site.audit().last()));
        assert!(form.contains(" --egress "), "{form}");
        (form, card)
    }

    /// True where somebody is asked about a command; the answer is no.
    fn is_asked(&self, command: &str) -> bool {
        let answer = thread::spawn(self.hook(command));
        let id = self.site.held_or_ended(&answer);
        if let Some(id) = &id {
            self.site.cli(["deny", id]).expect(0);
        }
        assert!(answer.join().unwrap().is_none() || id.is_none(), "{command}");
        id.is_some()
    }

    /// The commits of a branch at the forge.
    fn at_forge(&self, branch: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "safe.directory=*", "log", "--format=%s", branch, "--"]);
        git.current_dir(self.outside("files").join(FORGE).join("r.git"));
        Output::of(&mut git, b"").stdout
    }

    fn commits(&self, subject: &str) {
        let script = format!("chown -R 0:0 .; echo {subject} >> file; git commit -q -am {subject}");
        run(Command::new("sh").args(["-e", "-c", &script]).current_dir(self.site.work().join("own")));
    }

    fn remote(&self, address: &str) {
        let script =
            format!("chown -R 0:0 .; git remote remove origin 2>/dev/null || true; git remote add origin {address}");
        run(Command::new("sh").args(["-e", "-c", &script]).current_dir(self.site.work().join("own")));
    }

    /// Where the repository lies for ssh.
    fn by_ssh(&self) -> String {
        format!("root@{FORGE}:{}/{FORGE}/r.git", self.outside("files").display())
    }
}

/// By a key and by a token, which are there for the run alone: what was pushed is there, what was fetched is here.
#[test]
fn git_pushes_and_fetches_with_a_key_and_with_a_token() {
    let world = World::new(&[]);
    fs::write(world.home().join(".git-credentials"), format!("https://agent:{}@{FORGE}\n", world.token)).unwrap();
    run(Command::new("git").args(["config", "credential.helper", "store"]).current_dir(world.site.work().join("own")));
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        for address in [world.by_ssh(), format!("https://{FORGE}/r.git")] {
            let label = format!("{backend:?}-{}", address.split([':', '@']).next().unwrap());
            world.remote(&address);
            world.commits(&label);
            let branch = label.to_lowercase();
            let (form, card) = world.approved(&format!("git -C own push -q origin HEAD:{branch}"), &[]);
            let port = if address.starts_with("https") { "" } else { ":22" };
            assert!(card.contains(&format!("with a way out to {FORGE}{port} alone")), "{card}");
            let pushed = world.agent(Some(backend), &form);
            assert_eq!(pushed.code, Some(0), "{label}: {pushed:?}");
            assert!(world.at_forge(&branch).starts_with(&label), "{label}");
            let form = world.let_through(&format!("git -C own fetch -q origin {branch}"));
            let fetched = world.agent(Some(backend), &format!("{form} && cat own/.git/FETCH_HEAD"));
            assert!(fetched.code == Some(0) && fetched.stdout.contains(&branch), "{label}: {fetched:?}");
            // What it signs in with is hidden from everything else, and an answer is for one run.
            let again = world.agent(Some(backend), &form);
            assert_ne!(again.code, Some(0), "{label}: {again:?}");
        }
    }
    let record = world.site.audit().into_iter().filter(|record| record["kind"] == "egress").collect::<Vec<_>>();
    let to =
        |port: u64| record.iter().filter(|one| one["detail"]["host"] == FORGE && one["detail"]["port"] == port).count();
    assert!(to(22) >= 4 && to(443) >= 4, "{record:#?}");
}

/// The Bash tool's `--network` is the hosts of its command, wherever those are known: what only reads needs nobody, what writes an answer.
#[test]
fn the_bash_tool_keeps_a_command_to_its_hosts() {
    let world = World::new(&[]);
    fs::write(world.outside("files").join(FORGE).join("page"), "a page\n").unwrap();
    let tool = |options: &str, command: &str| {
        let (runner, hook) = (bin("bashgate-run"), world.site.hook_toml());
        format!("{} exec --config {} {options} -- {}", runner.display(), hook.display(), quoted(command))
    };
    let held = |backend: Backend, text: &str, word: &str| -> (Output, String) {
        thread::scope(|scope| {
            let run = scope.spawn(|| world.agent(Some(backend), text));
            let id = until("a card", || {
                assert!(!run.is_finished(), "{text}: {:?}", world.site.audit().last());
                Some(world.site.pending().first()?["id"].as_str()?.to_owned())
            });
            let card = world.site.cli(["show", &id]).expect(0).stdout;
            world.site.cli([word, &id]).expect(0);
            (run.join().unwrap(), card)
        })
    };
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        world.site.lets_others_in();
        let page = format!("curl -sS https://{FORGE}/page");
        let read = world.agent(Some(backend), &tool("--network", &page));
        assert_eq!((read.code, read.stdout.as_str()), (Some(0), "a page\n"), "{backend:?}: {read:?}");
        // Whoever may be read from does not lead to others.
        let more = format!("{page}; curl -sS https://deb.example.test/x");
        let (denied, card) = held(backend, &tool("--network", &more), "deny");
        assert!(
            denied.code != Some(0) && card.contains(&format!("deb.example.test, {FORGE} alone")),
            "{denied:?} {card}"
        );
        let post = format!("curl -sS -d x https://{FORGE}/post");
        let (written, card) = held(backend, &tool("--network --json", &post), "approve");
        assert!(card.contains(&format!("runs with a way out to {FORGE} alone")), "{card}");
        let written: serde_json::Value = serde_json::from_str(&written.expect(0).stdout).unwrap();
        assert_eq!(written["stdout"], "taken\n", "{backend:?}: {written}");
        assert_eq!((&written["sandbox"]["internet"], &written["sandbox"]["hosts"]), (&json!(false), &json!([FORGE])));
        // Who asks for no network has none, whatever is approved.
        let (without, card) = held(backend, &tool("", &post), "approve");
        assert!(!card.contains("a way out") && without.code != Some(0), "{backend:?}: {without:?} {card}");
        let (denied, _) = held(backend, &tool("--network", &post), "deny");
        assert_ne!(denied.code, Some(0), "{backend:?}: {denied:?}");
    }
    // What comes in so is nobody's word: what acts later is set aside.
    let evil = format!(
        "cp -r made evil; cd evil; echo touch x > .envrc; git add -f .envrc; git -c user.name=t -c user.email=t@example.test commit -q -m evil
        git clone -q --bare . ../files/{FORGE}/evil.git"
    );
    run(Command::new("sh").args(["-e", "-c", &evil]).current_dir(world.outside("")).env("HOME", world.outside("")));
    fs::write(world.home().join(".git-credentials"), format!("https://agent:{}@{FORGE}\n", world.token)).unwrap();
    let clone = tool("--network --cwd own", &format!("git clone -q https://{FORGE}/evil.git d"));
    let cloned = world.agent(Some(Backend::Bubblewrap), &clone);
    let there = |name: &str| world.site.work().join("own/d").join(name).exists();
    assert!(cloned.code == Some(0) && there("file") && !there(".envrc"), "{cloned:?}");
    fs::remove_dir_all(world.site.work().join("own/d")).unwrap();
    // Where something else is said besides the text somebody is asked.
    let hooks =
        tool("--network --cwd own/.git --workspace own/.git", &format!("git clone -q https://{FORGE}/evil.git hooks"));
    held(Backend::Bubblewrap, &hooks, "deny");
    fs::remove_file(world.home().join(".git-credentials")).unwrap();
    // With a preset that always has network, and the keys of its programs.
    world.remote(&world.by_ssh());
    world.commits("by-tool");
    let (pushed, card) =
        held(Backend::Bubblewrap, &tool("--preset chorus", "git -C own push -q origin HEAD:tool"), "approve");
    assert!(card.contains(&format!("with a way out to {FORGE}:22 alone")), "{card}");
    assert_eq!(pushed.code, Some(0), "{pushed:?}");
    assert!(world.at_forge("tool").starts_with("by-tool"));
    // A sandbox that can hold nobody to hosts has none, and asks as it did.
    let presets = world.site.hook_toml().with_file_name("runner.toml");
    fs::write(
        &presets,
        "[presets.open]\nextends = \"default\"\n[presets.open.sandbox]\norder = [\"none\"]\nrequire = []\n",
    )
    .unwrap();
    let (_, card) =
        held(Backend::Bubblewrap, &tool("--network --preset open", &format!("curl -sS https://{FORGE}/page")), "deny");
    assert!(!card.contains("a way out"), "{card}");
}

/// Others of the kind go through without anybody being asked, and nothing else does.
#[test]
fn a_grant_of_pushes_is_for_one_repository() {
    let world = World::new(&[]);
    let address = world.by_ssh();
    world.remote(&address);
    world.commits("first");
    let (form, card) = world.approved("git -C own push -u origin HEAD:main", &["grant", "30"]);
    let name = world.by_ssh();
    let granted =
        world.site.audit().into_iter().find_map(|record| Some(record["detail"]["covers"].as_str()?.to_owned()));
    assert_eq!(granted, Some(format!("git: push to {name} with {FORGE}:22")), "{card}");
    world.agent(Some(Backend::Bubblewrap), &form).expect(0);
    for command in ["git -C own push origin HEAD:main", "git -C own push origin HEAD:other", "git -C own push"] {
        world.commits("more");
        let form = world.let_through(command);
        world.agent(Some(Backend::Bubblewrap), &form);
        assert!(command.ends_with("push") || world.at_forge("main").starts_with("more"), "{command}");
    }
    for command in [
        "git -C own push --force origin HEAD:main",
        "git -C own push origin +HEAD:main",
        "git -C own push origin :other",
        "git -C own push ssh://root@git.example.test/other.git HEAD:main",
        "git -C own push origin HEAD:main && curl -d x https://git.example.test/",
        "git -C own push origin HEAD:main; ./x.sh",
        "git -C own push -o ci.skip origin HEAD:main",
        "GIT_SSH_COMMAND=./x git -C own push origin HEAD:main",
        "git -C own push origin \"$branch\"",
        "cat ~/.ssh/id_ed25519 > own/x; git -C own push origin HEAD:main",
        "git -C own -c push.default=current -c branch.main.remote=root@git.example.test:/other.git push",
        "git -C own -c push.pushOption=merge_request.create push origin HEAD:main",
        "git -C own push origin HEAD:refs/for/main%submit",
        "env -u GIT_ALLOW_PROTOCOL git -C own push origin HEAD:main",
        "git -C own push bob@git.example.test:r.git HEAD:main",
    ] {
        assert!(world.is_asked(command), "{command}");
    }
    let config = world.site.work().join("own/.git/config");
    let text = fs::read_to_string(&config).unwrap();
    // The same words, where they would do something else.
    for (more, command) in [
        ("[remote \"origin\"]\n\turl = git@git.example.test:other/r\n", "git -C own push origin HEAD:main"),
        ("[remote \"fork\"]\n\turl = git@git.example.test:other/r\n", "git -C own push fork HEAD:main"),
        ("[remote \"fork\"]\n\turl = git@git.example.test:other/r\n", "git -C own push"),
        ("[branch \"main\"]\n\tpushRemote = git@git.example.test:other/r\n", "git -C own push"),
        ("[remote]\n\tpushDefault = git@git.example.test:other/r\n", "git -C own push"),
        ("[remote \"origin\"]\n\tpushurl = git@git.example.test:other/r\n", "git -C own push origin HEAD:main"),
        ("[remote \"origin\"]\n\tpush = +HEAD:main\n", "git -C own push origin"),
        ("[remote \"origin\"]\n\tmirror = true\n", "git -C own push origin"),
        ("[url \"git@git.example.test:other/\"]\n\tpushInsteadOf = root@\n", "git -C own push origin HEAD:main"),
        ("[core]\n\tsshCommand = ./x\n", "git -C own push origin HEAD:main"),
        ("[push]\n\tgpgSign = true\n[gpg]\n\tprogram = ./x\n", "git -C own push origin HEAD:main"),
        ("[push]\n\trecurseSubmodules = on-demand\n", "git -C own push origin HEAD:main"),
        ("[push]\n\tpushOption = merge_request.create\n", "git -C own push origin HEAD:main"),
        (
            "[remote \"root@git.example.test:r.git\"]\n\turl = root@git.example.test:other\n",
            "git -C own push origin HEAD:main",
        ),
        ("[remote \"origin\"]\n\tgh-resolved = victim/x\n", "git -C own push origin HEAD:main"),
        ("[rebase]\n\tinstructionFormat = %s%nexec ./x\n", "git -C own push origin HEAD:main"),
    ] {
        fs::write(&config, format!("{text}{more}")).unwrap();
        assert!(world.is_asked(command), "{more}");
    }
    fs::write(&config, &text).unwrap();
    let hook = world.site.work().join("own/.git/hooks/pre-push");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    run(Command::new("chmod").arg("+x").arg(&hook));
    assert!(world.is_asked("git -C own push origin HEAD:main"), "a hook");
    fs::remove_file(&hook).unwrap();
    let lent = world.site.work().join("own/.git/objects/info/alternates");
    fs::write(&lent, "/srv/other/.git/objects\n").unwrap();
    assert!(world.is_asked("git -C own push origin HEAD:main"), "another repository's objects");
    fs::remove_file(&lent).unwrap();
    assert!(!world.is_asked("git -C own push origin HEAD:main"), "the control");
    // It ends with the taint epoch, and with it the answers that it has given: also of a run that has begun.
    world.commits("late");
    let laid_up = world.let_through("git -C own push origin HEAD:late");
    world.site.cli(["taint", "clear", "default"]).expect(0);
    thread::sleep(std::time::Duration::from_millis(600));
    let late = world.agent(Some(Backend::Bubblewrap), &laid_up);
    assert!(late.stderr.contains("no such answer, or it is over") && world.at_forge("late").is_empty(), "{late:?}");
    world.site.raise_both("default");
    assert!(world.is_asked("git -C own push origin HEAD:main"), "another epoch");
}

/// What was decided is what runs: in that folder, to these addresses; and nothing of a repository's settings starts anything, nor a program
/// that somebody puts in front of the machine's own.
#[test]
fn what_runs_is_what_was_decided() {
    let world = World::new(&[]);
    let (work, address) = (world.site.work(), world.by_ssh());
    world.remote(&address);
    world.commits("first");
    let config = work.join("own/.git/config");
    let text = fs::read_to_string(&config).unwrap();
    let fails = |form: &str, why: &str| {
        let output = world.agent(Some(Backend::Bubblewrap), form);
        assert!(output.code != Some(0) && output.stderr.contains("runs without network"), "{why}: {output:?}");
        assert_eq!(world.at_forge("late"), "", "{why}");
    };
    // What was shown is what is sent.
    fs::write(work.join("notes"), "shown").unwrap();
    let (form, card) = world.approved(&format!("curl -sS -T notes https://{FORGE}/up"), &[]);
    assert!(card.contains("notes"), "{card}");
    fs::write(work.join("notes"), "another").unwrap();
    fails(&form, "another file");
    assert!(!fs::read_to_string(world.outside("log")).unwrap_or_default().contains("PUT"));
    let (form, _) = world.approved("git -C own push origin HEAD:late", &[]);
    fs::write(&config, text.replace("r.git", "other.git")).unwrap();
    fails(&form, "another address");
    fs::write(&config, &text).unwrap();
    let (form, _) = world.approved("git -C own push origin HEAD:late", &[]);
    fs::create_dir(work.join("elsewhere")).unwrap();
    run(Command::new("cp").args(["-r", "own", "elsewhere/own"]).current_dir(&work));
    fails(&format!("cd elsewhere && {form}"), "another folder");
    // While it runs, somebody else makes what git would start.
    let canary = work.join("canary");
    let program = format!("#!/bin/sh\ntouch {}\n", canary.display());
    for (path, text) in [("own/.git/hooks/pre-push", program.as_str()), ("bin/ssh", &program), ("bin/sh", &program)] {
        let (form, _) = world.approved("sleep 1; git -C own push origin HEAD:late", &[]);
        let path = work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let meanwhile = format!(
            "(sleep 0.5; cp program {0}; chmod +x {0}) & export PATH={1}/bin:$PATH SHELL={1}/bin/sh; {form}",
            path.display(),
            work.display()
        );
        fs::write(work.join("program"), text).unwrap();
        world.agent(Some(Backend::Bubblewrap), &meanwhile);
        assert!(!canary.exists(), "{}", path.display());
        let _ = fs::remove_file(&path);
    }
    assert!(world.at_forge("late").starts_with("first"), "the control: it was pushed");
    fs::remove_dir_all(work.join("bin")).unwrap();
    // What a helper is called may be an alias, which is a program.
    fs::write(world.home().join(".git-credentials"), "https://agent:wrong@git.example.test\n").unwrap();
    world.remote(&format!("https://{FORGE}/r.git"));
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        format!("{text}[credential]\n\thelper = mine\n[alias]\n\tcredential-mine = !touch {}\n", canary.display()),
    )
    .unwrap();
    let form = world.let_through("git -C own fetch origin");
    assert_ne!(world.agent(Some(Backend::Bubblewrap), &form).code, Some(0));
    assert!(!canary.exists());
    world.agent(None, "git -C own fetch origin");
    // The proof that the helper is one.
    let own = world.agent(None, "printf 'protocol=https\\nhost=x\\n' | git -C own credential fill");
    assert!(canary.exists(), "{own:?}");
}

/// The forge's own program: what it shows needs nobody, what it says a person; its token is there for both, and for nothing else.
#[test]
fn gh_reads_and_writes_by_its_token() {
    let world = World::new(&[]);
    let config = world.home().join(".config/gh");
    fs::create_dir_all(&config).unwrap();
    let hosts = format!("github.com:\n    user: agent\n    oauth_token: {}\n    git_protocol: https\n", world.token);
    fs::write(config.join("hosts.yml"), hosts).unwrap();
    for backend in [Backend::Bubblewrap, Backend::Landlock] {
        let form = world.let_through("gh api repos/o/r --jq .full_name");
        let read = world.agent(Some(backend), &form);
        assert_eq!((read.code, read.stdout.as_str()), (Some(0), "o/r\n"), "{backend:?}: {read:?}");
        let (form, card) = world.approved("gh api repos/o/r/issues/3/comments -f body=thanks", &[]);
        assert!(card.contains("with a way out to api.github.com alone"), "{card}");
        let written = world.agent(Some(backend), &form);
        assert!(written.code == Some(0) && written.stdout.contains("\"got\": "), "{backend:?}: {written:?}");
    }
    let asked = fs::read_to_string(world.outside("log")).unwrap();
    assert!(asked.contains("POST api.github.com/repos/o/r/issues/3/comments"), "{asked}");
    // It has git look at the working tree, so whatever that starts counts.
    let settings = world.site.work().join("own/.git/config");
    let text = fs::read_to_string(&settings).unwrap();
    for more in [
        "[core]\n\tfsmonitor = ./x\n",
        "[filter \"x\"]\n\tclean = ./x\n",
        "[core]\n\thooksPath = x\n\tsshCommand = ./x\n",
    ] {
        fs::write(&settings, format!("{text}{more}")).unwrap();
        let answer = thread::spawn(world.hook("cd own && gh pr create -R o/r --title x --body y"));
        let id = world.site.held_or_ended(&answer).unwrap();
        let card = world.site.cli(["show", &id]).expect(0).stdout;
        assert!(!card.contains("way out") && !card.contains("grant 30"), "{more}: {card}");
        world.site.cli(["deny", &id]).expect(0);
    }
    fs::write(&settings, &text).unwrap();
    // Where it has none, the forge says so: nothing else of the agent's is sent in its place.
    fs::remove_file(config.join("hosts.yml")).unwrap();
    let form = world.let_through("gh api repos/o/r --jq .full_name");
    assert_ne!(world.agent(Some(Backend::Bubblewrap), &form).code, Some(0));
}

/// What an agent's work needs all the time goes by the list: each program finds the way by what `bashgate-run egress` sets.
#[test]
fn package_managers_reach_their_registries_by_the_list() {
    let world = World::new(REGISTRIES);
    let files = world.outside("files");
    let script = format!(
        "cd {files}; mkdir -p registry.npmjs.org pypi.org/simple/left files.pythonhosted.org index.crates.io/le/ft deb.example.test/pool
        mkdir -p static.crates.io/crates/left/1.0.0 made-npm/package made-crate/left-1.0.0/src
        echo '{{\"name\": \"left\", \"version\": \"1.0.0\"}}' > made-npm/package/package.json; tar -C made-npm -czf registry.npmjs.org/left.tgz package
        echo '{{\"name\": \"left\", \"dist-tags\": {{\"latest\": \"1.0.0\"}}, \"versions\": {{\"1.0.0\": {{\"name\": \"left\", \"version\": \"1.0.0\",
          \"dist\": {{\"tarball\": \"https://registry.npmjs.org/left.tgz\"}}}}}}}}' > registry.npmjs.org/left
        python3 - <<'EOF'
import zipfile
with zipfile.ZipFile('files.pythonhosted.org/left-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('left.py', 'x = 1\\n')
    wheel.writestr('left-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: left\\nVersion: 1.0\\n')
    wheel.writestr('left-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('left-1.0.dist-info/RECORD', '')
EOF
        echo '<a href=\"https://files.pythonhosted.org/left-1.0-py3-none-any.whl\">left-1.0-py3-none-any.whl</a>' > pypi.org/simple/left/index.html
        printf '[package]\\nname = \"left\"\\nversion = \"1.0.0\"\\n' > made-crate/left-1.0.0/Cargo.toml; touch made-crate/left-1.0.0/src/lib.rs
        tar -C made-crate -czf static.crates.io/crates/left/1.0.0/download left-1.0.0
        sum=$(sha256sum static.crates.io/crates/left/1.0.0/download | cut -d' ' -f1)
        echo '{{\"dl\": \"https://static.crates.io/crates\"}}' > index.crates.io/config.json
        echo '{{\"name\": \"left\", \"vers\": \"1.0.0\", \"deps\": [], \"cksum\": \"'$sum'\", \"features\": {{}}, \"yanked\": false}}' > index.crates.io/le/ft/left
        mkdir -p deb.example.test/dists/x/main/binary-amd64
        printf 'Package: left\\nVersion: 1\\nArchitecture: amd64\\nFilename: pool/left.deb\\nSize: 5\\nMD5sum: 0\\n' \
          > deb.example.test/dists/x/main/binary-amd64/Packages; echo 'left' > deb.example.test/pool/left
        cd {work}; mkdir -p crate/src apt/lists apt/cache; touch crate/src/lib.rs
        printf '[package]\\nname = \"own\"\\nversion = \"1.0.0\"\\nedition = \"2021\"\\n[dependencies]\\nleft = \"1\"\\n' > crate/Cargo.toml",
        files = files.display(),
        work = world.site.work().display(),
    );
    run(Command::new("bash").args(["-e", "-c", &script]));
    let bundle = "/etc/ssl/certs/ca-certificates.crt";
    let agent = |user: Option<Backend>, text: &str| {
        let within = format!(
            "exec {} egress --socket {}/proxy.sock -- bash -c {}",
            bin("bashgate-run").display(),
            world.site.path().join("egress/default").display(),
            quoted(text)
        );
        world.agent(user, &within)
    };
    let clients = [
        (format!("NODE_EXTRA_CA_CERTS={bundle} npm view left version"), "1.0.0"),
        (format!("NODE_EXTRA_CA_CERTS={bundle} npm pack left && ls left-1.0.0.tgz"), "left-1.0.0.tgz"),
        (format!("PIP_CERT={bundle} pip download -q --only-binary=:all: left && ls left-1.0-py3-none-any.whl"), "left-1.0"),
        ("cd crate && PATH=/mnt/bin:$PATH CARGO_HOME=$PWD/home cargo fetch && ls home/registry/src/*/left-1.0.0/Cargo.toml".to_owned(), "Cargo.toml"),
        ("curl -sS https://registry.npmjs.org/left | head -c 15".to_owned(), "{\"name\": \"left\""),
        ("wget -q -O - https://registry.npmjs.org/left | head -c 15".to_owned(), "{\"name\": \"left\""),
        ("curl -sS http://deb.example.test/pool/left".to_owned(), "left"),
        (
            "echo 'deb [trusted=yes] http://deb.example.test x main' > apt/sources.list
            apt=\"-o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache -o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=-\"
            apt-get $apt -o APT::Sandbox::User=root update && apt-cache $apt show left"
                .to_owned(),
            "Package: left",
        ),
    ];
    // As root, and as an ordinary user.
    for user in [None, Some(Backend::Landlock)] {
        for (text, shows) in &clients {
            let output = agent(user, text);
            assert!(output.code == Some(0) && output.stdout.contains(shows), "{user:?}: {text}: {output:?}");
        }
    }
    // To nobody else, whoever asks.
    let refused = agent(
        None,
        "curl -sS https://git.example.test/x; curl -sS http://api.github.com/; wget -O - https://api.github.com/x",
    );
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(refused.code != Some(0) && said.matches("is not on this workspace's list").count() == 2, "{refused:?}");
    assert!(said.contains("response 403"), "{refused:?}");
    assert!(!fs::read_to_string(world.outside("log")).unwrap().contains("api.github.com"));
}
