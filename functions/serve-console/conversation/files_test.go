package conversation

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
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
		{{Name: "read.txt"}, {Name: "zip.txt", Why: words.In("why_unread", conversation.CauseOf("only text and images are read")), Unread: true}, {Name: "later.txt"}},
		{{Name: "elsewhere.txt"}}, nil, {{Name: "new.txt"}},
	}
	for i, m := range said {
		expect.Same(t, want[i], r.of(m, words))
	}
}

func TestEveryReasonOfAnUnreadFileHasWords(t *testing.T) {
	for _, locale := range language.All {
		words := web.TextsOf("conversation", locale)
		for _, cause := range conversation.Causes {
			expect.That(t, words.In("why_unread", cause) != "", "%s has no words for %s", locale, cause)
		}
		got := whyUnread(words, "files.info: file_deleted: the file can't be read")
		expect.That(t, got == words.In("why_unread", conversation.Unreadable), "%s shows %q", locale, got)
	}
}
