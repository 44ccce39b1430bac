// Package demo answers as a language model would, without one: deterministic,
// offline, in Japanese and English. What a message says decides the answer.
//
// A message may ask for trouble: "demo: fail extract" (or draft, plan, summarize)
// fails that layer the first time, "demo: bad output" gives an answer that must be
// asked for again, "demo: bad output twice" one that stays unusable the first time,
// "demo: human check" makes the writing steps wait for a person. A layer's name
// behind bad output restricts it to that layer. "demo: cost 3.50" makes each call cost
// so many dollars, "demo: cost 3.50 plan" those of one layer.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/lazy"
)

// Question is one call.
type Question struct {
	Purpose string // extract, draft, plan, summarize
	Try     int    // from 1
	Repair  bool   // the first answer could not be used
	Text    string // with one or more fences of data, <data>…</data>
}

// ErrAsked is the failure that a message asked for.
var ErrAsked = errors.New("the message asked for this failure")

// input holds the data of all four purposes.
type input struct {
	Message   string    `json:"message"`
	Policy    string    `json:"policy"`
	Requester string    `json:"requester"`
	Now       string    `json:"now"`
	Locale    string    `json:"locale"`
	Earlier   []version `json:"rejected_versions"`
	Tools     []offered `json:"tools"`
	Forbidden []string  `json:"forbidden"`
	Servers   []string  `json:"server_tools"` // given to the draft alone
	Steps     []fact    `json:"steps"`
}

// offered is a tool with an administrator's constraints.
type offered struct {
	Name        string `json:"name"`
	Constraints struct {
		SpreadsheetIDs []string `json:"spreadsheet_ids"`
		Recipients     []string `json:"recipients"`
		Departments    []string `json:"departments"`
	} `json:"constraints"`
}

// version is a rejected version. One of a policy has no steps.
type version struct {
	Steps  []planned `json:"steps"`
	Reason string    `json:"reason"`
}

type fact struct {
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Facts map[string]any `json:"facts"`
}

// Answer returns JSON of the purpose's schema, ErrAsked when the message wants a
// failure, and an error when the data cannot be read.
func Answer(q Question) (string, error) {
	in, err := q.input()
	if err != nil {
		return "", err
	}
	switch t := faultIn(in.Message); {
	case q.Try <= 1 && t.fail == q.Purpose:
		return "", ErrAsked
	case q.Try <= 1 && t.bad && (t.badLayer == "" || t.badLayer == q.Purpose) && (t.twice || !q.Repair):
		return `{"answer": "this is not what was asked for"`, nil
	}
	r, err := read(in)
	if err != nil {
		return "", err
	}
	var answer any
	switch q.Purpose {
	case "extract":
		answer = extract(r)
	case "draft":
		r.take(in, false)
		r.noRooms = !slices.Contains(in.Servers, listRooms) || !slices.Contains(in.Servers, bookRoom)
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

// Cost is the call's price that the message asks for, in dollars.
func Cost(q Question) float64 {
	in, err := q.input()
	if err != nil {
		return 0
	}
	m := costForm().FindStringSubmatch(in.Message)
	if m == nil || m[2] != "" && strings.ToLower(m[2]) != q.Purpose {
		return 0
	}
	dollars, _ := strconv.ParseFloat(m[1], 64) // of digits and a point
	return dollars
}

// input reads the data of all fences.
func (q Question) input() (in input, err error) {
	for rest := q.Text; ; {
		_, after, found := strings.Cut(rest, "<data>")
		if !found {
			return in, nil
		}
		data, after, _ := strings.Cut(after, "</data>")
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			return in, fmt.Errorf("read the data: %w", err)
		}
		rest = after
	}
}

type fault struct {
	fail       string
	bad, twice bool
	badLayer   string
}

var (
	failForm = lazy.Regexp(`(?i)demo:\s*fail\s+(extract|draft|plan|summarize)`)
	badForm  = lazy.Regexp(`(?i)demo:\s*bad output(\s+twice)?(?:\s+(extract|draft|plan|summarize))?`)
	costForm = lazy.Regexp(`(?i)demo:\s*cost\s+(\d{1,4}(?:\.\d{1,6})?)(?:\s+(extract|draft|plan|summarize|contest)\b)?`)
	anyForm  = lazy.Regexp(`(?i)demo:\s*(fail\s+\w+|human check|cost\s+\d{1,4}(\.\d{1,6})?(\s+(extract|draft|plan|summarize|contest)\b)?|(hang|refuse|unscored)\s+[\w.-]*\w(\s+round\s+\d{1,2})?|slow\s+\d{1,3}(\.\d{1,3})?|play on|bad output(\s+twice)?(\s+(extract|draft|plan|summarize))?)`)
)

func faultIn(message string) fault {
	var t fault
	if m := failForm().FindStringSubmatch(message); m != nil {
		t.fail = strings.ToLower(m[1])
	}
	if m := badForm().FindStringSubmatch(message); m != nil {
		t.bad, t.twice, t.badLayer = true, m[1] != "", strings.ToLower(m[2])
	}
	return t
}
