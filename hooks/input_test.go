package hooks

import (
	"strings"
	"testing"
)

func TestReadPrePush(t *testing.T) {
	a, b, zero := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("0", 40)
	refs, err := readPrePush(strings.NewReader(
		"refs/heads/x " + a + " refs/heads/y " + b + "\n" +
			"(delete) " + zero + " refs/heads/z " + b + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(refs) != 2 || refs[0].to.String() != a || refs[0].from.String() != b ||
		!refs[1].to.IsZero() {
		t.Errorf("got %+v", refs)
	}
	for _, bad := range []string{"x\n", "a b c d\n"} {
		if _, err := readPrePush(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestReadPreReceive(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	refs, err := readPreReceive(strings.NewReader(a + " " + b + " refs/heads/x\n"))
	if err != nil || len(refs) != 1 || refs[0].from.String() != a || refs[0].to.String() != b {
		t.Errorf("got %+v, %v", refs, err)
	}
	if _, err := readPreReceive(strings.NewReader(a + " " + b + "\n")); err == nil {
		t.Error("no name: no error")
	}
}

func TestReadPostRewrite(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	all, err := readPostRewrite(strings.NewReader(a + " " + b + " extra\n"))
	if err != nil || len(all) != 1 || all[0].from.String() != a || all[0].to.String() != b {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestParsePostCheckout(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	m, branch, err := parsePostCheckout([]string{a, b, "1"})
	if err != nil || m.from.String() != a || m.to.String() != b || !branch {
		t.Errorf("got %+v, %v, %v", m, branch, err)
	}
	for _, bad := range [][]string{nil, {a, b}, {"x", b, "1"}, {a, "x", "1"}} {
		if _, _, err := parsePostCheckout(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
