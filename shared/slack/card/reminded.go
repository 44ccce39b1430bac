package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// reminded tells somebody what waits for them, a line for each item.
func (d drawing) reminded(told task.Reminded) string {
	w := askWordsOf.In(d.w.Locale)
	head := w.Reminded
	switch {
	case told.Shared:
		head = w.RemindedShared
	case told.As > 0:
		head = w.RemindedAs
	}
	lines := []string{fill(head, "n", told.N, "as", told.As)}
	for _, x := range told.Items {
		lines = append(lines, d.remindedLine(x, w))
	}
	if more := told.N - len(told.Items); more > 0 {
		lines = append(lines, fill(w.RemindedMore, "n", more))
	}
	last := w.RemindedDaily
	if told.Shared {
		return strings.Join(append(lines, w.RemindedSharedDaily), "\n")
	}
	if d.Console != "" && d.settings.RulesRev > 0 {
		last += linkAs(d.Console+"/stand-ins", w.HomeStandIn)
	}
	return strings.Join(append(lines, last), "\n")
}

func (d drawing) remindedLine(x task.RemindedItem, w *askWords) string {
	title := Titled(or(inline(x.Title, maxListTitle), d.w.Untitled), x.Later)
	amount := ""
	if x.Amount.Moves() {
		amount = " " + explain.Money(w.Locale, x.Amount)
	}
	line := fill(w.RemindedItem, "title", title, "amount", amount, "who", d.w.mention(x.Asker))
	if x.For != "" {
		line += fill(w.WaitsAs, "who", d.w.mention(x.For))
	}
	if x.Until != nil {
		line += fill(w.WaitsUntil, "when", when(*x.Until))
	}
	return line + opens(or(x.Link, Page(d.Console, aggregate.Ref{Kind: x.Kind, ID: x.ID})), w)
}
