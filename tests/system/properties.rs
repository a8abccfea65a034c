//! Laws of reading and classifying, over generated commands.

use bashgate_shared::classify::{CommandClass, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use proptest::prelude::*;

fn class(command: &str) -> CommandClass {
    classify(&CommandLine::parse(command).unwrap(), &Surroundings::default()).class
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,8}|[a-z]{1,4}\\.[a-z]{1,3}|-[a-z]|'[a-z $;|&]{0,8}'|\"[a-z ]{0,6}\"|\\*\\.[a-z]{2}|\\$[a-z]{1,3}"
}

fn command() -> impl Strategy<Value = String> {
    let program = prop_oneof![
        Just("ls"),
        Just("cat"),
        Just("echo"),
        Just("grep"),
        Just("curl"),
        Just("make"),
        Just("sort"),
        Just("find"),
        Just("sed"),
        Just("xargs")
    ];
    (program, prop::collection::vec(word(), 0..4)).prop_map(|(program, words)| format!("{program} {}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = class(&text.replace('\0', ""));
    }

    #[test]
    fn any_shell_like_text_is_read_without_a_panic(text in "[a-z$(){}<>|&;'\"`\\\\ \n*?\\[\\]#!~=-]{0,120}") {
        let _ = class(&text);
    }

    #[test]
    fn whatever_is_appended_counts(first in command(), second in command(), operator in prop_oneof![Just(";"), Just("&&"), Just("||"), Just("|"), Just("\n"), Just("&")]) {
        let joined = class(&format!("{first} {operator} {second}"));
        // What xargs is given is known behind find, names of files that are no options, and by itself it is not.
        let knows_more = operator == "|" && first.starts_with("find") && second.starts_with("xargs");
        prop_assert!(knows_more || joined >= class(&second), "{} {} {}", first, operator, second);
        prop_assert!(joined >= class(&first), "{} {} {}", first, operator, second);
    }

    #[test]
    fn what_is_substituted_counts(inner in command()) {
        for outer in [format!("echo $({inner})"), format!("echo \"$({inner})\""), format!("cat <({inner})"), format!("( {inner} )"), format!("{{ {inner}; }}"),
            format!("if true; then {inner}; fi"), format!("for other in a b; do {inner}; done"), format!("cat <<E\n$({inner})\nE\n"), format!("! {inner}")] {
            prop_assert!(class(&outer) >= class(&inner), "{}", outer);
        }
    }

    #[test]
    fn quoting_a_literal_differently_changes_nothing(program in prop_oneof![Just("ls"), Just("curl"), Just("make"), Just("grep")], operand in "[a-z]{1,8}") {
        let plain = class(&format!("{program} {operand}"));
        let (head, tail) = operand.split_at(1);
        for other in [format!("'{program}' '{operand}'"), format!("\"{program}\" \"{operand}\""), format!("\\{program} {head}'{tail}'"), format!("{program} {head}\\\n{tail}"),
            format!("$'{program}' $'{operand}'")] {
            prop_assert_eq!(class(&other), plain, "{}", other);
        }
    }

    #[test]
    fn a_pipeline_never_gets_safer_by_one_more(members in prop::collection::vec(command(), 1..4), more in command()) {
        let before = class(&members.join(" | "));
        let after = class(&format!("{} | {more}", members.join(" | ")));
        prop_assert!(after >= before);
    }
}

#[test]
fn hostile_nesting_ends_quickly_and_is_never_safe() {
    let around = Surroundings::default();
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("`", "`"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("$((", "))"),
        ("if ", ""),
        ("<(", ")"),
        ("a{b,", "}"),
        ("case x in x) ", ""),
        ("while ", ""),
        ("<<E ", ""),
        ("'", ""),
        ("\"", ""),
        ("$'", ""),
        ("! ", ""),
        ("time ", ""),
        ("a[", "]"),
        ("x=$(", ")"),
        ("#", ""),
        ("\\", ""),
        ("&& ", ""),
    ] {
        for depth in [17, 40, 20_000] {
            let text = format!("{}curl x{}", open.repeat(depth), close.repeat(depth));
            if text.len() > 256 * 1024 {
                continue;
            }
            let found = classify(&CommandLine::parse(text).unwrap(), &around);
            // A comment runs nothing.
            if open != "#" {
                assert_ne!(found.class, CommandClass::Safe, "{open} x {depth}");
            }
        }
    }
    let long = format!("echo {}", "x".repeat(200_000));
    assert_eq!(classify(&CommandLine::parse(long).unwrap(), &around).class, CommandClass::Unknown);
    let many = "ls && ".repeat(10_000);
    assert_eq!(classify(&CommandLine::parse(format!("{many}ls")).unwrap(), &around).class, CommandClass::Unknown);
}
