package conversation

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// A file is shown once, and as unread only if an answer says so.
func TestAFileIsShownAsItWasRead(t *testing.T) {
	file := func(id, kind, hash, why string) conversation.Attachment {
		return conversation.Attachment{FileID: id, Name: id + ".txt", Kind: kind, Hash: hash, Why: why}
	}
	said := []conversation.Message{
		{Sender: conversation.FromUser, Attachments: []conversation.Attachment{file("read", "unread", "", ""),
			file("zip", "unread", "", ""), file("later", "unread", "", "")}},
		{Sender: conversation.FromAgent, Attachments: []conversation.Attachment{file("read", "text", "h", ""),
			file("zip", "unread", "", "only text and images are read"), file("elsewhere", "text", "h", ""), file("later",
				"unread", "", "Slack did not give it now")}},
		{Sender: conversation.FromAgent, Attachments: []conversation.Attachment{file("later", "text", "h", "")}},
		{Sender: conversation.FromUser, Attachments: []conversation.Attachment{file("new", "unread", "", "")}},
	}
	r, words := newReadings(said), web.TextsOf("conversation", "ja")
	want := [][]fileRow{
		{{Name: "read.txt"}, {Name: "zip.txt", Why: explain.Unread("ja", "only text and images are read"), Unread: true},
			{Name: "later.txt"}},
		{{Name: "elsewhere.txt"}}, nil, {{Name: "new.txt"}},
	}
	for i, m := range said {
		expect.Same(t, want[i], r.of(m, words))
	}
}

func TestAttachmentsAreListedWithWhetherTheAgentReadsThem(t *testing.T) {
	all := []conversation.Attached{{Path: "a.csv", Bytes: 9, Text: "a.csv.txt", Form: isolated.PlainText,
		Encoding: "Shift_JIS"},
		{Path: "b.xlsx", Text: "b.xlsx.txt", Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasMacros}},
		{Path: "c.pdf", Why: string(isolated.PDF)}, {Path: "d.png", Type: "image/png"}}
	expect.Same(t, []fileRow{{".ringi/in/a.csv", "The agent can read this (Shift_JIS).", "", 9, false},
		{".ringi/in/b.xlsx", "The agent can read this (xlsx).", "Its macros are not read.", 0, false},
		{".ringi/in/c.pdf", "The agent can’t read this, but commands can use it.",
			"PDF text can't be read. Attach the .docx or .xlsx that it was made from, or paste its text.", 0, false},
		{".ringi/in/d.png", "The agent sees this as an image.", "", 0, false}},
		attachedOf(web.TextsOf("conversation", "en"), all))
	expect.Is(t, attachedOf(web.TextsOf("conversation", "ja"), all)[0].Type, "エージェントが読み取れます (Shift_JIS)。", "in Japanese")
}

// Administrators are told that a saved rule no longer lets anything begin.
func TestARuleThatIsLeftOutIsSaid(t *testing.T) {
	s, ja := tenancy.DefaultSettings(), web.TextsOf("settings", "ja")
	s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Place: "D1"},
		{Type: agent.TestRun, Argv: []string{"npx", "*"}, Place: "D1"}}
	for _, admin := range []bool{true, false} {
		p := agentsPage{}
		p.define(&Pages{}, &web.Viewer{Admin: admin, Locale: "ja"}, s)
		var told []agentWarning
		if admin {
			told = []agentWarning{{Row: 2, Field: ja.In("columns", "auto_actions.argv"),
				Limit: ja.Problem(s.AutoActions[1].Problems()[0], nil)}}
		}
		expect.Same(t, told, p.Warnings)
		expect.Same(t, []autoRule{{[]string{"go", "test", "*"}, "D1"}}, p.Rules)
	}
}

// Exported for the tests of the pages.
const (
	SaidOfPage = saidOfPage
	RowsOfPage = rowsOfPage
)

func TestWhereFilesCameFromIsShown(t *testing.T) {
	words := web.TextsOf("conversation", "en")
	s := conversation.Source{Name: "shop", Repository: "acme/shop", State: conversation.SourceWanted, Path: "a b|c>"}
	expect.Has(t, sourceOf(words, s, "en").State, "waiting")
	expect.Same(t, "", s.URL())
	s.Commit, s.State = "3f2c1ab9d2c1", conversation.SourceThere
	s.Left, s.More = []files.LeftOut{{Path: "model.bin", Why: files.LeftLFS}}, 3
	x := sourceOf(words, s, "en")
	expect.Same(t, "acme/shop@3f2c1ab", x.Short)
	expect.Same(t, "https://github.com/acme/shop/tree/3f2c1ab9d2c1/a%20b%7Cc%3E", x.URL)
	expect.Same(t, "Left out (4)", x.LeftCount)
	expect.Same(t, "model.bin (Git LFS)\nand 3 more", x.Left)
	s.State, s.Error = conversation.SourceFailed, conversation.ReasonSourceTooLarge
	expect.Has(t, sourceOf(words, s, "en").State, "too large")
}
