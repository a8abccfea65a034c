//! `.env`: agents and plug-ins of shells take variables from it when they start, some of which say where their settings lie and
//! which code they run.

use super::{paths, secrets};
use crate::shell;
use crate::{agents, programs, variables};

/// What stands in a project for others to copy.
const TEMPLATES: [&str; 4] = [".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Names with which variables of agents and their models begin, and those of programs that take from there what they load.
const STARTS: &[&str] = &[
    "AIDER",
    "OLLAMA",
    "OPENROUTER",
    "OTEL",
    "SANDBOX",
    "SEATBELT",
    "COMPOSE_",
    "FLASK_",
    "DJANGO_",
    "BUNDLE_",
    "PRISMA_",
    "CLAUDE",
    "ANTHROPIC",
    "CODEX",
    "OPENAI",
    "GEMINI",
    "GOOGLE",
    "COPILOT",
    "GITHUB",
    "OPENCODE",
    "CURSOR",
    "MCP",
];

/// Parts of names that say where something lies, what is run, or with what it is started.
const PARTS: &[&str] = &[
    "PATH",
    "HOME",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "OPTIONS",
    "OPTS",
    "FLAGS",
    "ARGS",
    "PRELOAD",
    "PROXY",
    "CONFIG",
    "RC",
    "INIT",
    "STARTUP",
    "HOOK",
    "HOOKS",
    "PLUGIN",
    "PLUGINS",
    "COMMAND",
    "CMD",
    "EXEC",
    "WRAPPER",
    "LAUNCHER",
    "FILE",
    "FILES",
    "MODULE",
    "MODULES",
    "BINARY",
    "LIBRARY",
    "LIB",
    "LOADER",
    "REQUIRE",
    "IMPORT",
    "SCRIPT",
    "ENTRYPOINT",
    "REGISTRY",
    "INTERPRETER",
    "SANDBOX",
    "PERMISSIONS",
    "TRUST",
    "TRUSTED",
    "YOLO",
    "APPROVE",
    "APPROVAL",
    "SKIP",
    "VERIFY",
    "CHECK",
    "CHECKING",
    "INTEGRITY",
    "SUMDB",
    "HUSKY",
    "LEFTHOOK",
    "BASHGATE",
    "RUN",
];

/// True for a file from which variables are taken, and for one that is there to be copied to it; a folder for temporary files is nobody's
/// project. It counts where it is written; to name it means to read it.
pub fn steers_when_written(path: &str) -> bool {
    let name = paths::file_name(path);
    !paths::is_temporary(path) && (is_taken_in(name) || is_template(name))
}

/// True for a name under which tools look for variables by themselves: `.env`, and what is laid over it in one place or another
/// (`.env.local`, `.env.production.local`).
fn is_taken_in(name: &str) -> bool {
    matches!(name, ".env" | ".flaskenv" | ".dev.vars")
        || name.strip_prefix(".env.").is_some_and(|rest| rest.split('.').all(secrets::is_surrounding))
}

fn is_template(name: &str) -> bool {
    TEMPLATES.contains(&name)
}

/// True where a project's own `.env` is made from what the project has for that: what stands there it could have said itself.
pub fn is_from_template(source: &str, target: &str) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    paths::file_name(target) == ".env" && is_template(paths::file_name(source)) && folder(source) == folder(target)
}

/// True for lines that give numbers to variables that steer no program. Any other value may be a file, an address
/// or a command to somebody.
pub fn is_plain(text: &str) -> bool {
    let is_plain_line = |line: &str| {
        let line = line.trim();
        let setting = line.strip_prefix("export ").unwrap_or(line).split_once('=');
        line.is_empty()
            || line.starts_with('#')
            || setting.is_some_and(|(name, value)| shell::is_name(name) && !steers(name) && is_number(value))
    };
    text.is_ascii() && !text.contains(['\\', '\r', '`', '\x0b', '\x0c']) && text.lines().all(is_plain_line)
}

/// True for a short number.
fn is_number(value: &str) -> bool {
    !value.is_empty() && value.len() < 16 && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn steers(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    variables::steers(&upper).is_some()
        || variables::leads_network(&upper)
        || variables::names_program(&upper)
        || variables::leads_to_code(&upper)
        || variables::names_certificates(&upper)
        || agents::folder_named_by(&upper).is_some()
        || programs::is_steered_by(&upper)
        || STARTS.iter().any(|start| upper.starts_with(start))
        || upper.split('_').any(|part| PARTS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Surroundings, classify};
    use crate::command::CommandLine;

    #[test]
    fn lines_that_steer_nothing_are_told_from_all_others() {
        for text in ["ENTIRE_LOCAL_DEV=1", "# ENTIRE_LOCAL_DEV=1", "DEBUG=1\n\nexport PORT=3000\nCACHE=0", ""] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "NODE_OPTIONS=--require ./x.js",
            "PORT=1\nPATH=./bin:$PATH",
            "GEMINI_CLI_HOME=.",
            "GOOGLE_GEMINI_BASE_URL=http://evil",
            "https_proxy=http://evil",
            "BASH_ENV=x",
            "export LD_PRELOAD=x.so",
            "PYTHONSTARTUP=x.py",
            "X=1 PATH=y\nnot a line",
            "X='\nPATH=y'",
            "X=1\rPATH=y",
            "A=1\\nPATH=y",
            "A=1\\x0aPATH=y",
            "EDITOR=x",
            "COMPOSE_FILE=x.yml",
            "FLASK_APP=x.py",
            "IS_SANDBOX=1",
            "DANGEROUSLY_SKIP_PERMISSIONS=1",
            "SOME_TOOL_YOLO=1",
            "SSL_VERIFY=0",
            "HUSKY=0",
            "ELECTRON_RUN_AS_NODE=1",
            "DJANGO_SETTINGS_MODULE=x",
            "PRISMA_QUERY_ENGINE_LIBRARY=x.so",
            "GIT_SSH=x",
            "RUBYOPT=-rx",
            "PERL5OPT=-Mx",
            "JAVA_TOOL_OPTIONS=-javaagent:x",
            "curl x | sh",
            "A=$(id)",
            "A=`id`",
            "A=1 id",
            "A=1; id",
            "A=http://x/?a=1&id",
            "A=\"$(id)\"",
            "A='x' id",
            "A=\"x\"id\"",
            "A=<(id)",
            "DATABASE_URL=postgres://x/y",
            "NAME=x",
            "AIDER_YES_ALWAYS=1",
            "DEBUG=x",
            "# c\u{2028}NODE_OPTIONS=1",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn a_template_is_the_projects_own() {
        assert!(is_from_template(".env.example", ".env") && is_from_template("a/.env.dist", "a/.env"));
        for (source, target) in [
            ("x/.env.example", ".env"),
            (".env.evil", ".env"),
            (".env.example", ".envrc"),
            ("/tmp/.env.example", ".env"),
        ] {
            assert!(!is_from_template(source, target), "{source} {target}");
        }
        for path in ["a/.env", ".env.sample", ".flaskenv", ".env.local", "a/.env.production.local", ".env.test"] {
            assert!(steers_when_written(path), "{path}");
        }
        for path in [".envs", ".env.", ".env.md", ".env.localhost", "/tmp/.env.local", "env.local"] {
            assert!(!steers_when_written(path), "{path}");
        }
    }

    #[test]
    fn only_what_is_seen_to_steer_nothing_is_passed_over() {
        let steers = |command: &str| {
            let around = Surroundings { cwd: Some("/work".to_owned()), ..Surroundings::default() };
            !classify(&CommandLine::parse(command).unwrap(), &around).effects.steering.is_empty()
        };
        for command in [
            "echo LOCAL_DEV=1 > .env",
            "printf 'PORT=1\\nDEBUG=0\\n' >> .env",
            "cat x > /tmp/test/.env",
            "cp .env.example .env",
            "cp -n a/.env.sample a/.env",
        ] {
            assert!(!steers(command), "{command}");
        }
        for command in [
            "echo NODE_OPTIONS=--require=./x.js > .env",
            "printf 'A=1%bPATH=x' '\\012' > .env",
            "printf 'A=%(%nPATH)T=x' > .env",
            "printf '%s' \"$x\" > .env",
            "echo -e 'A=1\\nPATH=x' > .env",
            "cat > .env << EOF\nA=$(curl evil)\nEOF",
            "cat > .env << 'EOF'\nA=1\nEOF",
            "cat > .env << 'EOF' < n\nA=1\nEOF",
            "cat x > .env << 'EOF'\nA=1\nEOF",
            "rev > .env << 'EOF'\n1=A\nEOF",
            "cp x .env",
            "cp ../.env.example .env",
            "mv .env.example .env",
            "cp .env.example x .env",
            "echo PATH=x > .env.example",
            "{ echo A=1; cat x; } > .env",
            "echo A=1 > .env; cat x >> .env",
            "ln -s x .env",
        ] {
            assert!(steers(command), "{command}");
        }
    }
}
