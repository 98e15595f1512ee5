package commandline

// Script returns the completion script of a shell: bash, zsh or fish.
func Script(shell string) string { return scripts[shell] }

// scripts call `git-jp __complete`, which knows the commands. Git's own completion looks for a
// function _git_jp.
var scripts = map[string]string{
	"bash": `# bash completion for git-jp
_git_jp_words() {
    local IFS=$'\n'
    COMPREPLY=($(git-jp __complete -- "$@" 2>/dev/null))
}
_git_jp() {
    local i=1
    while [ "$i" -lt "$cword" ] && [ "${words[i]}" != jp ]; do i=$((i + 1)); done
    _git_jp_words "${words[@]:i+1:cword-i}"
    # git's completion adds no space behind a word.
    for i in "${!COMPREPLY[@]}"; do
        case ${COMPREPLY[i]} in *[=./:]) ;; *) COMPREPLY[i]+=' ' ;; esac
    done
}
_git_jp_command() {
    _git_jp_words "${COMP_WORDS[@]:1:COMP_CWORD}"
}
complete -o bashdefault -o default -F _git_jp_command git-jp
`,
	"zsh": `#compdef git-jp
# zsh completion for git-jp; git's completion calls _git-jp for "git jp" as well
_git-jp() {
    local -a replies
    replies=("${(@f)$(git-jp __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    compadd -a replies
}
if [ "$funcstack[1]" = "_git-jp" ]; then _git-jp "$@"; else compdef _git-jp git-jp; fi
`,
	"fish": `# fish completion for git-jp
function __git_jp_complete
    set -l words (commandline -opc) (commandline -ct)
    if test "$words[1]" = git
        set -e words[1]
    end
    set -e words[1]
    git-jp __complete -- $words 2>/dev/null
end
complete -c git-jp -f -a '(__git_jp_complete)'
complete -c git -n '__fish_seen_subcommand_from jp' -f -a '(__git_jp_complete)'
`,
}
