package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// maxSent bounds what a file has of prompts, in bytes before it is compressed.
const maxSent = 8 << 20

// sentCall is a line of the file that SendSent makes; Sent is absent if it was not kept, or its retention time is over.
type sentCall struct {
	At     time.Time `json:"at"`
	Made   string    `json:"made"`
	Model  string    `json:"model"`
	Prompt string    `json:"prompt"`
	Sent   any       `json:"sent,omitempty"`
}

// SendSent sends what models were sent for an aggregate as a file of JSON lines, the newest first, with personal data
// masked as on cards.
func (c *Site) SendSent(w http.ResponseWriter, r *http.Request, of aggregate.Ref, uses []*aggregate.Use) error {
	uses = slices.SortedStableFunc(slices.Values(uses), func(x, y *aggregate.Use) int {
		return y.CreatedAt.Compare(x.CreatedAt)
	})
	var file []byte
	for _, u := range uses {
		call := sentCall{At: u.CreatedAt, Made: u.Made, Model: u.Model, Prompt: u.Prompt}
		if u.Kept() {
			text, err := c.Results.Open(r.Context(), of, *u.Sent)
			if err != nil && !errors.Is(err, large.ErrExpired) {
				return err
			}
			call.Sent = masked(text)
		}
		line, err := json.Marshal(call)
		if err != nil {
			return err
		}
		if len(file)+len(line) > maxSent {
			break
		}
		file = append(append(file, line...), '\n')
	}
	return Attach(w, r, "application/x-ndjson", "ringi-"+of.ID+"-sent.jsonl", file)
}

// masked returns a request to a model with personal data masked: a JSON value, or a text if it is none.
func masked(text []byte) any {
	if text == nil {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return legible.Mask(string(text))
	}
	return legible.MaskAll(v)
}

// Indented spreads a text that is JSON over lines; any other text stays as it is.
func Indented(text string) string {
	var b bytes.Buffer
	if begin := strings.TrimSpace(text); begin == "" || !strings.Contains("{[", begin[:1]) ||
		json.Indent(&b, []byte(begin), "", "  ") != nil {
		return text
	}
	return b.String()
}
