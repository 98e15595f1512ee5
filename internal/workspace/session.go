package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// A Session is a terminal as jp identifies it: each has its own active conversation.
type Session struct {
	ID     string `json:"id"`
	Source Source `json:"source"`
}

// A Source says how a session was identified.
type Source struct {
	Type string `json:"type"`          // "getsid", "hwnd" or "env"
	Key  string `json:"key,omitempty"` // name of the variable, for "env"
}

// SessionOf returns the session of env; false if it cannot be identified.
func SessionOf(env Env) (Session, bool) {
	if s, ok := sessionFromEnv(env, "JP_SESSION"); ok {
		return s, true
	}
	if env.Getsid != nil {
		if sid, err := env.Getsid(); err == nil && sid > 0 {
			return Session{ID: strconv.Itoa(sid), Source: Source{Type: terminalSource(env)}}, true
		}
	}
	for _, name := range []string{
		"TMUX_PANE", "WEZTERM_PANE", "TERM_SESSION_ID", "ITERM_SESSION_ID",
	} {
		if s, ok := sessionFromEnv(env, name); ok {
			return s, true
		}
	}
	return Session{}, false
}

func terminalSource(env Env) string {
	if env.goos() == "windows" {
		return "hwnd"
	}
	return terminal
}

// terminal is the type of a session that the process of a terminal leads, whose id is its number.
const terminal = "getsid"

// began returns when the terminal session began, at the earliest; the zero time if that is not
// known.
func (s Session) began(env Env) time.Time {
	pid, err := strconv.Atoi(s.ID)
	if err != nil || s.Source.Type != terminal || env.Leader == nil {
		return time.Time{}
	}
	age, _ := env.Leader(pid)
	if age == 0 {
		return time.Time{}
	}
	// Clocks are set, and the system counts in hundredths of a second.
	return env.Now().Add(-age - time.Minute)
}

func sessionFromEnv(env Env, name string) (Session, bool) {
	value := env.getenv(name)
	return Session{ID: value, Source: Source{Type: "env", Key: name}}, value != ""
}

// key returns the name of the session's file without its extension.
func (s Session) key() string {
	if s.Source.Type != "env" {
		return s.Source.Type + "-" + plain(s.ID)
	}
	sum := sha256.Sum256([]byte(s.ID))
	return "env-" + plain(s.Source.Key) + "-" + hex.EncodeToString(sum[:8])
}

// plain replaces characters that jp does not allow in a file name.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return r
		default:
			return '_'
		}
	}, s)
}
