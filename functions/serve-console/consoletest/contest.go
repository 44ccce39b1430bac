package consoletest

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

type Contest struct {
	*World
	ID string
}

// Compete begins a contest of two teams for a task of this title, which nobody reads if by is nil.
func (w *World) Compete(title string, by *aggregate.Ref) *Contest {
	w.T.Helper()
	k := &Contest{w, contest.NewID()}
	o := contest.Order{Execution: k.ID, Tenant: w.Tenant.ID, Prompt: "<data>" + title + "</data>", Locale: "ja",
		MaxRounds: 3, TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		Teams: []contest.Entry{{TeamID: "team-a", TeamName: "堅実"}, {TeamID: "team-b", TeamName: "<b>速攻</b>"}},
		Title: title, For: task.RefOf(w.Tenant.ID, aggregate.NewID()), ForRow: task.PromptKey(1)}
	if by != nil {
		o.For = *by
	}
	expect.NoError(w.T, storetest.Begin(w.T, w.Console.Contests, o))
	return k
}

// Plays adds a round of the team at a place.
func (k *Contest) Plays(place, round int, score float64, text string) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	e := a.Contest.Teams[place-1]
	said := contest.MemberSubmission{AgentName: "analyst", AgentType: contest.Plain, Content: "調べました",
		Status: contest.Success, Timestamp: k.Now()}
	p := storetest.Round(k.ID, e, round, text, score, k.Now())
	p.Result.EvaluationFeedback, p.Result.ExecutionTimeSeconds = "Relevance (0.90): 要点がそろっています。", 5.2
	p.Result.Usage = contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	p.Record.Submissions = []contest.MemberSubmission{said}
	p.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 100 * score, EvaluatorComment: "要点がそろっています。"}}
	expect.Value(k.Console.Contests.SaveRound(k.T.Context(), w.Ref(), p))(k.T)
}

func (k *Contest) Ends(place int, exit contest.ExitReason, why aggregate.Reason) {
	k.T.Helper()
	a := expect.Value(k.Console.Contests.Load(k.T.Context(), contest.Ref(k.Tenant.ID, k.ID)))(k.T)
	w := expect.Value(k.Console.Contests.Enter(k.T.Context(), a, place))(k.T)
	expect.Value(k.Console.Contests.End(k.T.Context(), w.Ref(), exit, why))(k.T)
}

func (k *Contest) Page() string { return "/console/contests/" + k.ID }
