#compdef a2astdio
# zsh completion for a2astdio: source <(a2astdio completion zsh), or as a file
# _a2astdio in a directory of fpath.
#
# What is typed is handed over as text, and never evaluated: (Q) takes quotes away
# and expands nothing.
_a2astdio() {
    local line kind= word value cut=
    local -a typed values shown
    typed=("${(@Q)words[2,CURRENT]}")
    [[ $PREFIX == --*=* ]] && cut=${PREFIX%%=*}= && compset -P 1 '*='
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=${line%%$'\t'*}
            continue
        fi
        value=${${line%%$'\t'*}#$cut}
        values+=("$value")
        if [[ $line == *$'\t'?* ]]; then
            shown+=("$value  -- ${line#*$'\t'}")
        else
            shown+=("$value")
        fi
    done < <(command a2astdio __complete "${typed[@]}" 2>/dev/null)
    (( $#values )) && compadd -l -d shown -a values
    case $kind in
    files) _files ;;
    dirs) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _a2astdio ]]; then
    _a2astdio "$@"
elif (( $+functions[compdef] )); then
    compdef _a2astdio a2astdio
fi
