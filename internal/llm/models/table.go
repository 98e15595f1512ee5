package models

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/pelletier/go-toml/v2"
)

//go:embed models.toml
var builtinTable []byte

// A Row is the known data of one model. Zero means unknown.
type Row struct {
	ID        string   `toml:"id"`
	Names     []string `toml:"names"` // other ids of the same model
	Window    int      `toml:"window"`
	Output    int      `toml:"output"`
	Price     Price    `toml:"price"`
	Above     *Tier    `toml:"above"`
	Cache     Cache    `toml:"cache"`
	Accepts   []string `toml:"accepts"` // "image", "pdf", "audio"
	Reasoning bool     `toml:"reasoning"`
	// Source is where the figures were read, and AsOf when.
	Source string         `toml:"source"`
	AsOf   toml.LocalDate `toml:"as_of"`
}

// A Price is in USD per million tokens.
type Price struct {
	Input     float64 `toml:"input"`
	Output    float64 `toml:"output"`
	Read      float64 `toml:"read"`
	Write     float64 `toml:"write"`
	WriteLong float64 `toml:"write_long"`
}

// A Tier is the price of requests whose prompt has more than Tokens.
type Tier struct {
	Tokens int64 `toml:"tokens"`
	Price
}

// A Cache describes how a provider caches prompts.
type Cache struct {
	TTL     Duration `toml:"ttl"`
	TTLLong Duration `toml:"ttl_long"` // the longer lifetime on request, 0 for none
	Gone    Duration `toml:"gone"`     // after which an entry has certainly expired, 0 if unknown
	// GoneLong is Gone for an entry with the longer lifetime.
	GoneLong Duration `toml:"gone_long"`
	Minimum  int      `toml:"minimum"` // smallest cached prompt, in tokens
	Grain    int      `toml:"grain"`   // prompts are cached in multiples of that, in tokens
}

// A Duration is written as "5m" in a table.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// A Table is a list of rows.
type Table struct {
	rows []Row
}

// Builtin returns the table that comes with the program.
func Builtin() (*Table, error) { return Decode(builtinTable) }

// Decode reads a table.
func Decode(data []byte) (*Table, error) {
	var file struct {
		Model []Row `toml:"model"`
	}
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("read the table of models: %w", err)
	}
	for _, r := range file.Model {
		if _, _, err := Parse(r.ID); err != nil {
			return nil, fmt.Errorf("read the table of models: %w", err)
		}
	}
	return &Table{rows: file.Model}, nil
}

// OwnFile is the user's table, beside the user's configuration. A file in a repository is never
// read: whoever sets a price decides what a spending limit permits.
const OwnFile = "git-jp-models.toml"

// Known returns the built-in table, preceded by the rows of the user's own in dir, if it exists and
// dir is not "".
func Known(dir string) (*Table, error) {
	table, err := Builtin()
	if err != nil || dir == "" {
		return table, err
	}
	name := filepath.Join(dir, OwnFile)
	data, err := regular.ReadFile(name, regular.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return table, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the table of models: %w", err)
	}
	own, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	seen := map[string]bool{}
	for i, r := range own.rows {
		if err := cmp.Or(r.fault(), twice(seen, r.ID)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, r.ID, err)
		}
		if r.Source == "" {
			own.rows[i].Source = OwnFile
		}
	}
	return table.With(own), nil
}

func twice(seen map[string]bool, id string) error {
	if seen[id] {
		return errors.New("the model is listed twice")
	}
	seen[id] = true
	return nil
}

const (
	maxPrice  = 1e5           // USD per million tokens: more is a mistake
	maxTokens = 1_000_000_000 // of a window
)

// fault returns what is wrong with a row that a user wrote. Spending limits rely on it, so no value
// may make a request cost less than nothing.
func (r Row) fault() error {
	prices := []Price{r.Price}
	if r.Above != nil {
		prices = append(prices, r.Above.Price)
	}
	for _, p := range prices {
		for _, v := range []float64{p.Input, p.Output, p.Read, p.Write, p.WriteLong} {
			if !(v >= 0 && v <= maxPrice) { // which is false for NaN
				return fmt.Errorf("price %v: expected dollars for a million tokens", v)
			}
		}
	}
	said := r.Price != (Price{}) || r.Above != nil
	switch {
	case said && (r.Price.Input == 0 || r.Price.Output == 0):
		return errors.New("a price needs input and output, more than 0")
	case said && r.AsOf == (toml.LocalDate{}):
		return errors.New("the price has no date: as_of is missing")
	case r.Window < 0 || r.Window > maxTokens || r.Output < 0 || r.Output > maxTokens:
		return errors.New("window and output: expected a number of tokens")
	case r.Cache.TTL < 0 || r.Cache.TTLLong < 0 || r.Cache.Gone < 0 || r.Cache.GoneLong < 0 ||
		r.Cache.Minimum < 0 || r.Cache.Grain < 0:
		return errors.New("cache: expected no number below 0")
	}
	return nil
}

// With returns the table with the rows of another before its own: they take precedence. Values
// missing from such a row are taken from the model's earlier row. The price, its tier and its date
// are one value.
func (t *Table) With(other *Table) *Table {
	rows := slices.Clone(other.rows)
	for i, r := range rows {
		if before, ok := t.Find(r.ID); ok {
			rows[i] = r.over(before)
		}
	}
	return &Table{rows: append(rows, t.rows...)}
}

// over returns a row with its missing values taken from another one.
func (r Row) over(before Row) Row {
	if r.Price == (Price{}) && r.Above == nil {
		r.Price, r.Above = before.Price, before.Above
		r.AsOf, r.Source = before.AsOf, before.Source
	}
	r.Window, r.Output = cmp.Or(r.Window, before.Window), cmp.Or(r.Output, before.Output)
	r.Cache = cmp.Or(r.Cache, before.Cache)
	if r.Accepts == nil {
		r.Accepts = before.Accepts
	}
	r.Reasoning = r.Reasoning || before.Reasoning
	return r
}

// Rows returns the rows in their order.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Find returns the row that has the id as its own or among its names. If there is none, it looks
// for the id without its release date or "latest". A nil table has no rows.
func (t *Table) Find(id string) (Row, bool) {
	if t == nil {
		return Row{}, false
	}
	for _, wanted := range []string{id, undated(id)} {
		for _, r := range t.rows {
			if r.ID == wanted || slices.Contains(r.Names, wanted) {
				return r, true
			}
		}
	}
	return Row{}, false
}

// undated removes "-20250929", "-2025-08-07" and "-latest" from the end of an id.
func undated(id string) string {
	for _, layout := range []string{"-20060102", "-2006-01-02"} {
		if cut := len(id) - len(layout); cut > 0 {
			if _, err := time.Parse(layout, id[cut:]); err == nil {
				return id[:cut]
			}
		}
	}
	return strings.TrimSuffix(id, "-latest")
}

// Of returns the price of a request with a prompt of so many tokens. Cached tokens without a price
// of their own cost the same as input. The price is zero if unknown.
func (r Row) Of(prompt int64) Price {
	p := r.Price
	if r.Above != nil && prompt > r.Above.Tokens {
		p = r.Above.Price
	}
	p.Read = cmp.Or(p.Read, p.Input)
	p.Write = cmp.Or(p.Write, p.Input)
	p.WriteLong = cmp.Or(p.WriteLong, p.Write)
	return p
}

// Cost returns the cost of an exchange in USD; ok is false if the price is unknown. Long is how
// many of the tokens that were written to the cache have the longer lifetime.
func (r Row) Cost(u llm.Usage, long int64) (usd float64, ok bool) {
	if r.Price == (Price{}) {
		return 0, false
	}
	p := r.Of(u.Prompt())
	long = min(long, u.CacheWrite)
	const million = 1e6
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.Read +
		float64(u.CacheWrite-long)*p.Write + float64(long)*p.WriteLong) / million, true
}

// Offered returns a table of one model with the price from its provider's list on a day, nil if the
// list has none.
func Offered(id string, p llm.Price, on time.Time) *Table {
	if p.Input == 0 {
		return nil
	}
	return &Table{rows: []Row{{
		ID: id, Price: Price{Input: p.Input, Output: p.Output, Read: p.Read, Write: p.Write},
		Source: "the provider's list of models",
		AsOf:   toml.LocalDate{Year: on.Year(), Month: int(on.Month()), Day: on.Day()},
	}}}
}

// Priced returns the row of a model, and whether its price is known.
func (t *Table) Priced(id string) (Row, bool) {
	row, _ := t.Find(id)
	return row, row.Price != (Price{})
}
