package gc

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// CollectDue collects one store if a collection is due. It reports no error: a failure here also
// fails git jp gc, which reports it.
func CollectDue(ctx context.Context, o Options) {
	if !due(o) {
		return
	}
	old, _ := Expired(o)
	if plan, err := MakePlan(ctx, o); err == nil && (!plan.Empty() || len(old) > 0) {
		_, _ = Sweep(ctx, o, plan)
	}
	if ctx.Err() == nil {
		o.stamp()
	}
}

// stampName is the file whose time is that of the last collection.
const stampName = "gc.stamp"

// interval is the time between automatic collections.
const interval = 24 * time.Hour

// due reports whether a background collection is due. A stamp in the future is ignored: a clock was
// wrong.
func due(o Options) bool {
	p, err := o.place()
	if err != nil || !regular.Exists(p.store) {
		return false
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(p.lockFile), stampName))
	return err != nil || o.Now().Sub(info.ModTime()).Abs() >= interval
}

// stamp records the time of a collection, as far as possible.
func (o *Options) stamp() {
	p, err := o.place()
	if err != nil {
		return
	}
	dir := filepath.Dir(p.lockFile)
	if o.mkdir(dir) == nil && o.write(dir, stampName, nil) == nil {
		_ = os.Chtimes(filepath.Join(dir, stampName), o.Now(), o.Now())
	}
}
