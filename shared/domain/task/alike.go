package task

import (
	"strings"
	"time"
	"unicode"

	"ringi/shared/words/legible"
)

// AlikeFor is for how long a request like a new one is said.
const AlikeFor = 30 * 24 * time.Hour

// Alike is an earlier request like this one, as it was found before anything was drafted.
type Alike struct {
	TaskID string    `json:"task_id"`
	At     time.Time `json:"at"`
}

// IsLike reports whether a task that is listed is like a request that gets this title: it has the same title but for
// case, width, spaces and signs, is older by its id, by at most AlikeFor, and has the same requester or channel. What
// somebody asked in a direct message is like nothing elsewhere.
func (t *Task) IsLike(a *Aggregate, title string, requester string) bool {
	place := t.SlackChannel == a.Request.Channel
	return t.ID < a.Head.TaskID && a.Head.CreatedAt.Sub(t.CreatedAt) <= AlikeFor &&
		(place || requester == a.Head.Requester && t.Source != SourceAgentContainer) &&
		letters(title) != "" && letters(t.Title) == letters(title)
}

// letters returns the letters and digits of a title without differences of width and case.
func letters(title string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, legible.Narrow(legible.Visible(title)))
}
