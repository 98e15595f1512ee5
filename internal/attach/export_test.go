package attach

// Tire leaves a resolver two tries of a pattern on a name.
func Tire(r *Resolver) { r.tries.Store(maxTries - 2) }
