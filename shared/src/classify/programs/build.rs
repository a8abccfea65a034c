//! Build and task runners: they run what files of the workspace say, so those files are named, and the hook tells the host
//! what stands in them.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call};
use crate::classify::paths;

const fn runner(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program {
        names,
        about: "runs what files of the workspace say",
        kind: Kind::Mixed,
        rule: Rule::Custom(build),
        safe: &[],
        not_safe,
    }
}

pub(super) const TABLE: &[Program] = &[
    runner(
        &["make", "gmake", "ninja", "cmake", "meson", "scons", "rake", "just", "task", "mise"],
        &["make build", "make -C sub", "just test", "mise run lint"],
    ),
    runner(&["pytest", "tox", "nox", "ruff", "mypy", "black", "pre-commit"], &["pytest -q", "tox"]),
    runner(
        &["jest", "vitest", "tsc", "eslint", "prettier", "vite", "webpack", "turbo", "nx", "npx", "bunx"],
        &["tsc --noEmit", "npx tsc", "eslint ."],
    ),
    runner(
        &[
            "golangci-lint",
            "staticcheck",
            "bazel",
            "buck2",
            "ctest",
            "rustc",
            "gcc",
            "cc",
            "clang",
            "g++",
            "javac",
            "java",
            "kotlinc",
            "swift",
            "xcodebuild",
        ],
        &["golangci-lint run", "gcc a.c", "java Main"],
    ),
];

/// The files that steer a program when nothing else is named, in the folder where it starts.
fn steering_files(program: &str) -> &'static [&'static str] {
    match program {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "ninja" => &["build.ninja"],
        "cmake" => &["CMakeLists.txt"],
        "meson" => &["meson.build"],
        "rake" => &["Rakefile"],
        "just" => &["justfile", "Justfile"],
        "task" => &["Taskfile.yml", "Taskfile.yaml"],
        "mise" => &["mise.toml", ".mise.toml"],
        "pytest" | "tox" | "nox" => &["conftest.py", "tests/conftest.py", "tox.ini", "noxfile.py", "pyproject.toml"],
        "pre-commit" => &[".pre-commit-config.yaml"],
        "npm" | "pnpm" | "yarn" | "bun" | "turbo" | "nx" | "npx" | "bunx" => &["package.json"],
        "jest" => &["package.json", "jest.config.js", "jest.config.ts"],
        "vitest" | "vite" => &["vite.config.ts", "vite.config.js", "vitest.config.ts"],
        "webpack" => &["webpack.config.js"],
        "eslint" => &["eslint.config.js", ".eslintrc.js", "eslint.config.mjs"],
        "prettier" => &["prettier.config.js", ".prettierrc.js"],
        "cargo" => &["build.rs", ".cargo/config.toml"],
        "golangci-lint" => &[".golangci.yml"],
        "gradle" => &["build.gradle", "build.gradle.kts"],
        "composer" => &["composer.json"],
        "docker" | "podman" => &["Dockerfile", "docker-compose.yml", "compose.yaml", "compose.yml"],
        _ => &[],
    }
}

/// Notes the files whose code a program runs.
pub(super) fn note_steering(judge: &mut Judge<'_>, call: &Call) {
    let name = paths::file_name(&call.program);
    let value = |options: &[&str]| {
        call.args.windows(2).find_map(|pair| match pair {
            [option, value] if option.exact().is_some_and(|text| options.contains(&text)) => value.exact(),
            _ => None,
        })
    };
    let folder = value(&["-C", "--directory", "--prefix", "--cwd"]);
    match value(&["-f", "--file", "--makefile", "-c", "--config"]) {
        Some(file) => judge.runs_file(file),
        None => {
            for file in steering_files(name) {
                judge.runs_file(&folder.map_or_else(|| (*file).to_owned(), |folder| format!("{folder}/{file}")));
            }
        }
    }
    // `python -m pytest` and its like name the runner in a word.
    for arg in call.args.iter().filter_map(Arg::exact).filter(|text| *text == "pytest" || *text == "tox") {
        for file in steering_files(arg) {
            judge.runs_file(file);
        }
    }
}

fn build(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    note_steering(judge, call);
    Judgement::unknown("")
}
