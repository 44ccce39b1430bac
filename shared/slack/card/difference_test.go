package card_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// read returns the dialog of the last action, and whether it can be approved there.
func (c *onThread) read() (text string, submits bool) {
	c.t.Helper()
	view, ok := card.DialogsOf(c.Aggregate).Review(card.Review{Type: conversation.CardAction, ID: c.last().ActionID,
		TaskID: c.Head.SessionID}, "ja")
	expect.Must(c.t, ok, "no dialog")
	return string(expect.Value(json.Marshal(view.Blocks))(c.t)), view.Submit != nil
}

// A difference of as many lines as a dialog holds is drawn to its last line, with the button; of a longer one there is
// the beginning, without it.
func TestADifferenceIsDrawnWholeWhereItIsApproved(t *testing.T) {
	for _, most := range []int{600, files.MaxChangedLines} {
		var list []files.File
		for i := range files.MaxChanges {
			var text strings.Builder
			for n := range most / files.MaxChanges {
				fmt.Fprintf(&text, "%d/%d\u202e%s\n", i, n, strings.Repeat("漢", 8))
			}
			list = append(list, files.File{Path: fmt.Sprintf("src/%d.txt", i), Content: text.String()})
		}
		c := begunConversation(t).says("", changing(t, nil, conversation.Payload{Files: list}))
		whole, submits := c.read()
		expect.Is(t, submits, most == 600, "%d lines", most)
		for i := range files.MaxChanges {
			for n := range most / files.MaxChanges {
				expect.Must(t, !submits || strings.Contains(whole, fmt.Sprintf("+%d/%d⟨U+202E⟩", i, n)),
					"line %d of file %d is nowhere", n, i)
			}
		}
		m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, "ja")))(t))
		expect.That(t, strings.Contains(m, "review_action") && !strings.Contains(m, card.ApproveAction),
			"the card shows it whole")
	}
}

// Backticks of a program are shown as they are; those that would end Slack's block of code are spelled out.
func TestBackticksThatEndNothingStayInADifference(t *testing.T) {
	c := begunConversation(t).says("", changing(t, nil, conversation.Payload{Files: []files.File{
		{Path: "a.js", Content: "const a = `x`, b = ``;\n````\n"}}}))
	m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, "ja")))(t))
	expect.Has(t, m, "+const a = `x`, b = ``;\\n+⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩\\n```")
}

// tooMuch is what no proposal becomes: it is over the limits.
func tooMuch() *conversation.Proposal {
	text := strings.Repeat("x", files.MaxChangedLine+1)
	return proposed(conversation.CodeGenerate, conversation.Payload{Stamped: conversation.Stamped{Base: new(string),
		Changes: []files.Change{{Path: "a", Is: &files.Side{Mode: files.ModeFile, SHA256: aggregate.HashOf(text)},
			Hunks: []files.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}})
}

// What is over the limits has no button anywhere, and says why.
func TestADifferenceOverTheLimitsHasNoButton(t *testing.T) {
	c := begunConversation(t).says("", tooMuch())
	for locale, says := range map[string]string{"ja": "承認できません", "en": "can't be approved"} {
		m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, locale)))(t))
		expect.That(t, !strings.Contains(m, card.ApproveAction) && !strings.Contains(m, "review_action") &&
			strings.Contains(m, card.RejectAction) && strings.Contains(m, says), "%s", m)
	}
	_, submits := c.read()
	expect.That(t, !submits, "the dialog has the button")
}

// Each kind of change has its words, links and modes before all others.
func TestEachKindOfChangeIsDrawnInItsWords(t *testing.T) {
	side := func(mode, target string) *files.Side {
		return &files.Side{Mode: mode, SHA256: mode + target, Target: target}
	}
	for want, c := range map[string]files.Change{
		"a file becomes a link":              {Was: side("100644", ""), Is: side("120000", "b")},
		"link: (none) → b":                   {Is: side("120000", "b")},
		"link: a → b":                        {Was: side("120000", "a"), Is: side("120000", "b")},
		"link: a → (none)":                   {Was: side("120000", "a")},
		"executable · new file":              {Is: side("100755", "")},
		"no longer executable":               {Was: &files.Side{Mode: "100755"}, Is: &files.Side{Mode: "100644"}},
		"new empty folder":                   {Is: side("040000", "")},
		"folder deleted":                     {Was: side("040000", "")},
		"a folder becomes a file":            {Was: side("040000", ""), Is: side("100644", "")},
		"deleted · not text, so its content": {Was: side("100644", ""), Unshown: files.UnshownBinary},
		"changed · +3 −1 lines · too large": {Was: side("100644", "1"), Is: side("100644", "2"),
			Unshown: files.UnshownLarge, Added: 3, Removed: 1},
	} {
		got := explain.Became(c, "en", legible.OneLine)
		expect.That(t, strings.Contains(got, want), "%q, want %q", got, want)
	}
}

// writing proposes new files, each with this many lines.
func writing(t *testing.T, lines ...int) *conversation.Proposal {
	var list []files.File
	for i, n := range lines {
		list = append(list, files.File{Path: fmt.Sprintf("src/%d.txt", i+1), Content: strings.Repeat("漢字を書く行\n", n)})
	}
	return changing(t, nil, conversation.Payload{Files: list})
}

// sections returns the texts of a message's sections but for the one that says whose turn it is.
func sections(blocks []slack.Block) (out []string) {
	for _, b := range blocks {
		if s, is := b.(*slack.SectionBlock); is && s.Text != nil && !strings.HasPrefix(s.Text.Text, "*👉") {
			out = append(out, s.Text.Text)
		}
	}
	return out
}

var (
	name    = regexp.MustCompile("(?m)^\\*`src/([0-9])\\.txt`\\* ")
	heading = regexp.MustCompile("^\\*(ファイルの変更|File changes|`src/[0-9]\\.txt`\\* )")
)

// Each section that begins within a file's lines names the file.
func TestWhatGoesOnIsNamedAgain(t *testing.T) {
	for locale, again := range map[string]string{"ja": "*`src/%d.txt` (続き)*\n```\n",
		"en": "*`src/%d.txt` (continued)*\n```\n"} {
		c := begunConversation(t).says("", writing(t, 300, 900, 1))
		// in the reader's language, whatever the conversation's is
		c.Aggregate.Conversation.Locale = map[string]string{"ja": "en", "en": "ja"}[locale]
		at, of, n := card.Review{Type: conversation.CardAction, ID: c.last().ActionID, TaskID: c.Head.SessionID}, 0, 0
		view, ok := card.DialogsOf(c.Aggregate).Review(at, locale)
		expect.Must(t, ok, "no dialog")
		for _, s := range sections(view.Blocks.BlockSet) {
			expect.That(t, len([]rune(s)) <= 3000, "a section of %d characters", len([]rune(s)))
			switch {
			case strings.HasPrefix(s, fmt.Sprintf(again, of)):
				n++
			case !heading.MatchString(s):
				t.Errorf("nothing says whose lines these are: %.80q", s)
			}
			for _, m := range name.FindAllStringSubmatch(s, -1) {
				of = int(m[1][0] - '0')
			}
		}
		expect.That(t, n >= 10, "%s: only %d sections go on with a file", locale, n)
	}
}
