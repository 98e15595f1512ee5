package secrets_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestLimitsOfAssignments checks what is a value behind a blank, in an XML element or attribute, and
// behind escapes, and what is not.
func TestLimitsOfAssignments(t *testing.T) {
	const v = "Zk3u9sPq1LmX" // 12
	name := "--" + strings.Repeat("x", 30) + "-password"
	for _, text := range []string{
		"--password " + v, "DB_PASSWORD " + v, name + " " + v, `<password>` + v + `</password>`,
		`<add key="ApiKey" value="` + v + `">`, `password = 'Zk3u9sPq1LmX'`, "\x1b[38;2;10;20;30;48;2;10;20;30mpassword=" + v,
		`x%3Apassword=` + v, "\x1b[0~" + "password=" + v, "\x1b[1@password=" + v, `"\'password\': \'` + v + `\'"`,
		"password=" + "\x1b[38;2;100;200;130;48m" + v,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) != 1 || !strings.Contains(text[found[0].Start:found[0].End], v) {
			t.Errorf("%q: found %+v", text, found)
		}
	}
	for _, text := range []string{
		"--password " + v[:11], "DB_password " + v, "_PASSWORD " + v, "-password " + v, "--password abcdefGHIJKLmnop",
		"<password>" + v, "<password>" + v + " <", `password"> ` + v, `["password"] = ` + v, `password="Zk3u9sPq1\LmX"`,
		"<password>" + strings.Repeat(v, 17) + "<",
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%q: found %+v", text, found)
		}
	}
}
