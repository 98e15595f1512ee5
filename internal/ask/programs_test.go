package ask

import (
	"context"
	"testing"
)

// TestPagerAsGit checks the order in which git looks for a pager, and that an empty one is none.
func TestPagerAsGit(t *testing.T) {
	for _, c := range []struct {
		env    map[string]string
		config string
		want   string
	}{
		{nil, "", "less"},
		{map[string]string{"PAGER": "more"}, "", "more"},
		{map[string]string{"PAGER": ""}, "", ""},
		{map[string]string{"PAGER": "more"}, "most", "most"},
		{map[string]string{"PAGER": "more", "GIT_PAGER": ""}, "most", ""},
		{map[string]string{"GIT_PAGER": "cat"}, "most", "cat"},
	} {
		p := Programs{
			Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
			Config: func(context.Context, string) (string, bool) { return c.config, c.config != "" },
		}
		if got := p.Pager(t.Context()); got != c.want {
			t.Errorf("%v, %q: %q; want %q", c.env, c.config, got, c.want)
		}
	}
}
