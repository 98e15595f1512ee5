package workspace

import (
	"fmt"
	"maps"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// A LabelError reports a label whose key jp would refuse to load.
type LabelError struct{ Label string }

// Error implements error.
func (e *LabelError) Error() string {
	return fmt.Sprintf("label %q: a key has letters, digits, _ and - only", e.Label)
}

// ParseLabels parses KEY and KEY=VALUE. An invalid one is a [*LabelError].
func ParseLabels(args []string) (map[string]string, error) {
	labels := make(map[string]string, len(args))
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		if !ValidLabel(key) {
			return nil, &LabelError{Label: arg}
		}
		labels[key] = value
	}
	return labels, nil
}

// ValidLabel reports whether jp accepts a key: it does not load a conversation with an invalid one.
func ValidLabel(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return key != "" && strings.Trim(key, letters+"0123456789_-") == ""
}

// SetLabels adds labels to those of a conversation.
func SetLabels(d *events.Details, labels map[string]string) {
	if d.Labels == nil {
		d.Labels = make(map[string]string, len(labels))
	}
	maps.Copy(d.Labels, labels)
}
