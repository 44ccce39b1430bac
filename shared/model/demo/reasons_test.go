package demo

import (
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// draftAfter drafts the policy that follows rejections for these reasons.
func draftAfter(t *testing.T, text string, reasons ...string) string {
	t.Helper()
	policy, _ := carriedOut(t, text, reasons...)
	return policy
}

// Reasons as the dialog's example gives them, are understood at the policy.
func TestAPolicyFollowsItsReasons(t *testing.T) {
	for reason, says := range map[string]string{
		"Add a validation of the data before step 3": "3. Validate the data before calculating",
		"Validate the data after step 2":             "3. Validate the data before calculating",
		"No sheet, please":                           "4. Nothing is written to a spreadsheet.",
		"without a DM":                               "No DM is sent at the end.",
	} {
		policy := draftAfter(t, "attendance for October", reason)
		expect.That(t, strings.Contains(policy, says) && strings.Contains(policy, "“"+reason+"” → applied."), "%s:\n%s", reason, policy)
	}
	both := draftAfter(t, "attendance for October", "Add a validation of the data before step 3", "no sheet")
	expect.That(t, strings.Contains(both, "5. Nothing is written") && strings.Contains(both, "3. Validate"), "%s", both)
}

// A version that took in nothing says so in its first line, with what is understood. The rest is the version before.
func TestAVersionThatTookNothingInSaysSo(t *testing.T) {
	for text, tt := range map[string]struct{ odd, understood, first string }{
		"attendance for October": {"Make it nicer", "only Sales",
			"I didn't understand your feedback (“Make it nicer”), so this version doesn't reflect it. " +
				"I do understand: “October instead”, “only Sales”, “no DM”, “no sheet”, “validate the data”, " +
				"“have a person check first”, “make it shorter”."},
		"10月の勤怠をまとめて": {"もっと良くして", "営業部だけにして",
			"ご指摘「もっと良くして」の内容が分からなかったため、このバージョンには反映していません。" +
				"「10月にして」、「営業部だけにして」、「DM は不要」、「シートは不要」、「データの検証を追加」、「書き込み前に人が確認」、「もっと簡潔に」のようなご指摘は反映できます。"},
	} {
		v1, v2 := draftAfter(t, text), draftAfter(t, text, tt.odd)
		first, rest, _ := strings.Cut(v2, "\n")
		expect.That(t, rest == v1 && strings.HasPrefix(first, tt.first), "%s", v2)
		_, again, _ := strings.Cut(draftAfter(t, text, tt.odd, tt.odd+"!"), "\n")
		expect.Is(t, again, v1)
		v3 := draftAfter(t, text, tt.odd, tt.understood)
		expect.That(t, !strings.HasPrefix(v3, tt.first[:9]) && strings.Contains(v3, tt.odd) && !strings.Contains(v3, "\n"+v1), "%s", v3)
		first, rest, _ = strings.Cut(draftAfter(t, text, tt.odd, tt.understood, tt.odd), "\n")
		expect.That(t, rest == v3 && strings.HasPrefix(first, tt.first), "%s\n%s", first, rest)
	}
}

// The reasons that a policy gives as examples would be followed by it.
func TestTheExamplesOfAPolicyAreFollowed(t *testing.T) {
	for _, text := range []string{"10月の勤怠をまとめて", "overtime for October", "役職一覧", "List all positions", "会議室を予約して",
		"Order 2 PCs from Acme at 149,000 yen each", "<@U0SUZUKI> に「x」とDMして", "Send <@U0SUZUKI> a DM “x”"} {
		w := understood(t, text)
		examples := regexp.MustCompile(`「(.*?)」|“(.*?)”`).FindAllStringSubmatch(w.Form("feedback"), -1)
		expect.That(t, len(examples) > 1, "%s: %q", text, w.Form("feedback"))
		for _, m := range examples {
			expect.Is(t, understood(t, text).remark(m[1]+m[2], false)[0].Form, "applied", "%s: %s", text, m[0])
		}
	}
}
