package prepare

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/builtin"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// Value parses the value of one of jp's keys, and refuses values that cannot work. It loads the
// configuration only if needed.
func Value(
	path []string, text string, load func() (*jpconfig.Config, error),
) (any, error) {
	value, err := jpconfig.Typed(path, text)
	if err != nil {
		return nil, err
	}
	switch last := path[len(path)-1]; {
	case last == "id" && slices.Contains(path, "model"):
		err = reachable(text, load)
	case last == "base_url" && path[0] == "providers":
		err = validAddress(text)
	case last == "api_key_env" && !variableName(text):
		err = errors.New("expected the name of the variable that has the key, not the key")
	}
	return value, err
}

// variableName reports whether text can name an environment variable.
func variableName(text string) bool {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(text)
}

func validAddress(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("expected an address like http://localhost:8080/v1, found %q", text)
	}
	return nil
}

// reachable returns an error if a model cannot be asked: its name refers to no model, or its
// provider has no address.
func reachable(name string, load func() (*jpconfig.Config, error)) error {
	if name == builtin.ID {
		return nil
	}
	conf, err := load()
	if err != nil {
		return err
	}
	id, err := conf.ResolveModel(name)
	if err != nil {
		return fmt.Errorf("%w; expected provider/name", err)
	}
	provider, _, _ := llm.SplitID(id.String())
	_, known := models.Find(provider)
	if _, _, placed := conf.Value("providers", "llm", provider, "base_url"); known || placed {
		return nil
	}
	return fmt.Errorf("unknown provider %q; built in are %s, and another one needs "+
		"providers.llm.%s.base_url first",
		provider, strings.Join(models.ProviderNames(), ", "), provider)
}
