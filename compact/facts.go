package compact

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// Facts holds the facts that a summary must not lose. They are found without a model.
type Facts struct {
	Paths   []string // of written files
	Commits []string // ids of commits that were made or mentioned
	Tasks   []string // that were open when they were last listed
}

// Missing returns the facts that a text does not mention.
func (f Facts) Missing(text string) []string {
	folded := fold(text)
	return slices.Concat(
		lists.Filter(f.Paths, func(p string) bool { return !strings.Contains(text, p) }),
		lists.Filter(f.Commits, func(c string) bool {
			return !strings.Contains(text, c[:min(len(c), shortCommit)])
		}),
		lists.Filter(f.Tasks, func(t string) bool { return !strings.Contains(folded, fold(t)) }),
	)
}

// shortCommit is how many digits of a commit's id have to be mentioned.
const shortCommit = 7

// fold makes texts equal that differ only in case and white space.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// FactsOf finds facts in events. It reads blobs only for results of commits.
func FactsOf(elems []*events.Element, rd blobs.Reader) Facts {
	s := events.New(elems...)
	x := extractor{reader: rd, seen: map[string]bool{}}
	for _, c := range s.Calls() {
		x.call(s, c)
	}
	for _, e := range elems {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			x.tasks(ev.Content)
		case *events.ChatResponse:
			if ev.Form == events.FormMessage {
				x.commits(ev.Text)
				x.tasks(ev.Text)
			}
		}
	}
	return x.facts
}

type extractor struct {
	reader blobs.Reader
	facts  Facts
	seen   map[string]bool
}

// call records the file that a call wrote, or the commits that it made.
func (x *extractor) call(s *events.Stream, c events.Call) {
	in := invocation(s, c)
	if in.Result == nil || outcomeOf(in.Result, x.reader) != succeeded {
		return
	}
	if writes(c.Name) {
		var args struct {
			Path     string `json:"path"`
			FilePath string `json:"file_path"`
			Location string `json:"location"`
		}
		if json.Unmarshal(in.Arguments, &args) == nil {
			x.add(&x.facts.Paths, cmp.Or(args.Path, args.FilePath, args.Location))
		}
	}
	if strings.HasSuffix(c.Name, "commit") {
		if text, err := in.Result.Text(x.reader); err == nil {
			x.commits(text)
		}
	}
}

// writes reports whether a tool is known to write files.
func writes(tool string) bool { return dedup.TradeOf(tool) == dedup.Writer }

func (x *extractor) add(to *[]string, fact string) {
	if fact == "" || x.seen[fact] {
		return
	}
	x.seen[fact] = true
	*to = append(*to, fact)
}

// commits records everything that looks like a commit id: hexadecimal digits, both letters and
// decimals.
func (x *extractor) commits(text string) {
	id := regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	for _, word := range id.FindAllString(text, -1) {
		if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef") {
			x.add(&x.facts.Commits, word)
		}
	}
}

// tasks records the open tasks of the list that was written last.
func (x *extractor) tasks(text string) {
	var open []string
	listed := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"- [ ] ", "* [ ] ", "- [x] ", "* [x] ", "- [X] "} {
			if task, ok := strings.CutPrefix(line, mark); ok {
				listed = true
				if mark[3] == ' ' {
					open = append(open, task)
				}
			}
		}
	}
	if listed {
		x.facts.Tasks = open
	}
}
