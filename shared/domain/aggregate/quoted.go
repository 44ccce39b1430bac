package aggregate

import (
	"cmp"
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

// IsPerson reports whether a message's author is a person: not an app, which Slack names by the id of a bot, nor Slack.
func IsPerson(user string) bool {
	return user != "" && user != "USLACKBOT" && !strings.HasPrefix(user, "B")
}

// IsGroup reports whether an id is that of a user group.
func IsGroup(id string) bool { return strings.HasPrefix(id, "S") }

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

// Wordless names what a message without words consists of, on one line: the messages that it forwards by their authors,
// and its files. Without a locale it speaks the language of what is forwarded.
func Wordless(locale string, forwarded []Quoted, files []string) string {
	var parts []string
	for _, q := range forwarded[:min(len(forwarded), mostNamed)] {
		w := wordless.In(cmp.Or(locale, language.Detect(q.Text, "")))
		if q.Name == "" {
			parts = append(parts, w.forwarded)
		} else {
			parts = append(parts, fmt.Sprintf(w.of, q.Name))
		}
	}
	for _, name := range files[:min(len(files), mostNamed)] {
		parts = append(parts, "📎 "+name)
	}
	if max(len(forwarded), len(files)) > mostNamed {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// mostNamed is how many forwarded messages, and how many files, a line names.
const mostNamed = 3

type wordlessWords struct{ forwarded, of string }

var wordless = language.InEach(
	wordlessWords{forwarded: "転送されたメッセージ", of: "%s さんのメッセージの転送"},
	wordlessWords{forwarded: "Forwarded message", of: "Forwarded message of %s"},
)

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
	return strings.Join(parts, language.InEach("", " ").In(locale))
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
