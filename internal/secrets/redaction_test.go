package secrets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
)

// memory is a store in memory.
type memory map[blobs.Hash][]byte

func (m memory) Read(r blobs.Ref) ([]byte, error) {
	if b, ok := m[r.Hash]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) refer(s string) blobs.Content {
	c := blobs.Loaded([]byte(s))
	m[c.Ref().Hash] = []byte(s)
	return blobs.Refer(c.Ref())
}

const conversation = events.ID(17000000000)

func moment(n int) time.Time { return time.Date(2026, 3, 4, 5, 6, n, 0, time.UTC) }

// leaked returns a stream with a secret in each place that can contain one.
func leaked(t *testing.T, m memory, secret string) *events.Stream {
	t.Helper()
	s := events.New(
		events.NewElement(moment(0), &events.ConfigDelta{Delta: []byte(`{"a":["` + secret + `"]}`)},
			events.Metadata{}),
		events.NewElement(moment(1), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(moment(2), &events.ChatRequest{
			Content: "use " + secret + " and " + secret, Resources: []events.Resource{{
				URI: "https://x.invalid/?" + secret, MIMEType: "text/plain", Content: m.refer("c " + secret),
			}, {URI: "a.png", MIMEType: "image/png", Content: m.refer(secret)}},
		}, events.Metadata{}),
		events.NewElement(moment(3), &events.ChatResponse{Form: events.FormReasoning, Text: "hm " + secret},
			events.Metadata{}.WithText("anthropic_thinking_signature", secret)),
		events.NewElement(moment(4), &events.ChatResponse{Text: "said " + secret}, events.Metadata{}),
		events.NewElement(moment(5), &events.ToolCallRequest{
			ID: secret, Name: "bash", Arguments: []byte(`{"a/b":[1.50,"` + secret + `"]}`),
		}, events.Metadata{}.WithText("git_jp_arguments", secret)),
		events.NewElement(moment(6), &events.ToolCallResponse{ID: "x", Blocks: []events.Block{
			{Type: events.BlockText, Content: m.refer("out " + secret)},
			{Type: events.BlockImage, MIMEType: "image/png", Content: m.refer(secret)},
		}}, events.Metadata{}),
	)
	record := `{"timestamp":"2026-03-04 05:06:09.0","type":"git_jp_agent_record","uuid":"` + secret +
		`","data":` + refText(m, "r "+secret) + `,"text":"` + secret + `"}`
	more, err := events.Decode([]byte("[" + record + "]"))
	if err != nil {
		t.Fatal(err)
	}
	s.Append(more.At(0))
	return s
}

func refText(m memory, s string) string {
	r := m.refer(s).Ref()
	return `{"$blob":"` + r.Hash.String() + `","size":` + strconv.FormatInt(r.Size, 10) + `}`
}

func token() string { return "gh" + "p_" + "8sKd02mXo3Qp9vTz4Lr7Wn1Yc5Hb6Jf0Ge2a" }

func findings(t *testing.T, s *events.Stream, m memory) []secrets.Finding {
	t.Helper()
	scanner := secrets.Scanner{Rules: secrets.Builtin()}
	found, err := scanner.Stream(conversation, s, nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// redactions returns entries for findings.
func redactions(t *testing.T, s *events.Stream, m memory, found []secrets.Finding) secrets.Redactions {
	t.Helper()
	rs := secrets.NewRedactions(nil)
	for _, f := range found {
		var text []byte
		for _, x := range secrets.Texts(s.At(f.Element)) {
			if x.Member == f.Member {
				var err error
				if text, err = x.Content.Bytes(m); err != nil {
					t.Fatal(err)
				}
			}
		}
		r := secrets.Redaction{
			Conversation: f.Conversation, Event: f.Event, Member: f.Member,
			Ranges: []secrets.Range{secrets.NewRange(text, f.Match)},
		}
		read, err := secrets.ParseRedaction(r.Name(), r.Encode())
		if err != nil {
			t.Fatal(err)
		}
		rs.Add(read)
	}
	return rs
}

// TestEveryPlaceIsScannedAndRedacted checks all places that can contain text, and that exempt ones
// are left as they are.
func TestEveryPlaceIsScannedAndRedacted(t *testing.T) {
	m := memory{}
	s := leaked(t, m, token())
	found := findings(t, s, m)
	var members []string
	for _, f := range found {
		members = append(members, f.Member)
	}
	want := []string{
		"/delta/a/0", "/content", "/content", "/resources/0/uri", "/resources/0/content", "/reasoning",
		"/message", "/arguments/a~1b/1", "/metadata/git_jp_arguments", "/content/0/content", "/data", "/text",
	}
	if !slices.Equal(members, want) {
		t.Fatalf("found in %q, want %q", members, want)
	}
	rs := redactions(t, s, m, found)
	done, err := rs.Apply(conversation, s, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range done.Store {
		m[blobs.Sum(b)] = b
	}
	if left := findings(t, done.Stream, m); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
	if done.Stream.Len() != s.Len()-1 {
		t.Errorf("reasoning with a signature is there: %d elements", done.Stream.Len())
	}
	if err := done.Stream.Validate(); err != nil {
		t.Error(err)
	}
	text := string(done.Stream.Encode())
	if !strings.Contains(text, "use [redacted:github-token] and [redacted:github-token]") ||
		!strings.Contains(text, `1.50`) {
		t.Errorf("stream: %s", text)
	}
	again, err := rs.Apply(conversation, done.Stream, m)
	if err != nil || len(again.Replaced) > 0 || again.Stream != done.Stream {
		t.Errorf("a second time: %+v, %v", again.Replaced, err)
	}
}

// TestRedactionsMeet checks that two people who redact different ranges of one text get the same
// result in either order, and that an entry does not change another text.
func TestRedactionsMeet(t *testing.T) {
	stream := func(text string) *events.Stream {
		return events.New(events.NewElement(moment(1), &events.ChatRequest{Content: text}, events.Metadata{}))
	}
	original := "one SECRET1 two SECRET22 three"
	key := stream("").Keys()[0]
	entry := func(from, to int) secrets.Redaction {
		g := secrets.NewRange([]byte(original), secrets.Match{Rule: "text", Start: from, End: to})
		return secrets.Redaction{
			Conversation: conversation.Digits(), Event: key, Member: "/content", Ranges: []secrets.Range{g},
		}
	}
	apply := func(text string, rs ...secrets.Redaction) string {
		done, err := secrets.NewRedactions(rs).Apply(conversation, stream(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		ev, _ := done.Stream.At(0).Event().(*events.ChatRequest)
		return ev.Content
	}
	a, b := entry(4, 11), entry(16, 24)
	want := "one [redacted:text] two [redacted:text] three"
	for _, rs := range [][2]secrets.Redaction{{a, b}, {b, a}} {
		first := apply(original, rs[0])
		if got := apply(first, rs[0], rs[1]); got != want {
			t.Errorf("one after the other: %q", got)
		}
		if got := apply(first, rs[1], rs[0]); got != want {
			t.Errorf("together: %q", got)
		}
	}
	if at := secrets.Original([]byte(apply(original, a)), a.Ranges, 24); at != 16 {
		t.Errorf("position 24 was %d, not 16", at)
	}
	for _, other := range []string{"", "one", "one SECRET9 two SECRET33 three", strings.Repeat("x", 99)} {
		if got := apply(other, a, b); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}

// TestRedactionsOverlap checks that of two redactions that overlap both count, and that an entry
// that does not match the text takes nothing from another.
func TestRedactionsOverlap(t *testing.T) {
	const original = "one alpha-SECRET-beta two SECRET22 three"
	key := events.New(events.NewElement(
		moment(1), &events.ChatRequest{Content: original}, events.Metadata{})).Keys()[0]
	entry := func(text string, from, to int) secrets.Redaction {
		g := secrets.NewRange([]byte(text), secrets.Match{Rule: "text", Start: from, End: to})
		return secrets.Redaction{
			Conversation: conversation.Digits(), Event: key, Member: "/content", Ranges: []secrets.Range{g},
		}
	}
	apply := func(text string, rs ...secrets.Redaction) string {
		s := events.New(events.NewElement(moment(1), &events.ChatRequest{Content: text}, events.Metadata{}))
		done, err := secrets.NewRedactions(rs).Apply(conversation, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev, _ := done.Stream.At(0).Event().(*events.ChatRequest)
		return ev.Content
	}
	left, right, inner, later := entry(original, 4, 16), entry(original, 10, 21), entry(original, 10, 16), entry(original, 26, 34)
	other := entry(strings.Repeat("x", 99), 0, 30)
	const m = "[redacted:text]"
	for name, c := range map[string]struct {
		want string
		rs   []secrets.Redaction
	}{
		"both":      {"one " + m + m + " two " + m + " three", []secrets.Redaction{right, later, left}},
		"all":       {"one " + m + m + " two " + m + " three", []secrets.Redaction{inner, right, later, left}},
		"inner":     {"one " + m + "-beta two " + m + " three", []secrets.Redaction{inner, left, later}},
		"unrelated": {"one " + m + "-beta two " + m + " three", []secrets.Redaction{other, left, later}},
	} {
		got := apply(original, c.rs...)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if again := apply(got, c.rs...); again != got {
			t.Errorf("%s, again: %q, want %q", name, again, got)
		}
	}
}

// TestCiphertextBehindARedactionGoes checks that reasoning that only the provider can read is
// removed if the model had seen the secret before it in that turn.
func TestCiphertextBehindARedactionGoes(t *testing.T) {
	cipher := events.Metadata{}.WithText("openai_encrypted_content", "gAAAA")
	reasoning := func(n int) *events.Element {
		return events.NewElement(moment(n), &events.ChatResponse{Form: events.FormReasoning}, cipher)
	}
	s := events.New(
		events.NewElement(moment(0), &events.TurnStart{}, events.Metadata{}), reasoning(1),
		events.NewElement(moment(2), &events.ChatRequest{Content: token()}, events.Metadata{}), reasoning(3),
		events.NewElement(moment(4), &events.TurnStart{}, events.Metadata{}), reasoning(5),
	)
	m := memory{}
	done, err := redactions(t, s, m, findings(t, s, m)).Apply(conversation, s, m)
	if err != nil {
		t.Fatal(err)
	}
	var times []int
	for _, e := range done.Stream.All() {
		times = append(times, e.Time().Second())
	}
	if want := []int{0, 1, 2, 4, 5}; !slices.Equal(times, want) {
		t.Errorf("left: %v, want %v", times, want)
	}
}

// TestFingerprints checks that a fingerprint does not change when a finding before it is redacted,
// distinguishes values, and reveals nothing else about them.
func TestFingerprints(t *testing.T) {
	m := memory{}
	two := "a " + token() + " b " + token()[:38] + "zz"
	said := func(text string) *events.Stream {
		return events.New(events.NewElement(moment(1), &events.ChatRequest{Content: text}, events.Metadata{}))
	}
	found := findings(t, said(two), m)
	after, _ := secrets.Builtin().Redact([]byte("a " + token()))
	left := findings(t, said(string(after)+two[2+len(token()):]), m)
	if len(found) != 2 || len(left) != 1 || found[1].Fingerprint() != left[0].Fingerprint() ||
		found[0].Fingerprint() == found[1].Fingerprint() {
		t.Fatalf("found %+v, left %+v", found, left)
	}
	request := func(first, second string) *events.Stream {
		return events.New(events.NewElement(moment(1), &events.ChatRequest{
			Content: first, Resources: []events.Resource{{URI: "x:y", Content: m.refer(second)}},
		}, events.Metadata{}))
	}
	both := findings(t, request(token(), token()), m)
	left = findings(t, request(string(after), token()), m)
	if len(both) != 2 || len(left) != 1 || both[1].Fingerprint() != left[0].Fingerprint() {
		t.Errorf("in two texts: found %+v, left %+v", both, left)
	}
	a := found[0].Allowed
	if len(a.Check) != 2 || bytes.Contains(a.Encode(), []byte(token()[4:])) {
		t.Errorf("entry: %s", a.Encode())
	}
	if read, err := secrets.ParseAllowed(a.Name(), a.Encode()); err != nil || read != a {
		t.Errorf("read: %+v, %v", read, err)
	}
}

// TestEntriesOfLaterVersions checks that an entry with more members counts, under its own name, and
// in another layout.
func TestEntriesOfLaterVersions(t *testing.T) {
	r := secrets.Redaction{Conversation: "1", Event: "k", Member: "/m", Ranges: []secrets.Range{
		{From: 1, To: 5, Rule: "x", Check: "aa"},
	}}
	later := bytes.Replace(r.Encode(), []byte("{\n"), []byte("{\n  \"later\": 1.50,\n"), 1)
	sum := sha256.Sum256(later)
	name := secrets.RedactedDir + "/1-" + hex.EncodeToString(sum[:])[:32] + ".json"
	for _, data := range [][]byte{later, bytes.ReplaceAll(later, []byte("\n  "), []byte("\r\n\t"))} {
		read, err := secrets.ParseRedaction(name, data)
		if err != nil || read.Name() != name || !slices.Equal(read.Ranges, r.Ranges) {
			t.Errorf("%s: %+v, %v", data, read, err)
		}
	}
	damaged := bytes.Replace(later, []byte("1.50"), []byte("1.5"), 1)
	if _, err := secrets.ParseRedaction(name, damaged); !errors.Is(err, secrets.ErrName) {
		t.Errorf("damaged: %v", err)
	}
}

// TestEntriesOfStrangers checks that entries are parsed strictly.
func TestEntriesOfStrangers(t *testing.T) {
	a := secrets.Allowed{Rule: "jwt", Conversation: "1", Event: "k", Ordinal: 1, Check: "aa"}
	for name, data := range map[string]string{
		"secrets/allowed/x.json": string(a.Encode()),
		a.Name():                 strings.Replace(string(a.Encode()), "jwt", "jwu", 1),
		a.Name() + "":            string(a.Encode()) + "{}",
		"big":                    strings.Repeat(" ", secrets.MaxFile+1),
		"unknown":                `{"all": true}`,
	} {
		if _, err := secrets.ParseAllowed(name, []byte(data)); err == nil {
			t.Errorf("%s is read: %.80s", name, data)
		}
	}
	for _, ranges := range [][]secrets.Range{
		{{From: 5, To: 5, Rule: "x"}},
		{{From: -1, To: 5, Rule: "x"}},
		{{From: 1, To: 5, Rule: "x]\n"}},
		{{From: 1, To: 5, Rule: "x"}, {From: 4, To: 9, Rule: "x"}},
	} {
		r := secrets.Redaction{Conversation: "1", Event: "k", Member: "/m", Ranges: ranges}
		if _, err := secrets.ParseRedaction(r.Name(), r.Encode()); err == nil {
			t.Errorf("%+v is read", ranges)
		}
	}
}

// TestExceptionsOfAnEvent checks that an exception allows one value of one event, whatever its
// ordinal is.
func TestExceptionsOfAnEvent(t *testing.T) {
	x := secrets.Exceptions{}
	if x.Digest(conversation) != "" || x.Allow(conversation, "k", "jwt", []byte("v")) {
		t.Error("nothing allows something")
	}
	a := secrets.NewFinding("jwt", conversation, "k~2", 3, []byte("v"))
	x.Add(a)
	one := x.Digest(conversation)
	for _, c := range []struct {
		id          events.ID
		event, rule string
		value       string
		want        bool
	}{
		{conversation, "k", "jwt", "v", true},
		{conversation, "k", "jwt", "w", false},
		{conversation, "l", "jwt", "v", false},
		{conversation, "k", "npm-token", "v", false},
		{conversation + 1, "k", "jwt", "v", false},
	} {
		if x.Allow(c.id, c.event, c.rule, []byte(c.value)) != c.want {
			t.Errorf("%+v is not so", c)
		}
	}
	again := secrets.Exceptions{}
	b := secrets.NewFinding("jwt", conversation, "l~x", 1, []byte("v"))
	for _, e := range []secrets.Allowed{b, a, a} {
		again.Add(e)
	}
	x.Add(b)
	if one == "" || x.Digest(conversation) == one || x.Digest(conversation) != again.Digest(conversation) {
		t.Error("the digest does not name the set")
	}
	if !x.Has(a) || x.Has(secrets.NewFinding("jwt", conversation, "k~2", 2, []byte("v"))) ||
		!x.Allow(conversation, "l~x", "jwt", []byte("v")) {
		t.Error("an entry is another one")
	}
}
