package jpconfig

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events/settings"
)

// A Layer is one source of settings. A higher one takes precedence.
type Layer int

// The layers, from low to high.
const (
	BuiltIn       Layer = iota
	User                // below the user's configuration directory
	Workspace           // .jp/config.*
	Directory           // .jp.* down to the working directory
	UserWorkspace       // the user's file for the workspace
	Environment         // JP_CFG_…
	Conversation        // base_config.json and the deltas
	Option              // -c
	Flag                // of the command
)

// String returns the name of the layer.
func (l Layer) String() string {
	names := [...]string{
		"built in", "user", "workspace", "directory", "user's workspace", "environment",
		"conversation", "-c", "flag",
	}
	if l < 0 || int(l) >= len(names) {
		return "unknown"
	}
	return names[l]
}

// An Origin is where a value came from.
type Origin struct {
	Layer   Layer
	File    string // "" if it is not a file
	Name    string // of the variable, the option or the flag
	Foreign bool   // somebody else may have written it
	line    func(path ...string) int
}

// At returns the position of a setting for messages.
func (o Origin) At(path ...string) string {
	line := 0
	if o.line != nil {
		line = max(o.line(path...), o.line(settings.StoredPath(path)...))
	}
	switch {
	case o.File != "" && line > 0:
		return fmt.Sprintf("%s:%d", o.File, line)
	case o.File != "":
		return filepath.ToSlash(o.File)
	case o.Name != "":
		return o.Name
	default:
		return o.Layer.String()
	}
}

// Layers returns the origins of settings, from low to high, without the built-in one.
func (c *Config) Layers() []Origin {
	return slices.DeleteFunc(slices.Clone(c.origins), func(o Origin) bool {
		return o.Layer == BuiltIn
	})
}

// UnknownKey is the text of the warning for an unknown key.
const UnknownKey = "unknown key"

// A Warning reports a setting that was left out.
type Warning struct {
	Where string // in the format of [Origin.At]
	Key   string // dotted; "" for the complete file
	Text  string
}

// String returns the warning as where: key: text.
func (w Warning) String() string {
	if w.Key == "" {
		return w.Where + ": " + w.Text
	}
	return w.Where + ": " + w.Key + ": " + w.Text
}
