package card_test

import (
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestADetailInSentencesStandsBeforeTheSentence(t *testing.T) {
	for _, tt := range []struct{ locale, detail, want string }{
		{"ja", "list_employees", "ツールの呼び出しに失敗しました(list_employees)。接続先の状態を確認してから [🔄 再実行] を押してください。完了したステップはやり直しません。"},
		{"ja", "freee人事労務 でエラーが起きています(500)。しばらく置いて再実行してください。", "freee人事労務 でエラーが起きています(500)。しばらく置いて再実行してください。\nツールの呼び出しに失敗しました。接続先の状態を確認してから [🔄 再実行] を押してください。完了したステップはやり直しません。"},
		{"en", "freee HR did not answer in time.", "freee HR did not answer in time.\nA tool call failed. Please check the service it calls, then press [🔄 Run again]. Completed steps are not repeated."},
		{"en", "", "A tool call failed. Please check the service it calls, then press [🔄 Run again]. Completed steps are not repeated."},
	} {
		got := card.Sentence(tt.locale, task.ReasonToolFailed, tt.detail)
		expect.That(t, got == tt.want, "%q: %q", tt.detail, got)
	}
}
