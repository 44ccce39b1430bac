package card_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// The task's card names an earlier request like it in one line, with its page; without a console it says nothing.
func TestATaskSaysThatThereIsOneLikeIt(t *testing.T) {
	s := received(t).extracted()
	s.Task.Alike = &task.Alike{TaskID: "01KS000000000000000000000A", At: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}
	const console = "https://ringi.example/console"
	for locale, says := range map[string]string{"ja": "30 日以内に、同じ件名の依頼がありました",
		"en": "the same title in the last 30 days"} {
		settings := defaults
		settings.Locale = locale
		m := card.Render(s.Aggregate, s.card(taskCard), settings, card.Around{Console: console}, s.now)
		text := jsonOf(m)
		expect.Has(t, text, says, console+"/tasks/01KS000000000000000000000A|")
		m = card.Render(s.Aggregate, s.card(taskCard), settings, card.Around{}, s.now)
		expect.That(t, len(jsonOf(m)) < len(text), "it names what can't be opened")
	}
}

// The card of an execution has the number of its document, whose department may be called anything.
func TestAnExecutionSaysTheNumberOfItsDocument(t *testing.T) {
	s := started(t, fiveSteps()).steps(1)
	s.Execution().Document = "総務部 <!here>-2026-0012"
	for locale, says := range map[string]string{"ja": "文書番号 総務部", "en": "Document No. 総務部"} {
		text := drawn(render(s.Aggregate, s.card(executionCard), locale, s.now).Attachments[0].Blocks.BlockSet)
		expect.Has(t, text, says, "-2026-0012")
		expect.That(t, !strings.Contains(text, "<!here>"), "%s", text)
	}
}
