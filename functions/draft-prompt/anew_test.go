package main

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// The team whose draft was rejected makes it anew, with the reason and its own text, as it was in the contest.
func TestARejectedDraftIsMadeAnewByTheTeamThatWroteIt(t *testing.T) {
	server := pipelinetest.Start(t)
	broken := func(context.Context, string) (teamconfig.Workspace, error) {
		return teamconfig.Workspace{FS: fstest.MapFS{}}, nil
	}
	reject := func(w *pipelinetest.World) {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return decide.Reject("9月を対象に")(a, a.Prompt().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
		})
	}
	for name, tt := range map[string]struct {
		rejected string
		pick     bool
		texts    []string // of the first contest's teams
		want     []string // the teams that draft the second version
	}{
		"by the winner": {tenancy.RejectedToTeam, false, []string{"慎重な案", "早い案", "一人の案"}, []string{"careful"}},
		"by the team whose draft somebody picked":  {tenancy.RejectedToTeam, true, []string{"慎重な案", "早い案", "一人の案"}, []string{"swift"}},
		"by all, if the settings say so":           {tenancy.RejectedToAll, false, []string{"慎重な案", "早い案", "一人の案"}, []string{"careful", "swift", "solo"}},
		"by all, if no team had a draft to reject": {tenancy.RejectedToTeam, false, []string{"", "", ""}, []string{"careful", "swift", "solo"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			w.Extracted()
			w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled, s.DraftContest.Rejected = true, tt.rejected })
			h, all := contested(w)
			expect.Value(h.Handle(t.Context(), w.In()))(t)
			first := ordered(t, w.Load().Prompt())
			played(t, w, all, tt.texts...)
			expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
			if tt.pick {
				w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
					return a.PickDraft(a.Prompt().ID, "swift", "早い案", "別の案", pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
				})
			}
			shown, _, _ := strings.Cut(w.Load().Prompt().Content, "\n")
			reject(w)
			if len(tt.want) == 1 { // its own teams' files are those of the contest
				h.Workspace = broken
			}
			expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitContest)
			o := ordered(t, w.Load().Prompt())
			var teams []string
			for _, e := range o.Teams {
				teams = append(teams, e.TeamID)
			}
			expect.Same(t, tt.want, teams)
			expect.Has(t, o.Prompt, "9月を対象に")
			expect.Has(t, o.Prompt, shown)
			expect.Is(t, o.Budget, first.Budget*aggregate.MicroUSD(len(teams))/3, "its part of the budget")
			expect.That(t, (len(teams) == 1) == (w.Load().Prompt().Contest.Team != ""), "%+v", w.Load().Prompt().Contest)
			played(t, w, all, "9月の案")
			expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
			p := w.Load().Prompt()
			expect.That(t, p.Content == "9月の案" && p.Entry.TeamID == teams[0], "%+v", p)
		})
	}
}

// scored begins a version whose contest has ended with the drafts of three teams, of which the best is on the card.
func scored(t *testing.T) (*pipelinetest.World, *Handler) {
	t.Helper()
	w := pipelinetest.Start(t).World(t)
	w.Extracted()
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	h, all := contested(w)
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	played(t, w, all, "慎重な案", "早い案", "一人の案")
	expect.Value(h.Handle(t.Context(), w.In()))(t)
	return w, h
}

// A further workspace from which a contest's file was taken back gets nothing more from that file's teams.
func TestATeamWhoseFileIsNoLongerSharedMakesNoDraftAnew(t *testing.T) {
	w, h := scored(t)
	reject(w)
	h.Workspace = func(context.Context, string) (teamconfig.Workspace, error) {
		return teamconfig.Workspace{}, explain.ErrUnavailable
	}
	_, err := h.Handle(t.Context(), w.In())
	expect.Fails(t, err, explain.ErrUnavailable, "nobody knows whether it is shared")
	h.Workspace = func(context.Context, string) (teamconfig.Workspace, error) {
		return teamconfig.Workspace{FS: models.Sample()}.SharedWith("T2") // the sample shares nothing
	}
	expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
	x := w.Load().Prompt().Contest
	expect.That(t, x.Over() && x.As == task.ContestFiles && x.Team == "", "%+v", x)
	expect.Has(t, x.Detail, "このファイルはありません")
}

// Before a team makes its draft anew, its models are opened, as before any contest: a key or a price may be gone.
func TestATeamWhoseModelsAreGoneMakesNoDraftAnew(t *testing.T) {
	w, h := scored(t)
	reject(w)
	h.Models = teamconfig.Models{Instead: "bedrock:nobody.knows-its-price"}
	expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitPromptApproval)
	x := w.Load().Prompt().Contest
	expect.That(t, x.Over() && x.As == task.ContestFiles && x.Team == "", "%+v", x)
	expect.Has(t, x.Detail, "nobody.knows-its-price")
}
