package aggregate

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/words/language"
)

// Quoted is a message that another one forwards. Its author may not know of that.
type Quoted struct {
	User  string    `json:"user,omitempty"`  // Slack user id of its author, or an app's; empty if Slack says none
	Name  string    `json:"name,omitempty"`  // of its author, as Slack shows it
	Where string    `json:"where,omitempty"` // the channel that it was written in
	At    time.Time `json:"at,omitzero"`
	Text  string    `json:"text,omitempty"` // empty if Slack doesn't show it
	Cut   bool      `json:"cut,omitempty"`  // Text is only the beginning
}

// AuthorsOf returns who wrote the messages, as far as Slack says it.
func AuthorsOf(quoted []Quoted) (users []string) {
	for _, q := range quoted {
		if q.User != "" {
			users = append(users, q.User)
		}
	}
	return users
}

// SharedFile is a file of a message, as Slack lists it. Of some files Slack says only the id there.
type SharedFile struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"` // MIME type
	Bytes int64  `json:"bytes,omitempty"`
	User  string `json:"user,omitempty"` // Slack user id of whose file it is; empty if Slack says none
}

// OwnersOf returns whose files these are, as far as Slack says it.
func OwnersOf(files []SharedFile) (users []string) {
	for _, f := range files {
		if f.User != "" {
			users = append(users, f.User)
		}
	}
	return users
}

// Thread says what models were shown of the thread before a message.
type Thread struct {
	Read    int  `json:"read"`              // messages
	Cut     int  `json:"cut,omitempty"`     // of these, those whose end was left out
	Earlier bool `json:"earlier,omitempty"` // there are earlier messages, which were not read
	Failed  bool `json:"failed,omitempty"`  // Slack didn't show the thread
}

// NotShown says for models what they don't see of a thread.
func (t *Thread) NotShown() string {
	switch {
	case t == nil:
		return ""
	case t.Failed:
		return "the whole thread: Slack did not show it"
	case t.Earlier:
		return "the earlier messages"
	}
	return ""
}

// LeftOut says for people what models don't see of a thread that was read; "" if they see all of it. mark begins what
// wasn't read at all.
func (t Thread) LeftOut(locale, mark string) string {
	var parts []string
	w := leftOut.In(locale)
	if t.Cut > 0 {
		parts = append(parts, fmt.Sprintf(w.cut, t.Cut))
	}
	if t.Earlier {
		parts = append(parts, mark+w.earlier)
	}
	return strings.Join(parts, " ")
}

type leftOutWords struct{ cut, earlier string }

var leftOut = language.InEach(
	leftOutWords{
		cut:     "うち %d 件は長いため、終わりを読んでいません。",
		earlier: "それより前にも発言がありますが、読んでいません。",
	},
	leftOutWords{
		cut:     "Long ones whose end was not read: %d.",
		earlier: "There are earlier messages, which were not read.",
	},
)
