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
	"time"

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

// mostCalls is how many model calls a page lists, newest first.
const mostCalls = 200

// Call is a model call in a list.
type Call struct {
	At                        time.Time
	Model, Cost               string
	Path                      string // address of the prompt; empty if it was not stored
	Round, Agent, Searched    string // of a contest
	Failed, CutOff, Estimated bool
}

type callsPage struct {
	Of, Team string
	Calls    []Call
	Left     int // older ones
}

// ListSent lists model calls, newest first. back is the address of the page before, path begins that of a prompt, and
// team, if there is one, made the calls in a contest; whose fills in what is known of one.
func (c *Site) ListSent(w http.ResponseWriter, r *http.Request, v *Viewer, uses []*aggregate.Use, what, back, path,
	team string, whose func(u *aggregate.Use, x *Call)) error {
	p := callsPage{Of: what, Team: team, Left: max(0, len(uses)-mostCalls)}
	uses = slices.SortedStableFunc(slices.Values(uses), func(x, y *aggregate.Use) int {
		return y.CreatedAt.Compare(x.CreatedAt)
	})
	for _, u := range uses[:len(uses)-p.Left] {
		x := Call{At: u.CreatedAt, Model: legible.OneLine(u.Model), Cost: Spent(v.Locale, u.Cost, u.Unpriced),
			Estimated: u.Estimated > 0}
		if u.Kept() && aggregate.ValidID(u.ID) {
			x.Path = path + "/" + u.ID
		}
		whose(u, &x)
		p.Calls = append(p.Calls, x)
	}
	return c.Show(w, r, v, sentOf(v, what, back, p), "sent/list")
}

// sentOf is a page of what was sent for something, whose page is at back.
func sentOf(v *Viewer, what, back string, data any) Document {
	words := v.Texts("sent")
	to := Link{Path: back, Text: words.In("back", what)}
	return Document{Title: words.Say("title"), Here: hereOf[what], Data: data, Back: to}
}

// hereOf are the entries of the menu under which calls are shown, by what they are of.
var hereOf = map[string]string{"task": "tasks", "conversation": "agents", "contest": "contests"}

type sentPage struct {
	Of            string // purpose of the calls, in words
	Model, Prompt string
	Sent
	Answer  string // what the calls made of it; "" if the page has none
	Expired bool
}

// ShowKept shows the stored prompts of the calls that an address names, if the aggregate made those calls; back is the
// address of the list of calls, and answer returns what the calls made.
func (c *Site) ShowKept(w http.ResponseWriter, r *http.Request, v *Viewer, of aggregate.Ref, made []*aggregate.Use,
	back, what string, answer func(*aggregate.Use) (string, error)) error {
	i := slices.IndexFunc(made, func(u *aggregate.Use) bool { return u.ID == r.PathValue("use") })
	if i < 0 || !made[i].Kept() {
		return aggregate.ErrNotFound
	}
	use := made[i]
	p := sentPage{Of: what, Model: legible.OneLine(use.Model), Prompt: legible.OneLine(use.Prompt)}
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
	p.Answer = Indented(legible.Spelled(legible.Mask(legible.Beginning(said, maxSent))))
	return c.Show(w, r, v, sentOf(v, what, back, p), "sent")
}

// Turn is one message of a prompt.
type Turn struct {
	Role  string // system, user, assistant or tool; the vendor's own word if it is another
	Parts []Part // a text has no path
}

// Sent is what a model was sent: its messages, and everything else of the request.
type Sent struct {
	Turns []Turn
	Rest  []Part
	Left  int // values that are not shown
}

// SentOf reads a request to a model, with personal data masked as on cards. A request whose messages are not where
// vendors have them is shown as its values, one that is no JSON as its text.
func SentOf(text []byte) (s Sent) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return Sent{Rest: []Part{{"", legible.Spelled(legible.Mask(legible.Beginning(string(text), maxSent)))}}}
	}
	room, rest := room{parts: maxParts, bytes: maxSent}, legible.MaskAll(v)
	whole, _ := rest.(map[string]any)
	for _, name := range []string{"system", "instructions"} {
		if said := room.said(whole[name]); len(said) > 0 {
			s.Turns = append(s.Turns, Turn{"system", said})
			delete(whole, name)
		}
	}
	for _, name := range []string{"messages", "input"} {
		if list, is := whole[name].([]any); is {
			s.Turns = append(s.Turns, room.turns(list)...)
			delete(whole, name)
		}
	}
	if said, is := whole["input"].(string); is { // a conversation's only message
		s.Turns = append(s.Turns, Turn{"user", room.said(said)})
		delete(whole, "input")
	}
	s.Rest = room.rest(rest)
	s.Left = room.left
	return s
}

// room is what is left of a page's bounds.
type room struct{ parts, bytes, left int }

func (r *room) take(all []Part, path, text string) []Part {
	if r.parts == 0 || len(text) > r.bytes {
		r.left++
		return all
	}
	r.parts, r.bytes = r.parts-1, r.bytes-len(text)
	return append(all, Part{legible.OneLine(path), Indented(legible.Spelled(text))})
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

func (r *room) rest(v any) (all []Part) {
	walk(v, "", func(path, text string) { all = r.take(all, path, text) })
	return all
}

// turns reads a list of messages. What a vendor lists among them without a role, such as a tool's call, is the model's.
func (r *room) turns(list []any) (all []Turn) {
	for _, x := range list {
		m, _ := x.(map[string]any)
		role, _ := member(m, "role").(string)
		turn := Turn{Role: role}
		if m == nil || role == "" {
			turn.Role, turn.Parts = "other", r.rest(x)
			all = append(all, turn)
			continue
		}
		if role == "developer" {
			turn.Role = "system"
		}
		more := map[string]any{}
		for name, value := range m {
			switch strings.ToLower(name) {
			case "role":
			case "content", "parts":
				turn.Parts = append(turn.Parts, r.said(value)...)
			default:
				more[name] = value
			}
		}
		turn.Parts = append(turn.Parts, r.rest(more)...)
		all = append(all, turn)
	}
	return all
}

func member(m map[string]any, name string) any {
	for key, value := range m {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// said reads what a message says: a text, or a list of parts. A part that is more than a text has its values named.
func (r *room) said(v any) (all []Part) {
	switch v := v.(type) {
	case nil:
	case string:
		all = r.take(all, "", v)
	case []any:
		for i, x := range v {
			m, _ := x.(map[string]any)
			if text, is := member(m, "text").(string); is && text != "" && onlyText(m) {
				all = r.take(all, "", text)
				continue
			}
			before := len(all)
			all = append(all, r.rest(x)...)
			for j := range all[before:] {
				if p := &all[before+j]; p.Path == "" {
					p.Path = fmt.Sprint(i + 1)
				}
			}
		}
	default:
		all = r.rest(v)
	}
	return all
}

// onlyText reports whether a part has nothing but its text and what kind of part it is.
func onlyText(m map[string]any) bool {
	for name, value := range m {
		if !slices.Contains([]string{"text", "type", "passing", "cache_control"}, strings.ToLower(name)) && value != nil &&
			value != "" && value != false {
			return false
		}
	}
	return true
}
