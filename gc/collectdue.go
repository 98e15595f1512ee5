package gc

import "context"

// CollectDue collects one store if a collection is due. It reports no error: a failure here also
// fails git jp gc, which reports it.
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
