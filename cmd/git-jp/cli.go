package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/commandline"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/update"
	"github.com/git-jp/git-jp/internal/workspace"
)

// globals are the flags that every command takes.
type globals struct {
	Dir     dirFlag  `short:"C" name:"directory" placeholder:"DIR" help:"Run as if started in DIR."`
	Quiet   bool     `short:"q" help:"Print only the answer and errors."`
	Verbose bool     `short:"v" help:"Print more about what is being done."`
	JSON    bool     `name:"json" help:"Print JSON, one object a line for lists."`
	NoColor bool     `name:"no-color" help:"Print without colours."`
	Offline bool     `help:"Fetch nothing, also where content is at a remote."`
	Set     []string `short:"c" name:"config" aliases:"cfg" sep:"none" placeholder:"KEY=VALUE" help:"Set a configuration key, or read a file or a name, for this call."`
}

// cli is the command line, in the groups of docs/cli.md.
type cli struct {
	globals

	Init      initCmd      `cmd:"" group:"setup" help:"Make a workspace, and install the hooks."`
	Clone     cloneCmd     `cmd:"" group:"setup" help:"Clone without blobs, which are fetched when they are shown."`
	Install   installCmd   `cmd:"" group:"setup" help:"Install the hooks and drivers of this clone."`
	Uninstall uninstallCmd `cmd:"" group:"setup" help:"Remove the hooks and drivers."`
	Doctor    doctorCmd    `cmd:"" group:"setup" help:"Show what is wrong with this clone and machine."`
	Setup     setupCmd     `cmd:"" group:"setup" help:"Choose a language model, and see that it answers."`
	Config    configCmd    `cmd:"" group:"setup" aliases:"cfg" help:"Print and change settings."`

	Query      queryCmd      `cmd:"" group:"talk" aliases:"q" help:"Ask a language model, or search."`
	Attachment attachmentCmd `cmd:"" group:"talk" aliases:"a,attachments" help:"List and change what is attached to a conversation."`
	Models     modelsCmd     `cmd:"" group:"talk" help:"List language models."`
	Trust      trustCmd      `cmd:"" group:"talk" help:"Approve commands that committed files ask to run."`

	Import  importCmd  `cmd:"" group:"talk" help:"Import the sessions of coding agents."`
	Capture captureCmd `cmd:"" group:"talk" help:"Have coding agents import their sessions as they grow."`

	Ls     lsCmd     `cmd:"" group:"look" aliases:"list" help:"List conversations."`
	Show   showCmd   `cmd:"" group:"look" help:"Show the state of a conversation, or the files it needs."`
	Print  printCmd  `cmd:"" group:"look" aliases:"p" help:"Print a conversation."`
	Grep   grepCmd   `cmd:"" group:"look" aliases:"rg" help:"Search conversations, tool results included."`
	Path   pathCmd   `cmd:"" group:"look" help:"Print the path of a conversation."`
	Diff   diffCmd   `cmd:"" group:"look" help:"Show how a conversation changed."`
	Log    logCmd    `cmd:"" group:"look" help:"List the commits that changed a conversation."`
	Blame  blameCmd  `cmd:"" group:"look" help:"Show what was asked when lines of a file came about."`
	Stats  statsCmd  `cmd:"" group:"look" help:"Show where the tokens of a conversation are, and what answers cost."`
	Export exportCmd `cmd:"" group:"look" help:"Write a conversation as one document."`
	Site   siteCmd   `cmd:"" group:"look" help:"Write a folder of pages with all conversations."`
	Review reviewCmd `cmd:"" group:"look" help:"Show what a branch asked and answered."`
	Web    webCmd    `cmd:"" group:"look" help:"Show conversations in a browser on this machine."`
	MCP    mcpCmd    `cmd:"" name:"mcp" group:"look" help:"Serve conversations to coding agents."`

	Fork      forkCmd      `cmd:"" group:"shape" help:"Begin a new conversation with turns of another."`
	Rename    renameCmd    `cmd:"" group:"shape" help:"Change a title."`
	Archive   archiveCmd   `cmd:"" group:"shape" help:"Move conversations to the archive."`
	Unarchive unarchiveCmd `cmd:"" group:"shape" help:"Take conversations out of the archive."`
	Label     labelCmd     `cmd:"" group:"shape" aliases:"labels" help:"List and change labels."`
	Rm        rmCmd        `cmd:"" group:"shape" aliases:"remove,rem,delete,del" help:"Delete conversations."`
	Compact   compactCmd   `cmd:"" group:"shape" help:"Make a conversation smaller for models."`
	Edit      editCmd      `cmd:"" group:"shape" help:"Edit a conversation's files in your editor."`
	Use       useCmd       `cmd:"" group:"shape" help:"Make a conversation the active one."`

	Stage   stageCmd        `cmd:"" group:"git" help:"Stage conversations with all that they refer to."`
	Unstage unstageCmd      `cmd:"" group:"git" help:"Undo staging."`
	Status  statusCmd       `cmd:"" group:"git" help:"Show what is staged, changed or incomplete."`
	Check   checkCmd        `cmd:"" group:"git" help:"Find references without content."`
	Redact  redactCmd       `cmd:"" group:"git" help:"Take secrets out of conversations, and keep them out."`
	Repair  repairCmd       `cmd:"" group:"git" help:"Restore what is missing, and fix what is damaged."`
	Gc      gcCmd           `cmd:"" group:"git" help:"Delete content that nothing refers to."`
	Resolve resolveCmd      `cmd:"" group:"git" help:"Resolve conflicts that a merge left."`
	Update  updateBranchCmd `cmd:"" name:"update-branch" group:"git" help:"Merge the base into this branch, with the drivers."`
	Migrate migrateCmd      `cmd:"" group:"git" help:"Move content into the store, or back."`

	Version    versionCmd    `cmd:"" group:"more" help:"Print the version, as --version and -V do."`
	Help       helpCmd       `cmd:"" group:"more" help:"Explain a command, or list them all."`
	Completion completionCmd `cmd:"" group:"more" help:"Print a completion script for a shell."`

	Hook     hookCmd        `cmd:"" hidden:"" help:"Do the work of a git hook."`
	Merge    mergeDriverCmd `cmd:"" name:"merge-driver" hidden:"" help:"Merge a file for git."`
	Textconv textconvCmd    `cmd:"" hidden:"" help:"Show a file in a diff of git."`
	Debug    debugCmd       `cmd:"" hidden:"" help:"Look into what was computed."`
	Man      manCmd         `cmd:"" hidden:"" help:"Print the man page in troff."`
	Complete completeCmd    `cmd:"" name:"__complete" hidden:"" help:"Print the completions of a command line."`
}

var groups = []kong.Group{
	{Key: "setup", Title: "Set up"},
	{Key: "talk", Title: "Talk"},
	{Key: "look", Title: "Look"},
	{Key: "shape", Title: "Shape"},
	{Key: "git", Title: "Git"},
	{Key: "more", Title: "More"},
}

const description = "Conversations with language models, in Git beside the code they are about."

// exitRequest carries the exit code of kong's help flag: kong wants to exit in the middle of
// parsing, and only main may do that.
type exitRequest int

// parse builds the command line and parses the environment's arguments.
func parse(w *environment) (g *globals, c call, err error) {
	if r := byGit(w.args); r != nil {
		return new(globals), call{w.args[0], r.Run}, nil
	}
	return parseWords(w, w.args)
}

// parseWords parses arguments of which one may be the beginning of a flag.
func parseWords(w *environment, given []string) (g *globals, c call, err error) {
	args, command := commandline.Words(given)
	if line, g, ok := lineOf(command); ok {
		if k, err := parseLine(w, line, args); err == nil {
			return g, callOf(k), nil
		}
	}
	all := new(cli) // all commands, for suggestions after a typing error
	k, err := parseLine(w, all, args)
	longer, several := fullFlag(err, given)
	if longer != nil {
		return parseWords(w, longer)
	}
	if several != nil {
		err = several
	}
	if err != nil {
		return &all.globals, c, parseFailure(err)
	}
	return &all.globals, callOf(k), nil
}

func parseLine(w *environment, line any, args []string) (*kong.Context, error) {
	parser, err := kong.New(line, kongOptions(w)...)
	if err != nil {
		return nil, err
	}
	k, err := parser.Parse(args)
	if err == nil {
		err = errors.Join(emptyValue(k), unwrittenJSON(k))
	}
	return k, err
}

// fullFlag returns the arguments with one abbreviated flag in full. It returns nil for another
// error and for a flag that is no abbreviation, and an error for one of several.
func fullFlag(err error, args []string) ([]string, error) {
	p := new(kong.ParseError)
	if !errors.As(err, &p) || p.Context == nil {
		return nil, nil
	}
	flags := p.Context.Flags()
	if at := p.Context.Selected(); at != nil && at.DefaultCmd != nil {
		flags = slices.Concat(flags, at.DefaultCmd.Flags) // as in gc --dry-run
	}
	var names []string
	for _, flag := range flags {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
		if flag.Tag.Negatable != "" {
			names = append(names, "no-"+flag.Name)
		}
	}
	full, several := commandline.FullFlag(args, err.Error(), names)
	if several != nil {
		several = &report.UsageError{Err: several, Command: commandOf(p.Context)}
	}
	return full, several
}

// textOnly is part of commands that have no form in JSON.
type textOnly struct{}

func (textOnly) isTextOnly() {}

// unwrittenJSON returns an error for --json where a command would print a text: a program would
// fail to parse it later, or take it for the answer.
func unwrittenJSON(k *kong.Context) error {
	node := k.Selected()
	if node == nil || !node.Target.IsValid() {
		return nil
	}
	if _, isText := node.Target.Interface().(interface{ isTextOnly() }); !isText {
		return nil
	}
	asked := slices.ContainsFunc(k.Path, func(p *kong.Path) bool {
		return p.Flag != nil && p.Flag.Name == "json" && p.Flag.Target.Bool()
	})
	if !asked {
		return nil
	}
	command := commandOf(k)
	return &report.UsageError{
		Err: fmt.Errorf("--json: 'git jp %s' prints no JSON", command), Command: command,
	}
}

// emptyValue returns an error for a flag or an argument that is given as an empty text, as scripts
// do whose variable is not set: without a name a command would choose what it works on, and an
// empty filter would select everything. Texts may be empty; an empty -C is the working directory,
// as in git.
func emptyValue(k *kong.Context) error {
	if node := k.Selected(); node == nil || node.Hidden {
		return nil
	}
	texts := []string{"directory", "value", "title", "question", "pattern", "command"}
	for _, p := range k.Path {
		v := p.Positional
		var name string
		switch {
		case v != nil && !slices.Contains(texts, v.Name):
			name = "<" + v.Name + ">"
		case p.Flag != nil && !p.Flag.Hidden && !slices.Contains(texts[:1], p.Flag.Name):
			v, name = p.Flag.Value, "--"+p.Flag.Name
		default:
			continue
		}
		if isEmpty(v.Target) {
			return &report.UsageError{
				Err: fmt.Errorf("%s: the value is empty", name), Command: commandOf(k),
			}
		}
	}
	return nil
}

// isEmpty reports whether a text is empty or blank, or a list, or one of its texts.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return strings.TrimSpace(v.String()) == ""
	case reflect.Slice:
		for _, element := range v.Seq2() {
			if isEmpty(element) {
				return true
			}
		}
		return v.Len() == 0
	default:
		return false
	}
}

// parseFailure turns kong's error into a report.UsageError.
func parseFailure(err error) error {
	if u := new(report.UsageError); errors.As(err, &u) {
		return u
	}
	if w := new(unwrittenError); errors.As(err, &w) {
		return w
	}
	u := &report.UsageError{Err: err}
	if p := new(kong.ParseError); errors.As(err, &p) && p.Context != nil {
		u.Command = commandOf(p.Context)
	}
	const unknown = "unexpected argument "
	if name, ok := strings.CutPrefix(err.Error(), unknown); ok && u.Command == "" {
		name, _, _ := strings.Cut(name, ", ")
		return &report.CommandError{Name: name, Guess: commandline.Guess(err.Error())}
	}
	u.Err = errors.New(commandline.PlainUsage(err.Error()))
	if u.Command == "" && strings.HasPrefix(err.Error(), "unknown flag --ver") {
		u.Err = fmt.Errorf("%w, did you mean \"--version\"?", u.Err)
	}
	return u
}

// commandOf returns the words of the command that was selected, without values.
func commandOf(k *kong.Context) string {
	var words []string
	for node := k.Selected(); node != nil && node.Parent != nil; node = node.Parent {
		words = append([]string{node.Name}, words...)
	}
	return strings.Join(words, " ")
}

func kongOptions(w *environment) []kong.Option {
	return []kong.Option{
		kong.Name("git jp"),
		kong.Description(description),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(code int) { panic(exitRequest(code)) }),
		kong.ExplicitGroups(groups),
		kong.PostBuild(func(k *kong.Kong) error {
			k.Model.HelpFlag.Help = "Show this help."
			return nil
		}),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{
			Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100,
		}),
	}
}

// printHelp is kong's printer with another ending: git turns --help into `man`.
func printHelp(o kong.HelpOptions, k *kong.Context) error {
	var text strings.Builder
	out := k.Stdout
	k.Stdout = &text
	err := kong.DefaultHelpPrinter(o, k)
	k.Stdout = out
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, strings.Replace(text.String(),
		`Run "git jp <command> --help" for more information on a command.`,
		"'git jp help <command>' explains a command.", 1))
	if err != nil {
		err = &unwrittenError{err}
	}
	return err
}

// An unwrittenError says that the help that a command line asks for could not be written. The
// parser returns it like an error of the command line.
type unwrittenError struct{ error }

// Unwrap returns the reason.
func (e *unwrittenError) Unwrap() error { return e.error }

// run is the whole program except its surroundings. It returns the exit code.
func run(ctx context.Context, w *environment) (code int) {
	defer func() {
		if r := recover(); r != nil {
			request, ok := r.(exitRequest)
			if !ok {
				panic(r)
			}
			code = int(request)
		}
	}()
	g, c, err := parse(w)
	if err != nil {
		return report.Print(w.stderr, err)
	}
	first, _, _ := strings.Cut(c.command, " ")
	w.readColorUI(ctx, *g, first)
	a := newApp(w, *g)
	if !g.JSON && w.isForgeLog(c.command) {
		writeForgeLog(a)
	}
	a.readsJP, a.readsCommitted = readsJP(c.command), readsCommitted(c.command)
	if mayEndAnywhere(c.command) {
		w.interrupts.Reading()
	} else {
		w.interrupts.Hear()
	}
	if err = a.enter(); err == nil {
		err = c.run(ctx, a)
	}
	warnPointers(a)
	err = errors.Join(err, a.close())
	if err == nil && a.lacks {
		err = report.ErrProblems // printed when it was closed
	}
	err = misused(err, c.command)
	if ctx.Err() != nil && err != nil {
		if d, ok := errors.AsType[*ask.DraftError](err); ok {
			err = &ask.DraftError{Err: ctx.Err(), Path: d.Path}
		} else {
			err = ctx.Err()
		}
	}
	return a.report(err)
}

// misused sets the command in the error of a command line that could not be parsed, also if a
// package found the error that knows no command line.
func misused(err error, command string) error {
	u := new(report.UsageError)
	switch {
	case errors.As(err, &u):
		u.Command = cmp.Or(u.Command, command)
	case isA[*workspace.LabelError](err), isA[*prepare.AskedError](err),
		isA[*update.UnnamedError](err), isA[*redact.NameError](err):
		return &report.UsageError{Err: err, Command: command}
	}
	return err
}

// mayEndAnywhere reports whether a signal may end a command at any point: it only reads, or reports
// itself when it begins to write. Commands that only read with some flags report that themselves.
func mayEndAnywhere(command string) bool {
	first, rest, _ := strings.Cut(command, " ")
	switch first {
	case "gc":
		return strings.HasPrefix(rest, "why")
	case "attachment", "config", "label", "query", "trust":
		return false
	}
	return slices.Contains([]string{
		"ls", "show", "print", "grep", "path", "diff", "log", "blame", "export", "review", "stats",
		"status", "check", "doctor", "models", "help", "man", "completion", "__complete", "version",
		"site", "web", "mcp", "textconv", "debug", "merge-driver",
	}, first)
}
