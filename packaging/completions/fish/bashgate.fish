# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_bashgate_global_optspecs
    string join \n h/help V/version
end

function __fish_bashgate_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_bashgate_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_bashgate_using_subcommand
    set -l cmd (__fish_bashgate_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c bashgate -n "__fish_bashgate_needs_command" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_needs_command" -s V -l version -d 'Print version'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "demo" -d 'Try it: the real host and hook on a scripted agent, approvals in this terminal'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "init" -d 'Make everything for one workspace `default`, ready to run; never overwrites'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "up" -d 'Start an agent in a gated container, with everything that it needs; finds or makes gate, host and workspace'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "down" -d 'Stop a project\'s container, and say what came or changed in the project that acts later'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "serve" -d 'Run the sidecar'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "classify" -d 'Say what a command is: safe, network or unknown'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "why" -d 'Explain a command: as bash reads it, each part with its rule'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "decide" -d 'Dry-run the whole decision with the offline inspector; nothing is recorded'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "suggest" -d 'Draft rows and rules against questions, from the audit or from commands on standard input'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "rule" -d 'Draft a rule for the future from a held command, and show what else on record it would have let through'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "pending" -d 'List what is held for a person'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "show" -d 'Show everything about a held command'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "approve" -d 'Let a held command run'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "deny" -d 'Do not let a held command run; `deny all` or `deny all in WORKSPACE` ends everything that is held'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "status" -d 'How everything stands: host, inspector, workspaces, what is let through ahead, channels'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "top" -d 'How everything stands at a glance, live: workspaces, what is held, what was decided last'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "tasks" -d 'What is being decided now: what waits for the inspector or for a person'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "grants" -d 'What is let through ahead: grants and break-glass; `bashgate deny ID` ends one'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "codes" -d 'One-time codes, for answers in channels and for grants on the page'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "chat" -d 'Channels to people'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "page" -d 'Print a link to the web page, which works once'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "taint" -d 'What a workspace\'s agent has seen'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "workspace" -d 'Workspaces: one for each agent'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "scripts" -d 'Managed scripts that people approved'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "key" -d 'The key with which answers are signed'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "audit" -d 'The record of every decision'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "egress" -d 'What went out of containers that have no network of their own'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "fleet" -d 'Many hosts, one record, in a PostgreSQL database that nobody has to trust: starts `bashgate-fleet`'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "desk" -d 'Answer for the hosts of a fleet through channels of one\'s own: starts `bashgate-fleet desk`'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "inspector" -d 'Measure the inspector on commands of your own'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "backup" -d 'Copy store and signing key into a new folder, also while the host runs'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "doctor" -d 'Look for what would keep the host from working: files, store, mailboxes, inspector, clock'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "config" -d 'The configuration'
complete -c bashgate -n "__fish_bashgate_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand demo" -l exit -d 'Approve the held command itself, and end'
complete -c bashgate -n "__fish_bashgate_using_subcommand demo" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand init" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l image -d 'The image; without it one with the agent is built once' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l login -d 'What logs the agent in: a variable, by its name, or a file, which is copied into the agent\'s home folder [default: the agent\'s usual variables that are set]' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l env -d 'Hand over a variable, by its name' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l runtime -d 'podman or docker [default: whichever is there]' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l network -d 'The container\'s network [default: the runtime\'s own]' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l print -d 'Only print the command that starts the container; nothing is made'
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l no-cage -d 'Ask about what is unknown instead of running it without network'
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l set-aside -d 'Move what came or changed since the last time, and acts later, out of the project first'
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -l doctor -d 'Do not run the agent but look whether it would be gated'
complete -c bashgate -n "__fish_bashgate_using_subcommand up" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand down" -l runtime -d 'podman or docker [default: whichever is there]' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand down" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand down" -l set-aside -d 'Move what came or changed, and acts later, out of the project'
complete -c bashgate -n "__fish_bashgate_using_subcommand down" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand serve" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand serve" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand classify" -l programs -d 'The operator\'s own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand classify" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand classify" -l jsonl -d 'Read {"command":…} a line from standard input, and answer a line each in the same order'
complete -c bashgate -n "__fish_bashgate_using_subcommand classify" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand why" -l programs -d 'The operator\'s own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand why" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand why" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l taint -d 'What the agent has seen: clean, corruption, secret or both' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l read-host -d 'A host that may be read from, besides the registries of packages; `github.com` stands for all of that forge. May be repeated' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l programs -d 'The operator\'s own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l cage -d 'With the cage instead of every question that it can replace: `outcome` is then also `cage`'
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l egress -d 'With egress for what only reads from hosts that may be read from: `outcome` is then also `egress`, and `hosts` says to where. A remote of git (`origin`) counts as one of them, and as a repository of that name'
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -l jsonl -d 'Read {"command":…} a line from standard input, and answer a line each in the same order'
complete -c bashgate -n "__fish_bashgate_using_subcommand decide" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -l least -d 'Leave out what was seen in fewer questions' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -l most -d 'Most drafts' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -l programs -d 'The operator\'s own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -l jsonl -d 'Read {"command":…} a line from standard input instead of the audit'
complete -c bashgate -n "__fish_bashgate_using_subcommand suggest" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l command -d 'A command instead' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l cwd -d 'The folder where it runs, as the agent sees it; of a card it is known' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l reason -d 'Why, for whoever reads the configuration' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l programs -d 'The operator\'s own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -l save -d 'Write the rule into bashgate.toml. It counts when the host is started again'
complete -c bashgate -n "__fish_bashgate_using_subcommand rule" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand pending" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand pending" -l denied -d 'Denials by the inspector that can still be overruled'
complete -c bashgate -n "__fish_bashgate_using_subcommand pending" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand pending" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand show" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand show" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand show" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand approve" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand approve" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand deny" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand deny" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand status" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand status" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand status" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand top" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand top" -l once -d 'Print it once'
complete -c bashgate -n "__fish_bashgate_using_subcommand top" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand tasks" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand tasks" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand grants" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand grants" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand grants" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -f -a "new" -d 'Make a sheet of 100 codes and print it, once. The account\'s sheet before counts no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -f -a "list" -d 'Who has codes, and how many are left'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -f -a "remove" -d 'An account\'s codes count no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and not __fish_seen_subcommand_from new list remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from new" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from new" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from list" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from remove" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from help" -f -a "new" -d 'Make a sheet of 100 codes and print it, once. The account\'s sheet before counts no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from help" -f -a "list" -d 'Who has codes, and how many are left'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from help" -f -a "remove" -d 'An account\'s codes count no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand codes; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and not __fish_seen_subcommand_from list test help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and not __fish_seen_subcommand_from list test help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and not __fish_seen_subcommand_from list test help" -f -a "list" -d 'The channels, and how they fare'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and not __fish_seen_subcommand_from list test help" -f -a "test" -d 'Send a card to a channel and hear the answer; nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and not __fish_seen_subcommand_from list test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from list" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from test" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from help" -f -a "list" -d 'The channels, and how they fare'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from help" -f -a "test" -d 'Send a card to a channel and hear the answer; nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand chat; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand page" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand page" -l lock -d 'End all its sessions instead'
complete -c bashgate -n "__fish_bashgate_using_subcommand page" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand page" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -f -a "show" -d 'Show a workspace\'s taint and where it came from'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -f -a "raise" -d 'Raise a taint; repeating it is fine'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -f -a "clear" -d 'Clear a workspace\'s taint'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and not __fish_seen_subcommand_from show raise clear help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from show" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from raise" -l why -d 'Why, for the record' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from raise" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from raise" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from clear" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a workspace\'s taint and where it came from'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from help" -f -a "raise" -d 'Raise a taint; repeating it is fine'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from help" -f -a "clear" -d 'Clear a workspace\'s taint'
complete -c bashgate -n "__fish_bashgate_using_subcommand taint; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "add" -d 'Register a workspace and make its mailbox'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "list" -d 'List the workspaces'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "renew" -d 'A fresh container: the taint starts over'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "remove" -d 'Forget a workspace; its requests are denied from then on'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "pause" -d 'Take no questions from it for a while: what a person would be asked is denied'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "resume" -d 'Take questions from it again'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "mute" -d 'Hold its commands without a word about each; `bashgate pending` lists them'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "unmute" -d 'Tell of each again'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "break-glass" -d 'In need: let everything run that would be asked about, for a while. On record, and said in every channel'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and not __fish_seen_subcommand_from add list renew remove pause resume mute unmute break-glass help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from add" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from list" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from renew" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from renew" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from remove" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from pause" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from resume" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from mute" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from mute" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from unmute" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from unmute" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from break-glass" -l minutes -d 'For so many minutes, at most 60' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from break-glass" -l why -d 'Why' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from break-glass" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from break-glass" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "add" -d 'Register a workspace and make its mailbox'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the workspaces'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "renew" -d 'A fresh container: the taint starts over'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Forget a workspace; its requests are denied from then on'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "pause" -d 'Take no questions from it for a while: what a person would be asked is denied'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Take questions from it again'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "mute" -d 'Hold its commands without a word about each; `bashgate pending` lists them'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "unmute" -d 'Tell of each again'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "break-glass" -d 'In need: let everything run that would be asked about, for a while. On record, and said in every channel'
complete -c bashgate -n "__fish_bashgate_using_subcommand workspace; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and not __fish_seen_subcommand_from list revoke help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and not __fish_seen_subcommand_from list revoke help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and not __fish_seen_subcommand_from list revoke help" -f -a "list" -d 'List the scripts that run without a question in a workspace: digest, name, who approved it and when'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and not __fish_seen_subcommand_from list revoke help" -f -a "revoke" -d 'Let a script need an approval again'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and not __fish_seen_subcommand_from list revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from list" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from revoke" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the scripts that run without a question in a workspace: digest, name, who approved it and when'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "revoke" -d 'Let a script need an approval again'
complete -c bashgate -n "__fish_bashgate_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -f -a "show" -d 'Print the public key, as it stands in hook.toml'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -f -a "rotate" -d 'Make a new key and put it into the hooks\' configurations in the gate\'s folder; commands that wait are not disturbed'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -f -a "retire" -d 'The key before the current one counts no more: every hook has the new one'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and not __fish_seen_subcommand_from show rotate retire help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from show" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from rotate" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from rotate" -l revoke -d 'The old key counts no more at once: somebody else may have it'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from retire" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from retire" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the public key, as it stands in hook.toml'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "rotate" -d 'Make a new key and put it into the hooks\' configurations in the gate\'s folder; commands that wait are not disturbed'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "retire" -d 'The key before the current one counts no more: every hook has the new one'
complete -c bashgate -n "__fish_bashgate_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "tail" -d 'The last records'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "verify" -d 'Find any edit, gap or reordering'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "head" -d 'Print the head; keep it somewhere else'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "export" -d 'Print every record as a line of JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "replay" -d 'Say which past decisions another configuration (`--config`) would change; changes nothing'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and not __fish_seen_subcommand_from tail verify head export replay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from tail" -s n -l lines -d 'How many' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from tail" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from tail" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from tail" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from verify" -l head -d 'A head that was kept elsewhere, to find a cut at the tail' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from verify" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from head" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from head" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from export" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from replay" -l state -d 'The state folder with the record, where it is not the one that the configuration names' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from replay" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from replay" -l json -d 'Print JSON: each decision that would change'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "tail" -d 'The last records'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Find any edit, gap or reordering'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "head" -d 'Print the head; keep it somewhere else'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "export" -d 'Print every record as a line of JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "replay" -d 'Say which past decisions another configuration (`--config`) would change; changes nothing'
complete -c bashgate -n "__fish_bashgate_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and not __fish_seen_subcommand_from tail help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and not __fish_seen_subcommand_from tail help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and not __fish_seen_subcommand_from tail help" -f -a "tail" -d 'The last connections, and those that were refused'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and not __fish_seen_subcommand_from tail help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -s n -l lines -d 'How many' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -l workspace -d 'Of this workspace alone' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -s f -l follow -d 'Go on and print what comes'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from tail" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "tail" -d 'The last connections, and those that were refused'
complete -c bashgate -n "__fish_bashgate_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and not __fish_seen_subcommand_from test help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and not __fish_seen_subcommand_from test help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and not __fish_seen_subcommand_from test help" -f -a "test" -d 'Ask rules and model about labelled commands: what they find, false alarms, how long it takes, what it costs. Nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and not __fish_seen_subcommand_from test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -l taint -d 'What the agent has seen: corruption, secret or both' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -l price-in -d 'The price of a million tokens that it reads, to say what that cost' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -l price-out -d 'The price of a million tokens that it writes' -r
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from help" -f -a "test" -d 'Ask rules and model about labelled commands: what they find, false alarms, how long it takes, what it costs. Nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand inspector; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand backup" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand backup" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand doctor" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand doctor" -l json -d 'Print JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -f -a "check" -d 'Check the configuration and the examples of its rules'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -f -a "path" -d 'Print which configuration is in use'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -f -a "use" -d 'Let every command use the gate of this folder from now on'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and not __fish_seen_subcommand_from check path use help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from path" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from use" -l config -d 'The configuration [default: /etc/bashgate/bashgate.toml, else ~/.config/bashgate/bashgate.toml, else the gate made last]' -r -F
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check the configuration and the examples of its rules'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print which configuration is in use'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "use" -d 'Let every command use the gate of this folder from now on'
complete -c bashgate -n "__fish_bashgate_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "demo" -d 'Try it: the real host and hook on a scripted agent, approvals in this terminal'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "init" -d 'Make everything for one workspace `default`, ready to run; never overwrites'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "up" -d 'Start an agent in a gated container, with everything that it needs; finds or makes gate, host and workspace'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "down" -d 'Stop a project\'s container, and say what came or changed in the project that acts later'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "serve" -d 'Run the sidecar'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "classify" -d 'Say what a command is: safe, network or unknown'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "why" -d 'Explain a command: as bash reads it, each part with its rule'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "decide" -d 'Dry-run the whole decision with the offline inspector; nothing is recorded'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "suggest" -d 'Draft rows and rules against questions, from the audit or from commands on standard input'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "rule" -d 'Draft a rule for the future from a held command, and show what else on record it would have let through'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "pending" -d 'List what is held for a person'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "show" -d 'Show everything about a held command'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "approve" -d 'Let a held command run'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "deny" -d 'Do not let a held command run; `deny all` or `deny all in WORKSPACE` ends everything that is held'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "status" -d 'How everything stands: host, inspector, workspaces, what is let through ahead, channels'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "top" -d 'How everything stands at a glance, live: workspaces, what is held, what was decided last'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "tasks" -d 'What is being decided now: what waits for the inspector or for a person'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "grants" -d 'What is let through ahead: grants and break-glass; `bashgate deny ID` ends one'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "codes" -d 'One-time codes, for answers in channels and for grants on the page'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "chat" -d 'Channels to people'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "page" -d 'Print a link to the web page, which works once'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "taint" -d 'What a workspace\'s agent has seen'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "workspace" -d 'Workspaces: one for each agent'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "scripts" -d 'Managed scripts that people approved'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "key" -d 'The key with which answers are signed'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "audit" -d 'The record of every decision'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "egress" -d 'What went out of containers that have no network of their own'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "fleet" -d 'Many hosts, one record, in a PostgreSQL database that nobody has to trust: starts `bashgate-fleet`'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "desk" -d 'Answer for the hosts of a fleet through channels of one\'s own: starts `bashgate-fleet desk`'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "inspector" -d 'Measure the inspector on commands of your own'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "backup" -d 'Copy store and signing key into a new folder, also while the host runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "doctor" -d 'Look for what would keep the host from working: files, store, mailboxes, inspector, clock'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "config" -d 'The configuration'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and not __fish_seen_subcommand_from demo init up down serve classify why decide suggest rule pending show approve deny status top tasks grants codes chat page taint workspace scripts key audit egress fleet desk inspector backup doctor config help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from codes" -f -a "new" -d 'Make a sheet of 100 codes and print it, once. The account\'s sheet before counts no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from codes" -f -a "list" -d 'Who has codes, and how many are left'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from codes" -f -a "remove" -d 'An account\'s codes count no more'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from chat" -f -a "list" -d 'The channels, and how they fare'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from chat" -f -a "test" -d 'Send a card to a channel and hear the answer; nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from taint" -f -a "show" -d 'Show a workspace\'s taint and where it came from'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from taint" -f -a "raise" -d 'Raise a taint; repeating it is fine'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from taint" -f -a "clear" -d 'Clear a workspace\'s taint'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "add" -d 'Register a workspace and make its mailbox'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "list" -d 'List the workspaces'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "renew" -d 'A fresh container: the taint starts over'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "remove" -d 'Forget a workspace; its requests are denied from then on'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "pause" -d 'Take no questions from it for a while: what a person would be asked is denied'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "resume" -d 'Take questions from it again'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "mute" -d 'Hold its commands without a word about each; `bashgate pending` lists them'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "unmute" -d 'Tell of each again'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from workspace" -f -a "break-glass" -d 'In need: let everything run that would be asked about, for a while. On record, and said in every channel'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "list" -d 'List the scripts that run without a question in a workspace: digest, name, who approved it and when'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "revoke" -d 'Let a script need an approval again'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "show" -d 'Print the public key, as it stands in hook.toml'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "rotate" -d 'Make a new key and put it into the hooks\' configurations in the gate\'s folder; commands that wait are not disturbed'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "retire" -d 'The key before the current one counts no more: every hook has the new one'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "tail" -d 'The last records'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "verify" -d 'Find any edit, gap or reordering'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "head" -d 'Print the head; keep it somewhere else'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "export" -d 'Print every record as a line of JSON'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "replay" -d 'Say which past decisions another configuration (`--config`) would change; changes nothing'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from egress" -f -a "tail" -d 'The last connections, and those that were refused'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from inspector" -f -a "test" -d 'Ask rules and model about labelled commands: what they find, false alarms, how long it takes, what it costs. Nothing runs'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Check the configuration and the examples of its rules'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "path" -d 'Print which configuration is in use'
complete -c bashgate -n "__fish_bashgate_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "use" -d 'Let every command use the gate of this folder from now on'
