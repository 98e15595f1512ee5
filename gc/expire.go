package gc

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/quarantine"
)

// Expired returns the data quarantined by other commands that may be deleted: it is older than the
// grace period, and than the time promised when it was quarantined. The next sweep removes it. The
// content that it refers to is needed until then, and can be deleted by the sweep after that.
func Expired(o Options) ([]quarantine.Item, error) {
	p, err := o.place()
	if err != nil {
		return nil, err
	}
	return o.expired(p)
}

func (o *Options) expired(p place) ([]quarantine.Item, error) {
	all, err := quarantine.Quarantine{Dir: p.trash, Root: o.Workspace.Root(), Hook: o.hook()}.
		Expired(o.Now(), o.Grace)
	if err != nil {
		return nil, fmt.Errorf("read the quarantine: %w", err)
	}
	return all, nil
}

// expire removes it.
func (s *sweeper) expire() error {
	old, err := s.o.expired(s.plan.place)
	if err != nil {
		return err
	}
	for _, a := range old {
		if err := a.Erase(); err != nil {
			return fmt.Errorf("remove %s: %w", a.Dir(), err)
		}
		s.result.Expired++
	}
	return nil
}
