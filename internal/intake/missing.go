package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/capture"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
)

// NotImported returns the sessions that ran in this working tree and whose current state is not
// imported, as far as a quick look shows: the length of some sources is only known after reading
// them. It does not look into home directories where the user has not agreed to imports. An
// importer without rules finds none.
func NotImported(
	ctx context.Context, repo *gitint.Repo, in Intake, places sessions.Places,
) (all []Record) {
	if Agreed(repo) != nil {
		return nil
	}
	store := capture.StoreIn(repo.CommonDir())
	found, _ := importer.Find(ctx, places, importer.Selection{Root: in.Workspace.Root()})
	for _, f := range found {
		if f.Err != nil || f.Copy || store.Excludes(f.Name.ID, f.Dir) {
			continue // what cannot be read, and what a copy adds, is named by an import
		}
		state, err := in.Look(f.Session)
		known := state == importer.New || state == importer.Grown && f.Length > 0
		if err == nil && known {
			all = append(all, in.record(f.Session, state))
		}
	}
	return all
}

// PrintNotImported counts such sessions by agent.
func PrintNotImported(p *render.Printer, all []Record) error {
	counts := map[string]map[importer.State]int{}
	var agents []string
	for _, r := range all {
		n, _ := sessions.ParseName(r.Session)
		agent := string(n.Agent)
		if counts[agent] == nil {
			counts[agent] = map[importer.State]int{}
			agents = append(agents, agent)
		}
		counts[agent][importer.State(r.State)]++
	}
	slices.Sort(agents)
	head := "Sessions that are not imported ('git jp import' lists them):\n"
	for _, agent := range agents {
		var parts []string
		for _, s := range []importer.State{importer.New, importer.Grown} {
			if n := counts[agent][s]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", render.Number(int64(n)), s))
			}
		}
		line := fmt.Sprintf("%-11s  %s", agent, strings.Join(parts, ", "))
		if _, err := fmt.Fprintf(p.Out, "%s  %s\n", head, line); err != nil {
			return err
		}
		head = ""
	}
	return nil
}
