package subject

import (
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/words/language"
)

// mostOwing is how many people a row of a list names.
const mostOwing = 5

// Waits says in a line for whom a gate under a rule waits, and until when. until is zero if nothing can be told.
func (r RouteReader) Waits(g *aggregate.Gate) (who string, until time.Time) {
	d := drawing{RouteReader: r, words: web.TextsOf("route", r.Locale), gate: g, g: g.Circulating()}
	if d.st = circulation.Walk(d.g); d.st.Refused != nil {
		return d.words.Say("unknown"), until
	}
	s := d.st.Asked()
	if s == nil {
		return "", until
	}
	var names []string
	owing := d.st.Owes()
	for _, p := range owing[:min(len(owing), mostOwing)] {
		names = append(names, d.Person(p.User))
	}
	text := strings.Join(names, d.words.Say("and"))
	if more := len(owing) - len(names); more > 0 {
		text = d.words.Say("others", "who", text, "n", more)
	}
	if s.Mode == circulation.ModeChannel {
		text = d.words.Say("of_channel", "channel", d.channel())
	}
	return d.words.Say("waits", "stage", d.line(s.Name), "n", s.Owed, "who", text), web.TimeOf(s.DecideBy)
}

// Until returns until when the present stage of a gate under a rule is asked, or zero.
func RouteUntil(g *aggregate.Gate) (until time.Time) {
	st := circulation.Walk(g.Circulating())
	if s := st.Asked(); s != nil {
		until = web.TimeOf(s.DecideBy)
	}
	return until
}

// Named returns the users whom the drawing of a gate's route names, so that their names are known before it is drawn.
func NamedOf(g *aggregate.Gate) (users []string) {
	r := RouteReader{Locale: language.All[0], Person: func(id string) string {
		users = append(users, id)
		return id
	}}
	r.Route(g, false)
	return users
}
