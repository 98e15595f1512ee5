package events_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// Branches that only append turns and settings give the same bytes in whatever order they are
// merged, each turn keeps the configuration of its own branch, and the next question runs with what
// docs/merge.md says. The check below implements the rules for merging settings and nothing of
// merging streams.

// A settingsStory is such a history.
type settingsStory struct {
	*rapid.T
	base   string // base_config.json
	ran    map[string]any
	parent map[string]string // the question that each question followed
	deltas []*appendedDelta
	clock  map[*commit]int
	turns  int
	legacy bool
	merges *int
}

// An appendedDelta is a change of the settings made on a branch.
type appendedDelta struct {
	at    int
	delta string
	in    map[*commit]bool // the commits that contain it
	taken map[*commit]bool // the commits that appended a turn after it
}

func (st *settingsStory) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(st.T, label)
}

func (st *settingsStory) n(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(st.T, label)
}

// delta returns a random change of settings, of any kind.
func (st *settingsStory) delta() string {
	v := st.n("value", 0, 3)
	member := func() string {
		return st.pick("member",
			fmt.Sprintf(`"temperature":0.%d`, v),
			fmt.Sprintf(`"model":{"id":"m%d"}`, v),
			fmt.Sprintf(`"model":{"parameters":{"stop":["s%d"],"k":%d}}`, v, v),
			fmt.Sprintf(`"model":{"parameters":{"a/b.c~d":%d}}`, v),
			fmt.Sprintf(`"assistant":{"model":{"parameters":{"seed":%d}}}`, v),
			fmt.Sprintf(`"assistant":{"model":{"parameters":{"top_k":1,"other":{"seed":%d}}}}`, v),
			fmt.Sprintf(`"tools":["t%d"]`, v),
			fmt.Sprintf(`"tools":{"value":["t%d","t0","t0"],"strategy":"replace","dedup":false}`, v),
			fmt.Sprintf(`"tools":{"value":["p%d"],"strategy":"prepend"}`, v),
			fmt.Sprintf(`"tools":{"value":["d%d"],"strategy":"append","discard_when_merged":true}`, v),
			fmt.Sprintf(`"prompt":"p%d"`, v),
			fmt.Sprintf(`"prompt":{"value":"more %d","strategy":"append","separator":"line"}`, v),
			fmt.Sprintf(`"prompt":{"value":"first %d","strategy":"prepend","discard_when_merged":true}`, v),
			fmt.Sprintf(`"shape":{"x":{"y":%d}}`, v),
			fmt.Sprintf(`"shape":"s%d"`, v),
			fmt.Sprintf(`"shape":["l%d"]`, v),
			`"shape":{}`, `"shape":null`, `"shape":{"x":null,"z":1}`,
			`"template":{"values":{"n":null}}`,
			fmt.Sprintf(`"template":{"values":{"n":%d,"l":[%d,%d]}}`, v, v, v),
			`"template":{"values":{"n":{"deep":null}}}`,
		)
	}
	names, all := map[string]bool{}, []string(nil)
	for range st.n("members", 1, 3) {
		m := member()
		if name, _, _ := strings.Cut(m, ":"); !names[name] {
			names[name], all = true, append(all, m)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (st *settingsStory) child(c *commit, elems []string) *commit {
	next := &commit{
		stream: layOut(elems), config: c.config, parents: []*commit{c},
		ancestors: maps.Clone(c.ancestors), ops: map[int]bool{},
	}
	next.ancestors[c] = true
	st.clock[next] = st.clock[c]
	next.name = fmt.Sprint("c", len(st.clock))
	return next
}

func layOut(elems []string) []byte {
	if len(elems) == 0 {
		return events.New().Encode()
	}
	return []byte("[\n  " + strings.Join(elems, ",\n  ") + "\n]\n")
}

func Elements(t interface{ Fatal(...any) }, stream []byte) []string {
	var raw []json.RawMessage
	if err := json.Unmarshal(stream, &raw); err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(raw))
	for i, r := range raw {
		all[i] = string(r)
	}
	return all
}

// set appends a change of settings without a turn.
func (st *settingsStory) set(c *commit) *commit {
	at := st.clock[c] + st.n("tick", 1, 3)*10
	for slices.ContainsFunc(st.deltas, func(d *appendedDelta) bool { return d.at == at }) {
		at++ // the order of two with the same time would be undefined
	}
	d := &appendedDelta{
		at: at, delta: st.delta(), in: map[*commit]bool{}, taken: map[*commit]bool{},
	}
	next := st.child(c, append(Elements(st, c.stream), deltaText(d)))
	st.clock[next] = at
	d.in[next] = true
	st.deltas = append(st.deltas, d)
	st.Logf("%s: %s sets %s", next.name, c.name, d.delta)
	return next
}

func deltaText(d *appendedDelta) string {
	return fmt.Sprintf(`{"type":"config_delta","timestamp":%q,"delta":%s}`, stamp(d.at), d.delta)
}

// ask appends a turn, with or without a change of settings before it.
func (st *settingsStory) ask(c *commit) *commit {
	if st.n("sets", 0, 1) == 0 {
		c = st.set(c)
	}
	at := st.clock[c] + st.n("tick", 1, 3)*10
	name := fmt.Sprint("q", st.turns)
	st.turns++
	elems := Elements(st, c.stream)
	if all := questions(elems); len(all) > 0 {
		st.parent[name] = all[len(all)-1]
	}
	st.ran[name] = plain(st.inForce(c, false))
	if !st.legacy || strings.Contains(string(c.stream), `"turn_start"`) {
		elems = append(elems, fmt.Sprintf(`{"timestamp":%q,"type":"turn_start"}`, stamp(at)))
	}
	elems = append(elems,
		fmt.Sprintf(`{"timestamp":%q,"type":"chat_request","content":%q}`, stamp(at), name),
		fmt.Sprintf(`{"timestamp":%q,"type":"chat_response","message":%q}`, stamp(at+1), "to "+name))
	next := st.child(c, elems)
	st.clock[next] = at + 1
	for _, d := range st.deltas {
		if contains(c, d.in) {
			d.taken[next] = true
		}
	}
	st.Logf("%s: %s asks %s under %v", next.name, c.name, name, st.ran[name])
	return next
}

func contains(c *commit, any map[*commit]bool) bool {
	for one := range any {
		if c == one || c.ancestors[one] {
			return true
		}
	}
	return false
}

// save writes the file as jp does, which keeps metadata and drops unknown members of other
// elements: the settings that a merge restored then look like any others.
func (st *settingsStory) save(c *commit) *commit {
	elems := Elements(st, c.stream)
	next := st.child(c, nil)
	for i, elem := range elems {
		var e struct {
			Type      string
			Timestamp string
			Delta     json.RawMessage
			Seam      bool `json:"git_jp_seam"`
		}
		if err := json.Unmarshal([]byte(elem), &e); err != nil {
			st.Fatal(err)
		}
		if e.Type != "config_delta" || !e.Seam {
			continue
		}
		behind := &appendedDelta{
			at: tenths(e.Timestamp), delta: string(e.Delta),
			in: map[*commit]bool{next: true}, taken: map[*commit]bool{},
		}
		st.deltas = append(st.deltas, behind)
		elems[i] = deltaText(behind)
		if i+1 < len(elems) && !strings.Contains(elems[i+1], "config_delta") {
			behind.taken[next] = true
		}
	}
	next.stream = layOut(elems)
	st.Logf("%s: jp saves %s", next.name, c.name)
	return next
}

// tenths is the inverse of stamp.
func tenths(s string) int {
	at, _ := time.Parse("2006-01-02 15:04:05.0", s)
	return int(at.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) / (100 * time.Millisecond))
}

// work appends to a branch.
func (st *settingsStory) work(c *commit) *commit {
	for range st.n("operations", 1, 3) {
		if st.n("operation", 0, 3) == 0 {
			c = st.set(c)
		} else {
			c = st.ask(c)
		}
	}
	return c
}

// merge merges two commits as git does, see [history.merge].
func (st *settingsStory) merge(a, b *commit, virtual bool) *commit {
	switch {
	case a == b || a.ancestors[b]:
		return a
	case b.ancestors[a]:
		return b
	}
	bases := bestCommon(a, b)
	base := bases[0]
	for _, other := range bases[1:] {
		base = st.merge(base, other, true)
	}
	do := threeway.Merge
	if virtual {
		do = threeway.VirtualBase
	}
	side := func(c *commit) threeway.Side {
		s, err := events.Decode(c.stream)
		if err != nil {
			st.Fatal(err)
		}
		return threeway.Side{Stream: s, BaseConfig: c.config}
	}
	*st.merges++
	r, err := do(side(base), side(a), side(b))
	if err != nil || len(r.Conflicts) > 0 {
		st.Fatalf("merge: %v, %d conflicts", err, len(r.Conflicts))
	}
	c := st.child(a, nil)
	c.stream, c.parents, c.ancestors[b] = r.Stream.Encode(), []*commit{a, b}, true
	maps.Copy(c.ancestors, b.ancestors)
	st.clock[c] = max(st.clock[a], st.clock[b])
	st.Logf("%s merges %s and %s, base %s", c.name, a.name, b.name, base.name)
	if !virtual {
		st.check(c)
	}
	return c
}

// check compares the configuration of each turn, and of the next question.
func (st *settingsStory) check(c *commit) {
	next := decoded(st.base)
	got := ranIn(st, c)
	order := questions(Elements(st, c.stream))
	st.checkParents(c, order)
	for _, name := range order {
		if !reflect.DeepEqual(got[name], st.ran[name]) {
			st.Fatalf("%s: %s runs under %v, not %v\n%s", c.name, name, got[name], st.ran[name], c.stream)
		}
		next = overlaid(next, st.ran[name])
	}
	left := st.inForce(c, true)
	if len(order) > 0 {
		next = besideShape(next, overlaid(plain(left), st.ran[order[len(order)-1]]))
	}
	if !reflect.DeepEqual(plain(left), next) {
		st.Fatalf("%s: the last turn leaves %v, not %v\n%s", c.name, plain(left), next, c.stream)
	}
	want, unsure := st.behind(c, left)
	is := plain(st.inForce(c, false)).(map[string]any)
	for _, name := range unsure {
		delete(is, name)
		delete(want, name)
	}
	if !reflect.DeepEqual(is, want) {
		st.Fatalf("%s: the next question runs under %v, not %v\n%s", c.name, is, want, c.stream)
	}
}

// checkParents compares which question each question followed.
func (st *settingsStory) checkParents(c *commit, order []string) {
	if st.legacy {
		return // several turns can count as one
	}
	s, err := events.Decode(c.stream)
	if err != nil {
		st.Fatal(err)
	}
	for i, parent := range threeway.Parents(s) {
		is := ""
		if parent >= 0 {
			is = order[parent]
		}
		if want := st.parent[order[i]]; is != want {
			st.Fatalf("%s: %s follows %q, not %q\n%s", c.name, order[i], is, want, c.stream)
		}
	}
}

// questions returns the questions, in order.
func questions(elems []string) []string {
	var all []string
	for _, elem := range elems {
		var e struct{ Type, Content string }
		if json.Unmarshal([]byte(elem), &e) == nil && e.Type == "chat_request" {
			all = append(all, e.Content)
		}
	}
	return all
}

// behind adds the settings that no question follows yet: each in the order of their times, unless a
// newer one of a turn sets the same key. unsure lists keys whose value was restored that way and
// may have lost its merge strategy, as plain values do.
func (st *settingsStory) behind(
	c *commit, state settings.Config,
) (want map[string]any, unsure []string) {
	var open, newer []*appendedDelta
	for _, d := range st.deltas {
		switch {
		case !contains(c, d.in):
		case contains(c, d.taken):
			newer = append(newer, d)
		default:
			open = append(open, d)
		}
	}
	slices.SortStableFunc(open, func(a, b *appendedDelta) int { return a.at - b.at })
	for _, d := range open {
		delta, err := settings.Parse([]byte(d.delta), 0)
		if err != nil {
			st.Fatal(err)
		}
		was := plain(state)
		state = state.Merge(delta)
		now := plain(state)
		for _, other := range newer {
			if other.at > d.at {
				now = putBack(now, was, decoded(other.delta))
			}
		}
		for name, v := range now.(map[string]any) {
			if !reflect.DeepEqual(v, plain(state).(map[string]any)[name]) {
				state = state.Without(name).Merge(parsed(st, map[string]any{name: v}))
				unsure = append(unsure, name)
			}
		}
	}
	want, _ = plain(state).(map[string]any)
	return want, unsure
}

// putBack returns now with the values of was where by has a value.
func putBack(now, was, by any) any {
	n, ok1 := now.(map[string]any)
	w, ok2 := was.(map[string]any)
	b, ok3 := by.(map[string]any)
	if !ok1 || !ok2 || !ok3 || b["strategy"] != nil {
		return was
	}
	n = maps.Clone(n)
	for name := range b {
		if v, had := w[name]; had {
			n[name] = putBack(n[name], v, b[name])
		}
	}
	return n
}

// overlaid returns settings with others on top, which is what a turn with other settings leaves to
// the next: a setting can be replaced but not removed.
func overlaid(state, other any) any {
	s, ok1 := state.(map[string]any)
	o, ok2 := other.(map[string]any)
	if !ok1 || !ok2 {
		return other
	}
	s = maps.Clone(s)
	for name, v := range o {
		if was, ok := s[name]; ok {
			v = overlaid(was, v)
		}
		s[name] = v
	}
	return s
}

// besideShape returns settings with the value of another for the one key whose type varies: what
// remains of it also depends on what was between two turns.
func besideShape(state, other any) any {
	s := maps.Clone(state.(map[string]any))
	delete(s, "shape")
	if shape, ok := other.(map[string]any)["shape"]; ok {
		s["shape"] = shape
	}
	return s
}

func decoded(text string) any {
	var v any
	_ = json.Unmarshal([]byte(text), &v)
	return v
}

func parsed(t interface{ Fatal(...any) }, v any) settings.Config {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	c, err := settings.Parse(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain returns a configuration without the nulls that mean absent.
func plain(c settings.Config) any {
	v := decoded(string(c.Plain()))
	var drop func(v any, free bool)
	drop = func(v any, free bool) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for name, x := range m {
			if x == nil && !free {
				delete(m, name)
			}
			drop(x, free || name == "values")
		}
	}
	drop(v, false)
	return v
}

// inForce returns the configuration of the next question, as jp reads the file, or what the last
// turn leaves.
func (st *settingsStory) inForce(c *commit, left bool) settings.Config {
	s, err := events.Decode(c.stream)
	if err != nil {
		st.Fatal(err)
	}
	base, err := settings.Parse(c.config, 0)
	if err != nil {
		st.Fatal(err)
	}
	end := s.Len()
	for left && end > 0 && s.At(end-1).Kind() == events.KindConfigDelta {
		end--
	}
	config, err := settings.InForce(s, base, end, 0)
	if err != nil {
		st.Fatal(err)
	}
	return config
}

// ranIn returns the configuration that each turn ran with, according to the file.
func ranIn(st *settingsStory, c *commit) map[string]any {
	s, err := events.Decode(c.stream)
	if err != nil {
		st.Fatal(err)
	}
	base, _ := settings.Parse(c.config, 0)
	ran, start := map[string]any{}, -1
	for i, e := range s.All() {
		if e.Kind() == events.KindTurnStart {
			start = i
		}
		q, ok := e.Event().(*events.ChatRequest)
		if !ok {
			continue
		}
		at := i
		if start >= 0 {
			at = start
		}
		config, err := settings.InForce(s, base, at, 0)
		if err != nil {
			st.Fatal(err)
		}
		if start >= 0 {
			config = withoutUnset(config, s.At(start))
		}
		ran[q.Content], start = plain(config), -1
	}
	return ran
}

func withoutUnset(c settings.Config, start *events.Element) settings.Config {
	v, ok := start.Metadata().Value(events.MetadataUnset)
	if !ok {
		return c
	}
	var pointers []string
	_ = json.Unmarshal(v, &pointers)
	for _, p := range pointers {
		c = c.Without(slices.Collect(jsontext.Pointer(p).Tokens())...)
	}
	return c
}

// all merges the tips in random order until one commit has all of them.
func (st *settingsStory) all(tips []*commit) *commit {
	pool := slices.Clone(tips)
	has := func(c *commit) bool {
		return !slices.ContainsFunc(tips, func(t *commit) bool { return c != t && !c.ancestors[t] })
	}
	for range 8 {
		c := st.merge(pool[st.n("one", 0, len(pool)-1)], pool[st.n("other", 0, len(pool)-1)], false)
		if has(c) {
			return c
		}
		if !slices.Contains(pool, c) {
			pool = append(pool, c)
		}
	}
	c := pool[st.n("from", 0, len(pool)-1)]
	for _, t := range rapid.Permutation(tips).Draw(st.T, "order") {
		c = st.merge(c, t, false)
	}
	return c
}

func tellSettings(rt *rapid.T, merges *int) {
	st := &settingsStory{
		T: rt, ran: map[string]any{}, parent: map[string]string{}, clock: map[*commit]int{}, merges: merges,
		base: `{"model":{"id":"m"},"tools":["t"]}`,
	}
	st.legacy = st.n("legacy", 0, 5) == 0
	root := &commit{
		name: "o", stream: events.New().Encode(), config: []byte(st.base),
		ancestors: map[*commit]bool{},
	}
	for range st.n("first", 0, 2) {
		root = st.ask(root)
	}
	tips := make([]*commit, st.n("branches", 3, 5))
	for i := range tips {
		tips[i] = st.work(root)
	}
	for range st.n("criss-cross", 0, 2) {
		a, b := st.n("one", 0, len(tips)-1), st.n("other", 0, len(tips)-1)
		m, n := st.merge(tips[a], tips[b], false), st.merge(tips[b], tips[a], false)
		if st.n("saved by jp", 0, 2) == 0 {
			m = st.save(m)
		}
		tips = append(tips, st.work(m), st.work(n))
	}
	first := st.all(tips)
	for range 3 {
		if c := st.all(tips); string(c.stream) != string(first.stream) {
			rt.Fatalf("two orders, two results:\n%s\n%s", first.stream, c.stream)
		}
	}
}

// The short run has the same histories each time; see [TestMergeHistories].
func TestMergeSettings(t *testing.T) {
	checks, seed := "80", "1"
	if os.Getenv("GIT_JP_SOAK") != "" {
		checks, seed = "10000", strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		setFlag(t, "rapid.seed", seed)
	}
	if flag.Lookup("rapid.checks").Value.String() == "100" {
		setFlag(t, "rapid.checks", checks)
	}
	merges := 0
	rapid.Check(t, func(rt *rapid.T) { tellSettings(rt, &merges) })
	t.Logf("seed %s: %d merges", flag.Lookup("rapid.seed").Value, merges)
}
