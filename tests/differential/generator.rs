//! Commands to try on real shells: sentences of a grammar that lands inside the reader's rules, and mutations of them.
//!
//! `EVIL` stands wherever a careless reader would overlook that it runs. The same seed makes the same commands.

use bashgate_tests::Dice;

const WORDS: &[&str] = &[
    "a",
    "b.txt",
    "src/main.rs",
    "-n",
    "-l",
    "'q r'",
    "\"d q\"",
    "$x",
    "\"$x\"",
    "\"${x:-a}\"",
    "${e:+b}",
    "${x#a}",
    "\"$f\"",
    "$v",
    "*.txt",
    "./*",
    "src/*.rs",
    "{a,b.txt}",
    "{1..3}",
    "x{a,b}y",
    "~",
    "$((1+2))",
    "$((n))",
    "$((i+1))",
    "${#x}",
    "\"${x:0:2}\"",
    "\"${x/a/b}\"",
    "\"${x^^}\"",
    "\"$@\"",
    "$'a\\tb'",
    "a\\ b",
    "\"a\\\"b\"",
    "''",
    "\"\"",
    "EVIL",
    "'EVIL'",
    "\"EVIL;EVIL\"",
    "'$(EVIL)'",
    "\\$\\(EVIL\\)",
    "a#b",
    "HEAD~1",
    "k=1",
    "--",
    "-",
    "]",
    "}",
    "é",
    "--opt=v",
    "$m",
    "\"$m\"",
    "\"($m)\"",
    "'m=($(EVIL))'",
    "\"m=$m\"",
    "link/..",
    "up/a",
    "$i",
    "\"$i\"",
    "\"$d/a\"",
    "${d}",
    "'a`EVIL`'",
    "\"a\\`EVIL\\`\"",
    "[a]",
    "a?c",
    "=a",
    "%1",
    "@",
    ":",
    "a,b",
    "^",
    "-e",
    "\"$HOME\"",
    "$?",
    "\"$#\"",
    "$HOME/x",
    "${x:-\"a b\"}",
    "\"${x%%[a-z]*}\"",
    "${x//[^0-9]/}",
    "\"${x@Q}\"",
    "\"${a[0]}\"",
    "${a[@]}",
    "\"${a[@]}\"",
    "${#a[@]}",
];

const LEAVES: &[&str] = &[
    "echo W W",
    "echo W",
    "ls W",
    "cat W",
    "grep W W",
    "grep -n one W",
    "head -n 1 W",
    "sort -u a W",
    "wc -l W",
    "printf '%s\\n' W W",
    "test -f W",
    "[ -n W ]",
    "[ W = W ]",
    "true",
    "sed -n '1p' W",
    "cut -c1 W",
    "find . -name W",
    "find src -type f",
    "basename W",
    "tr a b",
    "jq '.key' data.json",
    "awk '{print $1}' a",
    "date +%s",
    "seq 1 3",
    "[[ -n W ]]",
    "[[ W == W ]]",
    "[[ a =~ ^(a|b)+$ ]]",
    "[[ -f W && ! -d W ]]",
    "[[ 3 -gt 2 ]]",
    "[[ $i -lt 3 ]]",
    "(( 1 + 2 ))",
    "(( i < 3 ))",
    "(( i++ ))",
    "rm -f zz",
    "cp a zz",
    "mkdir -p zd",
    "touch zz",
    "env K=1 S",
    "timeout 2 S",
    "command S",
    "nice S",
    "xargs",
    "xargs echo W",
    "bash -c 'S'",
    "sh -c 'S'",
    "eval 'S'",
    "i=1",
    "i=$((1+1))",
    "d=src",
    "d=\"src\"",
    "k=W",
    "a=(W W)",
    "local q=1",
    "export K=W",
    "read -r line",
    "IFS= read -r q",
    "cd src",
    "cd \"$d\"",
    "pwd",
    "type ls",
    "wait",
    "exit 0",
    "shift",
    "declare -r z=1",
    "declare q=W",
    "declare -a q=W",
    "declare W",
    "typeset q=W",
    "readonly q=W",
    "export q=W",
    "read -ra q < r",
    "mapfile -t q < r",
    "q=(W W)",
    "q=()",
    "cd link/../src",
    "cd -P link",
    "unset q",
    "set -e",
    "shopt -s nullglob",
    "EVIL",
    "EVIL W",
    "diff a b.txt",
    "comm a b.txt",
    "paste a b.txt",
    "uniq a",
    "tac a",
    "nl a",
    "od -c a",
    "rev a",
    "stat W",
    "du -s .",
    "id",
    "find . -name a -exec cat {} \\;",
    "find . | xargs wc -l",
    "echo W | xargs -n1 basename",
    "git -C src log",
    "git status",
    "[ -v q ]",
    "printf -v q W",
    "kill 1",
    ": W",
    "expr 1 + 2",
    "cat <<< W",
    "diff <(S) <(S)",
    "cat < <(S)",
    "while read -r q; do S; done < <(S)",
    "S > >(cat)",
    "tee >(S)",
    "cat < a",
    "tee zz",
];

const TAILS: &[&str] =
    &["", "", "", "", " > zz", " 2>&1", " >/dev/null", " 2>/dev/null", " < a", " >> zz", " &> zz", " <<< W", " > W"];

/// One command.
pub fn command(dice: &mut Dice) -> String {
    let mut text = list(dice, 3);
    if dice.one_in(3) {
        for _ in 0..=dice.below(3) {
            text = mutate(dice, &text);
        }
    }
    text
}

fn list(dice: &mut Dice, depth: usize) -> String {
    let mut text = piece(dice, depth);
    for _ in 0..dice.below(3) {
        let joint =
            dice.pick(&["; ", " && ", " || ", " | ", "\n", " & ", ";", "|", "&&", " |& ", " ; ", "&\n", " # c\n"]);
        text = format!("{text}{joint}{}", piece(dice, depth));
    }
    text
}

fn piece(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || !dice.one_in(3) {
        return simple(dice, depth);
    }
    let below = depth - 1;
    let mut inner = || list(dice, below);
    let (one, two) = (inner(), inner());
    let word = word(dice, below);
    let shape = dice.below(19);
    match shape {
        0 => format!("( {one} )"),
        1 => format!("{{ {one}; }}"),
        2 => format!("if {one}; then {two}; fi"),
        3 => format!("if {one}; then {two}; else {one}; fi"),
        4 => format!("for i in {word} a b; do {one}; done"),
        5 => format!("for i in 1 2 3; do {one}; done"),
        6 => format!("while false; do {one}; done"),
        7 => format!("{two} | while read -r i; do {one}; done"),
        8 => {
            let pattern =
                dice.pick(&["a)", "(a|EVIL)", "(esac|EVIL)", "(y) ;; ( esac |EVIL)", "(do|if|'EVIL')", "(in)"]);
            format!("case {word} in {pattern} {one};; *) {two};; esac")
        }
        9 => format!("g() {{ {one}; }}; g {word}"),
        10 => format!("function g {{ {one}; }}; {two}; g"),
        11 => format!("! {one}"),
        12 => format!("time {one}"),
        13 => format!("cat <<E\n{word} {one}\nE"),
        14 => format!("cat <<'E'\n$({one}) `EVIL`\nE\n{two}"),
        15 => format!("for ((i=0; i<2; i++)); do {one}; done"),
        16 => format!("until true; do {one}; done"),
        17 => format!("for i in *.txt; do {one}; done"),
        _ => format!("coproc {{ {one}; }}"),
    }
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let leaf = dice.pick(LEAVES);
    let mut text = fill(dice, leaf, depth);
    let tail = dice.pick(TAILS);
    if !text.contains("<<") {
        text.push_str(&fill(dice, tail, depth));
    }
    if dice.one_in(12) {
        text = format!("K=1 {text}");
    }
    text
}

/// Puts words where `W` stands and scripts where `S` stands.
fn fill(dice: &mut Dice, shape: &str, depth: usize) -> String {
    let mut text = String::new();
    let letters: Vec<char> = shape.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let alone = |offset: Option<usize>| offset.and_then(|at| letters.get(at)).is_none_or(|c| !c.is_alphanumeric());
        let is_slot = alone(at.checked_sub(1)) && alone(Some(at + 1));
        match letter {
            'W' if is_slot => text.push_str(&word(dice, depth)),
            'S' if is_slot => {
                let quoted = at > 0 && letters.get(at - 1) == Some(&'\'');
                let inner = if depth == 0 { "ls a".to_owned() } else { list(dice, depth - 1) };
                text.push_str(&if quoted { inner.replace('\'', "\"") } else { inner });
            }
            letter => text.push(*letter),
        }
    }
    text
}

fn word(dice: &mut Dice, depth: usize) -> String {
    if depth > 0 && dice.one_in(8) {
        let inner = list(dice, depth - 1);
        return match dice.below(5) {
            0 => format!("$({inner})"),
            1 => format!("\"$({inner})\""),
            2 => format!("`{}`", inner.replace('`', "")),
            3 => format!("\"`{}`\"", inner.replace(['`', '"'], "")),
            _ => format!("\"${{x:-$({inner})}}\""),
        };
    }
    let first = dice.pick(WORDS);
    if dice.one_in(6) { format!("{first}{}", dice.pick(WORDS)) } else { first.to_owned() }
}

const SPICE: &[&str] = &[
    "EVIL",
    "`EVIL`",
    "$(EVIL)",
    ";EVIL",
    "&EVIL",
    "|EVIL",
    "\nEVIL",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "&",
    "|",
    ";",
    "#",
    "!",
    "~",
    "*",
    "?",
    "=",
    " ",
    "\n",
    "\t",
    "\\\n",
    "<(EVIL)",
    ">(EVIL)",
    "${x:-`EVIL`}",
    "$'",
    "$\"",
    "<<E\n",
    "\nE\n",
    "<<-E",
    "((",
    "))",
    "[[",
    "]]",
    ";;",
    "esac",
    "done",
    "fi",
    "do",
    "then",
    "in",
    "time ",
    "! ",
    "\r",
    "\u{a0}",
    "\u{7f}",
    "a[$(EVIL)]",
    "-exec EVIL ;",
    "--pre=EVIL",
    "${x@P}",
    "${!x}",
    "$[1]",
    "{a,EVIL}",
    "&>",
    "<>",
    ">|",
    ">&",
    "<&-",
    "2>",
    "@(",
    "!(",
    "function ",
    "select ",
    "coproc ",
    "eval ",
    "x=EVIL;$x",
    "alias ls=EVIL\n",
    "shopt -s expand_aliases\n",
    "<<<",
    "|&",
    "\u{85}",
    "é",
];

/// Changes one place of a text.
pub fn mutate(dice: &mut Dice, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = dice.below(letters.len() + 1);
    match dice.below(5) {
        0 if at < letters.len() => {
            letters.remove(at);
        }
        1 => {
            let spice = dice.pick(SPICE);
            letters.splice(at..at, spice.chars());
        }
        2 if at < letters.len() => {
            let spice = dice.pick(SPICE);
            letters.splice(at..=at, spice.chars());
        }
        3 if at + 1 < letters.len() => letters.swap(at, at + 1),
        _ => {
            let from = dice.below(letters.len() + 1);
            let to = (from + dice.below(12)).min(letters.len());
            let copy = letters[from..to].to_vec();
            letters.splice(at..at, copy);
        }
    }
    letters.into_iter().collect()
}
