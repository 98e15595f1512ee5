package jsonspan

import (
	"bytes"
	"math"
	"strconv"
)

// JPNumber appends a JSON number as jp writes it: integers that fit 64 bits unchanged, all others
// as the shortest float, with ".0" or an exponent.
func JPNumber(dst, n []byte) []byte {
	if string(n) == "-0" {
		return append(dst, "-0.0"...)
	}
	if !bytes.ContainsAny(n, ".eE") && fits64(string(n)) {
		return append(dst, n...)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return append(dst, n...) // jp cannot read it at all
	}
	return AppendFloat(dst, f)
}

func fits64(n string) bool {
	if n[0] == '-' {
		_, err := strconv.ParseInt(n, 10, 64)
		return err == nil
	}
	_, err := strconv.ParseUint(n, 10, 64)
	return err == nil
}

// AppendFloat appends f in the format of the Rust formatter that jp uses: positional notation for
// magnitudes from 1e-5 to below 1e16, otherwise an exponent with its sign.
func AppendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-5 || abs >= 1e16) {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		return trimExponent(dst, start)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// trimExponent removes Go's leading zero from a one-digit exponent.
func trimExponent(b []byte, start int) []byte {
	digit := start + bytes.IndexByte(b[start:], 'e') + 2
	if b[digit] == '0' && digit+1 < len(b) {
		b = append(b[:digit], b[digit+1:]...)
	}
	return b
}

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
