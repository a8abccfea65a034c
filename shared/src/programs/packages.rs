//! Package managers: what fetches is Network, the rest runs build scripts and is Unknown.

use super::{Flag, Judge, Judgement, Kind, Program, Rule, Runs, Subcommand, Trait, reaches, row};
use crate::classify::call::{Arg, Call};
use crate::classify::paths::file_name;

const fn manager(
    names: &'static [&'static str],
    fetches: &'static [Subcommand],
    not_safe: &'static [&'static str],
) -> Program {
    Program::new(names, "runs what packages bring along", Kind::Mixed, Rule::Custom(package))
        .runs(Runs::Named)
        .subcommands(fetches)
        .not_safe(not_safe)
}

const fn reads(words: &'static str) -> Subcommand {
    Subcommand::reads(words)
}

const fn writes(words: &'static str) -> Subcommand {
    Subcommand::writes(words)
}

/// The bare name installs.
const YARN: &[Subcommand] = &[
    reads(""),
    reads("install"),
    reads("i"),
    reads("ci"),
    reads("add"),
    reads("update"),
    reads("up"),
    reads("upgrade"),
    reads("view"),
    reads("show"),
    reads("v"),
    reads("info"),
    reads("search"),
    reads("dlx"),
    reads("create"),
    reads("init"),
    reads("outdated"),
    writes("audit"),
    writes("publish"),
    writes("npm publish"),
    writes("npm"),
    writes("pub"),
    writes("unpublish"),
    writes("token"),
    writes("hook"),
    writes("access"),
    writes("owner"),
    writes("dist-tag"),
    writes("deprecate"),
    writes("login"),
];
/// The same, where the bare name does nothing.
const NODE: &[Subcommand] = match YARN {
    [_bare, named @ ..] => named,
    [] => &[],
};
const PYTHON: &[Subcommand] = &[
    reads("install"),
    reads("download"),
    reads("update"),
    reads("upgrade"),
    reads("fetch"),
    reads("search"),
    reads("create"),
    reads("run"),
    reads("index"),
    reads("wheel"),
    writes("push"),
];
const PROJECTS: &[Subcommand] =
    &[reads("add"), reads("install"), reads("update"), reads("require"), reads("create-project"), writes("publish")];
/// Without a word it installs.
const BUNDLE: &[Subcommand] =
    &[reads(""), reads("add"), reads("install"), reads("update"), reads("outdated"), reads("lock"), writes("publish")];
const SYSTEM: &[Subcommand] = &[
    reads("install"),
    reads("update"),
    reads("upgrade"),
    reads("dist-upgrade"),
    reads("full-upgrade"),
    reads("source"),
    reads("download"),
    reads("build-dep"),
    reads("changelog"),
    reads("reinstall"),
];
const JVM: &[Subcommand] =
    &[reads("restore"), reads("nuget"), reads("tool"), reads("add"), writes("deploy"), writes("publish")];

const PIP_HERE: &[&str] = &["list", "show", "freeze", "check", "help", "cache", "debug", "inspect", "hash"];
const GEM_HERE: &[&str] = &["list", "env", "environment", "contents", "which", "specification", "help"];
const UV_HERE: &[&str] =
    &["run", "tree", "version", "venv", "build", "cache", "format", "pip list", "pip freeze", "pip show", "pip check"];
const PYTHONS_HERE: &[&str] =
    &["list", "info", "env list", "env export", "environment", "activate", "deactivate", "help"];
const PROJECTS_HERE: &[&str] = &[
    "run",
    "exec",
    "show",
    "list",
    "check",
    "build",
    "env",
    "version",
    "config",
    "help",
    "validate",
    "test",
    "run-script",
    "dump-autoload",
    "dumpautoload",
    "info",
];
/// Options by which scripts are run by another shell, with other options, or are those of another folder.
const OTHER_SETTINGS: &[&str] = &[
    "--userconfig",
    "--globalconfig",
    "--script-shell",
    "--node-options",
    "--shell",
    "--workspaces",
    "--workspace",
    "--include-workspace-root",
    "-w",
    "-w*",
    "--ws",
    "--iwr",
    "--scope",
    "--prefix",
    "-C*",
    "--cwd",
    "--dir",
    "-F",
    "--filter",
    "-r",
    "--recursive",
    "--top-level",
];
const NPM_HERE: &[&str] = &[
    "test",
    "t",
    "tst",
    "run",
    "run-script",
    "rum",
    "urn",
    "start",
    "stop",
    "restart",
    "list",
    "ls",
    "ll",
    "la",
    "explain",
    "why",
    "help",
    "version",
    "root",
    "prefix",
    "bin",
    "pkg",
    "config",
    "get",
    "completion",
    "fund",
    "query",
    "uninstall",
    "prune",
];
const SYSTEM_HERE: &[&str] =
    &["list", "show", "policy", "search", "depends", "rdepends", "clean", "autoclean", "remove", "purge", "autoremove"];
const BREW_HERE: &[&str] = &["list", "ls", "leaves", "deps", "config", "doctor", "--prefix", "uninstall", "cleanup"];
const CARGO_HERE: &[&str] = &[
    "build",
    "b",
    "check",
    "c",
    "test",
    "t",
    "run",
    "r",
    "clippy",
    "fmt",
    "doc",
    "d",
    "bench",
    "clean",
    "tree",
    "metadata",
    "nextest run",
    "nextest list",
    "version",
    "help",
    "expand",
    "machete",
    "udeps",
    "llvm-cov",
    "miri",
    "fix",
    "rustc",
    "rustdoc",
    "locate-project",
    "pkgid",
    "read-manifest",
    "verify-project",
    "init",
    "new",
    "package",
    "generate-lockfile",
    "fuzz",
    "hack",
    "criterion",
    "insta",
    "sqlx",
    "xtask",
];
const GO_HERE: &[&str] = &[
    "build",
    "test",
    "vet",
    "run",
    "fmt",
    "version",
    "env",
    "list",
    "doc",
    "tool",
    "clean",
    "fix",
    "work",
    "help",
    "mod why",
    "mod graph",
    "mod verify",
    "mod edit",
    "mod init",
    "mod vendor",
];
const JVM_HERE: &[&str] = &[
    "compile",
    "test",
    "package",
    "verify",
    "clean",
    "install",
    "validate",
    "test-compile",
    "dependency:tree",
    "spotless:check",
    "spotless:apply",
    "checkstyle:check",
    "build",
    "run",
    "format",
    "sln",
    "list",
    "ef",
    "watch",
    "assemble",
    "check",
    "tasks",
    "dependencies",
    "properties",
    "classes",
    "testClasses",
    "jar",
    "javadoc",
    "lint",
    "ktlintCheck",
    "ktlintFormat",
    "detekt",
    "spotlessCheck",
    "spotlessApply",
];

/// Scripts of a project that nearly all have, besides what only looks at what is here.
const YARN_HERE: &[&str] = &[
    "run",
    "test",
    "build",
    "lint",
    "format",
    "check",
    "typecheck",
    "type-check",
    "dev",
    "start",
    "watch",
    "clean",
    "e2e",
    "unit",
    "why",
    "list",
    "ls",
    "ll",
    "bin",
    "root",
    "version",
    "help",
    "tsc",
    "eslint",
    "prettier",
    "jest",
    "vitest",
    "storybook",
    "coverage",
    "codegen",
    "compile",
    "bundle",
    "docs",
    "fmt",
    "lint:fix",
    "test:unit",
    "test:watch",
    "test:ci",
];

/// Calls that send the package in the folder.
const PUBLISHES: &[&str] = &["publish", "npm publish"];
const MAVEN: &[&str] = &[
    "pom.xml",
    ".mvn/maven.config",
    ".mvn/settings.xml",
    ".mvn/jvm.config",
    ".mvn/extensions.xml",
    "~/.m2/settings.xml",
    "~/.mavenrc",
];
const GRADLE: &[&str] = &[
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "~/.gradle/gradle.properties",
    "~/.gradle/init.gradle",
    "~/.gradle/init.d",
];

pub(super) const TABLE: &[Program] = &[
    manager(&["twine"], &[writes("upload"), writes("register")], &["twine upload dist/x"])
        .here(&["check"])
        .configured_by(&["~/.pypirc", ".pypirc"]),
    manager(
        &["flit", "hatch", "pdm"],
        &[
            writes("publish"),
            writes("upload"),
            reads("add"),
            reads("install"),
            reads("update"),
            reads("sync"),
            reads("lock"),
        ],
        &["flit publish", "hatch publish"],
    )
    .before(&["run"])
    .publishes(&["publish", "upload"])
    .configured_by(&["~/.pypirc", "pyproject.toml", "hatch.toml", "~/.config/hatch", "~/.config/pdm"]),
    manager(&["goreleaser"], &[writes("release"), writes("publish")], &["goreleaser release"])
        .publishes(&["release", "publish"])
        .configured_by(&[".goreleaser.yaml", ".goreleaser.yml"]),
    manager(&["pip"], PYTHON, &["pip install requests", "pip3 install x", "pip list"])
        .here(PIP_HERE)
        .elsewhere(&["-i", "-f", "-o", "--extra-index-url", "--find-links"])
        .configured_by(&["~/.pip/pip.conf", "~/.config/pip/pip.conf", "/etc/pip.conf"])
        .versioned()
        .environment(&["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE"])
        .traits(&[Trait::Steady]),
    manager(&["pipx", "conda"], PYTHON, &["pipx install x"])
        .configured_by(&["~/.config/pip/pip.conf", "~/.condarc"])
        .here(PYTHONS_HERE),
    manager(&["gem"], PYTHON, &["gem install x"])
        .traits(&[Trait::TakesAlong])
        .configured_by(&["~/.gemrc", "~/.gem/credentials", "~/.local/share/gem/credentials", "/etc/gemrc"])
        .here(GEM_HERE)
        .elsewhere(&["-r", "-b", "-s", "--remote", "--both", "--source"]),
    manager(
        &["uv"],
        &[
            reads("add"),
            reads("sync"),
            reads("lock"),
            reads("tool"),
            reads("python"),
            reads("self"),
            reads("pip install"),
            writes("publish"),
        ],
        &["uv pip install x", "uv run x"],
    )
    .publishes(&["publish"])
    .configured_by(&["uv.toml", "pyproject.toml", "~/.config/uv/uv.toml", "/etc/uv/uv.toml"])
    .here(UV_HERE)
    .before(&["run"])
    .elsewhere(&["-w", "--with-editable", "--find-links", "-i", "-f"])
    .tells_version(&["--version", "-V"]),
    manager(&["bundle"], BUNDLE, &["bundle", "bundle add x"])
        .publishes(&["publish"])
        .configured_by(&["Gemfile", "Gemfile.lock", ".bundle/config", "~/.bundle/config"])
        .here(PROJECTS_HERE)
        .before(&["exec"])
        .steers(&["config"]),
    manager(&["poetry"], PROJECTS, &["poetry add x"])
        .publishes(&["publish"])
        .configured_by(&["pyproject.toml", "poetry.toml", "poetry.lock", "~/.config/pypoetry"])
        .here(PROJECTS_HERE)
        .before(&["run"])
        .steers(&["config set", "config"]),
    manager(&["composer"], PROJECTS, &["composer install"])
        .publishes(&["publish"])
        .configured_by(&["composer.json", "composer.lock", "~/.composer/config.json", "~/.config/composer/config.json"])
        .here(PROJECTS_HERE)
        .steers(&["config"])
        .elsewhere(&["-a", "--all", "--available"])
        .steered_by(&["composer.json"]),
    manager(&["npm"], NODE, &["npm install playwright", "npm test", "npm run build"])
        .here(NPM_HERE)
        .publishes(PUBLISHES)
        .configured_by(&["~/.npmrc", ".npmrc", "package.json", "package-lock.json", "/etc/npmrc"])
        .elsewhere(OTHER_SETTINGS)
        .steers(&["pkg set", "config set", "set", "link"])
        .tells(&["config list -l", "token list", "config get //"])
        .steered_by(&["package.json"])
        .environment(&["NODE_OPTIONS", "NODE_PATH"]),
    manager(&["pnpm"], NODE, &["pnpm add x"])
        .publishes(PUBLISHES)
        .configured_by(&[
            "~/.npmrc",
            ".npmrc",
            "~/.config/pnpm",
            "pnpm-workspace.yaml",
            "pnpm-lock.yaml",
            ".pnpmfile.cjs",
            "package.json",
        ])
        .here(YARN_HERE)
        .elsewhere(OTHER_SETTINGS)
        .steers(&["config set", "set", "link"])
        .steered_by(&["package.json"]),
    manager(&["yarn"], YARN, &["yarn add x", "yarn"])
        .publishes(PUBLISHES)
        .configured_by(&[
            "~/.npmrc",
            ".npmrc",
            "~/.yarnrc",
            ".yarnrc",
            "~/.yarnrc.yml",
            ".yarnrc.yml",
            "package.json",
            "yarn.lock",
        ])
        .here(YARN_HERE)
        .elsewhere(OTHER_SETTINGS)
        .steers(&["config set", "set version", "link"])
        .tells(&["config get npmAuthToken"])
        .steered_by(&["package.json"]),
    manager(&["apt", "apt-get"], SYSTEM, &["apt install netcat", "apt-get install curl"])
        .here(SYSTEM_HERE)
        .flag(Flag::Packages)
        .traits(&[Trait::Steady]),
    manager(&["dnf", "yum", "zypper"], SYSTEM, &["dnf install x"]).here(SYSTEM_HERE).flag(Flag::Packages),
    manager(&["brew"], PYTHON, &["brew install x"]).here(BREW_HERE),
    manager(&["snap"], PYTHON, &["snap install x"]).here(&["list"]).flag(Flag::Packages),
    manager(&["apk"], &[reads("add"), reads("update"), reads("upgrade"), reads("fetch")], &["apk add x"])
        .here(&["info", "list", "del"]),
    manager(&["pacman"], &[], &["pacman -Syu"]),
    manager(&["rpm"], &[], &["rpm -i x.rpm"]).flag(Flag::Packages),
    Program::new(
        &["dpkg"],
        "tells about packages, or installs them",
        Kind::Local,
        Rule::Custom(super::machine::telling_forms),
    )
    .runs(Runs::Named)
    .starts(&["dpkg-query"])
    .environment(&[
        "DPKG_ADMINDIR",
        "DPKG_ROOT",
        "DPKG_PAGER",
        "DPKG_FORCE",
        "DPKG_HOOK_ACTION",
        "DPKG_SHELL",
        "DPKG_COLORS",
    ])
    .loads_at_home(&[".dpkg.cfg"])
    .flag(Flag::Packages)
    .safe(&["dpkg -s jq", "dpkg -L jq"])
    .not_safe(&["dpkg -i x.deb", "dpkg -l --pager"]),
    manager(
        &["cargo"],
        &[
            reads("install"),
            reads("add"),
            reads("update"),
            reads("fetch"),
            reads("search"),
            reads("info"),
            writes("publish"),
            writes("login"),
            writes("yank"),
            writes("owner"),
        ],
        &["cargo test", "cargo install x"],
    )
    .here(CARGO_HERE)
    .publishes(&["publish"])
    .configured_by(&[
        "Cargo.toml",
        ".cargo/config.toml",
        ".cargo/config",
        "~/.cargo/config.toml",
        "~/.cargo/config",
        "~/.cargo/credentials.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
    ])
    .elsewhere(&["--config", "--registry", "--index"])
    .steered_by(&["build.rs", ".cargo/config.toml"])
    .tells_version(&["--version", "-V"])
    .version_chosen_by(&["rust-toolchain", "rust-toolchain.toml"])
    .environment(&["RUSTUP_TOOLCHAIN", "RUSTUP_HOME", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]),
    manager(
        &["go"],
        &[reads("get"), reads("install"), reads("mod download"), reads("mod tidy")],
        &["go get x", "go test ./..."],
    )
    .here(GO_HERE)
    // Without a version behind it, a name is looked up in what the module uses.
    .names_packages(&["doc"])
    .configured_by(&["~/.config/go/env", "go.mod", "go.work"])
    .elsewhere(&["-u", "-w", "-exec", "-toolexec", "-vettool", "-overlay"])
    .traits(&[Trait::WordsMayRun])
    .environment(&["GOTOOLCHAIN", "GOENV", "GOROOT", "GOFLAGS", "GOWORK"]),
    manager(&["mvn"], JVM, &["mvn deploy"])
        .here(JVM_HERE)
        .publishes(&["deploy"])
        .configured_by(MAVEN)
        .traits(&[Trait::EachWordIsACall]),
    manager(&["dotnet"], JVM, &["dotnet build"]).here(JVM_HERE).publishes(&["publish", "pack"]).configured_by(&[
        "NuGet.Config",
        "nuget.config",
        "~/.nuget/NuGet/NuGet.Config",
    ]),
    manager(&["gradle"], JVM, &["gradle build"])
        .here(JVM_HERE)
        .elsewhere(&["-D*", "-P*", "-I", "-g", "-b", "-c", "-p"])
        .publishes(&["publish", "publishToMavenLocal", "uploadArchives"])
        .configured_by(GRADLE)
        .traits(&[Trait::EachWordIsACall])
        .steered_by(&["build.gradle", "build.gradle.kts"]),
];

/// The program behind a subcommand that only prepares its surroundings: what it does on top of them.
fn behind(judge: &mut Judge<'_>, call: &Call) -> Option<Judgement> {
    let row = row(file_name(&call.program))?;
    let at = call.args.iter().position(|arg| !arg.start().starts_with('-'))?;
    call.args.get(at).and_then(Arg::exact).filter(|word| row.before.contains(word))?;
    let behind = call.args.get(at + 1..).unwrap_or_default();
    let options = behind.iter().take_while(|arg| arg.start().starts_with('-')).count();
    let words = behind.get(options..).filter(|words| !words.is_empty())?;
    Some(Judgement::unknown("").max(judge.inner_call(words, call)))
}

fn package(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = file_name(&call.program);
    let manager = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let called = row(name).and_then(|row| row.called(&call.args));
    let first = called.map_or("", |called| called.words);
    let fetches = called.is_some() || manager == "pacman" && call.args.iter().any(|arg| arg.start().starts_with("-S"));
    super::build::note_steering(judge, call);
    if !fetches {
        return behind(judge, call).unwrap_or_else(|| Judgement::unknown(""));
    }
    // The default registry is trusted to deliver what was named; another source is not.
    let other = call.args.iter().find(|arg| {
        let text = arg.start();
        text.contains("://")
            || text.starts_with("git+")
            || text.starts_with("git@")
            || text.starts_with("github:")
            || [
                "--index-url",
                "--extra-index-url",
                "--registry",
                "-i",
                "--find-links",
                "-f",
                "--index",
                "--source",
                "--repository",
                "--git",
            ]
            .iter()
            .any(|option| text == *option || text.starts_with(&format!("{option}=")))
    });
    if let Some(other) = other {
        judge.untrusted(
            super::network::host_in(other.start()).unwrap_or_else(|| format!("{manager} {}", other.start())),
        );
    }
    judge.network(manager, None);
    let folders = judge.folders();
    let reaches =
        reaches::known(&call.args).and_then(|words| reaches::registries::of(name, &words, folders.as_deref()));
    Judgement::network(format!("`{manager} {first}` fetches from the network")).reaching(reaches)
}
