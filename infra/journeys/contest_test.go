package journeys

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// trouble is a request whose contest fails in some way, and what people see of that.
type trouble struct {
	name, text string
	seconds    int // for the whole contest; 0: no limit needed
	status     contest.SummaryStatus
	exits      map[string]contest.ExitReason // of teams, by their ids
	scored     int                           // teams that have a result
	card, page []string                      // texts of the policy's card and of the contest's page
}

func troubles() []trouble {
	return []trouble{
		{
			name: "time, model and evaluator fail in the second round",
			text: "demo: hang solo round 2 demo: refuse swift round 2 demo: unscored careful round 2", seconds: 20,
			status: contest.SummaryCompleted, scored: 3,
			exits: map[string]contest.ExitReason{"solo": contest.TeamTimeout, "swift": contest.PartialFailure,
				"careful": contest.PartialFailure},
			card: []string{"チームから選ばれた、慎重チーム の案です", "慎重チーム: 途中で失敗したため、それまでの最良の案で終了しました。", "ほかの案と比べる (2)"},
			page: []string{
				"制限時間に達したため、それまでの最良の案で終了しました。", "途中で失敗したため、それまでの最良の案で終了しました。 リーダーが続行できませんでした: AI モデルが回答を断りました。",
				"途中で失敗したため、それまでの最良の案で終了しました。 評価者が続行できませんでした: デモ用のモデルを、設定どおりに失敗させました。",
			},
		},
		{
			name: "all teams fail", text: "demo: refuse careful demo: refuse swift demo: unscored solo",
			status: contest.SummaryFailed,
			exits: map[string]contest.ExitReason{"careful": contest.PartialFailure, "swift": contest.PartialFailure,
				"solo": contest.PartialFailure},
			card: []string{"コンテストでは使える案がなかったため、Ringi が下書きしました",
				"慎重チーム: リーダーが続行できませんでした: AI モデルが回答を断りました。", "単独チーム: 評価者が続行できませんでした"},
			page: []string{"すべてのチームが失敗", "採点された案はありません。"},
		},
	}
}

// TestPeopleSeeWhatWentWrongInAContestAndGoOn runs all contests at once, because it mostly waits for teams' time
// limits.
func TestPeopleSeeWhatWentWrongInAContestAndGoOn(t *testing.T) {
	expect.AtNight(t)
	s := start(t)
	var asked []*driver.Request
	all := troubles()
	for _, x := range all {
		driver.Settings(t, s, func(y *tenancy.Settings) {
			y.DraftContest = tenancy.DefaultSettings().DraftContest
			y.DraftContest.Enabled, y.DraftContest.MaxRounds = true, 2
			if x.seconds > 0 {
				y.DraftContest.Seconds = x.seconds
			}
		})
		d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて "+x.text)
		d.Eventually("a contest is asked for", func() bool { p := d.Load().Prompt(); return p != nil && p.Contest != nil })
		asked = append(asked, d)
	}
	for i, x := range all {
		t.Run(x.name, func(t *testing.T) { x.seen(t, asked[i]) })
	}
}

// seen waits until people can approve the policy, and checks what they see and what the rows have.
func (x trouble) seen(t *testing.T, d *driver.Request) {
	face := driver.Face(d.Card("CARD#prompt#0001", "approve_prompt"))
	a := d.Load()
	p := a.Prompt()
	status, page := driver.SitDown(t, d.S, webapi.Sato).Get("/console/contests/" + p.Contest.ExecutionID)
	expect.That(t, status == http.StatusOK && p.Contest.As == string(x.status) && len(p.Contest.Entries) == x.scored &&
		(p.Entry != nil) == (x.scored > 0), "%d, %+v drafted %+v", status, p.Contest, p.Entry)
	says(t, "the card", face, x.card)
	says(t, "the page", page, x.page)
	rows := store.ContestsOf(store.OpenAll(d.S.AWS, boot.Table{TableName: d.S.TableName}), nil)
	var cost aggregate.MicroUSD
	exits := map[string]contest.ExitReason{}
	for id := range x.exits {
		w := expect.Value(rows.Teams.Load(t.Context(), contest.TeamRef(d.Ref.Tenant, p.Contest.ExecutionID, id)))(t)
		exits[id] = w.Team.ExitReason
		cost += w.Used().Cost
	}
	expect.That(t, maps.Equal(exits, x.exits), "teams ended by %v, want %v", exits, x.exits)
	expect.That(t, paid(a, p.Contest.ExecutionID) == cost, "the task paid %s, the teams spent %s",
		paid(a, p.Contest.ExecutionID), cost)
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
}

// paid returns what a task was charged for a contest.
func paid(a *task.Aggregate, execution string) (sum aggregate.MicroUSD) {
	for _, u := range a.Uses {
		if u.ID == execution {
			sum += u.Cost
		}
	}
	return sum
}

func says(t *testing.T, what, text string, all []string) {
	t.Helper()
	for _, want := range all {
		expect.That(t, strings.Contains(text, want), "%s does not say %q: %s", what, want, text)
	}
}
