package explain

import (
	"cmp"
	"fmt"
	"strconv"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// teamWords are the texts about the teams of a contest.
type teamWords struct {
	Won, Picked, Alone string
	Skipped            map[string]string // by the value of task.Contest.As
	Exits              map[contest.ExitReason]string
	Reasons            map[aggregate.Reason]string // also of teams that failed after a first draft
	Cancelled          string                      // of a team that had a draft by then
}

var teamWordsOf = language.Catalog[teamWords]{Files: &texts, Folder: "texts/teams"}

// Won says that a version is a draft by the team of this name: the best of a contest, or what somebody picked instead.
func Won(p *task.Prompt, locale, team, who string) string {
	w := teamWordsOf.In(locale)
	if who != "" {
		return fill(w.Picked, "who", who, "team", team, "score", fmt.Sprintf("%.2f", p.Entry.Points()))
	}
	x := p.Contest
	return fill(w.Won, "team", team, "score", fmt.Sprintf("%.2f", p.Entry.Points()), "teams", len(x.Entries)+x.Failed)
}

// DraftedAlone says why Ringi itself drafted a version although a contest was wanted; "" if there is no draft.
func DraftedAlone(p *task.Prompt, locale string) string {
	said, detail := Drafted(p, locale), language.ForeignLine(p.Contest.Detail)
	if said != "" && detail != "" {
		said += " (" + detail + ")"
	}
	return said
}

// Drafted is DraftedAlone without the detail.
func Drafted(p *task.Prompt, locale string) string {
	if p.Content == "" {
		return ""
	}
	w := teamWordsOf.In(locale)
	return cmp.Or(w.Skipped[p.Contest.As], w.Alone)
}

// TeamEnd says how a team of a contest stopped.
type TeamEnd struct {
	Failed bool // it stopped before its first score, so it has no draft
	Exit   contest.ExitReason
	Reason aggregate.Reason
	Detail string // explains what went wrong; may be empty
}

// In returns the ending as one line of text. A detail replaces the general sentence.
func (e TeamEnd) In(locale string) string {
	w := teamWordsOf.In(locale)
	why := w.Reasons[cmp.Or(e.Reason, contest.ReasonOf(e.Exit))]
	if e.Detail != "" && e.Exit == contest.PartialFailure {
		why = language.ForeignLine(e.Detail)
	}
	switch {
	case e.Failed:
		return cmp.Or(why, w.Reasons[contest.ReasonUnfinished])
	case e.Reason == contest.ReasonCancelled:
		return w.Cancelled
	case e.Exit == contest.PartialFailure && why != "":
		return w.Exits[e.Exit] + " " + why
	}
	return w.Exits[e.Exit]
}

// Short reports whether the team stopped early.
func (e TeamEnd) Short() bool {
	return e.Exit == contest.TeamTimeout || e.Exit == contest.BudgetExhausted || e.Exit == contest.PartialFailure
}

// Linked returns an address if cards may link to it, else "".
func Linked(url string) string {
	if len(url) <= maxDetail && (addressForm.Get().MatchString(url) || Local(url)) {
		return url
	}
	return ""
}

// Local reports whether an address leads to the local sandbox.
func Local(url string) bool { return localForm.Get().MatchString(url) }

var addressForm = language.Regexp{Text: `^https://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[\w.~!$'()*+,;=:@%/?&#-]*)?$`}

var localForm = language.Regexp{Text: `^http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}/[A-Za-z0-9._~/-]*$`}

// Titled returns a request's title and, if a reason led to a later version, which one is meant.
func Titled(title string, version int) string {
	if LaterVersion(version) > 0 {
		title += " v" + strconv.Itoa(version)
	}
	return title
}

// LaterVersion returns a version that a reason led to, 0 for the first.
func LaterVersion(version int) int {
	if version < 2 {
		return 0
	}
	return version
}

// Size is a number of bytes in the unit that people use.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprint(bytes, " B")
	case bytes < 1<<20:
		return fmt.Sprint((bytes+1<<9)>>10, " KB")
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}
