package report

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/approval"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/filelock"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// hints returns what the user can do about err, most helpful first.
func hints(err error) []string {
	if d, ok := errors.AsType[*ask.DraftError](err); ok {
		if isA[*events.SyntaxError](err) {
			return []string{draftHint(err)} // the fault is in the draft itself
		}
		return append([]string{draftHint(err)}, hints(d.Err)...)
	}
	if hinted, ok := errors.AsType[Hinted](err); ok {
		return hinted.Hints()
	}
	if hint := nameHint(err); hint != "" {
		return []string{hint}
	}
	if hint := gitHint(err); hint != "" {
		return []string{hint}
	}
	if hint := modelHint(err); hint != "" {
		return []string{hint}
	}
	if all := sessionHints(err); all != nil {
		return all
	}
	switch {
	case isA[*UsageError](err), isA[*CommandError](err):
		return []string{usageHint(err)}
	case isA[*audit.RevisionError](err):
		return revisionHints(err)
	case isA[*audit.NestedError](err):
		return []string{nestedHint}
	case errors.Is(err, hooks.ErrCommit), errors.Is(err, hooks.ErrSecret):
		return []string{"'git commit --no-verify' commits anyway"}
	case errors.Is(err, hooks.ErrMended):
		return []string{"'git commit --no-edit' completes it, 'git merge --abort' gives it up"}
	case errors.Is(err, workspace.ErrLegacy):
		return []string{"it can be listed, printed, searched and exported"}
	case errors.Is(err, hooks.ErrPush):
		return []string{"'git push --no-verify' pushes anyway"}
	case errors.Is(err, workspace.ErrLinked):
		return []string{linkedHint}
	case errors.Is(err, trust.ErrInside):
		return []string{insideHint}
	case isA[*trust.RefusedError](err), isA[*approval.UnaskedError](err):
		return approvalHints(err)
	case errors.Is(err, workspace.ErrStrange):
		return []string{"if it is this one, moved: 'git jp trust user-local'"}
	case isA[*gc.RefusedError](err):
		return obstacleHints(err)
	case isA[*gc.BusyError](err):
		return []string{"wait until the other one is done"}
	case errors.Is(err, gc.ErrNoUserLocal):
		return []string{"'git jp query --new --local' begins a user-local conversation"}
	case isA[*gc.NameError](err):
		return namedHints(err)
	case isA[*attach.PrivateError](err):
		return []string{privateHint(err)}
	case errors.Is(err, compact.ErrNoModel):
		return []string{
			"'git jp compact --model <provider/name>' names one; 'git jp models' lists them",
		}
	case errors.Is(err, quarantine.ErrNone):
		return []string{"what was committed is in Git: 'git jp log' lists it"}
	case errors.Is(err, config.ErrUnmerged):
		return []string{"decide in the file, then 'git add' it, and continue the merge"}
	case isA[*config.KeyError](err), isA[*config.SettingError](err):
		return settingHints(err)
	}
	return contentHints(err)
}

// insideHint is for a home directory that is a repository. The approvals, and jp's user-local
// conversations, are then looked for in the other directory, by each command.
const insideHint = "set JP_USER_DATA_DIR to a directory outside of it, for good: approvals and " +
	"user-local conversations are kept there"

// revisionHints say where a missing revision may be.
func revisionHints(err error) []string {
	r := new(audit.RevisionError)
	if errors.As(err, &r) && r.Shallow {
		return []string{"this clone is shallow; 'git fetch --unshallow' brings the rest"}
	}
	return []string{revisionHint}
}

// revisionHint is for a revision that does not exist.
const revisionHint = "'git branch --all' lists branches, 'git log --oneline' commits"

// namedHints say how to name content, or where to look for it.
func namedHints(err error) []string {
	named := new(gc.NameError)
	if errors.As(err, &named); named.Found > 0 {
		return []string{"give more digits, or the whole hash"}
	}
	return []string{"'git jp check --all' finds references to content that is not there"}
}

// draftHint says where an unsaved edit is.
func draftHint(err error) string {
	d := new(ask.DraftError)
	errors.As(err, &d)
	return "nothing was saved; your edit is in " + d.Path
}

// approvalHints say how to approve what someone else wrote. If the user declined, there is no hint.
func approvalHints(err error) []string {
	refused := new(trust.RefusedError)
	errors.As(err, &refused)
	switch {
	case refused.Declined, refused.Why != nil, errors.Is(err, trust.ErrUnbound):
		return nil
	case refused.ID != "":
		return []string{
			fmt.Sprintf("without a terminal: 'git jp trust --approve %s'", refused.ID),
		}
	}
	return []string{"run it in a terminal, or approve one by its id: 'git jp trust --approve <id>'"}
}

// obstacleHints say what to do about obstacles that keep the collector from knowing everything.
func obstacleHints(err error) []string {
	refused := new(gc.RefusedError)
	errors.As(err, &refused)
	var all []string
	for _, o := range refused.Obstacles {
		if hint := obstacleHint[o.Reason]; hint != "" && !slices.Contains(all, hint) {
			all = append(all, hint)
		}
	}
	return all
}

// largeHint is for a stream that is larger than the limit for reading.
const largeHint = "commit a smaller one; or, " + sizeHint

// nestedHint is for a workspace that contains a repository, or is in one of another project.
const nestedHint = "move the .git out of the workspace, or the workspace to where it belongs"

// irregularHint is for something else in the place of a file or a directory.
const irregularHint = "move it away; 'git restore <path>' restores what was committed there"

// devicesHint is for a directory of a workspace on a file system of its own: a file that is written
// gets its name by renaming it.
const devicesHint = ".jp has to be on one file system: replace the mount, or the subvolume, " +
	"in it by a directory"

// linkedHint is for links in the place of directories.
const linkedHint = "replace the link by the directory itself"

// obstacleHint says what to do about an obstacle, by its reason.
var obstacleHint = map[string]string{
	gitint.ReasonShallow: "'git fetch --unshallow' brings the rest",
	gitint.ReasonPartial: "'" + check.Refetch + "' brings what was left out",
	gitint.ReasonGrafts:  "'git replace --convert-graft-file' makes replacements of grafts",
	gitint.ReasonAlternates: "restore the objects, " +
		"or remove the directory from objects/info/alternates",
	gitint.ReasonExtension: "a newer git-jp may know the extension; " +
		"remove one that is not needed with 'git config --unset <name>'",
	gitint.ReasonRef: "'git fsck' names broken refs; fix or delete them with 'git update-ref'; " +
		"'git pack-refs --all' writes an empty packed-refs again, without what it may have lost",
	gitint.ReasonReflog: "'git reflog expire --rewrite --expire=never " +
		"--expire-unreachable=never <ref>' joins what is left of a log; where its ref is gone, " +
		"'git update-ref <ref> <object>' restores it",
	gitint.ReasonWorktree: "'git worktree repair' in a worktree that was moved, " +
		"'git worktree prune' after one was deleted; " +
		"'git config core.worktree' says where the main one is",
	gitint.ReasonOperation:  "finish the operation or abort it, as 'git status' says",
	gitint.ReasonUnreadable: "'git fsck' says more",
	gc.ReasonStream:         "'git jp repair' in a checkout of it, then commit",
	gc.ReasonLarge:          largeHint,
	gc.ReasonOpaque: "if it is encrypted or in Git LFS, decrypt it or 'git lfs migrate export'; " +
		"if it is damaged, 'git jp repair'",
	gc.ReasonObject:    "'git fsck' says more; '" + check.Refetch + "' may restore it",
	gc.ReasonLinked:    linkedHint,
	gc.ReasonIrregular: irregularHint,
	gc.ReasonForeign:   "use the version that made it, or move the file away",
	gc.ReasonFiles:     check.ByMode,
	gc.ReasonLocked: "wait until git is done; " +
		"where none runs, a killed one has left the file: remove it",
	gc.ReasonNested: nestedHint,
	gc.ReasonID:     "'git restore .jp/.id' restores it, 'git jp init' makes one",
	gc.ReasonMissing: "'git jp repair' restores it; 'git jp check --all' says more, and " +
		"'git jp gc --accept-missing' continues anyway",
	gc.ReasonOpinion:  "'git fsck' and the modes of the files say more",
	gc.ReasonPromised: "'git jp gc --fetch-all' fetches all that it reads, in one request",
	gc.ReasonDoubt:    DoubtHint,
}

// DoubtHint says what to do if two ways to find references disagree. A hash that a person wrote is
// the one innocent cause.
const DoubtHint = "unless a person wrote the hash there, this is a fault in git jp: please " +
	"report it with this output at https://github.com/git-jp/git-jp"

// nameHint helps if a conversation or a workspace was not found.
func nameHint(err error) string {
	switch name, none := new(NameError), new(workspace.NotFoundError); {
	case errors.Is(err, workspace.ErrNoWorkspace):
		return "'git jp init' makes one; '-C <dir>' goes to another"
	case isA[*workspace.AmbiguousError](err):
		return "give more digits of the id, or more words of the title"
	case errors.As(err, &name) && (name.Arg == "." || name.Arg == "-"):
		return "name a conversation; 'git jp ls' lists them, 'git jp use <id>' makes one active"
	case isA[*workspace.LeftOutError](err):
		return "'git sparse-checkout add <path>' brings it here"
	case errors.As(err, &none) && none.Dir != "":
		return "'git status --untracked-files=all --ignored' shows which of them Git has"
	case errors.As(err, &none):
		return "'git jp ls --archived --local' lists all conversations"
	default:
		return ""
	}
}

// valueHint says where a value of git's configuration is removed.
func valueHint(e *gitint.ConfigError) string {
	switch e.Scope {
	case "command":
		return "leave it out: this command alone has it, by -c or GIT_CONFIG_COUNT"
	case "local", "":
		return "git config --unset-all " + e.Key
	default:
		return "git config --" + e.Scope + " --unset-all " + e.Key
	}
}

// gitHint helps with errors of git or a lock.
func gitHint(err error) string {
	unsafe, index := new(gitint.UnsafeError), new(gitint.LockedError)
	embedded, value := new(gitint.EmbeddedError), new(gitint.ConfigError)
	exit := new(gitint.ExitError)
	switch {
	case errors.As(err, &exit) && exit.Missing():
		return "install git, or add its directory to PATH"
	case errors.As(err, &value):
		return valueHint(value)
	case errors.Is(err, gitint.ErrNotRepository):
		return "run it inside a Git repository, or 'git init' one"
	case errors.As(err, &unsafe):
		return "if you trust it: git config --global --add safe.directory " +
			check.ShellQuote(unsafe.Dir)
	case errors.As(err, &embedded):
		return "if you trust it, name it: GIT_DIR=" + check.ShellQuote(embedded.Dir)
	case errors.As(err, &index):
		return fmt.Sprintf("wait for the other git; if none is running, remove %s", index.Path)
	case isA[*workspace.LockedError](err):
		return "wait until the other process is done with the conversation"
	case errors.Is(err, filelock.ErrNoLocks):
		return "mount it with locks, or move the repository to a file system that has them"
	case isA[*gitint.UnmergedError](err):
		return "decide the conflict first: 'git jp resolve', or 'git add' for files of others"
	case isA[*install.ChangedError](err), errors.Is(err, atomicfile.ErrChanged):
		return "run the command again"
	case isA[*atomicfile.AsideError](err):
		return "compare the two files and keep what is right"
	default:
		return ""
	}
}

// contentHints helps with damaged and missing files.
func contentHints(err error) []string {
	version := new(merge.VersionError)
	switch {
	case isA[*workspace.DuplicateError](err):
		return []string{"'git jp repair' unites them"}
	case isA[*workspace.DanglingError](err):
		return []string{
			"'git jp repair' restores it, or says who may have it",
		}
	case isA[*blobs.PointerError](err), isA[*blobs.PointersError](err),
		errors.Is(err, blobs.ErrPointer):
		return []string{blobs.FetchPointers}
	case isA[*gitint.CorruptObjectError](err):
		return []string{"remove the file of the object in .git/objects, then " +
			"'git hash-object -w FILE' writes it again where its file is still there"}
	case errors.Is(err, stage.ErrUnpublished):
		return []string{"'git push', then try again"}
	case errors.As(err, &version):
		return []string{versionHint(version)}
	case isA[*events.SyntaxError](err):
		return []string{syntaxHint(err)}
	case errors.Is(err, fs.ErrPermission):
		return []string{check.ByMode}
	case errors.Is(err, syscall.EXDEV):
		return []string{devicesHint}
	case errors.Is(err, regular.ErrOutside):
		return []string{"replace the link by what it leads to"}
	case errors.Is(err, gitint.ErrUnknownRevision):
		return []string{revisionHint}
	case isMisplaced(err):
		return []string{irregularHint}
	default:
		return nil
	}
}

// isMisplaced reports whether a file of a workspace, or a directory, has something else in its
// place.
func isMisplaced(err error) bool {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(at.Err, regular.ErrNot) && !errors.Is(at.Err, syscall.ENOTDIR) {
		return false
	}
	return slices.Contains(strings.Split(filepath.ToSlash(at.Path), "/"), workspace.DirName)
}

// RepairHere repairs the workspace in the user's directory. Every message about a damaged file of
// it names this command and no other, unless git waits for a merge of the file: the command knows
// which version is certain.
const RepairHere = "git jp repair"

// versionHint says how a merge ends whose drivers cannot merge.
func versionHint(e *merge.VersionError) string {
	if e.Takes() == "" {
		return "'git checkout --ours <path>' or '--theirs' takes the version of one side"
	}
	return "'git checkout " + e.Takes() + " <path>' takes the other version"
}

// syntaxHint says what helps with a file that cannot be loaded. Copies in the user's own data are
// not repaired.
func syntaxHint(err error) string {
	syntax := new(events.SyntaxError)
	errors.As(err, &syntax)
	if strings.HasPrefix(syntax.Path, workspace.DirName+"/") {
		return RepairHere
	}
	return "'git jp edit' opens it as it is"
}
