package card

import (
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// PickReason is the reason that is recorded when a version is rejected because another draft was picked.
func PickReason(locale, team string) string {
	return cut(fill(contestWords.In(locale).Reason, "team", team), aggregate.MaxReason)
}

// contested says which team wrote a version, how the contest ended and, while it waits, that the cost limit is reached.
func (d drawing) contested(p *task.Prompt) []slack.Block {
	if p.CostLimit == 0 || !d.a.Asked(p.ID).Open {
		return d.made(p)
	}
	sums := explain.EndDetail(d.w.Locale, task.ReasonCostLimit, d.a.Spent().String()+"/"+p.CostLimit.String())
	return append([]slack.Block{section(fill(contestWords.In(d.w.Locale).Limited, "detail", sums))}, d.made(p)...)
}

func (d drawing) made(p *task.Prompt) []slack.Block {
	x := p.Contest
	switch {
	case d.picked(p) != "":
		return []slack.Block{contextLine(d.picked(p))}
	case p.Entry != nil:
		lines := []string{explain.Won(p, d.w.Locale, inline(p.Entry.TeamName, maxHeader), "")}
		return []slack.Block{contextLine(strings.Join(append(lines, d.endings(p.Entry, x)...), "\n"))}
	case x.Over():
		why := explain.Drafted(p, d.w.Locale)
		if x.Detail != "" { // which the page has
			why += opens(Page(d.Console, d.a.Ref()), askWordsOf.In(d.w.Locale))
		}
		lines := append([]string{why}, d.endings(nil, x)...)
		return contextOf([]string{strings.TrimPrefix(strings.Join(lines, "\n"), "\n")})
	}
	return nil
}

// others returns the button that leads to drafts which say something else, if there are such.
func (d drawing) others(p *task.Prompt) []slack.BlockElement {
	if p.Entry == nil || p.Author != "" || d.Console == "" {
		return nil
	}
	same := func(x contest.Place) bool { return x.Hash == p.Entry.Hash } // there is nothing to pick
	n := len(slices.DeleteFunc(p.Others(), same))
	if n == 0 {
		return nil
	}
	text := fill(contestWords.In(d.w.Locale).Others, "n", n)
	return []slack.BlockElement{leadsTo("compare_drafts", text, Page(d.Console, d.a.Ref()))}
}

// picked says who picked this version in place of another. It is empty for a generated version.
func (d drawing) picked(p *task.Prompt) string {
	if p.Entry == nil || p.Author == "" {
		return ""
	}
	return explain.Won(p, d.w.Locale, inline(p.Entry.TeamName, maxHeader), d.w.mention(p.Author))
}

// competing says that teams compete for a version.
func (d drawing) competing(x *task.Contest) string {
	w := contestWords.In(d.w.Locale)
	text := w.Contesting
	if d.Console != "" {
		text += w.Live
	}
	return fill(text, "until", when(x.Until), "page", d.Console+"/contests/"+x.ExecutionID)
}

// endings say why the winning team stopped early and why other teams have no draft.
func (d drawing) endings(winner *contest.Place, x *task.Contest) (lines []string) {
	w, locale := contestWords.In(d.w.Locale), d.w.Locale
	line := func(name string, e explain.TeamEnd) {
		lines = append(lines, fill(w.Ending, "team", inline(name, maxEndingName), "why", inline(e.In(locale), maxEnding)))
	}
	if winner != nil {
		if e := (explain.TeamEnd{Exit: winner.ExitReason, Reason: winner.Reason}); e.Short() {
			line(winner.TeamName, e)
		}
	}
	for _, f := range x.Failures {
		line(f.TeamName, explain.TeamEnd{Failed: true, Exit: f.ExitReason, Reason: f.Reason, Detail: f.Detail})
	}
	if more := x.Failed - len(x.Failures); more > 0 {
		lines = append(lines, fill(w.MoreFailed, "n", more))
	}
	return lines
}

// The most that a card shows of a team's ending, and of its name, in characters.
const maxEnding, maxEndingName = 150, 60

type contestTexts struct {
	Contesting, Live, Others    string
	Reason, Replaced            string
	Ending, MoreFailed, Limited string
}

var contestWords = language.Catalog[contestTexts]{Files: &embedded, Folder: "texts/contests"}
