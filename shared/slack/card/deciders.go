package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
)

// waits says who may decide what waits, as the settings say now, and until when.
func (d drawing) waits(t aggregate.Terms, key string) slack.Block {
	lines := []string{d.w.surface().WhoDecides(d.settings, d.a.Request.Origin(), d.a.Askers()...)}
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(append(lines, d.uncopied(d.a.CopiesOf(key))...)...)
}

// uncopied says how many more people who may decide got no copy of the card.
func (d drawing) uncopied(copies []*aggregate.Card) []string {
	if len(copies) == 0 || copies[0].Others == 0 {
		return nil
	}
	return []string{fill(askWordsOf(d.w.Locale).CopiesLeft, "n", copies[0].Others)}
}

// chooses says who may choose what a message is meant to be, and until when. Those who may
// reject what waits may use it as the reason; its writer may also make it a request.
func (d drawing) chooses(t aggregate.Terms, asReason bool) slack.Block {
	surface, o := d.w.surface(), d.a.Request.Origin()
	who := surface.Approvers(d.settings, o)
	var lines []string
	if asReason {
		lines = append(lines, fill(d.w.WhoMakesReason, "who", who))
	}
	lines = append(lines, fill(d.w.WhoMakesRequest, "who", surface.Either(o.User, who)))
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(lines...)
}
