package rules_test

import (
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
)

// What no rule takes stands below the rules, with which requests these are.
func TestTheListSaysWhatNoRuleTakes(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"上のどの行にも当てはまらない依頼 読むだけの依頼 金額によらず、外部に何も書き込まないもの チャンネルのだれか 1 人",
			"外部に書き込む依頼 金額と送信先によらず、すべての書き込み 断る"},
		"en": {"Requests that no row above fits Requests that only read Of any amount, if nothing is written outside " +
			"one member of the channel", "Requests that write outside Of any amount, to any destination Decline"},
	} {
		b = b.In(locale)
		b.Post("/console/rules", b.Get("/console/rules").Hidden("act", "begin.empty")).Says(t, 200, want...)
	}
}
