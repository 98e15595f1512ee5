package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/command"
)

func TestParseScript(t *testing.T) {
	tests := []struct {
		in, want string
		exprs    string
	}{
		{`make all`, `make all`, ""},
		{`echo {{x}}`, `echo "${1}"`, "x"},
		{`echo "{{ x }}" '$HOME'`, `echo "${1}" '$HOME'`, "x"},
		{`echo --name={{x}} -- "a {{y}} b"`, `echo --name="${1}" -- "a ${2} b"`, "x y"},
		{`A=1 grep -c {{-x-}} <f | sort; wc -l && echo {{x}} >out 2>&1`, `A=1 grep -c "${1}" <f | sort; wc -l && echo "${2}" >out 2>&1`, "x x"},
		{`if [ -f {{p}} ]; then cat {{p}}; fi`, `if [ -f "${1}" ]; then cat "${2}"; fi`, "p p"},
		{`[ a = {{p}} ] || echo no`, `[ a = "${1}" ] || echo no`, "p"},
		{`printf '%s' {{x}} | sh run`, `printf '%s' "${1}" | sh run`, "x"},
		{`echo $(date) $HOME ${HOME} {{x}}`, `echo $(date) $HOME ${HOME} "${1}"`, "x"},
		{"# about it\necho {{x}}", "# about it\necho \"${1}\"", "x"},
		{`(cd sub && ls {{x}})`, `(cd sub && ls "${1}")`, "x"},
		{`sh -c 'echo "$1"' sh {{x}}`, `sh -c 'echo "$1"' sh "${1}"`, "x"},
		{`sh -c {{x}}`, `sh -c "${1}"`, "x"},
		{`while true; do echo {{x}}; done`, `while true; do echo "${1}"; done`, "x"},
		{`awk '{print $1}' {{x}}`, `awk '{print $1}' "${1}"`, "x"},
		{`"/opt/my tool" {{x}}`, `"/opt/my tool" "${1}"`, "x"},
	}
	for _, tt := range tests {
		got, err := command.ParseScript(tt.in)
		if err != nil || got.Text != tt.want || strings.Join(got.Exprs, " ") != tt.exprs {
			t.Errorf("%s: %q %q (%v)", tt.in, got.Text, got.Exprs, err)
		}
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	tests := []struct{ in, want string }{
		{`echo '{{x}}'`, "single quotes"},
		{`echo '"{{x}}"'`, "single quotes"},
		{`echo "$(cat {{x}})"`, "$( )"},
		{`echo $(cat "{{x}}")`, "$( )"},
		{"echo `cat {{x}}`", "backquotes"},
		{"echo \"`cat {{x}}`\"", "backquotes"},
		{`echo $(( {{x}} + 1 ))`, "$( )"},
		{`echo ${HOME:-{{x}}}`, "${ }"},
		{"cat <<EOF\n{{x}}\nEOF", "here-document"},
		{`cat <<<{{x}}`, "here-document"},
		{`cat <(echo {{x}})`, "process substitution"},
		{"true # {{x}}", "comment"},
		{`eval {{x}}`, "eval"},
		{`eval "echo {{x}}"`, "eval"},
		{`\eval {{x}}`, "eval"},
		{`'eval' {{x}}`, "eval"},
		{`. {{x}}`, "read by ."},
		{`exec {{x}}`, "exec"},
		{`command {{x}}`, "command"},
		{`trap {{x}} EXIT`, "trap"},
		{`read {{x}}`, "read"},
		{`unset {{x}}`, "unset"},
		{`export {{x}}`, "export"},
		{`sh -c "echo {{x}}"`, "part of what sh runs"},
		{`env A=1 bash -ec "echo {{x}}"`, "part of what"},
		{`python3 -c "print('{{x}}')"`, "part of what python3 runs"},
		{`perl -e "print '{{x}}'"`, "part of what perl runs"},
		{`awk "{print {{x}}}"`, "part of what awk runs"},
		{`{{x}}`, "the name of a program"},
		{`true && {{x}} a`, "the name of a program"},
		{`if {{x}}; then true; fi`, "the name of a program"},
		{`while true; do {{x}}; done`, "the name of a program"},
		{`bin/{{x}} a`, "the name of a program"},
		{`X={{x}} true`, "given to a variable"},
		{`true >{{x}}`, "redirection"},
		{`true 2>> "{{x}}"`, "redirection"},
		{`$CMD {{x}}`, "known only when it runs"},
		{`"$(which a)" {{x}}`, "known only when it runs"},
		{`[ {{x}} = a ]`, "operator of ["},
		{`test {{x}} {{y}}`, "operator of test"},
		{`[ -v {{x}} ]`, "operator of ["},
		{`printf {{x}}`, "format of printf"},
		{`printf -v a {{x}}`, "format of printf"},
		{`for i in {{x}}; do echo $i; done`, "read by for"},
		{`f() { echo {{x}}; }; f`, "function"},
		{`function f { echo {{x}}; }`, "function"},
		{`[[ -n {{x}} ]]`, "[["},
		{`set -- a; echo {{x}}`, `"set"`},
		{`echo {{x}}; shift; echo {{x}}`, `"shift"`},
		{`echo \{{x}}`, "backslash"},
		{`echo "\{{x}}"`, "backslash"},
		{`echo ${{x}}`, "behind $"},
		{`echo $1 {{x}}`, "$1"},
		{`echo "$@" {{x}}`, "$@"},
		{`echo ${1} {{x}}`, "${1}"},
		{`echo $'\'' {{x}}`, "shells differ"},
		{`echo '{{x}}`, "not closed"},
		{`echo "{{x}}`, "not closed"},
		{`echo {% if x %}a{% endif %}`, "{% %}"},
	}
	for _, tt := range tests {
		got, err := command.ParseScript(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q (%v), want %q", tt.in, got.Text, err, tt.want)
		}
	}
}

func TestCheckWords(t *testing.T) {
	for _, words := range [][]string{
		{"just", "serve-tools", "{{context}}", "{{tool}}"},
		{"{{context.root}}/bin/x", "{{tool.arguments.a}}"},
		{"sh", "-c", "{{tool.options.script}}"},
		{"sh", "-c", "{{tool.arguments.script}}"},
		{"sh", "-c", `echo "$1"`, "sh", "a{{tool.arguments.a}}"},
		{"grep", "-e", "a{{tool.arguments.a}}"},
		{"just", "x", "{{tool.arguments.m | default('')}}"},
	} {
		if err := command.CheckWords(words); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, words := range [][]string{
		{"{{tool.arguments.program}}"},
		{"{{tool.options.dir ~ tool.arguments.program}}"},
		{"sh", "-c", "echo {{tool.arguments.a}}"},
		{"env", "A=1", "bash", "-ec", "echo '{{tool.arguments.a}}'"},
		{"python3", "-c", "print({{tool}})"},
		{"sh", "-c", "{% if 1 %}{{tool.arguments.a}}{% endif %}"},
	} {
		if err := command.CheckWords(words); err == nil {
			t.Errorf("%q: accepted", words)
		}
	}
}

func TestFiles(t *testing.T) {
	tests := []struct {
		words []string
		want  string
	}{
		{[]string{"just", "serve", "{{tool}}"}, "serve justfile"},
		{[]string{"env", "A=1", "make", "all"}, "A=1 make GNUmakefile makefile Makefile all"},
		{[]string{"./run", "../out", "/etc/x", "-v"}, "run"},
		{[]string{"python3", "tools/x.py"}, "tools/x.py"},
		{[]string{"npm", "test"}, "package.json test"},
		{[]string{"true"}, ""},
	}
	place := command.Place{
		List: func(string) ([]string, bool) { return nil, false },
		Has:  func(name string) bool { return !strings.HasPrefix(name, "..") },
		Left: new(int),
	}
	*place.Left = 9000
	for _, tt := range tests {
		got, _, more := place.Files(tt.words, false)
		if more {
			t.Errorf("%q has more", tt.words)
		}
		for want := range strings.FieldsSeq(tt.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q has no %s", tt.words, got, want)
			}
		}
		for _, name := range got {
			if strings.HasPrefix(name, "..") || strings.HasPrefix(name, "/") || tt.want == "" {
				t.Errorf("%q: %q", tt.words, got)
			}
		}
	}
	long := []string{"sh", "-c"}
	for i := range 5000 {
		long = append(long, fmt.Sprintf("w%d", i))
	}
	if _, _, more := place.Files(long, false); !more {
		t.Error("names of a line that is too long are left out, and nobody is told")
	}
	long = []string{"python"}
	for i := range 1000 {
		long = append(long, fmt.Sprintf("w%d", i))
	}
	if names, _, more := place.Files(long, false); !more || len(names) > 9000 {
		t.Errorf("%d names, the rest is left out: %t", len(names), more)
	}
}

// TestComputes checks of which lines the question says that names in them are put together.
func TestComputes(t *testing.T) {
	for line, want := range map[string]bool{
		"sh -c 'tools/$X.sh'": true, "sh -c 'for f in *.sh; do . $f; done'": true, "make {{tool}}": false,
		"python tools/{{tool.options.x}}.py": true, "sh {{context.root}}/a.sh": false, "rg -n $x": false,
		"just serve {{tool.arguments.a}}": false, "sh {% if 1 %}a{% endif %}": true, "": false,
		"bash -c './{a,b}.sh'": true, "bash -c 'sh x{1..3}'": true, "sh -c '{ a; b, c; }'": false,
	} {
		words, err := command.Words(line)
		if got := command.Computes(words, false); got != want || err != nil {
			t.Errorf("%q: %t, %v", line, got, err)
		}
	}
	if !command.Computes([]string{"cat $X"}, true) {
		t.Error("a script computes nothing")
	}
}
