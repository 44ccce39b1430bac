package subject

import (
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/explain"
)

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
