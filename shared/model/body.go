package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// UnreadableError reports an answer that came and can't be read. It describes the answer and quotes nothing of it.
type UnreadableError struct{ What string }

func (e *UnreadableError) Error() string { return "what came can't be read: " + e.What }

// Read reads a whole answer, one JSON object. The error is the connection's or an *UnreadableError.
func Read(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, err
	case !json.Valid(body):
		media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
		if kind, name, ok := strings.Cut(media, "/"); !ok || word(kind) == "" || word(name) == "" {
			media = "no known type"
		}
		return nil, &UnreadableError{fmt.Sprintf("%s of %d bytes: no JSON", media, len(body))}
	case !isObject(body):
		return nil, &UnreadableError{"JSON that is no object"}
	}
	return body, nil
}

// Decode reads an answer into a value. The error is an *UnreadableError.
func Decode(body json.RawMessage, into any) error {
	wrong := new(json.UnmarshalTypeError)
	switch err := json.Unmarshal(body, into); {
	case errors.As(err, &wrong):
		return &UnreadableError{fmt.Sprintf("%s is %s", wrong.Field, wrong.Value)}
	case err != nil:
		return &UnreadableError{Members(body)}
	}
	return nil
}

// Members describes a JSON value by its members, and quotes none of their values.
func Members(value json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "no object"
	}
	var names []string
	for name := range members {
		if word(name) != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return "an object without members"
	}
	slices.Sort(names)
	return "an object with " + strings.Join(names[:min(len(names), 8)], ", ")
}
