package jpconfig_test

import (
	"strings"
	"testing"
)

// TestDefaultsOfJPAskForNothing checks that the built-in values that jp 4c1c39f1 writes into each
// conversation need no approval, and that other rules do.
func TestDefaultsOfJPAskForNothing(t *testing.T) {
	const rules = `{"keep_first":"1","keep_last":"1","reasoning":"strip","tool_calls":"strip"}`
	base := func(rules, local string) []byte {
		return []byte(`{"plugins":{"auto_install":true,"shutdown_timeout_secs":5},
			"conversation":{"start_local":` + local + `,"compaction":{"rules":{"value":[` + rules + `],
				"strategy":"replace","discard_when_merged":false}}},
			"interrupt":{"escalation_cooldown_secs":2,
				"streaming":{"action":"prompt","compose_in_editor":false},
				"tool_call":{"action":"prompt","compose_in_editor":false}}}`)
	}
	other := strings.Replace(rules, "1", "2", 1)
	for _, tt := range []struct{ rules, local, own, held, is string }{
		{rules, "false", "", "", "-"},
		{rules, "false", "true", "", "true"},
		{rules, "true", "", "", "true"},
		{other, "false", "", "conversation.compaction.rules", "-"},
	} {
		files := map[string]string{}
		if tt.own != "" {
			files["user/config.toml"] = "[conversation]\nstart_local = " + tt.own + "\n"
		}
		s := sources(t, files)
		s.Base = base(tt.rules, tt.local)
		c := load(t, s)
		var held []string
		for _, claim := range c.Held() {
			held = append(held, claim.Key)
		}
		if got := strings.Join(held, " "); got != tt.held {
			t.Errorf("%v: held %s", tt, got)
		}
		if got := value(c, "conversation.start_local"); got != tt.is {
			t.Errorf("%v: it is %s", tt, got)
		}
		if got := value(c, "conversation.compaction.rules"); got != "-" {
			t.Errorf("%v: the rules are %s", tt, got)
		}
	}
}
