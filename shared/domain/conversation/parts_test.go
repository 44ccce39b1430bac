package conversation

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestALongMessageIsShownInPartsOfWhichNothingIsLost(t *testing.T) {
	line := strings.Repeat("漢字 & <x> 🎉 ", 8) + "\n"
	for name, text := range map[string]string{
		"short": "hello", "lines": strings.Repeat(line, 60), "one long line": strings.Repeat("あ", 9000), "words": strings.Repeat("word ", 3000),
	} {
		whole := ""
		for _, p := range Parts(text) {
			cost := sum(p)
			expect.That(t, cost <= partSize+10, "%s: a part of %d", name, cost)
			whole += p
		}
		got, want := plain(whole), plain(text)
		expect.That(t, got == want, "%s: %d characters of %d are shown", name, len(got), len(want))
	}
	if got := Parts(" \n"); len(got) != 0 {
		t.Errorf("nothing is shown as %q", got)
	}
	if got := Parts(strings.Repeat(line, 5000)); len(got) != mostParts || !strings.HasSuffix(got[mostParts-1], "…") {
		t.Errorf("%d parts", len(got))
	}
}

func sum(s string) (n int) {
	for _, r := range s {
		n += cost(r)
	}
	return n
}

func plain(s string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(s)
}

// codeOf returns the code of a Markdown text, and the languages of its blocks.
func codeOf(texts ...string) (code string, languages []string) {
	for _, text := range texts {
		for _, p := range legible.MarkdownPieces(text) {
			if p.Kind != legible.Prose {
				code += p.Text
			}
			if p.Kind == legible.Block {
				languages = append(languages, p.Language)
			}
		}
	}
	return code, languages
}

func TestCodeGoesOnInTheNextPart(t *testing.T) {
	for name, text := range map[string]string{
		"a block":                   "before\n```go\n" + strings.Repeat("code * code\n\n", 900) + "```\nafter",
		"one with a fence":          "````md\n" + strings.Repeat("```\ncode\n```\n", 600) + "````\nafter",
		"of tildes, without an end": "~~~py\n" + strings.Repeat("x = `y`\n", 900),
		"in a list":                 "- a\n  ```sh\n" + strings.Repeat("  code code\n", 900) + "  ```\n- b",
		"by indentation":            "before\n\n" + strings.Repeat("    code code\n", 900) + "\nafter",
		"one line":                  "```\n" + strings.Repeat("x", 9000) + "\n```",
		"within a line":             "a `" + strings.Repeat("b*c", 3000) + "` d",
		"many within lines":         strings.Repeat("words `a * b` and ``c ` d`` ", 400),
	} {
		parts := Parts(text)
		expect.That(t, len(parts) > 1, "%s: %d parts", name, len(parts))
		want, languages := codeOf(text)
		got, again := codeOf(parts...)
		if name == "one line" || name == "within a line" {
			got, want = plain(got), plain(want)
		}
		expect.That(t, got == want, "%s: %d bytes of code became %d", name, len(want), len(got))
		for _, language := range again {
			expect.Is(t, language, languages[0], "%s: its language", name)
		}
		for i, p := range parts {
			expect.That(t, sum(p) <= partSize+20, "%s: part %d costs %d", name, i, sum(p))
			for _, piece := range legible.MarkdownPieces(p) {
				expect.That(t, !piece.Open, "%s: part %d has no end", name, i)
			}
		}
	}
}

func TestACardNamesThePartOfItsMessage(t *testing.T) {
	key := MessageKey(start, "m-1")
	for part := range 3 {
		if gotKey, got := OfMessage(MessageSubject(key, part)); gotKey != key || got != part {
			t.Errorf("part %d of %s is taken for %d of %s", part, key, got, gotKey)
		}
	}
}

// Each message to a closed conversation is answered with a new card. After the conversation is reopened, the agent
// answers it.
func TestAMessageToAClosedSessionIsAnsweredByAButton(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(nil))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	for i := range 3 {
		tb.now = tb.now.Add(time.Minute)
		tb.tell("still there?")
		begin := tb.load().Effects(tb.now).Begin
		expect.Must(t, begin != nil, "message %d is not answered", i)
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return begin(a) })
		again := tb.load().Effects(tb.now).Begin
		expect.That(t, again == nil, "message %d is answered twice", i)
	}
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Reopen(person(sato), policy, tb.now) })
	if a := tb.load(); len(a.Inbox) != 3 || a.Effects(tb.now).Begin == nil {
		t.Errorf("%d messages wait for the agent", len(a.Inbox))
	}
}

// The stop button ends the current work and nothing else.
func TestStop(t *testing.T) {
	stop := func(tb *table, by string) error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) {
			p := policy
			p.Mode = "list"
			return a.Stop(person(by), p, tb.now)
		})
	}
	tb := opened(t)
	if err := stop(tb, suzuki); err == nil {
		t.Error("somebody else stops it")
	}
	if err := stop(tb, sato); err != nil || len(tb.load().Inbox) != 0 || !tb.load().Head.Resting {
		t.Errorf("%v: %d messages wait", err, len(tb.load().Inbox))
	}
	tb, x := pending(t, ShellCommand)
	if err := stop(tb, sato); err != nil || tb.load().Action(x.ActionID).Status != ActionPending {
		t.Errorf("%v: an action that waits is %s", err, tb.load().Action(x.ActionID).Status)
	}
	tb, x = executing(t, ShellCommand)
	if err := stop(tb, sato); err != nil || tb.load().Action(x.ActionID).Status != ActionCancelled {
		t.Errorf("%v: the action is %s", err, tb.load().Action(x.ActionID).Status)
	}
}
