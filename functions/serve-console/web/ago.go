package web

import (
	"fmt"
	"html/template"
	"time"

	"ringi/shared/domain/tenancy"
)

// longAgo is the distance from which on a time is written as a date.
const longAgo = 30 * 24 * time.Hour

// skew is how far machines' clocks may differ: what lies ahead by less is now.
const skew = 5 * time.Second

// Ago writes a time by its distance from now; hovering over it shows the exact one.
func (s sheet) Ago(t time.Time) template.HTML { return ago(s.Texts("layout"), t, s.Now) }

func ago(words Texts, t, now time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	d := now.Sub(t)
	in := func(name string, n int) string { return words.In("ago", name, "n", n) }
	if d < 0 && d > -skew {
		d = 0
	}
	if d < 0 {
		d, in = -d, func(name string, n int) string { return words.In("ahead", name, "n", n) }
	}
	shown := ""
	switch {
	case d >= longAgo:
		shown = t.In(tenancy.Zone()).Format(time.DateOnly)
	case d < time.Minute:
		shown = in("now", 0)
	case d < time.Hour:
		shown = in("minutes", int(d/time.Minute))
	case d < 24*time.Hour:
		shown = in("hours", int(d/time.Hour))
	case d < 48*time.Hour:
		shown = in("day", 1)
	default:
		shown = in("days", int(d/(24*time.Hour)))
	}
	exact := Minute(t)
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.UTC().Format(time.RFC3339), exact, template.HTMLEscapeString(shown)))
}
