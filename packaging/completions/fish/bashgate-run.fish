# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_bashgate_run_global_optspecs
    string join \n h/help V/version
end

function __fish_bashgate_run_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_bashgate_run_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_bashgate_run_using_subcommand
    set -l cmd (__fish_bashgate_run_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -s V -l version -d 'Print version'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "exec" -d 'Run one command to its end'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "jobs" -d 'List the jobs in the background, or show how one stands'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "tail" -d 'Print the end of a job\'s output'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "stop" -d 'Stop a job, or all jobs of an agent'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "set-aside" -d 'List what runs in the cage have left that acts later and was given another name, or give it its name back'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "scripts" -d 'Managed scripts: kept here, approved by a person with all that they may reach, run as they were approved'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "mcp" -d 'Serve the Bash tool and the tools of managed scripts to an agent, over MCP on standard input and output'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "egress" -d 'Lead out of a container that has no network: a port on loopback whose connections go to the host\'s socket'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "doctor" -d 'Show which sandboxes there are here, and try what each really keeps'
complete -c bashgate-run -n "__fish_bashgate_run_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l config -d 'The gate\'s configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l preset -d 'The preset: default, chorus, phoenix, runner-readonly, runner-build, pai, or one of runner.toml' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l timeout -d 'Time for the command, in seconds, within what the preset gives' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l egress -d 'With `--cage`: with the way out that the host gives with this answer of its, once and for this command alone' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l cwd -d 'Where the command starts' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l workspace -d 'The folder that it may write: the repository around the working directory if not given, else that directory' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l agent -d 'The agent on whose behalf, for runner.toml and the record' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l env -d 'A variable for the command; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l slow-ok -d 'Give it the preset\'s time for slow commands: builds, tests, installs'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l network -d 'Ask for network; the host decides'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l cage -d 'Run it in the cage: without any network, and without asking anybody'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l quiet -d 'With `--cage`: say that it was the cage only when the command fails'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l background -d 'Run it in the background: returns at once with its id, its process and the file with its output'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -l json -d 'Print one JSON object instead of the output'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand exec" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand jobs" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand jobs" -l agent -d 'Only this agent\'s' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand jobs" -l json -d 'Print a JSON list'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand jobs" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand tail" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand tail" -l bytes -d 'How much of its output, in bytes' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand tail" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand stop" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand stop" -l agent -d 'All jobs of this agent, because it is gone' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand stop" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand set-aside" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand set-aside" -l below -d 'Only what lies below this folder' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand set-aside" -l give-back -d 'Give these files, by the names that they have now, their old names back' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand set-aside" -l json -d 'Print a JSON list'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand set-aside" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "list" -d 'List the scripts: id, name, description'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "find" -d 'Find scripts by words of their names and descriptions, the best first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "show" -d 'Show a script with what it may reach'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "create" -d 'Keep a new script; its text comes from a file, or from standard input'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "generate" -d 'Have the host\'s model write a script, from words that say what it is to do. Nobody has approved it then'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "edit" -d 'Make the next version of a script; what is not named stays as it is, and the version before is kept'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "versions" -d 'List the versions of a script that are kept, oldest first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "diff" -d 'Show what is different between two versions: the last two, if none is named'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "restore" -d 'Make an earlier version the one that counts. Where it was approved, it runs without a question'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "link" -d 'Note that an automation uses a script, which cannot be removed while one does'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "unlink" -d 'Note that an automation uses a script no more'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "delete" -d 'Remove a script with all of its versions'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "validate" -d 'Look at a script without running it: syntax, where values land, programs, shellcheck'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "run" -d 'Run a script. The first time, a person is asked; afterwards it runs without a question until anything of it changes'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "action" -d 'Run the actions of an automation, `{"type": "bash.run", "script_id": …}`, one after another'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and not __fish_seen_subcommand_from list find show create generate edit versions diff restore link unlink delete validate run action help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from list" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from find" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from find" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from find" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from show" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l name -d 'Its name' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l description -d 'What it does' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l read -d 'A file or folder that it may read, absolute; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l write -d 'A folder that it may write, absolute; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l command -d 'A program that it may run; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l variable -d 'A name that each run has a value for, such as `trigger.file.path`; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l cwd -d 'Where it starts, absolute' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l timeout -d 'From when on it is called slow, in seconds' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l timeout-hard -d 'When it is ended, in seconds' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l network -d 'Give it network'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -l input -d 'Take all of it as one JSON object from standard input instead: `content`, `name`, `description` and the manifest\'s other fields'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l config -d 'The gate\'s configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l agent -d 'The agent on whose behalf, for the record' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l name -d 'Its name; made of the words, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l read -d 'The only files and folders that it may read, absolute; may be repeated. What its text names, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l write -d 'The only folders that it may write, absolute; may be repeated. Those of its text, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l command -d 'The only programs that it may run; may be repeated. Those of its text, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l variable -d 'A name that each run has a value for, such as `trigger.file.path`; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l network -d 'It may use network, if its text does'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l new -d 'Have one written even where one that fits is kept already'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -l input -d 'Take it as one JSON object from standard input instead: `description`, `name`, `capabilities`, `variables`, `new`'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from generate" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l name -d 'Its new name' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l description -d 'What it does' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l read -d 'Instead of what it may read now: a file or folder, absolute; may be repeated, an empty text for none' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l write -d 'Instead of what it may write now: a folder, absolute; may be repeated, an empty text for none' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l network -d 'Whether it has network' -r -f -a "true\t''
false\t''"
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l command -d 'Instead of the programs that it may run now; may be repeated, an empty text for none' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l variable -d 'Instead of the names that each run has a value for now; may be repeated, an empty text for none' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l cwd -d 'Where it starts, absolute; an empty text for its own empty folder' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l timeout -d 'From when on it is called slow, in seconds' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l timeout-hard -d 'When it is ended, in seconds' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l expect -d 'Only if this is the version that counts now' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l keep -d 'How many versions to keep besides the new one' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -l input -d 'Take it as one JSON object from standard input instead, with the fields of `create --input`; what it does not name stays'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from versions" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from versions" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from versions" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from diff" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from diff" -l from -d 'The older version; the one before the last, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from diff" -l to -d 'The newer version; the one that counts, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from diff" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from restore" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from restore" -l keep -d 'How many versions to keep besides the one that counts' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from restore" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from restore" -l by-model -d 'A model restores it, not a person'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from link" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from link" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from link" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from unlink" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from unlink" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from unlink" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from delete" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from delete" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from validate" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from validate" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from validate" -l input -d 'Look at a script that is not kept: JSON on standard input, with the fields of `create --input`'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l config -d 'The gate\'s configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l preset -d 'The preset of scripts, from runner.toml' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l agent -d 'The agent on whose behalf, for runner.toml and the record' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l var -d 'A value; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l input -d 'Take values and less capabilities as one JSON object from standard input: `variables`, `capabilities`, `timeout_seconds`, `dry_run`'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -l dry-run -d 'Only show what would run'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l config -d 'The gate\'s configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l preset -d 'The preset of scripts, from runner.toml' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l agent -d 'The agent on whose behalf, for runner.toml and the record' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l var -d 'What the automation knows, for `${…}` in the actions\' values; may be repeated' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l json -d 'Print JSON'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -l input -d 'Take `actions` and `known` as one JSON object from standard input'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from action" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the scripts: id, name, description'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "find" -d 'Find scripts by words of their names and descriptions, the best first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a script with what it may reach'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "create" -d 'Keep a new script; its text comes from a file, or from standard input'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "generate" -d 'Have the host\'s model write a script, from words that say what it is to do. Nobody has approved it then'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "edit" -d 'Make the next version of a script; what is not named stays as it is, and the version before is kept'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "versions" -d 'List the versions of a script that are kept, oldest first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Show what is different between two versions: the last two, if none is named'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Make an earlier version the one that counts. Where it was approved, it runs without a question'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "link" -d 'Note that an automation uses a script, which cannot be removed while one does'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "unlink" -d 'Note that an automation uses a script no more'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Remove a script with all of its versions'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Look at a script without running it: syntax, where values land, programs, shellcheck'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a script. The first time, a person is asked; afterwards it runs without a question until anything of it changes'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "action" -d 'Run the actions of an automation, `{"type": "bash.run", "script_id": …}`, one after another'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand scripts; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l config -d 'The gate\'s configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l state -d 'The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l preset -d 'The preset of commands; the agent\'s of runner.toml, or `default`, if not given' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l agent -d 'The agent on whose behalf, for runner.toml and the record' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l workspace -d 'The folder that commands may write: the repository around the working directory if not given, else that directory' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l http -d 'Serve streamable HTTP at this address of loopback instead, such as `127.0.0.1:8931`, under the path `/mcp`' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -l token-file -d 'The file with the token that each request must carry; made if it is not there' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand mcp" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -l listen -d 'Listen at this address of loopback, and pass on what comes' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -l socket -d 'The host\'s socket' -r -F
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -l connect -d 'Connect standard input and output to this host instead: for ssh, as `ProxyCommand=bashgate-run egress --connect %h:%p`' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -l via -d 'With --connect: through this port of loopback that leads out, instead of the host\'s socket' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -l print-env -d 'Print the variables with which programs use it, and end'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand egress" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand doctor" -l sandbox -d 'Only this sandbox: bwrap, landlock, firejail or none' -r
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand doctor" -l json -d 'Print one JSON object'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "exec" -d 'Run one command to its end'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "jobs" -d 'List the jobs in the background, or show how one stands'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "tail" -d 'Print the end of a job\'s output'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "stop" -d 'Stop a job, or all jobs of an agent'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "set-aside" -d 'List what runs in the cage have left that acts later and was given another name, or give it its name back'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "scripts" -d 'Managed scripts: kept here, approved by a person with all that they may reach, run as they were approved'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "mcp" -d 'Serve the Bash tool and the tools of managed scripts to an agent, over MCP on standard input and output'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "egress" -d 'Lead out of a container that has no network: a port on loopback whose connections go to the host\'s socket'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "doctor" -d 'Show which sandboxes there are here, and try what each really keeps'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and not __fish_seen_subcommand_from exec jobs tail stop set-aside scripts mcp egress doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "list" -d 'List the scripts: id, name, description'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "find" -d 'Find scripts by words of their names and descriptions, the best first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "show" -d 'Show a script with what it may reach'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "create" -d 'Keep a new script; its text comes from a file, or from standard input'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "generate" -d 'Have the host\'s model write a script, from words that say what it is to do. Nobody has approved it then'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "edit" -d 'Make the next version of a script; what is not named stays as it is, and the version before is kept'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "versions" -d 'List the versions of a script that are kept, oldest first'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "diff" -d 'Show what is different between two versions: the last two, if none is named'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "restore" -d 'Make an earlier version the one that counts. Where it was approved, it runs without a question'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "link" -d 'Note that an automation uses a script, which cannot be removed while one does'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "unlink" -d 'Note that an automation uses a script no more'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "delete" -d 'Remove a script with all of its versions'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "validate" -d 'Look at a script without running it: syntax, where values land, programs, shellcheck'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "run" -d 'Run a script. The first time, a person is asked; afterwards it runs without a question until anything of it changes'
complete -c bashgate-run -n "__fish_bashgate_run_using_subcommand help; and __fish_seen_subcommand_from scripts" -f -a "action" -d 'Run the actions of an automation, `{"type": "bash.run", "script_id": …}`, one after another'
