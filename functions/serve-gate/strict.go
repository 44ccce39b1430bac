package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// bodyOf reads a body: JSON of at most maxBody bytes without a name twice in one object or half a character, or
// nothing.
func bodyOf(w http.ResponseWriter, r *http.Request) (body []byte, bad fault) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, fault{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf("body must have at most %d bytes",
			maxBody)}
	}
	if len(body) == 0 {
		return nil, bad
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fault{status: http.StatusUnsupportedMediaType, text: "Content-Type must be application/json"}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err = once(d, body, "body", 0); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else {
			err = errors.New("body has more than one JSON value")
		}
	}
	if err != nil {
		return nil, fault{status: http.StatusBadRequest, text: legible.Visible(err.Error())}
	}
	return body, bad
}

// mostDeep is how deep a body's values may lie within each other.
const mostDeep = 64

// once reads one value and returns an error for a name that an object has twice, and for half a character: two
// bodies that differ only there would decode to the same.
func once(d *json.Decoder, body []byte, at string, deep int) error {
	next := func() (json.Token, error) {
		from := d.InputOffset()
		t, err := d.Token()
		if err != nil {
			return t, fmt.Errorf("%.200s is no JSON", at)
		}
		if halved(body[from:d.InputOffset()]) {
			return t, fmt.Errorf("%.200s must not have half of a surrogate pair", at)
		}
		return t, nil
	}
	t, err := next()
	switch {
	case err != nil:
		return err
	case deep > mostDeep:
		return fmt.Errorf("body must be at most %d deep", mostDeep)
	case t != json.Delim('{') && t != json.Delim('['):
		return nil
	}
	names := map[string]bool{}
	for i := 0; d.More(); i++ {
		within := fmt.Sprintf("%s[%d]", at, i)
		if t == json.Delim('{') {
			name, err := next()
			if err != nil {
				return err
			}
			within = strings.TrimPrefix(at+"."+name.(string), "body.")
			same := name.(string)
			if deep == 0 {
				same = strings.ToLower(same) // this API's own names are decoded in any case
			}
			if names[same] {
				return fmt.Errorf("%.200s is there twice", within)
			}
			names[same] = true
		}
		if err := once(d, body, within, deep+1); err != nil {
			return err
		}
	}
	_, err = next()
	return err
}

// escaped are the escapes of JSON, a surrogate pair as one.
var escaped = language.Regexp{Text: `\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)`}

// halved reports whether a JSON text has an escaped surrogate that is no pair's.
func halved(text []byte) bool {
	return slices.ContainsFunc(escaped.Get().FindAll(text, -1), func(e []byte) bool {
		return len(e) == len(`\ud800`) && e[1] == 'u' && strings.Contains("dD", string(e[2])) &&
			strings.Contains("89abcdefABCDEF", string(e[3]))
	})
}

// strictly decodes a body that bodyOf read. It returns aggregate.ErrField for an unknown field, or one of another kind.
func strictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
		return nil
	case isWrong && wrong.Field != "":
		return aggregate.ErrField{Field: wrong.Field, Limit: "must not be a JSON " + wrong.Value}
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		_, name, _ := strings.Cut(err.Error(), "unknown field ")
		return aggregate.ErrField{Field: strings.Trim(name, `"`), Limit: "is unknown here"}
	}
	return aggregate.ErrField{Field: "body", Limit: "must be a JSON object"}
}
