package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parse parses text from a command line as a value of k.
func (k Key) parse(text string) (any, error) {
	var v any = text
	switch k.Kind {
	case Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("expected true or false, found %q", text)
		}
		v = b
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("expected a whole number, found %q", text)
		}
		v = n
	case Fraction, Money:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("expected a number, found %q", text)
		}
		v = f
	case Strings:
		v = strings.Split(text, ",")
	}
	return k.coerce(v)
}

// coerce converts v, from a file or JSON, to the Go type of k's kind.
func (k Key) coerce(v any) (any, error) {
	switch k.Kind {
	case Bool:
		return want[bool](v, "true or false")
	case Int:
		return wholeNumber(v)
	case Size:
		return size(v)
	case Fraction:
		return fraction(v)
	case Money:
		return money(v)
	case Duration:
		return duration(v)
	case Strings:
		return k.list(v)
	default:
		return k.choice(v)
	}
}

func want[T any](v any, what string) (any, error) {
	if t, ok := v.(T); ok {
		return t, nil
	}
	return nil, fmt.Errorf("expected %s, found %s", what, describe(v))
}

func wholeNumber(v any) (any, error) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case int:
		n = int64(v)
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return nil, fmt.Errorf("expected a whole number, found %s", describe(v))
		}
		n = int64(v)
	default:
		return nil, fmt.Errorf("expected a whole number, found %s", describe(v))
	}
	if n < 0 {
		return nil, fmt.Errorf("expected no negative number, found %d", n)
	}
	return n, nil
}

// size accepts a number of bytes, or a number with one of the usual units.
func size(v any) (any, error) {
	if text, ok := v.(string); ok {
		n, err := parseSize(text)
		if err != nil {
			return nil, err
		}
		v = n
	}
	n, err := wholeNumber(v)
	if err == nil && n == int64(0) {
		err = errors.New("expected at least one byte")
	}
	return n, err
}

func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGikbmg ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a size like 50MiB, found %q", text)
	}
	var shift int
	switch strings.ToLower(strings.TrimSpace(text[len(digits):])) {
	case "", "b":
	case "k", "kb", "kib":
		shift = 10
	case "m", "mb", "mib":
		shift = 20
	case "g", "gb", "gib":
		shift = 30
	default:
		return 0, fmt.Errorf("expected a size like 50MiB, found %q", text)
	}
	if n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("size %q is out of range", text)
	}
	return n << shift, nil
}

// number returns a number of either type, not a negative integer.
func number(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	n, err := wholeNumber(v)
	if err != nil {
		return 0, false
	}
	return float64(n.(int64)), true
}

func fraction(v any) (any, error) {
	f, ok := number(v)
	if !ok {
		return nil, fmt.Errorf("expected a number from 0 to 1, found %s", describe(v))
	}
	if !(f >= 0 && f <= 1) { // also refuses NaN
		return nil, fmt.Errorf("expected a number from 0 to 1, found %v", f)
	}
	return f, nil
}

func money(v any) (any, error) {
	f, ok := number(v)
	if !ok || !(f >= 0 && f < math.MaxInt64) { // also refuses NaN
		return nil, fmt.Errorf("expected an amount of US dollars like 0.50, found %s", describe(v))
	}
	return f, nil
}

// duration accepts Go's format, and whole days and weeks.
func duration(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("expected a duration like 14d, found %s", describe(v))
	}
	d, err := time.ParseDuration(text)
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if n, found := strings.CutSuffix(text, suffix); found {
			var count int64
			count, err = strconv.ParseInt(n, 10, 32)
			d = time.Duration(count) * unit
			if count > int64(math.MaxInt64/unit) {
				err = strconv.ErrRange
			}
		}
	}
	if err != nil || d < 0 {
		return nil, fmt.Errorf("expected a duration like 14d or 36h, found %q", text)
	}
	return d, nil
}

func (k Key) choice(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("expected a string, found %s", describe(v))
	}
	if k.Choices != nil && !slices.Contains(k.Choices, s) {
		return nil, fmt.Errorf("expected one of %s, found %q", strings.Join(k.Choices, ", "), s)
	}
	return s, nil
}

func (k Key) list(v any) (any, error) {
	var items []any
	switch v := v.(type) {
	case string:
		items = []any{v}
	case []string:
		for _, s := range v {
			items = append(items, s)
		}
	case []any:
		items = v
	default:
		return nil, fmt.Errorf("expected a list of strings, found %s", describe(v))
	}
	all := make([]string, 0, len(items))
	for _, item := range items {
		s, err := k.choice(item)
		if err != nil {
			return nil, err
		}
		all = append(all, s.(string))
	}
	return all, nil
}

// describe names v in a message without repeating a long value.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(v)
	case bool, int, int64, float64, json.Number:
		return fmt.Sprint(v)
	case []any, []string:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return fmt.Sprintf("%v", v)
	}
}
