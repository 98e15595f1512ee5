package hooks_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/hooks"
)

func TestReadPrePush(t *testing.T) {
	a, b, zero := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("0", 40)
	refs, err := hooks.ReadPrePush(strings.NewReader(
		"refs/heads/x " + a + " refs/heads/y " + b + "\n" +
			"(delete) " + zero + " refs/heads/z " + b + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(refs) != 2 || refs[0].Local != "refs/heads/x" || refs[0].LocalOID.String() != a ||
		refs[0].Remote != "refs/heads/y" || refs[0].RemoteOID.String() != b ||
		!refs[1].LocalOID.IsZero() {
		t.Errorf("got %+v", refs)
	}
	for _, bad := range []string{"x\n", "a b c d\n"} {
		if _, err := hooks.ReadPrePush(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestReadPostRewrite(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	all, err := hooks.ReadPostRewrite(strings.NewReader(a + " " + b + " extra\n"))
	if err != nil || len(all) != 1 || all[0].Old.String() != a || all[0].New.String() != b {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestParsePostCheckout(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	c, err := hooks.ParsePostCheckout([]string{a, b, "1"})
	if err != nil || c.Previous.String() != a || c.Next.String() != b || !c.Branch {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, bad := range [][]string{nil, {a, b}, {"x", b, "1"}, {a, "x", "1"}} {
		if _, err := hooks.ParsePostCheckout(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
