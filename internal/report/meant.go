package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
)

// meant returns the closest of the known words, if less than a third of it is mistyped, else "".
func meant(word string, known []string) (best string) {
	least := len(word)/3 + 1
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many bytes must be added, removed, changed or swapped with the next one to
// turn a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), lists.Numbers(len(b)+1)
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// didYouMean returns the beginning of a hint, "" without a guess.
func didYouMean(guess string) string {
	if guess == "" {
		return ""
	}
	return fmt.Sprintf("did you mean '%s'? ", guess)
}

// meantModel guesses at a model whose provider is left out or mistyped.
func meantModel(err error) string {
	name := new(models.NameError)
	errors.As(err, &name)
	if provider, rest, ok := llm.SplitID(name.Name); ok {
		if guess := meant(provider, models.ProviderNames()); guess != "" && guess != provider {
			return didYouMean(guess + "/" + rest)
		}
		return ""
	}
	table, err := models.Builtin()
	if err != nil {
		return ""
	}
	ids := map[string]string{}
	var names []string
	for _, row := range table.Rows() {
		_, short, _ := llm.SplitID(row.ID)
		ids[short] = row.ID
		names = append(names, short)
	}
	return didYouMean(ids[meant(name.Name, names)])
}

// SettingKeys returns our keys and jp's that name one setting, sorted.
func SettingKeys() (keys []string) {
	for _, k := range config.Known() {
		keys = append(keys, k.Name)
	}
	keys = append(keys, jpconfig.KnownKeys()...)
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool {
		return strings.ContainsAny(key, "<*")
	})
}

// settingHints help with a key or a value of the configuration. If a file cannot be read at all,
// the message says where.
func settingHints(err error) []string {
	var key string
	if fault, ok := errors.AsType[*config.KeyError](err); ok {
		if key = fault.Key; key == "" {
			return nil
		}
	}
	if fault, ok := errors.AsType[*config.SettingError](err); ok {
		key = fault.Key
	}
	guess := meant(key, append(SettingKeys(), "get", "set", "show", "unset"))
	if guess == key {
		guess = ""
	}
	return []string{didYouMean(guess) + "'git jp help config' lists the keys"}
}
