package models

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/anthropic"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/chat"
	"github.com/git-jp/git-jp/internal/llm/gemini"
	"github.com/git-jp/git-jp/internal/llm/ollama"
	"github.com/git-jp/git-jp/internal/llm/openai"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A Provider offers models.
type Provider struct {
	Name string
	// KeyEnv is the environment variable that usually has the key, "" if none is needed. This
	// package does not read it.
	KeyEnv string
	Format wire.Format
	// Local providers run on this machine.
	Local bool
}

// Searches reports whether the provider has a web search for its models.
func (p Provider) Searches() bool {
	switch p.Format {
	case wire.FormatAnthropic, wire.FormatResponses, wire.FormatGemini:
		return true
	default:
		return p.Name == chat.OpenRouter
	}
}

// Providers returns the providers with known addresses, in the order in which they are offered.
func Providers() []Provider {
	return []Provider{
		{"anthropic", "ANTHROPIC_API_KEY", wire.FormatAnthropic, false},
		{"openai", "OPENAI_API_KEY", wire.FormatResponses, false},
		{"google", "GEMINI_API_KEY", wire.FormatGemini, false},
		{chat.OpenRouter, "OPENROUTER_API_KEY", wire.FormatChat, false},
		{chat.DeepSeek, "DEEPSEEK_API_KEY", wire.FormatChat, false},
		{chat.XAI, "XAI_API_KEY", wire.FormatChat, false},
		{chat.Mistral, "MISTRAL_API_KEY", wire.FormatChat, false},
		{chat.Cerebras, "CEREBRAS_API_KEY", wire.FormatChat, false},
		{"ollama", "", wire.FormatOllama, true},
		{chat.LlamaCPP, "", wire.FormatChat, true},
		{chat.VLLM, "", wire.FormatChat, true},
		{chat.LMStudio, "", wire.FormatChat, true},
	}
}

// ProviderNames returns the names of [Providers].
func ProviderNames() []string {
	return lists.Map(Providers(), func(p Provider) string { return p.Name })
}

// Find returns a provider by name. An unknown provider uses chat completions, at the configured
// address.
func Find(name string) (p Provider, known bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{Name: name, Format: wire.FormatChat}, false
}

// Options configure the access to a model.
type Options struct {
	// Key returns the provider's key, "" for none: local and unknown providers may need one or not.
	// A nil Key returns "".
	Key func(p Provider) (string, error)
	// BaseURL is the address of the provider, "" for its default.
	BaseURL string
	// KeyHeader is the header of the key, and Format the provider's format; "" for the defaults.
	KeyHeader string
	Format    wire.Format
	// Client configures the HTTP client; [New] sets its provider and format.
	Client    wire.ClientOptions
	Retry     llm.Retry
	Now       func() time.Time
	UserAgent string
	Anthropic anthropic.Options
}

// A KeyError says that a provider needs a key and none is set.
type KeyError struct {
	Provider Provider
}

// Error implements error.
func (e *KeyError) Error() string {
	text := "there is no key for " + e.Provider.Name
	if e.Provider.KeyEnv != "" {
		text += ": " + e.Provider.KeyEnv + " is not set"
	}
	return text
}

// New returns the model with this id.
func New(id string, o Options) (llm.Model, error) {
	if id == builtin.ID {
		return builtin.New(builtin.Options{}), nil
	}
	provider, name, err := Parse(id)
	if err != nil {
		return nil, err
	}
	p, known := Find(provider)
	p.Format = cmp.Or(o.Format, p.Format)
	if !known && o.BaseURL == "" {
		return nil, &NameError{id, fmt.Sprintf("unknown provider %q", provider)}
	}
	at, err := o.endpoint(p)
	if err != nil {
		return nil, err
	}
	switch p.Format {
	case wire.FormatAnthropic:
		return anthropic.New(name, at, o.Anthropic), nil
	case wire.FormatResponses:
		return openai.New(name, at), nil
	case wire.FormatGemini:
		return gemini.New(name, at), nil
	case wire.FormatOllama:
		return ollama.New(name, at), nil
	case wire.FormatChat:
		return chat.New(name, at), nil
	default:
		return nil, &NameError{id, fmt.Sprintf("unknown format %q of its provider", p.Format)}
	}
}

// firstHere limits the wait for a server on this machine: it may have to load a model first, and
// reads a long prompt slowly.
const firstHere = 10 * time.Minute

// IsHere reports whether an address is on this machine or in its private network.
func IsHere(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && (ip.IsLoopback() || ip.IsPrivate())
}

// isHere reports whether a provider is, at the configured address.
func (p Provider) isHere(base string) bool {
	if base == "" {
		return p.Local
	}
	return IsHere(base)
}

func (o Options) endpoint(p Provider) (llm.Endpoint, error) {
	key := ""
	if o.Key != nil {
		var err error
		if key, err = o.Key(p); err != nil {
			return llm.Endpoint{}, err
		}
	}
	if key == "" && p.KeyEnv != "" {
		return llm.Endpoint{}, &KeyError{p}
	}
	o.Client.Provider, o.Client.Format = p.Name, p.Format
	if o.Client.First == 0 && p.isHere(o.BaseURL) {
		o.Client.First = firstHere
	}
	return llm.Endpoint{
		Provider: p.Name, BaseURL: o.BaseURL, Key: key, KeyHeader: o.KeyHeader,
		Client: wire.NewClient(o.Client), Patience: llm.PatienceOf(o.Client),
		Retry: o.Retry, Now: o.Now, UserAgent: o.UserAgent,
	}, nil
}
