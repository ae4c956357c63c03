# Completion of tfgen in fish. Commands and options are those that its own help prints, which follows runtime/cli/options.def.
function __tfgen_commands
    tfgen help 2>/dev/null | string replace -rf '^  ([a-z]+)  +(.*)' '$1\t$2'
end
function __tfgen_options
    set -l words (commandline -opc)
    set -l command emit
    test (count $words) -gt 1; and not string match -q '*.yaml' -- $words[2]; and set command $words[2]
    tfgen help $command 2>/dev/null | string replace -rf '^  (?:-., |    )(--[a-z-]+=?)[^ ]* +(.*)' '$1\t$2'
end
function __tfgen_wants_command
    set -l words (commandline -opc)
    test (count $words) -eq 1; or test "$words[2..]" = help
end
complete -c tfgen -n __tfgen_wants_command -a '(__tfgen_commands)'
complete -c tfgen -n 'string match -q -- "-*" (commandline -ct)' -a '(__tfgen_options)'
