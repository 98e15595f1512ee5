package commandline

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWordsAreThoseOfTheParser(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "--help",
		"ls -n 3":                  "ls -n 3",
		"print -t -1":              "print -t-1",
		"print --turn -3 x":        "print --turn=-3 x",
		"print --turn=1 -2":        "print --turn=1 -2",
		"grep -- -1":               "grep -- -1",
		"-C dir --version":         "-C dir version",
		"-C --version ls":          "-C --version ls",
		"-V":                       "version",
		"grep -V":                  "grep -V",
		"log -2 x --all -1":        "log -n2 x --all -n1",
		"ls -2":                    "ls -2",
		"-C log log -2":            "-C log log -n2",
		"log -- -2":                "log -- -2",
		"log A.. -1 -- path":       "log A.. -n1 path",
		"diff A B -- path":         "diff A B path",
		"stage A -- path":          "stage A -- path",
		"blame main.go":            "blame main.go",
		"blame HEAD main.go":       "blame --ref=HEAD main.go",
		"-q blame -L 1,2 A -- b":   "-q blame -L 1,2 --ref=A -- b",
		"blame --all A -C b -- c":  "blame --all --ref=A -C b -- c",
		"blame --ref A b":          "blame --ref A b",
		"blame -- a b":             "blame -- a b",
		"blame a b c":              "blame a b c",
		"conversation":             "--help",
		"c ls":                     "ls",
		"-q conversation s 17":     "-q show 17",
		"conversations ua x":       "unarchive x",
		"-c a=b conversation show": "-c a=b show",
	} {
		args := strings.Fields(line)
		before := slices.Clone(args)
		words, _ := Words(args)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if !slices.Equal(args, before) {
			t.Errorf("%q: the arguments became %q", line, args)
		}
	}
	if _, command := Words([]string{"-q", "c", "g", "x"}); command != "grep" {
		t.Errorf("the command is %q, want grep", command)
	}
	if _, command := Words([]string{"-q"}); command != "" {
		t.Errorf("the command is %q, want none", command)
	}
}

func TestUsageIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		`--sort must be one of "id","title" but got "x"`:     `--sort "x": expected one of "id","title"`,
		`--title: expected string value but got "EOL" (x)`:   "--title needs a value",
		`--n: expected a valid 64 bit int but got "x"`:       `--n "x": expected a whole number`,
		`--text and --apply can't be used together`:          "--text and --apply cannot be used together",
		`expected "<conversation>"`:                          "<conversation> is missing",
		`something else that the parser says, as it is said`: "something else that the parser says, as it is said",
	} {
		if got := PlainUsage(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestOnlyHasOneCommand(t *testing.T) {
	type flags struct{ Quiet bool }
	type line struct {
		flags

		List  struct{} `cmd:"" aliases:"ls,l"`
		Other struct{} `cmd:"" name:"__other"`
	}
	only := func(command string) string {
		part, ok := Only(reflect.TypeFor[line](), reflect.TypeFor[flags](), command)
		if !ok {
			return ""
		}
		return part.Elem().Type().Field(1).Name
	}
	for command, want := range map[string]string{
		"list": "List", "l": "List", "__other": "Other",
		"other": "", "flags": "", "": "", "lis": "",
	} {
		if got := only(command); got != want {
			t.Errorf("%q is %q, want %q", command, got, want)
		}
	}
}

func TestGuessesAreAlike(t *testing.T) {
	for said, want := range map[string]string{
		`unexpected argument lss, did you mean one of "ls", "log", "use"?`:     `did you mean "ls"?`,
		`unexpected argument lg, did you mean one of "ls", "log", "rm", "gc"?`: `did you mean "log"?`,
		`unexpected argument foo, did you mean one of "log", "rm"?`:            ``,
		`unexpected argument staus, did you mean one of "stats", "status"?`:    `did you mean one of "stats", "status"?`,
		`unexpected argument att, did you mean "attachment"?`:                  `did you mean "attachment"?`,
		`unexpected argument nothing`:                                          ``,
	} {
		if got := Guess(said); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}
