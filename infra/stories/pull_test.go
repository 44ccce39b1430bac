package stories

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// What happens to a pull request when its process dies, or nobody wants it any more while it is opened.

// pullPoints are the crash points of the process that opens a pull request, whose kind of call ends so.
func (w *world) pullPoints(t *testing.T, kill lambda.Moment, ends ...string) []point {
	t.Helper()
	known := expect.Value(w.once(t, storyOf("pull request")))(t).points
	all := slices.DeleteFunc(slices.Clone(known), func(p point) bool {
		last := func(s string) bool { return strings.HasSuffix(p.kind, s) }
		return p.function != "CallToolFunction" || p.kill != kill || !strings.HasPrefix(p.kind, "POST ") ||
			!strings.Contains(p.kind, "github") || !slices.ContainsFunc(ends, last)
	})
	expect.Must(t, len(all) > 0, "no call is made to %v", ends)
	return all
}

// decide has a change decided on the conversation behind people's backs.
func (p *play) decide(d func(*conversation.Aggregate) (aggregate.Change, error)) {
	_, err := store.NewConversations(p.db, p.TableName).Decide(context.Background(), p.Ref, d)
	expect.NoError(p.t, err)
}

// lostPullRequestIsLookedAt loses the process after GitHub has opened the pull request, and gives up: nobody knows
// whether it is there, until somebody presses the button on its card.
func (w *world) lostPullRequestIsLookedAt(t *testing.T) {
	expect.AtNight(t) // withdrawnPushIsLookedAt is a sample
	at := w.pullPoints(t, lambda.After, "/pulls")[0]
	p := expect.Value(w.plays(story{name: "lost", act: func(p *play) {
		p.dying = func(lambda.Call) {
			p.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
				x := a.Current()
				return a.Lost(x.ActionID, x.Claim.Invocation, time.Now())
			})
		}
		pullRequest(p)
		x := p.talk().Actions[1]
		expect.Must(p.t, x.Outcome == conversation.OutcomeUnknown && x.Pushed.There && x.Pushed.Number == 0, "%+v", x)
		p.ClickUntilTaken(webapi.Sato, "CARD#action#0002", card.CheckAction)
		p.over(2)
	}}, killing(at)))(t)
	pulled(t, p)
	expect.Is(t, p.made("CallToolFunction", at.kind), 1, "a look opens pull requests")
}

// withdrawnPushIsLookedAt has a person withdraw a pull request while it is being opened, and kills
// the process after a call that GitHub has answered: the sweeper has it looked what is there, and the card says so.
func (w *world) withdrawnPushIsLookedAt(t *testing.T) {
	all := w.pullPoints(t, lambda.After, "/refs", "/pulls")
	if !expect.Long() {
		all = all[:1]
	}
	for _, at := range all {
		p := expect.Value(w.plays(story{name: "withdrawn push", act: func(p *play) {
			p.dying = func(c lambda.Call) {
				p.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
					by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: a.Conversation.TeamID, Member: true}
					return a.Cancel(a.Current().ActionID, by, aggregate.Policy{Team: a.Conversation.TeamID}, time.Now())
				})
				p.leasesEnd(c)
			}
			pullRequest(p)
			p.Eventually("it is looked at", func() bool { p.sweep(); return p.talk().Actions[1].Late != nil })
		}}, killing(at)))(t)
		x := p.talk().Actions[1]
		expect.Must(t, x.Status == conversation.ActionCancelled && x.Late != nil && x.Pushed.There && x.Pushed.Look == nil,
			"after %s: %+v %+v", at.kind, x.Late, x.Pushed)
		expect.Is(t, p.shop().Ref("heads/"+x.Pushed.Branch), x.Pushed.Commit)
		expect.Has(t, driver.Face(p.Cards("CARD#action#0002")[0]), "ringi/")
	}
}
