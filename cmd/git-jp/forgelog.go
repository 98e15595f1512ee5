package main

import (
	"os"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// shows are the commands that print text of conversations.
var shows = []string{
	"diff", "grep", "log", "ls", "print", "query", "show", "stats", "status",
}

// isForgeLog reports whether the output of a command may become part of the log of a forge's job,
// which obeys lines of it. Standard output that is a file does not.
func (w *environment) isForgeLog(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	if w.stdoutTerminal || !slices.Contains(shows, name) ||
		w.getenv("GITHUB_ACTIONS") == "" && w.getenv("GITLAB_CI") == "" {
		return false
	}
	if f, ok := w.stdout.(*os.File); ok {
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
