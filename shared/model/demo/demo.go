// Package demo answers as a language model would, without one: deterministic, offline, in Japanese and English, by the
// text of a message alone. Layers, Agent and Teams answer what the pipeline, a conversation and a contest send to a
// model. A message may ask for failures by markers: phrases.txt says which.
package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// input is the data of any of the four purposes.
type input struct {
	Message, Policy, Requester, Now, Locale string
	Forwarded, Files                        []enclosed
	Earlier                                 []struct{ Reason string } `json:"rejected_versions"`
	Tools                                   []offered
	Forbidden                               []string
	Servers                                 []string `json:"server_tools"` // given to the draft alone
	More                                    []string `json:"more_tools"`   // each as “name: title. description”
	Steps                                   []fact
}

type offered struct {
	Name        string
	Constraints map[string]any
}

// enclosed is a message that the request forwards, or a file of it.
type enclosed struct {
	Text     string
	NotShown string `json:"not_shown"`
	NotRead  string `json:"not_read"`
}

type fact struct {
	Title, Tool string
	Facts       map[string]any
}

// lack says why a tool can't be called with an input for what it is to do; nil if it can. The demo never replaces a
// forbidden value by an allowed one.
func (in input) lack(what, tool string, arguments object) object {
	at := slices.IndexFunc(in.Tools, func(o offered) bool { return o.Name == tool })
	switch {
	case at < 0 && slices.Contains(in.Forbidden, tool):
		return object{"what": what, "tool": tool, "why": "forbidden"}
	case at < 0:
		return object{"what": what, "tool": "", "why": "no_tool"}
	}
	for name, value := range arguments {
		listed, _ := in.Tools[at].Constraints[name+"s"].([]any)
		if len(listed) > 0 && !slices.Contains(listed, value) {
			return object{"what": what, "tool": tool, "why": "constraint"}
		}
	}
	return nil
}

// answer returns JSON of the purpose's schema, or a failure that the message asks for.
func answer(r model.Request) (string, error) {
	var in input
	if err := fenced(textOf(r), &in); err != nil {
		return "", fmt.Errorf("read the data: %w", err)
	}
	purpose := string(r.Purpose)
	if m := marker("fail", in.Message); r.Try <= 1 && m != nil && strings.EqualFold(m[1], purpose) {
		return "", failed()
	}
	if m := marker("bad", in.Message); r.Try <= 1 && m != nil && (m[2] == "" || strings.EqualFold(m[2], purpose)) &&
		(m[1] != "" || len(r.Messages) == 1) {
		return `{"answer": "this is not what was asked for"`, nil
	}
	w, err := read(in)
	if err != nil {
		return "", err
	}
	for _, tool := range strings.Fields(w.words.Topics[w.Topic]["tools"]) {
		offers := func(s string) bool { return s == tool || strings.HasPrefix(s, tool+":") }
		w.Is["notools"] = w.Is["notools"] || !slices.ContainsFunc(append(in.Servers, in.More...), offers)
	}
	var reasons []string
	for _, v := range in.Earlier {
		reasons = append(reasons, v.Reason)
	}
	var out any
	switch r.Purpose {
	case model.Extracting:
		out = extract(w)
	case model.Drafting:
		w.heed(reasons, "reason")
		out = map[string]string{"policy": draft(w), "title": w.Form("title")}
	case model.Planning:
		w.heed(w.followed(in.Policy), "reason")
		w.heed(reasons, "steps")
		steps, missing := plan(w)
		out = map[string]any{"steps": steps, "missing": missing, "remarks": w.words.text("remarks", w)}
	case model.Summarizing:
		out = map[string]string{"summary": summary(w)}
	default:
		return "", fmt.Errorf("unknown purpose %q", r.Purpose)
	}
	return string(encoded(out)), nil
}

// textOf is what a request says, with one or more fences of data, <data>…</data>.
func textOf(r model.Request) string { return r.Standing + r.Messages[0].Parts[0].Text }

// fenced reads the data in a text's fences into a value.
func fenced(text string, into any) (err error) {
	for _, data := range fence.Get().FindAllStringSubmatch(text, -1) {
		err = cmp.Or(err, json.Unmarshal([]byte(data[1]), into))
	}
	return err
}

// markers are the places where a text asks for something beside its request. Their forms stand in the table by names
// that begin with @.
func markers(name, text string) [][]string {
	return form("@"+name).FindAllStringSubmatch(text, -1)
}

// marker is the first such marker of a text, nil if it has none.
func marker(name, text string) []string { return append(markers(name, text), nil)[0] }

// asked is the number that a marker names for a purpose, 0 without one.
func asked(name, text, purpose string) float64 {
	m := marker(name, text)
	if m == nil || len(m) > 2 && m[2] != "" && !strings.EqualFold(m[2], purpose) {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // the form allows only digits and a point
	return n
}

// plain removes the markers from a text.
func plain(text string) string {
	for _, p := range phrases() {
		if p.tag[0] == '@' {
			text = p.form.ReplaceAllString(text, " ")
		}
	}
	return strings.TrimSpace(text)
}

// Layers answers the four layers of the pipeline. Its answers are checked like any other model's.
type Layers struct{}

// Say answers with JSON of the purpose's schema.
func (Layers) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out := begun(ctx, r)
	text, err := answer(r)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return out, err
	}
	standing := int64(len(r.Standing) / 4) // a token is about four bytes
	out.Text, out.Usage.Cost = text, aggregate.USD(asked("cost", textOf(r), string(r.Purpose)))
	out.Usage.Input, out.Usage.Cached = int64(len(r.System)/4+len(textOf(r))/4)-standing, standing
	out.Usage.Output = int64(len(text) / 4)
	return out, nil
}

// begun is an answer without words. It keeps what was sent.
func begun(ctx context.Context, r model.Request) model.Response {
	model.Sent(ctx, encoded(r))
	return model.Response{Stop: model.StopEnd, Answered: aggregate.Demo,
		Usage: model.Usage{Provider: aggregate.Demo, Model: aggregate.Demo, Calls: 1}}
}

func failed() error {
	return &model.Error{Provider: aggregate.Demo, Model: aggregate.Demo, Kind: model.Demo,
		Err: errors.New("the message asked for this failure")}
}

var fence = &language.Regexp{Text: `(?s)<data>(.*?)(?:</data>|$)`}

func encoded(v any) json.RawMessage {
	b, _ := json.Marshal(v) // of texts, numbers and lists
	return b
}
