package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// TestWhatGrowsIsTheFirstMessage compares what is streamed of an answer, piece by piece, with the message that the
// answer's first card will show.
func TestWhatGrowsIsTheFirstMessage(t *testing.T) {
	bits := []string{"words ", "文です。", "`a * b`", "\n", "\n\n", "\n```go\n", "\n```\n", "**bold** ", "x", strings.Repeat("long ", 40), strings.Repeat("長い", 60), strings.Repeat("code\n", 30),
		"- item\n", "    ", "`", "# h\n", "~~~\n", "> q\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 1, 160).Draw(t, "bits"), "")
		parts := conversation.Parts(text)
		if len(parts) == 0 {
			return
		}
		first := card.Streamed(parts[0] + "\n\n終わり。\n\n")
		shown := ""
		for at := 0; at < len(text); at += rapid.IntRange(1, 400).Draw(t, "step") {
			whole := card.Streamed(sure(text[:at]))
			if strings.HasPrefix(shown, whole) {
				continue
			}
			if !strings.HasPrefix(whole, shown) || !strings.HasPrefix(first, whole) {
				t.Fatalf("of %q: %q, then %q, in the end %q", text[:at], shown, whole, first)
			}
			shown = whole
		}
	})
}

// A message ends without the blanks that may follow in the stream.
func TestBlanksAtTheEndAreHeldBack(t *testing.T) {
	expect.Is(t, card.Streamed(sure("words \n    \n")), "words")
}
