//! What counts is elsewhere than a name says: behind links that lead to what is not there yet, where variables say that usual folders
//! lie, in what git keeps about its commits besides them, and in what a command says for one call.

use std::os::unix::fs::symlink;
use std::path::Path;

use bashgate_tests::Output;

use super::hostile_ways::{commit, repository};
use super::hostile_world::{World, git};

/// The hook's answer where the agent's environment has this variable.
fn asked_with(world: &World, name: &str, value: &str, command: &str) -> bool {
    let mut hook = bashgate_tests::hook();
    hook.arg("--config").arg(world.alone()).args(["check", "--", command]).current_dir(world.work());
    Output::of(hook.env("PATH", "/usr/bin:/bin").env(name, value), b"").code != Some(0)
}

#[test]
fn links_to_what_is_not_there_yet_lead_there() {
    let world = World::new();
    let work = world.work();
    for folder in [".claude", ".git/hooks", "sub", "plain"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    for (link, target) in [
        ("notes.json", ".claude/settings.json"),
        ("one", "two"),
        ("two", "sub/../.claude/settings.local.json"),
        ("rc", ".envrc"),
        ("check", ".git/hooks/pre-commit"),
        ("up", ".vscode/tasks.json"),
        ("fine", "plain/new"),
    ] {
        symlink(target, work.join(link)).unwrap();
    }
    let _host = world.site.serve();
    // In a clean workspace, where a command that is only not proven is let through.
    let denied = |command: &str| {
        let mut hook = world.site.hook_command(&world.site.hook_toml());
        hook.current_dir(&work).env("PATH", "/usr/bin:/bin");
        Output::of(hook.args(["check", "--", command]), b"").code == Some(2)
    };
    for command in [
        "echo {} > notes.json",
        "nosuch > one",
        "nosuch | tee two",
        "cp x notes.json",
        "dd if=x of=notes.json",
        "git show HEAD:x > notes.json",
    ] {
        assert!(denied(command), "{command}");
    }
    assert!(!denied("echo x > fine"));
    let told = |command: &str| {
        let before = world.site.audit().len();
        denied(command);
        let record = world.site.audit().into_iter().skip(before).find(|record| record["kind"] == "decision").unwrap();
        record["detail"]["effects"]["persistence"].to_string()
    };
    for (command, name) in
        [("echo x > rc", ".envrc"), ("nosuch > check", ".git/hooks/pre-commit"), ("echo x > up", ".vscode/tasks.json")]
    {
        assert!(told(command).contains(name), "{command}");
    }
}

#[test]
fn variables_stand_for_usual_places() {
    let world = World::new();
    for folder in ["alt", "xdg/git", "lib", "tools", "sub"] {
        std::fs::create_dir_all(world.work().join(folder)).unwrap();
    }
    let work = world.work().to_string_lossy().into_owned();
    let whole = |path: &str| format!("{work}/{path}");
    for (name, value, command) in [
        ("CLAUDE_CONFIG_DIR", "alt".to_owned(), "echo x > alt/settings.json"),
        ("CLAUDE_CONFIG_DIR", "./alt".to_owned(), "rm alt/settings.json"),
        ("CODEX_HOME", "lib".to_owned(), "echo x > lib/config.toml"),
        ("EDITOR", "./tools/ed".to_owned(), "echo x > tools/ed"),
        ("GIT_SSH_COMMAND", "sh lib/e".to_owned(), "echo x > lib/e"),
        ("PYTHONSTARTUP", "lib/p".to_owned(), "echo x > lib/p"),
        ("NODE_OPTIONS", "--require=lib/r.js".to_owned(), "echo x > lib/r.js"),
        ("XDG_CONFIG_HOME", whole("xdg"), "echo x > xdg/git/config"),
        ("XDG_CONFIG_HOME", "xdg".to_owned(), "mkdir -p xdg/fish && echo x > xdg/fish/a.fish"),
        ("XDG_CONFIG_HOME", whole("xdg"), "mkdir -p xdg/nvim && echo x > xdg/nvim/init.lua"),
        ("CARGO_HOME", whole("lib"), "mkdir -p lib/bin && echo x > lib/bin/cargo-x"),
        ("KUBECONFIG", whole("lib/k"), "echo x > lib/k"),
        ("PSQLRC", whole("lib/q"), "echo x > lib/q"),
        ("INPUTRC", whole("lib/i"), "echo x > lib/i"),
        ("CC", whole("tools/cc"), "echo x > tools/cc"),
        ("SHELL", whole("tools/sh"), "echo x > tools/sh"),
        ("PROMPT_COMMAND", format!(". {}", whole("lib/p")), "echo x > lib/p"),
        ("VIMINIT", format!("source {}", whole("lib/v")), "echo x > lib/v"),
        ("GOFLAGS", format!("-toolexec={}", whole("lib/t")), "echo x > lib/t"),
        ("HOME", "alt".to_owned(), "echo x > lib/new"),
        ("PATH", ":/usr/bin:/bin".to_owned(), "echo x > new"),
    ] {
        assert!(asked_with(&world, name, &value, command), "{name}={value} {command}");
        assert!(!asked_with(&world, "HARMLESS", &value, command), "{command}");
        if name != "HOME" && name != "PATH" {
            assert!(!asked_with(&world, name, &value, "echo x > sub/other"), "{name}={value}");
        }
    }
    // By a name that an interpreter completes, and by a bare one, of what is there and of what is not yet.
    world.file("lib/there.js", "x");
    for (name, value, command) in [
        ("NODE_OPTIONS", "-r ./lib/there", "echo x > lib/there.js"),
        ("NODE_OPTIONS", "--require ./lib/late", "echo x > lib/late.js"),
        ("NODE_OPTIONS", "--import=./lib/late.mjs", "echo x > lib/late.mjs"),
        ("RUBYOPT", "-rlib/late", "echo x > lib/late.rb"),
        ("PERL5OPT", "-MTools::Late", "mkdir -p Tools && echo x > Tools/Late.pm"),
        ("PYTHONSTARTUP", "late.py", "echo x > late.py"),
    ] {
        assert!(asked_with(&world, name, value, command), "{name}={value} {command}");
        assert!(!asked_with(&world, "HARMLESS", value, command), "{command}");
        assert!(!asked_with(&world, name, value, "echo x > sub/other"), "{name}={value}");
    }
}

/// A credential is one by its form, whatever the variable is called that holds it.
#[test]
fn variables_are_secret_by_what_they_hold() {
    let world = World::new();
    let random = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    for (name, value, is_secret) in [
        ("HTTPS_PROXY", "http://user:pa55@proxy:3128".to_owned(), true),
        ("UPSTREAM", format!("ghp_{random}"), true),
        ("MY_DB", "postgres://app:pa55@db/app".to_owned(), true),
        ("HEADER", "Bearer abcdef".to_owned(), true),
        ("GO", "app:pa55@tcp(db:3306)/x".to_owned(), true),
        ("HTTPS_PROXY", "http://proxy:3128".to_owned(), false),
        ("UPSTREAM", "https://api.example/v1".to_owned(), false),
    ] {
        let (start, end) = name.split_at(2);
        let composed = format!("printenv {start}\"{end}\"");
        assert_eq!(asked_with(&world, name, &value, &composed), is_secret, "{composed}");
        for command in ["echo \"$NAME\"", "printenv NAME", "echo ${NAME#x} | cut -c1-9", "printf '%s' $NAME > f"] {
            let command = command.replace("NAME", name);
            assert_eq!(asked_with(&world, name, &value, &command), is_secret, "{name}={value} {command}");
        }
        assert!(!asked_with(&world, name, &value, "echo hello"), "{name}={value}");
    }
    // Nothing of it is shown.
    for command in ["[ -n \"$API_TOKEN\" ] && echo set", "[ -z \"${API_TOKEN:-}\" ] || echo set"] {
        assert!(!asked_with(&world, "API_TOKEN", random, command), "{command}");
    }
    assert!(asked_with(&world, "API_TOKEN", random, "[ -z \"${API_TOKEN:-x$API_TOKEN}\" ] || echo ${API_TOKEN:-}"));
}

/// Who works in a sub-folder writes what settings beside it and deep below the project's root start.
#[test]
fn settings_anywhere_in_the_project_count_from_anywhere_in_it() {
    for (settings, text, written) in [
        ("app/.envrc", ". ../shared/env\n", "shared/env"),
        ("app/.envrc", "source_env ../shared/late\n", "shared/late"),
        ("a/b/c/d/app/.envrc", ". ../lib/env\n", "a/b/c/d/lib/env"),
        ("a/b/c/d/.mcp.json", r#"{"mcpServers":{"x":{"command":"sh","args":["run/x"]}}}"#, "a/b/c/d/run/x"),
        ("a/b/c/.vscode/tasks.json", r#"{"tasks":[{"command":"sh ./t.sh"}]}"#, "a/b/c/t.sh"),
        ("app/.claude/settings.json", r#"{"statusLine":{"command":"sh tools/line.sh"}}"#, "app/tools/line.sh"),
        ("app/.husky/pre-commit", "sh ../shared/check\n", "shared/check"),
        (
            "app/.vscode/tasks.json",
            r#"{"tasks":[{"command":"./t","options":{"cwd":"${workspaceFolder}/tools"}}]}"#,
            "app/tools/t",
        ),
    ] {
        let write = |from: &str| {
            let up = "../".repeat(from.split('/').filter(|part| !part.is_empty()).count());
            format!("echo x > {up}{written}")
        };
        let world = repository();
        for folder in ["other/deep", "shared", "run"] {
            std::fs::create_dir_all(world.work().join(folder)).unwrap();
        }
        world.file(written, "x");
        world.local(&[&write("")]);
        std::fs::remove_file(world.work().join(written)).unwrap();
        world.file(settings, text);
        let hook = |from: &str, command: &str| {
            let mut hook = bashgate_tests::hook();
            hook.arg("--config").arg(world.alone()).args(["check", "--", command]);
            hook.current_dir(world.work().join(from)).env("PATH", "/usr/bin:/bin");
            Output::of(&mut hook, b"").code != Some(0)
        };
        for from in ["", "other", "other/deep"] {
            assert!(hook(from, &write(from)), "{settings} from {from}");
            assert!(!hook(from, "echo x > notes.txt"), "{settings} from {from}");
        }
    }
    // More names than are looked at may hide what acts.
    let world = repository();
    let many = world.work().join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..100_001 {
        // As many names as the file system gives to one file.
        let of = many.join((number - number % 60_000).to_string());
        let name = many.join(number.to_string());
        if of == name { std::fs::write(name, "").unwrap() } else { std::fs::hard_link(of, name).unwrap() }
    }
    assert!(world.obstacle("echo x > notes.txt").is_some());
    std::fs::create_dir(world.work().join("node_modules")).unwrap();
    std::fs::rename(&many, world.work().join("node_modules/package")).unwrap();
    world.local(&["echo x > notes.txt"]);
}

/// A program that git's settings name counts before it is there.
#[test]
fn programs_of_gits_settings_count_before_they_are_there() {
    for (key, value, written) in [
        ("filter.x.clean", "sh tools/new.sh %f", "tools/new.sh"),
        ("filter.x.process", "node tools/late", "tools/late.js"),
        ("diff.x.textconv", "tools/conv", "tools/conv"),
        ("core.fsmonitor", "./tools/watch", "tools/watch"),
        ("alias.go", "!sh \"$PWD/tools/go\"", "tools/go"),
        ("core.pager", "tools/../tools/page", "tools/page"),
        ("filter.x.clean", "make -s clean", "Makefile"),
        ("filter.x.smudge", "cd tools && ./s", "tools/s"),
        ("alias.ci", "!npm run ci", "package.json"),
        ("alias.t", "!f() { T=tools/t; sh $T; }; f", "tools/t"),
        ("init.templateDir", "tools", "tools/hooks/post-checkout"),
    ] {
        let world = repository();
        std::fs::create_dir_all(world.work().join("tools")).unwrap();
        let write = format!("echo x > {written}");
        world.local(&[&write]);
        git(&world.work(), &["config", key, value]);
        world.asked(&[&write, &format!("cp README.md {written}")]);
        if key != "init.templateDir" {
            world.local(&["echo x > tools/other"]);
        }
    }
}

/// What is read at the start of a shell, and programs of PATH, may lie in the project.
#[test]
fn what_starts_at_home_and_in_path_leads_into_the_project() {
    let world = World::new();
    let home = tempfile::tempdir_in("/srv").unwrap();
    let path = tempfile::tempdir_in("/opt").unwrap();
    for name in ["env.sh", "tools/init.vim", "tools/more", "bin/tool", "free.sh"] {
        world.file(name, "x");
    }
    let work = world.work().display().to_string();
    let write = |name: &str, text: String| {
        std::fs::create_dir_all(home.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(home.path().join(name), text).unwrap();
    };
    write(".bashrc", format!("alias x=y\nsource \"{work}/env.sh\"\n"));
    write(".vimrc", format!("source {work}/tools/init.vim\n"));
    write(".config/systemd/user/a.service", format!("[Service]\nExecStart=/bin/sh {work}/tools/more\n"));
    symlink(world.work().join("bin/tool"), path.path().join("tool")).unwrap();
    let asked = |command: &str| {
        let mut hook = bashgate_tests::hook();
        hook.arg("--config").arg(world.alone()).args(["check", "--", command]).current_dir(world.work());
        let search = format!("{}:/usr/bin:/bin", path.path().display());
        Output::of(hook.env("PATH", search).env("HOME", home.path()), b"").code != Some(0)
    };
    for name in ["env.sh", "tools/init.vim", "tools/more", "bin/tool"] {
        assert!(asked(&format!("echo x > {name}")), "{name}");
    }
    assert!(!asked("echo x > free.sh"));
    write(".bashrc", "source ~/other.sh\n".to_owned());
    assert!(!asked("echo x > env.sh"));
    for line in
        ["PATH=./tools/bin:$PATH", "export PATH=\"$PATH:tools/bin\"", "PATH=\"./tools/bin:$HOME/bin:$PATH\"; ls"]
    {
        write(".bashrc", format!("{line}\n"));
        std::fs::create_dir_all(world.work().join("tools/bin")).unwrap();
        assert!(asked("echo x > tools/bin/git"), "{line}");
        assert!(!asked("echo x > tools/free"), "{line}");
    }
}

/// A number of an object as bytes.
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn said(folder: &Path, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    String::from_utf8(git.args(args).current_dir(folder).output().unwrap().stdout).unwrap().trim().to_owned()
}

/// A secret on a branch, and something harmless on the one that is shown.
fn with_a_secret_branch() -> World {
    let world = repository();
    let work = world.work();
    git(&work, &["checkout", "-qb", "old"]);
    world.file(".env", "K=SECRET");
    git(&work, &["add", "-f", ".env"]);
    git(&work, &["commit", "-qm", "secret"]);
    git(&work, &["checkout", "-q", "main"]);
    world.file("README.md", "y\n");
    git(&work, &["commit", "-qam", "two"]);
    world
}

#[test]
fn what_git_says_of_its_commits_besides_them_agrees() {
    const SHOWN: [&str; 3] = ["git show HEAD", "git log -p -1", "git diff HEAD~1 HEAD"];
    let forge = |file: &Path, from: &str, to: &str| {
        let mut all = std::fs::read(file).unwrap();
        let (from, to) = (bytes(from), bytes(to));
        let at = all.windows(from.len()).rposition(|part| part == from).unwrap();
        all[at..at + to.len()].copy_from_slice(&to);
        std::fs::remove_file(file).unwrap();
        std::fs::write(file, all).unwrap();
    };
    let graph = |world: &World| {
        let chain = world.work().join(".git/objects/info/commit-graphs");
        let files = std::fs::read_dir(chain).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "graph")).collect();
        files.extend(Some(world.work().join(".git/objects/info/commit-graph")).filter(|file| file.exists()));
        files.pop().unwrap()
    };
    for how in [&["commit-graph", "write", "--reachable"][..], &["commit-graph", "write", "--reachable", "--split"]] {
        let world = with_a_secret_branch();
        let work = world.work();
        // A merge of three, of which more stands elsewhere.
        for name in ["a", "b"] {
            git(&work, &["checkout", "-qb", name, "main"]);
            world.file(name, "x");
            git(&work, &["add", name]);
            git(&work, &["commit", "-qm", name]);
        }
        git(&work, &["checkout", "-q", "main"]);
        git(&work, &["merge", "-q", "--no-edit", "a", "b"]);
        world.file("README.md", "z\n");
        git(&work, &["commit", "-qam", "three"]);
        git(&work, how);
        world.local(&SHOWN);
        world.local(&["git log -p -5"]);
        let (head, old) = (said(&work, &["rev-parse", "HEAD^{tree}"]), said(&work, &["rev-parse", "old^{tree}"]));
        forge(&graph(&world), &head, &old);
        world.asked(&SHOWN);
    }
    // Half of one.
    let world = with_a_secret_branch();
    git(&world.work(), &["commit-graph", "write", "--reachable"]);
    let file = graph(&world);
    let half = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, &half[..half.len() / 2]).unwrap();
    world.asked(&SHOWN);
    // Twice the same name.
    let world = with_a_secret_branch();
    let work = world.work();
    git(&work, &["pack-refs", "--all"]);
    world.local(&SHOWN);
    let (main, old) = (said(&work, &["rev-parse", "main"]), said(&work, &["rev-parse", "old"]));
    world.file(
        ".git/packed-refs",
        &format!("# pack-refs with: peeled fully-peeled sorted \n{main} refs/heads/main\n{old} refs/heads/main\n"),
    );
    world.asked(&SHOWN);
    // A long one.
    let world = with_a_secret_branch();
    let old = said(&world.work(), &["rev-parse", "old"]);
    world.file(".git/refs/heads/main", &format!("{old}{}", "\n".repeat(70_000)));
    world.asked(&["git show HEAD", "git log -p -1"]);
    // A list of several packs.
    let world = with_a_secret_branch();
    git(&world.work(), &["repack", "-qad"]);
    world.local(&SHOWN);
    git(&world.work(), &["multi-pack-index", "write"]);
    world.asked(&SHOWN);
}

/// Numbers by which git ends a walk before it has seen what is to be left out, and lists in which it does not find what is there.
#[test]
fn git_walks_by_what_its_summaries_and_lists_say() {
    let world = repository();
    let work = world.work();
    let commit = |name: &str, content: &str| {
        world.file(name, content);
        git(&work, &["add", "-f", name]);
        git(&work, &["commit", "-qm", name]);
    };
    commit(".env", "K=SECRET");
    git(&work, &["checkout", "-qb", "t"]);
    git(&work, &["rm", "-q", ".env"]);
    commit("gone", "x");
    let tree = said(&work, &["rev-parse", "HEAD^{tree}"]);
    commit("later", "x");
    git(&work, &["checkout", "-q", "main"]);
    commit("mine", "x");
    git(&work, &["-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable"]);
    let shown = ["git log -p --graph t..main", "git log -p --topo-order t..main", "git log -p t..main"];
    world.local(&shown);
    let file = work.join(".git/objects/info/commit-graph");
    let mut all = std::fs::read(&file).unwrap();
    let tree = bytes(&tree);
    let at = all.windows(20).rposition(|part| part == tree).unwrap() + 28;
    all[at..at + 4].copy_from_slice(&(1_u32 << 2).to_be_bytes());
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, all).unwrap();
    world.asked(&shown);
    // Dates that are later than they are.
    for version in ["2", "1"] {
        std::fs::remove_file(&file).unwrap();
        let setting = format!("commitGraph.generationVersion={version}");
        git(&work, &["-c", &setting, "commit-graph", "write", "--reachable"]);
        world.local(&shown);
    }
    // A list that is not in order: git takes the name for a path.
    let world = repository();
    let work = world.work();
    world.file("feature/.env", "K=SECRET");
    git(&work, &["add", "-f", "."]);
    git(&work, &["commit", "-qm", "two"]);
    git(&work, &["rm", "-rq", "feature"]);
    git(&work, &["commit", "-qm", "three"]);
    let first = said(&work, &["rev-parse", "HEAD~2"]);
    let list = |names: &[&str]| {
        let lines: Vec<String> = names.iter().map(|name| format!("{first} refs/heads/{name}\n")).collect();
        let lines = lines.concat();
        world.file(".git/packed-refs", &format!("# pack-refs with: peeled fully-peeled sorted \n{lines}"));
    };
    list(&["feature", "z0", "z1", "z2"]);
    world.local(&["git log -p -1 feature"]);
    list(&["z0", "z1", "z2", "feature"]);
    world.asked(&["git log -p feature", "git log -p -1 feature"]);
    // Another object in the place of one.
    let world = repository();
    world.local(&["git show HEAD:README.md"]);
    let work = world.work();
    world.file("x", "SECRET");
    git(&work, &["add", "x"]);
    let (is, other) = (said(&work, &["rev-parse", "HEAD:README.md"]), said(&work, &["rev-parse", ":x"]));
    world.file(&format!(".git/refs/replace/{is}"), &format!("{other}\n"));
    world.asked(&["git show HEAD:README.md", "git cat-file -p HEAD:README.md", "git show HEAD"]);
}

/// What a list over all packs says of an object counts before what the packs say themselves.
#[test]
fn a_list_over_all_packs_may_say_anything() {
    let world = repository();
    let contents = ["git show HEAD:README.md", "git show HEAD", "git cat-file -p HEAD:README.md", "git diff HEAD~1"];
    world.file("README.md", "other");
    commit(&world, "second");
    git(&world.work(), &["repack", "-adq"]);
    world.local(&contents);
    git(&world.work(), &["multi-pack-index", "write"]);
    world.asked(&contents);
    world.local(&["git status", "git branch"]);
    let packs = world.work().join(".git/objects/pack");
    std::fs::create_dir(packs.join("multi-pack-index.d")).unwrap();
    std::fs::remove_file(packs.join("multi-pack-index")).unwrap();
    world.asked(&contents);
}

#[test]
fn what_is_set_for_one_call_throws_nothing_away() {
    let world = repository();
    world.file("a", "x");
    git(&world.work(), &["add", "a"]);
    world.local(&["git commit -qm x", "git -c user.name=x commit -qm x"]);
    world.asked(&[
        "git -c gc.auto=1 -c gc.pruneExpire=now commit -qm x",
        "git -c gc.reflogExpire=now status",
        "git -c maintenance.auto=1 commit -qm x",
        "git -c core.sharedRepository=0666 commit -qm x",
        "git -c core.excludesFile=.env check-ignore -v a",
    ]);
}
