//! Build and task runners: they run what files of the workspace say, so those files are named, and the hook tells the host
//! what stands in them.

use super::{Judge, Judgement, Kind, Program, Rule, Runs, Trait, row};
use crate::classify::call::{Arg, Call};

const fn runner(
    names: &'static [&'static str],
    files: &'static [&'static str],
    not_safe: &'static [&'static str],
) -> Program {
    Program::new(names, "runs what files of the workspace say", Kind::Mixed, Rule::Custom(build))
        .steered_by(files)
        .not_safe(not_safe)
        .traits(&[Trait::BuildsHere])
}

/// One whose tasks may be anything: that it builds the project's own says nothing.
const fn tasks(
    names: &'static [&'static str],
    files: &'static [&'static str],
    not_safe: &'static [&'static str],
) -> Program {
    Program::new(names, "runs tasks that files of the workspace say", Kind::Runner, Rule::Custom(build))
        .steered_by(files)
        .runs(Runs::Code)
        .not_safe(not_safe)
}

/// What make itself takes these variables for, unless a makefile says otherwise (GNU make, "Implicit Variables").
pub const MAKE_VARIABLES: &[(&str, &str)] = &[
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CPP", "cpp"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("SHELL", "/bin/sh"),
];

/// Functions of make's that give nothing but words back. What they give is not known.
pub const MAKE_FUNCTIONS: &[&str] = &[
    "subst",
    "patsubst",
    "strip",
    "findstring",
    "filter",
    "filter-out",
    "sort",
    "word",
    "wordlist",
    "words",
    "firstword",
    "lastword",
    "dir",
    "notdir",
    "suffix",
    "basename",
    "addsuffix",
    "addprefix",
    "join",
    "wildcard",
    "realpath",
];

/// The endings of files out of which make's own rules make one without (GNU make 4.4, `make -p`).
pub const MADE_FROM: &[&str] =
    &["sh", "o", "c", "cc", "C", "cpp", "p", "f", "F", "m", "r", "s", "S", "mod", "y", "l", "ym", "lm", "ch", "web"];

pub(super) const TABLE: &[Program] = &[
    runner(&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"], &["make build", "make -C sub"])
        .runs(Runs::Code)
        .elsewhere(&["-f*", "-C*", "-I*", "--file", "--makefile", "--include-dir", "--eval", "-E"])
        .tells_version(&["--version", "-v"])
        .environment(&["MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES"]),
    runner(&["ninja"], &["build.ninja"], &["ninja"]).runs(Runs::Code).tells_version(&["--version"]),
    runner(&["cmake"], &["CMakeLists.txt"], &["cmake -B build"])
        .elsewhere(&["-P", "-E", "-C"])
        .runs(Runs::Code)
        .tells_version(&["--version"]),
    runner(&["meson"], &["meson.build"], &["meson setup build"]).here(&[
        "setup",
        "compile",
        "test",
        "configure",
        "introspect",
        "install",
    ]),
    runner(&["scons"], &["SConstruct", "Sconstruct", "sconstruct"], &["scons"]),
    runner(&["rake"], &["Rakefile"], &["rake test"]).elsewhere(&["-e", "--execute", "-E", "-p", "-r*", "--require"]),
    runner(&["just"], &["justfile", "Justfile", ".justfile"], &["just test"]).elsewhere(&[
        "--command",
        "-c",
        "--shell",
        "--shell-arg",
    ]),
    runner(&["task"], &["Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"], &["task build"]),
    runner(&["mise"], &["mise.toml", ".mise.toml"], &["mise run lint"])
        .here(&[
            "run",
            "r",
            "tasks",
            "test",
            "lint",
            "build",
            "fmt",
            "ls",
            "list",
            "current",
            "which",
            "where",
            "bin-paths",
            "doctor",
            "exec",
            "x",
            "env",
        ])
        .tells(&["env"])
        .steers(&["trust", "settings set", "use"]),
    runner(&["sbt"], &["build.sbt", "project/plugins.sbt", "project/build.properties"], &["sbt test"])
        .runs(Runs::Code)
        .terminal(super::languages::PROMPT)
        .here(&[
            "compile",
            "test",
            "clean",
            "package",
            "run",
            "doc",
            "scalafmt",
            "scalafmtCheck",
            "Test/compile",
            "testOnly",
        ])
        .traits(&[Trait::EachWordIsACall]),
    runner(
        &["pytest", "tox", "nox"],
        &["conftest.py", "tests/conftest.py", "tox.ini", "noxfile.py", "pyproject.toml"],
        &["pytest -q", "tox"],
    )
    .elsewhere(&[
        "-o",
        "--override-ini",
        "-p*",
        "--tx",
        "--pastebin",
        "-c",
        "--confcutdir",
        "--rootdir",
        "-W",
        "--pythonwarnings",
        "--basetemp",
    ]),
    runner(&["ruff"], &[], &["ruff check ."]).tells_version(&["--version", "-V"]),
    runner(&["mypy", "black"], &[], &["mypy ."]).elsewhere(&["--config-file", "--config", "--python-executable"]),
    runner(&["pre-commit"], &[".pre-commit-config.yaml"], &["pre-commit run"])
        .here(&["run", "validate-config"])
        .steers(&["install", "init-templatedir"]),
    runner(
        &["lint-staged"],
        &[
            "package.json",
            ".lintstagedrc",
            ".lintstagedrc.json",
            ".lintstagedrc.yaml",
            ".lintstagedrc.yml",
            ".lintstagedrc.js",
            ".lintstagedrc.cjs",
            ".lintstagedrc.mjs",
            "lint-staged.config.js",
            "lint-staged.config.cjs",
            "lint-staged.config.mjs",
            "lint-staged.config.ts",
        ],
        &["lint-staged"],
    ),
    runner(&["overcommit"], &[".overcommit.yml"], &["overcommit --run"]).steers(&["--install", "--sign"]),
    runner(
        &["commitlint"],
        &[
            "commitlint.config.js",
            "commitlint.config.cjs",
            "commitlint.config.mjs",
            "commitlint.config.ts",
            ".commitlintrc.js",
            ".commitlintrc.cjs",
            ".commitlintrc.json",
            ".commitlintrc.yml",
            ".commitlintrc",
        ],
        &["commitlint --edit"],
    ),
    Program::new(&["lefthook"], "puts hooks into the repository, and runs them", Kind::Runner, Rule::Custom(build))
        .runs(Runs::Code)
        .steers(&[""])
        .steered_by(&[
            "lefthook.yml",
            ".lefthook.yml",
            "lefthook-local.yml",
            ".lefthook-local.yml",
            ".config/lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yaml",
            "lefthook-local.yaml",
            "lefthook.toml",
            ".lefthook.toml",
            "lefthook-local.toml",
            "lefthook.json",
            ".lefthook.json",
            "lefthook-local.json",
        ])
        .not_safe(&["lefthook install", "lefthook run pre-commit"]),
    Program::new(
        &["husky", "simple-git-hooks"],
        "puts hooks into the repository",
        Kind::Runner,
        Rule::Never(super::Operands::Data),
    )
    .runs(Runs::Code)
    .steers(&[""])
    .not_safe(&["husky install"]),
    Program::new(&["direnv"], "runs what `.envrc` says", Kind::Runner, Rule::Never(super::Operands::Data))
        .runs(Runs::Code)
        .plants(&["allow", "permit", "grant"])
        .tells(&["export", "exec", "dump"])
        .not_safe(&["direnv allow"]),
    runner(&["jest"], &["package.json", "jest.config.js", "jest.config.ts"], &["jest"]),
    runner(&["vitest", "vite"], &["vite.config.ts", "vite.config.js", "vitest.config.ts"], &["vitest run"]),
    runner(&["webpack"], &["webpack.config.js"], &["webpack"]),
    runner(&["eslint"], &["eslint.config.js", ".eslintrc.js", "eslint.config.mjs"], &["eslint ."]).elsewhere(&[
        "--rulesdir",
        "--resolve-plugins-relative-to",
        "--plugin",
        "-c",
        "--config",
        "--parser",
        "-f",
        "--format",
    ]),
    runner(&["prettier"], &["prettier.config.js", ".prettierrc.js"], &["prettier ."]).elsewhere(&[
        "--plugin",
        "--plugin-search-dir",
        "--config",
    ]),
    runner(&["tsc"], &[], &["tsc --noEmit"]).environment(&["NODE_OPTIONS", "NODE_PATH"]),
    // What is not installed they fetch.
    runner(&["npx", "bunx"], &["package.json"], &["npx tsc"]).here(&[]),
    // Their tasks are scripts of any package of the project, and few of those are read.
    runner(&["turbo", "nx", "lerna"], &["package.json", "turbo.json", "nx.json", "lerna.json"], &["turbo run build"])
        .here(&["graph", "show", "list", "ls"]),
    // What their tasks do, nobody has looked at: none of them counts as a build of the project's own.
    tasks(&["invoke", "inv"], &["tasks.py"], &["invoke build"]),
    tasks(&["fab"], &["fabfile.py"], &["fab deploy"]),
    tasks(&["grunt"], &["Gruntfile.js", "Gruntfile.cjs", "Gruntfile.coffee"], &["grunt"]),
    tasks(&["gulp"], &["gulpfile.js", "gulpfile.cjs", "gulpfile.mjs", "gulpfile.ts"], &["gulp"]),
    tasks(&["mage"], &["magefile.go"], &["mage build"]),
    tasks(&["doit"], &["dodo.py"], &["doit"]),
    tasks(&["ant"], &["build.xml"], &["ant"]),
    tasks(&["mix"], &["mix.exs"], &["mix test"]),
    tasks(&["lein"], &["project.clj"], &["lein test"]),
    tasks(&["pixi", "rye"], &["pixi.toml", "pyproject.toml"], &["pixi run lint"]),
    tasks(&["makers", "cargo-make"], &["Makefile.toml"], &["makers lint"]),
    tasks(&["poe"], &["pyproject.toml", "poe_tasks.toml"], &["poe lint"]),
    tasks(&["earthly"], &["Earthfile"], &["earthly +build"]),
    tasks(&["moon"], &[".moon/workspace.yml", "moon.yml"], &["moon run lint"]),
    tasks(&["waf"], &["wscript"], &["waf build"]),
    tasks(&["bmake", "pmake"], &["BSDmakefile", "makefile", "Makefile"], &["bmake build"]),
    tasks(&["xmake"], &["xmake.lua"], &["xmake"]),
    tasks(&["premake5"], &["premake5.lua"], &["premake5 gmake"]),
    tasks(&["dune"], &["dune-project", "dune", "dune-workspace"], &["dune build"]),
    tasks(&["zig"], &["build.zig"], &["zig build"]),
    tasks(&["nimble"], &["nim.cfg", "config.nims"], &["nimble test"]),
    tasks(&["stack", "cabal"], &["stack.yaml", "cabal.project", "Setup.hs"], &["cabal build"]),
    runner(&["golangci-lint"], &[".golangci.yml"], &["golangci-lint run"]),
    runner(&["staticcheck", "kotlinc"], &[], &["staticcheck ./..."]),
    runner(&["xcodebuild"], &[], &["xcodebuild build"]).here(&["build", "test", "clean", "analyze"]),
    tasks(&["mask"], &["maskfile.md"], &["mask lint"]),
    tasks(&["pants"], &["pants.toml", "BUILD"], &["pants lint"]),
    tasks(&["mill"], &["build.sc", "build.mill"], &["mill app.compile"]),
    tasks(&["rebar3"], &["rebar.config", "rebar.config.script"], &["rebar3 eunit"]),
    tasks(&["gleam"], &["gleam.toml"], &["gleam test"]),
    tasks(&["clojure"], &["deps.edn"], &["clojure -M:test"]),
    tasks(&["bb"], &["bb.edn"], &["bb lint"]),
    runner(
        &["bazel", "buck2"],
        &["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "BUILD", "BUILD.bazel", ".bazelrc", "BUCK", ".buckconfig"],
        &["bazel build x"],
    )
    .here(&["build", "test", "run", "query", "cquery", "clean", "info"])
    .elsewhere(&["--config", "--bazelrc"]),
    runner(&["swift"], &["Package.swift"], &["swift build"]).terminal(super::languages::PROMPT).here(&[
        "build",
        "test",
        "run",
        "package describe",
        "package dump-package",
        "package clean",
    ]),
    runner(&["ctest"], &[], &["ctest"])
        .elsewhere(&[
            "-D",
            "-T",
            "-M",
            "-S",
            "-SP",
            "--dashboard",
            "--test-action",
            "--test-model",
            "--script",
            "--submit-index",
            "--extra-submit",
        ])
        .tells_version(&["--version"]),
    runner(&["rustc"], &[], &["rustc a.rs"])
        .elsewhere(&["-C", "--codegen", "--extern", "-L", "-Z"])
        .tells_version(&["--version", "-V"])
        .version_chosen_by(&["rust-toolchain", "rust-toolchain.toml"])
        .environment(&["RUSTUP_TOOLCHAIN", "RUSTUP_HOME"]),
    runner(&["gcc"], &[], &["gcc a.c"])
        .elsewhere(LOADED_BY_COMPILERS)
        .runs(Runs::Named)
        .tells_version(&["--version"])
        .environment(COMPILERS)
        .belongings(&["/usr/lib", "/usr/include"]),
    runner(&["cc", "clang", "g++"], &[], &["cc a.c"])
        .elsewhere(LOADED_BY_COMPILERS)
        .runs(Runs::Named)
        .tells_version(&["--version"])
        .environment(COMPILERS),
    runner(&["ld"], &[], &["ld -plugin x a.o"]).runs(Runs::Named),
    runner(&["java", "javac"], &[], &["java Main"])
        .elsewhere(&[
            "-cp",
            "-classpath",
            "--class-path",
            "--module-path",
            "-X*",
            "-jar",
            "-javaagent",
            "-agentpath",
            "-agentlib",
            "-processorpath",
            "--processor-path",
            "-Xbootclasspath",
            "-J*",
        ])
        .runs(Runs::Code)
        .tells_version(&["-version", "--version"])
        .environment(&["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH"]),
];

/// Letters that are options of make's without a value.
const MAKE_FLAGS: &str = "bBdeikLmnpqrRsStvw";

/// What people call the tasks of a project that send something: how a part of the name begins.
const OUTWARD: &[&str] = &["publish", "release", "deploy", "upload", "push"];

/// True for a task that is called like one that sends something. A file is none.
pub fn is_outward(word: &str) -> bool {
    !word.starts_with('-')
        && (word.starts_with("//") || !word.contains('/'))
        && !word.contains(['.', '='])
        && parts_of(word).iter().any(|part| OUTWARD.iter().any(|start| part.starts_with(start)))
}

/// The parts of a name, in small letters: between signs, and before capitals.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        if letter.is_ascii_uppercase() || !letter.is_alphanumeric() {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| letter.is_alphanumeric()) {
            last.extend(letter.to_lowercase());
        }
    }
    parts
}

/// Options of compilers behind which stands what they load, or where they look for their own parts.
const LOADED_BY_COMPILERS: &[&str] =
    &["-B", "-wrapper", "-fplugin", "-fpass-plugin", "-specs", "--specs", "-Xclang", "-load", "-fuse-ld", "-ld-path"];

const COMPILERS: &[&str] = &["GCC_EXEC_PREFIX", "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS"];

/// Notes the files whose code a program runs.
pub(super) fn note_steering(judge: &mut Judge<'_>, call: &Call) {
    let steered_by = |program: &str| row(program).map_or(&[] as &[&str], |row| row.steered_by);
    let words: Vec<&str> = call.args.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    // In the next word, or glued to the option. Letters behind one dash may be something else: what they may name only adds.
    let values = |options: &[&str]| -> Vec<&str> {
        let behind = words.windows(2).filter_map(|pair| match pair {
            [option, value] => options.contains(option).then_some(*value),
            _ => None,
        });
        let glued = words.iter().filter_map(|word| {
            let of = |option: &&str| {
                let rest = word.strip_prefix(*option)?;
                if option.starts_with("--") {
                    rest.strip_prefix('=')
                } else {
                    Some(rest).filter(|rest| !rest.is_empty())
                }
            };
            options.iter().find_map(of)
        });
        behind.chain(glued).filter(|value| !value.is_empty()).collect()
    };
    let folders = values(&["-C", "--directory", "--prefix", "--cwd"]);
    let usual = steered_by(&call.program).iter().copied();
    let files: Vec<&str> = usual.chain(values(&["-f", "--file", "--makefile", "-c", "--config"])).collect();
    // A file that is named may be meant from where it starts, or from where it goes first. The usual ones count in any case: what seems
    // to name another may be a word for the program that is started, or another option's value.
    for file in files {
        judge.runs_file(file);
        for folder in &folders {
            judge.runs_file(&format!("{folder}/{file}"));
        }
    }
    // `python -m pytest` and its like name the runner in a word.
    for arg in call.args.iter().filter_map(Arg::exact) {
        for file in steered_by(arg) {
            judge.runs_file(file);
        }
    }
}

fn build(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    note_steering(judge, call);
    // `make -pn` prints all variables, those of the environment as well.
    let prints = |text: &str| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        letters.contains('p') && letters.chars().all(|letter| MAKE_FLAGS.contains(letter))
            || text.starts_with("--print-d")
    };
    let takes_variables = row(&call.program).is_some_and(|row| row.environment.contains(&"MAKEFLAGS"));
    if takes_variables && call.args.iter().filter_map(Arg::exact).any(prints) {
        judge.environment_is_shown();
    }
    Judgement::unknown("")
}
