package main

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/commandline"
)

// A call is a command with its flags and arguments, parsed from a command line.
type call struct {
	command string // the command's words, without values
	run     func(context.Context, *app) error
}

// callOf returns what the parser selected.
func callOf(k *kong.Context) call {
	return call{commandOf(k), func(ctx context.Context, a *app) error {
		k.BindTo(ctx, (*context.Context)(nil))
		return k.Run(a)
	}}
}

// A runner can run a parsed command.
type runner interface {
	Run(ctx context.Context, a *app) error
}

// byGit returns the command for a line that an installation writes into git's configuration or a
// hook, or nil for any other line. Parsing these needs no model of the command line: building that
// costs as much as merging a file. And git's paths are no flags, whatever they begin with.
func byGit(args []string) runner {
	if len(args) < 2 {
		return nil
	}
	command, args := args[0], args[1:]
	trial := command == "merge-driver" && args[0] == "--trial"
	if trial {
		args = args[1:]
	}
	switch {
	case command == "hook" && !slices.ContainsFunc(args, isFlag):
		return hookCmd{Name: args[0], Args: args[1:]}
	case command == "merge-driver" && len(args) == 6 && !slices.ContainsFunc(args[:4], isFlag):
		marker, err := strconv.Atoi(args[5])
		if err != nil {
			return nil
		}
		return mergeDriverCmd{args[0], args[1], args[2], args[3], args[4], marker, trial}
	case command == "textconv" && len(args) == 2 && !isFlag(args[0]) &&
		(!isFlag(args[1]) || strings.Contains(args[1], "/")):
		return textconvCmd{args[0], args[1]}
	}
	return nil
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") }

// lineOf returns the part of [cli] with one command, by its name or an alias.
func lineOf(command string) (line any, g *globals, ok bool) {
	part, ok := commandline.Only(reflect.TypeFor[cli](), reflect.TypeFor[globals](), command)
	if !ok {
		return nil, nil, false
	}
	return part.Interface(), part.Elem().Field(0).Addr().Interface().(*globals), true
}

// calledByGit reports whether git calls a command, and not a person.
func calledByGit(command string) bool {
	return command == "hook" || command == "merge-driver" || command == "textconv"
}
