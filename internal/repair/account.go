package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// errUncounted reports that a union would lose elements. Nothing is removed in that case.
var errUncounted = errors.New("merging the directories would lose elements")

// An account checks a union of several versions of a conversation by counting, which is independent
// of how the union was made: it merges nothing.
type account struct {
	base     *part // the common ancestor of all versions; nil if it is uncertain
	versions []*part
	result   *part
	// decided holds the elements that may be missing although no version removed them: those that a
	// person decides about, and originals that a redaction replaces.
	decided map[blobs.Hash]bool
	// warned reports whether the merge reported conflicting values for keys of base_config.json.
	warned bool
}

// A part holds the counts of one version.
type part struct {
	elements map[string]int
	shown    map[string]*events.Element
	starts   map[string]bool // times of turn_starts and requests
	details  map[string]string
	config   map[string]string
}

// newPart counts the parts of a version. Only the base configuration may be nil.
func newPart(stream *events.Stream, details, config []byte) (*part, error) {
	p := &part{
		elements: make(map[string]int), shown: make(map[string]*events.Element),
		starts: make(map[string]bool), details: make(map[string]string),
		config: make(map[string]string),
	}
	if stream != nil {
		for _, e := range stream.All() {
			p.add(e)
		}
	}
	err := flatten(p.details, details)
	if err == nil {
		err = flatten(p.config, config)
	}
	if p.config[modelMember+".name"] == strconv.Quote(events.UnknownModel) {
		maps.DeleteFunc(p.config, func(name, _ string) bool {
			return strings.HasPrefix(name, modelMember+".")
		})
	}
	return p, err
}

// modelMember names the model in base_config.json. An import that knows no model yet says so, which
// any other value replaces.
const modelMember = "assistant.model.id"

// importedMember names the turns that imports added, a set in one text.
const importedMember = "git_jp_imported"

func (p *part) add(e *events.Element) {
	key, set := keyOf(e)
	if e.Kind() == events.KindChatRequest || e.Kind() == events.KindTurnStart {
		p.starts[e.Time().String()] = true
	}
	switch {
	case key == "":
	case set:
		p.elements[key] = 1
		p.shown[key] = e
	default:
		p.elements[key]++
		p.shown[key] = e
	}
}

// Members that a merge writes, and those of a compaction that it changes: a range counts turns, and
// turns may be inserted.
const seamMember = "git_jp_seam"

var rangeMembers = []string{"from_turn", "to_turn", "git_jp_turns", "event_id"}

// keyOf returns the key by which an element is counted, or "" for one that a merge wrote. It also
// reports whether the element counts only once however often it occurs, as elements do that are not
// events.
func keyOf(e *events.Element) (key string, set bool) {
	var members map[string]any
	if !e.Kind().IsEvent() && json.Unmarshal(e.Raw(), &members) != nil {
		return e.Sum().String(), true
	}
	_, seam := e.Metadata().Value(seamMember)
	if _, is := members[seamMember]; is || seam {
		return "", false
	}
	switch {
	case e.Kind() == events.KindCompaction:
		for _, name := range rangeMembers {
			delete(members, name)
		}
		plain, _ := json.Marshal(members) // cannot fail: it was just decoded
		return "compaction " + string(plain), true
	case !e.Kind().IsEvent():
		return e.Sum().String(), true
	}
	return e.Sum().String(), false
}

// flatten records every leaf of a JSON object by its path. Lists are leaves.
func flatten(to map[string]string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		if members, ok := v.(map[string]any); ok {
			for name, below := range members {
				walk(at+"."+name, below)
			}
			return
		}
		plain, _ := json.Marshal(v) // cannot fail: it was decoded from JSON
		to[strings.TrimPrefix(at, ".")] = string(plain)
	}
	walk("", root)
	if _, ok := to[importedMember]; ok {
		delete(to, importedMember)
		d, err := events.DecodeDetails(data)
		if err != nil {
			return fmt.Errorf("count: %w", err)
		}
		for _, name := range d.ImportedTurns() {
			to[importedMember+" "+name] = "imported"
		}
	}
	return nil
}

// check returns an error that names the elements that the result lacks, and the values of
// metadata.json that another version's value replaced.
func (a *account) check() (gaveWay []string, err error) {
	if err := a.checkElements(); err != nil {
		return nil, err
	}
	gaveWay, err = a.checkMembers(func(p *part) map[string]string { return p.details })
	if err != nil {
		return nil, err
	}
	others, err := a.checkMembers(func(p *part) map[string]string { return p.config })
	if err == nil && len(others) > 0 && !a.warned {
		err = fmt.Errorf("%w: %s of base_config.json", errUncounted, others[0])
	}
	return gaveWay, err
}

func (a *account) checkElements() error {
	for _, v := range a.versions {
		for key, e := range v.shown {
			if a.result.elements[key] >= a.least(key) || a.excused(e) {
				continue
			}
			return fmt.Errorf("%w: the %s of %s", errUncounted, e.Kind(),
				e.Time().UTC().Format("2006-01-02 15:04:05.999999999"))
		}
	}
	return nil
}

// least returns how often an element must be in the result: as often as the version with the most
// occurrences has it, minus those of the base that another version removed.
func (a *account) least(key string) int {
	most, fewest := 0, a.versions[0].elements[key]
	for _, v := range a.versions {
		most, fewest = max(most, v.elements[key]), min(fewest, v.elements[key])
	}
	if a.base == nil {
		return most
	}
	removed := max(0, a.base.elements[key]-fewest)
	return max(0, most-removed)
}

// excused reports whether an element may be missing: a person decides about it, it marks the
// beginning of a turn that begins anyway, or it is a compaction of turns that were removed.
func (a *account) excused(e *events.Element) bool {
	switch {
	case a.decided[e.Sum()]:
		return true
	case e.Kind() == events.KindTurnStart:
		return a.result.starts[e.Time().String()]
	case e.Kind() == events.KindCompaction && a.base != nil:
		for key, el := range a.base.shown {
			if el.Kind() == events.KindChatRequest && a.result.elements[key] == 0 {
				return true
			}
		}
	}
	return false
}

// derived holds the members of metadata.json that are times of the last activity, or that follow
// from the place of the conversation.
var derived = []string{"last_activated_at", "archived_at", "expires_at"}

// checkMembers returns the values of one version that another version's value replaced, as "name
// value". A value that is missing without a replacement is an error.
func (a *account) checkMembers(of func(*part) map[string]string) (gaveWay []string, err error) {
	result := of(a.result)
	for i, v := range a.versions {
		for _, name := range slices.Sorted(maps.Keys(of(v))) {
			value := of(v)[name]
			if result[name] == value || slices.Contains(derived, name) {
				continue
			}
			var base string
			if a.base != nil {
				base = of(a.base)[name]
			}
			switch {
			case value == base:
				if !a.changedElsewhere(i, name, of) {
					return nil, fmt.Errorf("%w: %s %s", errUncounted, name, value)
				}
			case !a.otherwise(i, name, of):
				return nil, fmt.Errorf("%w: %s %s", errUncounted, name, value)
			default:
				gaveWay = append(gaveWay, name+" "+value)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(gaveWay))), nil
}

// changedElsewhere reports whether another version has a different value, or none.
func (a *account) changedElsewhere(i int, name string, of func(*part) map[string]string) bool {
	for j, v := range a.versions {
		if j != i && of(v)[name] != of(a.versions[i])[name] {
			return true
		}
	}
	return false
}

// otherwise reports whether another version changed the member to the value of the result, or
// removed the member, or one above it, from the base.
func (a *account) otherwise(i int, name string, of func(*part) map[string]string) bool {
	for j, v := range a.versions {
		if j == i {
			continue
		}
		if of(v)[name] == of(a.result)[name] && of(v)[name] != "" {
			return true
		}
		if a.base != nil && of(v)[name] == "" && of(a.base)[name] != "" {
			return true
		}
	}
	return false
}
