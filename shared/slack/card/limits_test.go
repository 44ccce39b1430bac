package card

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card/cardtest"
)

// Slack counts characters without saying how. A text at a limit stays complete. A text that is one longer is cut
// between visible letters, so that it fits however Slack counts.
func TestTextsAtSlacksLimits(t *testing.T) {
	letters := map[string]string{"kanji": "漢", "emoji": "🎉", "skin": "👍🏽", "family": "👩‍👩‍👧", "accent": "e\u0301", "escaped": "&"}
	for name, limit := range map[string]int{"section": maxSection, "header": maxHeader, "reason": maxReason,
		"detail": maxDetail, "button": 75, "field": maxField} {
		for kind, letter := range letters {
			t.Run(name+" of "+kind, func(t *testing.T) {
				sent := letter
				if kind == "escaped" {
					sent = "&amp;"
				}
				size := len(utf16.Encode([]rune(sent)))
				full := strings.Repeat("x", limit%size) + strings.Repeat(letter, limit/size)
				for how, prepare := range map[string]func(string, int) string{"inline": inline, "plain": plain,
					"paragraph": paragraph} {
					if got := prepare(full, limit); got != strings.ReplaceAll(full, letter, sent) {
						t.Errorf("%s cuts what has %d units at most: %d of %q", how, limit, len(utf16.Encode([]rune(got))),
							got[max(0, len(got)-12):])
					}
					got := prepare(full+letter, limit)
					rest, cut := strings.CutSuffix(got, ellipsis)
					n := len(utf16.Encode([]rune(got)))
					expect.That(t, cut && n <= limit && n > limit-size-len(ellipsis),
						"%s makes %d units of one letter too many, at most %d", how, n, limit)
					odd := strings.ReplaceAll(strings.TrimLeft(rest, "x"), sent, "")
					expect.That(t, odd == "", "%s leaves half a letter: %q", how, odd)
				}
			})
		}
	}
}

// Texts of people at each limit are drawn on cards that Slack accepts.
func TestCardsOfTextsAtSlacksLimits(t *testing.T) {
	for kind, letter := range map[string]string{"kanji": "漢", "emoji": "🎉", "family": "👩‍👩‍👧"} {
		for _, n := range []int{maxHeader, maxSection, maxCharacters} {
			long := strings.Repeat(letter, n)
			a := &task.Aggregate{
				Head:    task.Head{Head: aggregate.Head{TenantID: "t"}, TaskID: "01J00000000000000000000000"},
				Request: &task.Request{Text: long, User: "U1", Channel: "C1"},
				Task: &task.Task{ID: "01J00000000000000000000000", Title: long, Description: long, Priority: task.Medium,
					TaskType: task.TypeStandard},
			}
			m := RenderUnder(a, &aggregate.Card{CardType: task.CardTask}, tenancy.DefaultSettings(), time.Now())
			err := cardtest.Check(m)
			expect.That(t, err == nil, "%d of %s: %v", n, kind, err)
			for _, b := range m.Attachments[0].Blocks.BlockSet {
				if h, ok := b.(*slack.HeaderBlock); ok && len([]rune(h.Text.Text)) > maxHeader {
					t.Errorf("a header of %d characters", len([]rune(h.Text.Text)))
				}
			}
		}
	}
}

// characters counts as the sandbox does.
func TestCharactersAreCountedAsSlackDoes(t *testing.T) {
	table := slack.NewTableBlock("")
	table.AddRow(slack.NewTableRawTextCell("漢字"), slack.NewTableRawTextCell("🎉"))
	for kind, b := range map[string]slack.Block{"section": section("*漢字* 🎉"), "fields": fields("漢", "字"), "context": contextLine("👩‍👩‍👧", "x"), "table": table} {
		var sent any
		raw, err := json.Marshal(b)
		expect.Must(t, err == nil && json.Unmarshal(raw, &sent) == nil, "%v", err)
		got, want := characters(b), webapi.Characters(sent)
		expect.That(t, got == want && got != 0, "a %s has %d characters, want %d", kind, got, want)
	}
}

// FuzzFences: code blocks show a text completely, or say that a part is missing.
func FuzzFences(f *testing.F) {
	for _, s := range []string{
		`{"recipient":"U1","rows":[["a",1],["b",null]],"n":12345678901234567890}`, "{\"a\":\"```\\n<!channel> & \\u202e\"}", `{"a":{},"b":[],"c":[[]],"d":1e999999}`,
		`{"":"\ud800","\u0000":" "}`, strings.Repeat(`{"a":`, 60), `{"a":"` + strings.Repeat("長い", 2000) + `"}`, "not JSON ``` ✅", "{\"a\":\"\xff\"}", "{\"a\":\"葛\U000e0100\u200b\U000e0041\"}", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pages, rest := fenced(visible(pretty(s)), maxSection, maxPages)
		expect.Must(t, len(pages) != 0 && len(pages) <= maxPages, "%d pages", len(pages))
		var all []string
		for _, p := range pages {
			inner, opened := strings.CutPrefix(p, "```\n")
			inner, closed := strings.CutSuffix(inner, "\n```")
			if !opened || !closed || strings.ContainsAny(inner, "`<>\u202e\u200b\x00") || units(p) > maxSection {
				t.Fatalf("a page of %d is %q", units(p), p)
			}
			all = append(all, strings.TrimSuffix(strings.ReplaceAll(inner, goesOn+"\n", ""), goesOn))
		}
		if rest || !json.Valid([]byte(s)) {
			return
		}
		shown := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(strings.ReplaceAll(strings.Join(all, ""), "\n", "")) // long lines are folded
		d := cmp.Diff(numbers(t, s), numbers(t, shown))
		expect.That(t, d == "", "%q is shown as %q: %s", s, shown, d)
	})
}

func numbers(t *testing.T, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	err := d.Decode(&v)
	expect.Must(t, err == nil, "%q: %v", s, err)
	return v
}
