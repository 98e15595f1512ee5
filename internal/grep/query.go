package grep

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/search"
)

// Compile compiles a query in the scopes of these names.
func Compile(q search.Query, scopes []string) (*search.Pattern, error) {
	if q.Context < 0 {
		return nil, fmt.Errorf("--context %d: expected a positive number", q.Context)
	}
	all := false
	for _, name := range scopes {
		named, ok := search.ParseScope(name)
		if !ok {
			return nil, fmt.Errorf("no scope named %q", name)
		}
		all = all || named == nil
		q.Scopes = append(q.Scopes, named...)
	}
	if all {
		q.Scopes = nil
	}
	return search.Compile(q)
}
