package contest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/contest"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// memberRow is one piece of work that the leader gave a member.
type memberRow struct {
	contest.MemberSubmission
	Text, Calls string // tools called, with counts; without arguments
	Took        string
	Queries     []string // of searches of the web; nil for others than administrators
	Tokens      int64
}

// membersPage is what the members of a team did for one round.
type membersPage struct {
	Draft   *draftView
	Members []memberRow
}

// showMembers shows a round's submission and what members did for it.
func (c *Pages) showMembers(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	key := r.PathValue("round")
	_, x, err := roundWith(a.works, key)
	if err != nil {
		return err
	}
	var p membersPage
	if p.Draft, err = c.draft(r.Context(), a.works, key); err != nil {
		return err
	}
	record, _, err := c.Contests.LoadRoundHistory(r.Context(), v.Tenant, x.ExecutionID, x.TeamID, x.RoundNumber)
	if err != nil && !errors.Is(err, large.ErrExpired) {
		return err
	}
	words, left := contestTexts{v.Texts("contests")}, room(mostWhole)
	if record != nil {
		for _, s := range record.Submissions {
			row := words.member(s, v.Admin)
			left.shorten(&row.Text)
			left.shorten(&row.Calls)
			p.Members = append(p.Members, row)
		}
	}
	title := fmt.Sprintf("%s · %s %d", p.Draft.Team, words.Say("round"), p.Draft.Round)
	return c.Show(w, r, v, web.Document{Title: title, Here: "contests", Data: p,
		Back: web.Link{Path: contestPath(a.Contest.ExecutionID), Text: words.Say("this_contest")}},
		"contest/members")
}

func (t contestTexts) member(s contest.MemberSubmission, admin bool) memberRow {
	row := memberRow{MemberSubmission: s, Text: card.Prose(s.Content), Calls: t.calls(s.AllMessages),
		Tokens: s.Usage.InputTokens + s.Usage.OutputTokens}
	if admin {
		row.Queries = queries(s.AllMessages)
	}
	if s.ExecutionTimeMS != nil {
		row.Took = t.length(*s.ExecutionTimeMS / 1000)
	}
	return row
}

// calls lists the tools that a member called, in the order of the first calls, with counts.
func (t contestTexts) calls(messages []contest.ModelMessage) string {
	var names, shown []string
	times := map[string]int{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if name := card.OneLine(p.ToolName); p.PartKind == contest.ToolCall {
				names, times[name] = append(names, name), times[name]+1
			}
		}
	}
	for _, name := range names {
		if n := times[name]; n > 0 {
			shown, times[name] = append(shown, t.Say("times", "tool", name, "n", n)), 0
		}
	}
	return strings.Join(shown, t.Say("and"))
}

// mostQueries bounds how many of a member's searches are listed.
const mostQueries = 20

// queries returns what a member had its vendor search the web for.
func queries(messages []contest.ModelMessage) (all []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			var asked struct{ Query string }
			if p.PartKind != contest.ToolCall || p.ToolName != contest.WebSearchTool || json.Unmarshal(p.Args, &asked) != nil {
				continue
			}
			if len(all) == mostQueries {
				return append(all, "…")
			}
			all = append(all, card.OneLine(legible.Beginning(asked.Query, mostBegun)))
		}
	}
	return all
}
