//! What a call of another tool than the shell is: by the rules of the shell for files and addresses, by the operator's table for
//! services. The decision table then counts as for a command.

use bashgate_shared::classify::tool::ToolAct;
use bashgate_shared::classify::{
    Classification, CommandClass, Decided, NetworkUse, Surroundings, classify_tool, mentioned_in,
};
use bashgate_shared::protocol::ToolCall;
use serde_json::Value;

use super::trust::{About, Property, Service};

/// What a call is. `name` is its service's.
pub fn classify(call: &ToolCall, name: &str, service: &Service, around: &Surroundings) -> Classification {
    let about = About::of(call);
    // A hook that tells no acts tells a target, and of files only what may be a secret.
    let told: Vec<ToolAct> = match (about, &call.target) {
        _ if !call.acts.is_empty() => call.acts.clone(),
        (About::Page, Some(target)) => vec![ToolAct::Fetch { address: target.clone() }],
        _ => Vec::new(),
    };
    let mut found = classify_tool(&call.name, &told, around);
    let (brings, delivers) = (service.public_source == Property::Yes, service.secret_data == Property::Yes);
    match about {
        About::Files => {
            let effects = &mut found.effects;
            if brings {
                effects.untrusted.push(format!("the service {name}"));
            }
            if call.acts.is_empty() && delivers {
                effects.secrets.push(call.target.clone().unwrap_or_else(|| name.to_owned()));
            }
            if !delivers {
                effects.secrets.clear();
            }
        }
        About::Page => {
            let effects = &mut found.effects;
            if !brings {
                effects.untrusted.clear();
            }
            if delivers {
                effects.delivers.push(format!("the service {name}"));
            }
        }
        About::Search | About::Service => {
            if let Some(sends) = &call.sends {
                mentions(&mut found, sends, around);
            }
            let effects = &mut found.effects;
            // Its own name, not the target's, which whoever asks chooses: a trusted host's would bring nothing untrusted.
            let source = format!("the service {name}");
            if brings {
                effects.untrusted.push(source.clone());
            }
            if delivers {
                effects.delivers.push(source.clone());
            }
            let (class, why) = if about == About::Search {
                (CommandClass::Safe, "what a search engine is asked, nobody else reads".to_owned())
            } else if service.public_sink == Property::Yes {
                effects.network.push(NetworkUse { program: call.name.clone(), host: None });
                (CommandClass::Network, format!("what `{name}` is sent, others may read"))
            } else if service.dangerous_writes == Property::Yes {
                (CommandClass::Unknown, format!("what `{name}` writes may be for good"))
            } else {
                (CommandClass::Safe, format!("`{name}` shows nobody what it is sent"))
            };
            if class >= found.class {
                found.class = class;
                found.reason = why;
            }
        }
    }
    found.decided = Decided::Host;
    found
}

/// What a service is told may be a path, or a command: what tampers with the gate, or acts later, counts as in a text that nobody
/// understands.
fn mentions(found: &mut Classification, sends: &str, around: &Surroundings) {
    let mut texts = Vec::new();
    match serde_json::from_str(sends) {
        Ok(value) => texts_in(value, &mut texts),
        // Its start alone.
        Err(_) => texts.push(sends.to_owned()),
    }
    for text in texts {
        let effects = mentioned_in(&text, around);
        found.effects.tampering.extend(effects.tampering);
        found.effects.persistence.extend(effects.persistence);
        found.effects.steering.extend(effects.steering);
    }
}

fn texts_in(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| texts_in(value, texts)),
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| texts_in(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Decision, rules::Asked, trust::Terms};
    use crate::policy::{Policy, judge, taints};
    use crate::taint::{Label, Taint};

    fn of(tool: &str, acts: Vec<ToolAct>, service: &str) -> Classification {
        let service: Service = toml::from_str(service).unwrap();
        let sends = tool.starts_with("mcp").then(|| "{}".into());
        let call = ToolCall { name: tool.to_owned(), target: None, acts, sends };
        let around = Surroundings { cwd: Some("/w".to_owned()), ..Surroundings::default() };
        classify(&call, "x", &service, &around)
    }

    fn decisions(found: &Classification, irrevocable: bool) -> [Decision; 4] {
        let terms = Terms { irrevocable, ..Terms::default() };
        let asked = Asked { service: Some(&terms), ..Asked::from("") };
        [Taint::Clean, Taint::Corruption, Taint::Secret, Taint::Both]
            .map(|taint| judge(&Policy::default(), taint, found, asked).decision)
    }

    #[test]
    fn what_sends_obeys_the_table() {
        use Decision::{Allow, AskHuman, Inspect};
        let fetch =
            of("WebFetch", vec![ToolAct::Fetch { address: "https://a.example".to_owned() }], "secret_data = false");
        assert_eq!(decisions(&fetch, false), [Allow, Inspect, Inspect, AskHuman]);
        assert_eq!(taints(&Policy::default(), &fetch), [(Label::Corruption, "a.example".to_owned())]);
        let unknown = of("mcp__x__y", Vec::new(), "");
        assert_eq!(decisions(&unknown, true), [Allow, AskHuman, AskHuman, AskHuman]);
        let labels: Vec<Label> = taints(&Policy::default(), &unknown).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, [Label::Corruption, Label::Secret]);
        let sink = of("mcp__x__y", Vec::new(), "secret_data = false\npublic_source = false\ndangerous_writes = false");
        assert_eq!(decisions(&sink, false), [Allow, Inspect, Inspect, AskHuman]);
        let source = of("mcp__x__y", Vec::new(), "public_sink = false\ndangerous_writes = false");
        assert_eq!(decisions(&source, false), [Allow; 4]);
        let writes = of("mcp__x__y", Vec::new(), "public_sink = false");
        assert_eq!(decisions(&writes, true), [Allow, AskHuman, AskHuman, AskHuman]);
        assert_eq!(decisions(&of("WebSearch", Vec::new(), "secret_data = false"), false), [Allow; 4]);
    }

    #[test]
    fn what_a_service_is_told_may_be_a_command() {
        let told = |sends: &str| {
            let call =
                ToolCall { name: "mcp__x__run".to_owned(), target: None, acts: Vec::new(), sends: Some(sends.into()) };
            classify(
                &call,
                "x",
                &Service::UNKNOWN,
                &Surroundings { cwd: Some("/w".to_owned()), ..Surroundings::default() },
            )
        };
        for tampers in [
            r#"{"command":"bashgate approve x"}"#,
            r#"{"a":[{"path":"/w/.claude/settings.json"}]}"#,
            r#"{"cmd":"rm -rf ~/.gemini/settings.json"}"#,
        ] {
            assert!(!told(tampers).effects.tampering.is_empty(), "{tampers}");
        }
        assert_eq!(told(r#"{"path":"/w/.git/hooks/pre-commit"}"#).effects.persistence, ["/w/.git/hooks/pre-commit"]);
        assert!(told(r#"{"text":"hello","n":1}"#).effects.tampering.is_empty());
    }

    #[test]
    fn a_file_that_is_sent_counts_as_read() {
        let acts = vec![ToolAct::Read { path: ".env".to_owned() }];
        let sends = of("mcp__x__upload", acts, "secret_data = false\npublic_source = false");
        assert!(sends.effects.sends_secret());
        assert_eq!(judge(&Policy::default(), Taint::Corruption, &sends, "").decision, Decision::AskHuman);
    }
}
