package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// TestLineOfOneCommandIsShort counts allocations: a call builds only its own command.
func TestLineOfOneCommandIsShort(t *testing.T) {
	all := testing.AllocsPerRun(3, func() {
		if _, err := parseLine(silent(nil), new(cli), []string{"version"}); err != nil {
			t.Fatal(err)
		}
	})
	for _, line := range []string{"-q hook pre-commit -- x", "version", "ls", "c ls", "conversation s x"} {
		one := testing.AllocsPerRun(3, func() {
			if _, _, err := parse(silent(strings.Fields(line))); err != nil {
				t.Fatal(err)
			}
		})
		if 4*one > all {
			t.Errorf("%s takes %.0f allocations, all commands %.0f", line, one, all)
		}
	}
}

func silent(args []string) *environment {
	return &environment{args: args, stdout: io.Discard, stderr: io.Discard}
}

// TestLineOfOneCommand: each command, under each of its names, is parsed as among all others.
func TestLineOfOneCommand(t *testing.T) {
	commands := 0
	for field := range reflect.TypeFor[cli]().Fields() {
		if field.Anonymous {
			continue
		}
		commands++
		name := strings.ToLower(field.Name)
		if tag := field.Tag.Get("name"); tag != "" {
			name = tag
		}
		names := []string{name}
		if tag := field.Tag.Get("aliases"); tag != "" {
			names = append(names, strings.Split(tag, ",")...)
		}
		for _, alias := range names {
			line, _, ok := lineOf(alias)
			if !ok {
				t.Errorf("there is no line of %s", alias)
				continue
			}
			if got := reflect.TypeOf(line).Elem().Field(1); got.Type != field.Type || got.Tag != field.Tag {
				t.Errorf("the line of %s has %s, want %s", alias, got.Type, field.Type)
			}
		}
	}
	if commands < 40 {
		t.Errorf("got %d commands, want all", commands)
	}
	for _, word := range []string{"", "nosuch", "Globals", "globals"} {
		if _, _, ok := lineOf(word); ok {
			t.Errorf("%q is a command", word)
		}
	}
	g, c, err := parse(silent([]string{"-q", "hook", "pre-commit"}))
	if err != nil || !g.Quiet || c.command != "hook" {
		t.Errorf("got %+v, %v, want a quiet hook", g, err)
	}
}

// TestCallsByGit checks that byGit parses the lines that an installation writes for git as the
// parser does.
func TestCallsByGit(t *testing.T) {
	const merge = "merge-driver events .merge_file_a .merge_file_b .merge_file_c .jp/x/events.json "
	for _, line := range []string{
		"hook pre-commit", "hook post-merge 0", "hook pre-push origin https://example.org/r.git",
		merge + "7", merge + "12", "textconv blob /tmp/x",
		strings.Replace(merge, "events", "--trial events", 1) + "7",
	} {
		args := strings.Fields(line)
		k, err := parseLine(silent(args), new(cli), args)
		if err != nil {
			t.Fatal(err)
		}
		got, want := byGit(args), k.Selected().Target.Interface()
		if fmt.Sprintf("%T%+v", got, got) != fmt.Sprintf("%T%+v", want, want) {
			t.Errorf("%s: got %+v, want %+v", line, got, want)
		}
		if n := testing.AllocsPerRun(3, func() { _, _, _ = parse(silent(args)) }); n > 10 {
			t.Errorf("%s takes %.0f allocations, want a few", line, n)
		}
	}
	// A path of git's is not a flag.
	for _, line := range []string{
		strings.Replace(merge, ".jp", "-x/.jp", 1) + "7", "textconv events -x/.jp/x/events.json",
	} {
		got := fmt.Sprintf("%+v", byGit(strings.Fields(line)))
		if !strings.Contains(got, ":-x/.jp/x/events.json") {
			t.Errorf("%s: got %s", line, got)
		}
	}
	for _, line := range []string{
		"", "hook", "hook --help", "textconv --help x", "textconv events --help", "hook pre-push -- x", "-q hook pre-commit", "textconv blob",
		merge, merge + "x", merge + "--trial", merge + "0x7", "ls", "version x y",
	} {
		if got := byGit(strings.Fields(line)); got != nil {
			t.Errorf("%q is understood as %+v without the parser", line, got)
		}
	}
}
