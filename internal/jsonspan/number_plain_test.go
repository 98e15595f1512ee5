package jsonspan

import "testing"

func TestPlainNumber(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0.0": "-0", "3": "3", "3.0": "3", "30e-1": "3", "0.10": "0.1", "-12.50": "-12.5",
		"1e3": "1000", "5e-3": "0.005", "100": "100", "1e400": "1e400", "1e-300": "1e-300",
		"18446744073709551615": "18446744073709551615",
	} {
		if got := string(PlainNumber(nil, []byte(in))); got != want {
			t.Errorf("%s is written %s, not %s", in, got, want)
		}
	}
}
