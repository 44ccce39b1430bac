package main

import (
	"cmp"
	"math"
	"math/big"
	"ringi/shared/words/language"
	"strconv"
	"strings"
)

// token is a part of a section that shows a number by digits: 0, # or ?, a point, a comma, a slash, a sign of percent,
// or what is shown as it is.
var token = language.Regexp{Text: `(?i)general|` + literal + `|[\s\S]`}

// figures is a section by its tokens. For each of them out is what is shown in its place.
type figures struct {
	tokens, out []string
	n           float64 // without a sign
}

// digitsOf returns a number as a section shows it by digits. ok is false for exponents, which are left to excelize. A
// fraction with other signs between its numbers is shown as the plain number.
func digitsOf(section string, n float64) (shown string, ok bool) {
	bare := noText.Get().ReplaceAllString(section, "")
	if exponential.Get().MatchString(bare) {
		return "", false
	}
	if strings.Contains(bare, "/") {
		section = withFraction(section, n)
		if strings.ContainsAny(noText.Get().ReplaceAllString(section, ""), "0#?/") {
			return decimal(n, strconv.FormatFloat(n, 'f', -1, 64)), true
		}
	}
	f := figures{tokens: token.Get().FindAllString(section, -1), n: math.Abs(n)}
	f.out = make([]string, len(f.tokens))
	var places []int
	for i, t := range f.tokens {
		if f.out[i] = shownAsIs(t); isPlace(t) {
			places = append(places, i)
		}
	}
	f.decimal(places)
	if shown = strings.Join(f.out, ""); n < 0 {
		shown = "-" + shown
	}
	return shown, true
}

var exponential = language.Regexp{Text: `(?i)[0#?.]e[+-]`}

func isPlace(token string) bool { return token == "0" || token == "#" || token == "?" }

// shownAsIs returns what is shown of a token that stands for no digit.
func shownAsIs(t string) string {
	switch t[0] {
	case '"':
		return strings.Trim(t, `"`)
	case '\\':
		return t[1:]
	case '_':
		if len(t) > 1 {
			return " "
		}
	case '*':
		if len(t) > 1 {
			return ""
		}
	case '[':
		currency, isCurrency := strings.CutPrefix(t, "[$")
		if len(t) < 2 || !isCurrency {
			break
		}
		currency, _, _ = strings.Cut(strings.TrimSuffix(currency, "]"), "-")
		return currency
	}
	if isPlace(t) || len(t) > 1 && t[0] == '[' {
		return ""
	}
	return t
}

// decimal shows the number with a point. A comma between digits parts thousands, one after them divides by a thousand.
func (f *figures) decimal(places []int) {
	point, exponent, thousands := -1, 0, false
	var whole, part []int
	for i, t := range f.tokens {
		switch {
		case t == "%":
			exponent += 2
		case t == "." && point < 0:
			point = i
		case isPlace(t) && point < 0:
			whole = append(whole, i)
		case isPlace(t):
			part = append(part, i)
		case t == "," && len(places) > 0 && i > places[0]:
			f.out[i] = ""
			if last := len(places) - 1; i > places[last] || point < 0 && f.endsWhole(i) {
				exponent -= 3
			} else {
				thousands = thousands || point < 0
			}
		}
	}
	left, right, _ := strings.Cut(rounded(f.n, exponent, len(part)), ".")
	f.left(whole, strings.TrimLeft(left, "0"), thousands)
	if len(whole) == 0 && strings.Trim(left, "0") != "" && point >= 0 {
		f.out[point] = left + "."
	}
	for i := len(part) - 1; i >= 0; i-- {
		if digit := right[i : i+1]; digit != "0" || f.tokens[part[i]] == "0" || i+1 < len(part) && shows(f.out[part[i+1]]) {
			f.out[part[i]] = digit
		} else if f.tokens[part[i]] == "?" {
			f.out[part[i]] = " "
		}
	}
}

func shows(out string) bool { return strings.TrimSpace(out) != "" }

// endsWhole reports whether no digit stands between a comma and the point.
func (f *figures) endsWhole(comma int) bool {
	for _, t := range f.tokens[comma:] {
		if t == "." || isPlace(t) {
			return t == "."
		}
	}
	return true
}

// rounded returns a number times a power of ten, with so many digits after the point. Of a number Excel keeps 15: 1.005
// is a bit less than that in binary, but 1.01 with two digits.
func rounded(n float64, exponent, digits int) string {
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(n, 'e', 14, 64), "e")
	of, _ := strconv.Atoi(power)
	exact, ok := new(big.Rat).SetString(mantissa + "e" + strconv.Itoa(of+exponent))
	if !ok {
		return ""
	}
	return exact.FloatString(digits)
}

// left puts digits into their places from the right. The first place takes all that are left.
func (f *figures) left(places []int, digits string, thousands bool) {
	shown := 0
	for i := len(places) - 1; i >= 0; i-- {
		digit := map[string]string{"0": "0", "?": " "}[f.tokens[places[i]]]
		if last := len(digits) - 1; last >= 0 {
			digit, digits = digits[last:], digits[:last]
		}
		f.out[places[i]] = parted(digit, thousands, &shown)
		for i == 0 && digits != "" {
			last := len(digits) - 1
			f.out[places[i]] = parted(digits[last:], thousands, &shown) + f.out[places[i]]
			digits = digits[:last]
		}
	}
}

// parted returns a digit with the comma after it, if three digits stand behind it.
func parted(digit string, thousands bool, shown *int) string {
	if digit == "" {
		return ""
	}
	*shown++
	switch {
	case !thousands || *shown == 1 || *shown%3 != 1:
		return digit
	case digit == " ":
		return "  "
	}
	return digit + ","
}

// ratio matches a fraction, after a whole number if there is a place for one. Its lower number may be named.
var ratio = language.Regexp{Text: literal + `|([0#?]+ +)?([0#?]+)/([1-9][0-9]*|[0#?]+)`}

// withFraction puts such a fraction of a number into a section, as a text.
func withFraction(section string, n float64) string {
	return ratio.Get().ReplaceAllStringFunc(section, func(token string) string {
		m := ratio.Get().FindStringSubmatch(token)
		if m[3] == "" {
			return token
		}
		above, under := nearest(n, m[3])
		whole := ""
		if m[1] != "" {
			if w := math.Floor(above / under); w > 0 || m[1][0] == '0' {
				whole = rounded(w, 0, 0) + " "
			}
			above = math.Mod(above, under)
		}
		if above == 0 && m[1] != "" {
			return `"` + cmp.Or(strings.TrimSpace(whole), "0") + `"`
		}
		return `"` + whole + rounded(above, 0, 0) + "/" + rounded(under, 0, 0) + `"`
	})
}

// mostUnder is how many digits a fraction's lower number has at most, if no section names it.
const mostUnder = 4

// nearest returns the fraction that is nearest to a number and has this lower number, or one of so many digits.
func nearest(n float64, lower string) (above, under float64) {
	n = math.Abs(n)
	if named, err := strconv.ParseFloat(lower, 64); err == nil && named > 0 {
		return math.Round(n * named), named
	}
	best := math.Inf(1)
	for d, most := 1.0, math.Pow10(min(len(lower), mostUnder)); d < most && best > 0; d++ {
		if off := math.Abs(math.Round(n*d)/d - n); off < best-1e-12 {
			best, above, under = off, math.Round(n*d), d
		}
	}
	return above, under
}
