package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// How the program speaks:
//
//   - Answers go to standard output, everything else to standard error.
//   - An error is `error: ` and a sentence without capital and period that says
//     what was done, to what, and why it did not work; then `hint: ` lines with
//     the next command. Only this file makes hints and exit codes.
//   - Text that came from conversations or file names is made harmless first.

// Exit codes. The table stands in the man page too.
const (
	exitDone        = 0
	exitProblems    = 1 // problems found, or failed
	exitConflict    = 2 // a person has to decide
	exitUsage       = 129
	exitInterrupted = 130
)

// errProblems says that the command has already printed what is wrong.
var errProblems = errors.New("problems found")

// report prints err and returns the exit code.
func (a *app) report(err error) int {
	if syntax := new(events.SyntaxError); errors.As(err, &syntax) && a.openWorkspace != nil {
		if id, ok := a.unmergedAt(syntax.Path); ok {
			err = &unmergedFileError{err, id}
		}
	}
	if errors.Is(err, workspace.ErrNoWorkspace) && a.isBare() {
		err = fmt.Errorf("%w: %w", err, errBare)
	}
	return reportError(a.stderr, err)
}

// isBare reports whether we are in a repository that no workspace can be made in.
func (a *app) isBare() bool {
	repo, err := a.repo(context.Background()) // what is reported may be the end of another
	return err == nil && repo.Root() == ""
}

// An unmergedFileError is about a file that cannot be loaded because git left it unmerged.
type unmergedFileError struct {
	error
	id events.ID
}

func (e *unmergedFileError) Unwrap() error { return e.error }

// unmergedAt reports whether git left a file of the workspace unmerged, and of which conversation.
func (a *app) unmergedAt(name string) (events.ID, bool) {
	if !strings.HasPrefix(name, workspace.DirName+"/") {
		return 0, false // a copy in the user's own data
	}
	id, ok := workspace.PathID(name)
	ctx := context.Background() // what is reported may be the end of another
	repo, err := a.repo(ctx)
	if !ok || err != nil || repo.Root() == "" {
		return 0, false
	}
	dir, err := a.dirInRepo(a.openWorkspace, repo)
	if err != nil {
		return 0, false
	}
	return id, isUnmerged(ctx, repo, path.Join(path.Dir(dir), name))
}

func reportError(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		return exitInterrupted
	case errors.Is(err, errProblems):
		return exitProblems
	}
	// Several faults, or what another program said, stand below each other.
	text := strings.ReplaceAll(printable(err.Error()), "\n", "\n  ")
	fmt.Fprintf(stderr, "error: %s\n", text)
	for _, line := range details(err) {
		fmt.Fprintf(stderr, "  %s\n", printable(line))
	}
	for _, hint := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", printable(hint))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	refused := new(refusedError)
	switch {
	case isA[*usageError](err), isA[*commandError](err):
		return exitUsage
	case isA[*gitint.UnmergedError](err), isA[*undecidedError](err), isA[*hooks.ConflictError](err),
		errors.As(err, &refused) && refused.conflict:
		return exitConflict
	default:
		return exitProblems
	}
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// details returns what an error knows beyond its sentence.
func details(err error) []string {
	var lines []string
	if ambiguous, ok := errors.AsType[*workspace.AmbiguousError](err); ok {
		lines = candidateLines(ambiguous.Candidates)
	}
	if refused, ok := errors.AsType[*gc.RefusedError](err); ok {
		lines = obstacleLines(refused.Obstacles[1:])
	}
	if none, ok := errors.AsType[*noRunError](err); ok {
		lines = none.details()
	}
	return lines
}

// maxObstacles is how many obstacles are told beside the first.
const maxObstacles = 20

func obstacleLines(obstacles []gc.Obstacle) (lines []string) {
	for i, o := range obstacles {
		if i == maxObstacles {
			return append(lines, fmt.Sprintf("and %d more", len(obstacles)-i))
		}
		lines = append(lines, o.String())
	}
	return lines
}

// maxCandidates is how many conversations of an ambiguous name are told.
const maxCandidates = 12

func candidateLines(candidates []workspace.Candidate) (lines []string) {
	for i, c := range candidates {
		if i == maxCandidates {
			return append(lines, fmt.Sprintf("and %d more", len(candidates)-i))
		}
		title := strings.ReplaceAll(c.Title, "\n", " ")
		lines = append(lines, fmt.Sprintf("%s  %s", c.Entry.ID, title))
	}
	return lines
}

// hints returns what the user can do about err, most helpful first.
func hints(err error) []string {
	if d, ok := errors.AsType[*ask.DraftError](err); ok {
		if isA[*events.SyntaxError](err) {
			return []string{draftHint(err)} // the fault is in the draft itself
		}
		return append([]string{draftHint(err)}, hints(d.Err)...)
	}
	if hint := nameHint(err); hint != "" {
		return []string{hint}
	}
	if unmerged, ok := errors.AsType[*unmergedFileError](err); ok {
		return []string{check.Resolve(unmerged.id.String())}
	}
	if hint := gitHint(err); hint != "" {
		return []string{hint}
	}
	if hint := modelHint(err); hint != "" {
		return []string{hint}
	}
	switch {
	case isA[*usageError](err), isA[*commandError](err):
		return []string{usageHint(err)}
	case isA[*openError](err):
		open := new(openError)
		errors.As(err, &open)
		return open.hints()
	case isA[*audit.RevisionError](err):
		return revisionHints(err)
	case errors.Is(err, hooks.ErrCommit):
		return []string{"'git commit --no-verify' commits all the same"}
	case isA[*driftError](err):
		return []string{"git jp install"}
	case errors.Is(err, hooks.ErrMended):
		return []string{"'git commit --no-edit' completes it, 'git merge --abort' gives it up"}
	case errors.Is(err, workspace.ErrLegacy):
		return []string{"it can be listed, printed, searched and exported"}
	case errors.Is(err, hooks.ErrPush):
		return []string{"'git push --no-verify' pushes all the same"}
	case isA[*unconfirmedError](err):
		return unconfirmedHints(err)
	case errors.Is(err, workspace.ErrLinked):
		return []string{linkedHint}
	case errors.Is(err, errLongText):
		return []string{"'git diff' compares the files"}
	case isA[*trust.RefusedError](err), isA[*unaskedError](err), isA[*approvalError](err):
		return approvalHints(err)
	case errors.Is(err, workspace.ErrStrange):
		return []string{"if it is this one, moved: 'git jp trust " + userLocalKey + "'"}
	case isA[*ignoredError](err):
		return []string{ignoredHint(err)}
	case isA[*gc.RefusedError](err):
		return obstacleHints(err)
	case isA[*gc.BusyError](err):
		return []string{"wait until the other one is done"}
	case isA[*noRunError](err):
		return noRunHints(err)
	case isA[*contentError](err):
		return contentHint(err)
	case errors.Is(err, gc.ErrNoUserLocal):
		return []string{"'git jp query --new --local' begins a user-local conversation"}
	case isA[*attach.PrivateError](err):
		return []string{privateHint(err)}
	case errors.Is(err, compact.ErrNoModel):
		return []string{
			"'git jp compact --model <provider/name>' names one; 'git jp models' lists them",
		}
	case errors.Is(err, quarantine.ErrNone):
		return []string{"what was committed is in Git: 'git jp log' lists it"}
	case isA[*nestedError](err):
		return []string{nestedHint}
	case isA[*attachmentError](err):
		return []string{"'git jp attachment' lists what is attached"}
	case isA[*config.KeyError](err), isA[*settingError](err):
		return settingHints(err)
	}
	return contentHints(err)
}

// noRunHints say what could be undone instead.
func noRunHints(err error) []string {
	none := new(noRunError)
	if errors.As(err, &none) && none.hint() != "" {
		return []string{none.hint()}
	}
	return nil
}

// revisionHints say where a revision may be that is not here.
func revisionHints(err error) []string {
	r := new(audit.RevisionError)
	if errors.As(err, &r) && r.Shallow {
		return []string{"this clone is shallow; 'git fetch --unshallow' brings the rest"}
	}
	return nil
}

// ignoredHint says how to attach what git ignores all the same.
func ignoredHint(err error) string {
	ignored := new(ignoredError)
	errors.As(err, &ignored)
	return fmt.Sprintf("to attach it all the same: -a '%s?ignored=true'", ignored.url)
}

// draftHint says where an edit is that was not saved.
func draftHint(err error) string {
	d := new(ask.DraftError)
	errors.As(err, &d)
	return "nothing was saved; your edit is in " + d.Path
}

// unconfirmedHints say how to go ahead, and what that would cost.
func unconfirmedHints(err error) []string {
	u := new(unconfirmedError)
	errors.As(err, &u)
	switch {
	case u.asked:
		return nil
	case u.loss != "":
		return []string{
			strings.ToLower(string(u.loss[:1])) + string(u.loss[1:]),
			"give --yes to go ahead all the same",
		}
	}
	return []string{"give --yes to go ahead without being asked"}
}

// approvalHints say how to approve what somebody else wrote. A no is an answer.
func approvalHints(err error) []string {
	const list = "'git jp trust --json' lists the ids"
	refused := new(trust.RefusedError)
	switch {
	case !errors.As(err, &refused) && isA[*approvalError](err):
		return []string{list + "; '--id <conversation>' looks into one"}
	case refused.Declined:
		return nil
	case refused.ID != "":
		return []string{
			fmt.Sprintf("without a terminal: 'git jp trust --approve %s'", refused.ID),
		}
	}
	return []string{
		"run it in a terminal, or approve one by its id: 'git jp trust --approve <id>'",
	}
}

// obstacleHints say what to do about what keeps the collector from knowing everything.
func obstacleHints(err error) []string {
	refused := new(gc.RefusedError)
	errors.As(err, &refused)
	var all []string
	for _, o := range refused.Obstacles {
		if hint := obstacleHint(o.Reason); hint != "" && !slices.Contains(all, hint) {
			all = append(all, hint)
		}
	}
	return all
}

// largeHint is for a stream that is larger than is read.
const largeHint = "commit a smaller one; or, where you know whose it is, " +
	"'git jp config set --user storage.max_stream_bytes <size>'"

// linkedHint is for links in the place of directories.
const linkedHint = "replace the link by the directory itself"

func obstacleHint(reason string) string {
	switch reason {
	case gitint.ReasonShallow:
		return "'git fetch --unshallow' brings the rest"
	case gitint.ReasonPartial:
		return "'git fetch --refetch --no-filter' brings what was left out"
	case gitint.ReasonGrafts:
		return "'git replace --convert-graft-file' makes replacements of grafts"
	case gitint.ReasonAlternates:
		return "restore the objects, or remove the directory from objects/info/alternates"
	case gitint.ReasonExtension:
		return "a newer git-jp may know the extension; remove one that is not needed with " +
			"'git config --unset <name>'"
	case gitint.ReasonRef:
		return "'git fsck' names broken refs; fix or delete them with 'git update-ref'; " +
			"'git pack-refs --all' writes an empty packed-refs again, without what it may have lost"
	case gitint.ReasonReflog:
		return "'git reflog expire --rewrite --expire=never --expire-unreachable=never <ref>' " +
			"joins what is left of a log; where its ref is gone, " +
			"'git update-ref <ref> <object>' brings it back"
	case gitint.ReasonWorktree:
		return "'git worktree repair' in a work tree that was moved, 'git worktree prune' after " +
			"one was deleted; 'git config core.worktree' says where the main one is"
	case gitint.ReasonOperation:
		return "finish the operation or abort it, as 'git status' says"
	case gitint.ReasonUnreadable:
		return "'git fsck' says more"
	case gc.ReasonStream:
		return "'git jp repair' in a checkout of it, then commit"
	case gc.ReasonLarge:
		return largeHint
	case gc.ReasonOpaque:
		return "decrypt it, or take it out of Git LFS: 'git lfs migrate export'"
	case gc.ReasonObject:
		return "'git fsck' says more; 'git fetch --refetch' may bring it back"
	case gc.ReasonLinked:
		return linkedHint
	case gc.ReasonForeign:
		return "use the version that made it, or move the file away"
	case gc.ReasonFiles:
		return "check the owner and the mode of the file and its directory"
	case gc.ReasonLocked:
		return "wait until git is done; where none runs, a killed one has left the file: remove it"
	case gc.ReasonNested:
		return nestedHint
	case gc.ReasonID:
		return "'git restore .jp/.id' brings it back, 'git jp init' makes one"
	case gc.ReasonMissing:
		return "'git jp repair' brings it back; 'git jp check --all' says more, and " +
			"'git jp gc --accept-missing' goes on all the same"
	case gc.ReasonOpinion:
		return "'git fsck' and the modes of the files say more"
	case gc.ReasonDoubt:
		return doubtHint
	default:
		return ""
	}
}

// doubtHint says what to do where two ways to find references disagree. A hash in somebody's
// words is the one innocent cause.
const doubtHint = "unless a person wrote the hash there, this is a fault in git jp: please " +
	"report it with this output at https://github.com/git-jp/git-jp"

// usageHint names the help of the command that was called.
func usageHint(err error) string {
	if unknown, ok := errors.AsType[*commandError](err); ok {
		if hint := habitHint(unknown.name); hint != "" {
			return hint
		}
	}
	u := new(usageError)
	if errors.As(err, &u) && u.command != "" {
		return fmt.Sprintf("'git jp help %s' explains it", u.command)
	}
	return "'git jp help' lists the commands, 'git jp help <command>' explains one"
}

// habitHint names the command for which git and other programs have another word.
func habitHint(word string) string {
	switch word {
	case "add":
		return "'git jp stage' stages a conversation with all that it needs"
	case "ask", "chat":
		return "'git jp query' asks"
	case "branch":
		return "'git jp fork' makes another conversation of one"
	case "commit":
		return "'git jp stage --changed' stages conversations, 'git commit' commits them"
	case "fsck":
		return "'git jp check' finds references without content"
	case "mv":
		return "'git jp rename' gives a conversation another title"
	case "prune":
		return "'git jp gc' deletes content that nothing refers to"
	case "reset":
		return "'git jp unstage' removes a conversation from the index"
	case "search":
		return "'git jp grep' searches conversations"
	default:
		return ""
	}
}

// nameHint helps where a conversation or a workspace was not found.
func nameHint(err error) string {
	switch name := new(nameError); {
	case errors.Is(err, errNoneActive):
		return "'git jp query --new' begins a conversation, '--id' names one of 'git jp ls'"
	case errors.Is(err, errBare):
		return "'git jp init' in a clone or a worktree makes one"
	case errors.Is(err, workspace.ErrNoWorkspace):
		return "'git jp init' makes one; '-C <dir>' goes to another"
	case isA[*workspace.AmbiguousError](err):
		return "give more digits of the id, or more words of the title"
	case errors.As(err, &name) && (name.arg == "." || name.arg == "-"):
		return "name a conversation; 'git jp ls' lists them, 'git jp use <id>' makes one active"
	case isA[*workspace.NotFoundError](err):
		return "'git jp ls --archived --local' lists all conversations"
	default:
		return ""
	}
}

// gitHint helps where git or a lock is in the way.
func gitHint(err error) string {
	unsafe, index := new(gitint.UnsafeError), new(gitint.LockedError)
	switch {
	case errors.Is(err, gitint.ErrNotRepository):
		return "run it inside a Git repository, or 'git init' one"
	case errors.As(err, &unsafe):
		return fmt.Sprintf("if you trust it: git config --global --add safe.directory %q",
			unsafe.Dir)
	case errors.As(err, &index):
		return fmt.Sprintf("wait for the other git; if none is running, remove %s", index.Path)
	case isA[*workspace.LockedError](err):
		return "wait until the other process is done with the conversation"
	case isA[*gitint.UnmergedError](err):
		return "decide the conflict first: 'git jp resolve', or 'git add' for files of others"
	case isA[*undecidedError](err):
		return "'git jp resolve' asks on a terminal; --ours, --theirs, --both or --fork decide all"
	case isA[*install.ChangedError](err):
		return "run the command again"
	default:
		return ""
	}
}

// contentHints helps with damaged and missing files.
func contentHints(err error) []string {
	switch {
	case isA[*workspace.DanglingError](err):
		return []string{
			"'git jp repair' brings it back, or says who may have it",
		}
	case isA[*blobs.PointerError](err):
		return []string{"git lfs pull"}
	case isA[*events.SyntaxError](err):
		return []string{syntaxHint(err)}
	case errors.Is(err, fs.ErrPermission):
		return []string{"check the owner and the mode of the file and its directory"}
	default:
		return nil
	}
}

// repairHere repairs the workspace that the user stands in. Every message about a damaged file
// of it names this command and no other, while git does not wait for a merge of the file: it
// knows which version is certain.
const repairHere = "git jp repair"

// syntaxHint says what helps with a file that cannot be loaded. Copies in the user's own data
// are not repaired.
func syntaxHint(err error) string {
	syntax := new(events.SyntaxError)
	errors.As(err, &syntax)
	if strings.HasPrefix(syntax.Path, workspace.DirName+"/") {
		return repairHere
	}
	return "'git jp edit' opens it as it is"
}

// printable returns the text of an error, which may quote a path or a title that somebody else
// chose.
func printable(s string) string { return render.Message(s) }
