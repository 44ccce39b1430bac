package turn

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// The reasons are those that Attach gives, so that a new text has a kind before people read it.
func TestEveryReasonOfAnUnreadFileHasItsKind(t *testing.T) {
	files := func(n int, f File) (out []File) {
		for range n {
			out = append(out, f)
		}
		return out
	}
	text, image := File{Type: "text/plain", Size: MaxFileText}, File{Type: "image/png", Size: 9}
	for want, given := range map[conversation.Cause][]File{
		conversation.TooLarge: {{Type: "image/png", Size: MaxImage + 1}, {Type: "text/plain", Size: MaxFileText + 1}}, conversation.OtherType: {{Type: "application/zip"}},
		conversation.TooMany: append(files(MaxFilesText/MaxFileText+1, text), files(MaxImages+1, image)...), conversation.Altered: {{Type: "text/plain", Hash: "another"}},
		conversation.Silent: {{Type: "text/plain", Why: conversation.NotNow}}, conversation.Unreadable: {{Type: "text/plain", Why: "files.info: file_deleted: the file can't be read"}},
	} {
		history := []Message{{Files: given}}
		Attach(history, func(f File, _ int) ([]byte, string) { return []byte(strings.Repeat("x", f.Size)), "" })
		found := false
		for _, f := range history[0].Files {
			if f.Why != "" && conversation.CauseOf(f.Why) != want {
				t.Errorf("%q is %s, want %s", f.Why, conversation.CauseOf(f.Why), want)
			}
			found = found || f.Why != ""
		}
		expect.That(t, found && slices.Contains(conversation.Causes, want), "no file is unread by %s", want)
	}
}
