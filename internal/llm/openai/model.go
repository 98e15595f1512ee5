package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// DefaultBaseURL is where OpenAI answers.
const DefaultBaseURL = "https://api.openai.com"

// A Model is one of OpenAI's, or of a server that speaks its format. It implements
// [llm.Model] and [llm.Catalog].
type Model struct {
	name    string
	at      llm.Endpoint
	trait   trait
	service responses.ResponseService
}

var (
	_ llm.Model   = (*Model)(nil)
	_ llm.Catalog = (*Model)(nil)
)

// New returns the model of this name, without the provider.
func New(name string, at llm.Endpoint) *Model {
	if at.Provider == "" {
		at.Provider = "openai"
	}
	at.BaseURL = base(at.BaseURL)
	return &Model{
		name: name, at: at, trait: traitOf(name),
		service: responses.NewResponseService(clientOptions(at)...),
	}
}

// base returns the address below which the paths of the format lie. People write it with and
// without the version.
func base(url string) string {
	if url == "" {
		url = DefaultBaseURL
	}
	url = strings.TrimRight(url, "/")
	if !strings.HasSuffix(url, "/v1") {
		url += "/v1"
	}
	return url + "/"
}

func clientOptions(at llm.Endpoint) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(at.BaseURL),
		option.WithHTTPClient(at.Client),
		option.WithMaxRetries(0),
	}
	for name, values := range at.Bearer() {
		opts = append(opts, option.WithHeaderDel(name))
		for _, v := range values {
			opts = append(opts, option.WithHeaderAdd(name, v))
		}
	}
	return opts
}

// ID implements [llm.Model].
func (m *Model) ID() string { return m.at.ID(m.name) }

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return m.at.Stream(ctx, r, m.exchange)
}

// exchange sends the request and reads the answer.
func (m *Model) exchange(
	ctx context.Context, r *llm.Request, unsigned bool, yield func(llm.Delta, error) bool,
) error {
	b := &builder{
		model: m, request: r, names: llm.NewNames(r.Tools, nameRule()), ids: map[string]bool{},
		unsigned: unsigned,
	}
	params, err := b.build()
	if err != nil {
		return err
	}
	res, err := m.send(ctx, params)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // only read
	return newReader(m, r, b.names, yield).read(res.Body)
}

// send posts one body and returns the answer's, which the caller closes.
func (m *Model) send(
	ctx context.Context, params responses.ResponseNewParams,
) (*http.Response, error) {
	var res *http.Response
	_, err := m.service.New(ctx, params, option.WithJSONSet("stream", true),
		option.WithHeader("Accept", "text/event-stream"), option.WithResponseBodyInto(&res))
	var api *responses.Error
	if errors.As(err, &api) && api.Response != nil {
		res, err = api.Response, nil
	}
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	return nil, llm.ReadError(m.ID(), res, m.at.Now)
}

// Models implements [llm.Catalog].
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := m.at.Fetch(ctx, m.name, m.at.BaseURL+"models", m.at.Bearer(), &list); err != nil {
		return nil, err
	}
	infos := make([]llm.Info, len(list.Data))
	for i, d := range list.Data {
		infos[i] = llm.Info{ID: d.ID, Reasoning: traitOf(d.ID).reasons}
	}
	return infos, nil
}
