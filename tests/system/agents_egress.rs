//! Real agents in a network namespace without any network, whose model is outside: what they need is the host's way out.

use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use bashgate_tests::{Host, Killed, Output, repository, until};
use serde_json::{Value, json};

use super::agents::{Agent, Kind};

/// An address of the host's loopback that nobody has, for a model.
pub(super) fn free_address() -> String {
    TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap().to_string()
}

/// Puts a way out in front of what the agent's host is told, and the hook into the agent's settings.
pub(super) fn gated(agent: &Agent, egress: &str) -> Host {
    let text = std::fs::read_to_string(agent.site.host_toml()).unwrap();
    std::fs::write(agent.site.host_toml(), format!("[egress]\nenabled = true\n{egress}{text}")).unwrap();
    agent.install();
    agent.site.serve()
}

/// Runs an agent that is led to a model by this address, while the model is at that one outside and wants this key.
pub(super) fn with_model_outside(agent: &Agent, script: &Value, led_to: &str, (model, key): (&str, &str)) -> Output {
    let mut command = agent.command(script);
    agent.leads_out(&mut command, led_to);
    let mut server = Command::new("python3");
    server.arg(repository().join("tests/agents/model_server.py")).arg(model).env("MODEL_KEY", key);
    server.arg(agent.site.path().join("script.json")).arg(agent.site.path().join("log"));
    let _server = Killed(server.stdout(Stdio::null()).spawn().unwrap());
    until("the model", || TcpStream::connect(model).ok());
    Output::of(&mut command, b"")
}

#[test]
fn claude_code_and_codex_work_without_a_network() {
    for kind in [Kind::Claude, Kind::Codex] {
        let agent = Agent::of(kind);
        let model = free_address();
        let _host = gated(&agent, &format!("hosts = [\"{model}\"]\n"));
        let script = json!([
            agent.shell("touch local"),
            agent.shell("curl -sS -m 20 http://elsewhere.example/ > told 2>&1; curl -sS -m 5 --noproxy '*' http://192.0.2.1/ > direct 2>&1; true"),
        ]);
        let output = with_model_outside(&agent, &script, &model, (&model, "dummy"));
        assert!(agent.ran("local"), "{kind:?}: {output:?}");
        let told = |file: &str| std::fs::read_to_string(agent.project.join(file)).unwrap_or_default();
        assert!(told("told").contains("is not on this workspace's list"), "{kind:?}: {:?}", told("told"));
        assert!(told("direct").contains("curl: "), "{kind:?}: {:?}", told("direct"));
        let records: Vec<Value> = agent.site.audit().into_iter().filter(|record| record["kind"] == "egress").collect();
        let mut asked: Vec<(String, bool)> = records
            .iter()
            .map(|record| {
                let detail = &record["detail"];
                (format!("{}:{}", detail["host"].as_str().unwrap(), detail["port"]), detail["ended"] == "closed")
            })
            .collect();
        asked.sort();
        asked.dedup();
        println!("{kind:?} asked for {asked:?}");
        assert!(asked.contains(&(model.clone(), true)), "{kind:?}: {asked:?}");
        assert!(asked.iter().all(|(host, reached)| *reached == (*host == model)), "{kind:?}: {asked:?}");
    }
}
