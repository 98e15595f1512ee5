package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/doctor"
	"github.com/git-jp/git-jp/internal/report"
)

type doctorCmd struct{}

// Help says what is looked at.
func (doctorCmd) Help() string {
	return `Looks at what a check of the conversations cannot see: whether hooks and drivers of this
clone are installed and the attributes name them, whether the man page is found, whether git
is new enough and the repository of a kind that can be read, and whether today's jp, where it is
installed, can read the conversations. Each finding comes with the command that fixes it.
One thing is changed: directories of git jp that other users could enter are closed to them.`
}

// diagnosisRecord is one finding in `doctor --json`.
type diagnosisRecord struct {
	Subject string `json:"subject"` // driver, hook, man, git, repository or jp
	Problem string `json:"problem"`
	Next    string `json:"next"`
}

// Run examines.
func (doctorCmd) Run(ctx context.Context, a *app) error {
	found, err := doctor.Examine(ctx, doctor.Options{
		Getenv: a.getenv, Private: a.workspaceEnv(config.Settings{}).PrivateDirs(),
		Repo: a.repo, Workspace: a.workspace, Config: a.configAt, Short: a.short, Note: a.note,
		Dirs: func(repo *gitint.Repo) []string { return jpDirs(a, repo) },
	})
	if err != nil {
		return err
	}
	if err := printDiagnosis(a, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return report.ErrProblems
	}
	return nil
}

func printDiagnosis(a *app, found []doctor.Finding) error {
	for i, r := range found {
		if a.JSON {
			if err := a.printJSON(diagnosisRecord(r)); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%s: %s", r.Subject, r.Problem)
		// What mends several findings in a row is said once, below the last.
		if again := found[i+1:]; r.Next != "" && (len(again) == 0 || again[0].Next != r.Next) {
			line += "\n  " + r.Next
		}
		if _, err := fmt.Fprintln(a.stdout, a.output().Text(line)); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		a.note("nothing is wrong")
	}
	return nil
}
