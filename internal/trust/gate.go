package trust

// Nobody is a gate that approves nothing: where there is nobody to ask.
type Nobody struct{}

// Allow implements [Gate].
func (Nobody) Allow(c Claim) error { return &RefusedError{Claim: c} }

// WithoutAsking returns a gate that allows what is approved already and asks nobody.
func WithoutAsking(g Gate) Gate {
	if asker, ok := g.(*Asker); ok {
		return asker.Approvals
	}
	return g
}
