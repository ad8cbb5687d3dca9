# bash completion for a2astdio: source <(a2astdio completion bash)
#
# What is typed is handed over as text, and never evaluated.
_a2astdio() {
    local LC_ALL=C # COMP_POINT counts bytes
    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t\n' kind= word= match= cut=
    local -a typed
    read -ra typed <<<"$line"
    [[ $line == *[[:blank:]] ]] && typed+=("")
    word=${typed[${#typed[@]} - 1]}
    [[ $word == *[=:]* ]] && cut=${word%"${word##*[=:]}"} # bash replaces what is behind it
    COMPREPLY=()
    while IFS= read -r match; do
        if [[ -z $kind ]]; then
            kind=${match%%$'\t'*} word=${match#*$'\t'}
        else
            match=${match%%$'\t'*}
            COMPREPLY+=("${match#"$cut"}")
        fi
    done < <(command a2astdio __complete "${typed[@]:1}" 2>/dev/null)
    case $kind in
    files) while IFS= read -r match; do COMPREPLY+=("$match"); done < <(compgen -f -- "$word") ;;
    dirs) while IFS= read -r match; do COMPREPLY+=("$match"); done < <(compgen -d -- "$word") ;;
    *) return ;;
    esac
    compopt -o filenames 2>/dev/null # bash 3.2 has no compopt
}
complete -F _a2astdio a2astdio
