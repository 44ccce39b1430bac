package lambda

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// respond writes a function's answer. If the answer is an object with a statusCode, it sets status, headers and body;
// any other JSON becomes the body of a 200.
//
// It returns an error, and writes nothing, if the answer is malformed.
func respond(w http.ResponseWriter, payload []byte) error {
	if !json.Valid(payload) {
		return errors.New("it is no JSON")
	}
	var fields map[string]json.RawMessage
	isObject := bytes.HasPrefix(bytes.TrimSpace(payload), []byte("{")) && json.Unmarshal(payload, &fields) == nil
	if _, explicit := fields["statusCode"]; !isObject || !explicit {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_, err := w.Write(payload)
		return err
	}
	var a struct {
		StatusCode      int                        `json:"statusCode"`
		Headers         map[string]json.RawMessage `json:"headers"`
		Cookies         []string                   `json:"cookies"`
		Body            string                     `json:"body"`
		IsBase64Encoded bool                       `json:"isBase64Encoded"`
	}
	if err := json.Unmarshal(payload, &a); err != nil {
		return err
	}
	if a.StatusCode < 100 || a.StatusCode > 599 {
		return fmt.Errorf("statusCode is %d", a.StatusCode)
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		body = decoded
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain;charset=UTF-8")
	for name, raw := range a.Headers {
		h.Set(name, plain(raw))
	}
	h.Del("Content-Length")
	for _, cookie := range a.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	w.WriteHeader(a.StatusCode)
	_, err := w.Write(body)
	return err
}

// plain returns a header's value, which may be a string, a number or a boolean.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
