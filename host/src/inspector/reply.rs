//! Reading a model's reply: one JSON object of the agreed shape, or no answer.

use bashgate_shared::object;
use serde::Deserialize;
use serde_json::{Value, json};

use super::prompt::visible;
use crate::policy::Finding;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    flagged: bool,
    reason: String,
}

/// The shape that a model is asked to keep to, as a JSON schema.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"flagged": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["flagged", "reason"],
        "additionalProperties": false,
    })
}

/// Longest reason that is passed on, in characters.
const MAX_REASON: usize = 300;

/// What a reply's text says.
pub(super) fn finding(text: &str) -> Finding {
    match object::from_slice::<Reply>(text.trim().as_bytes()) {
        Ok(Reply { flagged, reason }) => {
            let reason: String =
                visible(&reason).chars().map(|c| if c == '\n' { ' ' } else { c }).take(MAX_REASON).collect();
            if flagged { Finding::Flagged { reason } } else { Finding::Clear { reason } }
        }
        Err(error) => Finding::NoAnswer { why: format!("its reply is malformed: {error}") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agreed_shape_is_an_answer() {
        assert_eq!(finding(r#"{"flagged": false, "reason": "local"}"#), Finding::Clear { reason: "local".to_owned() });
        assert_eq!(
            finding(" {\"flagged\": true, \"reason\": \"sends\"}\n"),
            Finding::Flagged { reason: "sends".to_owned() }
        );
        for text in [
            "",
            "null",
            "[]",
            r#"[false, "looks fine"]"#,
            r#"[{"flagged": false, "reason": "x"}]"#,
            r#"{"flagged": [false], "reason": "x"}"#,
            r#"{"flagged": {"false": null}, "reason": "x"}"#,
            r#"{"flagged": null, "reason": "x"}"#,
            r#"{"flagged": false, "reason": ["x"]}"#,
            r#"{"flagged": false, "reason": null}"#,
            r#"{"Flagged": false, "reason": "x"}"#,
            r#"{"flagged": false, "reason": "x", "reason": "y"}"#,
            r#"{"flagged": true"#,
            r#"{"flagged": "false", "reason": "x"}"#,
            r#"{"flagged": 0, "reason": "x"}"#,
            r#"{"flagged": false}"#,
            r#"{"reason": "x"}"#,
            r#"{"flagged": false, "reason": "x", "extra": 1}"#,
            r#"{"flagged": true, "flagged": false, "reason": "x"}"#,
            r#"{"flagged": false, "reason": "x"} {"flagged": true, "reason": "y"}"#,
            r#"Sure! {"flagged": false, "reason": "x"}"#,
            "```json\n{\"flagged\": false, \"reason\": \"x\"}\n```",
        ] {
            assert!(matches!(finding(text), Finding::NoAnswer { .. }), "{text}");
        }
    }
}
