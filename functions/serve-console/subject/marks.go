package subject

import (
	"strings"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/refused"
)

// MarksOf returns what texts show for people and channels: the names that these functions return.
func MarksOf(person, channel func(id string) string) refused.Marks { return marks{person, channel} }

// marks formats people, channels and times in sentences as plain text, which templates escape.
type marks struct {
	person  func(id string) string
	channel func(id string) string
}

func (m marks) Person(id string) string  { return m.person(id) }
func (m marks) Group(id string) string   { return m.Text(id, 64) }
func (m marks) Channel(id string) string { return m.channel(id) }
func (m marks) Time(t time.Time) string  { return t.In(tenancy.Zone()).Format("2006-01-02 15:04") }

func (m marks) Text(s string, most int) string {
	if runes := []rune(strings.Join(strings.Fields(s), " ")); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
