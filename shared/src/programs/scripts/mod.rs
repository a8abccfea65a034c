//! Programs with a small language of their own: their scripts are Safe only when a strict recogniser takes them whole.

mod awk;
mod jq;
mod regex;

use super::{Flag, Judge, Judgement, Kind, Operands, Program, Rule, Runs, Trait};
use crate::classify::call::{Arg, Call, Options};
use crate::classify::secrets;
use crate::planted::{self, Bug};

pub(super) const TABLE: &[Program] = &[
    Program::new(&["sed", "gsed"], "edits text", Kind::Local, Rule::Custom(sed))
        .passes_on(1)
        .runs(Runs::Code)
        .flag(Flag::Sed)
        .traits(&[Trait::ChangesFiles, Trait::NamesAreFiles])
        .safe(&[
            "sed -n '1,220p' README.md",
            "sed 's/a/b/g' x",
            "sed -e 's|/a|/b|' -e '/x/d' x",
            "sed -n '/start/,/end/p;$q' x",
            "sed -E 's/[0-9]+/n/' x",
            "sed 's/[[:space:]]*$//' x",
            "sed -i 's/a/b/' x",
            "sed -i.bak -e 's/a/b/' src/x",
        ])
        .not_safe(&[
            "sed '1e curl' x",
            "sed 's/a/b/e' x",
            "sed 's/a/b/w out' x",
            "sed 'w out' x",
            "sed -i 's/a/b/' /etc/x",
            "sed -i 's/a/b/' ~/.bashrc",
            "sed -i 's/a/b/' *.rs",
            "sed -i/tmp/* 's/a/b/' x",
            "sed -ni 's/a/b/e' x",
            "sed -f script x",
            "sed \"$x\" y",
            "sed 's/[/]e/x/' y",
            "sed 's/[]/]e/x/' y",
            "sed 's/[[:space:]/]e/x/' y",
            "sed 's/[\\\\]/]e/x/' y",
        ]),
    Program::new(
        &["ssed"],
        "edits text, in a dialect that is not read here",
        Kind::Local,
        Rule::Never(Operands::Files),
    )
    .runs(Runs::Code)
    .not_safe(&["ssed s/a/b/ x"]),
    Program::new(&["awk", "gawk", "mawk", "nawk"], "computes over text", Kind::Local, Rule::Custom(awk))
        .versioned()
        .passes_on(1)
        .runs(Runs::Code)
        .flag(Flag::Awk)
        .environment(&[
            "AWKPATH",
            "AWKLIBPATH",
            "GAWK_READ_TIMEOUT",
            "GAWK_PERSIST_FILE",
            "GAWK_LOCALE_DIR",
            "GAWK_MSG_SRC",
            "INT_CHAIN_MAX",
        ])
        .traits(&[Trait::NamesAreFiles])
        .safe(&["awk '{print $1}' x", "awk -F: '$3 == 0 { n++ } END { print n }' x", "awk 'NR==1,NR==5' x"])
        .not_safe(&[
            "awk 'BEGIN{system(\"curl\")}'",
            "awk '{print > \"out\"}' x",
            "awk 'BEGIN{\"date\" | getline x}'",
            "awk -f script x",
            "awk 'BEGIN{f=\"system\"; @f(\"sh\")}'",
            "awk \"$x\" y",
            "awk 'BEGIN{ARGV[1]=\"x\";ARGC=2}1'",
            "awk '@load \"x\"'",
        ]),
    Program::new(&["yq"], "computes over YAML", Kind::Local, Rule::Custom(yq))
        // One of the two that are called so.
        .starts(&["jq"])
        .safe(&["yq '.services' a.yml", "yq -r '.name' a.yaml", "yq eval '.a' a.yml"])
        .not_safe(&[
            "yq -i '.a = 1' x.yml",
            "yq 'load(\".env\")' x",
            "yq \"$x\" y",
            "yq -s x y",
            "yq 'env(X)' x",
            "yq '$ENV.X' x",
            "yq --from-file x y",
        ]),
    Program::new(&["jq"], "computes over JSON", Kind::Local, Rule::Custom(jq))
        .loads_at_home(&[".jq"])
        .traits(&[Trait::NamesAreFiles])
        .safe(&[
            "jq '.key' data.json",
            "jq -r '.a[] | select(.b == 1) | .c' x",
            "jq . x",
            "jq --arg v 1 '.x = $v' x",
            "jq .env package.json",
        ])
        .not_safe(&["jq -f script x", "jq 'import \"a\" as a; .' x", "jq \"$x\" y", "jq -L lib . x"]),
];

fn sed(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let (copies, files) = match sed_files(&call.args) {
        Ok(found) => found,
        Err(reason) => return Judgement::unknown(reason),
    };
    let files: Vec<&Arg> = files.iter().collect();
    let mut judgement = judge.read_behind(&files, 0);
    for suffix in copies.iter().flatten() {
        for file in &files {
            judgement = judgement.max(judge.write(file));
            if !suffix.is_empty() {
                judgement = judgement.max(judge.write(&file.with_end(suffix)));
            }
        }
    }
    judgement
}

/// Suffixes of the copies that `sed` leaves of what it changes, where it changes anything; an empty one for none.
type Copies = Option<Vec<String>>;

/// The files of a call of `sed` whose scripts only print and change them, and whether it changes them; or why it may do more.
pub(super) fn sed_files(args: &[Arg]) -> Result<(Copies, Vec<Arg>), String> {
    let options = Options {
        flags: "nErsuz",
        values: "e",
        long: &["--quiet", "--silent", "--regexp-extended", "--expression=", "--null-data", "--separate", "--debug"],
    };
    // `-i` and `-i.bak`, the suffix glued to it, behind other letters or alone.
    let mut copies: Copies = None;
    let given = args;
    let mut args = Vec::new();
    let (mut is_value, mut only_files) = (false, false);
    for arg in given {
        // A script, and what stands behind `--`, is none whatever it looks like.
        let was_value = std::mem::take(&mut is_value);
        let text = arg.exact().filter(|_| !only_files && !was_value);
        only_files |= text == Some("--");
        is_value = text.is_some_and(|text| text == "--expression" || is_short_with_script(text));
        match text.map(in_place_suffix) {
            Some(Some(suffix @ ("" | ".bak" | ".orig" | ".tmp"))) => {
                copies.get_or_insert_default().push(suffix.to_owned());
            }
            Some(Some(_)) => return Err("this suffix of a copy is not on its list".to_owned()),
            _ => args.push(arg.clone()),
        }
    }
    let scan = options.scan(&args)?;
    let mut scripts: Vec<&Arg> = scan
        .options
        .iter()
        .filter(|(name, _)| name == "-e" || name == "--expression")
        .filter_map(|(_, value)| value.as_ref())
        .collect();
    let inline = scripts.is_empty();
    if inline {
        scripts.extend(scan.operands.first());
    }
    for script in scripts {
        match script.exact() {
            Some(text) if sed_is_local(text) => {}
            Some(_) => return Err("the script may run or write something".to_owned()),
            None => return Err("the script is only known when it runs".to_owned()),
        }
    }
    Ok((copies, scan.operands.into_iter().skip(usize::from(inline)).cloned().collect()))
}

/// True for letters of which the last is `-e`, behind which the script stands.
fn is_short_with_script(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.find('e').is_some_and(|at| at + 1 == letters.len())
}

/// What stands behind `-i` or `--in-place=`.
fn in_place_suffix(text: &str) -> Option<&str> {
    match text.strip_prefix("-i").or_else(|| text.strip_prefix("-Ei")).or_else(|| text.strip_prefix("-ri")) {
        Some(suffix) => Some(suffix),
        None if text == "--in-place" => Some(""),
        None => text.strip_prefix("--in-place="),
    }
}

/// True for a script of addresses, blocks, labels and the commands `p d q Q = n N D P h H g G x l s y a i c b t T`, whose
/// `s` has harmless flags.
fn sed_is_local(script: &str) -> bool {
    if planted::has(Bug::SedStaysInside) {
        return true;
    }
    let mut rest = script.as_bytes();
    loop {
        rest = skip(rest, b" \t\n;");
        if rest.is_empty() {
            return true;
        }
        for part in 0..2 {
            match sed_address(rest) {
                Some(after) => rest = skip(after, b" \t"),
                None => return false,
            }
            if part == 0 {
                match rest.split_first() {
                    Some((b',', after)) => rest = skip(after, b" \t+~"),
                    _ => break,
                }
            }
        }
        rest = skip(rest, b"! \t");
        let Some((command, after)) = rest.split_first() else { return false };
        rest = match command {
            b'}' | b'p' | b'd' | b'=' | b'n' | b'N' | b'D' | b'P' | b'h' | b'H' | b'g' | b'G' | b'x' | b'l' => after,
            b'{' => {
                rest = after;
                continue;
            }
            b'q' | b'Q' => skip(after, b" 0123456789"),
            b'a' | b'i' | b'c' => sed_line(after),
            b':' | b'b' | b't' | b'T' => {
                let label = skip(after, b" ");
                let length = label.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
                label.get(length.unwrap_or(label.len())..).unwrap_or(&[])
            }
            b's' => {
                let Some((delimiter, after)) = after.split_first() else { return false };
                let flags = sed_text(after, *delimiter, true).and_then(|after| sed_text(after, *delimiter, false));
                match flags {
                    Some(after) => skip(after, b"gpiI0123456789"),
                    None => return false,
                }
            }
            b'y' => {
                let Some((delimiter, after)) = after.split_first() else { return false };
                match sed_text(after, *delimiter, false).and_then(|after| sed_text(after, *delimiter, false)) {
                    Some(after) => after,
                    None => return false,
                }
            }
            _ => return false,
        };
        rest = skip(rest, b" \t");
        match rest.first() {
            None | Some(b';' | b'\n' | b'}') => {}
            Some(_) => return false,
        }
    }
}

/// Behind the text of `a`, `i` or `c`, which ends at a newline that no backslash precedes.
fn sed_line(text: &[u8]) -> &[u8] {
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'\n' && !escaped {
            return text.get(at..).unwrap_or(&[]);
        }
        escaped = *byte == b'\\' && !escaped;
    }
    &[]
}

fn skip<'a>(text: &'a [u8], any: &[u8]) -> &'a [u8] {
    let length = text.iter().position(|byte| !any.contains(byte)).unwrap_or(text.len());
    text.get(length..).unwrap_or(&[])
}

/// Behind an address, or the same text where there is none.
fn sed_address(text: &[u8]) -> Option<&[u8]> {
    match text.split_first() {
        Some((b'0'..=b'9', _)) => Some(skip(text, b"0123456789~")),
        Some((b'$', after)) => Some(after),
        Some((b'/', after)) => sed_text(after, b'/', true).map(|after| skip(after, b"I")),
        _ => Some(text),
    }
}

/// Behind the next unescaped delimiter.
fn sed_text(text: &[u8], delimiter: u8, pattern: bool) -> Option<&[u8]> {
    if delimiter.is_ascii_alphanumeric() || b"\\\n[ ;".contains(&delimiter) {
        return None;
    }
    if pattern {
        return text.get(regex::end(text, 0, delimiter)? + 1..);
    }
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if *byte == delimiter => return text.get(at + 1..),
            _ => at += 1,
        }
    }
    None
}

fn awk(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "", values: "Fv", long: &[] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let Some(script) = scan.operands.first() else { return Judgement::unknown("there is no script") };
    // What looks like an option behind the script is a file.
    let behind = call.args.iter().skip_while(|arg| arg != script).skip(1);
    if behind.into_iter().any(Arg::may_be_option) {
        return Judgement::unknown("an option behind the script");
    }
    let Some(script) = script.exact() else { return Judgement::unknown("the script is only known when it runs") };
    if scan.operands.iter().any(|operand| operand.start().starts_with("/inet")) {
        judge.network("awk", None);
        return Judgement::network("some versions of awk open this file as a connection");
    }
    if secrets::code_shows_the_environment(script) {
        judge.environment_is_shown();
    }
    if !awk::is_local(script) {
        return Judgement::unknown("the script may run or write something");
    }
    judge.read_behind(&scan.operands, 1)
}

/// What may stand in front of a filter of yq.
const YQ_VERBS: &[&str] = &["eval", "e", "eval-all", "ea"];

/// Two programs bear this name; the options that both take alike are few.
fn yq(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "rPjCMNe", values: "opI", long: &["--prettyPrint", "--no-colors", "--raw-output"] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let verb = scan.operands.first().is_some_and(|first| YQ_VERBS.contains(&first.exact().unwrap_or_default()));
    let Some(filter) = scan.operands.get(usize::from(verb)) else { return Judgement::unknown("there is no filter") };
    let Some(text) = filter.exact() else { return Judgement::unknown("the filter is only known when it runs") };
    if ["env", "ENV"].iter().any(|word| text.contains(word)) {
        judge.environment_is_shown();
        return Judgement::unknown("the filter may read the environment");
    }
    let words = ["load", "system", "import", "include", "input", "split_doc", "eval", "modulemeta"];
    if words.iter().any(|word| text.contains(word)) {
        return Judgement::unknown("the filter reads something else");
    }
    // One of the two takes a first word that is a file for that, and one that ends like this for a file of filters.
    if text.to_ascii_lowercase().ends_with(".yq") {
        return Judgement::unknown("the filter may be read from a file");
    }
    judge.read_behind(&scan.operands, usize::from(verb))
}

fn jq(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut filter = None;
    let mut judgement = Judgement::safe();
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else {
            if filter.is_none() || arg.may_be_option() {
                return Judgement::unknown("the filter or an option is only known when it runs");
            }
            judgement = judgement.max(judge.read(arg));
            continue;
        };
        match text {
            "--arg" | "--argjson" => {
                if !args.next().is_some_and(Arg::is_one) || !args.next().is_some_and(Arg::is_one) {
                    return Judgement::unknown("a value may turn into several words when it runs");
                }
            }
            "--slurpfile" | "--rawfile" => {
                if !args.next().is_some_and(Arg::is_one) {
                    return Judgement::unknown("a value may turn into several words when it runs");
                }
                if let Some(file) = args.next() {
                    judgement = judgement.max(judge.read(file));
                }
            }
            "--indent" => {
                if !args.next().is_some_and(Arg::is_one) {
                    return Judgement::unknown("a value may turn into several words when it runs");
                }
            }
            "--raw-output"
            | "--compact-output"
            | "--slurp"
            | "--null-input"
            | "--sort-keys"
            | "--exit-status"
            | "--raw-input"
            | "--color-output"
            | "--monochrome-output"
            | "--join-output"
            | "--tab"
            | "--args"
            | "--jsonargs"
            | "--ascii-output" => {}
            _ if text.starts_with('-') && text.len() > 1 => {
                if !text.bytes().skip(1).all(|letter| b"rcsneRSCMja".contains(&letter)) {
                    return Judgement::unknown(format!("the option `{text}` is not on its list"));
                }
            }
            _ if filter.is_none() => filter = Some(text),
            _ => judgement = judgement.max(judge.read(arg)),
        }
    }
    let Some(filter) = filter else { return judgement };
    let word = |name: &str| filter.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    // `.env` is a field.
    let is_field = |at: usize| filter.get(..at).is_some_and(|before| before.ends_with('.') && !before.ends_with(".."));
    let means_environment = |(at, word): (usize, &str)| {
        let ends = filter
            .get(at + word.len()..)
            .is_none_or(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        let starts = filter.get(..at).is_none_or(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        ends && starts && !is_field(at)
    };
    if filter.match_indices("env").any(means_environment) || word("ENV") {
        judge.environment_is_shown();
    }
    if !jq::is_known(filter) {
        return Judgement::unknown("the filter calls what is not known to stay with what it is given");
    }
    judgement
}

#[cfg(test)]
mod tests {
    use super::sed_is_local;

    #[test]
    fn sed_scripts() {
        for script in [
            "1,5p",
            "$d",
            "/a/,/b/p",
            "s/a/b/",
            "s,a,b,gI",
            "2q",
            "1~2d",
            "/x/!d",
            "s/a\\/b/c/",
            "y/abc/xyz/",
            "=",
            "1,+3p",
            "",
            "{p;d}",
            "/a/{s/x/y/;p}",
            ":a;N;$!ba;s/\\n/ /g",
            "a some text; e x",
            "2i\\\nfirst\\\nsecond\np",
            "/x/c\\new",
        ] {
            assert!(sed_is_local(script), "{script}");
        }
        for script in [
            "e",
            "1e curl",
            "s/a/b/e",
            "s/a/b/gw x",
            "w x",
            "r x",
            "R x",
            "{e}",
            "a text\ne x",
            "i\\x\nw f",
            "{p}e",
            "s/a/b",
            "b a e",
            "}e",
            "s/[/]/x/e",
        ] {
            assert!(!sed_is_local(script), "{script}");
        }
    }
}
