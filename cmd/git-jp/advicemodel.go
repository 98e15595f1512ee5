package main

import (
	"errors"
	"strings"

	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool"
)

// othersHint says where to look for another model.
const othersHint = "'git jp models' lists what can be asked"

// modelHint helps where a model could not be asked, or did not answer.
func modelHint(err error) string {
	key, answer, name := new(models.KeyError), new(llm.APIError), new(tool.NameError)
	switch {
	case isA[*query.PartialError](err):
		return "'git jp query -E' asks for the rest"
	case errors.Is(err, errNobodyToSetUp):
		return "without questions: 'git jp config set assistant.model.id PROVIDER/NAME'"
	case errors.As(err, &key) && key.Provider.KeyEnv != "":
		return "put it into " + key.Provider.KeyEnv + "; " + othersHint
	case isA[*models.KeyError](err), isA[*models.NameError](err),
		errors.Is(err, jpconfig.ErrModelName):
		return othersHint
	case isA[*llm.OverflowError](err):
		return "'git jp compact' makes the conversation smaller, 'git jp stats' says what is in it"
	case isA[*llm.UnsupportedError](err):
		return "take it away with 'git jp attachment rm', or out of a directory with an" +
			" attachment such as '!docs/x.png', or ask another model; " + othersHint
	case errors.As(err, &answer):
		return answerHint(answer)
	case isA[*llm.UnreachableError](err), isA[*llm.PageError](err), isA[*llm.IdleError](err):
		return networkHint(err)
	case errors.As(err, &name):
		return "the tools are " + strings.Join(name.Known, ", ")
	default:
		return ""
	}
}

// networkHint names the setting of the address or of the time that was in the way.
func networkHint(err error) string {
	gone, page, idle := new(llm.UnreachableError), new(llm.PageError), new(llm.IdleError)
	set := func(provider string) string {
		return "'git jp config set providers.llm." + provider + ".base_url URL'"
	}
	switch {
	case errors.As(err, &gone):
		if p, known := models.Find(gone.Provider); p.Local || !known {
			return "start " + p.Name + ", or name its address: " + set(p.Name)
		}
		return "look at the network, HTTPS_PROXY and the address: " + set(gone.Provider)
	case errors.As(err, &page):
		return "name the address of the API: " + set(page.Provider)
	case errors.As(err, &idle) && idle.First:
		return "'git jp config set --user network.first_token_timeout 20m' waits longer"
	default:
		return "'git jp config set assistant.request.stream_idle_timeout_secs 300' waits longer"
	}
}

// answerHint helps with what a provider does not do.
func answerHint(e *llm.APIError) string {
	switch p, _ := models.Find(e.Provider); {
	case e.Unauthorized() && p.KeyEnv != "":
		return "look at the key in " + p.KeyEnv + ", or in the variable that api_key_env names"
	case e.NotFound():
		return "'git jp models " + e.Provider + "' lists what it has"
	default:
		return ""
	}
}

// privateHint says how a host of a private network is let through, ready to be copied where a
// shell reads the host as one word.
func privateHint(err error) string {
	const command = "git jp config set --user network.private_hosts"
	private := new(attach.PrivateError)
	errors.As(err, &private)
	if strings.Trim(strings.ToLower(private.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return "'" + command + " HOST' lets attachments be fetched from it"
	}
	return "'" + command + " " + private.Host + "' lets attachments be fetched from it"
}
