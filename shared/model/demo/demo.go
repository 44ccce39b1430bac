// Package demo answers as a language model would, without one: deterministic, offline, in Japanese and English. The
// text of a message decides the answer. Layers, Agent and Teams answer what the pipeline, a conversation and a contest
// send to a model; nothing else of these is known here.
//
// A message may ask for failures. "demo: fail extract" (or draft, plan, summarize) fails that layer at the first try.
// "demo: bad output" gives an unusable first answer; with "twice" the second one is unusable, too, at the first try. A
// layer's name at the end restricts it to that layer. "demo: human check" makes the writing steps wait for a person.
// "demo: cost 3.50" makes each call cost 3.50 dollars, "demo: cost 3.50 plan" only those of one layer. "demo: mark x"
// and demo: mark "x y" change nothing, so that tests can say something of their own.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Question is one call.
type Question struct {
	Purpose string // extract, draft, plan, summarize
	Try     int    // from 1
	Repair  bool   // the first answer could not be used
	Text    string // with one or more fences of data, <data>…</data>
}

// ErrAsked is a failure that the message asked for.
var ErrAsked = errors.New("the message asked for this failure")

// input is the data of any of the four purposes.
type input struct {
	Message   string      `json:"message"`
	Forwarded []forwarded `json:"forwarded"`
	Files     []attached  `json:"files"`
	Policy    string      `json:"policy"`
	Requester string      `json:"requester"`
	Now       string      `json:"now"`
	Locale    string      `json:"locale"`
	Earlier   []version   `json:"rejected_versions"`
	Tools     []offered   `json:"tools"`
	Forbidden []string    `json:"forbidden"`
	Servers   []string    `json:"server_tools"` // given to the draft alone
	More      []string    `json:"more_tools"`   // given to the extraction alone, each as “name: title. description”
	Steps     []fact      `json:"steps"`
}

type offered struct {
	Name        string `json:"name"`
	Constraints struct {
		SpreadsheetIDs []string `json:"spreadsheet_ids"`
		Recipients     []string `json:"recipients"`
		Departments    []string `json:"departments"`
	} `json:"constraints"`
}

// version is a rejected version. A policy's version has no steps.
type version struct {
	Steps  []planned `json:"steps"`
	Reason string    `json:"reason"`
}

type fact struct {
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Facts map[string]any `json:"facts"`
}

// Answer returns JSON of the purpose's schema, or ErrAsked if the message asks for a failure.
func Answer(q Question) (string, error) {
	in, err := q.input()
	if err != nil {
		return "", err
	}
	switch m := marker("fail", in.Message); {
	case q.Try <= 1 && m != nil && strings.EqualFold(m[1], q.Purpose):
		return "", ErrAsked
	case q.unusable(in.Message):
		return `{"answer": "this is not what was asked for"`, nil
	}
	r, err := read(in)
	if err != nil {
		return "", err
	}
	var answer any
	switch q.Purpose {
	case "extract":
		r.noTools = !r.topic.allowed(in.offers)
		answer = extract(r)
	case "draft":
		r.take(in, false)
		r.noTools = !r.topic.allowed(func(tool string) bool { return slices.Contains(in.Servers, tool) })
		answer = map[string]string{"policy": draft(r)}
	case "plan":
		r.follow(in.Policy)
		r.take(in, true)
		steps, missing, remarks := plan(in, r)
		answer = map[string]any{"steps": steps, "missing": missing, "remarks": remarks}
	case "summarize":
		answer = map[string]string{"summary": summary(in, r)}
	default:
		return "", fmt.Errorf("unknown purpose %q", q.Purpose)
	}
	b, err := json.Marshal(answer)
	return string(b), err
}

// allowed reports whether tasks may call the servers' tools that a topic needs.
func (t topic) allowed(has func(tool string) bool) bool {
	needs := map[topic][]string{meeting: {listRooms, bookRoom}, purchase: {placeOrder}}[t]
	return !slices.ContainsFunc(needs, func(tool string) bool { return !has(tool) })
}

// offers reports whether tasks may call a server's tool.
func (in input) offers(tool string) bool {
	return slices.ContainsFunc(in.More, func(line string) bool { return strings.HasPrefix(line, tool+":") })
}

// Cost is the price of the call, in dollars, that the message asks for.
func Cost(q Question) float64 {
	in, err := q.input()
	if err != nil {
		return 0
	}
	m := marker("cost", in.Message)
	if m == nil || m[2] != "" && !strings.EqualFold(m[2], q.Purpose) {
		return 0
	}
	return parsed(m)
}

func (q Question) input() (in input, err error) {
	for _, data := range fenced(q.Text) {
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			return in, fmt.Errorf("read the data: %w", err)
		}
	}
	in.leaveOut()
	return in, nil
}

// What a message may ask for beside its request stands in the table by names that begin with @.
func markers(name, text string) [][]string {
	for tag, form := range rows(table) {
		if tag == "@"+name {
			return regexp.MustCompile(`(?i)demo:\s*`+form).FindAllStringSubmatch(text, -1)
		}
	}
	return nil
}

// marker is the first such marker of a text, nil if it has none.
func marker(name, text string) []string { return append(markers(name, text), nil)[0] }

// parsed is the number that a marker names, 0 without one.
func parsed(m []string) float64 {
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // the form allows only digits and a point
	return n
}

// plain removes the markers from a text.
func plain(text string) string {
	for tag, form := range rows(table) {
		if strings.HasPrefix(tag, "@") {
			text = regexp.MustCompile(`(?i)demo:\s*`+form).ReplaceAllString(text, " ")
		}
	}
	return strings.TrimSpace(text)
}

// unusable reports whether the message asks for an answer that can't be used.
func (q Question) unusable(message string) bool {
	m := marker("bad", message)
	return q.Try <= 1 && m != nil && (m[2] == "" || strings.EqualFold(m[2], q.Purpose)) && (m[1] != "" || !q.Repair)
}
