package conversation

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

// keptIn has the rows that decide about actions under a rule, as this release writes them, by name and key.
const keptIn = "testdata/routed.json"

// keptActions are conversations with an action under a rule, by what stands of it.
func keptActions(t *testing.T) map[string]*table {
	all := map[string]*table{}
	for name, last := range map[string]circulation.Kind{
		"opened": "", "middle": "", "settled": circulation.Stamp, "sent back": circulation.SendBack,
		"denied": circulation.Deny,
	} {
		tb := circulating(t, along(desk(suzuki), desk(tanaka)))
		if name != "opened" {
			tb.must(tb.acting(circulation.Stamp, suzuki))
		}
		if last != "" {
			tb.must(tb.acting(last, tanaka))
		}
		if name == "settled" {
			expect.NoError(t, tb.begin())
		}
		all[name] = tb
	}
	return all
}

// Later releases read the rows that this one writes, and the one before has to refuse them.
func TestRowsOfActionsUnderARuleAreReadAsTheyAreKept(t *testing.T) {
	made := keptActions(t)
	if *update {
		write(t, made)
	}
	var kept map[string]map[string]json.RawMessage
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile(keptIn))(t), &kept))
	expect.Is(t, len(kept), len(made), "conversations")
	for name, tb := range made {
		x, conversation := &Action{}, &Conversation{}
		for key, r := range map[string]any{aggregate.HeadKey: &tb.head, ActionKey(1): x,
			conversation.Key(): conversation} {
			text := kept[name][key]
			expect.NoError(t, json.Unmarshal(text, r))
			expect.Same(t, string(expect.Value(json.Marshal(r))(t)), string(text))
		}
		tb.rows[x.Key()], tb.rows[conversation.Key()] = x, conversation
		st := circulation.Walk(x.Gate.Circulating())
		expect.That(t, st.Refused == nil && x.Gate.Asked == x.sum(), "%s: it can't be walked: %+v", name, st.Refused)
		switch name {
		case "settled":
			expect.NoError(t, tb.claim("i1"))
		case "opened", "middle":
			tb.makes(tb.acting(circulation.Stamp, st.Owes()[0].User),
				map[string]string{"opened": "action.stamped", "middle": "action.approved"}[name])
		default:
			expect.That(t, st.Ended() != "" && x.Gate.Status == aggregate.Rejected && x.Status == ActionCancelled,
				"%s: %+v", name, x)
		}
	}
}

// write keeps each row on a line of its own: what its hashes are of may not be indented.
func write(t *testing.T, made map[string]*table) {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(made)) {
		tb := made[name]
		fmt.Fprintf(&out, "%s\n%q: {\n\"HEAD\": %s", map[bool]string{true: ","}[i > 0], name,
			expect.Value(json.Marshal(&tb.head))(t))
		for _, key := range []string{ActionKey(1), (&Conversation{}).Key()} {
			fmt.Fprintf(&out, ",\n%q: %s", key, expect.Value(json.Marshal(tb.rows[key]))(t))
		}
		out.WriteString("\n}")
	}
	out.WriteString("\n}\n")
	expect.NoError(t, os.WriteFile(keptIn, out.Bytes(), 0o644))
}

// Statistics, receipts and the register read what the entries of verdicts say.
func TestEntriesOfVerdictsAreAsTheyAreKept(t *testing.T) {
	var out strings.Builder
	asks := func(t testing.TB) *table { tb, _ := pending(t, ShellCommand); return tb }
	onRoute := func(t testing.TB) *table { return circulating(t, along(desk(suzuki), desk(tanaka))) }
	for _, c := range []struct {
		name string
		from func(testing.TB) *table
		do   func(*table) (aggregate.Change, error)
	}{
		{"approved", asks, func(tb *table) (aggregate.Change, error) {
			return approving(tb, tb.load().Current(), person(suzuki), policy)
		}},
		{"rejected", asks, func(tb *table) (aggregate.Change, error) {
			return rejecting(tb, tb.load().Current(), person(suzuki), policy)
		}},
		{"nobody asked", func(t testing.TB) *table { return opened(t) }, func(tb *table) (aggregate.Change, error) {
			a := tb.load()
			return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: tb.used(),
				Proposal: proposal(TestRun, tb.now, "test_run")}, tb.now)
		}},
		{"stage stamped", onRoute, func(tb *table) (aggregate.Change, error) {
			return tb.acting(circulation.Stamp, suzuki)(tb.load())
		}},
		{"sent back along a route", onRoute, func(tb *table) (aggregate.Change, error) {
			return tb.acting(circulation.SendBack, suzuki)(tb.load())
		}},
		{"denied along a route", onRoute, func(tb *table) (aggregate.Change, error) {
			return tb.acting(circulation.Deny, suzuki)(tb.load())
		}},
	} {
		change := expect.Value(c.do(c.from(t)))(t)
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
