package conversation

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
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
