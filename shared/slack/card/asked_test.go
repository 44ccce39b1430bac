package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// A correction changes the policy, and leaves the task's title as it was asked: the card
// says which version has the newest, once that can be read.
func TestATasksCardSaysWhichVersionHasTheNewest(t *testing.T) {
	s := received(t).extracted().drafted(tenancy.DefaultSettings())
	said := func(locale string) string {
		return drawn(card.Render(s.Aggregate, s.card(taskCard), locale, s.now).Attachments[0].Blocks.BlockSet)
	}
	never := func(when string) {
		if text := said("ja"); strings.Contains(text, "依頼されたときの内容です") {
			t.Errorf("%s: %s", when, text)
		}
	}
	never("nothing was corrected")
	s.rejectPrompt("開発部も")
	s.drafting()
	never("the next version is being drafted")
	s.do(s.FinishPrompt(s.Head.Run, content, tenancy.DefaultSettings(), s.now))
	for locale, want := range map[string]string{"ja": "最新の内容は実行方針 v2 にあります", "en": "Policy v2 says the newest"} {
		if text := said(locale); !strings.Contains(text, want) {
			t.Errorf("%s: %s", locale, text)
		}
	}
}

// What a model answers and what stands below it are in one language.
func TestAReplyIsInOneLanguage(t *testing.T) {
	for said, ours := range map[string]string{
		"I can't prepare invoices.": "No task was made", "請求書は作成できません。": "タスクは作成していません", "无法制作": "",
	} {
		for _, workspace := range language.All {
			s := received(t)
			s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: said}, s.now))
			want := ours
			if want == "" {
				want = map[string]string{"ja": "タスクは作成していません", "en": "No task was made"}[workspace]
			}
			text := card.Render(s.Aggregate, s.card(taskCard), workspace, s.now).Text
			expect.That(t, strings.Contains(text, want), "%s, %s: %s", workspace, said, text)
		}
	}
}
