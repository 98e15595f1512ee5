package jpconfig_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTimeoutsAreOnlyLowered checks that only the user can give a tool more time.
func TestTimeoutsAreOnlyLowered(t *testing.T) {
	tests := []struct {
		name, user, workspace string
		preset, want          time.Duration
		warned                bool
	}{
		{name: "nothing said"},
		{name: "preset", preset: 10 * time.Minute, want: 10 * time.Minute},
		{name: "the user's, shorter", user: "x:90s", preset: 10 * time.Minute, want: 90 * time.Second},
		{name: "the user's, longer", user: "x:2h", preset: 10 * time.Minute, want: 2 * time.Hour},
		{name: "the user's for all", user: "*:2h", preset: 10 * time.Minute, want: 2 * time.Hour},
		{name: "lowered", user: "x:2h", workspace: "x:5s", want: 5 * time.Second},
		{name: "not raised", user: "x:5s", workspace: "x:2h", want: 5 * time.Second},
		{name: "not raised for all", user: "*:5s", workspace: "*:2h", want: 5 * time.Second},
		{name: "not raised by another key", user: "*:5s", workspace: "x:2h", want: 5 * time.Second},
		{name: "lowered for all", user: "*:5s", workspace: "*:2s", want: 2 * time.Second},
		{name: "preset lowered", workspace: "x:5s", preset: time.Minute, want: 5 * time.Second},
		{name: "preset not raised", workspace: "x:2h", preset: time.Minute, want: time.Minute},
		{name: "for ever lowered", workspace: "x:5s", want: 5 * time.Second},
		{name: "zero is nothing", user: "x:0s", workspace: "x:0s", preset: time.Minute, want: time.Minute, warned: true},
		{name: "less is nothing", workspace: "x:-5s", preset: time.Minute, want: time.Minute, warned: true},
		{name: "a word is nothing", workspace: "x:never", preset: time.Minute, want: time.Minute, warned: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for file, said := range map[string]string{
				"user/config.toml": tt.user, "ws/.jp/config.toml": tt.workspace,
			} {
				if name, limit, ok := strings.Cut(said, ":"); ok {
					files[file] = fmt.Sprintf("[conversation.tools.%q]\ntimeout = %q\n", name, limit)
				}
			}
			c := load(t, sources(t, files))
			if got := c.Timeout("x", tt.preset); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if warned := len(c.Warnings()) > 0; warned != tt.warned {
				t.Errorf("warnings %v", c.Warnings())
			}
		})
	}
}
