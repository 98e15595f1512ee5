package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// globals are the flags that every command takes.
type globals struct {
	Dir     string   `short:"C" name:"directory" placeholder:"DIR" help:"Run as if started in DIR."`
	Quiet   bool     `short:"q" help:"Print only the answer and errors."`
	Verbose bool     `short:"v" help:"Say more of what is being done."`
	JSON    bool     `name:"json" help:"Print records as JSON, one object a line for lists."`
	NoColor bool     `name:"no-color" help:"Print without colours."`
	Config  []string `short:"c" name:"config" sep:"none" placeholder:"KEY=VALUE" help:"Set a configuration key for this call."`
}

// cli is the command line. The groups are those of docs/cli.md.
type cli struct {
	globals

	Version    versionCmd    `cmd:"" group:"more" help:"Print the version."`
	Help       helpCmd       `cmd:"" group:"more" help:"Explain a command, or list them all."`
	Completion completionCmd `cmd:"" group:"more" help:"Print a completion script for a shell."`

	Man      manCmd      `cmd:"" hidden:"" help:"Print the man page in troff."`
	Complete completeCmd `cmd:"" name:"__complete" hidden:"" help:"Print the completions of a command line."`
}

var groups = []kong.Group{
	{Key: "setup", Title: "Set up"},
	{Key: "look", Title: "Look"},
	{Key: "shape", Title: "Shape"},
	{Key: "git", Title: "Git"},
	{Key: "more", Title: "More"},
}

const description = "Conversations with language models, kept in Git beside the code they are about."

// A usageError is a command line that could not be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitRequest is how kong's help flag ends the run: it wants to exit in the middle
// of parsing, and only main may do that.
type exitRequest int

// parse builds the command line and understands the world's arguments.
func parse(w *world) (c *cli, k *kong.Context, err error) {
	c = &cli{}
	parser, err := kong.New(c, kongOptions(w)...)
	if err != nil {
		return nil, nil, err
	}
	args := slices.Clone(w.args)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err = parser.Parse(dropNamespace(args))
	if err != nil {
		return c, nil, &usageError{err}
	}
	return c, k, nil
}

func kongOptions(w *world) []kong.Option {
	return []kong.Option{
		kong.Name("git jp"),
		kong.Description(description),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(code int) { panic(exitRequest(code)) }),
		kong.ExplicitGroups(groups),
		kong.ConfigureHelp(kong.HelpOptions{
			Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100,
		}),
	}
}

// run is the whole program but for its surroundings. It returns the exit code.
func run(ctx context.Context, w *world) (code int) {
	defer func() {
		if r := recover(); r != nil {
			request, ok := r.(exitRequest)
			if !ok {
				panic(r)
			}
			code = int(request)
		}
	}()
	c, k, err := parse(w)
	if err != nil {
		return reportError(w.stderr, err)
	}
	a := newApp(w, c.globals)
	k.BindTo(ctx, (*context.Context)(nil))
	err = errors.Join(k.Run(a), a.close())
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return a.report(err)
}

// dropNamespace removes the word `conversation` of jp's own command line, under
// which these commands stand there, so that habits keep working.
func dropNamespace(args []string) []string {
	i := commandIndex(args)
	if i >= len(args)-1 {
		return args
	}
	switch args[i] {
	case "conversation", "conversations", "c":
		return slices.Delete(slices.Clone(args), i, i+1)
	default:
		return args
	}
}

// commandIndex returns the index of the first argument that is no global flag.
func commandIndex(args []string) int {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case !strings.HasPrefix(arg, "-"):
			return i
		case arg == "-C", arg == "-c", arg == "--directory", arg == "--config":
			i++ // its value
		}
	}
	return len(args)
}
