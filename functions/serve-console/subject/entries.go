package subject

import (
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// Entry is a line of the audit log about a subject.
type Entry struct {
	ID           string
	At           time.Time
	By           string // empty for the system
	Action, Name string // the action in words, and its name in the log
	On, Resource string // what the action doesn't name, in words: what it is about; and the resource's id
	Briefly      string // the most telling details
	Details      []explain.LogDetail

	// Of the whole log.
	ByID  string // tells apart people who chose the same name, or Ringi's
	Asked bool   // they asked for it, and Ringi did it
}

// EntriesOf formats audit entries in words; person and agent return names.
func EntriesOf(log []aggregate.AuditEntry, words explain.LogWords, person, agent func(id string) string) (out []Entry) {
	for _, e := range log {
		x := Entry{ID: e.ID, At: e.Timestamp, Action: legible.OneLine(words.Did(e)), Name: legible.OneLine(string(e.Action)),
			Resource: legible.OneLine(e.ResourceID), Briefly: words.Briefly(e, person)}
		if of := words.Subject(e); of != "" {
			x.On = legible.OneLine(words.Resource(e.ResourceType) + ": " + of)
		}
		switch e.ActorType {
		case aggregate.ActorUser:
			x.By = person(e.ActorID)
		case aggregate.ActorAgent:
			x.By = agent(e.ActorID)
		}
		x.Details = web.Each(words.Details(e, person), func(d explain.LogDetail) explain.LogDetail {
			return explain.LogDetail{Name: legible.OneLine(d.Name), Text: legible.ForeignLine(d.Text)}
		})
		out = append(out, x)
	}
	return out
}

// Quoted is a message beside another one: that it forwards, or of the thread before it.
type Quoted struct {
	By, Where, Text string
	At              time.Time
	Cut             bool
}

// Quoted draws a forwarded message. Of its channel Slack may have said only the id.
func (r Reader) Quoted(q aggregate.Quoted) Quoted {
	out := Quoted{legible.ForeignLine(q.Name), legible.ForeignLine(q.Where), web.Mentions(card.Prose(q.Text), r.Person),
		q.At, q.Cut}
	if aggregate.IsPerson(q.User) {
		out.By = r.Person(q.User)
	}
	id, is := strings.CutPrefix(q.Where, "<#")
	if id, _, _ = strings.Cut(strings.TrimSuffix(id, ">"), "|"); is && r.ChannelOf != nil {
		out.Where = legible.ForeignLine(r.ChannelOf(id))
	}
	return out
}

// SurfaceOf returns what says why something is refused, and who may, with these names of people and channels.
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
	return legible.OneLine(legible.Beginning(strings.Join(strings.Fields(s), " "), most))
}
