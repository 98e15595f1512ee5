package check

import (
	"cmp"
	"slices"

	"github.com/git-jp/git-jp/blobs"
)

// A Finding is one fault.
type Finding struct {
	State    State
	Severity Severity
	// Commit is the first source with the finding: a commit, "index" or "working tree". Commits
	// counts the sources that have it.
	Commit  string
	Commits int
	// Path is a slash path from the root of the source: the file with the fault, or with a
	// reference to it. Line counts from 1, and is 1 if it is unknown.
	Path string
	Line int
	// Conversation is "" if the finding concerns none, and Title if it has no title.
	Conversation, Title string
	// Turn counts from 1, and 0 means none. Element counts from 0, and -1 means none.
	Turn, Element int
	Call, Tool    string
	// Hash and Size are those of a reference.
	Hash blobs.Hash
	Size int64
	// References counts the references of the conversation to the same content. Only the place of
	// the first is given.
	References int
	// Rule and Fingerprint are those of a secret.
	Rule, Fingerprint string
	// Pointer says that the file is malformed because it is a Git LFS pointer.
	Pointer bool
	// Detail is a phrase that describes the fault.
	Detail string
	// Next is a command that helps, or "".
	Next string
}

// A findingKey identifies a finding. Findings of several commits with the same key are reported
// once.
type findingKey struct {
	state      State
	path, what string
	hash       blobs.Hash
}

// key leaves the path of a reference's file out if the conversation is known, so that a renamed
// directory does not repeat its findings. Two secrets of one kind and length in one place are told
// apart by their fingerprints.
func (f *Finding) key() findingKey {
	if f.Hash.IsZero() {
		return findingKey{state: f.State, path: f.Path, what: f.Detail + f.Fingerprint}
	}
	if f.Conversation != "" {
		return findingKey{state: f.State, path: f.Conversation, hash: f.Hash}
	}
	return findingKey{state: f.State, path: f.Path, hash: f.Hash}
}

// A Report is the result of a check.
type Report struct {
	Findings []Finding
	// Strict reports whether warnings fail the check.
	Strict bool
	// Sources, Conversations and References are the numbers of examined sources, conversations and
	// references. Files that are equal in consecutive sources are counted once.
	Sources, Conversations, References int
	// Blobs counts the distinct referenced blobs that were examined, and Verified those whose
	// content was read.
	Blobs, Verified int

	known map[findingKey]*known
}

// known is the index of a finding in the report, and the last source that had it.
type known struct {
	index int
	last  string
}

// Add adds a finding of one source, or counts the source if the report has the finding. A Severity
// of None is replaced by that of the state.
func (r *Report) Add(f Finding) {
	k := f.key()
	if old, ok := r.known[k]; ok {
		if old.last != f.Commit {
			r.Findings[old.index].Commits++
			old.last = f.Commit
		}
		return
	}
	if f.Severity == None {
		f.Severity = f.State.Severity()
	}
	f.Commits, f.Line, f.References = max(f.Commits, 1), max(f.Line, 1), max(f.References, 0)
	if r.known == nil {
		r.known = make(map[findingKey]*known)
	}
	r.known[k] = &known{len(r.Findings), f.Commit}
	r.Findings = append(r.Findings, f)
}

// Without removes the findings that another report has too, for example of commits that are already
// published, and returns them.
func (r *Report) Without(other *Report) []Finding {
	var both []Finding
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		_, has := other.known[f.key()]
		if has {
			both = append(both, f)
		}
		return has
	})
	clear(r.known)
	for i, f := range r.Findings {
		r.known[f.key()] = &known{i, f.Commit}
	}
	return both
}

// Worst returns the highest severity found.
func (r *Report) Worst() Severity {
	worst := None
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Problems reports whether the check failed: it has an error, or a warning if it is strict.
func (r *Report) Problems() bool {
	if r.Strict {
		return r.Worst() >= Warning
	}
	return r.Worst() >= Error
}

// Count returns the number of findings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// compareInSource orders the findings of one source by file, then by place in the file.
func compareInSource(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Element, b.Element),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.State, b.State),
		a.Hash.Compare(b.Hash),
		cmp.Compare(a.Detail, b.Detail),
	)
}

// settle removes findings that were only temporary, given the last source: a turn that a later
// commit has completed.
func (r *Report) settle(last string) {
	gone := func(f Finding) bool {
		k := r.known[f.key()]
		return f.State == Incomplete && k.last != last
	}
	r.Findings = slices.DeleteFunc(r.Findings, gone)
	clear(r.known)
	for i, f := range r.Findings {
		r.known[f.key()] = &known{i, last}
	}
}

// AddAll adds the findings of one source, sorted.
func (r *Report) AddAll(findings []Finding) {
	slices.SortFunc(findings, compareInSource)
	for _, f := range findings {
		r.Add(f)
	}
}
