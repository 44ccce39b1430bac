package subject

import (
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// Entry is a line of the audit log about a subject.
type Entry struct {
	At           time.Time
	By           string // empty for the system
	Action, Name string // the action in words, and its name in the log
	On, Resource string // the resource's kind in words, and its id
	Details      []auditlog.Detail
}

// EntriesOf formats audit entries; person and agent return names.
func EntriesOf(log []aggregate.AuditEntry, locale string, person, agent func(id string) string) (out []Entry) {
	words := auditlog.WordsIn(locale)
	for _, e := range log {
		x := Entry{
			At: e.Timestamp, Action: legible.OneLine(words.Did(e)), Name: legible.OneLine(string(e.Action)),
			On: legible.OneLine(words.Resource(e.ResourceType)), Resource: legible.OneLine(e.ResourceID),
		}
		switch e.ActorType {
		case aggregate.ActorUser:
			x.By = person(e.ActorID)
		case aggregate.ActorAgent:
			x.By = agent(e.ActorID)
		}
		for _, d := range words.Details(e, person) {
			x.Details = append(x.Details, auditlog.Detail{Name: legible.OneLine(d.Name), Text: card.OneLine(d.Text)})
		}
		out = append(out, x)
	}
	return out
}

// SurfaceOf returns what says why something is refused, and who may: in sentences that show what these functions return
// for people and channels.
func SurfaceOf(v *web.Viewer, person, channel func(id string) string) explain.Surface {
	return explain.Surface{Locale: v.Locale, Marks: marks{person, channel}}
}

// marks formats people, channels and times in sentences as plain text, which templates escape.
type marks struct {
	person  func(id string) string
	channel func(id string) string
}

func (m marks) Person(id string) string  { return m.person(id) }
func (m marks) Group(id string) string   { return m.Text(id, 64) }
func (m marks) Channel(id string) string { return m.channel(id) }
func (m marks) Time(t time.Time) string  { return web.Minute(t) }

func (m marks) Text(s string, most int) string {
	if runes := []rune(strings.Join(strings.Fields(s), " ")); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
