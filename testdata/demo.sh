#!/bin/sh
# The story of `git jp` in a scratch repository: each command is printed with
# its result. The argument is the program to show.
set -eu

binary=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/git-jp-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM

# Nothing of the user's is read or written: no configuration, no home.
mkdir "$scratch/bin" "$scratch/home"
ln -s "$binary" "$scratch/bin/git-jp"
PATH=$scratch/bin:$PATH
HOME=$scratch/home
XDG_CONFIG_HOME=$HOME/.config
XDG_DATA_HOME=$HOME/.local/share
GIT_CONFIG_NOSYSTEM=1
GIT_CONFIG_GLOBAL=/dev/null
GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com
GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com
export PATH HOME XDG_CONFIG_HOME XDG_DATA_HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE JP_SESSION 2>/dev/null || true

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
show() {
    printf '$ %s\n' "$*"
    eval "$*"
}
# refused runs a command that must fail.
refused() {
    printf '$ %s\n' "$*"
    if eval "$*"; then
        echo "demo: this should have been refused" >&2
        exit 1
    else
        printf '(exit %d)\n' $?
    fi
}
b64() { printf '%s' "$1" | base64 | tr -d '\n'; }

say 'A repository with some code, and a conversation that jp wrote'
mkdir "$scratch/project" && cd "$scratch/project"
git init -q -b main
cat > index.go <<'GO'
package index

// Open reads the index below dir.
func Open(dir string) (*Index, error) {
	return read(filepath.Join(dir, "index"))
}
GO
git add index.go && git commit -qm 'Read the index'
conversation=.jp/conversations/17800836875-where-the-index-is-opened
mkdir -p "$conversation"
cat > "$conversation/metadata.json" <<'JSON'
{
  "title": "Where the index is opened",
  "last_activated_at": "2026-05-29 19:43:10.5"
}
JSON
printf '{}\n' > "$conversation/base_config.json"
cat > "$conversation/events.json" <<JSON
[
  {
    "timestamp": "2026-05-29 19:42:36.46732",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-05-29 19:42:36.467321",
    "type": "chat_request",
    "content": "Where do we open the index?",
    "author": "Ada"
  },
  {
    "timestamp": "2026-05-29 19:42:43.5",
    "type": "tool_call_request",
    "id": "toolu_01",
    "name": "fs_read_file",
    "arguments": {
      "path": "$(b64 index.go)"
    }
  },
  {
    "timestamp": "2026-05-29 19:42:43.75",
    "type": "tool_call_response",
    "id": "toolu_01",
    "content": "$(b64 "$(cat index.go)")",
    "is_error": false
  },
  {
    "timestamp": "2026-05-29 19:43:01.0",
    "type": "chat_response",
    "message": "In **index.go**: \`Open\` joins the directory and \`index\` and reads that file."
  }
]
JSON
show 'git jp init'
show 'git jp ls'
show 'git jp print index'

say 'Content moves into the store, once'
show 'git jp migrate --dry-run'
show 'git jp migrate'
show "sed -n '/tool_call_response/,/is_error/p' $conversation/events.json"
show 'git jp grep joins'
show 'git jp grep filepath'

say 'One command stages a conversation with all that it refers to'
show 'git jp show --files index'
show 'git jp stage index'
show 'git commit -qm "Keep the conversation"'
show 'git jp check --content'

say 'A colleague reads the same'
cd "$scratch"
show 'git clone -q project clone'
git -C project jp print index > before.txt
git -C clone jp print index > after.txt
show 'cmp before.txt after.txt && echo the same'

say 'A commit that would dangle does not happen'
cd "$scratch/project"
blob=$(git ls-files .jp/blobs)
show "git rm -q $blob"
refused 'git commit -m "Tidy up"'
show 'git restore --staged --worktree .jp'

say 'The hook adds what is missing, and the next commit takes nothing away'
sed 's/Where do we open/Where exactly do we open/' "$conversation/events.json" > edited
cat edited > "$conversation/events.json" && rm edited
show "git rm -q --cached $blob && git commit -qm 'Forget the content' --no-verify"
refused 'git jp check HEAD'
show "git commit -qm 'Ask more exactly' -- $conversation/events.json"
show 'git jp check HEAD && git status --short'

say 'Done'
