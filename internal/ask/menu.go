package ask

import (
	"time"

	"github.com/git-jp/git-jp/internal/query"
)

// DefaultCooldown is how soon after an interrupt the next one means to end.
const DefaultCooldown = 2 * time.Second

// A Menu asks what an interrupt of a turn means.
type Menu struct {
	Prompter *Prompter // nil for nobody
	Control  *query.Control
	Now      func() time.Time
	Cooldown time.Duration
	Preset   map[query.Phase]string // what the configuration answers

	last time.Time
}

// Pressed takes an interrupt; false ends the query in order. Whoever presses again soon, or
// while something is asked, means that.
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

// A choice is one line of the menu.
type choice struct {
	key, preset, text string
	act               query.Act // 0 goes on
	reply             bool      // it is asked for what to say
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

// ask puts the menu and does what is chosen. Nothing is shown of the answer meanwhile, and
// nothing of it is lost.
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

// choose returns what is chosen, by the configuration or on the terminal.
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
