package language

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Mask hides the personal data in a text: e-mail addresses, phone numbers, and My Number, whose twelve digits only
// official papers may show. Letters and digits become *, except for an address's first letter and domain and a phone
// number's last two digits, so that people who know the whole can recognise it.
func Mask(s string) string {
	if !suspicious(s) {
		return s
	}
	s = mailForm.Get().ReplaceAllStringFunc(s, mail)
	s = replace(s, numberForm.Get(), myNumber)
	return replace(s, phoneForm.Get(), phone)
}

// suspicious avoids searching most texts: it reports whether there is an @ or enough digits for a number.
func suspicious(s string) bool {
	digits := 0
	for _, r := range s {
		if r == '@' || r == '＠' {
			return true
		}
		if isDigit(r) {
			digits++
		}
	}
	return digits >= 8
}

// MaskScalar hides personal data in a decoded JSON value without members. Of numbers only a My Number is masked: others
// are amounts, ids and times. One that begins with 0 has eleven digits as a JSON number. So about one in eleven amounts
// or ids of eleven or twelve digits, whose last digit happens to be a valid check digit, is masked too. A My Number
// that begins with 00 is not masked: as a number it has ten digits, like times in seconds, telephones and ids. A masked
// number becomes a text.
func MaskScalar(v any) any {
	switch v := v.(type) {
	case string:
		return Mask(v)
	case json.Number:
		if n, ok := twelve(v); ok {
			if hidden, ok := myNumber(n, "", ""); ok {
				return hidden
			}
		}
	}
	return v
}

// twelve returns the digits of a whole number of eleven or twelve digits, in any notation.
func twelve(v json.Number) (string, bool) {
	n, err := v.Float64() // exact for whole numbers of up to 15 digits
	if err != nil || n != math.Trunc(n) || n < 1e10 || n >= 1e12 {
		return "", false
	}
	return fmt.Sprintf("%012.0f", n), true
}

// MaskAll hides personal data in a decoded JSON value, including members' names. No member is lost when two names have
// the same masked form.
func MaskAll(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = MaskAll(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key := Mask(name)
			for _, taken := out[key]; taken; _, taken = out[key] {
				key += "*"
			}
			out[key] = MaskAll(v[name])
		}
		return out
	}
	return MaskScalar(v)
}

// MaskDestination reports whether an argument is the recipient of a call, which a person must see unmasked: only an
// address or a phone number, or a list of these.
func MaskDestination(v any) bool {
	switch v := v.(type) {
	case string:
		return whole(v)
	case []any:
		return !slices.ContainsFunc(v, func(one any) bool {
			s, ok := one.(string)
			return !ok || !whole(s)
		})
	}
	return false
}

// whole reports whether a text is only an address or a phone number.
func whole(s string) bool {
	s = strings.TrimSpace(s)
	if mailForm.Get().FindString(s) == s {
		return true
	}
	if phoneForm.Get().FindString(s) != s {
		return false
	}
	_, ok := phone(s, "", "")
	return ok
}

const (
	hyphens = `-‐‑‒–—−ー－`
	d       = `[0-9０-９]`
	sep     = `[` + hyphens + ` 　]`
	hyphen  = `[` + hyphens + `]`
	open    = `[(（]`
	shut    = `[)）]`
)

var (
	mailForm = Regexp{Text: `[A-Za-z0-9._%+'/-]+[@＠](?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}`}
	// numberForm matches twelve digits, together or in groups of four.
	numberForm = Regexp{Text: d + `{4}` + sep + `?` + d + `{4}` + sep + `?` + d + `{4}`}
	phoneForm  = Regexp{Text: strings.Join([]string{
		// international, in groups
		`[+＋]` + d + `{1,3}` + sep + `?(?:` + open + d + `{1,4}` + shut + ` ?)?` + d + `{1,4}(?:` + sep + d + `{2,4}){2,4}`,
		`[+＋][8８][1１]` + d + `{9,10}`,
		open + `[0０]` + d + `{1,4}` + shut + ` ?` + d + `{1,4}` + hyphen + d + `{3,4}`, // (03)1234-5678
		`[0０]` + d + `{1,4}` + open + d + `{1,4}` + shut + d + `{3,4}`,                 // 03(1234)5678
		`[0０]` + d + `{1,4}` + hyphen + d + `{1,4}` + hyphen + d + `{3,4}`,             // 090-1234-5678
		`[0０]` + d + `{1,4}[ 　]` + d + `{1,4}[ 　]` + d + `{3,4}`,                       // 090 1234 5678
		`[0０][1-9１-９]` + d + `{8,9}`,                                                   // 0312345678
	}, `|`)}
	// counted matches a unit after an amount: money, times, things.
	counted = Regexp{Text: `^[ 　]?(?:円|万|億|ドル|ユーロ|元|秒|ミリ秒|分|時間|件|個|回|行|人|名|点|バイト|(?i:yen|jpy|usd|eur|ms|sec|` +
		`bytes?|rows?|%))`}
)

func isDigit(r rune) bool { return r >= '0' && r <= '9' || r >= '０' && r <= '９' }

func isWord(r rune) bool {
	return isDigit(r) || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_'
}

// digits returns the digits of a text in ASCII.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !isDigit(r):
			return -1
		case r >= '０':
			return r - '０' + '0'
		}
		return r
	}, s)
}

// replace hides the matches of form that are not part of a longer number and that hide accepts. If a match is not
// hidden, the next one may begin one character later.
func replace(s string, form *regexp.Regexp, hide func(s, before, after string) (string, bool)) string {
	var b strings.Builder
	from := 0
	for from < len(s) {
		at := form.FindStringIndex(s[from:])
		if at == nil {
			break
		}
		start, end := from+at[0], from+at[1]
		hidden, ok := "", false
		if alone(s[:start], s[end:]) {
			hidden, ok = hide(s[start:end], s[:start], s[end:])
		}
		if !ok {
			_, size := utf8.DecodeRuneInString(s[start:])
			hidden, end = s[start:start+size], start+size
		}
		b.WriteString(s[from:start])
		b.WriteString(hidden)
		from = end
	}
	b.WriteString(s[from:])
	return b.String()
}

// alone reports whether digits are not part of a longer number, an id or a decimal.
func alone(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(after)
	if isWord(last) || strings.ContainsRune("-.¥￥$€", last) {
		return false
	}
	if !strings.ContainsRune(hyphens+".,", next) {
		return !isWord(next)
	}
	following, _ := utf8.DecodeRuneInString(after[size:])
	return !isWord(following)
}

func mail(s string) string {
	at := strings.IndexAny(s, "@＠")
	return s[:1] + strings.Repeat("*", max(1, at-1)) + s[at:]
}

// myNumber hides twelve digits with a valid check digit, unless they are an amount, a time or an account in an address.
func myNumber(s, before, after string) (string, bool) {
	n := digits(s)
	if n == strings.Repeat("0", 12) || !checks(n) || counted.Get().MatchString(after) || strings.HasPrefix(after, ":") ||
		strings.HasSuffix(before, "/") {
		return "", false
	}
	if t, err := time.Parse("200601021504", n); err == nil && t.Year() >= 1900 && t.Year() < 2200 {
		return "", false
	}
	return stars(s, 0), true
}

// checks reports whether the last of twelve digits is the check digit of the others, as the ordinance on My Number
// defines it (2014, Ministry of Internal Affairs, No. 85, Article 5).
func checks(n string) bool {
	sum := 0
	for i := 1; i <= 11; i++ {
		q := i + 1
		if i > 6 {
			q = i - 5
		}
		sum += int(n[11-i]-'0') * q
	}
	want := 0
	if r := sum % 11; r > 1 {
		want = 11 - r
	}
	return int(n[11]-'0') == want
}

// phone hides a number with the number of digits of its kind.
func phone(s, before, _ string) (string, bool) {
	n := digits(s)
	grouped := utf8.RuneCountInString(s) > len(n)
	switch {
	case strings.HasPrefix(s, "+") || strings.HasPrefix(s, "＋"):
		if len(n) < 8 || len(n) > 15 {
			return "", false
		}
	case n[1] == '0' || strings.HasSuffix(before, "/") && !grouped:
		return "", false
	case len(n) == 11:
		if mobile := n[2] == '0' && n[1] >= '5'; !mobile && !strings.HasPrefix(n, "0800") {
			return "", false
		}
	case len(n) != 10:
		return "", false
	}
	return stars(s, 2), true
}

// stars replaces all but the last keep digits by *.
func stars(s string, keep int) string {
	left := len(digits(s))
	return strings.Map(func(r rune) rune {
		if !isDigit(r) {
			return r
		}
		if left--; left >= keep {
			return '*'
		}
		return r
	}, s)
}

// MaskingHandler hides personal data in all logged texts and errors, then calls next.
func MaskingHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, logged(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(attribute(a))
		return true
	})
	return h.Handler.Handle(ctx, masked)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(each(attrs))}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

func each(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = attribute(a)
	}
	return out
}

// quoted matches the text that the standard library's parse errors quote: it may be a vendor's number, such as
// somebody's pay or telephone.
var quoted = Regexp{Text: `(json: cannot unmarshal number )[^ ]+|((?:strconv\.\w+: parsing|parsing time|` +
	`invalid number literal, trying to unmarshal) )"(?:[^"\\]|\\.)*"`}

// logged returns a text as logs may contain it.
func logged(s string) string { return Mask(quoted.Get().ReplaceAllString(s, "$1$2…")) }

func attribute(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, logged(v.String()))
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(each(v.Group())...)}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, logged(err.Error()))
		}
	}
	return a
}
