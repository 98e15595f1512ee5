#!/bin/sh
# The story of `git jp` in a scratch repository: each command is printed with its
# result. The argument is the program to show. A step that does not do what it
# promises ends the demo with an error.
set -eu

binary=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/git-jp-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

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
JP_SESSION=demo
LC_ALL=C
export PATH HOME XDG_CONFIG_HOME XDG_DATA_HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL JP_SESSION
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL LC_ALL
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_JP_TRACE 2>/dev/null || true

bold='' plain=''
if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi

say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
fail() {
    echo "demo: $*" >&2
    exit 1
}
# show runs a command, prints what it writes, and keeps that for promise.
show() {
    printf '%s$ %s%s\n' "$bold" "$*" "$plain"
    code=0
    (eval "$*") > "$scratch/said" 2>&1 || code=$?
    cat "$scratch/said"
    [ $code = 0 ] || fail "this should have worked (exit $code)"
}
# refused runs a command that must fail.
refused() {
    printf '%s$ %s%s\n' "$bold" "$*" "$plain"
    code=0
    (eval "$*") > "$scratch/said" 2>&1 || code=$?
    cat "$scratch/said"
    [ $code = 1 ] || fail "this should have been refused with 1 (exit $code)"
    echo '(exit 1)'
}
# promise holds the last command to a pattern, and silence to none at all.
promise() { grep -q -e "$1" "$scratch/said" || fail "it should have said: $1"; }
silence() { [ ! -s "$scratch/said" ] || fail 'it should have said nothing'; }
b64() { base64 < "$1" | tr -d '\n'; }

say 'A repository with some code, and a conversation that jp wrote about it'
mkdir "$scratch/project" && cd "$scratch/project"
git init -q -b main
{
    printf 'package index\n\n// Open reads the index below dir.\n'
    printf 'func Open(dir string) (*Index, error) {\n\treturn read(filepath.Join(dir, "index"))\n}\n'
    for part in header entries extensions checksum trailer; do
        printf '\n// read_%s reads the %s of an index, and says where it is damaged.\n' $part $part
        printf 'func read_%s(r *reader) error {\n\tif err := r.expect("%s"); err != nil {\n' $part $part
        printf '\t\treturn fmt.Errorf("read %s: %%w", err)\n\t}\n\treturn r.next("%s")\n}\n' $part $part
    done
} > index.go
git add index.go && git commit -qm 'Read the index'
conversation=.jp/conversations/17800836875-where-the-index-is-opened
mkdir -p $conversation
cat > $conversation/metadata.json <<'JSON'
{
  "title": "Where the index is opened",
  "last_activated_at": "2026-05-29 19:43:10.5"
}
JSON
printf '{}\n' > $conversation/base_config.json
cat > $conversation/events.json <<JSON
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
      "path": "$(printf index.go | base64)"
    }
  },
  {
    "timestamp": "2026-05-29 19:42:43.75",
    "type": "tool_call_response",
    "id": "toolu_01",
    "content": "$(b64 index.go)",
    "is_error": false
  },
  {
    "timestamp": "2026-05-29 19:43:01.0",
    "type": "chat_response",
    "message": "In **index.go**: \`Open\` joins the directory and \`index\` and reads that file."
  }
]
JSON
show git jp init
promise 'pre-commit'
show git jp ls
promise 'Where the index is opened'
show 'git jp print index | head -n 12'
promise 'Where do we open the index?'

say 'Content moves into the store, once; jp can have it back at any time'
show git jp migrate --dry-run
promise 'would migrate 1 reference'
show git jp migrate
promise 'migrated 1 reference of 1 conversation'
show "sed -n '/tool_call_response/,/is_error/p' $conversation/events.json"
promise '"\$blob"'
show git jp grep checksum
promise 'tool-result(fs_read_file)'

say 'One command stages a conversation with all that it refers to'
show git jp show --files index
promise '\.blob\.gz$'
show git jp status
promise 'new *jp-c17800836875'
show git jp stage index
promise '3 files, 1 blob'
show git jp unstage index
promise 'unstaged 4 paths'
show git jp stage --changed
promise '3 files, 1 blob'
git add .jp/.id .jp/.gitignore .jp/.gitattributes
show 'git commit -qm "Keep the conversation"'
silence
show git jp check --content HEAD
promise 'no problems found'

say 'A colleague reads the same'
cd "$scratch"
show git clone -q project clone
git -C project jp print index > before
git -C clone jp print index > after
show 'cmp before after && echo the same'
promise '^the same$'

say 'A commit that would dangle does not happen, and the hint mends it'
cd "$scratch/project"
blob=$(git ls-files .jp/blobs)
show git rm -q "$blob"
refused 'git commit -m "Tidy up"'
promise 'turn 1, call toolu_01 (fs_read_file)'
show "$(sed -n 's/^hint: \(git restore .*\)/\1/p' "$scratch/said")"
show git status --short
silence

say 'git add is enough: the hook adds the content, in every form of commit'
git rm -q --cached "$blob" && git commit -q --no-verify -m 'Forget the content'
refused git jp check HEAD
promise '1 reference without content'
sed 's/Where do we open/Where exactly do we open/' $conversation/events.json > "$scratch/edited"
cat "$scratch/edited" > $conversation/events.json
show "git commit -qm 'Ask more exactly' -- $conversation"
promise 'added 1 blob'
show git jp check HEAD
promise 'no problems found'
refused git jp check HEAD~2..HEAD
promise 'in HEAD and not in the commit'
show git status --short
silence

say 'Conversations are shaped like branches'
show git jp fork index --title "'The index, continued'"
show git jp use continued
show git jp rename . "'The index, and how it breaks'"
cat > "$scratch/bin/corrector" <<'SH'
#!/bin/sh
sed 's/Where exactly/Where precisely/' "$1" > "$1.new" && cat "$1.new" > "$1" && rm "$1.new"
SH
chmod +x "$scratch/bin/corrector"
show GIT_EDITOR=corrector git jp edit .
show git jp print breaks --last=1 '| head -n 4'
promise 'Where precisely'
show git jp archive 17800836875
show git jp ls --archived
promise 'breaks'
show git jp stage --all
show 'git commit -qm "A fork, and the archive" && git status --short'
silence
show git jp show breaks
show 'git jp export breaks > ../index.md && head -n 5 ../index.md'
show git jp rm --yes breaks
show git jp status
promise 'removed'
show 'git restore .jp && git jp status'

say 'A question, with no language model and no network'
cat > store.go <<'GO'
package index

// Store keeps documents below dir, one file each, and the index beside them. A document
// that is put again replaces the one of the same name. Readers see the old or the new one,
// never half of it: files are written aside, synced and renamed. Two writers of one name do
// not meet, because each name has a lock of its own, which Put takes and gives back.
type Store struct {
	dir   string
	index *Index
}
GO
git add store.go && git commit -qm 'Keep documents'
show 'git jp query --new "how does Store write a document?"'
promise 'No language model is configured'
promise '^\*\*store.go:1-10\*\*$'
show 'git jp stage . && git commit -qm "Keep the answer"'
promise '3 files, 5 blobs'
show 'git jp check --content HEAD'
promise 'no problems found'

say 'Asked again, what was given already is not given again'
show 'git jp query "how does Store write a document?" > /dev/null'
promise 'bytes not sent again'
show 'git jp query --explain "and how does it lock?" | head -n 11'
promise '^Sent before: '

say 'A conversation gets smaller, and comes back'
show 'git jp stats | head -n 12'
promise '^read '
show git jp compact --dry-run
promise '^strip-tool-results '
show git jp compact --in-place --yes --strategy strip-tool-results
promise '^To undo:'
show 'git jp print | grep compacted'
promise 'compacted. fs_'
show git jp compact --undo
promise 'restored'
show git jp check --worktree
promise 'no problems found'

say 'An agent changes the code, and the conversation is committed with what came of it'
cat >> index.go <<'GO'

// Close writes what is left to write, and releases the lock of the index.
func (x *Index) Close() error {
	if err := x.flush(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return x.lock.Release()
}
GO
closing=.jp/conversations/17812345670-close-the-index
mkdir $closing
cat > $closing/metadata.json <<'JSON'
{
  "title": "Close the index without losing a write",
  "last_activated_at": "2026-06-01 09:15:00.0"
}
JSON
cat > $closing/base_config.json <<'JSON'
{"assistant": {"model": {"id": {"provider": "anthropic", "name": "claude-sonnet-4-5"}}}}
JSON
b64text() { printf '%s' "$1" | base64 | tr -d '\n'; }
cat > $closing/events.json <<JSON
[
  {"timestamp": "2026-06-01 09:12:00.0", "type": "turn_start"},
  {"timestamp": "2026-06-01 09:12:00.1", "type": "chat_request", "author": "Ada",
   "content": "When the program ends, the last writes are sometimes missing. Who flushes the index?"},
  {"timestamp": "2026-06-01 09:12:02.0", "type": "chat_response",
   "reasoning": "Nothing calls flush on the way out. Let me look at who holds the lock."},
  {"timestamp": "2026-06-01 09:12:05.0", "type": "tool_call_request", "id": "t1", "name": "fs_grep_files",
   "arguments": {"pattern": "$(b64text flush)", "path": "$(b64text .)"}},
  {"timestamp": "2026-06-01 09:12:05.5", "type": "tool_call_response", "id": "t1", "is_error": false,
   "content": "$(b64text 'store.go:12:	return s.index.flush()')"},
  {"timestamp": "2026-06-01 09:12:30.0", "type": "chat_response",
   "message": "Nobody does: \`Put\` flushes, but a program that ends between two calls of it loses what is buffered. The index needs a \`Close\` that\n\n1. flushes what is buffered,\n2. releases the lock, also for the next process.",
   "metadata": {"git_jp_usage": {"input": 1840, "output": 212, "cache_read": 0}}},
  {"timestamp": "2026-06-01 09:13:10.0", "type": "turn_start"},
  {"timestamp": "2026-06-01 09:13:10.1", "type": "chat_request", "author": "Ada",
   "content": "Add it, with errors that say what failed, and run the tests."},
  {"timestamp": "2026-06-01 09:13:20.0", "type": "tool_call_request", "id": "t2", "name": "fs_modify_file",
   "arguments": {"path": "$(b64text index.go)",
    "old": "$(b64text '	return r.next("trailer")
}
')",
    "new": "$(b64text '	return r.next("trailer")
}

// Close writes what is left to write, and releases the lock of the index.
func (x *Index) Close() error {
	if err := x.flush(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return x.lock.Release()
}
')"}},
  {"timestamp": "2026-06-01 09:13:20.4", "type": "tool_call_response", "id": "t2", "is_error": false,
   "content": "$(b64text 'File modified.')"},
  {"timestamp": "2026-06-01 09:13:24.0", "type": "tool_call_request", "id": "t3", "name": "shell",
   "arguments": {"command": "$(b64text 'go test ./...')"}},
  {"timestamp": "2026-06-01 09:13:29.0", "type": "tool_call_response", "id": "t3", "is_error": false,
   "content": "$(b64text 'ok  	example.com/index	0.214s
exit code: 0')"},
  {"timestamp": "2026-06-01 09:13:41.0", "type": "chat_response",
   "message": "\`Close\` is there, and the tests pass. Callers should \`defer\` it and look at its error:\n\n\`\`\`go\ndefer func() { err = errors.Join(err, x.Close()) }()\n\`\`\`",
   "metadata": {"git_jp_usage": {"input": 320, "output": 388, "cache_read": 2050}}}
]
JSON
show 'git add index.go && git jp stage 17812345670 && git commit -qm "Close the index"'
show 'git jp blame -L 48,53 index.go'
promise 'recorded, wrote 5 lines  jp-c17812345670 turn 2, Ada'

say 'Something to look at: what a branch asked, and pages for a browser'
show 'git jp review HEAD~1 | head -n 4'
promise '^2 turns in 1 conversation'
show git jp site --archived ../site
promise '^4 pages, 4 written'
# Where screenshots are made, they are kept.
if [ -n "${GIT_JP_KEEP-}" ]; then cp -R ../site "$GIT_JP_KEEP"; fi

say 'Back into the form that jp reads'
show git jp migrate --to inline
promise 'migrated 14 references of 3 conversations'
show git jp config get storage.format
promise '^inline$'
show git jp unarchive 17800836875
show git jp uninstall
promise 'remove pre-commit'

say 'Done'
