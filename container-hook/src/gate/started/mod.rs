//! What an agent's settings, git's hooks and what a shell reads on entering a folder start: the files and folders that their commands
//! name. Whoever writes such a file writes what runs outside of the gate.
//!
//! [`in_force`] finds the texts, [`Look`] what their words name and where that leads in its turn. What such a script does beyond the
//! words of its commands is its own: code that is built, or that a program looks for in ways of its own, is a project's code like any
//! other, which a person runs.

mod lines;
mod look;
mod make;
mod settings;

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use bashgate_shared::classify::later;
use bashgate_shared::{agents, programs};
use serde_json::Value;

pub(in crate::gate) use look::INSTALLED;
pub use look::{Folder, Look};

use super::acting::project_of;
use super::conditions::home;
use super::git;
use super::inward::Around;
use super::listing;
pub use super::listing::is_there;
use crate::doctor::bare_json;

/// Most files of settings outside of a project that are read.
const MOST_OUTSIDE: usize = 64;

/// What is in force in a folder starts these files.
#[derive(Debug)]
pub struct Started {
    /// By the names that are used for them, and where they really lie.
    pub files: Vec<PathBuf>,
    /// Folders of which it starts what lies in them.
    pub folders: Vec<Folder>,
    /// Whether all was looked at that says so.
    pub is_all: bool,
}

impl Started {
    /// What was found, also by its real paths.
    fn of(mut look: Look) -> Self {
        let is_all = look.is_all;
        let (files, found) = look.taken();
        let real: Vec<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        let mut folders: Vec<Folder> = found.into_iter().collect();
        let resolved = |folder: &Folder| Some(Folder { path: folder.path.canonicalize().ok()?, ..folder.clone() });
        folders.extend(folders.iter().filter_map(resolved).collect::<Vec<_>>());
        folders.sort();
        folders.dedup();
        Self { files: files.into_iter().chain(real).collect(), folders, is_all }
    }

    /// What a file is to what is in force: the script that it is, or a folder of such. Also for a folder with such in it.
    pub fn names(&self, written: &Path, real: &Path) -> Option<&Path> {
        let is_it = |script: &&PathBuf| script.starts_with(real) || *script == written;
        let holds = |folder: &&Folder| folder.path.starts_with(real) || folder.holds(written) || folder.holds(real);
        let folder = || self.folders.iter().find(holds).map(|folder| folder.path.as_path());
        self.files.iter().find(is_it).map(PathBuf::as_path).or_else(folder)
    }
}

/// The files that what is in force in a folder starts: agents' settings there, above it, at home and of the machine, git's hooks, and
/// these files, which act later in the folder, those above it and projects below; the same where files are made `soon`. These count as
/// if they were there.
pub fn in_force(start: &Path, soon: &[PathBuf], around: &Around) -> Started {
    let mut look = Look::default();
    let counts = |names: &mut listing::Names, place: &Path| listing::is_there_or_soon(names, place, soon);
    let top = project_of(start);
    look.is_all = around.is_all;
    let below = soon.iter().flat_map(|file| file.ancestors().skip(1).take_while(|folder| folder.starts_with(&top)));
    let mut folders: Vec<&Path> = start.ancestors().chain(below).collect();
    folders.sort_by_key(|folder| (folder.as_os_str().len(), *folder));
    folders.dedup();
    let with_home = folders.iter().rev().map(|folder| (*folder).to_owned()).chain(home()).collect();
    let mut read = HashSet::new();
    for (number, file) in settings_of(with_home).enumerate() {
        if number == MOST_OUTSIDE {
            look.is_all = false;
            break;
        }
        let own = [file.parent(), file.parent().and_then(Path::parent)];
        let bases: Vec<&Path> = own.into_iter().flatten().chain([start]).collect();
        look.at_settings_file(&file, &bases, &counts);
        read.insert(file);
    }
    look.at_home(&around.at_home, (start, &top), &counts);
    for file in around.acting.iter().filter(|file| !read.contains(*file)) {
        let of = folders.iter().rev().find(|folder| file.starts_with(folder)).copied().unwrap_or(start);
        // A project in the project has its own root: the folder that holds what acts, or that one lies in.
        let own = [file.parent(), file.parent().and_then(Path::parent)];
        let all: Vec<&Path> = own.into_iter().flatten().filter(|folder| folder.starts_with(of)).chain([of]).collect();
        if is_settings(file) {
            look.at_settings_file(file, &all, &counts);
        } else if starts_others(file) {
            look.at_file(file, &all, &counts);
        }
    }
    for folder in &folders {
        // Its hooks are those of a repository that is found from there; the ones above have been looked at from there.
        let is_a_root = *folder == start || folder.starts_with(&top) && folder.join(".git").symlink_metadata().is_ok();
        if !is_a_root {
            continue;
        }
        let (repositories, is_understood) = git::those_understood(folder);
        let (lines, is_all) = git::named::commands(&repositories);
        look.is_all &= is_understood && is_all;
        for (line, root) in lines {
            look.at_line(&line, &[&root], &counts);
        }
        for (hooks, root) in git::hook_folders(&repositories) {
            let hooks = fs::read_dir(hooks).into_iter().flatten().flatten();
            for hook in hooks.filter(|entry| programs::is_git_hook(&entry.file_name().to_string_lossy())) {
                look.at_file(&hook.path(), &[&root], &counts);
            }
        }
    }
    look.follow(&[start], &counts);
    Started::of(look)
}

/// The files that agents' settings start for whoever works in a folder.
pub fn by_settings(start: &Path) -> Started {
    let mut look = Look::default();
    let counts = |names: &mut listing::Names, place: &Path| is_there(names, place);
    for file in settings_of(start.ancestors().map(Path::to_owned).chain(home()).collect()).take(MOST_OUTSIDE) {
        let own = [file.parent(), file.parent().and_then(Path::parent)];
        let bases: Vec<&Path> = own.into_iter().flatten().chain([start]).collect();
        look.at_settings_file(&file, &bases, &counts);
    }
    look.follow(&[start], &counts);
    Started::of(look)
}

/// True for a file which says what runs: what it starts is looked for.
pub fn starts_others(file: &Path) -> bool {
    // A development environment's own data, of which nothing runs by itself, and git's, whose hooks are found by its own names for them.
    const DATA: [&str; 2] = [".idea", ".git"];
    let mut parts = file.components().map(Component::as_os_str);
    let is_sample = file.extension().is_some_and(|ending| ending == "sample");
    !is_sample
        && !is_settings(file)
        && !parts.any(|part| DATA.iter().any(|name| part == *name))
        && later::of(&file.to_string_lossy(), None).is_some_and(|later| later.is_kept)
}

/// True for an agent's settings, of which only some fields are commands.
fn is_settings(file: &Path) -> bool {
    let lower = file.to_string_lossy().to_ascii_lowercase();
    let is_called = |name: &str| {
        let (name, goes_on) = name.strip_suffix('*').map_or((name, false), |start| (start, true));
        let behind = lower.rfind(name).filter(|at| *at == 0 || lower.as_bytes().get(at - 1) == Some(&b'/'));
        behind
            .and_then(|at| lower.get(at + name.len()..))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || goes_on && !rest.contains('/'))
    };
    agents::settings().any(is_called)
}

/// Agents' settings in these folders, and those of the machine.
pub fn settings_of(folders: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let in_folder = |folder: PathBuf| agents::settings().flat_map(move |name| called_so(&folder.join(name)));
    let managed = agents::managed().flat_map(|folder| called_so(&Path::new(folder).join("*")));
    // Some are folders of such files.
    let inside = |place: PathBuf| if place.is_dir() { called_so(&place.join("*")) } else { vec![place] };
    folders.into_iter().flat_map(in_folder).chain(managed).flat_map(inside).filter(|file| file.is_file())
}

/// Settings in any of the languages that agents' settings are written in.
pub fn parsed(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    Some(bare_json(text)).filter(|value| !value.is_null()).or_else(|| toml::from_str(text).ok())
}

/// The files that are called so: with a `*` at its end, all whose names begin so.
fn called_so(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(start) = name.strip_suffix('*') else { return vec![path.to_owned()] };
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let meant = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    // One more than are read: then it is known that there are more.
    meant.map(|entry| entry.path()).filter(|file| file.is_file()).take(MOST_OUTSIDE + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(settings: &Value, folders: &[&Path]) -> Vec<PathBuf> {
        let mut look = Look::default();
        look.at_gate(settings, folders, &listing::is_there);
        look.taken().0.into_iter().collect()
    }

    #[test]
    fn scripts_of_hooks_are_found_and_what_only_permissions_name_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["gate.sh", "lint.py", "src.rs", "server.js"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        let settings = serde_json::json!({
            "permissions": {"allow": ["Edit(./src.rs)"]},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/gate.sh --x"},
                {"type": "command", "command": "cd . && python3 ${CLAUDE_PROJECT_DIR}/lint.py"}]}]},
            "mcpServers": {"x": {"command": "node", "args": ["-r", "./server.js"]}},
        });
        let names = scripts(&settings, &[root]);
        assert_eq!(names, ["gate.sh", "lint.py", "server.js"].map(|name| root.join(name)));
        // In other spellings, and under other keys.
        std::fs::create_dir(root.join("tools")).unwrap();
        for name in ["tools/gate", "tools/deep.sh", "tools/g.js", "key.sh", "notify.py", "Bash"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        for (settings, want) in [
            (
                serde_json::json!({"hooks": [{"command": "cd \"$CLAUDE_PROJECT_DIR/tools\" && sh deep.sh"}]}),
                "tools/deep.sh",
            ),
            (serde_json::json!({"hooks": [{"command": "cd tools; sh gate"}]}), "tools/gate"),
            (serde_json::json!({"hooks": [{"command": "node tools/g"}]}), "tools/g.js"),
            (serde_json::json!({"apiKeyHelper": "sh ./key.sh"}), "key.sh"),
            (serde_json::json!({"notify": ["python3", "notify.py"]}), "notify.py"),
        ] {
            assert!(scripts(&settings, &[root]).contains(&root.join(want)), "{settings}");
        }
        let matcher = serde_json::json!({"hooks": [{"matcher": "Bash", "command": "true"}]});
        assert_eq!(scripts(&matcher, &[root]), Vec::<PathBuf>::new());
    }

    /// A project with these files; whether what is in force in it starts the last one, which may not be there yet.
    fn starts(files: &[(&str, &str)], written: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        };
        for (name, text) in [("src/main.rs", "x"), ("README.md", "x"), (".git/HEAD", "ref: refs/heads/main\n")] {
            write(name, text);
        }
        for folder in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for (name, text) in files {
            // The project's own whole name.
            write(name, &text.replace("ROOT", root.to_str().unwrap()));
        }
        let written = root.join(written);
        std::fs::create_dir_all(written.parent().unwrap()).unwrap();
        let soon = vec![written.clone()];
        let around = crate::gate::inward::around(&root, &soon);
        let started = in_force(&root, &soon, &around);
        assert!(started.is_all, "{files:?}");
        assert_eq!(started.names(&root.join("src/main.rs"), &root.join("src/main.rs")), None, "{files:?}");
        assert_eq!(started.names(&root.join("README.md"), &root.join("README.md")), None, "{files:?}");
        started.names(&written, &written).is_some()
    }

    #[test]
    fn what_an_agents_hook_starts_is_found_however_it_is_named() {
        let mut mistakes = Vec::new();
        for (command, written) in [
            ("npm run -s gate", "package.json"),
            ("uv run gate", "pyproject.toml"),
            ("poetry run gate", "pyproject.toml"),
            ("./gradlew gate", "build.gradle"),
            ("./mvnw -q exec:java", "pom.xml"),
            ("deno task gate", "deno.json"),
            ("just gate", ".justfile"),
            ("task gate", "Taskfile.dist.yaml"),
            ("make -C web gate", "web/Makefile"),
            ("npm --prefix web run gate", "web/package.json"),
            ("cd web && npm run gate", "web/package.json"),
            ("node tools", "tools/index.js"),
            ("node ./tools/hook", "tools/hook/index.js"),
            ("npx tsx tools/gate", "tools/gate.tsx"),
            ("npx tsx tools/gate", "tools/gate.mts"),
            ("ruby tools/g", "tools/g.rb"),
            ("for f in tools/gates/*.sh; do sh $f; done", "tools/gates/a.sh"),
            ("run-parts tools/gates", "tools/gates/a"),
            ("cd tools && cd deep && ./g", "tools/deep/g"),
            ("cargo run -q -p gate", "gate/src/main.rs"),
            ("go run ./cmd/gate", "cmd/gate/main.go"),
            ("perl -Itools -MGate -e1", "tools/Gate.pm"),
            ("ruby -I tools -r gate -e 1", "tools/gate.rb"),
            ("sh tools/gat?.sh", "tools/gate.sh"),
            ("sh tools/[g]ate", "tools/gate"),
            ("sh tools/g\\ate", "tools/gate"),
            ("sh ~+/tools/gate.sh", "tools/gate.sh"),
            ("sh my\\ tools/gate.sh", "my tools/gate.sh"),
            ("sh \"my tools/gate.sh\"", "my tools/gate.sh"),
            ("\"$CLAUDE_PROJECT_DIR/my tools/gate.sh\"", "my tools/gate.sh"),
            ("sh tools/a,b.sh", "tools/a,b.sh"),
            ("sh tools/a=b.sh", "tools/a=b.sh"),
            ("sh \"tools (new)/gate.sh\"", "tools (new)/gate.sh"),
            ("sh \"tools!/gate.sh\"", "tools!/gate.sh"),
            ("java -cp 'tools/lib/*' Gate", "tools/lib/a.jar"),
            ("java -cp tools Gate", "tools/Gate.class"),
            ("sh tools/gate-$(uname).sh", "tools/gate-Linux.sh"),
            ("tools/ga*", "tools/gate"),
            ("sh tools/{gate,lint}.sh", "tools/lint.sh"),
            ("sh tools/g{1..3}.sh", "tools/g2.sh"),
            ("sh $'tools/\\x67ate'", "tools/gate"),
            ("cat tools/gate | sh", "tools/gate"),
            ("sed s/a/b/ tools/gate.txt | grep -v x | bash", "tools/gate.txt"),
            ("ls tools | xargs -n1 sh", "tools/gate"),
            ("find tools -type f | while read -r f; do sh \"$f\"; done", "tools/gate"),
            ("bash <(cat tools/gate)", "tools/gate"),
            ("eval \"$(cat tools/gate)\"", "tools/gate"),
            ("\"${GATE:-tools/gate}\"", "tools/gate"),
            ("for f in ROOT/tools/*.sh; do sh $f; done", "tools/gate.sh"),
            ("PATH=ROOT/tools:$PATH gate", "tools/gate"),
            ("make -C ROOT/web gate", "web/Makefile"),
            ("cd ROOT/tools && ./gate", "tools/gate"),
            ("run-parts ROOT/tools/d", "tools/d/gate"),
        ] {
            if !starts(&[(".claude/settings.json", &json_hook(command))], written) {
                mistakes.push(format!("{command}: {written}"));
            }
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    fn json_hook(command: &str) -> String {
        serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}).to_string()
    }

    #[test]
    fn what_scripts_start_in_their_turn_is_found() {
        let gate = |command: &str| (".claude/settings.json", json_hook(command));
        let pre_commit = |text: &str| (".git/hooks/pre-commit", text.to_owned());
        let mut mistakes = Vec::new();
        for (first, more, written) in [
            (
                gate("python3 \"$CLAUDE_PROJECT_DIR\"/tools/gate.py"),
                ("tools/gate.py", "import rules"),
                "tools/rules.py",
            ),
            (gate("python3 tools/gate.py"), ("tools/gate.py", "import json"), "tools/json.py"),
            (gate("python3 gate.py"), ("gate.py", "import json"), "json.py"),
            (gate("python3 -c 'import json, sys'"), ("x", ""), "json.py"),
            (gate("python3 -c 'import json, sys'"), ("x", ""), "re.py"),
            (gate("python3 -Sc 'import json, sys'"), ("x", ""), "json/__init__.py"),
            (gate("cat | python3 -m json.tool"), ("x", ""), "json/tool.py"),
            (gate("python3 - <<E\nimport sys\nE"), ("x", ""), "sys.py"),
            (gate("cd tools && python3 -c 'import json'"), ("tools/x", ""), "tools/json.py"),
            (gate("for s in tools/*; do sh $s; done"), ("x", ""), "tools/a"),
            (gate("D=\"$(pwd)/tools\"; for s in \"$D\"/*; do sh $s; done"), ("tools/x", ""), "tools/a"),
            (gate("cd tools; for s in *.sh; do sh $s; done"), ("tools/x", ""), "tools/a.sh"),
            (gate("c=$(cat lint); eval \"$c\""), ("x", ""), "lint"),
            (gate("c=$(cat lint); sh -c \"$c\""), ("x", ""), "lint"),
            (gate("LINT=lint; sh $LINT"), ("x", ""), "lint"),
            (gate("LINT=lint; sh \"${LINT}\""), ("x", ""), "lint"),
            (gate("A=tools; B=$A/deep; sh $B/x"), ("tools/deep/y", ""), "tools/deep/x"),
            (gate("if true; then L=a; else L=b; fi; sh $L"), ("x", ""), "a"),
            (gate("if true; then L=a; else L=b; fi; sh $L"), ("x", ""), "b"),
            (gate("node tools/gate.js"), ("tools/gate.js", "require('./lib/x')"), "tools/lib/x.js"),
            (gate("sh tools/gate.sh"), ("tools/gate.sh", ". ./tools/lib.sh"), "tools/lib.sh"),
            (gate("timeout 30 python3 tools/gate.py"), ("tools/gate.py", "import json"), "tools/json.py"),
            (gate("x=$(python3 tools/gate.py)"), ("tools/gate.py", "import json"), "tools/json.py"),
            (gate("cd -- tools && ./x"), ("y", ""), "tools/x"),
            (gate("D=tools; sh $D/x"), ("y", ""), "tools/x"),
            (gate("D=tools/deep; node \"$D/x.js\""), ("y", ""), "tools/deep/x.js"),
            (
                gate("npx lint-staged"),
                ("package.json", "{\"lint-staged\": {\"*.js\": [\"sh tools/l.sh\"]}}"),
                "tools/l.sh",
            ),
            (gate("make x"), ("Makefile", "include rules.mk\nx:\n\ttrue\n"), "rules.mk"),
            (gate("make x"), ("Makefile", "A := $(shell sh tools/a.sh)\n"), "tools/a.sh"),
            (pre_commit("make x"), ("Makefile", "X=tools/a\nx:\n\tsh $(X).sh\n"), "tools/a.sh"),
            (pre_commit("make x"), ("Makefile", "X:=tools\nx:\n\t@python3 ${X}/a.py\n"), "tools/a.py"),
            (pre_commit("make x"), ("Makefile", "x: tools/a.sh\n\tsh $<\n"), "tools/a.sh"),
            (pre_commit("make x"), ("Makefile", "x: tools/a tools/b\n\tfor i in $^; do sh $$i; done\n"), "tools/b"),
            (pre_commit("make x"), ("Makefile", "-include *.mk\nx:\n\ttrue\n"), "new.mk"),
            (pre_commit("make x"), ("Makefile", "include build/*.mk\nx:\n\ttrue\n"), "build/new.mk"),
            (pre_commit("find tools -name '*.sh' -exec sh {} \\;"), ("x", ""), "tools/deep/new.sh"),
            (pre_commit("find tools -type f -exec bash {} +"), ("x", ""), "tools/new"),
            (pre_commit("git ls-files '*.sh' | xargs -n1 sh"), ("x", ""), "tools/deep/new.sh"),
            (pre_commit("git ls-files tools | xargs -n1 bash"), ("x", ""), "tools/new.sh"),
            (pre_commit("find . -name '*.py' | while read f; do python3 $f; done"), ("x", ""), "tools/new.py"),
            (pre_commit("find . -name '*.sh' -exec sh {} \\;"), ("x", ""), "deep/new.sh"),
            (pre_commit("make x"), ("Makefile", "SHELL=./tools/sh\nx:\n\ttrue\n"), "tools/sh"),
            (pre_commit("make x"), ("Makefile", "x: X=tools/a\nx:\n\tsh $(X).sh\n"), "tools/a.sh"),
            (pre_commit("make x"), ("Makefile", "x:\n\t$(foreach f,$(wildcard tools/*.sh),sh $(f);)\n"), "tools/a.sh"),
            (
                pre_commit("make x"),
                ("Makefile", "S:=$(wildcard tools/*.sh)\nx:\n\tfor i in $(S); do sh $$i; done\n"),
                "tools/a.sh",
            ),
            (
                pre_commit("make x"),
                ("Makefile", "x: $(wildcard tools/*.sh)\n\tfor i in $^; do sh $$i; done\n"),
                "tools/a.sh",
            ),
            (pre_commit("make x"), ("Makefile", "x:\n\tsh $(addprefix tools/,a.sh)\n"), "tools/a.sh"),
            (pre_commit("make x"), ("Makefile", "include $(wildcard mk/*)\nx:\n\ttrue\n"), "mk/new"),
            (pre_commit("make x"), ("Makefile", "x:\n\t$(shell cat tools/cmd)\n"), "tools/cmd"),
            (pre_commit("make x"), ("Makefile", ".DEFAULT_GOAL := b\na:\n\ttrue\nb:\n\tsh tools/a.sh\n"), "tools/a.sh"),
            (pre_commit("for f in $(git ls-files \"*.sh\"); do sh \"$f\"; done"), ("x", ""), "tools/a.sh"),
            (
                pre_commit("mapfile -t a < <(git ls-files); for f in \"${a[@]}\"; do sh \"$f\"; done"),
                ("x", ""),
                "tools/a.sh",
            ),
            (
                pre_commit("git diff --cached --name-only | grep sh$ | while read f; do bash \"$f\"; done"),
                ("x", ""),
                "tools/a.sh",
            ),
            (pre_commit("git ls-files | grep sh$ | parallel sh"), ("x", ""), "tools/a.sh"),
            (pre_commit("git -c core.hooksPath=tools commit"), ("x", ""), "tools/pre-commit"),
            (pre_commit("invoke lint"), ("x", ""), "tasks.py"),
            (pre_commit("npx grunt lint"), ("x", ""), "Gruntfile.js"),
            (pre_commit("mix format --check-formatted"), ("x", ""), "mix.exs"),
            (pre_commit("pixi run lint"), ("x", ""), "pixi.toml"),
            (pre_commit("makers lint"), ("x", ""), "Makefile.toml"),
            (gate("npm run gate"), ("package.json", "{\"scripts\": {\"gate\": \"node tools/g\"}}"), "tools/g.js"),
            (pre_commit("exec \"$(dirname \"$0\")/../../scripts/lint.sh\""), ("x", ""), "scripts/lint.sh"),
            (pre_commit("here=x\n. $here/../../scripts/lint"), ("x", ""), "scripts/lint"),
            (pre_commit("exec scripts/hooks/\"$(basename \"$0\")\""), ("x", ""), "scripts/hooks/pre-commit"),
            (pre_commit("exec scripts/hooks/${0##*/}"), ("x", ""), "scripts/hooks/pre-push"),
            (pre_commit("scripts/lint"), ("scripts/lint", ". scripts/common.sh"), "scripts/common.sh"),
            (pre_commit("make lint"), ("Makefile", "lint:\n\tsh scripts/m.sh\n"), "scripts/m.sh"),
            (pre_commit("make lint"), ("Makefile", "lint: src/main.rs\n\t@scripts/m src/main.rs\n"), "scripts/m"),
            ((".husky/pre-commit", ". \"$(dirname -- \"$0\")/../scripts/l.sh\"".to_owned()), ("x", ""), "scripts/l.sh"),
            (
                ("lefthook.toml", "[pre-commit.commands.x]\nrun = \"sh scripts/i.sh\"".to_owned()),
                ("x", ""),
                "scripts/i.sh",
            ),
            ((".config/mise/config.toml", "[tasks]\nx = \"scripts/i\"".to_owned()), ("x", ""), "scripts/i"),
            (
                (
                    ".cursor/mcp.json",
                    "{\"mcpServers\":{\"a\":{\"command\":\"sh\",\"args\":[\"scripts/i\"]}}}".to_owned(),
                ),
                ("x", ""),
                "scripts/i",
            ),
            (
                (
                    ".vscode/mcp.json",
                    "{\"servers\":{\"a\":{\"command\":\"sh\",\"args\":[{\"value\":\"scripts/i\"}]}}}".to_owned(),
                ),
                ("x", ""),
                "scripts/i",
            ),
            (
                (".vscode/tasks.json", "{\"tasks\":[{\"type\":\"npm\",\"script\":\"x\"}]}".to_owned()),
                ("x", ""),
                "package.json",
            ),
            (
                (
                    ".vscode/tasks.json",
                    "{\"tasks\":[{\"command\":\"./i\",\"options\":{\"cwd\":\"scripts\"}}]}".to_owned(),
                ),
                ("x", ""),
                "scripts/i",
            ),
            (
                (".vscode/settings.json", "{\"python.defaultInterpreterPath\":\"tools/py\"}".to_owned()),
                ("x", ""),
                "tools/py",
            ),
            (
                (".devcontainer/devcontainer.json", "{\"postCreateCommand\":{\"a\":\"bash scripts/i\"}}".to_owned()),
                ("x", ""),
                "scripts/i",
            ),
            (
                (".devcontainer/x/devcontainer.json", "{\"postCreateCommand\":\"sh scripts/i.sh\"}".to_owned()),
                ("x", ""),
                "scripts/i.sh",
            ),
            ((".gitpod.yml", "tasks:\n  - init: sh scripts/i.sh\n".to_owned()), ("x", ""), "scripts/i.sh"),
            (("conductor.json", "{\"scripts\":{\"setup\":\"sh scripts/i.sh\"}}".to_owned()), ("x", ""), "scripts/i.sh"),
            ((".cursor/environment.json", "{\"install\":\"sh scripts/i.sh\"}".to_owned()), ("x", ""), "scripts/i.sh"),
            (
                (".github/hooks/a.json", "{\"hooks\":{\"preToolUse\":[{\"bash\":\"./scripts/i\"}]}}".to_owned()),
                ("x", ""),
                "scripts/i",
            ),
            (
                (".claude/agents/a.md", "---\nhooks:\n  - command: sh scripts/i.sh\n---\nSee src/main.rs\n".to_owned()),
                ("x", ""),
                "scripts/i.sh",
            ),
            (
                (".claude/skills/a/SKILL.md", "Now: !`scripts/pc x`, see `src/main.rs`\n".to_owned()),
                ("x", ""),
                "scripts/pc",
            ),
            ((".envrc", "PATH_add tools/bin\n".to_owned()), ("x", ""), "tools/bin/ls"),
            ((".envrc", "export PATH=$PWD/tools/bin:$PATH\n".to_owned()), ("x", ""), "tools/bin/ls"),
            ((".exrc", "source vim/x.vim\n".to_owned()), ("x", ""), "vim/x.vim"),
            (("proj/.envrc", ". ../shared/e\n".to_owned()), ("x", ""), "shared/e"),
            (("mise.toml", "[env]\n_.path = [\"tools/bin\"]\n".to_owned()), ("x", ""), "tools/bin/ls"),
            (("mise.toml", "[env]\n_.source = \"tools/e\"\n".to_owned()), ("x", ""), "tools/e"),
            (
                (
                    ".vscode/settings.json",
                    "{\"terminal.integrated.env.linux\":{\"PATH\":\"${workspaceFolder}/tools/bin:${env:PATH}\"}}"
                        .to_owned(),
                ),
                ("x", ""),
                "tools/bin/ls",
            ),
            (
                (".vscode/settings.json", "{\"typescript.tsdk\":\"tools/ts\"}".to_owned()),
                ("x", ""),
                "tools/ts/tsserver.js",
            ),
            (
                (
                    ".vscode/settings.json",
                    "{\"go.alternateTools\":{\"gopls\":\"./tools/x\"},\"a.executable\":\"tools/y\"}".to_owned(),
                ),
                ("x", ""),
                "tools/y",
            ),
        ] {
            if !starts(&[(first.0, &first.1), more], written) {
                mistakes.push(format!("{first:?} {more:?}: {written}"));
            }
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    #[test]
    fn what_is_only_worked_on_is_not_what_is_started() {
        let package = r#"{"scripts": {"start": "node src/index.js", "gen": "node scripts/gen.mjs", "lint": "node tools/lint.js"},
            "lint-staged": {"*.js": "eslint"}}"#;
        let server = r#"{"mcpServers": {"x": {"command": "npx", "args": ["-y", "@x/server-filesystem", "./docs"]}}}"#;
        for (file, text, written) in [
            (".git/hooks/pre-commit", "npx eslint src", "src/index.js"),
            (".claude/settings.json", &json_hook("npx prettier --write ."), "src/a.ts"),
            (".claude/settings.json", &json_hook("jq -r '.tool_input.command | test(\"rm.*\")'"), "lib/a.ts"),
            (".claude/settings.json", &json_hook("npm run lint"), "src/index.js"),
            ("Makefile", "all: src/a.c", "src/a.c"),
            (".claude/skills/a/SKILL.md", "Look at `lib/a.ts` and run the tests", "lib/a.ts"),
            (".vscode/settings.json", "{\"files.exclude\":{\"lib/a.ts\":true}}", "lib/a.ts"),
            (".mcp.json", server, "docs/a.html"),
            (".husky/commit-msg", "npx --no -- commitlint --edit \"$1\"", "src/index.js"),
            (".husky/pre-commit", "npx lint-staged", "scripts/other.sh"),
            (".husky/pre-commit", "npm run lint", "tools/other.js"),
            (".git/hooks/pre-push", "make lint", "app/main.py"),
            (".envrc", "export PYTHONPATH=src", "src/a.py"),
            (".vscode/tasks.json", "{\"tasks\":[{\"command\":\"python -m app.main\"}]}", "app/other.py"),
            (".git/hooks/pre-commit", "grep -q TODO CHANGELOG.md || echo \"update docs/guide.md\"", "docs/guide.md"),
            (".claude/commands/r.md", "!`cat docs/guide.md`", "docs/guide.md"),
            (".git/hooks/pre-commit", "for f in lib/*.c; do clang-format -n $f; done", "lib/a.c"),
            (
                ".vscode/settings.json",
                "{\"search.exclude\":{\"dist\":true},\"eslint.workingDirectories\":[\"client\"]}",
                "client/a.js",
            ),
        ] {
            let files = [
                ("package.json", package),
                ("Makefile", "run:\n\tpython -m app.main\nlint: x\n\truff check\n"),
                (file, text),
                (written, "x"),
            ];
            assert!(!starts(&files, written), "{file}: {text}");
        }
        // What is named is.
        let files = [("package.json", package), (".husky/pre-commit", "npm run lint")];
        assert!(starts(&files, "tools/lint.js"));
    }
}
