package card_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
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

// textOf writes what is sent of a message or dialog, a line a block. A line end within a text begins another line with
// two spaces, so no two messages have one text.
func textOf(name string, sent any) string {
	x := sent.(map[string]any)
	holder := x
	if list, _ := x["attachments"].([]any); len(list) == 1 {
		holder = list[0].(map[string]any)
	}
	blocks, _ := holder["blocks"].([]any)
	delete(holder, "blocks")
	for _, name := range []string{"blocks", "metadata", "replace_original", "delete_original"} { // no card sets them
		delete(x, name)
	}
	var b strings.Builder
	b.WriteString("== " + name + "\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range slices.Concat([]any{x}, blocks) {
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
	}
	return strings.NewReplacer(`\\`, `\\`, `\n`, "\n  ").Replace(b.String())
}

func anyOf[V any](m map[string]V) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// TestEveryStateLooksAsItDid holds each card and dialog in each language against Slack's limits and the Japanese ones
// against the golden file; of the English ones, which differ in words alone, those that are wired.
func TestEveryStateLooksAsItDid(t *testing.T) {
	for _, locale := range language.All {
		path := filepath.Join("testdata", "golden", locale+".txt")
		all := looks(t, locale)
		texts := map[string]string{}
		golden := func(name string) bool { return locale == language.All[0] || slices.Contains(wired, name) }
		for name, v := range all {
			texts[name] = textOf(name, decoded(t, v))
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
		for _, b := range v.Attachments {
			for _, b := range b.Blocks.BlockSet {
				a, is := b.(*slack.ActionBlock)
				expect.That(t, !is || len(a.Elements.ElementSet) <= 3, "it has more than three buttons")
			}
		}
		return ringitest.CheckCard(v)
	case slack.ModalViewRequest:
		return ringitest.CheckView(v)
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

// wired are cards and dialogs that have, together, each kind of block and element in use: both languages hold these.
var wired = []string{"call_again", "call_dialog", "does_home", "execution_pending", "prompt_contested",
	"prompt_pending", "returned_dialog_form", "route_form_first", "route_form_more",
	"does_order", "talk_end_dialog", "talk_said", "task_complete"}

func decoded(t *testing.T, v any) any {
	t.Helper()
	return unmarshalled(t, expect.Value(json.Marshal(v))(t))
}

func unmarshalled(t *testing.T, b []byte) (out any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal(b, &out))
	return out
}
