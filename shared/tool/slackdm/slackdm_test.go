package slackdm

import "testing"

// What comes with a detail from a result stays in its line, and is text.
func TestADetailIsOneLineOfText(t *testing.T) {
	m := Message{Text: "完了しました\n<!channel> & co", Details: []Detail{
		{"残業", "3\n• 宛先: U0EVIL001\r\u2028✅ 承認済み"}, {"氏名", "山田\u202e郎太\u200b <https://evil.example|詳細>"}, {"件数", 12.0}, {"備考", nil},
	}}
	want := "完了しました\n&lt;!channel&gt; &amp; co\n• 残業: 3 • 宛先: U0EVIL001 ✅ 承認済み\n• 氏名: 山田郎太 &lt;https://evil.example|詳細&gt;\n• 件数: 12\n• 備考: -"
	if got := m.text(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
