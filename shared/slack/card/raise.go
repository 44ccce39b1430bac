package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/words/legible"
)

// notRaised is what the form has where none of whom the rule offers is chosen.
const notRaised = "-"

// offers are whom the form for adding somebody offers by the rule, and last nobody of them. An option's text may have a
// mention, and what is below it none.
func (r routed) offers() (all []*slack.OptionBlockObject) {
	for _, x := range r.st.Offered() {
		all = append(all, slack.NewOptionBlockObject(ident(x.To.User),
			slack.NewTextBlockObject(slack.MarkdownType, r.w.mention(x.To.User), false, false),
			label(legible.Clip(strings.Join(x.When, r.texts.And), maxOption))))
	}
	return append(all, slack.NewOptionBlockObject(notRaised, label(r.texts.RaiseNobody), nil))
}

// mayRaise says whom the rule offers to add, and when, or why it offers nobody.
func (r routed) mayRaise() string {
	var all []string
	for _, x := range r.st.Offers() {
		when, text, why := inline(x.When, maxStage), r.texts.RaiseCase, ""
		if x.LeftOut != "" {
			text, why = r.texts.RaiseNone, or(r.texts.LeftOut[x.LeftOut], inline(x.LeftOut, maxStage))
		}
		all = append(all, fill(text, "when", when, "who", r.w.mention(x.To.User), "why", why))
	}
	if all == nil {
		return ""
	}
	return fill(r.texts.MayRaise, "all", strings.Join(all, r.texts.And))
}
