package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/approval"
	"github.com/git-jp/git-jp/internal/attached"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/compactor"
	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/doctor"
	"github.com/git-jp/git-jp/internal/grep"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/register"
	"github.com/git-jp/git-jp/internal/resolve"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/staging"
	"github.com/git-jp/git-jp/internal/stats"
	"github.com/git-jp/git-jp/internal/update"
	"github.com/git-jp/git-jp/internal/upkeep"
)

// documentedFields returns the names that docs/json.md has in each section, and which
// of them it calls optional.
func documentedFields(t *testing.T) (fields map[string][]string, optional map[string]bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	fields, optional = make(map[string][]string), make(map[string]bool)
	row := regexp.MustCompile("^\\| `([a-z_0-9]+)` \\| [^|]* \\| *([^|]*)\\|$")
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.ToLower(name)
		}
		if m := row.FindStringSubmatch(line); m != nil {
			fields[section] = append(fields[section], m[1])
			optional[section+"."+m[1]] = strings.HasPrefix(m[2], "optional")
		}
	}
	return fields, optional
}

// recordFields returns the members of a record and whether each may be absent, without
// those of records that it embeds.
func recordFields(record any) (names []string, optional map[string]bool) {
	optional = make(map[string]bool)
	typ := reflect.TypeOf(record)
	for f := range typ.Fields() {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		optional[name] = option == "omitempty"
	}
	return names, optional
}

// TestRecordsAreDocumented verifies that docs/json.md has every member of every record, and no
// others.
func TestRecordsAreDocumented(t *testing.T) {
	documented, calledOptional := documentedFields(t)
	for section, record := range map[string]any{
		"conversation": listing.Record{}, "listed": listing.Listed{}, "show": listing.Overview{}, "hit": grep.HitRecord{}, "count": grep.CountRecord{}, "revision": revisions.Revision{}, "blamed": blame.Record{}, "handed": handedRecord{}, "difference": revisions.Difference{}, "compacted": compactor.Record{}, "change": compactor.ChangeRecord{}, "stats": statsRecord{}, "caching": stats.Caching{}, "spent": stats.Row{}, "replay": stats.Replay{}, "staged": staging.StagedRecord{}, "status": staging.StatusRecord{},
		"redacted": redact.Record{}, "import": intake.Record{}, "capture": intake.CaptureRecord{},
		"fault": upkeep.FaultRecord{}, "conflict": resolve.Conflict{}, "migrated": upkeep.MigratedRecord{}, "hook": register.Record{}, "diagnosis": doctor.Finding{}, "workspace": initRecord{}, "approval": approval.Record{}, "attachment": attached.Record{}, "model": prepare.KnownModel{}, "explanation": prepare.Explanation{}, "collected": upkeep.CollectedRecord{}, "run": upkeep.RunRecord{}, "why": gc.Reason{}, "update": update.Record{}, "setting": configure.Record{}, "version": versionRecord{},
	} {
		names, optional := recordFields(record)
		if !slices.Equal(names, documented[section]) {
			t.Errorf("%s has %v, docs/json.md says %v", section, names, documented[section])
		}
		for _, name := range names {
			if optional[name] != calledOptional[section+"."+name] {
				t.Errorf("%s.%s: optional is %v, docs/json.md says otherwise",
					section, name, optional[name])
			}
		}
	}
}

// TestEventsAreDocumented verifies the same for the events of a printed conversation, by the output
// of the printer's own test.
func TestEventsAreDocumented(t *testing.T) {
	documented, _ := documentedFields(t)
	data, err := os.ReadFile(
		filepath.Join("..", "..", "internal", "render", "testdata", "lines.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(section string, object map[string]json.RawMessage) {
		for name := range object {
			if !slices.Contains(documented[section], name) {
				t.Errorf("docs/json.md says nothing of %s.%s", section, name)
			}
		}
	}
	seen := 0
	for line := range bytes.Lines(data) {
		var event map[string]json.RawMessage
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		check("event", event)
		for _, list := range []string{"resources", "blocks"} {
			var contents []map[string]json.RawMessage
			if event[list] != nil {
				if err := json.Unmarshal(event[list], &contents); err != nil {
					t.Fatal(err)
				}
			}
			for _, content := range contents {
				seen++
				check("content", content)
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d contents were looked at", seen)
	}
}
