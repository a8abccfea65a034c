//! The cage's own temporary folders: what the command names of the machine's is lent, what it leaves comes out, and the rest is
//! nobody's to change.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{CAGE, Ground, Who, cages, mark};

/// Names in /tmp that are gone with the test.
struct Names(Vec<PathBuf>);

impl Names {
    fn new() -> (String, Self) {
        (format!("/tmp/{}", mark()), Self(Vec::new()))
    }

    fn file(&mut self, ground: &Ground, path: &str, text: &str) -> PathBuf {
        fs::write(path, text).unwrap();
        ground.give(Path::new(path));
        self.0.push(path.into());
        path.into()
    }

    fn folder(&mut self, ground: &Ground, path: &str) -> PathBuf {
        fs::create_dir(path).unwrap();
        ground.give(Path::new(path));
        self.0.push(path.into());
        path.into()
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn stdout(outcome: &Value) -> &str {
    outcome["stdout"].as_str().unwrap()
}

/// What other programs of the same user keep there is neither read, nor changed, nor replaced: with names found by looking, by
/// guessing, through links and in folders.
#[test]
fn what_a_command_does_not_name_is_out_of_reach() {
    for ground in cages() {
        let (mark, mut names) = Names::new();
        let draft = names.file(&ground, &format!("{mark}-draft"), "mine\n");
        let folder = names.folder(&ground, &format!("{mark}-folder"));
        let inside = names.file(&ground, &format!("{mark}-folder/inside"), "mine\n");
        let program = names.file(&ground, &format!("{mark}-program"), "#!/bin/sh\necho mine\n");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ground.write("work/name", mark.trim_start_matches("/tmp/"));
        let outcome = ground.run_script(
            "n=$(cat name); d=/tm; d=${d}p\n\
             for f in $d/$n*; do cat $f; echo evil >> $f; done 2>/dev/null\n\
             for f in $n-draft $n-folder/inside $n-program; do\n\
               cat $d/$f; echo evil >> $d/$f; rm -f $d/$f; echo evil > new; mv new $d/$f; ln -s $d/$f link; echo evil >> link; rm link\n\
               ln $d/$f hard && echo evil >> hard; rm -f hard; chmod 777 $d/$f; touch $d/$f\n\
             done 2>/dev/null; rm -rf $d/$n-folder; mv $d/$n-folder $d/x; cd $d && find . -name \"$n*\" -exec cat {} +; true",
        );
        assert!(!stdout(&outcome).contains("mine"), "{}: {outcome:#}", ground.name());
        for path in [&draft, &inside, &program] {
            let text = fs::read_to_string(path).unwrap_or_default();
            assert!(text.contains("mine") && !text.contains("evil"), "{}: {} {text}", ground.name(), path.display());
        }
        assert!(folder.is_dir(), "{}", ground.name());
        // Landlock says nothing of modes, and claims none.
        let mode = fs::metadata(&program).unwrap().mode() & 0o777;
        assert!(mode == 0o755 || ground.backend == "landlock", "{}", ground.name());
        let _ = fs::remove_file("/tmp/x");
    }
}

/// A program outside whose names nobody knows beforehand, such as a compiler between its steps.
#[test]
fn what_others_make_meanwhile_is_not_seen() {
    for ground in cages() {
        let (mark, mut names) = Names::new();
        ground.write("work/race.sh", "for i in $(seq 100); do for f in /tmp/*-between; do [ -e \"$f\" ] && echo evil > \"$f\"; done; sleep 0.01; done; true");
        let waiting = std::thread::scope(|scope| {
            let run = scope.spawn(|| ground.run("touch begun; bash race.sh"));
            bashgate_tests::until("the run", || ground.work().join("begun").exists().then_some(()));
            let path = names.file(&ground, &format!("{mark}-between"), "mine");
            run.join().unwrap();
            path
        });
        assert_eq!(fs::read_to_string(waiting).unwrap(), "mine", "{}", ground.name());
    }
}

/// What an agent does from one command to the next: a file that was there, a log, a folder, output of programs.
#[test]
fn what_a_command_names_is_lent_and_what_it_leaves_comes_out() {
    for ground in cages() {
        let (mark, mut names) = Names::new();
        let script = names.file(&ground, &format!("{mark}.sh"), "echo from-the-script\n");
        let log = names.file(&ground, &format!("{mark}.log"), "old\n");
        let folder = names.folder(&ground, &format!("{mark}-d"));
        names.0.push(format!("{mark}-new.txt").into());
        let command = format!(
            "bash {mark}.sh > {mark}.log; echo more >> {mark}.log; echo new > {mark}-new.txt; echo in > {mark}-d/file; cat {mark}.log"
        );
        let outcome = ground.run(&command);
        assert_eq!(stdout(&outcome), "from-the-script\nmore\n", "{}: {outcome:#}", ground.name());
        assert_eq!(fs::read_to_string(&log).unwrap(), "from-the-script\nmore\n", "{}", ground.name());
        assert_eq!(fs::read_to_string(format!("{mark}-new.txt")).unwrap(), "new\n", "{}: {outcome:#}", ground.name());
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "in\n", "{}", ground.name());
        assert!(script.exists());
        // Only namespaces can give a file another name there.
        if ground.backend == "bwrap" {
            let replaced = ground.run(&format!("sed -i s/more/less/ {mark}.log && rm {mark}.sh && cat {mark}.log"));
            assert_eq!(stdout(&replaced), "from-the-script\nless\n", "{}: {replaced:#}", ground.name());
            assert_eq!(fs::read_to_string(&log).unwrap(), "from-the-script\nless\n");
            assert!(!script.exists(), "{}", ground.name());
            names.0.push(format!("{mark}-made").into());
            let made = ground.run(&format!(
                "cd /tmp && mkdir -p {0} && echo x > {0}/y",
                format!("{mark}-made").trim_start_matches("/tmp/")
            ));
            assert!(Path::new(&format!("{mark}-made/y")).exists(), "{}: {made:#}", ground.name());
        }
        // A link there is nobody's file.
        let victim = ground.write("outside/victim", "mine");
        std::os::unix::fs::symlink(&victim, format!("{mark}-link")).unwrap();
        names.0.push(format!("{mark}-link").into());
        ground.run(&format!("cat {mark}-link; echo evil > {mark}-link"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{}", ground.name());
    }
}

/// What looks like somebody's cache, a link, a socket or a hidden name does not come out, and nothing replaces what is there.
#[test]
fn what_programs_look_for_does_not_come_out() {
    for ground in cages().filter(|ground| ground.backend == "bwrap") {
        let (mark, mut names) = Names::new();
        let name = mark.trim_start_matches("/tmp/").to_owned();
        ground.write("work/n", &name);
        let there = names.file(&ground, &format!("{mark}-there"), "mine");
        for end in ["cache", "link", "socket", "plain", "tmp.0123456789"] {
            names.0.push(format!("{mark}-{end}").into());
        }
        let outcome = ground.run_script(
            "n=$(cat n); cd /tm? && mkdir $n-cache && echo evil > $n-cache/x; ln -s /etc $n-link; echo evil > .$n-hidden\n\
             python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('$n-socket')\"; echo fine > $n-plain; echo evil > $n-there",
        );
        for end in ["-cache", "-link", "-socket", "-plain"] {
            assert!(Path::new(&format!("{mark}{end}")).symlink_metadata().is_err(), "{}: {end}", ground.name());
        }
        assert!(!Path::new(&format!("/tmp/.{name}-hidden")).exists());
        assert_eq!(fs::read_to_string(there).unwrap(), "mine", "{}: {outcome:#}", ground.name());
        // Named in the text, but nothing that anybody is shown, or that acts where it lies.
        for name in [".hidden", ".envrc", ".mcp.json", "CLAUDE.md", "go.work", "conftest.py", "json.py", "krb5cc_0"] {
            let path = format!("/tmp/{name}");
            let was_there = Path::new(&path).exists();
            ground.run(&format!("echo {mark} > {path}; echo {mark} > {path}"));
            assert!(was_there || !Path::new(&path).exists(), "{}: {path}", ground.name());
        }
        // A pattern names nothing: what others make meanwhile would fit it.
        let lent = names.file(&ground, &format!("{mark}-ccabcdef.s"), "mine");
        ground.run(&format!("for f in {mark}-cc* {mark}-cc?bcdef.s {mark}-cc{{a,b}}bcdef.s; do echo evil > $f; done"));
        assert_eq!(fs::read_to_string(&lent).unwrap(), "mine", "{}", ground.name());
        // What has a second name in the project would be written by runs to come.
        ground.run(&format!("echo x > keep; ln keep {mark}-plain || cp -l keep {mark}-plain"));
        ground.run("echo evil > keep");
        assert!(!fs::read_to_string(format!("{mark}-plain")).unwrap_or_default().contains("evil"), "{}", ground.name());
    }
}

/// Where root works for somebody else, it replaces, removes and moves nothing of its own for him.
#[test]
fn what_is_roots_stays_roots() {
    for backend in ["bwrap", "landlock"] {
        let ground = Ground::new(Who::User, backend, CAGE);
        let (mark, mut names) = Names::new();
        let mine = format!("{mark}-root.sh");
        fs::write(&mine, "mine").unwrap();
        fs::set_permissions(&mine, fs::Permissions::from_mode(0o700)).unwrap();
        names.0.push(mine.clone().into());
        names.0.push(format!("{mark}-stolen").into());
        let mut root = std::process::Command::new(ground.path().join("bin/runner-driver"));
        root.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/root");
        let command =
            format!("cat {mine}; rm -f {mine}; echo evil > {mine}; mv {mine} {mark}-stolen; chmod 777 {mine}; true");
        let outcome = ground.run_with(root, &ground.order(&command));
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{backend}: {outcome:#}");
        let meta = fs::metadata(&mine).unwrap();
        assert_eq!((meta.uid(), meta.mode() & 0o777), (0, 0o700), "{backend}: {outcome:#}");
        assert!(!fs::read_to_string(format!("{mark}-stolen")).unwrap_or_default().contains("mine"), "{backend}");
    }
}

/// Folders of other runs, also where these keep their caches, are nobody's: named, found or guessed.
#[test]
fn other_runs_folders_are_not_seen() {
    for ground in cages() {
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| ground.run("mkdir -p $npm_config_cache ${TMPDIR:-/tmp}; echo $npm_config_cache; echo mine > $npm_config_cache/x; touch begun; for i in $(seq 300); do [ -e over ] && break; sleep 0.01; done; cat $npm_config_cache/x; ls $npm_config_cache"));
            bashgate_tests::until("the run", || ground.work().join("begun").exists().then_some(()));
            let second = ground.run_script(
                "for d in /tmp/bashgate-*/tmp /var/tmp/bashgate-*/tmp; do echo evil > $d/.caches/npm_config_cache/x; echo evil > $d/planted; ls $d; done 2>/dev/null; true",
            );
            fs::write(ground.work().join("over"), "").unwrap();
            (first.join().unwrap(), second)
        });
        assert!(stdout(&first).ends_with("mine\nx\n"), "{}: {first:#} {second:#}", ground.name());
    }
}

/// What a run has closed is removed with its folder.
#[test]
fn closed_folders_do_not_stay() {
    for ground in cages() {
        let outcome = ground.run(
            "d=${npm_config_cache:?}; mkdir -p $d/a/b; echo left > $d/a/b/f; chmod 500 $d/a/b; chmod 0 $d/a; echo ${d%/.caches*}",
        );
        let path = stdout(&outcome).trim();
        assert!(
            !path.is_empty() && (ground.backend == "bwrap" || !Path::new(path).exists()),
            "{}: {outcome:#}",
            ground.name()
        );
        let left = fs::read_dir("/tmp").unwrap().flatten().filter(|entry| {
            let inner = entry.path().join("tmp/.caches/npm_config_cache/a");
            entry.file_name().to_string_lossy().starts_with("bashgate-") && inner.symlink_metadata().is_ok()
        });
        assert_eq!(left.count(), 0, "{}", ground.name());
    }
}

/// A folder that the text names in one place, and something below it in another, is a folder.
#[test]
fn a_folder_that_is_named_with_and_without_what_lies_in_it_can_be_made() {
    for ground in cages() {
        let (mark, mut names) = Names::new();
        let folder = format!("{mark}-made");
        names.0.push(folder.clone().into());
        let text = format!("mkdir -p {folder}/x && echo 1 > {folder}/x/y && ls {folder} && cat {folder}/x/y");
        let outcome = ground.run(&text);
        assert_eq!(stdout(&outcome), "x\n1\n", "{}: {outcome:#}", ground.name());
    }
}

/// A repository there is lent because the command names it, and what acts in it is as it was.
#[test]
fn what_is_lent_is_looked_at_as_well() {
    for ground in cages() {
        let (mark, mut names) = Names::new();
        let lent = names.folder(&ground, &format!("{mark}-lent"));
        super::acting::git(&lent, &["init", "-q"]);
        super::acting::give_all(&ground, &lent);
        let folder = lent.display();
        let script = format!(
            "echo 'touch canary' > {folder}/.git/hooks/post-commit; chmod +x {folder}/.git/hooks/post-commit; \
             echo x > {folder}/.envrc; mkdir -p {folder}/.claude; echo '{{}}' > {folder}/.claude/settings.json; \
             git -C {folder} config core.fsmonitor ./watch; echo plain > {folder}/plain"
        );
        ground.write("work/script.sh", &script);
        let outcome = ground.run(&format!("ls {folder}; bash script.sh"));
        for name in [".git/hooks/post-commit", ".envrc", ".claude/settings.json"] {
            assert!(!lent.join(name).exists(), "{}: {name}: {outcome:#}", ground.name());
        }
        let settings = fs::read_to_string(lent.join(".git/config")).unwrap_or_default();
        assert!(!settings.contains("fsmonitor"), "{}: {outcome:#}", ground.name());
        assert_eq!(fs::read_to_string(lent.join("plain")).unwrap(), "plain\n", "{}", ground.name());
    }
}
