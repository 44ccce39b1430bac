package card

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// The ids of a button, and of the dialog that it opens.
const (
	OthersAction   = "other_drafts"
	OthersCallback = "other_drafts_modal"
)

// OtherDraft is the private_metadata of a dialog that shows another team's draft; see modal.
type OtherDraft struct {
	ID     string `json:"id"` // of the waiting version
	TaskID string `json:"task_id"`
	Team   string `json:"team"`
	Hash   string `json:"hash"` // of the text that the person read
	// ReadOnly leaves the button out, for people who may not pick.
	ReadOnly bool   `json:"read_only,omitempty"`
	Console  string `json:"-"` // the console's address, for the drafts that the dialog lacks
}

// Other returns the version with this id, and the best of the other teams' drafts. ok is false without one.
func Other(a *task.Aggregate, id string) (p *task.Prompt, e contest.Place, ok bool) {
	for _, p := range a.Prompts {
		if others := p.Others(); p.ID == id && len(others) > 0 {
			return p, others[0], true
		}
	}
	return nil, e, false
}

// OthersModal draws the best of the other teams' drafts and its evaluation, and says where more of them are. People can
// submit the dialog while the version waits, if a card can show the complete draft.
func OthersModal(
	a *task.Aggregate, o OtherDraft, draft contest.RoundResult, locale string,
) (view slack.ModalViewRequest, ok bool) {
	d := drawing{a: a, w: wordsOf.In(locale)}
	w := contestWords.In(locale)
	p, e, ok := Other(a, o.ID)
	if !ok {
		return view, false
	}
	o.ID, o.TaskID, o.Team, o.Hash = ident(o.ID), ident(o.TaskID), e.TeamID, e.Hash
	about := fill(w.Entry, "team", inline(e.TeamName, maxHeader), "score", fmt.Sprintf("%.2f", e.Points()))
	blocks := append([]slack.Block{contextLine(about)}, d.prose(draft.SubmissionContent, everything).blocks...)
	if said := draft.EvaluationFeedback; said != "" {
		blocks = append(append(blocks, divider(), contextLine(w.Feedback)),
			d.prose(contest.InPoints(said, d.w.Locale), 1).blocks...)
	}
	blocks = append(blocks, divider())
	if more := len(p.Others()) - 1; more > 0 {
		blocks = append(blocks, contextLine(fill(w.More, "n", more)+opens(Page(o.Console, a.Ref()), askWordsOf.In(locale))))
	}
	submit, told := "", w.Reads
	switch {
	case !a.Asked(p.ID).Open:
		told = d.w.ReviewOver
	case !o.ReadOnly && Stampable(draft.SubmissionContent):
		submit, told = w.Pick, w.Picks
	}
	return modal(OthersCallback, w.Title, submit, d.w.ReviewClose, metadata(o), append(blocks, contextLine(told))...), true
}

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
		won := explain.Won(p, d.w.Locale, inline(p.Entry.TeamName, maxHeader), "")
		return []slack.Block{contextLine(strings.Join(append([]string{won}, d.endings(p.Entry, x)...), "\n"))}
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
	Contesting, Live                        string
	Others, Title, Entry, More, Pick, Picks string
	Reads, Reason, Replaced                 string
	Ending, MoreFailed, Limited, Feedback   string
}

var contestWords = language.Catalog[contestTexts]{Files: &embedded, Folder: "texts/contests"}
