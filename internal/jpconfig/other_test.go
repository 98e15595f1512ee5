package jpconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestOtherParameters checks which value of a parameter that jp does not have counts: that of the
// highest layer, and in one layer that of jp's form, which older versions did not write. Each is
// approved alone.
func TestOtherParameters(t *testing.T) {
	said := func(v string) []byte {
		return []byte(`{"assistant":{"model":{"parameters":{` + v + `}}}}`)
	}
	for _, tt := range []struct{ file, base, option, want string }{
		{"", `"seed":7`, "", "7"},
		{"", `"other":{"seed":7}`, "", "7"},
		{"", `"seed":7,"other":{"seed":8}`, "", "8"},
		{"seed = 1", `"other":{"seed":7}`, "", "7"},
		{"other = { seed = 1 }", `"seed":7`, "", "7"},
		{"", `"other":{"seed":7}`, "assistant.model.parameters.seed:=9", "9"},
		{"", `"seed":7`, "assistant.model.parameters.other.seed:=9", "9"},
	} {
		files := map[string]string{}
		if tt.file != "" {
			files["user/config.toml"] = "[assistant.model.parameters]\n" + tt.file + "\n"
		}
		s := sources(t, files)
		s.Base, s.Approved = said(tt.base), func(trust.Claim) bool { return true }
		if tt.option != "" {
			s.Options = []string{tt.option}
		}
		c := load(t, s)
		if got := string(c.Parameters("assistant", "model").Other["seed"]); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	s := sources(t, nil)
	s.Base = said(`"other":{"service_tier":"flex"}`)
	s.Approved = func(trust.Claim) bool { return true }
	if p := load(t, s).Parameters("assistant", "model"); len(p.Other) > 0 || p.ServiceTier != "flex" {
		t.Errorf("a parameter that has a field is in %+v", p)
	}
	s.Approved = nil
	s.Base = said(`"other":{"seed":7,"style":"x"}`)
	var held []string
	for _, claim := range load(t, s).Held() {
		held = append(held, strings.TrimPrefix(claim.Key, "assistant.model.parameters."))
	}
	if !slices.Equal(held, []string{"seed", "style"}) {
		t.Errorf("held %v", held)
	}
	s.Approved = func(c trust.Claim) bool { return strings.HasSuffix(c.Key, ".style") }
	p := load(t, s).Parameters("assistant", "model")
	if len(p.Other) != 1 || string(p.Other["style"]) != `"x"` {
		t.Errorf("parameters %s", p.Other)
	}
}

// TestOtherIsStored checks that parameters which jp does not have are stored where it keeps them,
// and are no change when the conversation has them in either spelling.
func TestOtherIsStored(t *testing.T) {
	said := func(v string) []byte {
		return []byte(`{"assistant":{"model":{"parameters":{` + v + `}}}}`)
	}
	for _, tt := range []struct{ base, flag, delta string }{
		{"", `"seed":7,"top_p":1`, `"top_p":1,"other":{"seed":7}`},
		{`"other":{"seed":7}`, `"seed":8`, `"other":{"seed":8}`},
		{`"other":{"seed":7}`, `"seed":7`, ""},
		{`"seed":7`, `"other":{"seed":7}`, ""},
		{`"seed":7`, `"seed":7`, ""},
		{`"other":{}`, `"seed":7`, `"other":{"seed":7}`},
	} {
		s := sources(t, nil)
		s.Base, s.Flags = said(tt.base), map[string][]byte{"--param": said(tt.flag)}
		s.Approved = func(trust.Claim) bool { return true }
		c := load(t, s)
		want := ""
		if tt.delta != "" {
			want = `"parameters":{` + tt.delta + "}"
		}
		delta, lost := c.Delta()
		if got := parameters(delta); got != want || len(lost) > 0 {
			t.Errorf("%+v: %s, lost %v", tt, got, lost)
		}
		if stored := string(c.JSON()); !strings.Contains(stored, `"other":{"seed":`) {
			t.Errorf("%+v: stored as %s", tt, stored)
		}
	}
	s := sources(t, nil)
	s.Base, s.Stream = said(`"other":{}`), stream(t, said(`"other":{"seed":7}`))
	s.Approved = func(trust.Claim) bool { return true }
	if delta, lost := load(t, s).Delta(); parameters(delta) != "" || len(lost) > 0 {
		t.Errorf("beside the empty table of jp: %s, lost %v", parameters(delta), lost)
	}
	s = sources(t, nil)
	s.Base = said(`"seed":7,"other":{"style":"x"}`)
	s.Approved = func(trust.Claim) bool { return true }
	s.Options = []string{"assistant.model.parameters.other:=null"}
	c := load(t, s)
	if delta, lost := c.Delta(); parameters(delta) != "" || len(lost) != 2 {
		t.Errorf("removed: %s, lost %v", parameters(delta), lost)
	}
}

// stream returns a stream with one delta.
func stream(t *testing.T, delta []byte) *events.Stream {
	t.Helper()
	s, err := events.Decode(fmt.Appendf(nil,
		`[{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":%s}]`, delta))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parameters returns the parameters of the model in a delta, with their name.
func parameters(delta []byte) string {
	_, rest, ok := strings.Cut(string(delta), `"model":{`)
	if !ok {
		return ""
	}
	said, _, _ := strings.Cut(rest, "}},\"")
	return said
}
