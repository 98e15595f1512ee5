package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// errNoData reports that the real conversations are missing.
var errNoData = errors.New("no real data")

// A builder makes the input of a bench, below its own directory or one of several benches.
type builder struct {
	top, dir, binary, data string
	// kept is the place of the large repository, "" for below top, and blobs its number of blobs.
	kept      string
	blobs     int
	scale     int
	workspace *workspace.Workspace // of a conversation whose lock is held
}

// shared changes to a directory that several benches use, which the first of them makes.
func (b *builder) shared(name string, build func() error) error {
	b.dir = filepath.Join(b.top, name)
	return b.once(build)
}

// once makes the content of the directory, unless that was done.
func (b *builder) once(build func() error) error {
	mark := b.dir + ".complete"
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if err := build(); err != nil {
		return err
	}
	return os.WriteFile(mark, nil, 0o644)
}

// conversations makes many without blobs, in the working tree alone.
func (b *builder) conversations() error { return b.repository(10000, 0, false) }

// committed makes a commit of 100,000 blobs.
func (b *builder) committed() error { return b.repository(4000, blobsEach, true) }

// jp is a command of git jp in the directory.
func (b *builder) jp(command string, args ...string) side {
	return side{label: command, dir: b.dir, args: append([]string{b.binary, command}, args...)}
}

// other is another program in the directory.
func (b *builder) other(label string, args ...string) side {
	return side{label: label, dir: b.dir, args: args}
}

// shell is a script in the directory.
func (b *builder) shell(label, script string) side { return b.other(label, "sh", "-c", script) }

// forget removes what git jp has found out about the repository.
func (b *builder) forget() error { return b.aside(filepath.Join(".git", "jp")) }

// aside moves a file or directory, if there is one, to where nothing looks. It is removed with
// everything else at the end: file systems without a journal are slow to create files where many
// were just deleted, which is not what a row measures.
func (b *builder) aside(name string) error {
	to, err := os.MkdirTemp(b.top, "aside-")
	if err != nil {
		return err
	}
	err = os.Rename(filepath.Join(b.dir, name), filepath.Join(to, "it"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// environment returns the process's own, without the user's configuration of git.
func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "LC_ALL=C")
}

func (b *builder) git(args ...string) error {
	return b.start(nil, append([]string{"git"}, args...)...)
}

// fastImport gives git what write writes, which is streamed, because the memory of this process
// counts as that of its children: until a child executes its program, it is a copy of this one.
func (b *builder) fastImport(write func(io.Writer) error) error {
	pipe, in := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(in, 1<<20)
		in.CloseWithError(errors.Join(write(out), out.Flush()))
	}()
	return b.start(pipe, "git", "fast-import", "--quiet")
}

// start runs a program in the directory.
func (b *builder) start(stdin io.Reader, args ...string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.dir, environment(), stdin
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (b *builder) write(name string, data []byte) error {
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// A file is a path and its bytes.
type file struct {
	path string
	data []byte
}

// add adds the file to a commit of git fast-import.
func (f file) add(w io.Writer) error {
	_, err := fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", f.path, len(f.data), f.data)
	return err
}

// identity is the file that makes a folder a workspace.
func identity() file { return file{".jp/.id", []byte("generated\nbench\n")} }

// conversation returns the files of a generated conversation with n blobs of
// 0.2 to 4 KB, the events last.
func conversation(number, n int) []file {
	random := rand.New(rand.NewPCG(uint64(number), 7))
	id := 17000000000 + number
	dir := fmt.Sprintf(".jp/conversations/%d-generated-%d", id, number)
	var files []file
	var events bytes.Buffer
	events.WriteString("[\n  {\n    \"timestamp\": \"2026-01-01 00:00:00.0\",\n    \"type\": \"turn_start\"\n  }")
	element := func(format string, args ...any) {
		fmt.Fprintf(&events, ",\n  {\n    \"timestamp\": \"2026-01-01 00:00:01.0\",\n    "+format+"\n  }", args...)
	}
	element("\"type\": \"chat_request\",\n    \"content\": \"question %d\"", number)
	for i := range n {
		text := sourceText(random)
		ref := blobs.RefTo(text)
		files = append(files, file{".jp/blobs/" + ref.Hash.Path(), blobs.Encode(text)})
		element("\"type\": \"tool_call_request\",\n    \"id\": \"call_%d\",\n    \"name\": \"fs_read_file\",\n    \"arguments\": {}", i)
		element("\"type\": \"tool_call_response\",\n    \"id\": \"call_%d\",\n    \"content\": [\n      {\n        \"type\": \"text\",\n        \"content\": {\n          \"$blob\": \"%s\",\n          \"size\": %d\n        }\n      }\n    ],\n    \"is_error\": false", i, ref.Hash, ref.Size)
	}
	element("\"type\": \"chat_response\",\n    \"message\": \"answer %d\"", number)
	events.WriteString("\n]\n")
	meta := fmt.Sprintf("{\n  \"title\": \"Generated %d\",\n  \"last_activated_at\": \"2026-01-01 00:00:00.0\"\n}\n", number)
	return append(files,
		file{dir + "/metadata.json", []byte(meta)},
		file{dir + "/base_config.json", []byte("{}\n")},
		file{dir + "/events.json", events.Bytes()})
}

var words = strings.Fields(`func return if err nil for range package import string struct type
	interface map chan go defer select case default const var error context index read write open
	close file path hash blob stream event turn call root commit tree branch merge`)

// sourceText returns text that compresses like source code.
func sourceText(random *rand.Rand) []byte {
	var b bytes.Buffer
	for size := 200 + random.IntN(3800); b.Len() < size; {
		fmt.Fprintf(&b, "%s %d", words[random.IntN(len(words))], random.IntN(1000))
		if random.IntN(6) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.Bytes()
}

// repository makes a workspace with the given conversations in a repository.
func (b *builder) repository(conversations, blobsEach int, commit bool) error {
	if err := b.git("init", "-q"); err != nil {
		return err
	}
	if !commit {
		return b.each(conversations, blobsEach, func(f file) error { return b.write(f.path, f.data) })
	}
	err := b.fastImport(func(w io.Writer) error {
		beginCommit(w, "main", 0)
		return b.each(conversations, blobsEach, func(f file) error { return f.add(w) })
	})
	if err != nil {
		return err
	}
	return b.git("symbolic-ref", "HEAD", "refs/heads/main")
}

// beginCommit begins commit n of a branch for git fast-import.
func beginCommit(w io.Writer, branch string, n int) {
	fmt.Fprintf(w, "commit refs/heads/%s\n", branch)
	if n == 0 {
		fmt.Fprint(w, "mark :1\n")
	}
	fmt.Fprintf(w, "committer Ada <ada@example.com> %d +0000\ndata 1\nx\n", firstCommit+n)
}

func (b *builder) each(conversations, blobsEach int, do func(file) error) error {
	if err := do(identity()); err != nil {
		return err
	}
	for n := range max(conversations/b.scale, 1) {
		for _, f := range conversation(n, blobsEach) {
			if err := do(f); err != nil {
				return err
			}
		}
	}
	return nil
}
