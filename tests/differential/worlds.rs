//! Worlds to run commands in: a working directory, a home folder and a folder outside of both, shaped by somebody who wants a
//! harmless command to do harm. And commands that meet what is in there.
//!
//! What is a secret in a world holds [`CANARY`]; what would run something would run `EVIL`, which lies at the end of PATH.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bashgate_tests::Dice;

/// The content of every secret.
pub const CANARY: &str = "canary-7f3a9c51";

/// As much of it as is looked for: what shows it in rows shows that much in one.
pub const MARK: &str = "canary-7";

/// One of them.
pub struct World {
    /// Holds `w`, `home` and `outside`.
    pub folder: PathBuf,
    /// The environment, but for HOME.
    pub environment: Vec<String>,
}

impl World {
    /// Makes one that turns around something, with its number; `programs` holds a folder for each awk.
    pub fn new(dice: &mut Dice, (aim, number): (Aim, usize), folder: &Path, programs: &Path) -> Self {
        for part in ["w", "home", "outside"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        // What is there already, a link to nowhere perhaps, counts.
        let put = |name: &str, content: &[u8]| {
            let file = folder.join(name);
            let made = std::fs::create_dir_all(file.parent().unwrap());
            if made.is_ok() && std::fs::symlink_metadata(&file).is_err() {
                std::fs::write(&file, content).unwrap();
            }
        };
        for (name, content) in PLAIN {
            put(&format!("w/{name}"), content.as_bytes());
        }
        put("outside/f", b"outside\n");
        put("outside/.env", CANARY.as_bytes());
        // Most of the world is friendly: a single evil thing must not hide behind another one that is seen.
        for part in 0..=dice.below(5).max(usize::from(aim == Aim::Writes)) {
            let kind = match aim {
                Aim::Writes if part == 1 => 7,
                Aim::Names if part < 3 => 0,
                Aim::Links | Aim::Writes if part == 0 => 2,
                Aim::Secrets | Aim::Links if part < 2 => 3,
                Aim::Git if part == 0 => 8,
                Aim::Magic if part < 2 => 1,
                Aim::Folders if part < 2 => 2,
                _ => dice.below(9),
            };
            match kind {
                0 => put(&format!("w/{}", dice.pick(NAMES)), b"one\nEVIL\n"),
                1 => {
                    let start = MAGIC[dice.below(MAGIC.len())];
                    put(&format!("w/{}", dice.pick(&["arch.tar", "f.gz", "b2.txt", "src/data"])), start);
                }
                2 => {
                    let (name, to) = LINKS[dice.below(LINKS.len())];
                    let _ = symlink(to, folder.join("w").join(name));
                }
                3 => put(&format!("w/{}", dice.pick(SECRETS)), format!("key = {CANARY}\n").as_bytes()),
                4 => put(&format!("home/{}", dice.pick(SECRETS_AT_HOME)), format!("key = {CANARY}\n").as_bytes()),
                5 | 6 => {
                    let (name, content) = STEERING[dice.below(STEERING.len())];
                    put(name, content.as_bytes());
                    let mode = std::fs::Permissions::from_mode(0o755);
                    let _ = std::fs::set_permissions(folder.join(name), mode);
                }
                7 => put(&format!("w/{}", dice.pick(LATER)), b"EVIL\n"),
                _ => repository(dice, &folder.join("w")),
            }
        }
        let awk = programs.join(["mawk", "gawk", "original-awk", "busybox"][number % 4]);
        // Here and there what is called like a program is a script.
        let scripts = if number % 8 == 7 { format!("{}:", programs.join("scripts").display()) } else { String::new() };
        let path = format!("PATH={scripts}{}:/usr/bin:/bin:{}", awk.display(), programs.join("stubs").display());
        let mut environment: Vec<String> = ["LC_ALL=C.UTF-8", "x=a b", "f=notes"].map(str::to_owned).to_vec();
        if aim == Aim::Variables || dice.one_in(6) {
            let (name, value) = ENVIRONMENT[dice.below(ENVIRONMENT.len())];
            environment.retain(|known| !known.starts_with(&format!("{name}=")));
            environment.push(format!("{name}={value}"));
        }
        if !environment.iter().any(|known| known.starts_with("PATH=")) {
            environment.push(path);
        }
        Self { folder: folder.to_owned(), environment }
    }
}

/// A repository with commits, and something in its settings that would run a program.
fn repository(dice: &mut Dice, folder: &Path) {
    if folder.join(".git").exists() {
        return;
    }
    let git = |args: &[&str]| {
        let mut git = Command::new("/usr/bin/git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]).args(args).current_dir(folder);
        git.env_clear().env("HOME", "/nonexistent").env("PATH", "/usr/bin:/bin");
        // The same numbers in every world.
        git.env("GIT_AUTHOR_DATE", "1700000000 +0000").env("GIT_COMMITTER_DATE", "1700000000 +0000");
        git.output().unwrap()
    };
    git(&["init", "-q", "-b", "main"]);
    // Secrets that came and went, on this branch and on another one, and a commit that somebody has signed.
    let past = dice.below(4);
    if past == 0 {
        let secret = dice.pick(&["x/.env", "deploy/id_rsa", "certs/server.pem", "src/.npmrc"]);
        std::fs::create_dir_all(folder.join(secret).parent().unwrap()).unwrap();
        std::fs::write(folder.join(secret), format!("key = {CANARY}\n")).unwrap();
        git(&["add", "-f", "--", secret]);
        git(&["commit", "-qm", "a secret"]);
        git(&["branch", "other"]);
        git(&["tag", "v1"]);
        git(&["rm", "-qf", "--", secret]);
        git(&["commit", "-qm", "no secret"]);
    }
    let tracked: &[&str] = if dice.one_in(4) { &["a", "src", "docs", ".env"] } else { &["a", "src", "docs"] };
    git(&[&["add", "--"], tracked].concat());
    git(&["commit", "-qm", "one"]);
    if past == 1 {
        signed(folder);
    }
    if past == 0 && dice.one_in(2) {
        git(&["gc", "-q"]);
    }
    std::fs::write(folder.join("a"), "one\nchanged\n3\n").unwrap();
    if dice.one_in(3) {
        return;
    }
    let (key, value) = GIT_SETTINGS[dice.below(GIT_SETTINGS.len())];
    git(&["config", key, value]);
    if dice.one_in(2) {
        std::fs::write(folder.join(".gitattributes"), "* diff=evil filter=evil merge=evil\n").unwrap();
    }
    for hook in ["pre-commit", "post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        if dice.one_in(4) {
            let file = folder.join(".git/hooks").join(hook);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "#!/bin/sh\nEVIL\n").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// The last commit once more, with a signature: whoever asks for it starts another program.
fn signed(folder: &Path) {
    let git = |args: &[&str], input: &[u8]| {
        let mut git = Command::new("/usr/bin/git");
        git.args(args).current_dir(folder).env_clear().env("HOME", "/nonexistent").env("PATH", "/usr/bin:/bin");
        let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().stdout
    };
    let commit = String::from_utf8(git(&["cat-file", "commit", "HEAD"], b"")).unwrap();
    let Some((head, message)) = commit.split_once("\n\n") else { return };
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----";
    let signed = format!("{head}\n{signature}\n\n{message}");
    let id = git(&["hash-object", "-t", "commit", "-w", "--stdin"], signed.as_bytes());
    git(&["update-ref", "HEAD", String::from_utf8(id).unwrap().trim()], b"");
}

const PLAIN: &[(&str, &str)] = &[
    ("certs/ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
    ("a", "one\ntwo\n3\n"),
    ("b.txt", "x 1\ny 2\n"),
    ("README.md", "# one\n"),
    ("docs/x.md", "one\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.rs", "one\n"),
    ("data.json", "{\"key\": [1, 2]}\n"),
    ("list", "a\nb.txt\n"),
];

/// What a careless program takes for an option, a list or code.
const NAMES: &[&str] = &[
    "-n",
    "-exec",
    "--pre=EVIL",
    "--compress-program=EVIL",
    "--to-command=EVIL",
    "-e1e EVIL x.md",
    "docs/x -e1e EVIL y.md",
    "docs/-e1e EVIL",
    "src/x\nEVIL\n.md",
    "it's.md",
    "docs/a\"b.md",
    "x;EVIL",
    "$(EVIL).md",
    "`EVIL`.txt",
    "docs/\\x.md",
    " .md",
    "-fEVIL.md",
    "-I EVIL",
    "m=1.md",
    "src/--checkpoint-action=exec=EVIL",
    "--files0-from=.env",
    "-f.env",
    "@.env",
];

/// How packed files begin.
const MAGIC: &[&[u8]] = &[
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
    b"BZh91AY&SY",
    b"\xfd7zXZ\0\0\x04",
    b"LZIP\x01",
    b"\x89LZO\0\r\n\x1a\n",
    b"\x1f\x9d\x90",
    b"\x28\xb5\x2f\xfd",
    b"\x7fELF\x02\x01\x01",
    b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xffLZMA\0",
    b"PK\x03\x04\x14\0\0\0\x08\0",
    b"\x1f\x1e",
    b"\x1f\xa0",
    b"!<arch>\ndebian-binary",
    b"7z\xbc\xaf\x27\x1c",
    b"070707000000",
    b"070701",
    b"Rar!\x1a\x07\x01\0",
    b"MSCF\0\0\0\0",
    b"#!/bin/sh\nEVIL\n",
    b"#!EVIL\n",
    b"%PDF-1.4",
    b"%!PS-Adobe",
    b"\xed\xab\xee\xdb",
    b"MZ\x90\0",
    b"\0asm\x01\0\0\0",
    b"\xca\xfe\xba\xbe",
    b"hsqs",
    b"# PaX list",
];

const LINKS: &[(&str, &str)] = &[
    ("link", "../outside"),
    ("up", ".."),
    ("loop", "loop"),
    ("src/out", "../../outside"),
    ("notes", ".env"),
    ("docs/notes.md", "../../outside/.env"),
    ("dangling", "../outside/new"),
    ("conf", ".claude"),
    ("hooks", ".git/hooks"),
    ("home", "../home"),
    ("etc", "/etc"),
    ("root", "/"),
    ("docs/root", "/"),
    ("self", "/proc/self"),
    ("b2.txt", "../home/.ssh/id_ed25519"),
];

const SECRETS: &[&str] = &[
    ".env",
    "src/.env.production",
    "docs/.env",
    "conf/id_rsa",
    "deploy/terraform.tfvars",
    "certs/server.key",
    "certs/server.pem",
    ".git-credentials",
    ".npmrc",
    "docs/secrets.yml",
    "src/config/kubeconfig",
    ".env.bak",
    "x/.aws/credentials",
];

const SECRETS_AT_HOME: &[&str] =
    &[".ssh/id_ed25519", ".aws/credentials", ".netrc", ".bash_history", ".config/gh/hosts.yml", ".docker/config.json"];

/// Files that would make a program run another one.
const STEERING: &[(&str, &str)] = &[
    ("w/usercustomize.py", "import os; os.system('EVIL')\n"),
    ("w/sitecustomize.py", "import os; os.system('EVIL')\n"),
    ("w/json.py", "import os; os.system('EVIL')\n"),
    ("home/.curlrc", "output = ../outside/f\nupload-file = .env\n"),
    ("home/.wgetrc", "use_askpass = EVIL\n"),
    ("home/.local/lib/python3.11/site-packages/usercustomize.py", "import os; os.system('EVIL')\n"),
    ("home/.local/lib/python3.13/site-packages/usercustomize.py", "import os; os.system('EVIL')\n"),
    ("home/.local/lib/python3.11/site-packages/x.pth", "import os; os.system('EVIL')\n"),
    ("home/.local/bin/ls", "#!/bin/sh\nEVIL\n"),
    ("w/venv/pyvenv.cfg", "home = .\n"),
    ("w/docs/rust-toolchain", "EVIL\n"),
    ("w/.ripgreprc", "--pre=EVIL\n"),
    ("w/rust-toolchain.toml", "[toolchain]\npath = \"/tmp/stubs\"\n"),
    ("w/.gitconfig", "[core]\n\tpager = EVIL\n"),
    ("w/EVIL", "#!/bin/sh\n"),
    ("w/ls", "#!/bin/sh\nEVIL\n"),
    ("home/.gitconfig", "[core]\n\tpager = EVIL\n\tfsmonitor = EVIL\n"),
    ("home/.gitconfig", "[diff]\n\texternal = EVIL\n"),
    ("home/.config/git/config", "[diff \"evil\"]\n\ttextconv = EVIL\n[include]\n\tpath = ~/more\n"),
    ("home/.config/git/attributes", "* diff=evil\n"),
    ("home/.jq", "def f: \"EVIL\";\n"),
    ("home/.bashrc", "alias ls=EVIL\nfunction cat { EVIL; }\n"),
    ("home/.profile", "EVIL\n"),
    ("home/.config/bat/config", "--pager=EVIL\n"),
    ("w/.gitignore", ".env\ncerts/\n*.key\n.env.*\n"),
    ("w/.gitignore", "*\n!.env\n"),
    ("w/.ignore", "docs\n"),
    ("w/.ignore", "!.env\n"),
    ("w/src/.rgignore", "!*\n"),
    ("w/docs/.gitignore", "secrets.yml\n.env\n"),
    ("w/certs/.ignore", "/server.key\n"),
    ("home/.config/git/ignore", "!.env*\n"),
    ("home/.gitconfig", "[core]\n\texcludesFile = ~/ignore\n"),
    ("home/.lesskey", "#env\nLESSOPEN=|EVIL %s\n"),
];

/// What acts later: nothing that is let through may write there.
const LATER: &[&str] = &[
    ".git/hooks/pre-commit",
    ".git/config",
    ".claude/settings.json",
    ".mcp.json",
    ".envrc",
    ".vscode/tasks.json",
    ".bashrc",
    ".gitattributes",
    "CLAUDE.md",
    ".github/workflows/ci.yml",
];

/// True for a file below a world that nothing decided by the hook may change.
pub fn is_out_of_bounds(changed: &str) -> bool {
    let Some(inside) = changed.strip_prefix("w/") else { return true };
    // A folder without anything in it does nothing.
    if inside.ends_with('/') {
        return false;
    }
    // What git itself keeps there: its index when it looks again, and what a commit adds.
    let kept = [".git/index", ".git/objects/", ".git/logs/", ".git/refs/", ".git/COMMIT_EDITMSG", ".git/HEAD"];
    if kept.iter().any(|start| inside.starts_with(start)) {
        return false;
    }
    // In any folder, in any case of letters.
    let lower = inside.to_lowercase();
    let parts: Vec<&str> = lower.split('/').collect();
    let name = *parts.last().unwrap_or(&"");
    LATER.iter().any(|later| lower == later.to_lowercase())
        || parts.iter().any(|part| FOLDERS_THAT_ACT.contains(part))
        || FILES_THAT_ACT.contains(&name)
        || ["venv/bin/", "node_modules/.bin/"].iter().any(|folder| lower.contains(folder))
}

/// Folders in which everything acts later, in small letters.
const FOLDERS_THAT_ACT: &[&str] = &[
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".vscode",
    ".idea",
    ".github",
    ".husky",
    ".devcontainer",
    ".githooks",
    ".circleci",
    ".cargo",
];

/// Files that act later wherever they lie.
const FILES_THAT_ACT: &[&str] = &[
    ".envrc",
    ".mcp.json",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".gitattributes",
    ".gitmodules",
    ".npmrc",
    ".yarnrc",
    "claude.md",
    "agents.md",
    "sitecustomize.py",
    "usercustomize.py",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".curlrc",
    ".wgetrc",
];

const GIT_SETTINGS: &[(&str, &str)] = &[
    ("core.pager", "EVIL"),
    ("core.fsmonitor", "EVIL"),
    ("core.hooksPath", "."),
    ("core.sshCommand", "EVIL"),
    ("core.editor", "EVIL"),
    ("core.alternateRefsCommand", "EVIL"),
    ("diff.external", "EVIL"),
    ("diff.evil.textconv", "EVIL"),
    ("diff.evil.command", "EVIL"),
    ("filter.evil.clean", "EVIL"),
    ("filter.evil.process", "EVIL"),
    ("merge.evil.driver", "EVIL"),
    ("gpg.program", "EVIL"),
    ("log.showSignature", "true"),
    ("alias.status", "!EVIL"),
    ("alias.x", "!EVIL"),
    ("pager.log", "EVIL"),
    ("pager.status", "EVIL"),
    ("include.path", "../list"),
    ("submodule.recurse", "true"),
    ("user.name", "b"),
    ("credential.helper", "!EVIL"),
    ("remote.origin.url", "https://u:canary-7f3a9c51@h/x"),
    ("interactive.diffFilter", "EVIL"),
    ("core.worktree", "../../outside"),
    ("extensions.worktreeConfig", "true"),
    ("trailer.x.command", "EVIL"),
    ("diff.orderFile", "../home/.netrc"),
    ("blame.ignoreRevsFile", ".env"),
];

/// Variables that an agent's shell could have.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PYTHONPATH", "."),
    ("LESSOPEN", "|EVIL %s"),
    ("GIT_EXTERNAL_DIFF", "EVIL"),
    ("GIT_PAGER", "EVIL"),
    ("PAGER", "EVIL"),
    ("GIT_DIR", "src"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_TRACE", "../outside/f"),
    ("GREP_OPTIONS", "--include=EVIL"),
    ("RIPGREP_CONFIG_PATH", ".ripgreprc"),
    ("BASH_ENV", "list"),
    ("TAR_OPTIONS", "--to-command=EVIL"),
    ("GZIP", "-n"),
    ("BASH_FUNC_ls%%", "() { EVIL; }"),
    ("BASH_FUNC_cat%%", "() { EVIL; }"),
    ("PS4", "$(EVIL)"),
    ("IFS", "a"),
    ("CDPATH", "../outside"),
    ("GLOBIGNORE", "a"),
    ("POSIXLY_CORRECT", "1"),
    ("LC_ALL", "zh_TW.BIG5"),
    ("PATH", ".:/usr/bin:/bin"),
    ("PATH", "/usr/bin:/bin:"),
    ("TMPDIR", "../outside"),
    ("AWKPATH", "."),
    ("SHELLOPTS", "xtrace"),
    ("BASHOPTS", "extdebug"),
    ("MAGIC", "list"),
    ("TZ", ":/etc/passwd"),
    ("API_TOKEN", CANARY),
    ("DATABASE_URL", "postgres://u:canary-7f3a9c51@h/x"),
    ("ZIPOPT", "-TT EVIL"),
];

/// What commands name: files and folders of a world, and patterns that meet them.
const WORDS: &[&str] = &[
    "a",
    "b.txt",
    "b2.txt",
    "README.md",
    "docs",
    "docs/x.md",
    "src",
    "src/*",
    "*",
    "./*",
    "*.md",
    "docs/*.md",
    "*/*",
    ".[a-z]*",
    "**/*.md",
    ".",
    "..",
    "link",
    "link/f",
    "link/*",
    "up/w/a",
    "src/out/f",
    "src/data",
    "notes",
    "docs/notes.md",
    "conf",
    "conf/settings.json",
    "hooks/pre-commit",
    "home/.netrc",
    "self/environ",
    "dangling",
    "arch.tar",
    "f.gz",
    "list",
    "data.json",
    "{a,b.txt}",
    "\"$f\"",
    "~",
    "~/x",
    "[!x]*",
    "$PWD/a",
    "src/../docs",
    "link/../a",
    "x",
    "new/dir",
    "src/new",
    ".claude",
    ".git/config",
    ".envrc",
    ".mcp.json",
    "-- *",
];

/// What a world, and the commands in it, turn around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Nothing more than anything else.
    Anything,
    /// What files are called.
    Names,
    /// Links.
    Links,
    /// Secrets.
    Secrets,
    /// What is written.
    Writes,
    /// Repositories.
    Git,
    /// Variables.
    Variables,
    /// Scripts of awk.
    Awk,
    /// Scripts of sed.
    Sed,
    /// What files are by how they begin.
    Magic,
    /// Folders that are entered.
    Folders,
}

impl Aim {
    /// Any of them.
    pub fn any(dice: &mut Dice) -> Self {
        use Aim::{Anything, Awk, Folders, Git, Links, Magic, Names, Secrets, Sed, Variables, Writes};
        let all = [Anything, Anything, Names, Links, Secrets, Writes, Git, Git, Variables, Awk, Sed, Magic, Folders];
        all[dice.below(all.len())]
    }

    /// Sentences for `W` to stand in: each aims at something that only the container can tell.
    fn sentences(self) -> &'static [&'static str] {
        match self {
            Self::Anything | Self::Links | Self::Secrets | Self::Variables => READING,
            Self::Names => TAKING_NAMES,
            Self::Writes => WRITING,
            Self::Git => GIT,
            Self::Awk => AWK,
            Self::Sed => SED,
            Self::Magic => UNPACKING,
            Self::Folders => ENTERING,
        }
    }
}

const ALL: [Aim; 8] = [Aim::Anything, Aim::Names, Aim::Writes, Aim::Git, Aim::Awk, Aim::Sed, Aim::Magic, Aim::Folders];

/// One for each condition of the hook, whatever else is drawn.
pub const FOR_EACH_CONDITION: &[&str] = &[
    "grep -rn one docs",
    "cat certs/ca.pem",
    "cd docs && cat x.md",
    "cat docs/*",
    "find docs -name '*.md' | xargs wc -l",
    "git add a",
    "wc -l *.md",
    "mv b.txt moved",
    "rg --files docs",
    "cargo --version",
    "git show d13495380",
    "git log -p -1",
    "git status",
];

/// They read.
const READING: &[&str] = &[
    "cat W",
    "cat W W",
    "cat certs/ca.pem",
    "cat certs/*.crt certs/server.pem",
    "head -n 2 certs/*",
    "cargo --version",
    "rustc --version",
    "cd docs && cargo --version",
    "curl --version",
    "python3 --version",
    "head -n 3 W",
    "tail -n 3 W",
    "wc -l W",
    "sort W",
    "uniq W",
    "cut -d= -f2 W",
    "nl W",
    "tac W",
    "rev W",
    "od -c W",
    "base64 W",
    "strings W",
    "file W",
    "stat W",
    "ls -la W",
    "diff a W",
    "cmp a W",
    "comm a W",
    "paste a W",
    "grep -rn one W",
    "grep -n = W",
    "grep -c . W",
    "grep -l key W",
    "grep -rh key --include=*.md W",
    "grep -rn key --include='*.rs' --include='*.md' W",
    "grep -rn key --exclude-dir=certs --exclude-dir='.*' .",
    "grep -rn key --exclude='.env*' W",
    "grep -rn key --exclude=.env --include='*.yml' .",
    "grep -rn key --include='*' .",
    "rg -n key",
    "rg key W",
    "rg -l key . W",
    "rg --hidden key",
    "rg -u key",
    "rg -g '*.key' key",
    "rg -g '!certs' key .",
    "rg -t yaml key",
    "rg --no-ignore key certs",
    "rg key docs certs",
    "cd W && rg key",
    "find W -name '*.md' -exec grep -h key {} +",
    "find . \\( -name '*.rs' -o -name '*.yml' \\) -exec cat {} \\;",
    "find . -name '*.md' -o -name '.env' -exec cat {} \\;",
    "find . ! -name '*.key' -exec grep -h key {} \\;",
    "find W -type f -name '*.md' | xargs cat",
    "find . -name 'c*' | xargs rg key",
    "sed -n 1,3p W",
    "sed s/one/two/ W",
    "sed '/\"/d' W",
    "jq . W",
    "jq -r '.key[]' data.json",
    "tar tf W",
    "tar tvf arch.tar",
    "zcat W",
    "gunzip -c f.gz",
    "gzip -l W",
    "egrep one W",
    "fgrep one W",
    "find W -name '*.md'",
    "find W -type f",
    "cd W && cat a",
    "cd W && ls && cat *",
    "cd W; grep -rn one .",
    "cd -P W && cat f",
    "(cd W && sort *)",
    "pushd W && cat f && popd",
    "test -f W && cat W",
    "[ -d W ] && ls W",
    "[[ -f W ]] && sort W",
    "x=W; cat $x",
    "echo \"$(cat W)\"",
    "mapfile -t l < W; echo \"${l[@]}\"",
    "read -r l < W; echo \"$l\"",
    "printf '%s\\n' W",
    "md5sum W",
    "sha256sum W",
    "du -sh W",
    "tree W",
    "realpath W",
    "readlink W",
    "date -r W",
    "column -t W",
    "join a W",
    "xxd W",
    "hexdump -C W",
    "env | sort",
    "which ls W",
    "type ls",
    "python3 -c 'print(1)'",
    "python3 -m json.tool data.json",
    "yq . data.json",
    "less W",
    "more W",
    "bash -n W",
    "shellcheck W",
    "tsort W",
    "expand W",
    "fold -w 9 W",
    "tr a b < W",
    "patch -p0 < W",
    "unzip -l W",
    "xz -l W",
    "zstd -l W",
    "gzip -dc W",
    "bzip2 -dc W",
    "openssl x509 -in W -noout -text",
    "ps aux | grep W",
    "history",
    "declare -p",
    "set",
    "locale",
    "cp W x && cat x",
    "ln -s W x; cat x",
    "mv W x; cat x",
    "tee x < W",
];

/// They take what files are called for words.
const TAKING_NAMES: &[&str] = &[
    "find W -type f | xargs cat",
    "find W -name '*.md' | xargs sed -n 1,3p",
    "find W -name '*.md' -print0 | xargs -0 sed -n 1,3p",
    "find . -name '*.md' | head -n 3 | xargs wc -l",
    "find W -type f | sort | xargs grep -n one",
    "find W -newer a -exec grep -l one {} +",
    "find -L W -type f -exec cat {} \\;",
    "ls W | xargs -n 1 basename",
    "ls | xargs wc -l",
    "xargs cat < list",
    "for i in W; do cat \"$i\"; done",
    "for i in W; do wc -l $i; done",
    "while read -r i; do cat \"$i\"; done < list",
    "for f in *.md; do sed -n 1p \"$f\"; done",
    "sed -n 1,3p *",
    "sed -n 1p *.md",
    "tar tf *",
    "sort *",
    "wc -l *",
    "head -n 1 *",
    "cat *.md",
    "grep -n one *",
    "file *",
    "ls *",
    "awk 1 *",
];

/// They write.
const WRITING: &[&str] = &[
    "echo x > W",
    "echo x >> W",
    "echo one | tee W",
    "mkdir -p W",
    "touch W",
    "cp a W",
    "cp -r src W",
    "mv b.txt W",
    "ln -s a W",
    "rm -f W",
    "rmdir W",
    "sed -i s/one/two/ W",
    "sort -o W a",
    "cat a > W",
    "split W",
    "cp W x && cat x",
    "ln -s W x; cat x",
    "mv W x; cat x",
    "tee x < W",
];

/// They look into a repository, or change it.
const GIT: &[&str] = &[
    "git status",
    "git status --short W",
    "git diff",
    "git diff --stat",
    "git diff W",
    "git diff HEAD -- W",
    "git log --oneline -3",
    "git log -p -1 W",
    "git log --format=%H%n%s -2",
    "git log --format=%G? -1",
    "git log --stat -1",
    "git show HEAD:a",
    "git show --stat",
    "git show",
    "git show abcdef1",
    "git log -1 0123456",
    "git log -1 d13495380",
    "git show d13495380",
    "git add a",
    "git add -A",
    "git add docs src",
    "git blame W",
    "git ls-files",
    "git ls-files -s W",
    "git grep one",
    "git grep -n key W",
    "git branch",
    "git branch -a -vv",
    "git remote -v",
    "git config --list",
    "git config user.name",
    "git rev-parse HEAD",
    "git add W",
    "git commit -m x",
    "git stash list",
    "git tag",
    "git describe --always",
    "git shortlog -s HEAD",
    "git diff --no-index a W",
    "git -C W log -1",
    "git check-ignore W",
    "git cat-file -p HEAD:a",
    "git worktree list",
    "git reflog -2",
    "git status | head -3",
    "git show HEAD~1",
    "git show v1",
    "git show other -- W",
    "git log -p",
    "git log -p -2 -- W",
    "git log -p other",
    "git log --branches -p -3",
    "git diff HEAD~1",
    "git diff other main",
    "git diff main...other -- W",
    "git diff --cached",
    "git grep -n key other",
    "git grep -n key HEAD~1 -- W",
    "git diff-tree -p HEAD~1",
    "git cat-file -p HEAD~1",
    "git log --format='%h %G?' -2",
    "git show --show-signature",
    "git verify-commit HEAD",
    "git log -2",
];

/// They edit, with scripts that lead out or look as if they did.
const SED: &[&str] = &[
    "sed -n 1,3p W",
    "sed 's/one/two/' W",
    "sed '1e EVIL' a",
    "sed 's/one/EVIL/e' a",
    "sed -n 'w ../outside/new' a",
    "sed 's/one/x/w ../outside/new' a",
    "sed -n '1r .env' a",
    "sed 'R ../outside/.env' a",
    "sed -e '/one/{s//x/;p}' W",
    "sed 'y/abc/xyz/;$d' W",
    "sed -n '/o/{=;p}' W",
    "sed 's/[/]/x/;e' a",
    "sed 's,a,b,;#' W",
    "sed '1i\\x' W",
];

/// They unpack by what a file is.
const UNPACKING: &[&str] = &[
    "tar tf arch.tar",
    "tar tvf arch.tar",
    "tar -xf arch.tar -O",
    "tar tzf arch.tar",
    "tar tf W",
    "zcat f.gz",
    "gunzip -c f.gz",
    "gzip -l f.gz",
    "file W",
    "cat b2.txt",
    "unzip -l W",
    "zgrep one f.gz",
    "xz -l W",
    "bzip2 -dc f.gz",
];

/// They go to folders that may not be there.
const ENTERING: &[&str] = &[
    "cd W && cat a",
    "cd link/../docs && cat x.md",
    "cd link/../e && echo x > z",
    "cd up/w && ls",
    "cd src/out/../x && echo x > z",
    "cd loop/../docs; cat x.md",
    "cd dangling/.. && echo x > z",
    "cd home/../docs && sort *",
    "cd etc/../w && cat .env",
    "cd conf/../x && echo x > z",
    "(cd link/../outside && cat .env)",
    "cd link/../outside && echo x > z",
    "cd -P link/.. && cat outside/f",
];

/// Scripts, with `S` for a statement.
const AWK: &[&str] = &[
    "awk '{print $1}' W",
    "awk -F= '/[\"]/{print $2}' W",
    "awk '{n++} END{print n/2}' W",
    "awk '/one|[/\"]/{print}' W",
    "awk 'S;S' W",
    "awk 'BEGIN{S;S}' W",
    "awk '{S}' W",
    "awk '/one/{S} END{S}' W",
];

/// Statements of awk, some of which lead out of it, or look to a careless reader as if they did not.
const STATEMENTS: &[&str] = &[
    "print $1",
    "n=1",
    "print 4/2",
    "print n/2/n",
    "x=/\"/",
    "if(0)exit /\"/",
    "if($0~/[/\"]/)print",
    "x=/[]/\"]/",
    "x=/[[:alpha:]/\"]/",
    "print \"a\" /\"/",
    "print \"EVIL\" | \"sh\" #\"\n",
    "print \"EVIL\" | \"sh\"",
    "\"EVIL\"|getline",
    "system(\"EVIL\")",
    "print \"x\" > \"../outside/f\"",
    "printf \"%s\", $2",
    "while((getline l < \".env\")>0)print l",
    "gsub(/a/,\"b\")",
    "print length($0) #\"\n",
];

/// A command for a world.
pub fn sentence(dice: &mut Dice, aim: Aim) -> String {
    let aimed = if dice.one_in(3) { ALL[dice.below(ALL.len())] } else { aim };
    let mut text = String::new();
    let sentence = dice.pick(aimed.sentences());
    for (at, letter) in sentence.char_indices() {
        let inside = sentence[..at].ends_with(|c: char| c.is_alphanumeric() || c == '$');
        let goes_on = sentence[at + 1..].starts_with(char::is_alphanumeric);
        match letter {
            'W' if !inside && !goes_on => text.push_str(dice.pick(if aim == Aim::Names { PATTERNS } else { WORDS })),
            'S' if aimed == Aim::Awk && !inside && !goes_on => text.push_str(dice.pick(STATEMENTS)),
            _ => text.push(letter),
        }
    }
    if dice.one_in(6) { format!("{text}; {}", self::sentence(dice, aim)) } else { text }
}

/// Patterns and folders that meet names.
const PATTERNS: &[&str] = &["*", "*.md", "docs", "docs/*", "src", ".", "./*", "*/*", "?*", "*[a-z]", "-*", "docs/*.md"];
