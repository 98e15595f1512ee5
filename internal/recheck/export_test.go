package recheck

// ReadNothingInProcess leaves all objects to git.
func (p *Opinion) ReadNothingInProcess() { p.inProcess = 0 }
