package infra_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// machine is a state machine's definition, with the fields that ours use. Any other field is misspelled, or a feature
// that the local interpreter lacks (JSONata, variables).
type machine struct {
	Comment, StartAt string
	TimeoutSeconds   int
	ProcessorConfig  map[string]string // of a machine within a Map
	States           map[string]state
}

type state struct {
	Comment, Type, Resource     string
	Parameters                  *parameters
	OutputPath                  string
	ResultPath                  json.RawMessage
	TimeoutSeconds              int
	TimeoutSecondsPath          string
	SecondsPath                 string
	ItemsPath                   string // of a Map, like the following fields
	MaxConcurrency              int
	ItemSelector                map[string]string
	ItemProcessor               *machine
	Retry                       []retrier
	Catch                       []catcher
	Choices                     []choice
	Next, Default, Error, Cause string
}

type parameters struct {
	FunctionName string
	Payload      map[string]string
}

type retrier struct {
	ErrorEquals                                   []string
	IntervalSeconds, MaxAttempts, MaxDelaySeconds int
	BackoffRate                                   float64
	JitterStrategy                                string
}

type catcher struct {
	ErrorEquals []string
	ResultPath  json.RawMessage
	Next        string
}

type choice struct{ Variable, StringEquals, Next string }

func parseMachine(text string) (machine, error) {
	var m machine
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("read the state machine: %w", err)
	}
	return m, nil
}

// next lists every state that s may lead to.
func (s state) next() []string {
	all := []string{}
	for _, c := range s.Choices {
		all = append(all, c.Next)
	}
	for _, c := range s.Catch {
		all = append(all, c.Next)
	}
	for _, n := range []string{s.Next, s.Default} {
		if n != "" {
			all = append(all, n)
		}
	}
	return all
}

// reach returns every state that a run can come to from a state.
func (m machine) reach(from string) map[string]bool {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if !seen[name] {
			seen[name] = true
			todo = append(todo, m.States[name].next()...)
		}
	}
	return seen
}

// states yields the states of all state machines, in order.
func (s *stack) states() iter.Seq2[string, state] {
	return func(yield func(string, state) bool) {
		for _, file := range slices.Sorted(maps.Keys(s.machines)) {
			m := s.machines[file]
			for _, m := range m.all() {
				for _, name := range m.names() {
					if !yield(name, m.States[name]) {
						return
					}
				}
			}
		}
	}
}

// all returns the machine and those within its Maps.
func (m machine) all() []machine {
	out := []machine{m}
	for _, name := range m.names() {
		if p := m.States[name].ItemProcessor; p != nil {
			out = append(out, p.all()...)
		}
	}
	return out
}

func (m machine) names() []string { return slices.Sorted(maps.Keys(m.States)) }

func (s state) waits() bool {
	return s.Resource == "arn:${Partition}:states:::lambda:invoke.waitForTaskToken"
}

// function returns the resource of the function that a state calls.
func (s state) function() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.Parameters.FunctionName, "${"), "Arn}")
}

func (s state) ends() bool { return s.Type == "Succeed" || s.Type == "Fail" }

// handles tells whether any of the lists names the error.
func handles(lists [][]string, name string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, name) })
}

func (s state) retried() [][]string {
	var lists [][]string
	for _, r := range s.Retry {
		lists = append(lists, r.ErrorEquals)
	}
	return lists
}

func (s state) caught() [][]string {
	var lists [][]string
	for _, c := range s.Catch {
		lists = append(lists, c.ErrorEquals)
	}
	return lists
}
