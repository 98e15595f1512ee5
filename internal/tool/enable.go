package tool

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
)

// Enable is whether a tool is offered, and which flags may change that.
type Enable struct {
	On     bool
	Toggle Toggle
}

// Toggle restricts the flags that may switch a tool.
type Toggle string

// The values of Toggle. The zero value is ToggleAny.
const (
	ToggleAny     Toggle = "any"
	ToggleNever   Toggle = "never"
	ToggleIfNamed Toggle = "if_named"
	ToggleInGroup Toggle = "if_named_or_group"
)

// UnmarshalJSON reads true, false, "on", "off", "explicit", "always" and
// {"state", "allow_toggle"}.
func (e *Enable) UnmarshalJSON(b []byte) error {
	var on bool
	if exact.Unmarshal(b, &on) == nil {
		*e = Enable{On: on}
		return nil
	}
	var word string
	if exact.Unmarshal(b, &word) == nil {
		return e.word(word)
	}
	state := Enable{On: true}
	var toggle Toggle
	if err := fields(b, map[string]any{"state": &state, "allow_toggle": &toggle}); err != nil {
		return err
	}
	switch toggle {
	case "", ToggleAny, ToggleNever, ToggleIfNamed, ToggleInGroup:
		*e = Enable{On: state.On, Toggle: toggle}
		return nil
	}
	return fmt.Errorf("%q is not a value of allow_toggle", toggle)
}

func (e *Enable) word(s string) error {
	switch s {
	case "on":
		*e = Enable{On: true}
	case "off":
		*e = Enable{}
	case "explicit":
		*e = Enable{Toggle: ToggleIfNamed}
	case "always":
		*e = Enable{On: true, Toggle: ToggleNever}
	default:
		return fmt.Errorf("%q is not a value of enable", s)
	}
	return nil
}

// A Switch is a flag that enables or disables one tool or all.
type Switch struct {
	On   bool
	Name string // "" for all
}

// Select applies the switches from left to right and returns which tools are offered. Naming an
// unknown or locked tool is an error; a switch for all skips the tools that it may not change.
func Select(configs []Config, switches []Switch) ([]bool, error) {
	on := lists.Map(configs, func(c Config) bool { return c.Enable.On })
	for _, s := range switches {
		found := s.Name == ""
		for i, c := range configs {
			switch s.Name {
			case "":
				if c.Enable.Toggle == "" || c.Enable.Toggle == ToggleAny {
					on[i] = s.On
				}
			case c.Name:
				if found = true; c.Enable.Toggle == ToggleNever {
					return nil, fmt.Errorf("tool %q is locked", s.Name)
				}
				on[i] = s.On
			}
		}
		if !found {
			names := lists.Map(configs, func(c Config) string { return c.Name })
			return nil, &NameError{Name: s.Name, Known: names}
		}
	}
	return on, nil
}

// A NameError says that no tool has this name.
type NameError struct {
	Name  string
	Known []string // the existing tools
}

// Error implements error.
func (e *NameError) Error() string { return fmt.Sprintf("no tool has the name %q", e.Name) }
