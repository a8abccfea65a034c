//! Having a model write a script, from words that say what it is to do.
//!
//! What it writes is a text like any other that an agent brings: it is looked at, nobody has approved it, and what it may reach is
//! read out of it by whoever keeps it, not out of what the model says.

use bashgate_shared::draft::ScriptDraft;
use bashgate_shared::programs::{self, Runs};
use bashgate_shared::script::MAX_TEXT_BYTES;

use crate::policy::credentials;

use super::prompt::visible;

/// Most tokens that a model may write.
pub(super) const MAX_TOKENS: u32 = 8192;

/// The system's words.
pub(super) const SYSTEM: &str = "\
You write one bash script. The message describes the task and what the script may use. Write plain, readable bash that does \
the task and nothing else: no download, no installation, no `eval`, no code for other interpreters unless the task cannot be \
done without. Name files by absolute paths. A variable is written as ${name}, exactly as it is listed; its value is always data, and \
it may only stand where data stands, never as a command, an option or in arithmetic.";

/// The question, as a model is put it. Credentials are masked.
pub(super) fn message(draft: &ScriptDraft) -> String {
    let given = &draft.capabilities;
    let list = |entries: &[String], none: &str| {
        if entries.is_empty() { none.to_owned() } else { entries.join(", ") }
    };
    let variables = if draft.variables.is_empty() {
        "none".to_owned()
    } else {
        draft.variables.iter().map(|name| format!("${{{name}}}")).collect::<Vec<_>>().join(", ")
    };
    let text = format!(
        "Generate a bash script for the following task:\n{}\n\nRequirements:\n- Use only these commands: {}\n- Read from: {}\n- Write to: {}\n- \
         Network access: {}\n\nThe script will receive these variables (their values are data):\n{variables}\n\nOutput only the script \
         content, no explanations.",
        draft.task.trim(),
        list(&given.commands, "whatever the task needs, as few as possible"),
        list(&given.paths_read, "what the task names"),
        list(&given.paths_write, "what the task names; otherwise nothing"),
        if given.network { "yes" } else { "no" },
    );
    visible(&credentials::mask(&text))
}

/// The script in a model's reply, or why there is none.
pub(super) fn script(reply: &str) -> Result<String, String> {
    let text = unfenced(reply.trim());
    if text.lines().any(|line| line.trim_start().starts_with("```")) {
        return Err("its reply is more than one script".to_owned());
    }
    if text.trim().is_empty() {
        return Err("its reply holds no script".to_owned());
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("its script is longer than {MAX_TEXT_BYTES} bytes"));
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("its script holds control characters".to_owned());
    }
    Ok(format!("{}\n", text.trim_end()))
}

/// What stands between the fences, where a reply is one block of code.
fn unfenced(reply: &str) -> &str {
    let Some(rest) = reply.strip_prefix("```") else { return reply };
    let Some((language, rest)) = rest.split_once('\n') else { return reply };
    let Some(inside) = rest.trim_end().strip_suffix("```") else { return reply };
    let is_one = !inside.lines().any(|line| line.trim_start().starts_with("```"));
    let language = language.trim();
    let is_shell = language.is_empty() || language == "shell" || programs::runs_of(language) == Runs::Shell;
    if is_one && is_shell { inside } else { reply }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::protocol::RequestId;
    use bashgate_shared::script::Capabilities;

    use super::*;

    #[test]
    fn the_question_is_the_template_with_what_is_wanted() {
        let id = RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap();
        let given = Capabilities {
            paths_read: vec!["/srv/photos".to_owned()],
            commands: vec!["tar".to_owned(), "gzip".to_owned()],
            ..Capabilities::default()
        };
        let key = format!("ghp_{}", "a".repeat(36));
        let task = format!("pack the photos, the key is {key}");
        let text = message(&ScriptDraft::of(&id, &task, given, vec!["trigger.file.path".to_owned()]));
        for part in [
            "following task:\npack the photos",
            "Use only these commands: tar, gzip",
            "Read from: /srv/photos",
            "Network access: no",
            "${trigger.file.path}",
            "Output only the script",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(&key), "{text}");
    }

    #[test]
    fn a_reply_is_one_script_or_none() {
        for (reply, want) in [
            ("echo x", Some("echo x\n")),
            ("  echo x\n\n", Some("echo x\n")),
            ("```bash\necho x\n```", Some("echo x\n")),
            ("```\n#!/bin/bash\necho x\n```\n", Some("#!/bin/bash\necho x\n")),
            ("Sure:\n```bash\necho x\n```", None),
            ("```python\nprint()\n```", None),
            ("```bash\na\n```\n```bash\nb\n```", None),
            ("", None),
            ("```bash\n```", None),
            ("echo \u{1b}[2J", None),
            ("echo a\rb", None),
        ] {
            assert_eq!(script(reply).ok().as_deref(), want, "{reply:?}");
        }
        assert!(script(&"x".repeat(MAX_TEXT_BYTES + 1)).is_err());
    }
}
