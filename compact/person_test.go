package compact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// rejected is how Claude Code begins the result of a call that was refused.
const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected " +
	"(eg. if it was a file edit, the new_string was NOT written to the file). "

// A form is a way in which a person's words are recorded. A result that begins with "!" is an
// error.
type form struct{ tool, result string }

// forms returns the ways in which this program, jp and other agents record a person's words about a
// call; %s is replaced by the words.
func forms() []form {
	return []form{
		{"fs_modify_file", "Tool skipped by user: %s"},
		{"fs_read_file", "Tool skipped by user: %s"},
		{"fs_modify_file", "!partial output\n\nTool call was interrupted by the user, who says: %s"},
		{"Edit", "!" + rejected + "To tell you how to proceed, the user said:\n%s"},
		{"Bash", "!The user doesn't want to take this action right now: %s"},
		{"AskUserQuestion", `User has answered your questions: "Where to?"="%s". You can now continue`},
		{"mcp__desk__ask_user", "%s"},
		{"ExitPlanMode", "User has approved your plan. You can now start coding.\n\n%s"},
		{"ExitPlanMode", "!" + rejected + "STOP what you are doing: %s"},
		{"Write", "The file a has been updated. The user modified your proposed changes: %s"},
		{"execute_command", "The user denied this operation and provided the following feedback:\n%s"},
		{"shell", "!exec command rejected by user: %s"},
		{"request_user_input", `{"answers":{"q":"%s"}}`},
	}
}

// said adds a call with a person's words in the n-th form. The last forms are only recognized by
// metadata.
func (k *talk) said(n int, args, words string) {
	all := forms()
	if n < len(all) {
		k.call(all[n].tool, args, fmt.Sprintf(all[n].result, words))
		return
	}
	k.call("fs_modify_file", args, words+"\n"+long)
	last := &k.elems[len(k.elems)-1]
	id := fmt.Sprint("c", k.calls)
	if n == len(all) {
		ask := fmt.Sprintf(`{"text":"Apply?","answer_type":{"type":"text"},"default":%q}`, words)
		request := &events.InquiryRequest{
			ID: id + ".apply", Source: jsontext.Value(`{"source":"tool"}`), Question: jsontext.Value(ask),
		}
		answer := &events.InquiryResponse{ID: id + ".apply", Answer: jsontext.Value(`false`)}
		result := *last
		*last = events.NewElement(second(len(k.elems)-1), request, events.Metadata{})
		k.add(answer)
		k.elems = append(k.elems, result)
		return
	}
	md, err := compact.WithPerson((*last).Metadata(), compact.Person{Did: "edited-result"})
	if err != nil {
		panic(err)
	}
	*last = (*last).WithMetadata(md)
}

// given returns everything that a model is given of a stream.
func given(s *events.Stream) string { return told(dedup.Trim(s.Project().Stream)) }

// TestAPersonsWordsStay compacts random conversations in random ways. The model still receives
// everything that a person said about a call, and no call that was refused or failed appears to
// have succeeded.
func TestAPersonsWordsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := new(talk)
		words := randomTalk(t, k)
		s := k.stream()
		good := worked(s)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			var how string
			s, how = compacted(t, s)
			text := given(s)
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Fatalf("%s lost %q:\n%s", how, w, text)
				}
			}
			for _, c := range s.Calls() {
				if r, ok := s.At(c.Response).Event().(*events.ToolCallResponse); ok && !good[c.ID] {
					if got, err := r.Text(nil); err != nil || strings.Contains(got, ": success") {
						t.Fatalf("%s: %s was refused or failed, and says %s (%v)", how, c.ID, got, err)
					}
				}
			}
		}
	})
}

// randomTalk fills a conversation, and returns a person's words in it.
func randomTalk(t *rapid.T, k *talk) (words []string) {
	paths := rapid.SampledFrom([]string{`{"path":"a"}`, `{"path":"b"}`})
	for n := range rapid.IntRange(2, 5).Draw(t, "turns") {
		k.turn(fmt.Sprint("question ", n)).think("hm")
		for range rapid.IntRange(0, 5).Draw(t, "calls") {
			args := paths.Draw(t, "args")
			switch m := rapid.IntRange(0, len(forms())+5).Draw(t, "call"); {
			case m <= len(forms())+1:
				w := fmt.Sprintf("never-%d-change ", len(words)) + strings.Repeat("the table ", 15)
				words = append(words, w)
				k.said(m, args, w)
			case m == len(forms())+2:
				k.call("fs_modify_file", args, "!"+long)
			case m == len(forms())+3:
				k.call("shell", args, "Process exited with code 2\n"+long)
			default:
				k.call("fs_read_file", args, fmt.Sprint(n, "\n", long))
			}
		}
		k.say("done " + long)
	}
	return words
}

// worked returns the calls whose results come from their tools, without an error.
func worked(s *events.Stream) map[string]bool {
	good := map[string]bool{}
	for _, c := range s.Calls() {
		r, ok := s.At(c.Response).Event().(*events.ToolCallResponse)
		good[c.ID] = ok && c.Name == "fs_read_file" && !r.IsError
	}
	return good
}

// compacted applies one random compaction to a stream.
func compacted(t *rapid.T, s *events.Stream) (_ *events.Stream, how string) {
	switch rapid.IntRange(0, 3).Draw(t, "way") {
	case 0:
		spec := rapid.SampledFrom([]string{"r+t:..", "t=omit:..", "t=sreq:..", "t=sres:..", "s:.."}).
			Draw(t, "policy")
		p, err := compact.ParsePolicy(spec)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := compact.Overlay{Now: second(100)}.Apply(t.Context(), s, []compact.Policy{p})
		if err != nil {
			return s, "nothing" // a summary that is refused
		}
		return out, "overlay " + spec
	case 1:
		obsolete, err := compact.Obsolete(s, compact.ObsoleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out := s.Clone()
		for _, o := range obsolete {
			out.Set(o.Element, dedup.WithTrimmed(out.At(o.Element), nil))
		}
		return out, "trimming"
	default:
		names := append(compact.Mechanical(), compact.Summarize, compact.Auto)
		o := compact.Options{
			Strategies: rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "strategies"),
			KeepLast:   rapid.IntRange(0, 1).Draw(t, "keep"),
			Budget:     rapid.SampledFrom([]int64{0, 1}).Draw(t, "budget"),
			Now:        second(100),
			Hint:       eagerHint, Subsumer: &asked{says: func(string, string) bool { return true }},
		}
		r, err := compact.Run(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		return r.Stream, strings.Join(o.Strategies, ", ")
	}
}

// eagerHint allows everything that can be removed.
func eagerHint(tool string) compact.Hint {
	h := compact.Hint{Response: compact.Remove, Dedup: true, Subsumes: "tool"}
	if tool == "fs_read_file" {
		h.Response, h.Subsumes = compact.Strip, "io-content"
	}
	return h
}

// TestARefusalReplacesNothing checks that a result is kept if the same call was later refused,
// skipped or failed, and that a refused edit does not count as a change of a file.
func TestARefusalReplacesNothing(t *testing.T) {
	const path = `{"path":"a"}`
	for _, later := range []string{
		"Tool skipped by user.", "Tool skipped by configuration.",
		"Result delivery skipped by user.", "!Tool call was interrupted.",
	} {
		s := new(talk).turn("1").call("fs_read_file", path, long).turn("2").
			call("fs_read_file", path, later).turn("3").stream()
		for _, name := range []string{compact.DedupTools, compact.TrimSuperseded} {
			got := run(t, s, compact.Options{Strategies: []string{name}, KeepLast: 1})
			if !strings.Contains(given(got.Stream), long) {
				t.Errorf("%s: %q replaced what was read: %s", name, later, told(got.Stream))
			}
		}
	}
	edits := new(talk).turn("1").call("Edit", `{"file_path":"kept"}`, "patch rejected by user").
		call("Edit", `{"file_path":"made"}`, "done")
	if f := compact.FactsOf(edits.elems, nil); !slices.Equal(f.Paths, []string{"made"}) {
		t.Errorf("changed files are %q", f.Paths)
	}
}

// TestPlainResultsAreStripped checks that ordinary results are still recognized as such.
func TestPlainResultsAreStripped(t *testing.T) {
	for _, result := range []string{
		"the user table has 3 rows\n" + long, "package user\n" + long, "exit code: 0\n" + long,
		"     1→package cli\n     2→// what the user typed\n" + long,
	} {
		s := new(talk).turn("1").call("read", `{}`, result).turn("2").stream()
		got := run(t, s, compact.Options{Strategies: []string{compact.StripToolResults}, KeepLast: 1})
		if text := told(got.Stream); !strings.Contains(text, "[compacted] read: success") {
			t.Errorf("%.40q stayed: %.80s", result, text)
		}
	}
}

// TestWordsInResources checks that a person's words in a resource count too, and that the text of a
// file is its author's.
func TestWordsInResources(t *testing.T) {
	for uri, kept := range map[string]bool{"tool://answer": true, "file:///$WORKSPACE/a.md": false} {
		var k talk
		k.turn("q").call("Bash", `{"command":"git push"}`, long)
		words := rejected + "To tell you how to proceed, the user said:\nnever push\n" + long
		last := k.elems[len(k.elems)-1]
		r := *last.Event().(*events.ToolCallResponse)
		r.Blocks = []events.Block{{Type: events.BlockResource, Resource: &events.Resource{
			URI: uri, Content: blobs.Loaded([]byte(words)),
		}}}
		k.elems[len(k.elems)-1] = last.With(&r)
		k.say("a").turn("r").say("b")
		out := run(t, k.stream(), compact.Options{Strategies: []string{compact.StripToolResults}, KeepLast: 1})
		got := strings.Contains(string(out.Stream.Encode()), "never push")
		if got != kept {
			t.Errorf("%s: its words are there: %t, want %t", uri, got, kept)
		}
	}
}
