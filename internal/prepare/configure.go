package prepare

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/go-json-experiment/json/jsontext"
)

// configure reads the configuration, including that of flags.
func (q *Query) configure() error {
	flags := q.options.Flags
	if err := q.load(flags); err != nil {
		return err
	}
	if err := q.tools.choose(q.options.Switches); err != nil {
		return err
	}
	stick, err := q.sticking()
	if err != nil {
		return err
	}
	if stick != nil {
		if flags == nil {
			flags = map[string][]byte{}
		}
		flags["--tool, --attach"] = stick
		if err := q.load(flags); err != nil {
			return err
		}
	}
	q.warnOf()
	if err := q.readSetup(); err != nil {
		return err
	}
	q.flags = flags
	q.typed = len(flags) > 0 || len(q.host.Options) > 0
	delta, lost := q.Config.Delta()
	if len(lost) > 0 && !q.target.Fresh {
		q.host.warn("%s: the conversation keeps saying it; a new one would not",
			strings.Join(lost, ", "))
	}
	q.delta = jsontext.Value(jpconfig.Shareable(delta))
	return nil
}

// readSetup reads the settings of requests.
func (q *Query) readSetup() (err error) {
	q.setup, err = setupOf(q.Config)
	if _, refused := errors.AsType[*trust.RefusedError](err); refused {
		return refusal(q.gate, err)
	}
	if err != nil && q.options.Model != "" {
		return askedf("%w", &models.NameError{
			Name: q.options.Model, Reason: "neither provider/name nor a short name",
		})
	}
	if q.options.Choice != nil {
		q.setup.Choice = *q.options.Choice
	}
	return err
}

// load reads the configuration, with approved foreign settings. If a user can be asked, it asks
// about the others first.
func (q *Query) load(flags map[string][]byte) error {
	conf, err := jpconfig.Load(q.sources(flags))
	if err != nil {
		return err
	}
	asked, err := q.settle(conf.Held())
	if err == nil && asked {
		conf, err = jpconfig.Load(q.sources(flags))
	}
	q.Config, q.tools.config, q.tools.gate = conf, conf, q.gate
	return err
}

// settle asks about foreign settings that are not approved, once and only if a user is present, and
// reports whether it asked.
func (q *Query) settle(held []trust.Claim) (bool, error) {
	asker, ok := q.gate.(*trust.Asker)
	if !ok || q.prompter == nil || q.options.Explain || q.settled {
		return false, nil
	}
	held = slices.DeleteFunc(held, asker.Approvals.Declined)
	if len(held) == 0 {
		return false, nil
	}
	q.settled = true
	for i := range held {
		held[i].Origin = q.host.Short(held[i].Origin)
	}
	return true, asker.Settle(held)
}

func (q *Query) sources(flags map[string][]byte) jpconfig.Sources {
	s := q.host.Sources(q.target.Workspace, nil)
	s.Base, s.Stream, s.Flags = q.target.BaseConfig(), q.target.Stream(), flags
	if q.options.Explain {
		// Nothing is sent, so that any model can be explained.
		nothingSent := s.Approved
		s.Approved = func(c trust.Claim) bool { return c.Kind == trust.Provider || nothingSent(c) }
	}
	return s
}

// sticking returns the configuration change for flags that switch tools or attach.
func (q *Query) sticking() ([]byte, error) {
	tools := q.tools.switched(q.Config.ToolNames(), q.options.Switches)
	urls, err := q.host.urls(q.tools.files, q.options.Attach)
	if err != nil {
		return nil, err
	}
	for _, at := range q.Config.Attachments() {
		urls = slices.DeleteFunc(urls, func(u string) bool { return u == at.Shown() })
	}
	conversation := map[string]any{}
	if len(tools) > 0 {
		conversation["tools"] = tools
	}
	if len(urls) > 0 {
		conversation["attachments"] = urls
	}
	if len(conversation) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"conversation": conversation})
}

// warnOf reports faults of the configuration, and, in a line each, foreign settings that are not
// approved and unknown settings.
func (q *Query) warnOf() {
	for _, w := range q.Config.Warnings() {
		if q.host.Verbose || w.Where == "-c" { // faults of files only on request
			q.host.warn("%v", w)
		}
	}
	var keys []string
	asker, _ := q.gate.(*trust.Asker)
	for _, c := range slices.Concat(q.settings.Held(), q.Config.Held()) {
		no := asker != nil && asker.Approvals.Declined(c)
		if !no && !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) > 0 {
		q.host.warn("left out until you approve: %s; 'git jp trust' asks", strings.Join(keys, ", "))
	}
	var unknown []string
	for _, w := range q.Config.Warnings() {
		below := func(key string) bool { return strings.HasPrefix(w.Key, key+".") }
		if w.Text == jpconfig.UnknownKey && w.Where != "-c" && !slices.ContainsFunc(keys, below) {
			unknown = append(unknown, w.Key)
		}
	}
	if len(unknown) > 0 && !q.host.Verbose { // else each was reported with its position
		q.host.warn("left out, not known: %s", strings.Join(unknown, ", "))
	}
}

// refusal returns why a model is refused, with the id for its approval.
func refusal(gate trust.Gate, err error) error {
	refused := new(trust.RefusedError)
	if !errors.As(err, &refused) || gate == nil {
		return err
	}
	if again := trust.WithoutAsking(gate).Allow(refused.Claim); again != nil {
		return again
	}
	return err
}
