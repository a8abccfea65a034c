//! Names of variables whose values are secrets.

/// True when a variable's name says that it holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let bare = without_surroundings(&upper);
    is_called_secret(&upper) || bare != upper && is_called_secret(bare)
}

/// A variable's name without what says where it is used, or how it is written down: `KEY_2`, `PASS_PROD`, `KEY_B64`.
fn without_surroundings(upper: &str) -> &str {
    const MARKS: &[&str] = &[
        "_PROD",
        "_PRODUCTION",
        "_DEV",
        "_STAGING",
        "_TEST",
        "_LIVE",
        "_B64",
        "_BASE64",
        "_PEM",
        "_JSON",
        "_OLD",
        "_NEW",
    ];
    let mut name = upper;
    loop {
        let digits = name.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end_matches('_');
        let rest = MARKS.iter().find_map(|mark| name.strip_suffix(mark)).unwrap_or(digits);
        if rest.is_empty() || rest == name {
            return name;
        }
        name = rest;
    }
}

fn is_called_secret(upper: &str) -> bool {
    // Counts, columns of databases, what is public.
    let harmless = [
        "PRIMARY_KEY",
        "PARTITION_KEY",
        "SORT_KEY",
        "FOREIGN_KEY",
        "CACHE_KEY",
        "PUBLIC_KEY",
        "KEY_NAME",
        "TOKENIZERS_PARALLELISM",
        "TOKENIZER",
        "SECRETARY",
        "_COUNT",
        "_LIMIT",
        "_TYPE",
        "_EXPIRY",
        "_EXPIRES",
        "_EXPIRATION",
        "_LENGTH",
        "_PORT",
        "_DIR",
        "_PATH",
        "_FILE",
        "_TTL",
        "_ENABLED",
        "BYPASS",
        "COMPASS",
    ];
    // Several of them are what a model counts, but for these.
    let held = ["API", "AUTH", "ACCESS", "REFRESH", "BEARER", "BOT", "GITHUB", "GITLAB", "SLACK", "DEPLOY", "SESSION"];
    let is_count = upper.ends_with("TOKENS") && !held.iter().any(|word| upper.split('_').any(|part| part == *word));
    if is_count || harmless.iter().any(|end| upper.ends_with(end)) {
        return false;
    }
    let words = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "API_KEY",
        "CREDENTIAL",
        "PRIVATE_KEY",
        "MNEMONIC",
        "UNSEAL_KEY",
        "SIGNING_KEY",
        "ENCRYPTION_KEY",
        "AUTHORIZATION",
        "BINDPW",
        "JAAS_CONFIG",
        "AUTH_CONFIG",
        "WEBHOOK",
    ];
    let endings = [
        "_KEY",
        "_PAT",
        "GHPAT",
        "PASS",
        "_PWD",
        "_PW",
        "_AUTH",
        "_OAUTH",
        "_DSN",
        "_CREDS",
        "_SK",
        "_SAS",
        "_JWT",
        "_COOKIE",
        "AIKEY",
        "SSHKEY",
        "PRIVATEKEY",
        "ACCESSKEY",
        "AESKEY",
        "DBPW",
        "ROOTPW",
        "_PSK",
        "SEED_PHRASE",
        "SERVICE_ACCOUNT",
        "KEYSTORE",
        "DOCKERCONFIGJSON",
        "PRIVKEY",
        "GPGKEY",
        "MASTERKEY",
        "DBPWD",
        "_SIGNING",
        "_HOOK",
        "CONN_STR",
        "CONN_STRING",
        "KUBECONFIG_CONTENT",
        "_SALT",
        "TOTP",
        "SESSDATA",
        "_PIN",
        "RELIC_LICENSE",
        "ALCHEMY_CONN",
        "SEED_WORDS",
        "ELASTIC_URL",
        "_CONFIG_DATA",
        "_SA_JSON",
        "OTLP_HEADERS",
        "DBURL",
        "DB_CONN",
        "DIRECT_URL",
        "PRISMA_URL",
        "REDIS_REST_URL",
        "INDEX_URL",
        "_CRED",
        "_OTP",
        "TOTP_SEED",
        "WALLET_SEED",
        "RECOVERY_PHRASE",
        "PASSCODE",
        "AUTH_HEADER",
        "AUTH_BEARER",
        "_HMAC",
        "FERNET",
        "_PRIVATE",
        "SERVICE_ROLE",
        "P12_BASE64",
        "PFX_B64",
        "_GCP_SA",
        "KUBECONFIG_B64",
        "KUBECONFIG_DATA",
    ];
    let whole = [
        "PAT",
        "CREDS",
        "OTP",
        "BASICAUTH",
        "SEED_WORDS",
        "GITHUB_CONTEXT",
        "PIP_EXTRA_INDEX",
        "BORG_PASSCOMMAND",
        "DOCKER_CONFIG_JSON",
        "PGURI",
        "DBURI",
        "MONGOURL",
        "CONN_STRING",
        "AUTH",
        "DSN",
        "DB_CONNECTION",
        "UV_DEFAULT_INDEX",
        "BEARER",
        "JWT",
        "COOKIE",
        "CELERY_RESULT_BACKEND",
        "RESTIC_REPOSITORY",
        "BW_SESSION",
        "FASTLANE_SESSION",
        "CI_REPOSITORY_URL",
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
    ];
    // Where a password is part of the address.
    let addresses = [
        "DATABASE_URL",
        "DATABASE_URI",
        "DB_URL",
        "DB_URI",
        "REDIS_URL",
        "MONGO_URL",
        "MONGO_URI",
        "MONGODB_URL",
        "MONGODB_URI",
        "AMQP_URL",
        "BROKER_URL",
        "POSTGRES_URL",
        "MYSQL_URL",
        "CONNECTION_STRING",
        "WEBHOOK_URL",
        "JDBC_URL",
        "DATASOURCE_URL",
        "SAS_URL",
    ];
    let services = [
        "POSTGRES",
        "PG",
        "MYSQL",
        "MONGO",
        "REDIS",
        "AMQP",
        "RABBITMQ",
        "CLICKHOUSE",
        "NEO4J",
        "ELASTICSEARCH",
        "CLOUDINARY",
        "SMTP",
        "BROKER",
        "DATABASE",
        "CACHE",
        "MAILER",
    ];
    let is_address = upper.ends_with("_URL") || upper.ends_with("_URI");
    is_address && services.iter().any(|service| upper.starts_with(service) || upper.contains("POSTGRES"))
        || whole.contains(&upper)
        || upper.starts_with("OP_SESSION_")
        || upper.starts_with("GIT_CONFIG_VALUE_")
        || upper.starts_with("CONNECTIONSTRINGS__")
        || upper.starts_with("BUNDLE_") && upper.contains("__")
        || addresses.iter().any(|end| upper.ends_with(end))
        || words.iter().any(|word| upper.contains(word))
        || endings.iter().any(|end| upper.ends_with(end))
        || upper == "PGPASS"
}

/// What languages call the environment, where code shows all of it.
const ENVIRONMENTS: &[&str] = &[
    "os.environ",
    "os.environb",
    "posix.environ",
    "import environ",
    "'environ'",
    "\"environ\"",
    "process.env",
    "process[\"env\"]",
    "process['env']",
    "{env}=process",
    "{ env } = process",
    "process.report",
    "%ENV",
    "ENVIRON",
    "environ()",
    "getenv()",
    "$_ENV",
    "ENV.to_h",
    "ENV.each",
    "array get env",
];

/// True for code that names the environment as a whole, or one variable of it that is a secret by its name.
pub fn code_shows_the_environment(code: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let as_a_whole = ENVIRONMENTS.iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).and_then(|before| before.chars().next_back());
            let behind = code.get(at + name.len()..).unwrap_or_default();
            let is_one = behind.starts_with(['[', '.'])
                && ![".items", ".copy", ".values"].iter().any(|all| behind.starts_with(all));
            !before.is_some_and(is_of_name) && !is_one && !behind.starts_with(is_of_name)
        })
    });
    let reads = || code.contains(['(', '[', '{']) && ["environ", "env", "ENV"].iter().any(|word| code.contains(word));
    let names_one = || code.split(|c| !is_of_name(c)).any(|word| word.len() > 3 && is_secret_variable(word));
    as_a_whole || reads() && names_one()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_shows_the_environment_is_told_from_code_that_reads_a_setting() {
        for code in [
            "import os; print(os.environ)",
            "print(dict(os.environ))",
            "for k, v in os.environ.items(): print(k, v)",
            "console.log(process.env)",
            "print %ENV",
            "BEGIN{for(k in ENVIRON)print k,ENVIRON[k]}",
            "print(os.environ['STRIPE_SECRET'])",
            "console.log(process.env.API_TOKEN + '()')",
            "BEGIN{print ENVIRON[\"DB_PASSWORD\"]}",
            "var_dump($_ENV);",
            "from os import environ; print(dict(environ))",
            "print(getattr(os,'environ'))",
            "const {env}=process; console.log(env)",
            "console.log(process[\"env\"])",
        ] {
            assert!(code_shows_the_environment(code), "{code}");
        }
        for code in [
            "import os; print(os.environ['HOME'])",
            "os.environ.get('CI')",
            "process.env.NODE_ENV",
            "console.log(process.env.PORT)",
            "print(environment)",
            "venv/bin/token.py",
            "scripts/env.py",
        ] {
            assert!(!code_shows_the_environment(code), "{code}");
        }
    }

    #[test]
    fn variables_with_secret_names() {
        for name in ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "OPENAI_API_KEY", "SSH_KEY"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["DSN", "GIT_CONFIG_VALUE_0", "PRIVKEY", "CACHE_URL", "SLACK_HOOK", "OTEL_EXPORTER_OTLP_HEADERS"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["DBPASS", "SSHPASS", "CI_JOB_JWT", "POSTGRES_URI", "LDAP_BINDPW", "AUTH"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["next_tokens", "PRIMARY_KEY", "sort_key", "PUBLIC_KEY", "HTTP_PROXY", "BASE_URL"] {
            assert!(!is_secret_variable(name), "{name}");
        }
        for name in ["HOME", "PATH", "KEYBOARD", "TZ", "x", "PWD", "OLDPWD"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
