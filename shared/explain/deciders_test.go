package explain

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEveryReasonHasItsOwnSentence(t *testing.T) {
	for _, locale := range language.All {
		w, seen := endWordsOf.In(locale), map[string]aggregate.Reason{}
		for _, r := range task.Reasons {
			text := Ended(locale, r, "")
			expect.That(t, w.Sentences[r] != "" && text != "" && !strings.Contains(text, "{"), "%s: no sentence for %s: %q",
				locale, r, text)
			other, ok := seen[text]
			expect.That(t, !ok, "%s: %s says the same as %s", locale, r, other)
			seen[text] = r
		}
		expect.Is(t, len(w.Sentences), len(task.Reasons), "%s: sentences, the domain has reasons", locale)
	}
	ja, en := endWordsOf.In("ja"), endWordsOf.In("en")
	for r, text := range ja.Sentences {
		expect.That(t, strings.Contains(text, "{detail}") == strings.Contains(en.Sentences[r], "{detail}"),
			"%s has a detail in one language only", r)
	}
}

func TestASentenceNamesItsDetail(t *testing.T) {
	for _, c := range []struct {
		locale string
		reason aggregate.Reason
		detail string
		want   string
	}{
		{"ja", task.ReasonTimeout, "360", "制限時間を超えました (360 秒)。"},
		{"en", task.ReasonTimeout, "360", " (360 s)"},
		{"ja", task.ReasonApprovalAged, "14", "承認から 14 日を過ぎたため、もう一度回覧します。"},
		{"en", task.ReasonApprovalAged, "14", "Stamped more than 14 days ago, so it goes round again."},
		{"ja", task.ReasonStepsNotDone, "2, 3", "(ステップ 2, 3)"},
		{"en", task.ReasonCostLimit, "1.2/1", " (spent $1.2, limit $1)"},
		{"ja", task.ReasonHourPerson, "10", "上限に達しています (上限 10 件)。"},
		{"en", task.ReasonOpenTenant, "50", " (limit 50)"},
		{"ja", task.ReasonTooManyPeople, "500/20", "(500 人、上限 20 人)"},
		{"en", task.ReasonTooManyPeople, "500/20", " (500 people, limit 20)"},
		{"ja", task.ReasonToolFailed, "{detail}", "失敗しました ({detail})。"},
		{"fr", "brand_new", "", "Ringi の内部で問題が起きました。"},
	} {
		expect.Has(t, Ended(c.locale, c.reason, c.detail), c.want, "%s: want it to contain", c.reason)
	}
}

// A message to an agent begins a conversation even if the agent refuses to answer: the conversation is in lists and in
// the audit log.
func TestARefusalDoesNotDenyTheConversationItIsIn(t *testing.T) {
	for locale, says := range map[string][2]string{"ja": {"始めていません", "このメッセージには答えていません"},
		"en": {"nothing was started", "this message won't be answered"}} {
		refused := 0
		for _, r := range task.Reasons {
			of, talk := Ended(locale, r, ""), EndedInTalk(locale, r, "")
			expect.That(t, !strings.Contains(talk, says[0]) && !strings.ContainsAny(of+talk, "{}") &&
				strings.Contains(of, says[0]) == strings.Contains(talk,
					says[1]), "%s %s: %q, in a conversation %q", locale, r, of, talk)
			if strings.Contains(of, says[0]) {
				refused++
			}
		}
		expect.That(t, refused >= 3, "%s: looked at %d sentences", locale, refused)
	}
}

// In a conversation there are no buttons for trying again.
func TestInAConversationPeopleAreToldToWrite(t *testing.T) {
	models := 0
	for locale, write := range map[string]string{"ja": "もう一度書", "en": "rite again"} {
		for _, r := range task.Reasons {
			ofModel := strings.HasPrefix(string(r), "model_") || r == task.ReasonDayBudget || r == task.ReasonMonthBudget
			if !ofModel {
				continue
			}
			models++
			text := EndedInTalk(locale, r, "x")
			expect.That(t, !strings.ContainsAny(text, "🔄[]{}"), "%s %s names what a conversation lacks: %s", locale, r, text)
			expect.That(t, !strings.Contains(Ended(locale, r, "x"), "🔄") || strings.Contains(text, write),
				"%s %s does not say how to go on: %s", locale, r, text)
		}
	}
	expect.That(t, models >= 20, "looked at %d sentences", models)
}

func TestEachLanguageSaysHowItEnded(t *testing.T) {
	expect.Whole[endWords](t, texts, "texts/ended")
}

func TestEveryReasonOfAnUnreadFileHasWords(t *testing.T) {
	for _, locale := range language.All {
		expect.Is(t, len(endWordsOf.In(locale).Unread), len(conversation.Causes), "causes in %s", locale)
		for _, cause := range conversation.Causes {
			expect.That(t, endWordsOf.In(locale).Unread[cause] != "", "%s has no words for %s", locale, cause)
		}
		got := Unread(locale, "files.info: file_deleted: the file can't be read")
		expect.That(t, got == endWordsOf.In(locale).Unread[conversation.Unreadable], "%s shows %q", locale, got)
	}
}

func TestEveryRefusalByRulesNamesItsRule(t *testing.T) {
	asIs := func(s string, _ int) string { return s }
	who := func(id string) string { return "@" + id }
	for _, locale := range language.All {
		for _, why := range []aggregate.Reason{
			task.ReasonRuleRefuses, task.ReasonNoRoute, task.ReasonNoDepartment, task.ReasonNoHome, task.ReasonUnknownPost,
			conversation.ReasonSilent, conversation.ReasonUnrouted,
		} {
			e := conversation.ErrByRules{Why: why, Rule: circulation.Rule{Name: "外部への書き込み"}, Detail: "経理"}
			said := RefusedByRules(locale, e, asIs, who)
			expect.That(t, strings.Contains(said, "外部への書き込み") && !strings.ContainsAny(said, "{}"), "%s %s: %q", locale,
				why, said)
			detailed := why == task.ReasonRuleRefuses || why == task.ReasonNoRoute || why == task.ReasonUnknownPost
			expect.Is(t, strings.Contains(said, "経理"), detailed, locale, why)
		}
	}
	none := conversation.ErrByRules{Why: task.ReasonRuleRefuses, Rule: circulation.Rule{Name: "その他"}}
	expect.Is(t, RefusedByRules("ja", none, asIs, who), "ルール「その他」により、この操作は提案できません。")
}

func TestEachLanguageSaysWhyACallFailed(t *testing.T) {
	expect.Whole[callWords](t, texts, "texts/failedcall")
}
