//! Laws of classifying that hold for every text, whatever it means.
#![no_main]

use bashgate_shared::classify::{Classification, CommandClass, Decided, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::shell::{Shell, read};
use libfuzzer_sys::fuzz_target;

fn classified(text: &str, shell: Shell) -> Option<Classification> {
    let around = Surroundings {
        shell,
        cwd: Some("/home/agent/project".to_owned()),
        protected: vec!["/etc/bashgate".to_owned()],
        ..Surroundings::default()
    };
    Some(classify(&CommandLine::parse(text).ok()?, &around))
}

fn asks_host(text: &str) -> bool {
    classified(text, Shell::Bash).is_none_or(|found| found.decided == Decided::Host)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fuzz_target!(|text: &str| {
    for shell in [Shell::Bash, Shell::Other] {
        let Some(found) = classified(text, shell) else { return };
        assert_eq!(classified(text, shell).as_ref(), Some(&found), "twice is not the same: {text:?}");
        let local = found.decided != Decided::Host;
        assert!(!local || found.understood && found.class != CommandClass::Network, "{text:?}: {found:?}");
        let conditional = found.decided == Decided::LocalIf;
        assert!(!local || conditional != found.conditions.is_empty(), "{text:?}: {found:?}");
        assert!(!local || found.parts.iter().all(|part| part.local), "{text:?}: {found:?}");
    }
    // Nothing hides what comes before or behind. A here-document could end at the added line, if it were not so odd.
    for added in [format!("{text}\n\nZcurl h"), format!("Zcurl h\n{text}"), format!("Zcurl h;{text}")] {
        assert!(text.contains("Zcurl") || asks_host(&added), "{added:?} is local");
    }
    // Nothing gets milder where it stands inside of something else.
    if !asks_host(text) || text.trim().is_empty() {
        return;
    }
    let literal = quoted(text);
    let mut around = vec![format!("bash -c {literal}"), format!("eval {literal}")];
    if read(text, Shell::Bash).is_ok() {
        around.push(format!("echo \"$({text}\n)\""));
        around.push(format!("{{ {text}\n}}"));
        around.push(format!("if true; then {text}\nfi"));
    }
    for around in around {
        assert!(asks_host(&around), "{around:?} is local, without its wrapping it is not");
    }
});
