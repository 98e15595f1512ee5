package ask

import (
	"time"

	"github.com/git-jp/git-jp/internal/query"
)

// DefaultCooldown is the time within which a second interrupt ends the query.
const DefaultCooldown = 2 * time.Second

// A Menu asks how an interrupt should affect the turn.
type Menu struct {
	Prompter *Prompter // may be nil
	Control  *query.Control
	Now      func() time.Time
	Cooldown time.Duration
	Preset   map[query.Phase]string // configured answers

	last time.Time
}

// Pressed handles an interrupt; false ends the query in order. A second interrupt within Cooldown,
// or during a question, does so.
func (m *Menu) Pressed() bool {
	if m.Prompter == nil {
		return false
	}
	now := m.Now()
	again := !m.last.IsZero() && now.Sub(m.last) < m.Cooldown
	phase := m.Control.Phase()
	if again || m.Prompter.busy() || phase == query.PhaseNone {
		return false
	}
	m.last = now
	go m.ask(phase)
	return true
}

// A choice is one entry of the menu.
type choice struct {
	key, preset, text string
	act               query.Act // 0 continues
	reply             bool      // the user is asked for a reply
}

func choices(p query.Phase) []choice {
	if p == query.PhaseTools {
		return []choice{
			{key: "c", preset: "continue", text: "[c]ontinue to wait"},
			{key: "s", preset: "stop", text: "[s]top the tools", act: query.ActCancel},
			{
				key: "r", preset: "stop_reply", text: "stop them and [r]eply",
				act: query.ActReply, reply: true,
			},
			{key: "t", preset: "restart", text: "s[t]art them again", act: query.ActRestart},
			{key: "e", preset: "end", text: "[e]nd here", act: query.ActStop},
		}
	}
	return []choice{
		{key: "c", preset: "continue", text: "[c]ontinue"},
		{key: "r", preset: "reply", text: "[r]eply now", act: query.ActReply, reply: true},
		{key: "s", preset: "stop", text: "[s]top and keep", act: query.ActStop},
		{key: "a", preset: "abort", text: "[a]bort and drop the answer", act: query.ActAbort},
	}
}

// ask shows the menu and applies the choice. Output of the answer waits meanwhile, and none is
// lost.
func (m *Menu) ask(p query.Phase) {
	s, err := m.Prompter.Open(m.Prompter.ctx)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	chosen, ok := m.choose(s, choices(p), m.Preset[p])
	if !ok {
		return
	}
	w := query.Wish{Act: chosen.act}
	if chosen.reply {
		if w.Reply, err = s.Line("Reply: "); err != nil {
			return
		}
		if w.Reply == "" && p == query.PhaseAnswer {
			s.Say("no reply, going on\n")
			return
		}
	}
	if w.Act == 0 {
		s.Say("going on\n")
		return
	}
	m.Control.Want(w)
}

// choose returns the choice of the configuration, or else of the user.
func (m *Menu) choose(s *Prompt, all []choice, preset string) (choice, bool) {
	text := "\ninterrupted: "
	for i, c := range all {
		if c.preset == preset {
			return c, true
		}
		if i > 0 {
			text += ", "
		}
		text += c.text
	}
	for {
		answer, err := s.Key("%s: ", text)
		if err != nil {
			return choice{}, false
		}
		for _, c := range all {
			if answer == c.key || answer == c.preset {
				return c, true
			}
		}
	}
}
