package aggregate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
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

// Unambiguous returns an error for what two readers may take for two values: a name that an object has twice, within as
// many objects as folded also in other letters; half of a surrogate pair; text that isn't UTF-8; several values; and
// more than deepest objects and lists within each other. what is what the error calls the value.
func (j JSON) Unambiguous(what string, deepest, folded int) error {
	if !utf8.ValidString(string(j)) {
		return fmt.Errorf("%s must be UTF-8", what)
	}
	r := reader{json.NewDecoder(strings.NewReader(string(j))), j, what, deepest, folded}
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
	text            JSON
	what            string
	deepest, folded int
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
			if deep < r.folded {
				same = language.InAnyCase(same)
			}
			if names[same] {
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

// escaped are the escapes of JSON, a surrogate pair as one.
var escaped = language.Regexp{Text: `\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`}

// halved reports whether a part of JSON has an escaped surrogate that is no pair's.
func halved(text JSON) bool {
	return slices.ContainsFunc(escaped.Get().FindAllString(string(text), -1), func(e string) bool {
		return len(e) == len(`\ud800`) && e[1] == 'u' && strings.Contains("dD", e[2:3]) &&
			strings.Contains("89abcdefABCDEF", e[3:4])
	})
}
