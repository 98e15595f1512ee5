package commandline

// Script returns the completion script of a shell: bash, zsh or fish.
func Script(shell string) string { return scripts[shell] }

// scripts call `git-jp __complete`, which knows the commands. Git's own completion looks for a
// function _git_jp.
var scripts = map[string]string{
	"bash": `# bash completion for git-jp
_git_jp_words() {
    local IFS=$'\n' i start=
    local word=${!#} breaks=${COMP_WORDBREAKS//[^=:]/}
    COMPREPLY=($(git-jp __complete -- "$@" 2>/dev/null))
    # Bash replaces what follows the last of these characters.
    [ -z "$breaks" ] || start=${word%"${word##*[$breaks]}"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$start"}
        # git's completion adds no space behind a word.
        case ${COMPREPLY[i]} in *[=./:]) ;; *) COMPREPLY[i]+=' ' ;; esac
    done
}
_git_jp() {
    _git_jp_words "${words[@]:0:cword+1}"
}
_git_jp_command() {
    local -a all=()
    local i word joined=
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ -n "$joined" ] || [[ $i -gt 0 && $word == [=:]* ]]; then
            all[${#all[@]}-1]+=$word
        else
            all+=("$word")
        fi
        joined=
        [[ $word == [=:]* && $i -lt $COMP_CWORD ]] && joined=1
    done
    _git_jp_words "${all[@]}"
}
complete -o bashdefault -o default -o nospace -F _git_jp_command git-jp
`,
	"zsh": `#compdef git-jp
# zsh completion for git-jp; git's completion calls _git-jp for "git jp" as well
_git-jp() {
    local -a replies at
    (( $+opt_args[-C] )) && at=(-C ${(Q)${~opt_args[-C]}})
    replies=(${(f)"$(git-jp __complete -- $at "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#replies )); then compadd -a replies; else _files; fi
}
if [ "$funcstack[1]" = "_git-jp" ]; then _git-jp "$@"; else compdef _git-jp git-jp; fi
`,
	"fish": `# fish completion for git-jp
function __git_jp_complete
    git-jp __complete -- (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c git-jp -f -a '(__git_jp_complete)'
complete -c git -n '__fish_git_using_command jp' -f -a '(__git_jp_complete)'
`,
}
