package demo

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// The demo plans a request as it was meant, or the card names the part that it did not plan.
func TestRequestsInOnesOwnWords(t *testing.T) {
	// honest checks that the policy is refused, or quotes the words that were not understood
	honest := func(text string, words ...string) {
		t.Run(text, func(t *testing.T) {
			r := understood(t, text)
			if r.cannot() != "" {
				return
			}
			doubts := strings.Join(r.doubts(), "\n")
			for _, w := range words {
				if !strings.Contains(doubts, w) {
					t.Errorf("%q is neither in the plan nor said to be left out: people %v, departments %v, recipients %v, doubts %q", w, r.people, r.departments, r.recipients, doubts)
				}
			}
		})
	}
	honest("<@U0SANDSUZU> の先月の残業時間を調べて", "U0SANDSUZU")
	honest("Overtime of <@U0SANDALEX> for October only, no sheet", "U0SANDALEX")
	honest("Post the employee list to <#C0SANDGENL|general>", "general")
	honest("従業員一覧を全員に DM で送って", "全員")
	honest("先月の残業を人事部に共有して", "人事部")
	honest("Every month, send me the attendance summary", "month")
	honest("overtime, but skip alpha, beta, gamma, delta, epsilon, zeta, eta, theta, iota, kappa", "kappa")
	honest("昨日の15時に会議室を予約して", "昨日")
	honest("11/31 の 25時に会議室を予約", "11/31")
	for text, want := range map[string]string{
		"今年の3月の残業":                        "2026-03",
		"昨年12月の勤怠をまとめて":                   "2025-12",
		"去年の10月の残業":                       "2025-10",
		"overtime of last year's October": "2025-10",
		"4月からの勤怠をまとめて":                    "2026-04 2026-05 2026-06 2026-07 2026-08 2026-09 2026-10 2026-11",
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, m := range understood(t, text).period.months {
				got = append(got, fmt.Sprintf("%d-%02d", m.year(), m.name()))
			}
			expect.Is(t, strings.Join(got, " "), want, "months %v", got)
		})
	}
}

// The demo never plans the opposite of what was asked for.
func TestNothingIsTurnedIntoItsOpposite(t *testing.T) {
	t.Run("don't", func(t *testing.T) {
		for _, text := range []string{"Don't tell <@U0SANDSUZU> about the employee list", "従業員一覧を<@U0SANDSUZU>には知らせないで"} {
			if r := understood(t, text); r.cannot() == "" && len(r.recipients) > 0 {
				t.Errorf("%s: tells %v", text, r.recipients)
			}
		}
		if r := understood(t, "営業部以外の10月の勤怠をまとめて"); r.cannot() == "" && len(r.departments) > 0 {
			t.Errorf("all but: covers %v", r.departments)
		}
		if r := understood(t, "attendance, without validation"); r.cannot() == "" && r.validate {
			t.Error("without validation: validates")
		}
	})
	t.Run("instead of", func(t *testing.T) {
		r := understood(t, "10月の勤怠")
		r.take(input{Earlier: []version{{Reason: "September instead of October"}}}, false)
		expect.That(t, len(r.taken) == 0 || len(r.period.months) == 1, "taken in %q, months %v", r.taken, r.when())
	})
	t.Run("make a list of employees", func(t *testing.T) {
		expect.Is(t, understood(t, "従業員一覧を作って").cannot(), "")
	})
}

// Each refusal fits into an answer, however long the quoted words are.
func TestEveryRefusalFitsIntoAnAnswer(t *testing.T) {
	long := strings.Repeat("quite unheard of ", 20)
	for _, text := range []string{
		"Cancel all vacations in December for sales", "12月の休暇をすべて取り消して", "Cancel the overtime of " + long,
		"attendance of last month alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi", "Every " + long + "attendance", "overtime, but leave out " + long, "先月の残業を" + strings.Repeat("見たこともない", 30) + "比べて",
	} {
		t.Run(text, func(t *testing.T) {
			said := extract(understood(t, text))
			expect.Must(t, said["kind"] == "unsupported", "taken as %q", said["kind"])
			if n := utf8.RuneCountInString(said["sentence"]); n == 0 || n > task.MaxSentence {
				t.Errorf("%d characters, an answer has 1 to %d: %s", n, task.MaxSentence, said["sentence"])
			}
		})
	}
}
