package requests_test

import (
	"bytes"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/scripts"
)

// unrun are the commands of the documents that no test can run, and why.
var unrun = map[string]string{
	"make demo":    "it builds the program and plays testdata/demo.sh",
	"make test":    "it is what runs this test",
	"make install": "it builds the program and writes into the home directory",
}

// standIns are names in the documents that a machine without a network does not have, and made-up
// hashes.
const (
	examplePage = "https://example.com/spec"
	exampleHash = "9a0f12ab"
)

// outputs are what some commands print; each other question is answered by a model.
var outputs = map[string]string{
	"git jp models": `(?m)^ *anthropic/claude-haiku-4-5 `,

	"git jp config get assistant.model.id": `^ollama/qwen3:8b\n$`,

	"git jp query --new --explain -m quick 'What would be sent?'": `(?m)^Model: +anthropic/claude-haiku-4-5`,
	"git jp stats --by model":                                     `(?m)^ *openrouter/qwen/qwen3-coder `,
	"git jp config get --workspace providers.llm.aliases.small":   `^ollama/qwen3:8b\n$`,
	"git jp gc":      `(?m)^deleted 2 blobs `,
	"git jp gc undo": `(?m)^restored 2 blobs `,
	"git jp trust":   `nothing here needs an approval`,
	`git jp query "where do we open the index?"`: `No language model is configured(?s:.*)index.go:1`,
}

// endings are the exit codes of commands that find what they look for.
var endings = map[string]int{
	"git commit -m 'Tidy up'": 1,
}

// A block is consecutive lines of a document that a reader types, or writes to a file.
type block struct {
	line int
	file string // for a configuration; "" for commands
	text string
}

// fileNamed finds the file that a sentence before a configuration names.
var fileNamed = regexp.MustCompile("`(~/[^`]+\\.toml)`:$")

// blocks returns what a document shows for typing: indented lines in README.md, fenced ones
// elsewhere.
func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	var before, fence string
	inside := false
	for i, line := range strings.Split(readPage(t, page), "\n") {
		indented, code := strings.CutPrefix(line, "    ")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimPrefix(line, "```")
			inside = false
		case strings.HasPrefix(line, "```"):
			fence = ""
		case fence != "" || code && page == "README.md":
			if fence == "" {
				line = indented
			}
			if !inside {
				all = append(all, block{line: i + 1})
			}
			inside = true
			b := &all[len(all)-1]
			b.text += line + "\n"
			if fence == "toml" && b.file == "" {
				named := fileNamed.FindStringSubmatch(before)
				if named == nil {
					t.Fatalf("%s:%d: no file is named for the configuration", page, i+1)
				}
				b.file = named[1]
			}
		case line != "":
			before, inside = line, false
		}
	}
	return all
}

// A newcomer follows a document, on a machine whose models are all on the loopback device.
type newcomer struct {
	*scripts.Shell
	page    string
	servers map[string]*promptedModel
	met     map[string]bool // commands that were typed
}

// clouds are the providers with invented names in the documents.
var clouds = []models.Provider{
	{Name: "ours", Format: wire.FormatChat},
	{Name: "azure", Format: wire.FormatResponses},
	{Name: "bedrock", Format: wire.FormatChat},
	{Name: "vertex", Format: wire.FormatChat},
}

// newNewcomer begins without a repository.
func newNewcomer(t *testing.T, page string, met map[string]bool) *newcomer {
	t.Helper()
	n := &newcomer{
		Shell: scripts.NewShell(t), page: page, servers: map[string]*promptedModel{}, met: met,
	}
	n.Env.Setenv("GIT_EDITOR", `write() { echo 'Keep what was said' >"$1"; }; write`)
	for _, p := range append(models.Providers(), clouds...) {
		m := servePrompted(t, p.Format)
		n.servers[p.Name] = m
		n.Env.Setenv("JP_CFG_PROVIDERS_LLM_"+strings.ToUpper(p.Name)+"_BASE_URL", m.url)
	}
	return n
}

// do types the commands of a block, or writes its file.
func (n *newcomer) do(b block) {
	n.Helper()
	if b.file != "" {
		n.Write(filepath.Join(n.Env.Getenv("HOME"), b.file[2:]), "\n"+b.text)
		return
	}
	if rest, ok := strings.CutPrefix(b.text, "$ "); ok {
		line, printed, _ := strings.Cut(rest, "\n")
		if got := n.typed(b, line); shape(got) != shape(printed) {
			n.Errorf("%s:%d: %s prints\n%s\nthe document has\n%s", n.page, b.line, line, got, printed)
		}
		return
	}
	for line := range strings.Lines(b.text) {
		if line = strings.TrimSpace(line); line != "" {
			n.typed(b, line)
		}
	}
}

// particular matches the parts of a command's output that depend on the repository.
var particular = regexp.MustCompile(
	`[0-9a-f]{4,}…?(-[a-z-]+)?|turn \d+, call \S+ \(\w+\)|\([^)]*\)|[0-9a-f]{2}/[0-9a-f]{2}/\S+`)

func shape(text string) string { return particular.ReplaceAllString(text, "*") }

// typed runs one line. A question has to reach its model, and to be answered.
func (n *newcomer) typed(b block, line string) string {
	n.Helper()
	command, _, _ := strings.Cut(line, " #")
	command = strings.TrimSpace(command)
	n.met[command] = true
	if _, ok := unrun[command]; ok {
		return ""
	}
	if set, ok := strings.CutPrefix(command, "export "); ok {
		name, value, _ := strings.Cut(set, "=")
		n.Env.Setenv(name, value)
		return ""
	}
	want := endings[command]
	asked := n.asked(provider(command))
	out, code := n.Run(n.standIn(command))
	if code != want {
		n.Errorf("%s:%d: %s ends with %d, want %d\n%s", n.page, b.line, command, code, want, out)
	}
	pattern := outputs[command]
	if pattern == "" && strings.HasPrefix(command, "git jp query") {
		pattern = `(?m)^\{"name":"x"\}$`
		if who := provider(command); n.asked(who) == asked {
			n.Errorf("%s:%d: %s does not ask %s", n.page, b.line, command, who)
		}
	}
	if !regexp.MustCompile(pattern).MatchString(out) {
		n.Errorf("%s:%d: %s prints\n%s\nwant %s", n.page, b.line, command, out, pattern)
	}
	return out
}

// standIn replaces what a document made up by real values.
func (n *newcomer) standIn(command string) string {
	n.Helper()
	if strings.Contains(command, exampleHash) {
		names, err := filepath.Glob(filepath.Join(n.Dir, ".jp/blobs/*/*/*.gz"))
		if err != nil || len(names) == 0 {
			n.Fatalf("%s: there is no blob", command)
		}
		rel, _ := filepath.Rel(filepath.Join(n.Dir, ".jp/blobs"), names[0])
		hash := strings.ReplaceAll(strings.TrimSuffix(rel, ".blob.gz"), "/", "")
		command = strings.ReplaceAll(command, exampleHash, hash[:12])
	}
	return strings.ReplaceAll(command, examplePage, n.Env.Getenv("PAGE"))
}

// provider returns the provider of the model that a question names, "" if it names none.
func provider(command string) string {
	named := modelNamed.FindStringSubmatch(command)
	return strings.Join(named[min(1, len(named)):], "")
}

var modelNamed = regexp.MustCompile(` (?:-m|--model|-c assistant\.model\.id)[ =](\w+)/`)

// asked returns how many questions have reached the models of a provider, or of all providers for
// "".
func (n *newcomer) asked(provider string) (sum int) {
	for name, m := range n.servers {
		if provider == "" || name == provider {
			sum += m.count()
		}
	}
	return sum
}

// TestNewcomer does everything that two documents tell a new user, word by word.
func TestNewcomer(t *testing.T) {
	met := map[string]bool{}
	t.Run("models", func(t *testing.T) {
		readModels(newNewcomer(t, "docs/models.md", met))
	})
	t.Run("README", func(t *testing.T) {
		readReadme(newNewcomer(t, "README.md", met))
	})
	for _, table := range []iter.Seq[string]{maps.Keys(unrun), maps.Keys(outputs), maps.Keys(endings)} {
		for command := range table {
			if !met[command] {
				t.Errorf("no document has %s", command)
			}
		}
	}
}

func readModels(n *newcomer) {
	n.Helper()
	n.Repository("repo", map[string]string{"a.txt": "one two three\n"})
	for _, b := range blocks(n.T, n.page) {
		n.do(b)
		n.try(b)
	}
	for _, name := range []string{"anthropic", "openai", "google", "openrouter", "ollama", "ours", "azure", "bedrock", "vertex"} {
		if n.servers[name].count() == 0 {
			n.Errorf("%s says nowhere how to ask %s", n.page, name)
		}
	}
}

// try checks that a configuration does what the document says.
func (n *newcomer) try(b block) {
	n.Helper()
	m := n.servers["ollama"]
	m.taken()
	for _, c := range []struct{ after, call, flags, sent string }{
		{"parameters.max_tokens 8192", "", "", `"num_predict":8192`},
		{"parameters.temperature 0.2", "", "", `"temperature":0.2`},
		{`source = "mcp.docs"`, "look {}", "", "the doc"},
		{
			`source = "local"`, `count_words {"path":"a.txt"}`, "",
			"it needs approval, and no user could be asked",
		},
		{
			`source = "local"`, `count_words {"path":"a.txt"}`,
			" -c conversation.tools.count_words.run=unattended", "3 a.txt",
		},
	} {
		if !strings.Contains(b.text, c.after) {
			continue
		}
		if c.call != "" {
			m.calls([]string{c.call})
		}
		n.Must("git jp query --new -m ollama/m" + c.flags + " 'What is here?'")
		if sent := bytes.Join(m.taken(), nil); !bytes.Contains(sent, []byte(c.sent)) {
			n.Errorf("%s:%d: after this the model is not sent %s\n%s", n.page, b.line, c.sent, sent)
		}
	}
}

func readReadme(n *newcomer) {
	n.Helper()
	page := llmtest.Serve(n, llmtest.Reply{Body: []byte("The index is opened once.\n")})
	n.Env.Setenv("PAGE", page.URL+"/spec")
	for _, b := range blocks(n.T, n.page) {
		n.prepare(b)
		n.do(b)
	}
}

// prepare does what happens between two blocks of README.md, or is described in its text.
func (n *newcomer) prepare(b block) {
	n.Helper()
	switch first, _, _ := strings.Cut(b.text, "\n"); {
	case strings.HasPrefix(first, "git jp init"):
		n.Repository("project", conversationFiles("RFD review: rebase"))
	case strings.HasPrefix(first, "git jp print rebase"):
		n.Must("git jp query --id 17738 'and then?'")
	case strings.HasPrefix(first, "$ git commit"):
		n.Repository("tidy", conversationFiles("RFD review"))
		n.Must("git jp init && git jp migrate && git add .jp && git commit -qm 'Keep it'")
		n.Must("git rm -rq .jp/blobs")
	case strings.HasPrefix(first, "git jp query"):
		if n.Env.Getenv("ANTHROPIC_API_KEY") == "" {
			n.Repository("asking", map[string]string{
				"src/index.go":       "package index\n\nfunc OpenIndex(name string) error {\n",
				"docs/deep/index.md": "# The index\n",
			})
		}
	case strings.HasPrefix(first, "git jp models"):
		n.Env.Setenv("ANTHROPIC_API_KEY", "key")
		n.Must("git jp config set --user network.private_hosts 127.0.0.1")
	case strings.HasPrefix(first, "git jp gc"):
		n.Must("git jp stage --all && git commit -qm 'Keep it'")
		n.Must("echo secret >old.txt && git jp query --new --attach old.txt 'Is it needed?'")
		n.Must("git jp rm --yes . && find .jp/blobs -type f -exec touch -d 2026-01-01 {} +")
	case strings.HasPrefix(first, "git jp install"):
		n.Must("git clone -q --bare . ../origin && git clone -q ../origin ../team")
		n.Dir = filepath.Join(n.Env.WorkDir, "team")
		n.Must("git switch -qc topic && git commit -q --allow-empty -m more && git push -qu origin topic")
	}
}

// conversationFiles returns the files of a repository in which jp kept a conversation.
func conversationFiles(title string) map[string]string {
	files := map[string]string{"index.go": "package index\n"}
	for name, text := range scripts.Conversation(title, []string{"the lock is .git/index.lock"}) {
		files[".jp/conversations/17738399468-rfd-review/"+name] = text
	}
	return files
}

// readPage returns a file of the checkout.
func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
