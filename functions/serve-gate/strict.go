package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// mostDeep is how deep a body's values may lie within each other.
const mostDeep = 64

// bodyOf reads a body: JSON of at most maxBody bytes that can be read in one way alone, or nothing. This API's own
// names are decoded whatever their case.
func bodyOf(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, no(http.StatusRequestEntityTooLarge, fmt.Sprintf("body must have at most %d bytes", maxBody))
	}
	if len(body) == 0 {
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, no(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	if err := aggregate.JSON(body).Unambiguous("body", mostDeep, 1); err != nil {
		return nil, no(http.StatusBadRequest, legible.Visible(err.Error()))
	}
	return body, nil
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
