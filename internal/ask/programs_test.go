package ask

import (
	"context"
	"strings"
	"testing"
)

// TestPagerAsGit checks the order in which git looks for a pager, and that an empty one is none.
func TestPagerAsGit(t *testing.T) {
	for _, c := range []struct {
		env    map[string]string
		config string // core.pager, then pager.jp after a comma
		want   string
	}{
		{nil, "", "less"},
		{map[string]string{"PAGER": "more"}, "", "more"},
		{map[string]string{"PAGER": ""}, "", ""},
		{map[string]string{"PAGER": "more"}, "most", "most"},
		{map[string]string{"PAGER": "more", "GIT_PAGER": ""}, "most", ""},
		{map[string]string{"GIT_PAGER": "cat"}, "most", "cat"},
		{map[string]string{"GIT_PAGER": "more"}, ",cat", "more"},
		{map[string]string{"PAGER": "more"}, "most,cat", "cat"},
		{nil, "most,False", ""},
		{nil, "most,on", "most"},
	} {
		p := Programs{
			Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
			Config: func(_ context.Context, key string) (string, bool) {
				core, jp, _ := strings.Cut(c.config, ",")
				value := map[string]string{"core.pager": core, "pager.jp": jp}[key]
				return value, value != ""
			},
		}
		if got := p.Pager(t.Context()); got != c.want {
			t.Errorf("%v, %q: %q; want %q", c.env, c.config, got, c.want)
		}
	}
}
