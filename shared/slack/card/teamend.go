package card

import (
	"cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/words/language"
)

// TeamEnd says how a team of a contest stopped.
type TeamEnd struct {
	Failed bool // it stopped before its first score, so it has no draft
	Exit   contest.ExitReason
	Reason aggregate.Reason
	Detail string // explains what went wrong; may be empty
}

// In returns the ending as one line of text. A detail replaces the general sentence.
func (e TeamEnd) In(locale string) string {
	w := endWords.In(locale)
	why := w.Reasons[cmp.Or(e.Reason, contest.ReasonOf(e.Exit))]
	if e.Detail != "" && e.Exit == contest.PartialFailure {
		why = OneLine(e.Detail)
	}
	switch {
	case e.Failed:
		return or(why, w.Reasons[contest.ReasonUnfinished])
	case e.Reason == contest.ReasonCancelled:
		return w.Cancelled
	case e.Exit == contest.PartialFailure && why != "":
		return w.Exits[e.Exit] + " " + why
	}
	return w.Exits[e.Exit]
}

// short reports whether the team stopped early.
func (e TeamEnd) short() bool {
	return e.Exit == contest.TeamTimeout || e.Exit == contest.BudgetExhausted || e.Exit == contest.PartialFailure
}

// endTexts say why teams stopped. The reasons are also for teams that failed after their first draft.
type endTexts struct {
	Exits   map[contest.ExitReason]string
	Reasons map[aggregate.Reason]string
	// Cancelled is for a team that had a draft when its contest was cancelled.
	Cancelled string
}

var endWords = language.Catalog[endTexts]{Files: &files, Folder: "texts/ends"}
