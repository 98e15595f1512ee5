package events_test

import "testing"

func TestCanonicalNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"1.10": "1.1", "1E5": "100000.0", "1e20": "1e+20", "-0": "-0.0", "0": "0", "-0.0": "-0.0",
		"18446744073709551615": "18446744073709551615",
		"18446744073709551616": "1.8446744073709552e+19",
		"-9223372036854775808": "-9223372036854775808",
		"-9223372036854775809": "-9.223372036854776e+18",
		"1e15":                 "1000000000000000.0", "1e16": "1e+16",
		"0.00001": "0.00001", "0.000001": "1e-6",
		"1.5e-7": "1.5e-7", "1e-10": "1e-10", "123456.789e3": "123456789.0", "0.1": "0.1",
	} {
		s := decode(t, "["+in+"]")
		if got := string(s.Canonical()); got != "[\n  "+want+"\n]\n" {
			t.Errorf("%s is written as %q, want %s", in, got, want)
		}
		if got := string(s.Encode()); got != "["+in+"]" {
			t.Errorf("%s does not keep its spelling: %s", in, got)
		}
	}
}
