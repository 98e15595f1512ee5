package leaks

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// workspaceFile is the beginning of the URI of a file of the workspace.
const workspaceFile = "file:///$WORKSPACE/"

// untracked is the rule for an attached file that Git does not have.
const untracked = "untracked-file"

// attached reports attached files of the workspace that Git does not have: someone who keeps a file
// out of Git may not want it there as an attachment.
func (s *Scanner) attached(c conversation, fresh func(int) bool) {
	if s.Tracked == nil {
		return
	}
	keys := c.stream.Keys()
	for i, e := range c.stream.All() {
		request, ok := e.Event().(*events.ChatRequest)
		if !ok || !fresh(i) {
			continue
		}
		n := 0
		for at, res := range request.Resources {
			name, ok := fileOf(res.URI)
			if !ok || s.Tracked(path.Join(path.Dir(c.dir), name)) {
				continue
			}
			n++
			f := secrets.NewFinding(untracked, c.id, keys[i], n, []byte(res.URI))
			cf := c.finding(check.Secret, i, workspace.EventsFile)
			cf.Rule, cf.Fingerprint = untracked, f.Fingerprint()
			cf.Detail = fmt.Sprintf(
				"/resources/%d is the file %s, which Git does not have", at, name,
			)
			cf.Next = fmt.Sprintf("git jp check --allow-secret %s", cf.Fingerprint)
			s.found = append(s.found, found{c.dir + cf.Fingerprint, c.dir, cf, f})
		}
	}
}

// fileOf returns the path of a file of the workspace.
func fileOf(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, workspaceFile)
	if !ok {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, "#")
	name, err := url.PathUnescape(rest)
	if err != nil {
		return rest, true
	}
	return name, true
}
