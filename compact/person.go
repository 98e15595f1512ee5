package compact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// MetadataPerson is the key of a result below which a query records what a person did about
// the call, see [Person].
const MetadataPerson = events.MetadataPrefix + "person"

// A Person says what a person did about a call.
type Person struct {
	Did string `json:"did"` // "refused", "withheld", "replied", "edited-arguments", "edited-result"
	// Arguments are those that the call was run with, where the person edited them.
	Arguments jsontext.Value `json:"arguments,omitempty"`
}

// WithPerson returns metadata that says what a person did about a call.
func WithPerson(md events.Metadata, p Person) (events.Metadata, error) {
	v, err := json.Marshal(p)
	if err != nil {
		return md, err
	}
	return md.With(MetadataPerson, v), nil
}

// personOf returns what is recorded of a person's part in a call.
func personOf(e *events.Element) (p Person) {
	v, ok := e.Metadata().Value(MetadataPerson)
	if !ok || json.Unmarshal(v, &p) != nil {
		return Person{}
	}
	return p
}

// A listener finds the results of one stream that hold a person's words: a refusal, an answer,
// a correction. No strategy but a summary touches these, and a summary repeats them.
type listener struct {
	contents blobs.Reader
	asked    map[*events.ToolCallResponse]bool // known without a look at the text
	gave     map[*events.ToolCallResponse]bool // plain, of what was looked at
}

func listen(s *events.Stream, rd blobs.Reader) listener {
	l := listener{
		contents: rd, asked: map[*events.ToolCallResponse]bool{},
		gave: map[*events.ToolCallResponse]bool{},
	}
	answered := answers(s)
	for _, c := range s.Calls() {
		if c.Open() {
			continue
		}
		e := s.At(c.Response)
		_, recorded := e.Metadata().Value(MetadataPerson)
		if r, ok := e.Event().(*events.ToolCallResponse); ok {
			l.asked[r] = recorded || asksPerson(c.Name) || answered[c.ID]
		}
	}
	return l
}

// answers returns the ids of calls that asked something and were answered by more than a bare
// "go on". The id of an inquiry begins with that of its call.
func answers(s *events.Stream) map[string]bool {
	ids := map[string]bool{}
	for _, e := range s.All() {
		r, ok := e.Event().(*events.InquiryResponse)
		if !ok || string(r.Answer) == "true" {
			continue
		}
		for id := r.ID; id != ""; {
			id = id[:max(strings.LastIndexByte(id, '.'), 0)]
			ids[id] = true
		}
	}
	return ids
}

// holds reports whether a result holds a person's words. One whose text is not here may.
func (l listener) holds(r *events.ToolCallResponse) bool {
	if l.asked[r] {
		return true
	}
	for i := range r.Blocks {
		text, ok := textBlock(&r.Blocks[i], l.contents)
		if !ok || saidByPerson(text) {
			return true
		}
	}
	return false
}

// words returns what persons said about the calls of a stream, as a summary repeats it.
func (l listener) words(s *events.Stream) string {
	var b strings.Builder
	for _, c := range s.Calls() {
		if c.Open() {
			continue
		}
		in := invocation(s, c)
		if in.Result == nil || !l.holds(in.Result) {
			continue
		}
		if text, err := in.Result.Text(absent{l.contents}); err == nil && text != "" {
			args := clip(string(in.Arguments), shownArguments)
			if p := personOf(s.At(c.Response)); len(p.Arguments) > 0 {
				args = string(p.Arguments)
			}
			fmt.Fprintf(&b, "\n\n%s %s:\n%s", c.Name, args, text)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWhat the user said about tool calls, word for word:" + b.String()
}

// shownArguments is how much of the arguments of a call stands before a person's words.
const shownArguments = 200

// mute returns the calls that a later one may replace, and that may replace earlier ones:
// those that came to a result in which nobody spoke, and which says how it went.
func (l listener) mute(s *events.Stream, calls []events.Call) []events.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c events.Call) bool {
		if c.Open() {
			return false
		}
		r, ok := s.At(c.Response).Event().(*events.ToolCallResponse)
		return ok && !l.plain(r)
	})
}

// plain reports whether a result is nothing but what its tool gave.
func (l listener) plain(r *events.ToolCallResponse) bool {
	plain, known := l.gave[r]
	if !known {
		plain = !l.holds(r) && outcomeOf(r, l.contents) != unknown
		l.gave[r] = plain
	}
	return plain
}

// spare returns rules that understand plain results only, so that what a person said neither
// goes nor stands for what a tool gave, and what was refused changed nothing.
func (l listener) spare(rules func(string) []dedup.Rule) func(string) []dedup.Rule {
	return func(tool string) []dedup.Rule {
		all := slices.Clone(rules(tool))
		for i := range all {
			read := all[i].Read
			all[i].Read = func(in dedup.Invocation) ([]dedup.Claim, bool) {
				if in.Result != nil && !l.plain(in.Result) {
					return nil, false
				}
				return read(in)
			}
			if changes := all[i].Changes; changes != nil {
				all[i].Changes = func(in dedup.Invocation) []string {
					if in.Result == nil || !l.plain(in.Result) {
						return nil
					}
					return changes(in)
				}
			}
		}
		return all
	}
}

// asksPerson reports whether a tool does nothing but ask a person, as agents name such tools.
func asksPerson(tool string) bool {
	name := tool[strings.LastIndex(tool, "__")+1:]
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	switch name {
	case "askuser", "askuserquestion", "askuserquestions", "askquestion", "askquestions",
		"question", "askfollowupquestion", "requestuserinput", "askhuman", "exitplanmode",
		"enterplanmode", "planexit", "planmoderespond":
		return true
	default:
		return false
	}
}

// How agents say, in the first line of a result, that it comes from a person, and that the
// person would not have the call.
const (
	refusals = `rejected|refused|declined|denied|cancell?ed|skipped|stopped|aborted|interrupted|` +
		`dismissed`
	refusing = `\buser (?:(?:has )?(?:` + refusals + `)|(?:does|did)(?:n't|n’t| not))\b` +
		`|\b(?:` + refusals + `) by (?:the )?user\b`
	speaking = `\buser (?:has )?(?:said|says|wants|chose|selected|answered|replied|responded|` +
		`approved|modified|edited|provided)\b|\bquestions? (?:has|have) been answered\b`
)

var personal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + refusing + `|` + speaking)
})

// quoting are the words with which agents quote a person further down in a result.
var quoting = []string{
	"the user said:", "The user said:", "The user modified your", "the user modified your",
	"provided the following feedback", "user who says:", "by the user, who says:",
	"[ask_followup_question] Result:",
}

// openingLength is how much of a result's first line is looked at.
const openingLength = 300

// saidByPerson reports whether a text is, or quotes, what a person said about a call, in the
// words of this program, jp and the agents whose sessions are imported.
func saidByPerson(text string) bool {
	if personal().MatchString(opening(text)) {
		return true
	}
	return slices.ContainsFunc(quoting, func(q string) bool { return strings.Contains(text, q) })
}

// opening returns the first line of a text, not more than is looked at.
func opening(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	text = text[:min(len(text), openingLength)]
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// An outcome says how a call went.
type outcome string

const (
	succeeded outcome = "success"
	failed    outcome = "error"
	unknown   outcome = ""
)

// notDone is how a result begins that is no error and yet does not say that the call did what
// it was made for: it was refused or left out, or its process ended otherwise.
var notDone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + refusing + `|\bskipped by configuration\b|` +
		`\bwas not run\b|\bexit(?:ed)?(?: with)?[ _](?:code|status)"?:? ?-?[1-9]`)
})

// outcomeOf returns how a call went, as far as its result says.
func outcomeOf(r *events.ToolCallResponse, rd blobs.Reader) outcome {
	if r.IsError {
		return failed
	}
	for i := range r.Blocks {
		text, ok := textBlock(&r.Blocks[i], rd)
		if !ok || notDone().MatchString(text[:min(len(text), openingLength)]) {
			return unknown
		}
	}
	return succeeded
}

// textBlock returns the text of a block, "" where it is of another type; false when it is not
// here. A resource is what a tool says, too, unless it is a file: what stands in that its author
// said.
func textBlock(b *events.Block, rd blobs.Reader) (string, bool) {
	c := b.Content
	if b.Type == events.BlockResource && b.Resource != nil &&
		events.URIScheme(b.Resource.URI) != "file" {
		c = b.Resource.Content
	} else if b.Type != events.BlockText {
		return "", true
	}
	if c.IsZero() {
		return "", true
	}
	if rd == nil && c.IsRef() {
		return "", false
	}
	data, err := c.Bytes(rd)
	return string(data), err == nil
}
