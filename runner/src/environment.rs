//! The environment of a command: what a preset lets through, never what would run code or hold a secret.

use std::collections::BTreeMap;
use std::ffi::OsString;

use bashgate_hook::gate::shown;
use bashgate_shared::classify::secrets;
use bashgate_shared::variables;

use crate::presets::{Environment, Home, Inherit};
use crate::user::RunAs;

/// Sockets and services that speak for the user.
const SERVICES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "KUBECONFIG",
    "XAUTHORITY",
    "DATABASE_URL",
    "REDIS_URL",
    "MONGO_URL",
    "AMQP_URL",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "NETRC",
    "AWS_ACCESS_KEY_ID",
];

/// Parts of names of what is as good as a password, besides those that the gate knows.
const SECRET_PARTS: &[&str] = &["WEBHOOK", "CONNECTION_STRING", "CONNSTR", "COOKIE"];

/// True for a variable that no preset and no caller can bring in.
pub fn is_floor(name: &str) -> bool {
    let identity = ["AUTHOR", "COMMITTER"].iter().any(|who| {
        name.strip_prefix("GIT_")
            .and_then(|rest| rest.strip_prefix(who))
            .is_some_and(|rest| matches!(rest, "_NAME" | "_EMAIL" | "_DATE"))
    });
    !identity
        && (variables::is_code(name)
            || SERVICES.contains(&name)
            || secrets::is_secret_variable(name)
            || SECRET_PARTS.iter().any(|part| name.to_ascii_uppercase().contains(part)))
}

/// True for a variable that the preset removes.
pub fn is_secret_env(name: &str, preset: &Environment) -> bool {
    is_floor(name) || preset.remove_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
}

/// The environment of a command. What is no text, or no name that a shell can have, is left out.
pub fn build(
    preset: &Environment,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    overrides: &BTreeMap<String, String>,
    workspace: &str,
    run_as: RunAs,
) -> Vec<(String, String)> {
    let text =
        inherited.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut env: BTreeMap<String, String> = text
        .filter(|(name, _)| match preset.inherit {
            Inherit::All => true,
            Inherit::Listed => preset.names.iter().any(|kept| kept == name),
        })
        .filter(|(name, value)| !is_secret_env(name, preset) && !shown::is_credential(value))
        .collect();
    if let RunAs::Owner { .. } = run_as
        && let Some((name, home)) = run_as.account()
    {
        // Root's own names would be wrong for somebody else.
        for (variable, value) in [("HOME", &home), ("USER", &name), ("LOGNAME", &name)] {
            if env.contains_key(variable) {
                env.insert(variable.to_owned(), value.clone());
            }
        }
    }
    if preset.home == Home::Workspace {
        env.insert("HOME".to_owned(), workspace.to_owned());
    }
    env.entry("PATH".to_owned()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    env.extend(overrides.iter().filter(|(name, _)| !is_floor(name)).map(|(name, value)| (name.clone(), value.clone())));
    env.extend(preset.set.clone());
    env.retain(|name, value| is_name(name) && !value.contains('\0'));
    env.into_iter().collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::presets::Presets;

    /// What comes in from outside.
    fn of(preset: &str, vars: &[(&str, &str)]) -> BTreeMap<String, String> {
        let mut preset = Presets::built_in().for_agent(None, Some(preset)).unwrap().environment;
        preset.set.clear();
        let vars = vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        build(&preset, vars, &BTreeMap::new(), "/work", RunAs::Caller { uid: 1 }).into_iter().collect()
    }

    const HOSTILE: &[&str] = &[
        "DISCORD_TOKEN",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "DATABASE_URL",
        "SSH_AUTH_SOCK",
        "PHOENIX_X",
        "PGPASSWORD",
        "MYSQL_PWD",
        "STRIPE_SECRET",
        "SLACK_BOT_TOKEN",
        "TELEGRAM_BOT_TOKEN",
        "AZURE_CLIENT_SECRET",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "VAULT_TOKEN",
        "HF_TOKEN",
        "CARGO_REGISTRY_TOKEN",
        "PYPI_PASSWORD",
        "DOCKER_PASSWORD",
        "JWT_SECRET",
        "PRIVATE_KEY",
        "API_KEY",
        "SENTRY_AUTH_TOKEN",
        "TWILIO_AUTH_TOKEN",
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_ls%%",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PROMPT_COMMAND",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "PERL5OPT",
    ];

    #[test]
    fn only_the_eight_names_of_seed_000() {
        let mut vars: Vec<(&str, &str)> = HOSTILE.iter().map(|name| (*name, "s3cret")).collect();
        let names = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"];
        vars.extend(names.iter().map(|name| (*name, "kept")));
        vars.push(("OTHER", "x"));
        let env = of("chorus", &vars);
        assert_eq!(env.keys().map(String::as_str).collect::<Vec<_>>(), {
            let mut names = names;
            names.sort_unstable();
            names
        });
        assert_eq!(env["HOME"], "/work");
    }

    #[test]
    fn everything_but_secrets_of_seed_001() {
        let mut vars: Vec<(&str, &str)> = HOSTILE.iter().map(|name| (*name, "s3cret")).collect();
        vars.extend([("HOME", "/home/a"), ("MY_SETTING", "x"), ("EDITOR", "vim"), ("GIT_AUTHOR_NAME", "a")]);
        let env = of("phoenix", &vars);
        assert_eq!(
            env.keys().map(String::as_str).collect::<Vec<_>>(),
            ["GIT_AUTHOR_NAME", "HOME", "MY_SETTING", "PATH"]
        );
        assert_eq!(env["HOME"], "/home/a");
    }

    #[test]
    fn passwords_in_addresses_stay_outside_of_the_cage() {
        let kept = [
            ("HTTP_PROXY", "http://proxy:3128"),
            ("API_URL", "https://api.example/v1?at=10:30@noon"),
            ("MIRROR", "https://user@mirror.example/x"),
        ];
        let dropped = [
            ("HTTPS_PROXY", "http://user:pa55@proxy:3128"),
            ("MY_DB", "postgres://app:pa55@db/app"),
            ("LIST", "https://plain.example https://a:b@c.example/"),
            ("WITH_SLASH", "postgres://app:pa/55@db/x"),
            ("GO", "app:pa55@tcp(db:3306)/x"),
            ("REPOSITORY", "https://ghx_0123456789abcdefghij@github.example/a/b"),
            ("SLACK_WEBHOOK_URL", "https://hooks.example/T0/B0/x"),
            ("SERVICE_CONNECTION_STRING", "Endpoint=x"),
            ("SENTRY_DSN", "https://key@sentry.example/1"),
            ("SESSION_COOKIE", "x"),
            ("MODEL_ACCESS", "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3"),
            ("REMOTE", "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"),
            ("UPSTREAM_HEADER", "Bearer abcdef"),
            ("DBPASS", "x"),
            ("SSHPASS", "x"),
            ("DOCKER_AUTH_CONFIG", "{}"),
        ];
        let all: Vec<(&str, &str)> = kept.iter().chain(&dropped).copied().collect();
        let env = of("cage", &all);
        assert_eq!(env.keys().map(String::as_str).collect::<Vec<_>>(), ["API_URL", "HTTP_PROXY", "MIRROR", "PATH"]);
    }

    #[test]
    fn a_caller_cannot_bring_in_the_floor_and_an_operator_can() {
        let mut preset = Presets::built_in().for_agent(None, None).unwrap().environment;
        preset.set.insert("DEPLOY_TOKEN".to_owned(), "by the operator".to_owned());
        let overrides = [("LD_PRELOAD", "/x.so"), ("MODE", "fast"), ("X_API_KEY", "k")];
        let overrides = overrides.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let env: BTreeMap<_, _> = build(&preset, [], &overrides, "/w", RunAs::Caller { uid: 1 }).into_iter().collect();
        assert_eq!(env.keys().map(String::as_str).collect::<Vec<_>>(), ["DEPLOY_TOKEN", "MODE", "PATH"]);
    }

    proptest! {
        #[test]
        fn secrets_never_leaked(env_vars in prop::collection::hash_map("[A-Z_]{1,12}|(ANTHROPIC|OPENAI|GEMINI|AWS_SECRET|PHOENIX)_[A-Z]{0,8}|[A-Z]{1,6}_(TOKEN|SECRET|KEY|PASSWORD)", ".*", 0..20)) {
            let env_vars: HashMap<String, String> = env_vars;
            for name in ["phoenix", "chorus", "cage"] {
                let preset = Presets::built_in().for_agent(None, Some(name)).unwrap().environment;
                let vars = env_vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
                for (key, _) in build(&preset, vars, &BTreeMap::new(), "/w", RunAs::Root) {
                    let by_operator = preset.set.contains_key(&key);
                    prop_assert!(by_operator || !is_secret_env(&key, &preset), "{} {}", name, key);
                }
            }
        }
    }
}
