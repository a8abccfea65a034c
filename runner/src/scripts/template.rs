//! Values into a script, as data.
//!
//! A script names its variables `${name}` or `${word.word}`, as its manifest declares them. No value is ever put into the
//! text: each such place becomes a reference to an environment variable, in the quoting that its place needs, so that
//! the shell sees one and the same text whatever the values are. The rewritten text is read again and must differ from
//! the first in nothing but the quoting of these places; what is not understood is refused.

use std::collections::{BTreeMap, BTreeSet};

use bashgate_shared::shell::{NotUnderstood, Shell, read};

use super::flow;
use super::shape::{Place, Shape};

/// What the environment variables that carry values begin with.
pub(super) const PREFIX: &str = "__bashgate_";

/// Why values cannot be put into a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The script uses a reserved name.
    #[error("names that begin with `{PREFIX}` are bashgate's own")]
    Reserved,
    /// The script is not understood, so nobody knows where its values land.
    #[error("the script is not understood, and so where its values land is not: {0}")]
    NotUnderstood(NotUnderstood),
    /// A place that looks like a variable is not declared.
    #[error("line {line}: `${{{name}}}` is not declared among the variables")]
    Undeclared {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A value would stand where it cannot be kept apart from code.
    #[error("line {line}: `${{{name}}}` {why}")]
    Place {
        /// The line, from 1.
        line: usize,
        /// The variable.
        name: String,
        /// What is wrong with the place.
        why: String,
    },
    /// A value would reach a place where the shell or a program evaluates it.
    #[error("a value could become code: {0}")]
    Evaluated(String),
    /// A declared variable has no value, or there is a value for another one.
    #[error("the values are not those of the variables: {0}")]
    Values(String),
}

impl TemplateError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Reserved => "use other names",
            Self::NotUnderstood(_) => "write it in plainer bash, or declare no variables",
            Self::Undeclared { .. } => "declare it, or use one of the declared names",
            Self::Place { .. } => "let it stand in an argument of its own, or in double quotes",
            Self::Evaluated(_) => "hand it over in a file or on standard input, to a program that does not run it",
            Self::Values(_) => {
                "give one value for each variable, and none that begins with `-` where an option could stand"
            }
        }
    }
}

/// A script whose places are known and sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    /// The environment variable of each variable.
    carriers: BTreeMap<String, String>,
    /// Variables whose value must not begin with `-`: it would be taken for an option.
    no_dash: BTreeSet<String>,
}

/// A script with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled<'t> {
    /// The text that runs, the same for all values.
    pub text: &'t str,
    /// The variables that carry the values.
    pub environment: Vec<(String, String)>,
}

/// One place of a variable in the text.
struct Hole<'t> {
    start: usize,
    end: usize,
    name: &'t str,
}

impl Template {
    /// Finds the places of the declared variables, and checks each.
    pub fn parse(text: &str, variables: &[String]) -> Result<Self, TemplateError> {
        let carriers: BTreeMap<String, String> =
            variables.iter().enumerate().map(|(at, name)| (name.clone(), format!("{PREFIX}v{at}"))).collect();
        let whole = Self { text: text.to_owned(), carriers, no_dash: BTreeSet::new() };
        let holes = holes(text, variables);
        if !variables.is_empty() && text.contains(PREFIX) {
            return Err(TemplateError::Reserved);
        }
        if holes.is_empty() {
            return undeclared(text, text).map_or(Ok(whole), Err);
        }
        // Each place gets a name of its own, so that the syntax says of each where it stands.
        let marked = fill(text, &holes, |at, _| Some(format!("${{{PREFIX}h{at}}}")));
        if let Some(error) = undeclared(text, &marked) {
            return Err(error);
        }
        let document = read(&marked, Shell::Bash).map_err(TemplateError::NotUnderstood)?;
        let before = Shape::of(&document, |name| hole_number(name, holes.len()));
        let wrong = |at: usize, why: &str| {
            let (line, name) = holes.get(at).map_or((0, ""), |hole| (line_of(text, hole.start), hole.name));
            TemplateError::Place { line, name: name.to_owned(), why: why.to_owned() }
        };
        for (at, hole) in holes.iter().enumerate() {
            if !before.places.contains_key(&at) && !is_behind_hash(text, hole.start) {
                return Err(wrong(at, "stands where a value cannot be kept apart from code"));
            }
        }
        let rewritten = fill(text, &holes, |at, _| Some(before.places.get(&at)?.reference(&format!("{PREFIX}h{at}"))));
        let document = read(&rewritten, Shell::Bash).map_err(TemplateError::NotUnderstood)?;
        let after = Shape::of(&document, |name| hole_number(name, holes.len()));
        if let Some((at, _)) = after.places.iter().find(|(_, place)| **place != Place::Quoted) {
            return Err(wrong(*at, "stands where quotes do not hold a value together"));
        }
        if before.tokens != after.tokens {
            let at = before.places.keys().next().copied().unwrap_or(0);
            return Err(wrong(at, "or one behind it stands where quoting it changes something else"));
        }
        let name_of = |hole: &str| hole_number(hole, holes.len()).and_then(|at| holes.get(at)).map(|hole| hole.name);
        let flow = flow::check(&document, name_of);
        if let Some(trouble) = flow.troubles.first() {
            return Err(TemplateError::Evaluated(trouble.clone()));
        }
        // The very text that was checked, with one name for each variable instead of one for each place.
        let text =
            fill(text, &holes, |at, hole| Some(before.places.get(&at)?.reference(whole.carriers.get(hole.name)?)));
        let no_dash =
            if flow.any_may_lead { variables.iter().cloned().collect() } else { flow.may_lead.into_iter().collect() };
        Ok(Self { text, no_dash, ..whole })
    }

    /// The text that runs.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The script with values, one for each variable.
    pub fn with(&self, values: &BTreeMap<String, String>) -> Result<Filled<'_>, TemplateError> {
        let wrong = |why: String| Err(TemplateError::Values(why));
        if let Some(missing) = self.carriers.keys().find(|name| !values.contains_key(*name)) {
            return wrong(format!("`{missing}` has none"));
        }
        let mut environment = Vec::with_capacity(values.len());
        for (name, value) in values {
            let Some(carrier) = self.carriers.get(name) else { return wrong(format!("`{name}` is no variable")) };
            if value.contains('\0') {
                return wrong(format!("`{name}` holds a NUL, which no program can be given"));
            }
            if ["/dev/tcp/", "/dev/udp/"].iter().any(|start| value.starts_with(start)) {
                return wrong(format!("`{name}` is no file but a connection that the shell would open"));
            }
            if value.starts_with('-') && self.no_dash.contains(name) {
                return wrong(format!("`{name}` begins with `-`, and a program would take it for an option"));
            }
            environment.push((carrier.clone(), value.clone()));
        }
        Ok(Filled { text: &self.text, environment })
    }
}

/// The places of declared variables: `${name}` and nothing more inside the braces.
fn holes<'t>(text: &'t str, variables: &[String]) -> Vec<Hole<'t>> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("${") {
        let Some(name) = text.get(start + 2..).and_then(|rest| rest.split_once('}')).map(|(name, _)| name) else {
            continue;
        };
        if variables.iter().any(|declared| declared == name) {
            found.push(Hole { start, end: start + name.len() + 3, name });
        }
    }
    found
}

/// The text with something else in its places; one for which there is nothing else stays.
fn fill(text: &str, holes: &[Hole<'_>], with: impl Fn(usize, &Hole<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() + 32 * holes.len());
    let mut from = 0;
    for (at, hole) in holes.iter().enumerate() {
        out.push_str(text.get(from..hole.start).unwrap_or_default());
        match with(at, hole) {
            Some(other) => out.push_str(&other),
            None => out.push_str(text.get(hole.start..hole.end).unwrap_or_default()),
        }
        from = hole.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn hole_number(name: &str, holes: usize) -> Option<usize> {
    let at: usize = name.strip_prefix(PREFIX)?.strip_prefix('h')?.parse().ok()?;
    (at < holes).then_some(at)
}

/// A dotted name in braces that is left: bash would refuse it when it comes to that line. One in a comment does nothing.
fn undeclared(text: &str, marked: &str) -> Option<TemplateError> {
    marked.match_indices("${").find_map(|(start, _)| {
        let (name, _) = marked.get(start + 2..)?.split_once('}')?;
        let dotted = name.contains('.') && name.split('.').all(bashgate_shared::shell::is_name);
        if !dotted || is_behind_hash(marked, start) {
            return None;
        }
        let line = line_of(text, text.find(&format!("${{{name}}}"))?);
        Some(TemplateError::Undeclared { line, name: name.to_owned() })
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1
}

/// True when a comment could have begun before it on its line.
fn is_behind_hash(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.char_indices().any(|(at, c)| {
        c == '#' && (at == 0 || line.get(..at).is_some_and(|l| l.ends_with([' ', '\t', ';', '&', '|', '(', ')'])))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<String, TemplateError> {
        let variables = ["a.b".to_owned(), "x".to_owned()];
        let template = Template::parse(text, &variables)?;
        Ok(template.text.replace("__bashgate_v0", "0").replace("__bashgate_v1", "1"))
    }

    #[test]
    fn each_place_gets_the_quoting_that_it_needs() {
        for (text, want) in [
            ("tar -czf /tmp/b.tgz ${a.b}\necho \"done: ${a.b}\"", "tar -czf /tmp/b.tgz \"${0}\"\necho \"done: ${0}\""),
            ("echo a${a.b}c", "echo a\"${0}\"c"),
            ("echo 'a ${a.b} c'", "echo 'a '\"${0}\"' c'"),
            ("echo '${a.b}'", "echo ''\"${0}\"''"),
            ("cat <<E\n${a.b} \"${x}\"\nE", "cat <<E\n${0} \"${1}\"\nE"),
            ("cat <<< ${a.b}", "cat <<< \"${0}\""),
            ("y=${a.b}; echo \"$y\"", "y=\"${0}\"; echo \"$y\""),
            ("for f in ${a.b} ${x}; do wc -l \"$f\"; done", "for f in \"${0}\" \"${1}\"; do wc -l \"$f\"; done"),
            ("case ${a.b} in *.txt) echo t;; esac", "case \"${0}\" in *.txt) echo t;; esac"),
            ("[[ ${a.b} == x* ]] && echo y", "[[ \"${0}\" == x* ]] && echo y"),
            ("echo \"$(wc -l ${a.b})\"", "echo \"$(wc -l \"${0}\")\""),
            ("echo \"${y:-${a.b}}\"", "echo \"${y:-${0}}\""),
            ("echo ${y:-d} ${#y} # ${a.b}", "echo ${y:-d} ${#y} # ${a.b}"),
            ("echo > /tmp/${a.b}.log", "echo > /tmp/\"${0}\".log"),
            ("f() { echo \"$1\"; }; f ${a.b}", "f() { echo \"$1\"; }; f \"${0}\""),
            ("local_x=1; [ -f ${a.b} ]", "local_x=1; [ -f \"${0}\" ]"),
            ("trap 'rm -f /tmp/x' EXIT; wc -l ${a.b}", "trap 'rm -f /tmp/x' EXIT; wc -l \"${0}\""),
            ("y=${a.b}; cat -- \"${y##*/}\"", "y=\"${0}\"; cat -- \"${y##*/}\""),
            ("tar -czf ${a.b} -C /srv photos", "tar -czf \"${0}\" -C /srv photos"),
            (
                "set -euo pipefail; cp -- ${a.b} \"/out/$(date +%F)\"",
                "set -euo pipefail; cp -- \"${0}\" \"/out/$(date +%F)\"",
            ),
            (
                "n=0; for i in 1 2; do n=$((n + i)); done; echo ${a.b}",
                "n=0; for i in 1 2; do n=$((n + i)); done; echo \"${0}\"",
            ),
            ("while read -r l; do echo \"$l\"; done < ${a.b}", "while read -r l; do echo \"$l\"; done < \"${0}\""),
            ("echo `cat ${a.b}`", "echo `cat \"${0}\"`"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn where_a_value_could_become_code_the_script_is_refused() {
        for text in [
            "${a.b} x",
            "$((${a.b} + 1))",
            "echo $((${a.b} + 1))",
            "y=${a.b}; echo $((y + 1))",
            "y=${a.b}; z=$y; (( z > 1 ))",
            "[[ ${a.b} -eq 1 ]]",
            "[[ -v ${a.b} ]]",
            "[ -v ${a.b} ]",
            "[ ${a.b} ${x} ]",
            "test ! ${a.b} ${x}",
            "eval echo ${a.b}",
            "eval \"echo '${a.b}'\"",
            "y=${a.b}; eval \"$y\"",
            "sh -c \"echo ${a.b}\"",
            "bash -c 'echo ${a.b}'",
            "ssh host rm ${a.b}",
            "echo ${a.b} | sh",
            "echo ${a.b} | while read -r y; do eval \"$y\"; done",
            "sh <<< ${a.b}",
            "sh <<E\necho ${a.b}\nE",
            "cat <<'E'\n${a.b}\nE",
            "echo $'x ${a.b}\\n'",
            "printf ${a.b}",
            "printf -v ${a.b} x",
            "read ${a.b}",
            "export ${a.b}",
            "declare -i n=${a.b}",
            "let n=${a.b}",
            "unset ${a.b}",
            "trap ${a.b} EXIT",
            "source ${a.b}",
            "exec ${a.b}",
            "xargs ${a.b}",
            "find / -exec ${a.b} \\;",
            "awk \"${a.b}\" f",
            "sed -e s/x/${a.b}/ f",
            "python3 -c 'print(\"${a.b}\")'",
            "PATH=${a.b} ls",
            "LD_PRELOAD=${a.b} ls",
            "f() { eval \"$1\"; }; f ${a.b}",
            "set -- ${a.b}; eval \"$1\"",
            "echo ${y[${a.b}]}",
            "y[${a.b}]=1",
            "echo ${y:${a.b}:1}",
            "env ${a.b}",
            "alias ls=${a.b}",
            "if ${a.b}; then echo; fi",
            "$z ${a.b}",
            "for ((i = ${a.b}; i < 1; i++)); do echo; done",
            "echo ${y:-${a.b}}",
            "echo ${!x} ${a.b}",
            "declare -i n; n=${a.b}",
            "local -n r=y; y=${a.b}",
            "declare $o; n=${a.b}",
            "RANDOM=${a.b}",
            "for SECONDS in ${a.b}; do :; done",
            "read -r OPTIND <<< ${a.b}",
            "printf '%n' ${a.b}",
            "printf '%s%-3ln' x ${a.b}",
            "y=${a.b}; eval 'eval \"$y\"'",
            "y=${a.b}; trap 'eval \"$y\"' EXIT",
            "export y=${a.b}; bash -c 'eval \"$y\"'",
            "y=${a.b}; PS4='$(eval \"$y\")'; set -x",
            "alias e=eval; e ${a.b}",
            "hash -p /bin/sh e; e -c ${a.b}",
            "y=${a.b}; let n=y",
            "y=${a.b}; [[ y -eq 1 ]]",
            "y=${a.b}; [[ -v l[y] ]]",
            "y=${a.b}; [ -v 'l[y]' ]",
            "y=${a.b}; read -r 'l[y]' <<< x",
            "y=${a.b}; unset l[y]",
            "y=${a.b}; [ -v l[y] ]",
            "y=${a.b}; read l[y] <<< x",
            "y=${a.b}; [[ l[y] -eq 1 ]]",
            "y=${a.b}; export l[y]=1",
            "y=${a.b}; unset 'l[y]'",
            "y=${a.b}; printf -v 'l[y]' x",
            "mapfile -C eval -c 1 <<< ${a.b}",
            "command_not_found_handle() { eval \"$2\"; }; nosuch ${a.b}",
            "[[ ${a.b} =~ .* ]]; eval \"${BASH_REMATCH[0]}\"",
            ": ${a.b}; eval \"$_\"",
            "cd ${a.b}; . ./lib.sh",
            "cd ${a.b}; eval \"$PWD\"",
            "exec <<< ${a.b}; sh",
            "{ sh; } <<< ${a.b}",
            "f() { sh; }; echo ${a.b} | f",
            "f() { sh; }; f <<< ${a.b}",
            "echo ${a.b} > >(sh)",
            "echo ${a.b} | tee >(bash) | cat",
            ". /dev/stdin <<< ${a.b}",
            "echo ${a.b} | . /dev/stdin",
            "coproc sh; echo ${a.b} >&3",
            "echo ${a.b} | { read -r y; eval \"$y\"; }",
            "echo ${a.b} | dc",
            "export y=${a.b}; python3 -c 'import os; os.system(os.environ[\"y\"])'",
            "y=${a.b} awk 'BEGIN { system(ENVIRON[\"y\"]) }'",
            "m=n; n=${a.b}; echo $((m))",
            "m=n; n=${a.b}; [[ m -eq 1 ]]",
            "m=n; n=${a.b}; [[ $m -eq 1 ]]",
            "y=${a.b}; tar cf o.tar $y",
            "for f in ${a.b}; do tar cf o.tar $f; done",
            "f() { tar cf o.tar $1; }; f ${a.b}",
            "tar cf o.tar $(echo ${a.b})",
            "e=${a.b}; tar cf o.tar --exclude=$e f",
            "l=(${a.b}); tar cf o.tar f ${l[@]}",
            "d=${a.b}; find $d -maxdepth 0",
            "p=${a.b}; tar cf out.tar f \"${p##*/}\"",
            "tar cf out.tar f \"$(basename -- ${a.b})\"",
            "while read -r l; do tar cf o.tar \"$l\"; done <<< ${a.b}",
            "tar cf o.tar f -${a.b}",
            "tar cf o.tar f -I ${a.b}",
            "git -c ${a.b} status",
            "git config ${a.b} x",
            "zip -T -TT ${a.b} o.zip f",
            "setarch x86_64 bash <<< ${a.b}",
            "/lib64/ld-linux-x86-64.so.2 /bin/bash <<< ${a.b}",
            "command bash <<< ${a.b}",
            "echo ${a.b} | command bash",
            "f() { local v; v=$(cat); echo $((v+1)); }; echo ${a.b} | f",
            "{ v=$(cat); eval \"$v\"; } <<< ${a.b}",
            "read -aarr <<< ${a.b}; echo $((arr))",
            "n=arr; read $n <<< ${a.b}; echo $((arr))",
            "o=-v; [ \"$o\" ${a.b} ]",
            "shopt -s expand_aliases; echo ${a.b}",
            "set -a; echo ${a.b}",
            "$c x; echo ${a.b}",
            "export n=${a.b}; find . -maxdepth 0 -exec sh -c \"\\$n\" \\;",
            "n=${a.b}; export n; zip o.zip f",
            "declare -x ZIPOPT=${a.b}; zip o.zip f",
            "RSYNC_RSH=${a.b} rsync a:b .",
            "socat - ${a.b}",
            "socat -- - ${a.b}",
            "ip netns exec x ${a.b}",
            "ip netns exec x -- ${a.b}",
            "go run ${a.b}",
            "go run -- ${a.b}",
            "pandoc --filter ${a.b} f",
            "yt-dlp --exec ${a.b} u",
            "nobodyknows -x ${a.b}",
            "nobodyknows ${a.b}",
            "rg --pre ${a.b} x",
            "nc -e ${a.b} h 1",
        ] {
            let got = parse(text);
            assert!(got.is_err(), "{text}: {got:?}");
        }
    }

    #[test]
    fn undeclared_names_and_wrong_values_are_named() {
        assert!(matches!(parse("echo\necho ${c.d}"), Err(TemplateError::Undeclared { line: 2, .. })));
        assert!(matches!(parse("echo ${a.b} ${c.d}"), Err(TemplateError::Undeclared { line: 1, .. })));
        assert!(matches!(parse("echo ${a.b} __bashgate_v0"), Err(TemplateError::Reserved)));
        let template = Template::parse("grep -- ${a} f; tar xf ${b}", &["a".to_owned(), "b".to_owned()]).unwrap();
        let with = |a: &str, b: &str| {
            let values = [("a".to_owned(), a.to_owned()), ("b".to_owned(), b.to_owned())].into();
            template.with(&values).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with("-x", "y"), Ok(()));
        assert!(with("x", "--to-command=y").unwrap_err().contains("`b` begins with `-`"));
        assert!(with("x\0", "y").unwrap_err().contains("NUL"));
        assert!(with("/dev/tcp/127.0.0.1/80", "y").unwrap_err().contains("connection"));
        assert!(template.with(&[("a".to_owned(), String::new())].into()).is_err());
    }

    /// Text that breaks out where something is not quoted, mixed with any characters but NUL.
    fn value() -> impl Strategy<Value = String> {
        let snippets = [
            "$(touch canary)",
            "`touch canary`",
            "'",
            "\"",
            "\\",
            "\n",
            "${v}",
            "\nE\n",
            "*",
            "~",
            "$",
            "!",
            ";",
            "&",
            "|",
            "<",
            ">",
            "(",
            ")",
            "[",
            "]",
            "{a,b}",
            "#",
            " ",
            "\t",
            "-",
            "%n",
            "\r",
            "a[$(touch canary)]",
        ];
        let any = any::<char>().prop_map(|c| if c == '\0' { "0".to_owned() } else { c.to_string() });
        let part = prop_oneof![proptest::sample::select(snippets.to_vec()).prop_map(str::to_owned), any];
        proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

        #[test]
        fn any_value_arrives_as_it_is(value in value()) {
            let folder = tempfile::tempdir().unwrap();
            let script = "printf '%s\\0' ${v} \"${v}\" '${v}' a${v}b \"$(printf '%s.' ${v})\"; x=${v}; printf '%s\\0' \"$x\"; \
                          l=(${v}); printf '%s\\0' \"${l[0]}\"; [[ ${v} == \"$x\" ]] && printf same; /bin/cat <<E\n${v}\nE\n";
            let template = Template::parse(script, &["v".to_owned()]).unwrap();
            let values = [("v".to_owned(), value.clone())].into();
            let filled = template.with(&values).unwrap();
            let mut bash = std::process::Command::new("/bin/bash");
            bash.args(["--noprofile", "--norc", "-c", filled.text]).env_clear().env("LC_ALL", "C.UTF-8");
            let output = bash.envs(filled.environment).env("PATH", "/usr/bin:/bin").current_dir(folder.path()).output().unwrap();
            let want = format!(
                "{value}\0{value}\0{value}\0a{value}b\0{value}.\0{value}\0{value}\0same{value}\n"
            );
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout), want);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was made");
        }
    }
}
