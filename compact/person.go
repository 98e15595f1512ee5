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

// MetadataPerson is the key in a result's metadata under which a query records a person's action on
// the call, see [Person].
const MetadataPerson = events.MetadataPrefix + "person"

// A Person records a person's action on a call.
type Person struct {
	Did string `json:"did"` // "refused", "withheld", "replied", "edited-arguments", "edited-result"
	// Arguments holds the arguments that the call was run with, if the person edited them.
	Arguments jsontext.Value `json:"arguments,omitempty"`
}

// WithPerson returns metadata that records a person's action on a call.
func WithPerson(md events.Metadata, p Person) (events.Metadata, error) {
	v, err := json.Marshal(p)
	if err != nil {
		return md, err
	}
	return md.With(MetadataPerson, v), nil
}

// personOf returns the recorded action of a person on a call.
func personOf(e *events.Element) (p Person) {
	if !e.Metadata().JSON(MetadataPerson, &p) {
		return Person{}
	}
	return p
}

// A listener finds the results of one stream that hold a person's words: a refusal, an answer, a
// correction. No strategy but a summary changes these, and a summary repeats them.
type listener struct {
	contents blobs.Reader
	asked    map[*events.ToolCallResponse]bool // known without reading the text
	gave     map[*events.ToolCallResponse]bool // whether results that were read are plain
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

// answers returns the ids of calls that asked something and got more than a bare "go on" as answer.
// The id of an inquiry begins with that of its call.
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

// holds reports whether a result holds a person's words. A result whose text is missing may.
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

// words returns people's words about the calls of a stream, as a summary repeats them.
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

// shownArguments is how many characters of a call's arguments precede a person's words.
const shownArguments = 200

// mute returns the calls that a later one may replace and that may replace earlier ones: those with
// a result that holds no person's words and that indicates how the call ended.
func (l listener) mute(s *events.Stream, calls []events.Call) []events.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c events.Call) bool {
		if c.Open() {
			return false
		}
		r, ok := s.At(c.Response).Event().(*events.ToolCallResponse)
		return ok && !l.plain(r)
	})
}

// plain reports whether a result is only what its tool returned.
func (l listener) plain(r *events.ToolCallResponse) bool {
	plain, known := l.gave[r]
	if !known {
		plain = !l.holds(r) && outcomeOf(r, l.contents) != unknown
		l.gave[r] = plain
	}
	return plain
}

// spare returns rules that only read plain results, so that a person's words are neither removed
// nor count as the result of a tool, and a refused call counts as changing nothing.
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

// asksPerson reports whether a tool only asks a person, by the names that agents give to such
// tools.
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

// Words by which agents indicate, in the first line of a result, that it comes from a person, and
// that the person refused the call.
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

// quoting lists the words with which agents quote a person further down in a result.
var quoting = []string{
	"the user said:", "The user said:", "The user modified your", "the user modified your",
	"provided the following feedback", "user who says:", "by the user, who says:",
	"[ask_followup_question] Result:",
}

// openingLength bounds the part of a result's first line that is searched.
const openingLength = 300

// saidByPerson reports whether a text is, or quotes, a person's words about a call, in the words of
// this program, of jp and of the agents whose sessions are imported.
func saidByPerson(text string) bool {
	if personal().MatchString(opening(text)) {
		return true
	}
	return slices.ContainsFunc(quoting, func(q string) bool { return strings.Contains(text, q) })
}

// opening returns the first line of a text, up to openingLength bytes.
func opening(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	text = text[:min(len(text), openingLength)]
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// An outcome is the way in which a call ended.
type outcome string

const (
	succeeded outcome = "success"
	failed    outcome = "error"
	unknown   outcome = ""
)

// notDone matches the beginning of results that are no errors although the call did not serve its
// purpose: it was refused or skipped, or its process failed.
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

// textBlock returns the text of a block, or "" for a block of another type; false if the text is
// missing. A resource counts as text of the tool unless it is a file, whose text is its author's.
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
