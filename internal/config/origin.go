package config

import "fmt"

// A Layer is one source of settings. A higher layer takes precedence.
type Layer int

// The layers, from low to high.
const (
	Default     Layer = iota
	UserJP            // config.* below the user's configuration directory
	User              // git-jp.toml there
	WorkspaceJP       // .jp/config.*
	Workspace         // .jp/git-jp.toml
	Command           // -c
)

// Committed reports whether the layer is in the working tree, so that somebody else may have
// written it.
func (l Layer) Committed() bool { return l == WorkspaceJP || l == Workspace }

// An Origin is where a value came from.
type Origin struct {
	Layer        Layer
	File         string // "" if the layer is not a file
	Line, Column int    // counted from 1, 0 if unknown
}

// String returns the origin as "default", "-c", a file, or file:line.
func (o Origin) String() string {
	switch {
	case o.Layer == Default:
		return "default"
	case o.Layer == Command:
		return "-c"
	case o.Line == 0:
		return o.File
	default:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
}

// Trusted is a value that only a layer of the user can set. Settings that start a process, choose a
// host or name an environment variable have this type, so that a committed value cannot replace
// them. Only this package creates one with a value.
type Trusted[T any] struct {
	value T
	set   bool
}

// Value returns the value, and whether a layer of the user set it.
func (t Trusted[T]) Value() (T, bool) { return t.value, t.set }

// A KeyError is a fault at one place of the configuration.
type KeyError struct {
	Origin Origin
	Key    string // "" for the complete file
	Err    error
}

// Error returns the fault as file:line:column: key: reason.
func (e *KeyError) Error() string {
	text := e.Origin.String()
	if e.Origin.Line > 0 && e.Origin.Column > 0 {
		text = fmt.Sprintf("%s:%d", text, e.Origin.Column)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *KeyError) Unwrap() error { return e.Err }
