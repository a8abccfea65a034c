//! Programs that work on containers and on what runs in them.

use super::{Flag, Judge, Judgement, Kind, Program, Rule, Runs, Subcommand, Terminal, Trait, row};
use crate::classify::call::Call;
use crate::classify::paths::file_name;

/// Reads its terminal where it runs something in a container and is asked for a terminal.
pub(super) const TERMINAL: Terminal = Terminal {
    valued: &["-v", "-e", "-w", "-u", "-p", "-n", "-c", "--name", "--entrypoint", "--network", "--mount", "--env"],
    asked: ("it", &["--tty", "--interactive", "--stdin"]),
    operands: 0,
    only_behind: &["run", "exec", "attach"],
    ..Terminal::ALWAYS
};

const REGISTRY: &[Subcommand] = &[
    Subcommand::reads("pull"),
    Subcommand::reads("search"),
    Subcommand::writes("push"),
    Subcommand::writes("login"),
    Subcommand::reads("compose pull"),
    Subcommand::writes("compose push"),
    Subcommand::writes("buildx build"),
];

/// What a container may do on the network is nobody's to see: to run one is not among them, nor to build one, which runs each step of
/// its file in one.
const HERE: &[&str] = &[
    "ps",
    "images",
    "logs",
    "inspect",
    "version",
    "info",
    "stats",
    "top",
    "stop",
    "kill",
    "rm",
    "rmi",
    "port",
    "cp",
    "rename",
    "wait",
    "diff",
    "history",
    "tag",
    "image ls",
    "image list",
    "image rm",
    "image inspect",
    "image prune",
    "image history",
    "image tag",
    "container ls",
    "container list",
    "container rm",
    "container inspect",
    "container logs",
    "container stop",
    "container prune",
    "network ls",
    "network inspect",
    "volume ls",
    "volume inspect",
    "volume rm",
    "system df",
    "context ls",
    "compose ps",
    "compose logs",
    "compose down",
    "compose config",
    "compose stop",
    "compose top",
    "compose images",
];

const fn containers(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "runs containers", Kind::Mixed, Rule::Custom(registry))
        .runs(Runs::Named)
        .subcommands(REGISTRY)
        .here(HERE)
        .publishes(&["build --push", "compose build --push", "buildx build"])
        .configured_by(&[
            "~/.docker/config.json",
            "~/.docker/contexts",
            "~/.config/containers",
            "/etc/containers",
            "compose.yaml",
            "compose.yml",
            "docker-compose.yaml",
            "docker-compose.yml",
            "compose.override.yaml",
            "compose.override.yml",
            "docker-compose.override.yaml",
            "docker-compose.override.yml",
            "docker-bake.hcl",
            "docker-bake.json",
            "docker-bake.override.hcl",
        ])
        .elsewhere(&["-c", "-r", "-o", "--output", "--cache-to", "--secret", "--ssh", "--network"])
        .tells(&[
            "inspect",
            "container inspect",
            "image inspect",
            "service inspect",
            "secret inspect",
            "compose config",
            "compose convert",
        ])
        .flag(Flag::Containers)
        .terminal(TERMINAL)
        .not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    containers(&["docker"], &["docker ps", "docker run --net=host img", "docker push x"])
        .steered_by(COMPOSE)
        .environment(&["DOCKER_CONFIG", "CONTAINERS_CONF"])
        .tells_version(&["--version", "-v"])
        .traits(&[Trait::Steady, Trait::HasSubcommands, Trait::TakesAlong]),
    containers(&["podman"], &["podman ps"])
        .steered_by(COMPOSE)
        .environment(&["DOCKER_CONFIG", "CONTAINERS_CONF"])
        .tells_version(&["--version", "-v"])
        .traits(&[Trait::HasSubcommands, Trait::TakesAlong]),
    containers(&["nerdctl"], &["nerdctl ps"]).traits(&[Trait::TakesAlong]),
];

const COMPOSE: &[&str] = &["Dockerfile", "docker-compose.yml", "compose.yaml", "compose.yml"];

fn registry(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if row(&call.program).and_then(|row| row.called(&call.args)).is_none() {
        return Judgement::unknown("");
    }
    let name = file_name(&call.program).to_owned();
    judge.network(&name, None);
    judge.untrusted(name);
    Judgement::network("it talks to a registry")
}
