package environ

import (
	"slices"
	"strings"
)

// The variables that say where the parts of a repository are, and who owns it.
const (
	Dir              = "GIT_DIR"
	WorkTree         = "GIT_WORK_TREE"
	CommonDir        = "GIT_COMMON_DIR"
	IndexFile        = "GIT_INDEX_FILE"
	ObjectDir        = "GIT_OBJECT_DIRECTORY"
	Alternates       = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
	Ceilings         = "GIT_CEILING_DIRECTORIES"
	GraftFile        = "GIT_GRAFT_FILE"
	ReferenceBackend = "GIT_REFERENCE_BACKEND"

	// AcrossMounts lets git search for a repository above a mount.
	AcrossMounts = "GIT_DISCOVERY_ACROSS_FILESYSTEM=true"
	// AssumeOther makes git, in its tests, treat everything as another user's.
	AssumeOther = assumeOther + "=1"
	assumeOther = "GIT_TEST_ASSUME_DIFFERENT_OWNER"

	prefix = "GIT_"
)

// places are the variables that keep git from finding a repository by itself.
var places = [...]string{Dir, WorkTree, CommonDir, IndexFile, ObjectDir, Ceilings}

// A List is a complete environment, as of os.Environ.
type List []string

// Get returns a variable, the last one of its name, "" if there is none.
func (l List) Get(name string) string {
	value, _ := l.Lookup(name)
	return value
}

// Lookup also reports whether there is one.
func (l List) Lookup(name string) (string, bool) {
	for _, kv := range slices.Backward(l) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Replaced returns the list with another value of a variable that has one.
func (l List) Replaced(name, value string) List {
	if l.Get(name) == "" {
		return l
	}
	return append(l, name+"="+value)
}

// Clean returns the list without the variables that would make git read something else in a way
// that is never wanted.
func (l List) Clean() List {
	return slices.DeleteFunc(slices.Clone(l), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, prefix) &&
			(treatmentOf(name) == dropped || isTrace(name) && !strings.HasPrefix(value, "/"))
	})
}

// isTrace reports whether a variable makes git write a trace. A trace on standard error, and not in
// a file, would be read here as git's message.
func isTrace(name string) bool {
	return strings.HasPrefix(name, "GIT_TRACE") || name == "GIT_CURL_VERBOSE"
}

// Placeless returns the list without the variables that locate a repository.
func (l List) Placeless() List {
	return slices.DeleteFunc(slices.Clone(l), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(places[:], name)
	})
}

// IsPlaced reports whether a variable locates the repository or its working tree.
func (l List) IsPlaced() bool {
	return slices.ContainsFunc([]string{Dir, WorkTree, CommonDir}, func(name string) bool {
		return l.Get(name) != ""
	})
}

// IsPlain reports whether no variable changes where git finds a repository of the user, except the
// ceilings and the name of the index. Where git may search across file systems, it finds the same
// one on the first of them.
func (l List) IsPlain() bool {
	return !slices.ContainsFunc(l, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case !strings.HasPrefix(name, prefix), name == IndexFile, name == Ceilings,
			name == "GIT_EXEC_PATH", strings.HasPrefix(name, "GIT_CONFIG_"), kv == AcrossMounts:
			return false
		case name == assumeOther:
			return true
		}
		return treatmentOf(name) != harmless
	})
}

// Strange returns the variables because of which git may read something else than this program,
// each once with what is strange about it.
func (l List) Strange() (found []string) {
	for _, kv := range l {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		switch treatmentOf(name) {
		case unknown:
			kv += " is a variable that this version does not know"
		case refused:
			kv += " makes git read something else"
		default:
			continue
		}
		if !slices.Contains(found, kv) {
			found = append(found, kv)
		}
	}
	return found
}
