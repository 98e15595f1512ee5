package jsonspan

import (
	"bytes"
	"strconv"
)

// NormalNumber appends the normal form of a decimal number: digits without outer zeros, then the
// exponent. It is exact, so two numbers that are only equal as floats stay different.
func NormalNumber(dst, n []byte) []byte {
	rest, negative := bytes.CutPrefix(n, []byte("-"))
	mantissa, exponent := rest, int64(0)
	if i := bytes.IndexAny(rest, "eE"); i >= 0 {
		mantissa = rest[:i]
		e, err := strconv.ParseInt(string(rest[i+1:]), 10, 48)
		if err != nil {
			return append(dst, n...) // absurdly large: only equal to itself
		}
		exponent = e
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	exponent -= int64(len(fraction))
	digits := append(append([]byte(nil), whole...), fraction...)
	digits = bytes.TrimLeft(digits, "0")
	significant := bytes.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant))

	if negative {
		dst = append(dst, '-')
	}
	if len(significant) == 0 {
		return append(dst, '0')
	}
	dst = append(append(dst, significant...), 'e')
	return strconv.AppendInt(dst, exponent, 10)
}

// PlainNumber appends a number as people would write it, in positional notation up to 21 digits.
// Like [NormalNumber] it has one form for each number and keeps different numbers different.
func PlainNumber(dst, n []byte) []byte {
	const most = 21
	normal := NormalNumber(nil, n)
	rest, negative := bytes.CutPrefix(normal, []byte("-"))
	digits, e, _ := bytes.Cut(rest, []byte("e"))
	exponent, err := strconv.Atoi(string(e))
	if err != nil || exponent > most || exponent < -most || len(digits) > most {
		return append(dst, normal...)
	}
	if negative {
		dst = append(dst, '-')
	}
	if exponent >= 0 {
		return append(append(dst, digits...), bytes.Repeat([]byte("0"), exponent)...)
	}
	if short := 1 - exponent - len(digits); short > 0 {
		digits = append(bytes.Repeat([]byte("0"), short), digits...)
	}
	point := len(digits) + exponent
	return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
}
