# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_bashgate_fleet_global_optspecs
    string join \n h/help V/version
end

function __fish_bashgate_fleet_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_bashgate_fleet_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_bashgate_fleet_using_subcommand
    set -l cmd (__fish_bashgate_fleet_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -s V -l version -d 'Print version'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "init" -d 'Make a fleet: its key in a folder here, its tables in a PostgreSQL database'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "enrol" -d 'Make a token with which one new host joins, once, within 24 hours'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "join" -d 'On a new host: join with a token'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "leave" -d 'On a host: send nothing any more. What was sent stays on record'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "run" -d 'Keep the fleet: take in who joins, say every minute what counts, verify all records. Desks answer, and policies change, only while this runs somewhere'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "sign" -d 'Say what counts for a longer time, without anybody who keeps the fleet meanwhile'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "policy" -d 'The policy that holds on all hosts, besides their own'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "list" -d 'Take in who has joined, and list the hosts: how many records, and when each spoke last'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "verify" -d 'Find any edit, gap, cut, reordering or addition in the records of all hosts, and who is silent'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "prune" -d 'Take away old records of all hosts; they are verified first, and up to where they are gone is signed'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "search" -d 'Look through the records of all hosts, the newest first'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "export" -d 'Hand on the records of all hosts, the oldest first, a line of JSON each'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "desk" -d 'Show in channels what the hosts of the fleet hold, and bring them what people answer there'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "ship" -d 'Send what the host with a state folder records, until standard input is closed: `bashgate serve` starts it'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "telemetry" -d 'Send what the host with a state folder records as OpenTelemetry has it, until standard input is closed: `bashgate serve` starts it'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "revoke" -d 'A host belongs to the fleet no more: it is let in no more, and nothing that it says later counts'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand init" -l ca -d 'The certificate, in PEM, that the server\'s is signed by, where the machine does not trust it' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand init" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand init" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand enrol" -l to -d 'Where to write the token [default: HOST.token]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand enrol" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand enrol" -l desk -d 'It is a desk, which answers for hosts: docs/fleet.md'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand enrol" -l no-wait -d 'Do not wait until it has joined; `bashgate fleet list` takes it in later'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand enrol" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand join" -l config -d 'The host\'s configuration [default: the one that `bashgate` takes]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand join" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand leave" -l config -d 'The host\'s configuration [default: the one that `bashgate` takes]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand leave" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand run" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand run" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand sign" -l for -d 'For how long, as 30s, 30m, 12h or 7d' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand sign" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand sign" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "check" -d 'Check a policy\'s rules and examples'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "push" -d 'Let a policy hold on all hosts, each of which checks it first against what it has on record'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "widen" -d 'Let what some hosts have first hold on all'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "back" -d 'Go back to what held before'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "list" -d 'Which policy is in force on which host, and why another one is not'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "show" -d 'Print a policy'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and not __fish_seen_subcommand_from check push widen back list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from check" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from push" -l first -d 'On these hosts first; the others go on with what they have until `widen`' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from push" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from widen" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from widen" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from back" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from back" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from list" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from show" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a policy\'s rules and examples'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "push" -d 'Let a policy hold on all hosts, each of which checks it first against what it has on record'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "widen" -d 'Let what some hosts have first hold on all'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "back" -d 'Go back to what held before'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "list" -d 'Which policy is in force on which host, and why another one is not'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a policy'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand list" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand list" -l json -d 'Print JSON'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand list" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand verify" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand verify" -l json -d 'Print JSON'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand verify" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand prune" -l keep -d 'How long they stay, as 90d or 12h' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand prune" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand prune" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l host -d 'Of this host' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l workspace -d 'Of workspaces of this name' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l kind -d 'Of this kind: decision, answer, approval, egress, taint, workspace, reject or host' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l since -d 'From then on: 30m, 12h or 7d ago, or a time as 2026-01-31 or 2026-01-31T12:00:00Z' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l until -d 'Until then' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l person -d 'Somebody\'s word: a part of their account or name' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l program -d 'Commands that run this program' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l to -d 'Commands and connections to this host' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l lines -d 'Most records that are shown' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -l json -d 'Print JSON'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand search" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l host -d 'Of this host' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l workspace -d 'Of workspaces of this name' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l kind -d 'Of this kind: decision, answer, approval, egress, taint, workspace, reject or host' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l since -d 'From then on: 30m, 12h or 7d ago, or a time as 2026-01-31 or 2026-01-31T12:00:00Z' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l until -d 'Until then' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l format -d 'In which form' -r -f -a "jsonl\t'As hosts record them, with the host\'s name'
ocsf\t'As events of the Open Cybersecurity Schema Framework'"
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -l folder -d 'The desk\'s own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -f -a "join" -d 'Make this machine a desk of the fleet, with a token of `bashgate fleet enrol NAME --desk`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -f -a "check" -d 'Say whether its configuration is fine, and its key'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -f -a "top" -d 'What all hosts hold, in a terminal; a card is opened and answered by keys, as `desk:USER`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -f -a "page" -d 'Print a link to the web page of what all hosts hold, which works once; it is answered as `desk:USER`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and not __fish_seen_subcommand_from join check top page help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from join" -l folder -d 'The desk\'s own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from join" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from check" -l folder -d 'The desk\'s own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from top" -l folder -d 'The desk\'s own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from top" -l once -d 'Print it once'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from top" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from page" -l folder -d 'The desk\'s own folder, with its key and desk.toml [default: ~/.config/bashgate/desk]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from page" -l lock -d 'End all sessions of the page instead'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from page" -l json -d 'Print JSON'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from page" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from help" -f -a "join" -d 'Make this machine a desk of the fleet, with a token of `bashgate fleet enrol NAME --desk`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from help" -f -a "check" -d 'Say whether its configuration is fine, and its key'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from help" -f -a "top" -d 'What all hosts hold, in a terminal; a card is opened and answered by keys, as `desk:USER`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from help" -f -a "page" -d 'Print a link to the web page of what all hosts hold, which works once; it is answered as `desk:USER`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand desk; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand ship" -l state -d 'The state folder' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand ship" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand telemetry" -l state -d 'The state folder' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand telemetry" -l endpoint -d 'The collector: OTLP over HTTP' -r
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand telemetry" -l headers -d 'A file with a header in each line' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand telemetry" -l commands -d 'Send the texts of commands, too'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand telemetry" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand revoke" -l folder -d 'The fleet\'s own folder, with its key [default: ~/.config/bashgate/fleet]' -r -F
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand revoke" -s h -l help -d 'Print help'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "init" -d 'Make a fleet: its key in a folder here, its tables in a PostgreSQL database'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "enrol" -d 'Make a token with which one new host joins, once, within 24 hours'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "join" -d 'On a new host: join with a token'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "leave" -d 'On a host: send nothing any more. What was sent stays on record'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "run" -d 'Keep the fleet: take in who joins, say every minute what counts, verify all records. Desks answer, and policies change, only while this runs somewhere'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "sign" -d 'Say what counts for a longer time, without anybody who keeps the fleet meanwhile'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "policy" -d 'The policy that holds on all hosts, besides their own'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "list" -d 'Take in who has joined, and list the hosts: how many records, and when each spoke last'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "verify" -d 'Find any edit, gap, cut, reordering or addition in the records of all hosts, and who is silent'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "prune" -d 'Take away old records of all hosts; they are verified first, and up to where they are gone is signed'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "search" -d 'Look through the records of all hosts, the newest first'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "export" -d 'Hand on the records of all hosts, the oldest first, a line of JSON each'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "desk" -d 'Show in channels what the hosts of the fleet hold, and bring them what people answer there'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "ship" -d 'Send what the host with a state folder records, until standard input is closed: `bashgate serve` starts it'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "telemetry" -d 'Send what the host with a state folder records as OpenTelemetry has it, until standard input is closed: `bashgate serve` starts it'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "revoke" -d 'A host belongs to the fleet no more: it is let in no more, and nothing that it says later counts'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and not __fish_seen_subcommand_from init enrol join leave run sign policy list verify prune search export desk ship telemetry revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "check" -d 'Check a policy\'s rules and examples'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "push" -d 'Let a policy hold on all hosts, each of which checks it first against what it has on record'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "widen" -d 'Let what some hosts have first hold on all'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "back" -d 'Go back to what held before'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "list" -d 'Which policy is in force on which host, and why another one is not'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "show" -d 'Print a policy'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from desk" -f -a "join" -d 'Make this machine a desk of the fleet, with a token of `bashgate fleet enrol NAME --desk`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from desk" -f -a "check" -d 'Say whether its configuration is fine, and its key'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from desk" -f -a "top" -d 'What all hosts hold, in a terminal; a card is opened and answered by keys, as `desk:USER`'
complete -c bashgate-fleet -n "__fish_bashgate_fleet_using_subcommand help; and __fish_seen_subcommand_from desk" -f -a "page" -d 'Print a link to the web page of what all hosts hold, which works once; it is answered as `desk:USER`'
