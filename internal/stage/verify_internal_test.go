package stage

import (
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestStagedTextsAreVerified: git is asked for attributes only where a staged text differs from its
// file. A file that was renamed since git read it is no error.
func TestStagedTextsAreVerified(t *testing.T) {
	const file = ".jp/conversations/17758406187-one/metadata.json"
	const same, differs, gone = "{}\n", `{"title": "x"}` + "\n", ""
	for _, c := range []struct {
		name, content, attributes string
		processes, problems       int
	}{
		{"same", same, "*.json filter=lfs", 0, 0},
		{"differs", differs, "", 1, 0},
		{"converted", differs, "*.json filter=lfs", 1, 1},
		{"renamed", gone, "", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gittest.Repo(t)
			if c.content != gone {
				r.WriteFile(file, c.content)
			}
			r.WriteFile(".gitattributes", c.attributes+"\n")
			repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close() // was only read
			p := &Plan{Report: &check.Report{}, req: Request{Repo: repo, Dir: ".jp"}}
			before := repo.Processes()
			id, err := gitint.ParseOID(r.Blob(same))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.verifyFile(t.Context(), gitint.Entry{Path: file, OID: id}); err != nil {
				t.Fatal(err)
			}
			if n := repo.Processes() - before; n != c.processes {
				t.Errorf("%d processes, want %d", n, c.processes)
			}
			if n := len(p.Report.Findings); n != c.problems {
				t.Errorf("%d findings, want %d: %v", n, c.problems, p.Report.Findings)
			}
		})
	}
}
