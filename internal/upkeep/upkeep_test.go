package upkeep

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestSummary verifies that a collection says what was deleted, what would be and what stays for
// which reason.
func TestSummary(t *testing.T) {
	plan := &gc.Plan{
		Items: []gc.Item{{Size: 10}, {Size: 20}}, Wanted: 3, Total: 9, Young: 1, Tracked: 1,
	}
	old := []quarantine.Item{{Name: "a-copy"}}
	for want, got := range map[string]string{
		"would delete 2 blobs of 30 bytes, the copy a-copy would go for good, 3 of 9 are referred to, " +
			"1 blob newer than the grace period, 1 blob left because git tracks them": summary(plan, nil, old),
		"deleted 1 blob of 10 bytes, 1 copy of the quarantine deleted for good, 3 of 9 are referred to, " +
			"1 blob newer than the grace period, 1 blob left because git tracks them": summary(plan,
			&gc.Result{Moved: plan.Items[:1], Expired: 1}, old),
		"nothing to delete, 0 of 0 are referred to": summary(new(gc.Plan), nil, nil),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestFaultsAreCountedByWhatIsDone verifies that each fault counts as one, that only open faults
// are problems, and that the first of many of a kind are printed.
func TestFaultsAreCountedByWhatIsDone(t *testing.T) {
	faults := []*repair.Fault{
		{Path: "a", Detail: "is damaged", Done: true},
		{Path: "b", Detail: "is damaged", Outcome: repair.Certain},
		{Path: "c", Detail: "is damaged", Outcome: repair.Certain, Err: errors.New("no room")},
		{Path: "d", Detail: "is damaged", Outcome: repair.Offered, Command: "git jp resolve"},
		{Path: "e", Detail: "is damaged", Outcome: repair.Gone, Minor: true},
	}
	var kinds []string
	for _, f := range faults {
		kinds = append(kinds, newFaultRecord(f).Action)
	}
	want := []string{"repaired", "can_be_repaired", "failed", "to_be_decided", "gone"}
	if !slices.Equal(kinds, want) {
		t.Errorf("actions %q, want %q", kinds, want)
	}
	if outcome(faults[:1], nil) != nil || outcome(faults[4:], nil) != nil {
		t.Error("what is repaired, or minor, is a problem")
	}
	if !errors.Is(outcome(faults, nil), report.ErrProblems) {
		t.Error("what is open is no problem")
	}
	for range maxFaults {
		faults = append(faults, faults[3])
	}
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		if err := printFaults(&render.Printer{Out: &out, Verbose: verbose}, faults); err != nil {
			t.Fatal(err)
		}
		shown := strings.Count(out.String(), "next: git jp resolve")
		if shown != map[bool]int{false: maxFaults, true: maxFaults + 1}[verbose] {
			t.Errorf("verbose is %v, and %d faults are printed", verbose, shown)
		}
		if !strings.HasSuffix(out.String(),
			"1 repaired, 1 can be repaired, 1 failed, 21 to be decided, 1 gone\n") {
			t.Errorf("the last line of %s", out.String())
		}
	}
}

// TestMigrationsSayWhatFailed verifies that a migration in which all failed does not say that there
// was nothing to do, and that a messages.json of 2025 does not count as failed.
func TestMigrationsSayWhatFailed(t *testing.T) {
	for want, results := range map[string][]repair.Migrated{
		"nothing to migrate\n": {{Err: workspace.ErrLegacy}},
		"nothing was migrated: 1 conversation failed\n": {
			{Err: errors.New("no room")}, {Err: workspace.ErrLegacy},
		},
		"migrated 2 references of 1 conversation: 100 bytes of streams -> 10 bytes and 1 new blob of " +
			"40 bytes, 50 % of what it was\n": {
			{Contents: 2, Before: 100, After: 10, Blobs: 1, BlobBytes: 40},
		},
	} {
		var out bytes.Buffer
		m := Migration{
			Printer: &render.Printer{Out: &out, Err: new(bytes.Buffer)}, To: config.Blobs,
		}
		if err := m.print(results); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%v, printed %q, want %q", err, out.String(), want)
		}
	}
}
