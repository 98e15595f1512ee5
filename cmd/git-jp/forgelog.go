package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// exact are the commands whose output is for programs, and that of check, which escapes it.
var exact = []string{
	"__complete", "check", "completion", "debug", "export", "man", "mcp", "textconv",
}

// isForgeLog reports whether the output of a command may become part of the log of a forge's job.
func (w *environment) isForgeLog(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return !slices.Contains(exact, name) && !w.stdoutTerminal && w.mayBeLog(w.stdout)
}

// mayBeLog reports whether a standard stream that is not a terminal may be the log of a forge's
// job, which obeys lines of it. A file is not.
func (w *environment) mayBeLog(stream io.Writer) bool {
	if w.getenv("GITHUB_ACTIONS") == "" && w.getenv("GITLAB_CI") == "" {
		return false
	}
	if f, ok := stream.(*os.File); ok {
		info, err := f.Stat()
		return err != nil || !info.Mode().IsRegular()
	}
	return true
}

// writeForgeLog sends standard output, including answers of models, through the writer for such
// logs.
func writeForgeLog(a *app) {
	log := render.NewForgeLog(a.stdout)
	a.stdout, a.terminal.Out, a.closers = log, log, append(a.closers, log.Flush)
}
