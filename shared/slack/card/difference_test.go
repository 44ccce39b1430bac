package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// read returns all pages of the dialog of the last action, and on which of them it can be approved.
func (c *onThread) read() (pages []string, submits []int) {
	c.t.Helper()
	at := card.Review{Type: conversation.CardAction, ID: c.last().ActionID, TaskID: c.Head.SessionID}
	for page := 0; ; page++ {
		at.Page = page
		view, ok := c.Review(at, tenancy.DefaultSettings())
		expect.Must(c.t, ok && page <= 100, "no dialog, or one without an end")
		text := string(expect.Value(json.Marshal(view.Blocks))(c.t))
		if view.Submit != nil {
			submits = append(submits, page)
		}
		pages = append(pages, text)
		if !strings.Contains(text, `"action_id":"turn_on"`) {
			return pages, submits
		}
	}
}

// The largest difference that can be approved is drawn to its last line, and the last page alone has the button.
func TestTheLargestDifferenceIsDrawnWhole(t *testing.T) {
	var files []conversation.File
	for i := range conversation.MaxChanges {
		var text strings.Builder
		for n := range conversation.MaxChangedLines / conversation.MaxChanges {
			fmt.Fprintf(&text, "%d/%d\u202e%s\n", i, n, strings.Repeat("漢", 8))
		}
		files = append(files, conversation.File{Path: fmt.Sprintf("src/%d.txt", i), Content: text.String()})
	}
	c := begunConversation(t).says("", changing(t, nil, conversation.Payload{Files: files}))
	pages, submits := c.read()
	expect.That(t, len(submits) == 1 && submits[0] == len(pages)-1, "pages %v of %d have the button", submits, len(pages))
	whole := strings.Join(pages, "")
	for i := range conversation.MaxChanges {
		for n := range conversation.MaxChangedLines / conversation.MaxChanges {
			expect.Must(t, strings.Contains(whole, fmt.Sprintf("+%d/%d⟨U+202E⟩", i, n)), "line %d of file %d is nowhere", n, i)
		}
	}
	m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, "ja")))(t))
	expect.That(t, strings.Contains(m, card.OpenActionReview) && !strings.Contains(m, card.ApproveAction), "the card shows it whole")
}

// Backticks of a program are shown as they are; those that would end Slack's block of code are spelled out.
func TestBackticksThatEndNothingStayInADifference(t *testing.T) {
	c := begunConversation(t).says("", changing(t, nil, conversation.Payload{Files: []conversation.File{
		{Path: "a.js", Content: "const a = `x`, b = ``;\n````\n"}}}))
	m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, "ja")))(t))
	expect.Has(t, m, "+const a = `x`, b = ``;\\n+⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩\\n```")
}

// tooMuch is what no proposal becomes: it is over the limits.
func tooMuch() *conversation.Proposal {
	text := strings.Repeat("x", conversation.MaxChangedLine+1)
	return proposed(conversation.CodeGenerate, conversation.Payload{Stamped: conversation.Stamped{Base: new(string),
		Changes: []conversation.FileChange{{Path: "a", Is: &conversation.Side{Mode: conversation.ModeFile, SHA256: aggregate.HashOf(text)},
			Hunks: []conversation.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}})
}

// What is over the limits has no button anywhere, and says why.
func TestADifferenceOverTheLimitsHasNoButton(t *testing.T) {
	c := begunConversation(t).says("", tooMuch())
	for locale, says := range map[string]string{"ja": "承認できません", "en": "can't be approved"} {
		m := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, locale)))(t))
		if strings.Contains(m, card.ApproveAction) || strings.Contains(m, card.OpenActionReview) || !strings.Contains(m, card.RejectAction) || !strings.Contains(m, says) {
			t.Errorf("%s", m)
		}
	}
	_, submits := c.read()
	expect.That(t, submits == nil, "the dialog has the button on %v", submits)
}

// Each kind of change has its words, links and modes before all others.
func TestEachKindOfChangeIsDrawnInItsWords(t *testing.T) {
	side := func(mode, target string) *conversation.Side {
		return &conversation.Side{Mode: mode, SHA256: mode + target, Target: target}
	}
	for want, c := range map[string]conversation.FileChange{
		"a file becomes a link":              {Was: side("100644", ""), Is: side("120000", "b")},
		"link: (none) → b":                   {Is: side("120000", "b")},
		"link: a → b":                        {Was: side("120000", "a"), Is: side("120000", "b")},
		"link: a → (none)":                   {Was: side("120000", "a")},
		"executable · new file":              {Is: side("100755", "")},
		"no longer executable":               {Was: &conversation.Side{Mode: "100755"}, Is: &conversation.Side{Mode: "100644"}},
		"new empty folder":                   {Is: side("040000", "")},
		"folder deleted":                     {Was: side("040000", "")},
		"a folder becomes a file":            {Was: side("040000", ""), Is: side("100644", "")},
		"deleted · not text, so its content": {Was: side("100644", ""), Unshown: conversation.UnshownBinary},
		"changed · +3 −1 lines · too large":  {Was: side("100644", "1"), Is: side("100644", "2"), Unshown: conversation.UnshownLarge, Added: 3, Removed: 1},
	} {
		got := card.Became(c, "en")
		expect.That(t, strings.Contains(got, want), "%q, want %q", got, want)
	}
}
