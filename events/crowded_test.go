package events_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
)

// TestCrowded decodes files with many tiny elements.
func TestCrowded(t *testing.T) {
	const at = `"timestamp":"2026-05-29 19:42:36.0"`
	many := func(one string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
	}
	turn := "{" + at + `,"type":"turn_start"}`
	for _, tt := range []struct {
		name, text string
		crowded    bool
	}{
		{"elements", many(turn, events.MaxContainers-1), false},
		{"more elements", many(turn, events.MaxContainers), true},
		{"numbers", many("1", 1<<20), true},
		{"lists", many("[]", 1<<20), true},
		{"members", `[{` + at + `,"type":"later"` + numbered(events.MaxMembers-2) + `}]`, false},
		{"more members", `[{` + at + `,"type":"later"` + numbered(events.MaxMembers-1) + `}]`, true},
		{"brackets in a text", `[{` + at + `,"type":"later","x":"` + strings.Repeat("[{,", 1<<20) + `"}]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := events.Decode([]byte(tt.text))
			if errors.Is(err, events.ErrCrowded) != tt.crowded || !tt.crowded && err != nil {
				t.Errorf("decode: %v", err)
			}
			_, err = events.References([]byte(tt.text))
			if errors.Is(err, events.ErrCrowded) != tt.crowded || !tt.crowded && err != nil {
				t.Errorf("references: %v", err)
			}
		})
	}
}

// numbered returns n members with different names.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"member_`)
		for k := i; k > 0; k /= 26 {
			b.WriteByte(byte('a' + k%26))
		}
		b.WriteString(`":1`)
	}
	return b.String()
}

// A stream that was read and has grown since is not saved if it could not be read again.
func TestValidateRefusesCrowds(t *testing.T) {
	for name, file := range map[string]string{
		"objects and lists": "[" + strings.Repeat("[],", events.MaxContainers-2) + "[]]",
		"elements":          "[" + strings.Repeat("123,", events.MaxContainers-1) + "123]",
	} {
		s, err := events.Decode([]byte(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: as many as may be: %v", name, err)
		}
		s.Append(s.At(0))
		if _, err := events.Decode(s.Encode()); !errors.Is(err, events.ErrCrowded) {
			t.Fatalf("%s: one more can be read: %v", name, err)
		}
		if err := s.Validate(); !errors.Is(err, events.ErrCrowded) {
			t.Errorf("%s: one more: %v", name, err)
		}
		// The same with what is known of the elements since their content was stored.
		for range 2 {
			if _, err := s.Externalize(memory{}, events.ExternalizeOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(); !errors.Is(err, events.ErrCrowded) {
				t.Errorf("%s: one more, and stored: %v", name, err)
			}
		}
	}
}

// The same if the last element is the one that could not be read.
func TestValidateRefusesACrowdedElement(t *testing.T) {
	s, err := events.Decode([]byte("[" + strings.TrimSuffix(strings.Repeat("123,", 1<<18), ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		members int
		want    error
	}{{events.MaxMembers, nil}, {events.MaxMembers + 1, events.ErrCrowded}} {
		next := s.Clone()
		next.Append(events.NewElement(time.Unix(1, 0), &events.ToolCallRequest{
			ID: "a", Name: "b", Arguments: []byte("{" + numbered(tt.members)[1:] + "}"),
		}, events.Metadata{}))
		if _, err := events.Decode(next.Encode()); !errors.Is(err, tt.want) {
			t.Fatalf("%d members: decode: %v", tt.members, err)
		}
		if err := next.Validate(); !errors.Is(err, tt.want) {
			t.Errorf("%d members: %v", tt.members, err)
		}
	}
}

// TestValidateLooksOnce: saving one event after the other does not scan all earlier ones each time.
// Bytes that are changed behind the stream's back prove it.
func TestValidateLooksOnce(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	data := []byte(`[{"timestamp":"2026-05-29 19:42:36.0","type":"later","x":"` + text + `"}]`)
	s, err := events.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	copy(data[bytes.Index(data, []byte("xx")):], `",`+strings.Repeat("[", events.MaxContainers))
	s.Append(events.NewElement(time.Unix(1, 0), &events.TurnStart{}, events.Metadata{}))
	if err := s.Validate(); err != nil {
		t.Errorf("looked again: %v", err)
	}
}
