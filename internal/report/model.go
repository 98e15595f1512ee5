package report

import (
	"errors"
	"strings"

	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
)

// othersHint says where to look for another model.
const othersHint = "'git jp models' lists what can be asked"

// againHint is for errors that may pass. The conversation has the question or not: that of
// --no-persist, and what other commands ask, is in none.
func againHint(err error) string {
	if isA[*query.AskedError](err) {
		return "'git jp query -E' asks again"
	}
	return "the same command asks again"
}

// modelHint helps if a model could not be asked, or did not answer.
func modelHint(err error) string {
	key, answer, name := new(models.KeyError), new(llm.APIError), new(tool.NameError)
	switch {
	case errors.Is(err, query.ErrCycles) && isA[*query.AskedError](err):
		return "'git jp query -E' lets it go on"
	case isA[*query.PartialError](err):
		return "'git jp query -E' asks for the rest"
	case isA[*query.EmptyError](err):
		return againHint(err)
	case errors.As(err, &key) && key.Provider.KeyEnv != "":
		return "set " + key.Provider.KeyEnv + " in your environment; " + othersHint
	case isA[*models.NameError](err):
		return meantModel(err) + othersHint
	case isA[*models.KeyError](err), errors.Is(err, jpconfig.ErrModelName):
		return othersHint
	case isA[*query.CrowdedError](err):
		return "'git jp compact --keep-calls 1' strips all results but the last, " +
			"'git jp compact --strategy strip-attachments --keep-last 0' drops what is attached, " +
			"'git jp fork --last 1' goes on from the last turn alone"
	case isA[*llm.OverflowError](err):
		return "'git jp compact' makes the conversation smaller, 'git jp stats' says what is in it"
	case isA[*llm.UnsupportedError](err):
		return "remove it with 'git jp attachment rm', or from a directory with an" +
			" attachment such as '!docs/x.png', or ask another model; " + othersHint
	case errors.As(err, &answer):
		return answerHint(err, answer)
	case isA[*wire.UnreachableError](err), isA[*wire.PageError](err), isA[*wire.IdleError](err),
		isA[*wire.CutError](err), isA[*wire.ForeignError](err):
		return networkHint(err)
	case errors.As(err, &name):
		return "the tools are " + strings.Join(name.Known, ", ")
	default:
		return ""
	}
}

// networkHint names the setting of the address or of the timeout that caused the error.
func networkHint(err error) string {
	gone, page, idle := new(wire.UnreachableError), new(wire.PageError), new(wire.IdleError)
	cut, foreign := new(wire.CutError), new(llm.WireError)
	set := func(provider string) string {
		return "'git jp config set providers.llm." + provider + ".base_url URL'"
	}
	switch {
	case errors.As(err, &gone) && gone.IsUntrusted():
		return "if the server is your own, name the file with its certificate: SSL_CERT_FILE=FILE"
	case errors.As(err, &gone):
		switch p, known := models.Find(gone.Provider); {
		case p.Local:
			return "start " + p.Name + ", or name its address: " + set(p.Name)
		case !known && models.IsHere(gone.Address):
			return "start the server, or name its address: " + set(p.Name)
		}
		return "check the network, HTTPS_PROXY and the address: " + set(gone.Provider)
	case isA[*wire.ForeignError](err) && errors.As(err, &foreign):
		return "name the address of the API: " + set(foreign.Provider)
	case errors.As(err, &page):
		return "name the address of the API: " + set(page.Provider)
	case errors.As(err, &cut):
		return againHint(err) + "; if that fails too, check the address: " + set(cut.Provider)
	case errors.As(err, &idle) && idle.First:
		return "'git jp config set --user network.first_token_timeout 20m' waits longer"
	default:
		return "'git jp config set assistant.request.stream_idle_timeout_secs 300' waits longer"
	}
}

// answerHint helps with errors that a provider returns.
func answerHint(err error, e *llm.APIError) string {
	switch p, _ := models.Find(e.Provider); {
	case e.Unauthorized() && p.KeyEnv != "":
		return "check the key in " + p.KeyEnv + ", or in the variable that api_key_env names"
	case e.NotFound():
		return "'git jp models " + e.Provider + "' lists what it has"
	case e.Retryable:
		return againHint(err)
	default:
		return ""
	}
}

// privateHint says how to allow a host of a private network, ready to be copied if a shell reads
// the host as one word.
func privateHint(err error) string {
	private := new(attach.PrivateError)
	errors.As(err, &private)
	host := private.Host
	if strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		host = "HOST"
	}
	return "'git jp config set --user network.private_hosts " + host +
		"' lets attachments be fetched from it"
}
