package task

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

var update = flag.Bool("update", false, "write testdata/routed.json")

// keptIn has the rows of tasks with gates under a rule as this release writes them, by name and key.
const keptIn = "testdata/routed.json"

// keptTasks are tasks with a gate under a rule, by what stands of it.
func keptTasks(t *testing.T) map[string]*story {
	o := along(2, desk(1, suzuki), desk(1, tanaka, ito))
	all := map[string]*story{
		"opened": onRoute(t), "middle": onRoute(t), "settled": onRoute(t), "sent back": onRoute(t),
		"denied":       onRoute(t),
		"step, middle": waitingOnRoute(t, o), "step, settled": waitingOnRoute(t, o), "step, denied": waitingOnRoute(t,
			o),
	}
	for name, s := range all {
		if name != "opened" {
			s.do(s.does(circulation.Stamp, suzuki))
		}
		switch {
		case strings.HasSuffix(name, "settled"):
			s.do(s.does(circulation.Stamp, tanaka))
		case strings.HasSuffix(name, "sent back"):
			s.do(s.does(circulation.SendBack, ito))
		case strings.HasSuffix(name, "denied"):
			s.do(s.does(circulation.Deny, ito))
		}
	}
	all["settled"].do(all["settled"].start) // so that its first step could be claimed
	all["again, middle"], all["again, settled"] = askedAgain(t), settledAgain(t)
	again := all["again, middle"]
	again.do(again.openOn(AgainKey(1, 2), o), again.does(circulation.Stamp, suzuki))
	all["again, settled"].do(all["again, settled"].start)
	return all
}

// read returns the row with this key from its JSON.
func read(t *testing.T, key string, text json.RawMessage) aggregate.Row {
	t.Helper()
	rows := map[string]aggregate.Row{
		"HEAD": &Head{}, "REQUEST": &Request{}, "TASK": &Task{}, "LISTING": &Listing{}, "PROMPT": &Prompt{},
		"PROCESS":   &Process{},
		"EXECUTION": &Execution{}, "STEP": &StepResult{}, "GATE": &StepGate{}, "AGAIN": &Again{},
		"CARD": &aggregate.Card{},
	}
	kind, _, _ := strings.Cut(key, "#")
	r := rows[kind]
	expect.Must(t, r != nil, "there is no row %s", key)
	expect.NoError(t, json.Unmarshal(text, r))
	return r
}

// write keeps each row on a line of its own: what its hashes are of may not be indented.
func write(t *testing.T, made map[string]*story) {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&out, "%s\n%q: {\n\"HEAD\": %s", map[bool]string{true: ","}[i > 0], name,
			expect.Value(json.Marshal(&made[name].head))(t))
		for _, key := range slices.Sorted(maps.Keys(made[name].rows)) {
			fmt.Fprintf(&out, ",\n%q: %s", key, expect.Value(json.Marshal(made[name].rows[key]))(t))
		}
		out.WriteString("\n}")
	}
	out.WriteString("\n}\n")
	expect.NoError(t, os.WriteFile(keptIn, out.Bytes(), 0o644))
}

// Later releases read the rows that this one writes, and the one before has to refuse them.
func TestRowsOfRoutesAreReadAsTheyAreKept(t *testing.T) {
	made := keptTasks(t)
	if *update {
		write(t, made)
	}
	var kept map[string]map[string]json.RawMessage
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile(keptIn))(t), &kept))
	expect.Is(t, len(kept), len(made), "tasks")
	for name, s := range made {
		s.rows = map[string]aggregate.Row{}
		for key, text := range kept[name] {
			r := read(t, key, text)
			expect.Same(t, string(expect.Value(json.Marshal(r))(t)), string(text))
			if head, ok := r.(*Head); ok {
				s.head = *head
				continue
			}
			s.rows[key] = r
		}
		row := s.ruled()
		g := row.gate()
		st := circulation.Walk(g.Circulating())
		expect.That(t, st.Refused == nil && g.Asked == s.load().sum(row), "%s: it can't be walked: %+v", name,
			st.Refused)
		switch {
		case strings.HasSuffix(name, "settled"):
			expect.That(t, st.Settled && s.load().stands(row), "%s does not stand", name)
			s.do(s.claim)
		case strings.HasSuffix(name, "middle"), name == "opened":
			s.nothing(s.openOn(row.Key(), aggregate.Opening{}))
			s.do(s.does(circulation.Stamp, st.Owes()[0].User))
		default:
			expect.That(t, st.Ended() != "" && g.Status == aggregate.Rejected, "%s: %+v", name, g)
		}
	}
}

// Statistics, receipts and the register read what the entries of verdicts say.
func TestEntriesOfVerdictsAreAsTheyAreKept(t *testing.T) {
	var out strings.Builder
	for _, c := range []struct {
		name string
		from func(testing.TB) *story
		do   func(*story) decision
	}{
		{"policy approved", waitingPrompt, func(s *story) decision { return s.approvePrompt }},
		{"policy rejected", waitingPrompt, func(s *story) decision { return s.rejectPrompt }},
		{"policy of a contest approved", contested, func(s *story) decision { return s.approvePrompt }},
		{"policy picked", contested, func(s *story) decision { return s.pick(person(tanaka)) }},
		{"picked policy approved", picked, func(s *story) decision { return s.approvePrompt }},
		{"nobody asked", unasked, func(s *story) decision { return s.approveAsSystem }},
		{"steps approved", waitingProcess, func(s *story) decision { return s.approveProcess }},
		{"steps rejected", waitingProcess, func(s *story) decision { return s.rejectProcess }},
		{"step approved", waitingStep, func(s *story) decision { return s.approveStep }},
		{"step rejected", waitingStep, func(s *story) decision { return s.rejectStep }},
		{"stage stamped", onRoute, func(s *story) decision { return s.does(circulation.Stamp, suzuki) }},
		{"steps sent back along a route", onRoute, func(s *story) decision {
			return s.does(circulation.SendBack, suzuki)
		}},
		{"steps denied along a route", onRoute, func(s *story) decision { return s.does(circulation.Deny, suzuki) }},
	} {
		s := c.from(t)
		change := expect.Value(c.do(s)(s.load(), s.now))(t)
		for _, e := range change.Audit {
			fmt.Fprintln(&out, c.name+":", e.Action, e.ResourceType, e.ActorType, e.ActorID, e.Details)
		}
	}
	const file = "testdata/entries.txt"
	if *update {
		expect.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	expect.Same(t, out.String(), string(expect.Value(os.ReadFile(file))(t)))
}

func picked(t testing.TB) *story {
	s := contested(t)
	return s.do(s.pick(person(tanaka)))
}

func unasked(t testing.TB) *story {
	s := begin(t)
	s.settings.PromptApprovalRequired = false
	return s.do(s.extract, s.finishPrompt)
}
