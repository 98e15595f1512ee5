package main

import "github.com/git-jp/git-jp/internal/render"

// newStages shows the progress of work that comes in stages, each with a count of its own.
// The first function is told how far a stage has come, the second ends the last one.
func newStages(a *app, label string) (report func(stage string, done, total int), end func()) {
	var bar *render.Progress
	current, before := "", 0
	report = func(stage string, done, total int) {
		if stage != current || done < before {
			bar.Done()
			bar = newProgress(a, label+" "+stage, int64(total))
			current, before = stage, 0
		}
		bar.Add(int64(done - before))
		before = done
	}
	return report, func() { bar.Done() }
}
