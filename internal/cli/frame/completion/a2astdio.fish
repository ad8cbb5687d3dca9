# fish completion for a2astdio: a2astdio completion fish | source
#
# What is typed is handed over as text, and never evaluated.
function __a2astdio_complete
    set -l typed (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command a2astdio __complete $typed[2..-1] "$word" 2>/dev/null)
    set -l kind (string split -m1 \t -- $lines[1])
    printf '%s\n' $lines[2..-1]
    switch "$kind[1]"
        case files
            __fish_complete_path "$kind[2]"
        case dirs
            __fish_complete_directories "$kind[2]" directory
    end
end
complete -c a2astdio -f -a '(__a2astdio_complete)'
