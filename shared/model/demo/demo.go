// Package demo answers as a language model would, without one: deterministic,
// offline, in Japanese and English. What a message says decides the answer.
//
// A message may ask for trouble: "demo: fail extract" (or draft, plan, summarize)
// fails that layer the first time, "demo: bad output" gives an answer that must be
// asked for again, "demo: bad output twice" one that stays unusable the first time,
// "demo: human check" makes the writing steps wait for a person. A layer's name
// behind bad output restricts it to that layer.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
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

// input is what the data of the four purposes have, taken together.
type input struct {
	Message   string    `json:"message"`
	Policy    string    `json:"policy"`
	Requester string    `json:"requester"`
	Now       string    `json:"now"`
	Locale    string    `json:"locale"`
	Earlier   []version `json:"rejected_versions"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Steps []fact `json:"steps"`
}

type version struct {
	Reason string `json:"reason"`
}

type fact struct {
	Tool  string         `json:"tool"`
	Facts map[string]any `json:"facts"`
}

// Answer returns JSON of the purpose's schema, ErrAsked when the message wants a
// failure, and an error when the data cannot be read.
func Answer(q Question) (string, error) {
	var in input
	for rest := q.Text; ; {
		_, after, found := strings.Cut(rest, "<data>")
		if !found {
			break
		}
		data, after, _ := strings.Cut(after, "</data>")
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			return "", fmt.Errorf("read the data: %w", err)
		}
		rest = after
	}
	switch t := troubleIn(in.Message); {
	case q.Try <= 1 && t.fail == q.Purpose:
		return "", ErrAsked
	case q.Try <= 1 && t.bad && (t.badLayer == "" || t.badLayer == q.Purpose) && (t.twice || !q.Repair):
		return `{"answer": "this is not what was asked for"`, nil
	}
	w, err := wishOf(in)
	if err != nil {
		return "", err
	}
	var answer any
	switch q.Purpose {
	case "extract":
		answer = extract(in, w)
	case "draft":
		answer = map[string]string{"policy": draft(in, w)}
	case "plan":
		answer = map[string]any{"steps": plan(in, w)}
	case "summarize":
		answer = map[string]string{"summary": summary(in, w)}
	default:
		return "", fmt.Errorf("unknown purpose %q", q.Purpose)
	}
	b, err := json.Marshal(answer)
	return string(b), err
}

type trouble struct {
	fail       string
	bad, twice bool
	badLayer   string
}

var (
	failForm = form(`(?i)demo:\s*fail\s+(extract|draft|plan|summarize)`)
	badForm  = form(`(?i)demo:\s*bad output(\s+twice)?(?:\s+(extract|draft|plan|summarize))?`)
	anyForm  = form(`(?i)demo:\s*(fail\s+\w+|human check|bad output(\s+twice)?(\s+(extract|draft|plan|summarize))?)`)
)

// form is compiled when it is first asked for: a start does without.
func form(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func troubleIn(message string) trouble {
	var t trouble
	if m := failForm().FindStringSubmatch(message); m != nil {
		t.fail = strings.ToLower(m[1])
	}
	if m := badForm().FindStringSubmatch(message); m != nil {
		t.bad, t.twice, t.badLayer = true, m[1] != "", strings.ToLower(m[2])
	}
	return t
}
