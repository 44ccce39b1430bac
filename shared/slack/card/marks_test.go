package card

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Whatever mark our own texts speak with, nobody else's text can show.
func TestNobodyElseWritesOurMarks(t *testing.T) {
	all := map[string]string{}
	texts(reflect.ValueOf(*japanese()), "", all)
	texts(reflect.ValueOf(*english()), "", all)
	for _, locale := range language.All {
		for of, words := range map[string]any{"contest": contestWords.In(locale), "end": endWords.In(locale), "ask": *askWordsOf(locale), "talk": *conversationWordsOf(locale)} {
			texts(reflect.ValueOf(words), locale+"."+of, all)
		}
	}
	for _, s := range []string{"⬜", "🔄", "✅", "❌", "❓", "🔍"} { // of steps
		all[s] = s
	}
	for field, text := range all {
		for _, r := range text {
			if r < 0x2190 || !unicode.Is(unicode.So, r) || strings.ContainsRune("→←…", r) {
				continue
			}
			if got := clean("x" + string(r)); strings.ContainsRune(got, r) {
				t.Errorf("%s has %c (%U), and so may anybody's text", field, r, r)
			}
		}
	}
	for _, like := range "🉑🆗🗹🗸☑✔🈴⭕🚫⛔☒" {
		if got := clean("x" + string(like)); strings.ContainsRune(got, like) {
			t.Errorf("%c looks like a mark of ours and stays", like)
		}
	}
}

func TestNamesOfEmojiInAnyScriptStayNames(t *testing.T) {
	for in, want := range map[string]string{
		":承認:": ":" + joiner + "承認:", ":チェック済み:": ":" + joiner + "チェック済み:", ":a:b:": ":" + joiner + "a:" + joiner + "b:",
		":+1: :100:": ":" + joiner + "+1: :" + joiner + "100:", "10:30:00": "10:30:00", "目的: 集計": "目的: 集計", "a::b": "a::b",
		":" + strings.Repeat("x", 101) + ":": ":" + strings.Repeat("x", 101) + ":",
	} {
		got := breakMentions(in)
		expect.That(t, got == want, "%q became %q, want %q", in, got, want)
	}
}

// One capital that is longer in small letters is no reason to treat every address as a mention.
func TestMentionsAreFoldedAsASCII(t *testing.T) {
	for in, want := range map[string]string{
		"İ a@b.jp @here": "İ a@b.jp @" + joiner + "here", "@HERE @Channel": "@" + joiner + "HERE @" + joiner + "Channel", "@ſomebody": "@ſomebody",
	} {
		got := breakMentions(in)
		expect.That(t, got == want, "%q became %q, want %q", in, got, want)
	}
}

func TestTextsThatShowNothingAreNone(t *testing.T) {
	for _, s := range []string{"\u3164", "\u2800\u2800", "\U0001d159 \uffa0", "\u034f\u200d", "\U000e0041", "\u0301"} {
		got := inline(s, 100)
		expect.That(t, got == "", "%+q is shown as %+q", s, got)
	}
	expect.Same(t, "a bc", inline("a\u3164\u3164b\u034fc\u200d\ufe0f\ufe0f", 100))
	expect.Same(t, isolate+"𐤀 x"+endIsolate, inline("𐤀 x", 100))
}
