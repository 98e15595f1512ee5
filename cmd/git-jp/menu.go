package main

import (
	"time"

	"github.com/git-jp/git-jp/internal/query"
)

// defaultCooldown is how soon after an interrupt the next one means to end.
const defaultCooldown = 2 * time.Second

// A menu asks what an interrupt of a turn means.
type menu struct {
	desk     *desk // nil for nobody
	control  *query.Control
	now      func() time.Time
	cooldown time.Duration
	preset   map[query.Phase]string // what the configuration answers
	last     time.Time
}

// newMenu reads what the configuration says about interrupts.
func (k *talk) newMenu(c *query.Control) *menu {
	m := &menu{
		desk: k.desk, control: c, now: k.app.now, cooldown: defaultCooldown,
		preset: map[query.Phase]string{},
	}
	var seconds int
	if k.config.Decode(&seconds, "interrupt", "escalation_cooldown_secs") && seconds >= 0 {
		m.cooldown = time.Duration(seconds) * time.Second
	}
	for phase, key := range map[query.Phase]string{
		query.PhaseAnswer: "streaming", query.PhaseTools: "tool_call",
	} {
		var action string
		if k.config.Decode(&action, "interrupt", key, "action") && action != "prompt" {
			m.preset[phase] = action
		}
	}
	return m
}

// pressed takes an interrupt; false ends the query in order. Whoever presses again soon, or
// while something is asked, means that.
func (m *menu) pressed() bool {
	if m.desk == nil {
		return false
	}
	now := m.now()
	again := !m.last.IsZero() && now.Sub(m.last) < m.cooldown
	phase := m.control.Phase()
	if again || m.desk.busy() || phase == query.PhaseNone {
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
func (m *menu) ask(p query.Phase) {
	s, err := m.desk.open(m.desk.ctx)
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	chosen, ok := m.choose(s, choices(p), m.preset[p])
	if !ok {
		return
	}
	w := query.Wish{Act: chosen.act}
	if chosen.reply {
		if w.Reply, err = s.line("Reply: "); err != nil {
			return
		}
		if w.Reply == "" && p == query.PhaseAnswer {
			s.say("no reply, going on\n")
			return
		}
	}
	if w.Act == 0 {
		s.say("going on\n")
		return
	}
	m.control.Want(w)
}

// choose returns what is chosen, by the configuration or on the terminal.
func (m *menu) choose(s *sitting, all []choice, preset string) (choice, bool) {
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
		answer, err := s.line("%s: ", text)
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
