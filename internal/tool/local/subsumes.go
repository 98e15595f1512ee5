package local

import (
	"context"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// maxSubsumes limits the time of a tool to answer whether a call subsumes another one.
const maxSubsumes = 10 * time.Second

// Subsumes asks the tool whether a call makes an earlier one obsolete. The tool is run with the
// action "subsumes" and the arguments of both calls, and answers "true" or "false". Any other
// answer means that it does not support the action, so that only equal arguments count.
func (t *Tool) Subsumes(ctx context.Context, earlier, later jsontext.Value) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, maxSubsumes)
	defer cancel()
	var both tool.Object
	both.Add("earlier", orElse(earlier, "{}"))
	both.Add("later", orElse(later, "{}"))
	c := tool.Call{Name: t.config.Name, Arguments: both.Value()}
	o, err := t.start(ctx, t.command, t.values(c, nil, actionSubsumes))
	if err != nil || o.question != nil || o.result.IsError {
		return false, err
	}
	return strings.TrimSpace(strings.Join(o.texts(), "")) == "true", nil
}
