//! Files that act later: what is written to them now runs, or steers what runs, when nobody looks at this command any more.
//!
//! One list for hook, host and runner, in three tiers; [`of`] is its only reader. Names count in any folder and in any case
//! of letters, because file systems exist that do not tell cases apart.

use std::collections::{HashMap, HashSet};

use crate::planted::{self, Bug};
use crate::{agents, programs};

use super::paths::{Beginnings, ends_in, file_name, is_temporary, is_within, lies_in, occurrences};

/// How soon and how surely a file acts, from the mildest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// It steers builds, CI or agents, which a person starts or sees: on record, and one step stricter under taint.
    Steers,
    /// It runs by itself, outside of the gate: the host decides, one step stricter than the table.
    ByItself,
    /// It says whether and how an agent is gated: never.
    Gate,
}

/// What a file does later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later {
    /// How soon and how surely.
    pub tier: Tier,
    /// In words, with an article.
    pub what: &'static str,
    /// It is code that is called by name as well: to name it is not to change it.
    pub is_called: bool,
    /// Everyday tools make no such file: one that comes to be without anybody having been asked is set aside.
    pub is_kept: bool,
}

/// Which files a row means. All in lower case, without a `/` at either end but for the first of [`At::Root`].
#[derive(Debug, Clone, Copy)]
enum At {
    /// The last components of a path. With a `*` at its end, any name that starts so.
    Ends(&'static str),
    /// These components anywhere in a path, and what lies below them.
    Below(&'static str),
    /// Names that end so.
    Ending(&'static str),
    /// This absolute path and what lies below it. With a `*` at its end, any path that starts so.
    Root(&'static str),
}
use At::{Below, Ending, Ends, Root};

struct Row {
    tier: Tier,
    what: &'static str,
    /// Projects have such files, none of them made by everyday tools: the runner keeps them as they are.
    in_projects: bool,
    at: &'static [At],
}

const fn row(tier: Tier, what: &'static str, at: &'static [At]) -> Row {
    Row { tier, what, in_projects: false, at }
}

impl Row {
    const fn in_projects(mut self) -> Self {
        self.in_projects = true;
        self
    }
}

use Tier::{ByItself, Steers};

const ROWS: &[Row] = &[
    row(ByItself, "a git hook", &[Below(".husky"), Below(".githooks"), Below(".git-hooks"), Below(".lefthook")])
        .in_projects(),
    row(ByItself, "a git hook", &[Below(".git/hooks")]),
    row(
        ByItself,
        "git's configuration",
        &[
            Ends(".git/config"),
            Ends(".git/config.worktree"),
            Below(".git/info"),
            Below(".config/git"),
            Ends(".gitconfig"),
            Ends("etc/gitconfig"),
            // With one, any folder may be a repository.
            Ends("head"),
            Ends(".hg/hgrc"),
            Ends(".hg/hgrc-not-shared"),
            Ends(".sl/config"),
            Ends(".pijul/config"),
            Ends("_darcs/prefs/defaults"),
            Below(".svn/hooks"),
            Ends(".hgrc"),
            Ends(".sl/hgrc"),
            Ends("_mtn/monotonerc"),
            Ends(".bzr/branch/branch.conf"),
            Ends(".p4config"),
            Below(".jj"),
            // By a custom of start-up files, `PATH=.git/safe/../../bin:$PATH` trusts what lies there.
            Ends(".git/safe"),
        ],
    ),
    row(
        ByItself,
        "a start-up file of a shell",
        &[
            Ends(".bashrc"),
            Ends(".bash_profile"),
            Ends(".bash_login"),
            Ends(".bash_logout"),
            Ends(".bash_aliases"),
            Ends(".bash_completion"),
            Ends(".config/bash_completion"),
            Ends(".elvish/rc.elv"),
            Ends(".config/elvish/rc.elv"),
            Ends(".phpbrewrc"),
            Below(".bashrc.d"),
            Below(".bash_completion.d"),
            Ends("bash.bashrc"),
            Ends(".profile"),
            Ends("etc/profile"),
            Ends(".zshrc"),
            Ends(".zshenv"),
            Ends(".zprofile"),
            Ends(".zlogin"),
            Ends(".zlogout"),
            Below("etc/zsh"),
            Below(".oh-my-zsh"),
            Ends(".kshrc"),
            Ends(".mkshrc"),
            Ends(".cshrc"),
            Ends(".tcshrc"),
            Ends(".login"),
            Ends("config.fish"),
            Below(".config/fish"),
            Below("etc/fish"),
            Ends(".inputrc"),
            Ends("etc/inputrc"),
            Ends(".pam_environment"),
            Below(".config/environment.d"),
            Root("/etc/profile.d"),
            Root("/etc/bash_completion.d"),
            Root("/etc/environment"),
            Root("/etc/skel"),
        ],
    ),
    row(
        ByItself,
        "a start-up file",
        &[
            Below(".config/gdb"),
            Ends(".gdbearlyinit"),
            Below(".config/hg"),
            Below(".config/readline"),
            Below(".direnv"),
            Below(".config/direnv"),
            Below(".local/share/fish"),
            Below(".local/share/bash-completion"),
            Ends(".zcompdump*"),
            Below(".vs"),
            Below(".vscode-server"),
            Below(".cursor-server"),
            Below(".tabnine/agent"),
            Ends(".kakrc"),
            Below(".config/kak"),
            Ends(".xbindkeysrc"),
            Below(".config/alacritty"),
            Below(".config/openbox"),
            Below(".config/ccache"),
            Below(".ccache"),
            Ends(".rustup/settings.toml"),
            Below(".rustup/toolchains"),
            Ends(".config/starship.toml"),
            Below(".config/plasma-workspace/env"),
            Ends(".wezterm.lua"),
            Below(".config/wezterm"),
            Ends(".less"),
            Ends(".terraformrc"),
            Ends(".juliarc.jl"),
            Ends(".julia/config/startup.jl"),
            Ends(".iex.exs"),
            Ends(".ocamlinit"),
            Ends(".sbclrc"),
            Ends(".xonshrc"),
            Ends(".duckdbrc"),
            Below(".config/vifm"),
            Below(".config/lf"),
            Below(".config/ranger"),
            Below(".config/tig"),
            Below(".config/k9s"),
            Below(".config/lazygit"),
            Below(".config/micro"),
            Ends(".bash_profile.local"),
            Ends(".bashrc.local"),
            Ends(".zshrc.local"),
            Ends(".aliases"),
            Ends(".functions"),
            Ends(".exports"),
            Ends(".xprofile"),
            Ends(".xinitrc"),
            Ends(".xsession"),
            Ends(".xsessionrc"),
            Below(".config/autostart"),
            Ends(".tmux.conf"),
            Below(".config/tmux"),
            Ends(".screenrc"),
            Ends(".lesskey"),
            Ends("lesskey"),
            Ends(".lessfilter"),
            Ends(".jq"),
            Ends(".rpmmacros"),
            Ends(".popt"),
            Ends(".psqlrc"),
            Ends(".sqliterc"),
            Ends(".pdbrc"),
            Ends(".pythonrc"),
            Ends(".pythonrc.py"),
            Ends(".irbrc"),
            Ends(".pryrc"),
            Ends(".rprofile"),
            Ends(".ghci"),
            Ends(".guile"),
            Below(".ipython"),
            Below(".jupyter"),
            Below(".config/kitty"),
            Below(".config/i3"),
            Below(".config/sway"),
            Below(".config/hypr"),
            Below(".config/helix"),
            Below(".config/nushell"),
            Below(".config/powershell"),
            Below(".config/xonsh"),
            Ends(".xserverrc"),
            Ends(".forward"),
            Ends(".procmailrc"),
            Ends(".muttrc"),
            Ends(".cargo/env"),
            Ends(".nvm/nvm.sh"),
            Ends(".fzf.bash"),
            Ends(".fzf.zsh"),
        ],
    ),
    row(
        ByItself,
        "an editor's start-up file",
        &[
            Below(".vim"),
            Below(".config/nvim"),
            Ends(".emacs"),
            Ends(".emacs.el"),
            Ends(".spacemacs"),
            Below(".doom.d"),
            Below(".local/share/nvim"),
            Ends(".emacs.d"),
            Below(".emacs.d"),
            Below(".config/emacs"),
            Ends(".nanorc"),
        ],
    ),
    row(
        ByItself,
        "what runs when one enters a folder",
        &[
            Ends(".envrc*"),
            Ends(".direnvrc"),
            Ends(".rbenv-vars"),
            Below(".config/direnv"),
            Ends("mise.toml"),
            Ends("mise.local.toml"),
            Ends(".mise.toml"),
            Ends(".mise.*"),
            Ends("mise/config*"),
            Ends(".lvimrc"),
            Ends("session.vim"),
            Below(".mise"),
            Below(".config/mise"),
            Ends(".autoenv"),
            Ends(".autoenv.zsh"),
            Ends(".autoenv.sh"),
            Ends(".powrc"),
            Ends(".powenv"),
            Ends(".zlocal"),
            Ends(".dirrc"),
            Ends(".env.zsh"),
            Ends(".rtx.toml"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "an editor's tasks and settings",
        &[
            Below(".vscode"),
            Below(".idea"),
            Below(".zed"),
            Below(".fleet"),
            Below(".theia"),
            Below(".config/code/user"),
            Below(".vscode-server/data"),
            Ends(".replit"),
            Ends(".roomodes"),
            Below(".antigravity"),
            Ends(".dir-locals.el"),
            Ending(".code-workspace"),
            Ending(".sublime-project"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "a container for development",
        &[
            Below(".devcontainer"),
            Ends(".devcontainer.json"),
            Ends(".gitpod.yml"),
            Ends(".gitpod.dockerfile"),
            Below(".gitpod"),
            Below(".ona"),
            Ends("devfile.yaml"),
            Ends(".devfile.yaml"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "an agent's servers, skills, commands or plug-ins",
        &[
            Ends(".mcp.json"),
            Ends("mcp.json"),
            Ends(".claude.json"),
            Below(".claude/skills"),
            Below(".claude/commands"),
            Below(".claude/agents"),
            Below(".claude/plugins"),
            Below(".claude/output-styles"),
            Below(".claude/workflows"),
            Ends(".claude/statusline*"),
            Ends(".claude/scheduled_tasks*"),
            Below(".codex/prompts"),
            Below(".codex/skills"),
            Below(".codex/rules"),
            Below(".codex/agents"),
            Below(".codex/plugins"),
            Below(".gemini/commands"),
            Below(".gemini/extensions"),
            Below(".gemini/skills"),
            Below(".gemini/policies"),
            Ends(".gemini/sandbox*"),
            Below(".cursor/commands"),
            Below(".cursor/extensions"),
            Ends(".cursor/permissions.json"),
            Below(".copilot/skills"),
            Below(".copilot/agents"),
            Ends(".copilot/mcp-config.json"),
            Below(".opencode"),
            Below(".config/opencode"),
            Below(".agents/skills"),
            Below(".agents/commands"),
            Below(".kiro"),
            Below(".amp"),
            Below(".openhands"),
            Below(".vibe"),
            Below(".pi"),
            Below(".rovodev"),
            Below(".goose"),
            Below(".amazonq"),
            Below(".trae"),
            Ends(".aider.conf.yml"),
            Ends(".claude/launch.json"),
            Ends(".claude/loop.md"),
            Ends(".claude/hooks.json"),
            Below(".claude/agent-memory"),
            Below(".windsurf"),
            Below(".codeium"),
            Below(".roo"),
            Below(".continue"),
            Below(".qwen"),
            Below(".factory"),
            Below(".augment"),
            Ends(".crush.json"),
            Ends("crush.json"),
            Ends("conductor.json"),
            Below(".superset"),
            Ends(".emdash.json"),
            Ends(".workmux.yaml"),
            Ends(".config/wt.toml"),
            Ends(".wtp.yml"),
            Ends(".gtrconfig"),
            Below(".mux"),
            Below(".dmux-hooks"),
            Below(".letta"),
            Below(".codex-plugin"),
            Below(".clinerules/hooks"),
            Below(".claude-plugin"),
            Below(".qoder"),
            Ends("hooks/hooks.json"),
        ],
    )
    .in_projects(),
    row(ByItself, "an agent's shell snapshot", &[Below("shell-snapshots"), Below("session-env")]),
    row(
        ByItself,
        "something that starts at its time",
        &[
            Root("/etc/cron*"),
            Root("/etc/anacrontab"),
            Root("/var/spool/cron"),
            Root("/var/spool/at"),
            Ends("etc/crontab"),
            Ends(".crontab"),
        ],
    ),
    row(
        ByItself,
        "a service that starts by itself",
        &[
            Root("/etc/systemd"),
            Root("/usr/lib/systemd"),
            Root("/usr/local/lib/systemd"),
            Root("/lib/systemd"),
            Root("/run/systemd"),
            Below(".config/systemd"),
            Below(".local/share/systemd"),
            Root("/etc/init.d"),
            Root("/etc/rc*"),
            Root("/etc/inittab"),
            Root("/etc/init"),
            Root("/etc/xdg/autostart"),
            Root("/etc/udev"),
            Root("/usr/lib/udev"),
            Root("/etc/dbus-1"),
            Below("library/launchagents"),
            Below("library/launchdaemons"),
        ],
    ),
    row(
        ByItself,
        "the machine's configuration of programs and people",
        &[
            Root("/etc/apt/apt.conf*"),
            Root("/etc/dpkg"),
            Root("/etc/sudoers*"),
            Root("/etc/doas.conf"),
            Root("/etc/pam.d"),
            Root("/etc/security"),
            Root("/etc/ld.so*"),
            Root("/etc/passwd*"),
            Root("/etc/shadow*"),
            Root("/etc/group*"),
            Root("/etc/gshadow*"),
            Root("/etc/shells"),
            Root("/etc/alternatives"),
            Root("/etc/modprobe.d"),
            Root("/etc/modules*"),
            Root("/etc/sysctl*"),
            Root("/etc/binfmt.d"),
            Root("/etc/logrotate*"),
            Root("/etc/update-motd.d"),
            Root("/etc/networkmanager"),
            Root("/etc/network"),
            Root("/etc/ppp"),
        ],
    ),
    row(
        ByItself,
        "where connections go",
        &[
            Ends(".curlrc"),
            Ends("_curlrc"),
            Ends(".config/curlrc"),
            Ends(".wgetrc"),
            Ends("etc/wgetrc"),
            Root("/etc/hosts*"),
            Root("/etc/resolv*"),
            Root("/etc/nsswitch.conf"),
            Root("/etc/gai.conf"),
            Root("/etc/ssl"),
            Root("/etc/ca-certificates*"),
            Root("/usr/local/share/ca-certificates"),
        ],
    ),
    row(
        ByItself,
        "the configuration of SSH or of keys",
        &[
            Below(".ssh"),
            Root("/etc/ssh"),
            Ends("authorized_keys"),
            Ends("authorized_keys2"),
            Below(".gnupg"),
            Ends(".netrc"),
        ],
    ),
    row(
        ByItself,
        "the configuration of a program that runs others",
        &[
            Below(".config/gh"),
            Below(".docker/cli-plugins"),
            Ends(".docker/config.json"),
            Ends(".kube/config"),
            Ends(".aws/config"),
            Ends(".mailcap"),
            Root("/etc/mailcap"),
            Below(".config/mimeapps.list"),
            Below(".local/share/applications"),
        ],
    ),
    row(
        ByItself,
        "a folder of PATH",
        &[
            Below("venv/bin"),
            Below(".venv/bin"),
            Below("venv/scripts"),
            Below(".venv/scripts"),
            Below("node_modules/.bin"),
            Below(".pyenv/shims"),
            Below(".asdf/shims"),
            Below(".rbenv/shims"),
            Below(".mise/shims"),
            Below(".local/share/mise/shims"),
            Below(".nix-profile/bin"),
            Below(".bun/bin"),
            Below(".local/bin"),
            Below(".cargo/bin"),
            Below(".deno/bin"),
            Root("/opt/homebrew/bin"),
        ],
    ),
    row(
        Steers,
        "what CI runs",
        &[
            Below(".github/workflows"),
            Below(".github/actions"),
            Ends(".github/dependabot.yml"),
            Ends(".github/codeowners"),
            Ends("codeowners"),
            Below(".forgejo/workflows"),
            Below(".gitea/workflows"),
            Ends(".gitlab-ci.yml"),
            Ends(".gitlab-ci.yaml"),
            Below(".gitlab/ci"),
            Below(".circleci"),
            Below(".buildkite"),
            Below(".teamcity"),
            Below(".semaphore"),
            Below(".tekton"),
            Below(".builds"),
            Ends(".build.yml"),
            Ends("wercker.yml"),
            Below(".woodpecker"),
            Ends(".woodpecker.yml"),
            Ends(".travis.yml"),
            Ends(".drone.yml"),
            Ends(".cirrus.yml"),
            Ends("appveyor.yml"),
            Ends(".appveyor.yml"),
            Ends("azure-pipelines.yml"),
            Ends("bitbucket-pipelines.yml"),
            Ends("cloudbuild.yaml"),
            Ends("buildspec.yml"),
            Ends("jenkinsfile"),
            Ends("renovate.json"),
            Ends("renovate.json5"),
            Ends(".renovaterc"),
        ],
    ),
    row(
        Steers,
        "what agents are told",
        &[
            Ends("claude.md"),
            Ends("claude.local.md"),
            Ends("agents.md"),
            Ends("agents.override.md"),
            Ends("agent.md"),
            Ends("gemini.md"),
            Ends("qwen.md"),
            Ends(".cursorrules"),
            Ends(".windsurfrules"),
            Ends(".goosehints"),
            Below(".junie"),
            Ends(".roorules"),
            Ends(".rules"),
            Below(".clinerules"),
            Below(".cursor/rules"),
            Below(".claude/rules"),
            Ends(".github/copilot-instructions.md"),
            Below(".github/instructions"),
            Below(".github/prompts"),
            Below(".github/agents"),
            Below(".github/skills"),
            Below(".agent"),
            Below(".agents"),
        ],
    ),
    row(
        Steers,
        "a package manager's or a build's configuration",
        &[
            Ends(".npmrc"),
            Ends(".yarnrc"),
            Ends(".yarnrc.yml"),
            Below(".yarn/plugins"),
            Below(".yarn/releases"),
            Ends(".pnpmfile.cjs"),
            Ends("pnpm-workspace.yaml"),
            Ends("bunfig.toml"),
            Ends("shell.nix"),
            Ends("flake.nix"),
            Ends("devenv.nix"),
            Ends("devbox.json"),
            Ends("ansible.cfg"),
            Ends(".cargo/config"),
            Ends(".cargo/config.toml"),
            Ends("rust-toolchain"),
            Ends("rust-toolchain.toml"),
            Ends("pip.conf"),
            Ends("pip.ini"),
            Below(".config/pip"),
            Below(".pip"),
            Ends(".pypirc"),
            Ends(".pydistutils.cfg"),
            Ends("uv.toml"),
            Below(".config/uv"),
            Ends(".condarc"),
            Ends(".gemrc"),
            Ends(".bundle/config"),
            Below(".mvn"),
            Ends(".m2/settings.xml"),
            Ends("gradle.properties"),
            Below("gradle/wrapper"),
            Ends("init.gradle"),
            Below(".gradle/init.d"),
            Ends(".sbtopts"),
            Ends(".jvmopts"),
            Ends("nuget.config"),
            Ends(".bazelrc"),
            Ends(".bazelversion"),
            Ends(".tool-versions"),
            Ends("go.env"),
            Ends(".buckconfig"),
        ],
    ),
    row(
        Steers,
        "what git does with files",
        &[Ends(".gitattributes"), Ends(".gitmodules"), Ends(".lfsconfig"), Ends(".git-blame-ignore-revs")],
    ),
    row(
        Steers,
        "what runs before a commit",
        &[
            Ends(".pre-commit-config.yaml"),
            Ends(".pre-commit-config.yml"),
            Ends("prek.toml"),
            Ends("lefthook.yml"),
            Ends("lefthook.yaml"),
            Ends("lefthook.toml"),
            Ends("lefthook.json"),
            Ends("lefthook-local.yml"),
            Ends("lefthook-local.yaml"),
            Ends("lefthook-local.toml"),
            Ends("lefthook-local.json"),
            Ends(".lefthook*"),
            Ends(".overcommit.yml"),
            Ends(".autohooks.toml"),
            Ends(".lintstagedrc*"),
            Ends("lint-staged.config*"),
            Ends(".huskyrc*"),
            Ends(".pre-commit-hooks.yaml"),
            Ends("nodemon.json"),
            Ends(".nodemonrc*"),
            // What watches files runs it at each change.
            Ends("guardfile"),
            Ends("brewfile"),
            Below(".ctags.d"),
            Ends(".ctags"),
        ],
    )
    .in_projects(),
    row(
        Steers,
        "what Python runs at every start",
        &[
            // A module is a file of code, of bytecode or of a library, or a folder.
            Ends("sitecustomize*"),
            Ends("usercustomize*"),
            Below("sitecustomize"),
            Below("usercustomize"),
            Ending(".pth"),
            Ends("pyvenv.cfg"),
            // What every Node of this person finds.
            Below(".node_modules"),
            Below(".node_libraries"),
        ],
    ),
    row(
        ByItself,
        "what a program reads at its start",
        &[
            Ends(".dpkg.cfg"),
            Ends(".asdfrc"),
            Ends(".bunfig.toml"),
            Ends(".config/sqlite3/sqliterc"),
            Ends(".my.cnf"),
            Ends(".rdebugrc"),
            Ends(".config/husky/init.sh"),
            Ends(".hammerspoon/init.lua"),
            Ends(".mvn/jvm.config"),
            Ends(".mvn/extensions.xml"),
            Ends(".cpan/cpan/myconfig.pm"),
            Below(".volta/tools"),
            Below(".cache/pre-commit"),
            Ends("buildserver.json"),
            Ends("vetur.config.js"),
            Ends("codebuff.json"),
            Ends("omnisharp.json"),
            Ends(".factorypath"),
            Ends(".magic"),
            Ends(".magic.mgc"),
            Ends(".tigrc"),
            Ends(".bash_functions"),
            Ends(".shrc"),
            Ends(".localrc"),
            Below(".zsh"),
            Below(".zshrc.d"),
            Below(".profile.d"),
            Below(".config/zsh"),
            Ends(".rvmrc"),
            Below(".rvm/hooks"),
            Below(".pyenv/hooks"),
            Below(".pyenv/pyenv.d"),
            Below(".pyenv/plugins"),
            Below(".pyenv/libexec"),
            Below(".rbenv/hooks"),
            Below(".rbenv/rbenv.d"),
            Below(".rbenv/plugins"),
            Below(".rbenv/libexec"),
            Below(".rvm/scripts"),
            Below(".sdkman/etc"),
            Below(".sdkman/bin"),
            Below(".oh-my-bash"),
            Below(".bash_it"),
            Below(".opam/opam-init"),
            Below(".fzf/shell"),
            Below(".byobu"),
            Below("etc/profile.d"),
            Ends(".zimrc"),
            Ends(".zpreztorc"),
            Ends(".antigenrc"),
            Ends(".p10k.zsh"),
            Ends(".deno/env"),
            Ends(".acme.sh/acme.sh.env"),
            Ends(".mongoshrc.js"),
            Ends(".perldb"),
            Ends(".mailfilter"),
            Ends(".rhosts"),
            Ends(".shosts"),
            Ends(".k5login"),
            Below(".config/ipython"),
            Below(".config/irb"),
            Below(".claude/local"),
            Below(".local/share/claude"),
            Below(".local/share/cursor-agent"),
            Below(".copilot/pkg"),
            Below(".codex/packages"),
            Below("node_modules/@anthropic-ai/claude-code"),
            Below("node_modules/@openai/codex"),
            Below("node_modules/@google/gemini-cli"),
            Below("node_modules/@github/copilot"),
            Below("node_modules/opencode-ai"),
            Ends(".mavenrc"),
            Ends(".erlang"),
            Ends(".octaverc"),
            Ends(".rprofile"),
            Ends(".renviron"),
            Ends(".quiltrc"),
            Ends(".devscripts"),
            Ends(".pdbrc.py"),
            Ends(".rdbgrc"),
            Ends(".byebugrc"),
            Ends(".sbtrc"),
            Below(".sbt/1.0/plugins"),
            Ends(".lein/profiles.clj"),
            Below(".config/go"),
            Below(".config/jj"),
            Ends(".jjconfig.toml"),
            Below(".subversion"),
            Ends(".aws/cli/alias"),
            Ends(".kube/kuberc"),
            Below(".krew/bin"),
            Ends(".docker/daemon.json"),
            Below(".config/containers"),
            Below(".local/share/dbus-1/services"),
            Below(".local/share/helm/plugins"),
            Below(".local/share/jupyter/kernels"),
            Below(".config/autostart-scripts"),
            Ends(".xinputrc"),
            Ends(".gnomerc"),
            Below(".config/sxhkd"),
            Below(".config/bspwm"),
            Below(".config/awesome"),
            Below(".config/qtile"),
            Below(".config/polybar"),
            Below(".config/waybar"),
            Below(".config/zellij"),
            Below(".config/ghostty"),
            Below(".config/foot"),
            Below(".config/yazi"),
            Below(".xmonad"),
            Below(".config/mpv/scripts"),
            Below(".config/qutebrowser"),
            Below(".config/neomutt"),
            Below(".config/mutt"),
            Below(".config/aerc"),
            Below(".config/vim"),
            Below(".config/doom"),
            Below(".config/nano"),
            Below(".config/sheldon"),
            Below(".config/yt-dlp"),
            Below(".config/cursor/user"),
            Below(".config/vscodium/user"),
            Ends(".config/zed/tasks.json"),
            Ends(".config/zed/settings.json"),
            Below(".terraform.d/plugins"),
            Below(".volta/bin"),
            Below(".dotnet/tools"),
        ],
    ),
    row(
        ByItself,
        "what the machine runs by itself",
        &[
            Root("/proc/sys/kernel/core_pattern"),
            Root("/sys/kernel/uevent_helper"),
            Root("/lib/udev"),
            Root("/usr/lib/udev"),
            Root("/usr/lib/git-core"),
            Root("/usr/share/bash-completion"),
            Root("/etc/bash_completion"),
            Root("/etc/apt"),
            Root("/etc/supervisor"),
            Root("/etc/s6"),
            Root("/etc/runit"),
            Root("/etc/service"),
            Root("/etc/periodic"),
            Root("/etc/acpi"),
            Root("/etc/dhcp"),
            Root("/etc/x11"),
            Root("/etc/kernel"),
            Root("/etc/initramfs-tools"),
            Root("/etc/letsencrypt/renewal-hooks"),
            Root("/etc/tmpfiles.d"),
            Root("/etc/polkit-1"),
            Root("/etc/docker"),
            Root("/etc/containerd"),
            Root("/etc/kubernetes/manifests"),
            Root("/etc/fstab"),
            Root("/etc/crypttab"),
            Root("/etc/gitattributes"),
            Root("/etc/npmrc"),
            Root("/etc/vim"),
            Root("/etc/screenrc"),
            Root("/etc/tmux.conf"),
            Root("/etc/gdb"),
            Root("/etc/perl"),
            Root("/etc/environment.d"),
            Root("/boot"),
        ],
    ),
    row(
        ByItself,
        "what an editor or a cloud workspace starts by itself",
        &[
            Ends(".idx/dev.nix"),
            Ends(".codesandbox/tasks.json"),
            Ends(".stackblitzrc"),
            Below(".bsp"),
            Below(".externaltoolbuilders"),
            Ends(".ycm_extra_conf.py"),
            Ends(".vimspector.json"),
            Ends(".local.vimrc"),
            Ends(".vimrc.local"),
            Below(".nlsp-settings"),
            Ends(".projections.json"),
            Ends(".nfnl.fnl"),
            // What an editor's language server runs when a file is opened.
            Ends("hie.yaml"),
            Ends(".merlin"),
            Ends(".lintr"),
            Ends("config.nims"),
            Ends("nim.cfg"),
            Ends("rust-analyzer.toml"),
            Ends(".rust-analyzer.toml"),
            Ends("jupyter_notebook_config*"),
            Ends("jupyter_server_config*"),
            Ends("jupyter_lab_config*"),
            Ends("ipython_config.py"),
            Ends(".autoenv_leave.zsh"),
            Below(".vscode-insiders"),
            Ends(".warp/workflows"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "an agent's plug-ins and servers",
        &[
            Below(".claude-plugin"),
            Below(".cursor-plugin"),
            Ends(".github/plugin/plugin.json"),
            Ends(".github/copilot/settings.json"),
            Ends(".github/copilot/settings.local.json"),
            Ends(".github/lsp.json"),
            Ends(".lsp.json"),
            Ends(".cursor/worktrees.json"),
            Ends(".cursor/environment.json"),
            Below(".cursor/plugins"),
            Below(".cursor/agents"),
            Below(".cursor/skills"),
            Below(".gemini/agents"),
            Ends(".gemini/system.md"),
            Below(".agent/skills"),
            Below(".agents/skills"),
            Ends(".gemini/.env"),
            Ends(".opencode.json"),
            Ends(".grok/settings.json"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "a start-up file that a project brings",
        &[
            Ends(".vimrc"),
            Ends(".gvimrc"),
            Ends(".exrc"),
            Ends(".nvimrc"),
            Ends(".nvim.lua"),
            Ends(".lazy.lua"),
            Ends(".lite_project.lua"),
            Ends(".lsp/config.edn"),
            Ends(".tern-project"),
            Ends(".bash_enter"),
            Ends(".bash_leave"),
            Ends(".neoconf.json"),
            Ends(".dir-locals-2.el"),
            Ends(".gdbinit"),
            Ends(".lldbinit"),
            Ends(".rdata"),
            Ends(".miserc.toml"),
            Ends("replit.nix"),
            Ending(".ipr"),
            Below(".helix"),
            Below(".shadowenv.d"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "a manager of git's hooks",
        &[
            Ends("hk.pkl"),
            Ends("hk.local.pkl"),
            Ends("captainhook.config.json"),
            Ends("grumphp.yml"),
            Ends("grumphp.yml.dist"),
            Ends("captainhook.json"),
            Ends(".simple-git-hooks*"),
            Ends("simple-git-hooks.*"),
            Ends(".trunk/trunk.yaml"),
            Below(".trunk/hooks"),
            Below(".vite-hooks"),
            Ends("rusty-hook.toml"),
            Ends(".rusty-hook.toml"),
            Below(".cargo-husky"),
        ],
    )
    .in_projects(),
    row(
        ByItself,
        "an agent's hooks, servers or plug-ins",
        &[
            Ends(".cursor/sandbox.json"),
            Below(".codex/environments"),
            Below(".github/extensions"),
            Ends("tui.json"),
            Ends("tui.jsonc"),
            Ends(".devin/config.json"),
            Ends(".devin/config.local.json"),
            Ends(".devin/hooks*"),
            Below(".cline/hooks"),
            Below(".clinerules/hooks"),
            Ends("kilo.json"),
            Ends("kilo.jsonc"),
            Below(".kilo/plugin"),
            Below(".kilo/plugins"),
            Ends(".kilocode/kilo.json"),
            Below(".grok/hooks"),
            Ends(".kimi/config.toml"),
            Ends("gptme.toml"),
            Ends(".continuerc.json"),
            Below(".junie/mcp"),
            Below(".agents/plugins"),
            Below(".codebuddy"),
            Below(".iflow"),
            Ends(".conductor/settings.json"),
            Ends(".jules/setup.sh"),
            Below(".zencoder"),
            Ends(".forge.yaml"),
            Ends(".container-use/environment.json"),
        ],
    )
    .in_projects(),
    row(
        Steers,
        "what tools load from a project",
        &[
            Ends(".pnp.cjs"),
            Below(".yarn/sdks"),
            Below(".run"),
            Ending(".sublime-project"),
            Ends(".luarc.json"),
            Ends(".luarc.jsonc"),
            Ends("docker-compose.override.yml"),
            Ends("docker-compose.override.yaml"),
            Ends("eslint.config*"),
            Ends(".eslintrc*"),
            Ends(".prettierrc*"),
            Ends("prettier.config*"),
            Ends(".pylintrc"),
            Ends("pylintrc"),
            Ends("pylintrc.toml"),
            Ends(".pylintrc.toml"),
            Ends(".flake8"),
            Ends("mypy.ini"),
            Ends(".mypy.ini"),
            Ends(".rubocop.yml"),
            Ends("directory.build.targets"),
            Ends("directory.build.props"),
            Ends("tools/bazel"),
            Ends(".user.ini"),
            Ends(".arcconfig"),
            Ends(".python-version"),
            Ends(".ruby-version"),
            Ends(".java-version"),
            Ends(".perl-version"),
            Ends(".lua-version"),
            Ends(".php-version"),
            Ends(".go-version"),
            Ends(".exenv-version"),
            Ends(".jenv-version"),
            Ends(".prototools"),
            Ends(".sdkmanrc"),
            Ends(".pyenv-vars"),
            Ends(".nodenv-vars"),
            Ends(".python-virtualenv"),
            Ends(".terraform-version"),
            Ends(".swift-version"),
            Ends(".crystal-version"),
            Ends(".dart-version"),
            Ends(".elixir-version"),
            Ends(".fvmrc"),
            Ends("bin/activate-hermit"),
            Ends("pixi.toml"),
            Below(".pixi"),
            Ends(".ropeproject/config.py"),
            Ends(".yardopts"),
            Ends(".standard.yml"),
            Ends(".haml-lint.yml"),
            Ends("steepfile"),
            Ends(".credo.exs"),
            Ends("lakefile.lean"),
            Ends(".graphqlrc*"),
            Ends("graphql.config.*"),
            Ends("cspell.config.*"),
            Ends(".markdownlint*"),
            Ends(".textlintrc*"),
            Ends(".remarkrc*"),
            Ends("tslint.json"),
            Ends(".xo-config*"),
            Ends(".php-cs-fixer*"),
            Ends("rector.php"),
            Ends("phpstan.neon"),
            Ends("phpcs.xml"),
            Ends(".perlcriticrc"),
            Ends("sorbet/config"),
            Ends("gtags.conf"),
            Ends("dune-workspace"),
            Ends("_vimrc_local.vim"),
            Ends(".local-vimrc"),
            Ends(".ensime"),
            Ends(".solargraph.yml"),
            Ends(".air.toml"),
            Ends("tiltfile"),
            Ends("skaffold.yaml"),
            Ends(".guardfile"),
            Ends(".serena/project.yml"),
            Ends(".gptme.toml"),
            Below(".taskmaster"),
            Below(".refact"),
            Below(".cody"),
            Below(".specify"),
            Below("memory-bank"),
            Ends(".ansible.cfg"),
            Below(".github/chatmodes"),
            Ends(".github/copilot-setup-steps.yml"),
            Ends(".kilocodemodes"),
            Below(".cline"),
            Ends(".vagrantfile"),
            Ends(".latexmkrc"),
            Ends("latexmkrc"),
            Ends(".proverc"),
            Ends(".rspec"),
            Ends(".project"),
            Ends(".env.leave"),
            Ends(".taskrc*"),
            Below(".nova/tasks"),
            Ends(".flox/env/manifest.toml"),
            Ends(".mocharc*"),
            Ends(".stylelintrc*"),
            Ends("stylelint.config*"),
            Ends(".releaserc*"),
            Ends("release.config*"),
            Ends(".babelrc*"),
            Ends(".swcrc"),
            Ends(".nycrc*"),
            Ends(".postcssrc*"),
            Ends(".huskyrc*"),
            Ends(".commitlintrc*"),
            Ends("commitlint.config*"),
            Ends("warp.md"),
            Ends("crush.md"),
            Ends("conventions.md"),
            Ends("replit.md"),
            Ends(".augment-guidelines"),
            Below(".kilocode/rules"),
            Below(".devin"),
            Below(".aiassistant/rules"),
            Below(".tabnine/guidelines"),
            Ends(".openhands_instructions"),
        ],
    ),
];

/// Where Node keeps what it has compiled, by default. No row: any name in `/tmp` may be one of these.
const COMPILED: [&str; 2] = ["/tmp/v8-compile-cache", "/tmp/node-compile-cache"];
/// What a file is in a folder in which programs are found.
pub const IN_PATH: &str = "a folder of PATH";

/// What a resolved path does later, if anything, for a command that started in `cwd`.
///
/// An agent's settings count as the gate's where they may be in force. Below the working directory and in folders for
/// temporary files lies somebody else's project: there they run by themselves for whoever starts an agent in it.
pub fn of(path: &str, cwd: Option<&str>) -> Option<Later> {
    if planted::has(Bug::NothingActsLater) {
        return None;
    }
    let lower = folded(path);
    let path = lower.as_str();
    let beginnings = Beginnings::of(path);
    let cwd = cwd.map(str::to_ascii_lowercase);
    let tier_of = |holder| if may_be_in_force(holder, cwd.as_deref()) { Tier::Gate } else { ByItself };
    if let Some(holder) = holder_of(path, beginnings, agents::folders(), true)
        .or_else(|| holder_of(path, beginnings, agents::settings(), false).filter(|_| !is_laid_aside(path)))
    {
        return Some(Later { tier: tier_of(holder), what: "an agent's settings", is_called: false, is_kept: true });
    }
    if let Some(holder) = holder_of(path, beginnings, agents::hooks(), false) {
        return Some(Later { tier: tier_of(holder), what: "an agent's hooks", is_called: true, is_kept: true });
    }
    if agents::managed().any(|place| is_within(path, place)) {
        return Some(Later { tier: Tier::Gate, what: "an agent's settings", is_called: false, is_kept: true });
    }
    let is_called = false;
    // Of several the strictest, and what a sandbox keeps before what it only tells.
    let matching = ROWS.iter().filter(|row| row.at.iter().any(|at| at.matches(path, beginnings)));
    if let Some(row) = matching.min_by_key(|row| (std::cmp::Reverse(row.tier), !row.in_projects)) {
        return Some(Later { tier: row.tier, what: row.what, is_called, is_kept: row.in_projects });
    }
    let what = if file_name(path) == ".git" {
        "a pointer to another git folder"
    } else if git_reads(path) {
        "git's own folder"
    } else if in_path(path) {
        IN_PATH
    } else if COMPILED.iter().any(|start| path.starts_with(start)) {
        "compiled code of programs that are started later"
    } else {
        return None;
    };
    Some(Later { tier: ByItself, what, is_called, is_kept: false })
}

/// Longest path that a system takes, in bytes, and most folders in a name on the list.
const LONGEST_PATH: usize = 4096;
const DEEPEST_NAME: usize = 6;

/// What a path may do later of which only the beginning and the end are known, as a pattern or a variable leaves them: one that it may
/// be, and false with it where nothing but the end speaks for it, which many others have as well.
pub fn may_be(start: &str, tail: &str, cwd: Option<&str>) -> Option<(String, Later, bool)> {
    // Longer than any path.
    if start.len() + tail.len() > LONGEST_PATH {
        return None;
    }
    let sure = |path: String| of(&path, cwd).map(|later| (path, later, true));
    // Whatever it is called, it lies there; or it is called so, wherever it lies.
    let folder = start.rsplit_once('/').map(|(folder, _)| folder);
    let inside = folder.and_then(|folder| sure(format!("{folder}/x")));
    let called = || tail.contains(['/', '.']).then(|| sure(format!("x{tail}"))).flatten();
    let (begins, ends) = (folded(start), folded(tail));
    let boundaries = || {
        // No name on the list is deeper.
        let deeper = begins.rmatch_indices('/').map(|(at, _)| at + 1).take(DEEPEST_NAME);
        deeper.chain((begins.matches('/').count() < DEEPEST_NAME).then_some(0))
    };
    let listed = || {
        let named = names().flat_map(|name| boundaries().map(move |from| (name, from)));
        let fitting = named.filter_map(|(name, from)| {
            let begun = begins.get(from..).unwrap_or_default();
            let is_sure = name.begins_and_ends(begun, &ends)?;
            Some((format!("{}{}", start.get(..from).unwrap_or_default(), name.path), is_sure))
        });
        let acting = fitting.filter_map(|(path, is_sure)| of(&path, cwd).map(|later| (path, later, is_sure)));
        acting.max_by_key(|(_, later, is_sure)| (*is_sure, later.tier))
    };
    inside.or_else(called).or_else(listed)
}

/// True where the last name of something that acts by itself, or of an agent's settings, may begin and end so, whatever its folder is
/// called.
pub fn may_be_called(start: &str, tail: &str) -> bool {
    let (begins, ends) = (folded(start), folded(tail));
    let agents = agents::settings().chain(agents::hooks()).map(|path| Name::of(path, false));
    // By its end alone it may be anything of its kind: that an agent's settings are of it as well counts for more.
    let mut names = names().filter(|_| !begins.is_empty() || ends.is_empty()).chain(agents);
    names.any(|name| {
        let last = file_name(name.path);
        let goes_on = name.is_open && begins.starts_with(last) && !begins.contains('/');
        let is_it = last.starts_with(&begins) || goes_on;
        // Behind a name that goes on stands what settings end in, or nothing that anybody knows.
        let ends_so = last.ends_with(&ends) && last.len() >= begins.len() + ends.len()
            || name.is_open
                && (!ends.contains('.') || [".json", ".jsonc", ".toml"].iter().any(|end| ends.ends_with(end)));
        is_it && ends_so && acts(name)
    })
}

/// The same for the names that a pattern stands for.
pub fn may_be_called_by(pattern: &str) -> bool {
    let wild = ['*', '?', '[', ']', '\\'];
    let (start, tail) = match (pattern.find(wild), pattern.rfind(wild)) {
        (Some(first), Some(last)) => (pattern.get(..first), pattern.get(last + 1..)),
        _ => (Some(pattern), Some("")),
    };
    let is_whole = !pattern.contains(wild);
    let (start, tail) = (start.unwrap_or_default(), tail.unwrap_or_default());
    if is_whole {
        programs::is_git_hook(start) || names().any(|name| file_name(name.path) == folded(start) && acts(name))
    } else {
        may_be_called(start, tail)
    }
}

/// The first of the names of what acts by itself, and of agents' settings, that is meant: relative to the folder in which they lie, each
/// with what may stand behind it: nothing, whatever lies in it as a folder (`/`), or any letters (`*`).
pub fn acting_name(is_meant: impl Fn(&str, &str) -> bool) -> Option<&'static str> {
    let behind = |name: &Name| match (name.is_open, name.is_folder) {
        (true, _) => "*",
        (false, true) => "/",
        (false, false) => "",
    };
    // Few are meant, and to tell whether one acts takes the whole list.
    names().find(|name| is_meant(name.path, behind(name)) && acts(*name)).map(|name| name.path)
}

/// The same by their whole paths, wherever anybody works.
pub fn acting_places() -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(|row| row.tier != Tier::Steers).flat_map(|row| row.at).filter_map(|at| match at {
        Root(path) => Some(*path),
        Ends(_) | Below(_) | Ending(_) => None,
    });
    rows.chain(agents::managed())
}

/// True for a name of what acts by itself, or of an agent's settings.
fn acts(name: Name) -> bool {
    of(name.path, None).is_some_and(|later| later.tier != Tier::Steers)
}

/// A name on the list, relative to the folder that it lies in.
#[derive(Debug, Clone, Copy)]
struct Name {
    path: &'static str,
    /// Any letters may follow.
    is_open: bool,
    /// Any names below it count as well.
    is_folder: bool,
}

/// All of them but those of the whole machine, and those that are told by their ending alone.
fn names() -> impl Iterator<Item = Name> {
    let rows = ROWS.iter().flat_map(|row| row.at).filter_map(|at| match at {
        Ends(path) => Some(Name::of(path, false)),
        Below(path) => Some(Name::of(path, true)),
        Ending(_) | Root(_) => None,
    });
    let agents = agents::settings().chain(agents::hooks()).map(|path| Name::of(path, false));
    rows.chain(agents::folders().map(|path| Name::of(path, true))).chain(agents)
}

impl Name {
    fn of(path: &'static str, is_folder: bool) -> Self {
        Self { path: path.trim_end_matches('*'), is_open: path.ends_with('*'), is_folder }
    }

    /// `Some` where the name may begin and end so; false with it where it does not begin so by more than nothing.
    fn begins_and_ends(self, begun: &str, tail: &str) -> Option<bool> {
        let Self { path, is_open, is_folder } = self;
        if begun.is_empty() {
            // The end of a path's last name says nothing.
            let end = tail.strip_prefix('/')?;
            let (_, last) = path.rsplit_once('/')?;
            let is_it = last == end || is_open && end.starts_with(last) && !end.contains('/');
            return is_it.then_some(false);
        }
        // Nor do a few letters, but that a dot stands in front.
        let is_told = begun.starts_with('.') || tail.starts_with('/');
        let goes_on = path.strip_prefix(begun);
        let ends_so = goes_on.is_some_and(|rest| !rest.is_empty() && rest.ends_with(tail));
        let lies_below = is_folder && goes_on.is_some() && tail.contains('/');
        let is_of_open = is_open && (goes_on.is_some() || begun.starts_with(path));
        (is_told && (ends_so || lies_below || is_of_open)).then_some(true)
    }
}

/// True for a file that is there to be copied, or is a copy: no agent reads its settings by such a name. The path is in lower case.
fn is_laid_aside(path: &str) -> bool {
    [".example", ".sample", ".template", ".dist", ".bak", ".orig"].iter().any(|ending| path.ends_with(ending))
}

/// As file systems fold letters which do so: there the long s is an s, and the sign of Kelvin a k.
fn folded(name: &str) -> String {
    name.replace('\u{17f}', "s").replace('\u{212a}', "k").to_ascii_lowercase()
}

/// How far a path has come into one that [`of`] may say something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// Not yet.
    No,
    /// This name, behind which only some go on.
    With(&'static str),
    /// So far that everything below counts.
    Yes,
}

/// The names with which paths begin that [`of`] says anything about below a folder: to tell a hundred thousand apart quickly.
#[derive(Debug)]
pub struct Names {
    /// First names, and the second ones behind them; none where the first one is enough.
    whole: HashMap<&'static str, Vec<&'static str>>,
    /// Names that begin so, and that end so.
    starts: Vec<&'static str>,
    ends: Vec<&'static str>,
    /// First and last letters, by their number: what none of these has is told at once.
    first: [bool; 256],
    last: [bool; 256],
}

impl Names {
    /// All of them.
    pub fn all() -> Self {
        let mut names = Self {
            whole: HashMap::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            first: [false; 256],
            last: [false; 256],
        };
        let listed = ROWS.iter().flat_map(|row| row.at).copied();
        let agents = agents::folders().chain(agents::settings()).chain(agents::hooks()).map(Ends);
        let (mut alone, mut pairs) = (HashSet::from([".git"]), Vec::new());
        for at in listed.chain(agents) {
            match at {
                Ends(path) | Below(path) => match (path.split_once('/'), path.strip_suffix('*')) {
                    (Some((first, rest)), _) => {
                        let second = rest.split('/').next().unwrap_or(rest);
                        // What goes on in any way is not told apart by its second name.
                        if second.ends_with('*') {
                            alone.insert(first);
                        } else {
                            pairs.push((first, second));
                        }
                    }
                    (None, Some(start)) => names.starts.push(start),
                    (None, None) => drop(alone.insert(path)),
                },
                Ending(ending) => names.ends.push(ending),
                // Those lie where they lie.
                Root(_) => {}
            }
        }
        names.whole.extend(alone.iter().map(|first| (*first, Vec::new())));
        for (first, second) in pairs.into_iter().filter(|(first, _)| !alone.contains(first)) {
            names.whole.entry(first).or_default().push(second);
        }
        let mark = |marks: &mut [bool; 256], byte: Option<&u8>| {
            if let Some(mark) = byte.and_then(|byte| marks.get_mut(usize::from(*byte))) {
                *mark = true;
            }
        };
        for name in names.whole.keys().chain(&names.starts) {
            mark(&mut names.first, name.as_bytes().first());
        }
        for name in &names.ends {
            mark(&mut names.last, name.as_bytes().last());
        }
        names
    }

    /// False for nearly every name.
    fn may_begin(&self, name: &str) -> bool {
        // Letters that may be folded into others.
        if !name.is_ascii() {
            return true;
        }
        let is_in = |marks: &[bool; 256], byte: Option<&u8>| {
            byte.and_then(|byte| marks.get(usize::from(byte.to_ascii_lowercase()))).is_some_and(|mark| *mark)
        };
        is_in(&self.first, name.as_bytes().first()) || is_in(&self.last, name.as_bytes().last())
    }

    /// How far a path has come with one more name.
    pub fn step(&self, begun: Begun, name: &str) -> Begun {
        if matches!(begun, Begun::No) && !self.may_begin(name) {
            return Begun::No;
        }
        let lower = folded(name);
        let goes_on = |first: &str| self.whole.get(first).is_some_and(|seconds| seconds.contains(&lower.as_str()));
        match begun {
            Begun::Yes => return Begun::Yes,
            Begun::With(first) if goes_on(first) => return Begun::Yes,
            Begun::With(_) | Begun::No => {}
        }
        match self.whole.get_key_value(lower.as_str()) {
            Some((first, seconds)) if !seconds.is_empty() => Begun::With(first),
            Some(_) => Begun::Yes,
            None if self.starts.iter().any(|start| lower.starts_with(start)) => Begun::Yes,
            None if self.ends.iter().any(|end| lower.ends_with(end)) => Begun::Yes,
            None => Begun::No,
        }
    }
}

/// Files and folders of a project that act later, relative to it: what a sandbox keeps as it is.
pub fn in_projects() -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(|row| row.in_projects).flat_map(|row| row.at);
    let rows = rows.filter_map(|at| match at {
        Ends(path) | Below(path) if !path.ends_with('*') => Some(*path),
        Ends(_) | Below(_) | Ending(_) | Root(_) => None,
    });
    rows.chain(agents::folders()).chain(agents::settings().filter(|path| !path.contains(['*', '/'])))
}

impl At {
    fn matches(self, path: &str, beginnings: Beginnings) -> bool {
        match self {
            Ends(components) | Below(components) if !beginnings.may_hold(components) => false,
            Root(_) if !path.starts_with('/') => false,
            Ends(tail) => match tail.strip_suffix('*') {
                Some(start) => occurrences(path, start).next().is_some(),
                None => ends_in(path, tail),
            },
            Ending(ending) => path.ends_with(ending),
            Below(folder) => ends_in(path, folder) || lies_in(path, folder),
            Root(place) => {
                place.strip_suffix('*').map_or_else(|| is_within(path, place), |start| path.starts_with(start))
            }
        }
    }
}

/// What stands before the first of these that the path is or lies in (or only is): the folder whose agent they steer, with its
/// `/`, if it has one.
fn holder_of(
    path: &str,
    beginnings: Beginnings,
    patterns: impl Iterator<Item = &'static str>,
    only_is: bool,
) -> Option<&str> {
    let patterns = patterns.filter(|pattern| beginnings.may_hold(pattern));
    let first = |pattern: &'static str| {
        let start = pattern.trim_end_matches('*');
        let ends = |at: &usize| match path.as_bytes().get(at + start.len()) {
            None => true,
            Some(next) => !only_is && (*next == b'/' || pattern.ends_with('*')),
        };
        occurrences(path, start).find(ends)
    };
    patterns.filter_map(first).min().and_then(|at| path.get(..at))
}

/// Agents read the settings of the folder in which they were started: the working directory or one above it.
fn may_be_in_force(holder: &str, cwd: Option<&str>) -> bool {
    let holder = if holder == "/" { "/" } else { holder.trim_end_matches('/') };
    if !holder.starts_with('/') {
        // Relative to a folder that nobody knows, or to the working directory itself.
        return holder.is_empty() || holder.starts_with(['.', '~']) || cwd.is_some();
    }
    let temporary = is_temporary(holder);
    match cwd {
        Some(cwd) if is_within(cwd, holder) => true,
        Some(cwd) => !is_within(holder, cwd) && !temporary,
        None => !temporary,
    }
}

/// True for a file below `.git` that git itself reads. Other tools keep files of their own there.
fn git_reads(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "config",
        "config.worktree",
        "hooks",
        "info",
        "modules",
        "worktrees",
        "objects",
        "refs",
        "head",
        "orig_head",
        "fetch_head",
        "merge_head",
        "merge_msg",
        "index",
        "commondir",
        "gitdir",
        "packed-refs",
        "logs",
        "shallow",
        "rebase-merge",
        "rebase-apply",
        "sequencer",
        "remotes",
        "branches",
        "commit_editmsg",
        "reftable",
        "merge_autostash",
        "merge_rr",
        "merge_mode",
        "rr-cache",
        "squash_msg",
        "cherry_pick_head",
        "revert_head",
        "auto_merge",
        "bisect_log",
        "notes_merge_ref",
        "lfs",
        "annex",
        "svn",
        "common",
    ];
    path.split("/.git/").skip(1).chain(path.strip_prefix(".git/")).any(|rest| {
        let first = rest.split('/').next().unwrap_or("");
        NAMES.contains(&first) || first.is_empty()
    })
}

/// A folder in which programs are found by name. The path is in lower case.
fn in_path(path: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "/bin",
        "/sbin",
        "/usr/bin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "~/bin",
        "~/.local/bin",
        "~/.cargo/bin",
        "~/go/bin",
    ];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let of_home = ["bin", ".local/bin", ".cargo/bin", "go/bin"];
    let home = path.starts_with("/home/") || path.starts_with("/root/") || path.starts_with("/users/");
    FOLDERS.contains(&folder)
        || home
            && of_home.iter().any(|tail| ends_in(folder, tail))
            && !folder.contains("/src/")
            && folder.matches('/').count() <= 4
}

/// Marks of agents' settings in a text, wherever it has them.
pub fn settings_in(text: &str) -> impl Iterator<Item = &'static str> {
    let marks = agents::settings().filter(|mark| mark.contains('/')).map(|mark| mark.trim_end_matches('*'));
    marks.chain(["managed-settings.json", "shell-snapshots"]).filter(move |mark| text.contains(mark))
}

/// True when a path that only begins like this, and goes on with what nobody knows, may be an agent's settings.
pub fn may_become_settings(prefix: &str) -> bool {
    let prefix = prefix.to_ascii_lowercase();
    let (folder, name) = prefix.rsplit_once('/').map_or(("", prefix.as_str()), |(folder, name)| (folder, name));
    if name.len() > 1
        && name.starts_with('.')
        && agents::folders().chain([".github"]).any(|folder| folder.starts_with(name))
    {
        return true;
    }
    agents::settings().chain(agents::hooks()).any(|settings| {
        settings
            .rsplit_once('/')
            .is_some_and(|(holder, last)| ends_in(folder, holder) && !name.is_empty() && last.starts_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(path: &str) -> Option<Tier> {
        of(path, Some("/home/u/w")).map(|later| later.tier)
    }

    #[test]
    fn agents_settings_are_the_gates_where_they_may_be_in_force() {
        for path in [
            "/home/u/w/.claude/settings.json",
            "/home/u/w/.CLAUDE/Settings.local.json",
            "/home/u/w/.claude",
            "/home/u/w/.claude/hooks/check.sh",
            "/home/u/.claude/settings.json",
            "~/.codex/config.toml",
            "/home/u/other/.gemini/settings.json",
            "/etc/codex/requirements.toml",
            "/etc/claude-code/managed-settings.d/x.json",
            "/home/u/w/.opencode/plugins/gate.js",
            "/home/u/w/opencode.json",
            "/.cursor/hooks.json",
        ] {
            assert_eq!(tier(path), Some(Tier::Gate), "{path}");
        }
        for path in [
            "/home/u/w/templates/app/.claude/settings.json",
            "/home/u/w/vendor/.codex/hooks.json",
            "/home/u/w/fixtures/.claude",
            "/tmp/x/.claude/settings.json",
            "/home/u/w/x/.claude/hooks/check.sh",
        ] {
            assert_eq!(tier(path), Some(Tier::ByItself), "{path}");
        }
        // Nobody knows where a relative path leads when the working directory is known and it is relative all the same.
        assert_eq!(tier("sub/.claude/settings.json"), Some(Tier::Gate));
        for aside in ["settings.json.example", "settings.local.json.sample", "settings.json.bak"] {
            assert_eq!(tier(&format!(".claude/{aside}")), None, "{aside}");
            assert_eq!(tier(&format!(".claude/hooks/{aside}")), Some(Tier::Gate), "{aside}");
        }
        assert_eq!(of("sub/.claude/settings.json", None).map(|later| later.tier), Some(Tier::ByItself));
        assert_eq!(of("../.claude/settings.json", None).map(|later| later.tier), Some(Tier::Gate));
        // In a folder for temporary files one may work, too.
        assert_eq!(of("/tmp/w/.claude/settings.json", Some("/tmp/w/sub")).map(|later| later.tier), Some(Tier::Gate));
        for path in
            ["/home/u/w/.claude/plans/x.md", "/home/u/w/claude/settings.json", "/home/u/w/.claude.d/settings.json"]
        {
            assert_eq!(tier(path), None, "{path}");
        }
    }

    #[test]
    fn what_runs_by_itself_counts_in_any_folder_and_in_any_case() {
        for path in [
            "~/.bashrc",
            "/root/.profile",
            ".git/hooks/pre-commit",
            "/w/.git/config",
            "a/b/.GIT/Hooks/post-checkout",
            "/etc/cron.d/x",
            "~/.ssh/authorized_keys",
            "/usr/local/bin/ls",
            "~/.local/bin/x",
            "/home/u/.local/bin/x",
            "/etc/profile.d/x.sh",
            ".git/info/attributes",
            "a/.git/rebase-merge/git-rebase-todo",
            ".git/index",
            "packages/web/.envrc",
            ".rbenv-vars",
            "x/.mcp.json",
            ".claude/skills/deploy/SKILL.md",
            ".claude/commands/x.md",
            ".vscode/tasks.json",
            "sub/.devcontainer/devcontainer.json",
            ".venv/bin/python",
            "web/node_modules/.bin/tsc",
            "~/.curlrc",
            "/etc/hosts",
            ".config/nvim/init.lua",
            "~/Library/LaunchAgents/x.plist",
        ] {
            assert_eq!(of(path, None).map(|later| later.tier), Some(Tier::ByItself), "{path}");
        }
    }

    #[test]
    fn what_steers_builds_ci_and_agents() {
        for path in [
            ".github/workflows/ci.yml",
            "a/CLAUDE.md",
            "AGENTS.md",
            "x/.npmrc",
            ".cargo/config.toml",
            ".gitattributes",
            "lib/sitecustomize.py",
            "lib/x.pth",
            ".pre-commit-config.yaml",
            "lefthook.yml",
            "Jenkinsfile",
        ] {
            assert_eq!(of(path, None).map(|later| later.tier), Some(Tier::Steers), "{path}");
        }
        for path in [
            ".git/index.lock",
            ".git/entire-sessions/x.json",
            "src/main.rs",
            "/w/bin/run.sh",
            "/tmp/x",
            "README.md",
            ".gitignore",
            "package.json",
            "node_modules",
            ".venv",
            "docs/agents.md.txt",
            "src/profile",
            "crontabs.rs",
        ] {
            assert_eq!(of(path, None), None, "{path}");
        }
    }

    #[test]
    fn what_acts_later_begins_with_a_name_that_says_so() {
        let names = Names::all();
        let reaches = |path: &str| path.split('/').fold(Begun::No, |begun, name| names.step(begun, name)) == Begun::Yes;
        let patterns = ROWS.iter().flat_map(|row| row.at).filter_map(|at| match at {
            Ends(text) | Below(text) => Some((*text).to_owned()),
            Ending(text) => Some(format!("x{text}")),
            Root(_) => None,
        });
        for text in patterns.chain(agents::settings().chain(agents::hooks()).map(str::to_owned)) {
            let path = text.replace('*', "x");
            assert!(of(&format!("/w/a/{path}"), Some("/w")).is_some(), "{path}");
            for path in [path.clone(), format!("a/{path}"), format!("node_modules/{path}/x"), path.to_ascii_uppercase()]
            {
                assert!(reaches(&path), "{path}");
            }
        }
        for path in [
            "main.rs",
            "src/lib.rs",
            "node_modules/react/index.js",
            "venv/lib/x.py",
            ".gitignore",
            ".config/app/x",
            "package.json",
        ] {
            assert!(!reaches(path), "{path}");
        }
    }

    #[test]
    fn the_rows_are_written_as_they_are_compared() {
        let patterns = ROWS.iter().flat_map(|row| row.at).map(|at| match at {
            Ends(text) | Below(text) | Ending(text) => (*text, false),
            Root(text) => (*text, true),
        });
        for (text, is_rooted) in patterns.chain(agents::settings().chain(agents::hooks()).map(|text| (text, false))) {
            assert_eq!(text, text.to_ascii_lowercase());
            assert_eq!(text.starts_with('/'), is_rooted, "{text}");
            assert!(!text.ends_with('/') && !text.trim_end_matches('*').contains('*'), "{text}");
        }
    }
}
