package card_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

// looks draws each card and dialog in each of its states in a language, by name.
func looks(t *testing.T, locale string) map[string]any {
	t.Helper()
	all := map[string]any{"talk_end_dialog": endDialog(locale)}
	add := func(prefix string, more map[string]any) {
		for name, v := range more {
			expect.Must(t, all[prefix+name] == nil, "two are called %s", prefix+name)
			all[prefix+name] = v
		}
	}
	for _, s := range slices.Concat(states, routeStates, stepRouteStates, doneStates, matterStates) {
		at := s.scenario(t)
		add("", map[string]any{s.name: render(at.Aggregate, at.card(s.card), locale, at.now)})
	}
	for _, s := range conversationStates {
		c := begunConversation(t)
		s.in(c)
		add("talk_", map[string]any{s.name: c.shown(s.card, locale)})
	}
	add("denied_", anyOf(deniedCards(t, locale)))
	add("route_form_", anyOf(rejectionForms(t, locale)))
	add("route_copy_", anyOf(copiesOnARoute(t, locale)))
	add("returned_", returnedViews(t, locale))
	add("call_", callViews(t, locale))
	ordered := reordered(received(t))
	all["does_order_copy"] = copied(ordered, ordered.copyOf(suzuki, 1), locale)
	all["does_home"] = homeOfEffects(t, locale)
	return all
}

func anyOf[V any](m map[string]V) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// TestEveryStateLooksAsItDid holds each card and dialog in each language against Slack's limits and the Japanese ones
// against the golden file; of the English ones, which differ in words alone, those that are wired. As JSON they are
// written into the folder that RINGI_CARDS names.
func TestEveryStateLooksAsItDid(t *testing.T) {
	for _, locale := range language.All {
		path := filepath.Join("testdata", "golden", locale+".txt")
		all := looks(t, locale)
		texts := map[string]string{}
		golden := func(name string) bool { return locale == language.All[0] || slices.Contains(wired, name) }
		for name, v := range all {
			texts[name] = textOf(name, decoded(t, v))
			if folder := os.Getenv("RINGI_CARDS"); folder != "" {
				written := expect.Value(json.Marshal(v))(t)
				expect.NoError(t, os.WriteFile(filepath.Join(folder, locale+"_"+name+".json"), written, 0o644))
			}
		}
		if *update {
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				if golden(name) {
					b.WriteString(texts[name])
				}
			}
			expect.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		}
		want := map[string]string{}
		for _, s := range strings.Split("\n"+string(expect.Value(os.ReadFile(path))(t)), "\n== ")[1:] {
			name, _, _ := strings.Cut(s, " ")
			name, _, _ = strings.Cut(name, "\n")
			want[name] = "== " + strings.TrimSuffix(s, "\n") + "\n"
			expect.That(t, all[name] != nil && golden(name), "%s has %s, which isn't held: -update leaves it out", path, name)
		}
		for name, v := range all {
			t.Run(locale+"/"+name, func(t *testing.T) {
				expect.NoError(t, check(t, v))
				for _, call := range []string{"<!channel", "<!here", "<!everyone"} {
					expect.That(t, !strings.Contains(texts[name], call), "it has %s", call)
				}
				if !golden(name) {
					return
				}
				diff := cmp.Diff(strings.Split(want[name], "\n"), strings.Split(texts[name], "\n"))
				expect.That(t, diff == "", "run the test with -update if it should (-%s +rendered)\n%s", path, diff)
			})
		}
	}
}

func check(t *testing.T, v any) error {
	switch v := v.(type) {
	case card.Message:
		return cardtest.Check(v)
	case slack.ModalViewRequest:
		return cardtest.CheckView(v)
	}
	for _, p := range webapi.ViewProblems(decoded(t, v).(map[string]any)) {
		t.Error(p)
	}
	return nil
}

// stored are states whose rows have a sentence in Japanese, which was the workspace's language when it was written, or
// which a model answered to a request in Japanese.
var stored = []string{"execution_failed_constraint", "talk_said_of_task", "talk_said_of_typed", "task_answered_help",
	"task_answered_unsupported", "task_answered_and_changed"}

// A card is in one language: its headings, effects, summary and whatever else Ringi says. What people, models and
// vendors wrote in these states is in their files.
func TestACardIsInOneLanguage(t *testing.T) {
	ours := expect.SentencesBelow(t, "../..")
	var data []string
	for _, path := range []string{"scenario_test.go", "states_test.go", "furtherstates_test.go", "does_test.go"} {
		data = append(data, string(expect.Value(os.ReadFile(path))(t)))
	}
	for _, locale := range language.All {
		for name, v := range looks(t, locale) {
			found := ours.Foreign(locale, textOf(name, decoded(t, v)), data...)
			expect.Is(t, locale != "ja" && slices.Contains(stored, name), (len(found) > 0), "%s says %q", name, found)
		}
	}
	for locale, said := range map[string]string{"en": "承認・却下できる人: x", "ja": "Until: You can't approve your own request."} {
		expect.Is(t, len(ours.Foreign(locale, said)), 1, "of another language in %q", said)
	}
}

// wired are cards and dialogs that have, together, each kind of block and element in use.
var wired = []string{"call_again", "call_dialog", "does_home", "execution_pending", "prompt_contested",
	"prompt_pending", "returned_dialog_form", "route_form_first", "route_form_more",
	"does_order", "talk_end_dialog", "talk_said", "task_complete"}

// TestCardsAreSentAsTheyWere holds one card for each kind of block in the form in which Slack gets it. Of all others,
// the golden text says the same to whoever knows these.
func TestCardsAreSentAsTheyWere(t *testing.T) {
	all := looks(t, "ja")
	kinds := func(v any) map[string]bool {
		out := map[string]bool{}
		visit(v, func(v any) {
			if x, is := v.(map[string]any); is {
				kind, _ := x["type"].(string)
				out[kind+" "+strings.Join(slices.Sorted(maps.Keys(x)), " ")] = true
			}
		})
		return out
	}
	used, held := map[string]bool{}, map[string]bool{}
	for name, v := range all {
		sent := decoded(t, v)
		maps.Copy(used, kinds(sent))
		if !slices.Contains(wired, name) {
			continue
		}
		maps.Copy(held, kinds(sent))
		path := filepath.Join("testdata", "wire", name+".json")
		if *update {
			b := expect.Value(json.MarshalIndent(sent, "", "  "))(t)
			expect.NoError(t, os.WriteFile(path, append(b, '\n'), 0o644))
		}
		diff := cmp.Diff(unmarshalled(t, expect.Value(os.ReadFile(path))(t)), sent)
		expect.That(t, diff == "", "(-%s +rendered)\n%s", path, diff)
	}
	expect.Same(t, slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(held)))
}

// TestNoTwoCardsHaveOneText changes each value of each card and dialog in several ways, and each list's order and
// length. Two that differ never have one text, so whatever changes shows in the golden files. Each is changed in one
// language, by day one in four.
func TestNoTwoCardsHaveOneText(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	written, changed := map[uint64]uint64{}, map[string]bool{}
	for nth, locale := range language.All {
		all := looks(t, locale)
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if i%len(language.All) != nth || i%8 > 1 && !expect.Long() {
				continue
			}
			v := decoded(t, all[name])
			hold := func() {
				text, sent := textOf("name", v), string(expect.Value(json.Marshal(v))(t))
				key, is := maphash.String(seed, text), maphash.String(seed, sent)
				was, there := written[key]
				expect.Must(t, !there || was == is, "%s, changed to %s, has the text of another one:\n%s", name, sent, text)
				written[key] = is
			}
			hold()
			change(v, func(x any) { v = x }, hold, changed)
		}
	}
	expect.That(t, len(written) > 20_000, "only %d texts", len(written))
}

// odd are texts that mean something in a golden file, or that nobody sees.
var odd = []string{"x", "1", " ", "\n", "\n\n", "\n  ", "\n+ ", "\n> ", "\\", "\u200b", "] ", " | ", "<", "=", "null"}

// change changes v in place, tries that, and restores it. A block that was changed before is not changed again.
func change(v any, set func(any), try func(), before map[string]bool) {
	to := func(x any) {
		set(x)
		try()
		set(v)
	}
	to(nil)
	switch v := v.(type) {
	case string:
		for _, in := range odd {
			to(in + v)
			to(v + in)
		}
		for i, r := range v {
			rest := v[i+utf8.RuneLen(r):]
			if i == 0 || rest == "" || r == '\n' {
				to(v[:i] + rest)
			}
			if unicode.IsDigit(r) && !unicode.IsDigit([]rune(rest + " ")[0]) { // the last digit of a number
				to(v[:i] + "6" + rest)
			}
		}
		for _, other := range []string{"", "mrkdwn", "plain_text", "primary", "section"} {
			to(other)
		}
	case float64:
		to(v + 1)
	case bool:
		to(!v)
	case []any:
		to([]any{})
		for i, e := range v {
			to(slices.Delete(slices.Clone(v), i, i+1))
			to(slices.Insert(slices.Clone(v), i, e))
			if i > 0 {
				v[i], v[i-1] = v[i-1], e
				try()
				v[i], v[i-1] = e, v[i]
			}
			change(e, func(x any) { v[i] = x }, try, before)
		}
	case map[string]any:
		block := fmt.Sprint(v)
		if v["type"] != nil && before[block] {
			return
		}
		before[block] = true
		for _, k := range slices.Sorted(maps.Keys(v)) {
			e := v[k]
			delete(v, k)
			try()
			v[k] = e
			change(e, func(x any) { v[k] = x }, try, before)
		}
		v["more"] = true
		try()
		delete(v, "more")
	}
}

func visit(v any, see func(any)) {
	see(v)
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			visit(e, see)
		}
	case map[string]any:
		for _, e := range v {
			visit(e, see)
		}
	}
}

// For each tool of the catalog, some state shows its planned call among the steps that wait for approval. A tool whose
// line is a template in its file needs no state of its own: the card shows that line in each language.
func TestACardShowsEachTool(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range slices.Concat(states, matterStates) {
		if p := s.scenario(t).Process(); (s.card == processCard || s.name == "matter_pending") && p != nil {
			for _, step := range p.Steps {
				shown[step.Tool] = shown[step.Tool] || step.ToolInput != ""
			}
		}
	}
	for _, s := range expect.Value(tool.Builtin())(t).Planned().All() {
		if f, _ := catalog.Named(s.Name); f.Demo != nil && f.Line != nil {
			input := aggregate.JSON(expect.Value(json.Marshal(f.Demo.Input))(t))
			steps := []task.Step{{StepID: "step-1", Order: 1, Title: s.Title("ja"), Tool: s.Name, Access: aggregate.Read,
				ToolInput: input}}
			st := state{then: func(s *scenario) *scenario { return planned(s, steps, defaults) }}.scenario(t)
			for _, locale := range language.All {
				m := render(st.Aggregate, st.card(processCard), locale, st.now)
				said := ""
				for _, p := range explain.EffectOf(locale, steps[0], nil, nil).Sentence {
					said += p.Text
				}
				drawn := string(expect.Value(json.Marshal(m))(t))
				expect.That(t, cardtest.Check(m) == nil && said != "" && strings.Contains(drawn, said),
					"the card of %s does not say %q: %s", s.Name, said, drawn)
			}
			continue
		}
		expect.That(t, shown[s.Name], "no card shows a call of %s: put one, with its arguments, into a state of "+
			"states_test.go, and run TestEveryStateLooksAsItDid with -update", s.Name)
	}
}

func decoded(t *testing.T, v any) any {
	t.Helper()
	return unmarshalled(t, expect.Value(json.Marshal(v))(t))
}

func unmarshalled(t *testing.T, b []byte) (out any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal(b, &out))
	return out
}
