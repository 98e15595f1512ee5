package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

const bigID = "17000000001"

// bigConversation makes a conversation with 10 MB of results, and returns how much text it has.
func (b *builder) bigConversation() (int64, error) {
	const turns, calls = 200, 10
	result := strings.Repeat("The quick brown fox jumps over the lazy dog, in a line of prose.\n", 77)
	var all []map[string]any
	size := 0
	for turn := range turns / b.scale {
		at := fmt.Sprintf("2026-01-01 %02d:%02d:00.0", turn/60, turn%60)
		add := func(kind string, members map[string]any) {
			members["timestamp"], members["type"] = at, kind
			all = append(all, members)
		}
		add("turn_start", map[string]any{})
		add("chat_request", map[string]any{"content": fmt.Sprintf("question %d", turn)})
		for c := range calls {
			id := fmt.Sprintf("c%d", c)
			add("tool_call_request", map[string]any{"id": id, "name": "shell", "arguments": struct{}{}})
			add("tool_call_response", map[string]any{
				"id": id, "is_error": false,
				"content": base64.StdEncoding.EncodeToString([]byte(result)),
			})
			size += len(result)
		}
		add("chat_response", map[string]any{"message": result})
		size += len(result)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return 0, err
	}
	dir := ".jp/conversations/" + bigID + "/"
	return int64(size), errors.Join(b.write(dir+"events.json", data),
		b.write(dir+"base_config.json", []byte("{}\n")),
		b.write(dir+"metadata.json", []byte(`{"last_activated_at": "2026-01-01 00:00:00.0"}`)))
}

// pageOfBig writes a page of a large conversation. Its opponent reads the page's input.
func pageOfBig(b *builder) (ours, theirs side, err error) {
	_, err = b.bigConversation()
	theirs = b.other("cat events.json", "cat", ".jp/conversations/"+bigID+"/events.json")
	return b.jp("export", "--format", "html", bigID), theirs, err
}

// pageSize compares the bytes of the page with those of the text in it.
func pageSize(b *builder) (ours, theirs side, err error) {
	size, err := b.bigConversation()
	if err != nil {
		return ours, theirs, err
	}
	cmd := exec.Command(b.binary, "export", "--format", "html", bigID)
	cmd.Dir, cmd.Env = b.dir, environment()
	page, err := cmd.Output()
	return side{label: "bytes of the page", amount: int64(len(page))},
		side{label: "bytes of the text", amount: size}, err
}

// siteOf writes the pages of 10,000 conversations, or finds that all exist. Its opponent reads
// them.
func siteOf(again bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		err = b.shared("conversations", b.conversations)
		ours = b.jp("site", "-q", "pages")
		if !again {
			ours.before = func() error { return b.aside("pages") }
		}
		return ours, b.shell("cat events.json", "cat .jp/conversations/*/*.json"), err
	}
}

// webList requests the list of 10,000 conversations from a server: the first time, or once more.
func webList(warm bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		err = b.shared("conversations", b.conversations)
		ours = side{label: "web", do: func() (time.Duration, error) { return b.listed(warm) }}
		return ours, b.shell("cat events.json", "cat .jp/conversations/*/*.json"), err
	}
}

// listed starts a server, and returns how long the list took.
func (b *builder) listed(warm bool) (took time.Duration, err error) {
	cmd := exec.Command(b.binary, "web")
	cmd.Dir, cmd.Env = b.dir, environment()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, err
	}
	ask := func() error {
		answer, err := http.Get(strings.TrimSpace(address)) // on loopback
		if err != nil {
			return err
		}
		page, err := io.ReadAll(answer.Body)
		if err == nil && !bytes.Contains(page, []byte("</html>")) {
			err = fmt.Errorf("the list ends after %d bytes", len(page))
		}
		return errors.Join(err, answer.Body.Close())
	}
	if warm {
		if err := ask(); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err = ask()
	return time.Since(start), err
}
