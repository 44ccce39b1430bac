package subject

import (
	"cmp"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// mostName is how many characters of a name that an administrator gave are shown.
const mostName = 120

// line returns a name of a rule or a stage in one line, with what hides spelled out.
func (d *drawing) line(name string) string {
	return cmp.Or(legible.OneLine(legible.Beginning(name, mostName)), d.words.Say("no_name"))
}

// why says why a stage asks nobody: by a code of package rules, or as the route says it.
func (d *drawing) why(code string) string { return cmp.Or(d.words.In("why", code), d.line(code)) }

// How package rules says by what it found somebody.
var (
	viaManager  = language.Regexp{Text: `^manager ([0-9]+) of (\S+) as of ([0-9-]{10})$`}
	viaGroup    = language.Regexp{Text: `^group (.+)$`}
	viaOver     = language.Regexp{Text: `^over (.+) of (.+) as of ([0-9-]{10})$`}
	viaPosition = language.Regexp{Text: `^(.+) of (.+) as of ([0-9-]{10})$`}
)

const (
	byName = "named by the rule"
	byHome = "approver of direct messages"
)

// named is line for a user group or a department.
func (d *drawing) named(id string) string {
	if d.Named != nil {
		id = d.Named(id)
	}
	return d.line(id)
}

// Via says by what a route found somebody. What it doesn't know is shown as it is.
func (r RouteReader) Via(how string) string {
	d := drawing{RouteReader: r, words: web.TextsOf("route", r.Locale)}
	return d.via(how)
}

// via says by what the route found somebody. What it doesn't know is shown as it is.
func (d *drawing) via(how string) string {
	if how == "" {
		return ""
	}
	switch how {
	case byName:
		return d.words.Say("via_name")
	case byHome:
		return d.words.Say("via_home")
	case task.ViaStamped:
		return d.words.Say("via_stamped")
	}
	if m := viaManager.Get().FindStringSubmatch(how); m != nil {
		if m[1] == "1" {
			return d.words.Say("via_manager", "who", d.Person(m[2]), "on", m[3])
		}
		return d.words.Say("via_above", "n", m[1], "who", d.Person(m[2]), "on", m[3])
	}
	if m := viaGroup.Get().FindStringSubmatch(how); m != nil {
		return d.words.Say("via_group", "group", d.named(m[1]))
	}
	if m := viaOver.Get().FindStringSubmatch(how); m != nil {
		return d.words.Say("via_over", "position", d.line(m[1]), "department", d.named(m[2]), "on", m[3])
	}
	if m := viaPosition.Get().FindStringSubmatch(how); m != nil {
		return d.words.Say("via_position", "position", d.line(m[1]), "department", d.named(m[2]), "on", m[3])
	}
	return d.line(how)
}
