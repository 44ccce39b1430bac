package aggregate

import "time"

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
