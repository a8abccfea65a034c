//! Any text is read or refused, without a panic; and what is read for an unknown shell is read the same for bash.
#![no_main]

use bashgate_shared::shell::{Shell, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let bash = read(text, Shell::Bash);
    let any = read(text, Shell::Other);
    for refused in [&bash, &any].into_iter().filter_map(|read| read.as_ref().err()) {
        assert!(refused.at <= text.len(), "{refused:?} is behind the end of {text:?}");
    }
    // `time` is a word of bash's grammar and a program to others.
    if let (Ok(any), false) = (any, text.contains("time")) {
        let bash = bash.map_err(|refused| panic!("only bash refuses {text:?}: {refused}")).unwrap_or_default();
        assert_eq!(format!("{any:?}"), format!("{bash:?}"), "shells differ over {text:?}");
    }
});
