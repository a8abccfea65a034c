//! Filters of jq: which functions they call. What is none of the known ones may read another file, as `modulemeta` does.
//!
//! Source: jq(1) 1.5 to 1.8.

/// Functions that work on what they are given, and keywords.
const KNOWN: &[&str] = &[
    "if",
    "then",
    "elif",
    "else",
    "end",
    "and",
    "or",
    "not",
    "def",
    "reduce",
    "foreach",
    "try",
    "catch",
    "label",
    "break",
    "as",
    "true",
    "false",
    "null",
    "length",
    "utf8bytelength",
    "keys",
    "keys_unsorted",
    "values",
    "nulls",
    "has",
    "in",
    "map",
    "map_values",
    "path",
    "del",
    "getpath",
    "setpath",
    "delpaths",
    "paths",
    "leaf_paths",
    "pick",
    "to_entries",
    "from_entries",
    "with_entries",
    "select",
    "empty",
    "error",
    "add",
    "any",
    "all",
    "flatten",
    "range",
    "floor",
    "sqrt",
    "pow",
    "log",
    "exp",
    "log2",
    "log10",
    "exp2",
    "exp10",
    "round",
    "ceil",
    "trunc",
    "fabs",
    "abs",
    "toarray",
    "significand",
    "nearbyint",
    "ldexp",
    "scalb",
    "scalbln",
    "frexp",
    "modf",
    "logb",
    "gamma",
    "lgamma",
    "tgamma",
    "lgamma_r",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "atan2",
    "fmin",
    "fmax",
    "fma",
    "fmod",
    "drem",
    "rint",
    "tostring",
    "tonumber",
    "toboolean",
    "type",
    "infinite",
    "nan",
    "isinfinite",
    "isnan",
    "isnormal",
    "isvalid",
    "arrays",
    "objects",
    "iterables",
    "booleans",
    "numbers",
    "normals",
    "finites",
    "strings",
    "scalars",
    "sort",
    "sort_by",
    "group_by",
    "min",
    "max",
    "min_by",
    "max_by",
    "unique",
    "unique_by",
    "reverse",
    "contains",
    "inside",
    "startswith",
    "endswith",
    "combinations",
    "ltrimstr",
    "rtrimstr",
    "trimstr",
    "trim",
    "ltrim",
    "rtrim",
    "explode",
    "implode",
    "split",
    "splits",
    "join",
    "ascii",
    "ascii_downcase",
    "ascii_upcase",
    "while",
    "until",
    "repeat",
    "recurse",
    "recurse_down",
    "transpose",
    "bsearch",
    "tojson",
    "fromjson",
    "todate",
    "fromdate",
    "now",
    "date",
    "dateadd",
    "datesub",
    "mktime",
    "gmtime",
    "localtime",
    "strftime",
    "strptime",
    "strflocaltime",
    "todateiso8601",
    "fromdateiso8601",
    "test",
    "match",
    "capture",
    "scan",
    "sub",
    "gsub",
    "index",
    "rindex",
    "indices",
    "limit",
    "skip",
    "first",
    "last",
    "nth",
    "IN",
    "INDEX",
    "GROUP_BY",
    "UNIQUE_BY",
    "walk",
    "env",
    "halt",
    "halt_error",
    "input",
    "inputs",
    "input_line_number",
    "debug",
    "stderr",
    "tostream",
    "fromstream",
    "truncate_stream",
    "have_literal_numbers",
    "have_decnum",
    "builtins",
];

/// Functions that read other files, and what brings in a module. Which definition a name means depends on where it stands and on how
/// many values it takes: where one of these stands as a word of its own, nobody is to find out.
const READERS: &[&str] = &["modulemeta", "get_search_list", "input_filename", "import", "include", "module"];

/// True for a filter that calls only what is known to stay with what it is given, or what it defines itself. A text that is not
/// understood is none.
pub(super) fn is_known(filter: &str) -> bool {
    let Some(calls) = Calls::of(filter) else { return false };
    !calls.words.iter().any(|name| READERS.contains(&name.as_str()))
        && calls.called.iter().all(|name| KNOWN.contains(&name.as_str()) || calls.defined.contains(name))
}

#[derive(Default)]
struct Calls {
    /// What stands as a word of its own, whatever it is: neither a field nor a variable.
    words: Vec<String>,
    called: Vec<String>,
    /// Functions, and parameters of functions.
    defined: Vec<String>,
}

/// What is open at one point of a filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Round,
    Square,
    /// An object, and whether a key stands next.
    Curly(bool),
    /// What is put into a text.
    InText,
}

impl Calls {
    fn of(filter: &str) -> Option<Self> {
        let letters: Vec<char> = filter.chars().collect();
        let mut found = Self::default();
        let mut open: Vec<Open> = Vec::new();
        // What the last name was, where it says what the next one is.
        let mut before = String::new();
        let (mut at, mut in_head) = (0, false);
        while let Some(letter) = letters.get(at) {
            at += 1;
            match letter {
                '"' => at = text(&letters, at, &mut open)?,
                // A comment goes on behind a backslash in some versions.
                '#' => return None,
                '(' => open.push(Open::Round),
                '[' => open.push(Open::Square),
                '{' => open.push(Open::Curly(true)),
                ')' => match open.pop()? {
                    Open::Round => {}
                    Open::InText => at = text(&letters, at, &mut open)?,
                    _ => return None,
                },
                ']' => drop(open.pop().filter(|one| *one == Open::Square)?),
                '}' => drop(open.pop().filter(|one| matches!(one, Open::Curly(_)))?),
                ',' | ':' => {
                    if let Some(Open::Curly(is_key)) = open.last_mut() {
                        *is_key = *letter == ',';
                    }
                    in_head &= *letter != ':';
                }
                letter if letter.is_ascii_alphabetic() || *letter == '_' => {
                    let start = at - 1;
                    while letters.get(at).is_some_and(|next| next.is_ascii_alphanumeric() || *next == '_') {
                        at += 1;
                    }
                    let name: String = letters.get(start..at)?.iter().collect();
                    let mark = start.checked_sub(1).and_then(|at| letters.get(at)).copied().unwrap_or(' ');
                    let is_field = mark == '.' && start.checked_sub(2).and_then(|at| letters.get(at)) != Some(&'.');
                    let is_key = open.last() == Some(&Open::Curly(true));
                    if matches!(mark, '$' | '@') || is_field {
                        before.clear();
                        continue;
                    }
                    found.words.push(name.clone());
                    if is_key {
                        before.clear();
                        continue;
                    }
                    if before == "def" || in_head {
                        found.defined.push(name.clone());
                        in_head = true;
                    } else {
                        found.called.push(name.clone());
                    }
                    before = name;
                    continue;
                }
                letter if letter.is_ascii_digit() => {
                    // `1e5`
                    while letters.get(at).is_some_and(|next| next.is_ascii_alphanumeric() || *next == '.') {
                        at += 1;
                    }
                }
                letter if letter.is_whitespace() => continue,
                // A head is a name, and names of parameters.
                letter if !"$;".contains(*letter) => in_head = false,
                _ => {}
            }
            before.clear();
        }
        open.is_empty().then_some(found)
    }
}

/// Where a text ends that goes on here, or where something is put into it.
fn text(letters: &[char], mut at: usize, open: &mut Vec<Open>) -> Option<usize> {
    loop {
        match letters.get(at)? {
            '"' => return Some(at + 1),
            '\\' if letters.get(at + 1) == Some(&'(') => {
                open.push(Open::InText);
                return Some(at + 2);
            }
            '\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn only_known_functions_are_called() {
        for filter in [
            ".",
            ".a.b[0]?",
            ".. | .name? // empty",
            "to_entries[] | \"\\(.key)=\\(.value | tostring)\"",
            "{name, modulemeta2: .x, v: (.a | length)}",
            "def a: 1; def b(f): f; .def as $x | b(a)",
            "[.[] | select(.env == \"modulemeta\")] | length",
            "def f(g; $x): g + $x; map(f(.; 1))",
            "reduce .[] as $i (0; . + $i)",
            "\"a \\\" modulemeta \\(1 + 2)\"",
            ".\"modulemeta\"",
            "@base64 \"x\\(.a)\"",
            "if .a then 1e5 else null end",
            "{\"a b\": 1, (.k): 2, @text \"x\": 3}",
        ] {
            assert!(is_known(filter), "{filter}");
        }
        for filter in [
            "modulemeta",
            "\"c\"|modulemeta",
            "\"\\(\"c\"|modulemeta)\"",
            "\"\\(\"\\(\"c\"|modulemeta)\")\"",
            "{a: (\"c\"|modulemeta)}",
            "{a: 1|modulemeta}",
            "{(\"c\"|modulemeta): 1}",
            ".a|modulemeta",
            "..|modulemeta",
            "1 as $x|modulemeta",
            "def f: modulemeta; f",
            "# x\nmodulemeta",
            "input_filename",
            ".def as $x|\"c\"|modulemeta",
            ".def and (\"c\"|modulemeta)",
            ".def as $x|nosuch",
            ".def as $x|{a: nosuch}",
            "(def modulemeta: .; .)|\"c\"|modulemeta",
            "def modulemeta(x): .; \"c\"|modulemeta",
            "def f(modulemeta): .; \"c\"|modulemeta",
            "def f: \"c\"|modulemeta; def modulemeta: .; f",
            "{a: if true then 1, modulemeta else 2 end}",
            "{modulemeta}",
            "def + nosuch",
            "include \"a\"; .",
            "module {}; .",
            "get_search_list",
            "import \"a\" as x; .",
            "x::y",
            "\"",
            "(",
            "]",
        ] {
            assert!(!is_known(filter), "{filter}");
        }
    }
}
