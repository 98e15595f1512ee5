package gc

import "context"

// CollectDue collects one store, if it is time to. Nobody is told: what stops it now stops
// 'git jp gc' too, which says so.
func CollectDue(ctx context.Context, o Options) {
	if !Due(o) {
		return
	}
	old, _ := Expired(o)
	if plan, err := MakePlan(ctx, o); err == nil && (!plan.Empty() || len(old) > 0) {
		_, _ = Sweep(ctx, o, plan)
	}
	if ctx.Err() == nil {
		_ = Stamp(o)
	}
}
