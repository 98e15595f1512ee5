package commandline

const manDescription = `
git jp manages workspace conversations: dialogues with language models that are
kept as files below .jp/ and committed with the code they are about. It lists and
prints them, stages a conversation with all content it refers to, checks that no
reference is without its content, and moves content into and out of the blob store.

A conversation is named by its id (jp-c17838..., the digits, or a unique beginning
of them), by words of its title, by a path at or below its directory, or by . for
the active and - for the previous one. Long options may be abbreviated, as for git,
as long as the abbreviation is unique.`

// manSections are the sections after the commands.
var manSections = []struct{ title, text string }{
	{"EXIT STATUS", `
0: done.

1: problems were found, or the command failed, as one that removes what is not there.

2: a conflict that a person has to decide.

129: the command line is wrong.

130: interrupted; 143: by SIGTERM.`},
	{"ENVIRONMENT", `
GIT_JP_TRACE: 1 logs every git command with its duration to standard error; an
absolute path appends to that file. Content is never logged.

JP_SESSION: names the terminal session, as for jp.

JP_USER_DATA_DIR, XDG_DATA_HOME: where user-local conversations and session files
lie.

NO_COLOR, CLICOLOR_FORCE, TERM: whether output is coloured; after them git's color.ui.

JP_EDITOR: the editor, before GIT_EDITOR, core.editor, VISUAL and EDITOR.

GIT_EDITOR, GIT_PAGER: as for git.`},
	{"FILES", `
.jp/conversations/: the conversations, one directory each.

.jp/blobs/: their content, addressed by SHA-256.

.jp/git-jp.toml: settings of git jp for this workspace; .jp/config.toml is jp's, and
.jp/git-jp-config.toml has those with which jp does not start. A directory's own are in
.jp.toml and .git-jp-config.toml.

$GIT_COMMON_DIR/jp/cache/: caches; they can be deleted at any time.

$GIT_COMMON_DIR/jp/trash/, and .jp/blobs/.tmp/trash/ outside of a repository: the
quarantine of gc, compact and repair, and the journals of their runs. It has the only
copy of what they removed: without it nothing can be undone.`},
	{"SEE ALSO", `
git(1), gitattributes(5), githooks(5)

https://github.com/git-jp/git-jp/blob/main/docs/models.md: models, providers, keys,
tools and the files that configure them.`},
}
