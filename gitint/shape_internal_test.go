package gitint

import "testing"

// TestExtensions checks the effect of each extension of a repository of version 1.
func TestExtensions(t *testing.T) {
	for _, tt := range []struct {
		key, value string
		reason     string // "" if nothing is missing
		in         bool   // objects are read in this process
		refs       refPlace
	}{
		{"extensions.noop", "true", "", true, refsInFiles},
		{"extensions.noop-v1", "true", "", true, refsInFiles},
		{"extensions.worktreeconfig", "true", "", true, refsInFiles},
		{"extensions.relativeworktrees", "true", "", true, refsInFiles},
		{"extensions.preciousobjects", "true", "", true, refsInFiles},
		{"extensions.submodulepathconfig", "true", "", true, refsInFiles},
		{"extensions.objectformat", "sha1", "", true, refsInFiles},
		{"extensions.objectformat", "sha256", "", false, refsInFiles},
		{"extensions.refstorage", "files", "", true, refsInFiles},
		{"extensions.refstorage", "files:///elsewhere", "", true, refsElsewhere},
		{"extensions.refstorage", "reftable", "", true, refsInTables},
		{"extensions.partialclone", "origin", ReasonPartial, true, refsInFiles},
		{"extensions.compatobjectformat", "sha256", ReasonExtension, false, refsElsewhere},
		{"extensions.ofthefuture", "true", ReasonExtension, false, refsElsewhere},
	} {
		s := &shape{layout: layout{objectsInProcess: true}}
		s.readExtension("1", tt.key, tt.value)
		reason := ""
		if len(s.incomplete) > 0 {
			reason = s.incomplete[0].Reason
		}
		if reason != tt.reason || s.objectsInProcess != tt.in {
			t.Errorf("%s=%s: %q, in process %v", tt.key, tt.value, reason, s.objectsInProcess)
		}
		if s.refs != tt.refs {
			t.Errorf("%s=%s: refs are in place %v", tt.key, tt.value, s.refs)
		}
	}
}
