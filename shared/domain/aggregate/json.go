package aggregate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// JSON is a JSON value stored as text, so that rows stay readable in the AWS console.
type JSON string

func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = JSON(b)
	return nil
}

// Unambiguous returns an error for what two readers may take for two values: a name that an object has twice, also in
// letters that people or decoders take for the same; half of a surrogate pair; text that isn't UTF-8; several values;
// and more than deepest objects and lists within each other. what is what the error calls the value.
func (j JSON) Unambiguous(what string, deepest int) error {
	if !utf8.ValidString(string(j)) {
		return fmt.Errorf("%s must be UTF-8", what)
	}
	r := reader{json.NewDecoder(strings.NewReader(string(j))), j, what, deepest}
	r.UseNumber()
	if err := r.value("", 0); err != nil {
		return err
	}
	if _, err := r.Token(); err != io.EOF {
		return fmt.Errorf("%s has more than one JSON value", what)
	}
	return nil
}

type reader struct {
	*json.Decoder
	text    JSON
	what    string
	deepest int
}

// mostPath is how much of a value's place an error says. A longer one isn't extended, so that a long name isn't copied
// for each value within.
const mostPath = 200

func (r reader) wrong(at, why string) error {
	return fmt.Errorf("%.*s %s", mostPath, cmp.Or(at, r.what), why)
}

func (r reader) next(at string) (json.Token, error) {
	from := r.InputOffset()
	t, err := r.Token()
	switch {
	case err != nil:
		return nil, r.wrong(at, "is no JSON")
	case halved(r.text[from:r.InputOffset()]):
		return nil, r.wrong(at, "must not have half of a surrogate pair")
	}
	return t, nil
}

// value reads the value at this place, which lies in deep others.
func (r reader) value(at string, deep int) error {
	t, err := r.next(at)
	nested := t == json.Delim('{') || t == json.Delim('[')
	switch {
	case err != nil || !nested:
		return err
	case deep >= r.deepest:
		return r.wrong("", fmt.Sprintf("must be at most %d deep", r.deepest))
	}
	names := map[string]bool{}
	for i := 0; r.More(); i++ {
		within, short := at, len(at) < mostPath
		if t == json.Delim('{') {
			name, err := r.next(at)
			if err != nil {
				return err
			}
			same, _ := name.(string)
			if short {
				within = strings.TrimPrefix(at+"."+same, ".")
			}
			if same = Form(same); names[same] {
				return r.wrong(within, "is there twice")
			}
			names[same] = true
		} else if short {
			within = fmt.Sprintf("%s[%d]", at, i)
		}
		if err := r.value(within, deep+1); err != nil {
			return err
		}
	}
	_, err = r.next(at)
	return err
}

// Misnamed returns a Problem for a name that is none of the known ones, but that people or decoders take for one.
func Misnamed[V, W any](names map[string]V, known map[string]W) error {
	isKnown := func(name string) bool { _, is := known[name]; return is }
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), isKnown)
	if len(others) == 0 || len(known) == 0 {
		return nil
	}
	forms := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		forms[Form(name)] = name
	}
	for _, name := range others {
		if right := forms[Form(name)]; right != "" {
			return Problem{Field: name, Code: "must be written " + right}
		}
	}
	return nil
}

// Form is the same for names that people or decoders take for one another.
func Form(name string) string { return language.Folded(language.Visible(name)) }

// escaped are the escapes of JSON, a surrogate pair as one.
var escaped = language.Regexp{Text: `\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`}

// halved reports whether a part of JSON has an escaped surrogate that is no pair's.
func halved(text JSON) bool {
	return slices.ContainsFunc(escaped.Get().FindAllString(string(text), -1), func(e string) bool {
		return len(e) == len(`\ud800`) && e[1] == 'u' && strings.Contains("dD", e[2:3]) &&
			strings.Contains("89abcdefABCDEF", e[3:4])
	})
}

// Written returns a value as JSON, members of maps sorted, without escapes for < > and &.
func Written(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Canonical returns a value in the one form in which values are compared: as Written, and each number by its value, so
// that 3, 3.0 and 30e-1 are the same. It was decoded with UseNumber.
func Canonical(v any) (JSON, error) {
	text, err := Written(ByValue(v))
	return JSON(text), err
}

// ByValue returns a copy of a value with each number, which was decoded with UseNumber, in its shortest form.
func ByValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		return shortest(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = ByValue(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v {
			out[name] = ByValue(x)
		}
		return out
	}
	return v
}

const (
	maxPlain    = 21 // up to how many digits a number is written without an exponent, as ECMAScript does
	maxExponent = 9999
)

// shortest writes a number exactly, with no superfluous zero. One of a larger exponent stays as it is.
func shortest(n json.Number) json.Number {
	text, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	exp, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil || exp < -maxExponent || exp > maxExponent {
		return n
	}
	text, negative := strings.CutPrefix(text, "-")
	sign := map[bool]string{true: "-"}[negative]
	whole, fraction, _ := strings.Cut(text, ".")
	exp -= len(fraction)
	text = strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(text, "0")
	exp += len(text) - len(digits)
	switch point := len(digits) + exp; {
	case digits == "":
		return "0"
	case exp >= 0 && point <= maxPlain:
		return json.Number(sign + digits + strings.Repeat("0", exp))
	case exp < 0 && 0 < point && point <= maxPlain:
		return json.Number(sign + digits[:point] + "." + digits[point:])
	case -6 < point && point <= 0:
		return json.Number(sign + "0." + strings.Repeat("0", -point) + digits)
	default:
		first, rest := digits[:1], digits[1:]
		if rest != "" {
			first += "."
		}
		return json.Number(sign + first + rest + "e" + strconv.Itoa(point-1))
	}
}
