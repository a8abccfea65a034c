//! Programs whose purpose is to keep secrets, and to tell them.

use super::{Kind, Operands, Program, Rule, Trait};

const fn keeper(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "keeps secrets", Kind::Mixed, Rule::Never(Operands::Data)).not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    keeper(&["pass", "gopass"], &["pass show x"]).tells(&[""]),
    keeper(&["vault", "bao"], &["vault kv get x"]).tells(&["read", "kv get", "print", "token", "unwrap", "agent"]),
    keeper(&["op"], &["op read x"]).tells(&["read", "item get", "document get", "inject", "run"]),
    keeper(&["bw", "rbw"], &["bw get password x"]).tells(&["get", "list", "export"]),
    keeper(&["lpass"], &["lpass show x"]).tells(&["show", "export"]),
    keeper(&["secret-tool"], &["secret-tool lookup a b"]).tells(&["lookup", "search"]),
    keeper(&["keyring"], &["keyring get a b"]).tells(&["get"]),
    keeper(&["sops", "age", "rage", "ansible-vault", "chamber", "doppler"], &["sops -d x"]).tells(&[""]),
    keeper(
        &["keepassxc-cli", "kwallet-query", "kpcli", "envkey-source", "aws-vault", "saml2aws"],
        &["keepassxc-cli show a b"],
    )
    .tells(&[""]),
    keeper(&["bws", "infisical"], &["bws secret list"]).tells(&[
        "secret get",
        "secret list",
        "secrets",
        "export",
        "run",
    ]),
    keeper(&["consul", "etcdctl"], &["consul kv get x"]).tells(&["kv get", "kv export", "get"]),
    keeper(&["step"], &["step ca token x"]).tells(&["ca token", "oauth", "crypto jwe decrypt"]),
    keeper(&["wg"], &["wg showconf wg0"]).tells(&["showconf", "private-key", "preshared-keys", "dump"]),
    keeper(&["mysql_config_editor"], &["mysql_config_editor print"]).tells(&["print"]),
    Program::new(&["terraform", "tofu"], "builds what its files describe", Kind::Mixed, Rule::Never(Operands::Data))
        .traits(&[Trait::TakesAlong])
        .here(&["fmt", "validate", "version", "graph", "workspace", "output", "show", "state list", "state show"])
        .tells(&["output", "show", "state pull", "state show", "console"])
        .configured_by(&[
            "main.tf",
            "providers.tf",
            "versions.tf",
            "backend.tf",
            "variables.tf",
            "terraform.tfvars",
            ".terraform.lock.hcl",
            "outputs.tf",
            "override.tf",
            "~/.terraformrc",
            ".terraformrc",
        ])
        .not_safe(&["terraform output"]),
];
