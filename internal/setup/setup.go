package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/prepare"
)

// Options are the prompter, and the functions that use the answers.
type Options struct {
	Terminal *ask.Prompt
	Getenv   func(string) string
	// Models returns models by the configuration, with these keys of a provider on top.
	Models func(provider string, keys map[string]string) (prepare.Models, error)
	// Set writes a key to the user's own configuration.
	Set func(key, value string) error
	// Note prints how to continue.
	Note func(format string, args ...any)
}

// Run asks, tries the model, and writes the answers.
func Run(ctx context.Context, o Options) error { return (&setup{Options: o}).run(ctx) }

// A setup has the answers so far.
type setup struct {
	Options

	provider models.Provider
	keyEnv   string // "" for the usual one
	address  string // "" for the provider's own
	model    string // provider/name
}

func (s *setup) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.askProvider, s.askKey, s.askModel, s.try,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.write()
}

// line asks for one of several options, by its number or its name; Enter selects the first. Other
// answers are returned unchanged.
func (s *setup) line(question string, options []string) (string, error) {
	hint := ""
	if len(options) > 0 {
		hint = " [" + options[0] + "]"
	}
	answer, err := s.Terminal.Line("%s%s: ", question, hint)
	if err != nil || answer == "" && len(options) > 0 {
		return strings.Join(options[:min(1, len(options))], ""), err
	}
	if n, err := strconv.Atoi(answer); err == nil && 1 <= n && n <= len(options) {
		answer = options[n-1]
	}
	return answer, nil
}

// askProvider offers those that could be used now before the others.
func (s *setup) askProvider(ctx context.Context) error {
	all := models.Providers()
	answers := s.reachable(ctx, all)
	var ready, rest []models.Provider
	state := map[string]string{}
	for i, p := range all {
		switch {
		case p.KeyEnv != "" && s.Getenv(p.KeyEnv) != "":
			state[p.Name] = p.KeyEnv + " is set"
		case p.KeyEnv != "":
			state[p.Name] = "wants a key, in " + p.KeyEnv
		case answers[i]:
			state[p.Name] = "runs on this machine"
		default:
			state[p.Name] = "on a machine of yours; does not answer now"
		}
		if answers[i] || p.KeyEnv != "" && s.Getenv(p.KeyEnv) != "" {
			ready = append(ready, p)
		} else {
			rest = append(rest, p)
		}
	}
	var names []string
	for i, p := range append(ready, rest...) {
		names = append(names, p.Name)
		s.Terminal.Say("%3d  %-10s  %s\n", i+1, p.Name, state[p.Name])
	}
	name, err := s.line("Provider, by number or name", names)
	if err != nil {
		return err
	}
	s.provider, _ = models.Find(name)
	return nil
}

// reachable reports which of the providers on this machine answer.
func (s *setup) reachable(ctx context.Context, all []models.Provider) []bool {
	ctx, cancel := context.WithTimeout(ctx, prepare.LocalWait)
	defer cancel()
	answers := make([]bool, len(all))
	var wait sync.WaitGroup
	for i, p := range all {
		if !p.Local {
			continue
		}
		wait.Go(func() {
			probe := &setup{Options: s.Options, provider: p}
			list, err := probe.list(ctx)
			answers[i] = err == nil && len(list) > 0
		})
	}
	wait.Wait()
	return answers
}

// isVariable reports whether an environment variable can have this name.
func isVariable(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"+
		"0123456789_") == "" && (name[0] < '0' || name[0] > '9')
}

// askKey asks which variable has the key, and for a server its address.
func (s *setup) askKey(context.Context) (err error) {
	if usual := s.provider.KeyEnv; usual != "" {
		if s.Getenv(usual) != "" {
			return nil
		}
		name, err := s.line("Variable of your environment that has the key", []string{usual})
		switch {
		case err != nil:
			return err
		case !isVariable(name):
			// If the user typed the key itself, it must not be shown.
			return fmt.Errorf("set up %s: that is not the name of a variable, and keys are never"+
				" written to a file", s.provider.Name)
		case s.Getenv(name) == "":
			p := s.provider
			p.KeyEnv = name
			return fmt.Errorf("set up %s: %w", p.Name, &models.KeyError{Provider: p})
		case name != usual:
			s.keyEnv = name
		}
		return nil
	}
	s.address, err = s.Terminal.Line("Address of the server [the usual one]: ")
	return err
}

// offered is how many models are offered by number.
const offered = 20

// askModel offers the models that the provider lists, else the known ones.
func (s *setup) askModel(ctx context.Context) error {
	list, err := s.list(ctx)
	if err != nil && !errors.Is(err, prepare.ErrNoCatalog) {
		return fmt.Errorf("set up %s: %w", s.provider.Name, err)
	}
	names := lists.Map(list, func(info llm.Info) string {
		return strings.TrimPrefix(info.ID, s.provider.Name+"/")
	})
	for i, name := range names[:min(len(names), offered)] {
		s.Terminal.Say("%3d  %s\n", i+1, name)
	}
	if more := len(names) - offered; more > 0 {
		s.Terminal.Say("     and %d more, which 'git jp models %s' lists\n", more, s.provider.Name)
	}
	name, err := s.line("Model, by number or name", names)
	if err == nil && name == "" {
		err = fmt.Errorf("set up %s: no model was named", s.provider.Name)
	}
	s.model = s.provider.Name + "/" + strings.TrimPrefix(name, s.provider.Name+"/")
	return err
}

// list asks the provider for its models.
func (s *setup) list(ctx context.Context) ([]llm.Info, error) {
	all, err := s.models()
	if err != nil {
		return nil, err
	}
	return all.Catalog(ctx, s.provider.Name)
}

// models returns models by the configuration and the answers so far.
func (s *setup) models() (prepare.Models, error) {
	return s.Models(s.provider.Name, s.answers())
}

// answers returns the keys of the provider's table that were asked for.
func (s *setup) answers() map[string]string {
	all := map[string]string{}
	if s.address != "" {
		all["base_url"] = s.address
	}
	if s.keyEnv != "" {
		all["api_key_env"] = s.keyEnv
	}
	return all
}

// try asks the model for one word. If it does not answer, the user may want it anyway.
func (s *setup) try(ctx context.Context) error {
	s.Terminal.Say("Asking %s for one word…\n", s.model)
	word, err := s.word(ctx)
	if err == nil {
		s.Terminal.Say("%s says: %s\n", s.model, word)
		return nil
	}
	s.Terminal.Say("It does not answer: %v\n", err)
	answer, keyErr := s.Terminal.Key("Write it to your configuration anyway? [y]es, [n]o: ")
	if keyErr == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return fmt.Errorf("set up %s: %w", s.model, err)
}

// word returns the model's answer.
func (s *setup) word(ctx context.Context) (string, error) {
	all, err := s.models()
	if err != nil {
		return "", err
	}
	m, err := all.New(s.model, llm.Retry{})
	if err != nil {
		return "", err
	}
	r := &llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
			llm.Text{Text: "Answer with the one word: ready"},
		}}},
		Cache: llm.CachePolicy{Off: true},
	}
	said := ""
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return "", err
		}
		if e, ok := d.Event.(*events.ChatResponse); ok && e.Form == events.FormMessage {
			said += e.Text
		}
	}
	return strings.TrimSpace(said), nil
}

// write writes the answers to the user's configuration.
func (s *setup) write() error {
	answers := s.answers()
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		at := "providers.llm." + s.provider.Name + "." + key
		if err := s.Set(at, answers[key]); err != nil {
			return err
		}
	}
	if err := s.Set("assistant.model.id", s.model); err != nil {
		return err
	}
	s.Note("ask with: git jp query 'What is in this repository?'")
	return nil
}
