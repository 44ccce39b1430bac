package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// Part is a value in a prompt and the names of the members that lead to it.
type Part struct{ Path, Text string }

// Short reports whether the value stands on a line with its names.
func (p Part) Short() bool {
	return p.Path != "" && len(p.Text) <= 80 && !strings.ContainsAny(p.Text, "\r\n")
}

// maxParts and maxSent bound what a page shows of a prompt: the number of values, and their total bytes.
const (
	maxParts = 2000
	maxSent  = 1 << 20
)

// Parts returns the values of a JSON text with personal data masked as on cards; left counts the values that are not
// shown.
func Parts(text []byte) (parts []Part, left int) {
	v, err := decoded(text)
	if err != nil {
		return []Part{{"", legible.Spelled(legible.Mask(legible.Beginning(string(text), maxSent)))}}, 0
	}
	room := room{parts: maxParts, bytes: maxSent}
	return room.rest(legible.MaskAll(v)), room.left
}

func decoded(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v)
}

func walk(v any, path string, say func(path, text string)) {
	under := func(name string) string {
		if path == "" {
			return name
		}
		return path + " › " + name
	}
	switch v := v.(type) {
	case nil: // null members were not sent
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], under(name), say)
		}
	case []any:
		for i, x := range v {
			walk(x, under(fmt.Sprint(i+1)), say)
		}
	case string:
		say(path, v)
	default:
		b, _ := json.Marshal(v) // marshalling decoded JSON can't fail
		say(path, string(b))
	}
}

// MostCalls is how many model calls a page lists, newest first.
const MostCalls = 200

// WasKept reports whether a page can show what these calls sent.
func WasKept(u *aggregate.Use) bool {
	return u.Kept() && aggregate.ValidID(u.ID)
}

// sentPage shows what a model was sent.
type sentPage struct {
	Of                  string // purpose of the calls, in words
	Back, Model, Prompt string
	Sent
	Answer  string // what the calls made of it; "" if the page has none
	Expired bool
}

// ShowKept shows the stored prompts of the calls that an address names, if the aggregate made those calls; back is the
// address of the list of calls, and answer returns what the calls made.
func (c *Site) ShowKept(
	w http.ResponseWriter, r *http.Request, v *Viewer, of aggregate.Ref, made []*aggregate.Use, back, what string,
	answer func(*aggregate.Use) (string, error),
) error {
	i := slices.IndexFunc(made, func(u *aggregate.Use) bool { return u.ID == r.PathValue("use") })
	if i < 0 || !made[i].Kept() {
		return aggregate.ErrNotFound
	}
	use := made[i]
	p := sentPage{Of: what, Back: back, Model: legible.OneLine(use.Model), Prompt: legible.OneLine(use.Prompt)}
	text, err := c.Results.Open(r.Context(), of, *use.Sent)
	switch {
	case errors.Is(err, large.ErrExpired):
		p.Expired = true
	case err != nil:
		return err
	default:
		p.Sent = SentOf(text)
	}
	said, err := answer(use)
	if err != nil && !errors.Is(err, large.ErrExpired) && !errors.Is(err, aggregate.ErrNotFound) {
		return err
	}
	p.Answer = indented(legible.Spelled(legible.Mask(legible.Beginning(said, maxSent))))
	here := map[string]string{"task": "tasks", "conversation": "agents", "contest": "contests"}[what]
	return c.Show(w, r, v, Document{Title: v.Texts("sent").Say("title"), Here: here, Data: p}, "sent.html")
}
