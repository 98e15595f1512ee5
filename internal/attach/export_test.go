package attach

// Tire leaves a resolver two matches of a pattern with a name.
func Tire(r *Resolver) { r.tries.Store(maxTries - 2) }
