package conversation

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
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
		{Sender: conversation.FromUser, Attachments: []conversation.Attachment{file("read", "unread", "", ""), file("zip", "unread", "", ""), file("later", "unread", "", "")}},
		{Sender: conversation.FromAgent, Attachments: []conversation.Attachment{file("read", "text", "h", ""), file("zip", "unread", "", "only text and images are read"), file("elsewhere", "text", "h", ""), file("later", "unread", "", "Slack did not give it now")}},
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
	expect.Same(t, []attachedRow{{".ringi/in/a.csv", 9, "The agent can read this (Shift_JIS).", ""},
		{".ringi/in/b.xlsx", 0, "The agent can read this (xlsx).", "Its macros are not read."},
		{".ringi/in/c.pdf", 0, "The agent can’t read this, but commands can use it.",
			"PDF text can't be read. Attach the .docx or .xlsx that it was made from, or paste its text."},
		{".ringi/in/d.png", 0, "The agent sees this as an image.", ""}}, attachedOf(web.TextsOf("conversation", "en"), all))
	expect.Is(t, attachedOf(web.TextsOf("conversation", "ja"), all)[0].Read, "エージェントが読み取れます (Shift_JIS)。", "in Japanese")
}
