package card

import (
	"errors"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/circulation"
)

// Minutes is the act by which somebody stamps with the minutes of a meeting, or denies by what it didn't carry.
const Minutes circulation.Kind = "minutes"

// The blocks of the form's fields for minutes; the name of each input is that of its block.
const (
	HeldBlock      = "held"
	PresentBlock   = "present"
	CarriedBlock   = "carried"
	MinutesBlock   = "minutes"
	ReferenceBlock = "reference"
)

// Carried are what a meeting may resolve.
var Carried = []string{"yes", "no"}

// ReadMeeting reads the minutes of a form, in Slack or on a page; value returns what a field holds, and of people their
// ids with spaces between them.
func ReadMeeting(value func(field string) string) *circulation.Meeting {
	return &circulation.Meeting{Held: value(HeldBlock), Present: strings.Fields(value(PresentBlock)),
		Carried: value(CarriedBlock) == Carried[0], Minutes: strings.TrimSpace(value(MinutesBlock)),
		Reference: strings.TrimSpace(value(ReferenceBlock))}
}

// FaultBlock returns the field of the form to which a refusal belongs: one of minutes, whom or which post to add, or the
// reason.
func (x RouteAct) FaultBlock(err error) string {
	no, is := errors.AsType[*circulation.Refusal](err)
	if !is {
		return ReasonBlock
	}
	whom := AddedBlock
	both := AddedPostBlock
	switch {
	case x.Raised != "" && x.Raised != notRaised:
		whom, both = RaisedBlock, RaisedBlock
	case x.Post != "":
		whom = AddedPostBlock
	}
	switch no.Why {
	case circulation.WhyNobody, circulation.WhyNotFull, circulation.WhyNoRow, circulation.WhyOnLeave,
		circulation.WhyParty, circulation.WhyTo:
		return whom
	case circulation.WhyNoPost, circulation.WhyManyHolders, circulation.WhyNobodyHolds, circulation.WhyOneOfThem:
		return both
	case circulation.WhySelf:
		if no.Put { // who asked would be added
			return whom
		}
	}
	field, its := strings.CutPrefix(string(no.Why), "minutes_")
	if its && slices.Contains([]string{HeldBlock, PresentBlock, MinutesBlock, ReferenceBlock}, field) {
		return field
	}
	return ReasonBlock
}

// Typed is what somebody wrote into the form.
func (x RouteAct) Typed() string {
	if x.Meeting == nil {
		return x.Text
	}
	return strings.TrimSpace(strings.Join([]string{x.Meeting.Minutes, x.Meeting.Reference, x.Text}, "\n"))
}

// MinutesWords returns what the fields of minutes are called, and their hints.
func MinutesWords(locale string) (fields, hints, carried map[string]string) {
	w := routeWordsOf.In(locale)
	return w.MinutesFields, w.MinutesHints, w.MinutesCarried
}

// minutesFields are the form's fields for minutes. The reason is that of what wasn't carried.
func minutesFields(locale, today string, reason slack.Block) []slack.Block {
	w := routeWordsOf.In(locale)
	input := func(field string, of slack.BlockElement) *slack.InputBlock {
		b := slack.NewInputBlock(field, label(w.MinutesFields[field]), nil, of)
		if hint := w.MinutesHints[field]; hint != "" {
			b.Hint = label(hint)
		}
		return b
	}
	text := func(field string, most int, lines bool) *slack.InputBlock {
		b := input(field, &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: field,
			MaxLength: most, Multiline: lines})
		b.Optional = true
		return b
	}
	day := slack.NewDatePickerBlockElement(HeldBlock)
	day.InitialDate = today
	here := slack.NewOptionsMultiSelectBlockElement(slack.MultiOptTypeUser, nil, PresentBlock)
	most := circulation.MaxPresent
	here.MaxSelectedItems = &most
	carried := slack.NewRadioButtonsBlockElement(CarriedBlock)
	for _, x := range Carried {
		carried.Options = append(carried.Options, slack.NewOptionBlockObject(x, label(w.MinutesCarried[x]), nil))
	}
	if in, is := reason.(*slack.InputBlock); is {
		in.Optional = true
	}
	return []slack.Block{input(HeldBlock, day), input(PresentBlock, here), input(CarriedBlock, carried),
		text(MinutesBlock, circulation.MaxMinutes, true), text(ReferenceBlock, circulation.MaxReference, false), reason}
}

// records says whether who reads may stamp with minutes now, and whether no stamp of theirs counts without.
func (r routed) records() (may, must bool) {
	s := r.st.CurrentStage()
	if s == nil || !s.Minutes || s.Recorded() != nil {
		return false, false
	}
	is := func(people []circulation.Person) bool {
		return slices.ContainsFunc(people, func(p circulation.Person) bool { return r.is(&p) })
	}
	// Who stands in for one of the stage's people isn't named there.
	may = r.copy == nil || is(s.Records()) || !is(s.People)
	return may, s.Owed == 1 || may && r.copy != nil && s.Secretary > 0 && is(s.People)
}

// minutes says of the stages with minutes what their meetings resolved, or who records them.
func (r routed) minutes() string {
	var lines []string
	for _, act := range r.st.Meetings() {
		lines = append(lines, r.meeting(act))
	}
	if s := r.st.CurrentStage(); s != nil && s.Minutes && s.Recorded() == nil && r.open && len(s.Records()) > 0 {
		lines = append(lines, fill(r.texts.MinutesWait, "who", r.asked(s.Records(), maxPath)))
	}
	return strings.Join(lines, "\n")
}

// meeting is a line about a meeting.
func (r routed) meeting(act *circulation.Act) string {
	m, carried := act.Meeting, Carried[0]
	if !m.Carried {
		carried = Carried[1]
	}
	text := fill(r.texts.MinutesLine, "held", inline(m.Held, maxStage), "carried", r.texts.MinutesCarried[carried],
		"n", len(m.Present), "who", r.hand(act))
	for _, said := range []string{m.Minutes, m.Reference} {
		if said != "" {
			text += fill(r.texts.MinutesSaid, "text", inline(said, maxOnCard/2))
		}
	}
	return text
}
