package explain

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Where no button tries again, no sentence names one, and it still says what happened.
func TestWithoutAButtonNoSentenceNamesOne(t *testing.T) {
	for _, locale := range language.All {
		for _, r := range task.Reasons {
			text := Ended(locale, r, "", NoRetry)
			expect.That(t, text != "" && !strings.ContainsAny(text, "🔄{}"), "%s %s: %s", locale, r, text)
		}
	}
	expect.Is(t, Ended("ja", task.ReasonToolFailed, "x", NoRetry), "ツールの呼び出しに失敗しました (x)。")
	expect.Is(t, Ended("en", task.ReasonToolFailed, "x", NoRetry), "A tool call failed (x).")
}

// Of a line that stands twice in the other draft and once in this one, one is missing.
func TestALineIsMissedAsOftenAsItLacks(t *testing.T) {
	for draft, want := range map[string]string{
		"y\nx": "➖ x\ny\nx", "x\ny": "x\ny\n➖ x", "x\ny\nx": "x\ny\nx", "y": "➖ x\ny\n➖ x", "x\ny\nx\nx": "x\ny\nx\n➕ x",
	} {
		text, differs := Beside(draft, "x\ny\nx")
		expect.Is(t, text, want)
		expect.Is(t, differs, text != draft)
	}
}

func TestALengthIsInHoursAndMinutes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Minute: "1 時間 30 分", time.Hour: "1 時間", 3610 * time.Second: "1 時間", 65 * time.Second: "1 分 5 秒",
	} {
		expect.Is(t, Length("ja", d), want)
	}
}
