package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// TestACrashInAFetchLosesNoFiles kills processes anywhere while a conversation's first files are fetched: it begins
// with the files of one commit, or says that it has none, and says either once.
func TestACrashInAFetchLosesNoFiles(t *testing.T) {
	t.Parallel()
	b := running
	begin := func(t driver.T, kills ...point) *talk {
		return b.opens(t, "run: cat shop/price.py", conversation.SourceOf(driver.Shop(b.Stack)), kills...)
	}
	first := begin(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || first.load(t).Conversation.Source.Tries != 1 {
		t.Fatalf("undisturbed, the action is %s (%s %s) after %d tries", x.Status, x.Error, x.ErrorDetail,
			first.load(t).Conversation.Source.Tries)
	}
	all := slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "FetchSourceFunction" })
	trials := byDay(trialsOf(all))
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) {
		k := begin(t, kills...)
		x := k.end(t)
		s := k.load(t).Conversation
		there := s.Source.State == conversation.SourceThere
		if there != (x.Status == conversation.ActionSucceeded) || there != (s.WorkspaceVersion != "") || !there {
			driver.Failf("the action is %s, the source %+v", x.Status, s.Source)
		}
		said := 0
		for _, m := range expect.Value(k.rows.Messages(context.Background(), k.ref.Tenant, k.ref.ID, ""))(t) {
			if m.Reason == conversation.ReasonSourceThere {
				said++
			}
		}
		if said != 1 {
			driver.Failf("where the files are from is said %d times", said)
		}
	})
	t.Logf("%d of %d points; seed %d", len(trials), len(all), seed)
}

// pulls has files written in a conversation that began from a repository, and then a pull request approved.
func (b *harness) pulls(t driver.T, before func(k *talk), kills ...point) (*talk, *conversation.Action) {
	t.Helper()
	k := b.opens(t, "make a file", conversation.SourceOf(driver.Shop(b.Stack)), kills...)
	if x := k.end(t); x.Status != conversation.ActionSucceeded {
		driver.Failf("session %s: the files are %s (%s)", k.ref.ID, x.Status, x.Error)
	}
	before(k)
	in := conversation.Inbound{Team: b.Sandbox.TeamID(), Channel: webapi.HR, ChannelType: "channel", Thread: k.thread,
		TS: fmt.Sprintf("%d.000200", time.Now().Unix()), Text: "open a pull request", User: webapi.Sato}
	c := expect.Value(conversation.Tell(in, conversation.Opening{}, time.Now()))(t)
	expect.NoError(t, k.rows.Tell(context.Background(), k.ref, c))
	return k, k.ends(t, 2)
}

// pulled is an undisturbed pull request, of which several tests break a call.
var pulled struct {
	sync.Once
	points []point // of the process that opens it
}

// pullPointsOf has a pull request opened on its first call, checks it and returns its crash points.
func (b *harness) pullPointsOf(t *testing.T) []point {
	t.Helper()
	pulled.Do(func() {
		first, x := b.pulls(t, func(*talk) {})
		first.pulled(x)
		pulled.points = slices.DeleteFunc(first.points(), func(p point) bool { return p.function != "CallToolFunction" })
	})
	return slices.Clone(pulled.points)
}

func (b *harness) shop() *vendors.Repository {
	return b.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
}

// pulled checks that GitHub has one pull request of the action, with the commit's tree and what people approved.
func (k *talk) pulled(x *conversation.Action) {
	var own []vendors.Pull
	for _, p := range k.shop().Pulls() {
		if p.Head == x.Pushed.Branch {
			own = append(own, p)
		}
	}
	if x.Status != conversation.ActionSucceeded || len(own) != 1 || own[0].Number != x.Pushed.Number ||
		own[0].HeadSHA != x.Pushed.Commit || k.shop().Ref("heads/"+x.Pushed.Branch) != x.Pushed.Commit {
		driver.Failf("session %s: %s (%s %s) %+v, GitHub has %+v", k.ref.ID, x.Status, x.Error, x.ErrorDetail, x.Pushed, own)
	}
	want := k.shop().Files(x.Pushed.Base)
	for _, name := range []string{"hello.js", "hello.test.js"} {
		want[name] = k.shop().Files(x.Pushed.Commit)[name]
	}
	for name, is := range k.shop().Files(x.Pushed.Commit) {
		if want[name] != is || is == "" {
			driver.Failf("session %s: %s is %q, not %q", k.ref.ID, name, is, want[name])
		}
	}
}

// TestACrashInAPullRequestOpensOne kills the process that opens a pull request at some of its points, at night at
// each: it goes on, and in the end there is one branch and one pull request.
func TestACrashInAPullRequestOpensOne(t *testing.T) {
	t.Parallel()
	b := running
	nothing := func(*talk) {}
	points := b.pullPointsOf(t)
	steps := 0
	for _, p := range points {
		if strings.HasPrefix(p.kind, "POST") && strings.Contains(p.kind, "github") {
			steps++
		}
	}
	expect.Must(t, steps >= 8, "of the calls to GitHub %d points are known: %v", steps, points)
	trials := trialsIn("CallToolFunction", points)
	sideBySide(t, trials, func(t driver.T, _ int, kills []point) {
		k, x := b.pulls(t, nothing, kills...)
		k.pulled(x)
	})
	t.Logf("%d of %d points; seed %d", len(trials), len(points), seed)
}

// TestGitHubFailsOnceInAPullRequest has each of its calls answered once with each of the things that GitHub says under
// load or when it fails, made or not.
func TestGitHubFailsOnceInAPullRequest(t *testing.T) {
	expect.AtNight(t) // TestACrashInAPullRequestOpensOne is a sample
	t.Parallel()
	b := running
	var calls []point
	for _, p := range b.pullPointsOf(t) {
		if p.kill == lambda.Before && strings.HasPrefix(p.kind, "POST") && strings.Contains(p.kind, "github/repos") {
			calls = append(calls, p)
		}
	}
	expect.Must(t, len(calls) == 4, "%v", calls)
	statuses := []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusBadGateway}
	sideBySide(t, make([]trial, len(calls)*len(statuses)), func(t driver.T, i int, _ []point) {
		at, status := calls[i%len(calls)], statuses[(i+i/len(calls))%len(statuses)]
		k, x := b.pulls(t, func(k *talk) {
			k.answers(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if status == http.StatusBadGateway { // it is made, and its answer is lost
					r = r.Clone(r.Context())
					r.URL.Path = strings.TrimPrefix(r.URL.Path, vendors.GitHubPath)
					b.Vendors.GitHub.Handler().ServeHTTP(httptest.NewRecorder(), r)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`{"message":"You have exceeded a secondary rate limit"}`))
			}))
		})
		k.pulled(x)
		expect.Must(t, k.met(at.function, at.kind) > 0, "%s is not called", at.kind)
	})
}

// TestABranchThatSomebodyElseMadeStays: nobody's branch is written over, and the action says so.
func TestABranchThatSomebodyElseMadeStays(t *testing.T) {
	expect.AtNight(t) // by day functions/call-tool has it
	t.Parallel()
	b := running
	other := ""
	at := point{function: "CallToolFunction", ordinal: 1}
	for _, p := range b.pullPointsOf(t) {
		if strings.HasSuffix(p.kind, "/git/refs") {
			at.kind = p.kind
		}
	}
	expect.Must(t, at.kind != "", "no ref is made")
	k, x := b.pulls(t, func(k *talk) {
		k.answers(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := k.load(t)
			other = b.shop().Commit(a.Actions[1].Pushed.Branch, "theirs", map[string]vendors.File{"x": {Content: "theirs"}},
				time.Now())
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"message":"Reference already exists"}`))
		}))
	})
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == conversation.ReasonBranchTaken && x.Outcome == "",
		"%+v", x)
	expect.Is(t, k.shop().Ref("heads/"+x.Pushed.Branch), other)
}

// TestALostPullRequestIsLookedAt loses the process after GitHub has opened the pull request, and gives up: nobody knows
// whether it is there, until somebody presses the button on its card.
func TestALostPullRequestIsLookedAt(t *testing.T) {
	expect.AtNight(t) // TestAWithdrawnPushWhoseProcessDiesIsLookedAt is a sample
	t.Parallel()
	b := running
	at := point{}
	for _, p := range b.pullPointsOf(t) {
		if p.kill == lambda.After && strings.HasPrefix(p.kind, "POST") && strings.HasSuffix(p.kind, "/pulls") {
			at = p
		}
	}
	expect.Must(t, at.kind != "", "no pull request is opened")
	k, x := b.pulls(t, func(k *talk) {
		k.dying = func(lambda.Call) {
			expect.Value(k.rows.Decide(context.Background(), k.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				x := a.Current()
				return a.Lost(x.ActionID, x.Claim.Invocation, time.Now())
			}))(t)
		}
	}, at)
	expect.Must(t, x.Outcome == conversation.OutcomeUnknown && x.Pushed.There && x.Pushed.Number == 0, "%+v %+v", x,
		x.Pushed)
	d := &driver.Dialogue{T: t, S: b.Stack, User: webapi.Sato, Channel: webapi.HR, Root: k.thread, Timeout: time.Minute}
	made := k.made("CallToolFunction", at.kind)
	d.Press(webapi.Sato, d.Shows("🔎 Check"), card.CheckAction)
	d.Shows("Draft pull request", "https://github.com/ringi-demo/shop/pull/")
	x = k.ends(t, 2)
	k.pulled(x)
	expect.Is(t, k.made("CallToolFunction", at.kind), made, "a look opens pull requests")
}

// TestAWithdrawnPushWhoseProcessDiesIsLookedAt has a person withdraw a pull request while it is being opened, and kills
// the process after each call that GitHub has answered: the sweeper has it looked what is there, and the card says so.
func TestAWithdrawnPushWhoseProcessDiesIsLookedAt(t *testing.T) {
	t.Parallel()
	b := running
	branch := false
	for _, p := range b.pullPointsOf(t) {
		if branch && !expect.Long() {
			break
		}
		if p.kill != lambda.After || !strings.HasPrefix(p.kind, "POST") ||
			!strings.HasSuffix(p.kind, "/refs") && !strings.HasSuffix(p.kind, "/pulls") {
			continue
		}
		branch = true
		k, x := b.pulls(t, func(k *talk) {
			dying := k.dying
			k.dying = func(c lambda.Call) {
				expect.Value(k.rows.Decide(context.Background(), k.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
					by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: a.Conversation.TeamID, Member: true}
					return a.Cancel(a.Current().ActionID, by, aggregate.Policy{Team: a.Conversation.TeamID}, time.Now())
				}))(t)
				dying(c)
			}
		}, p)
		for end := time.Now().Add(stepTimeout); x.Late == nil && time.Now().Before(end); {
			k.sweep(t)
			x = k.ends(t, 2)
		}
		expect.Must(t, x.Status == conversation.ActionCancelled && x.Late != nil && x.Pushed.There && x.Pushed.Look == nil,
			"after %s: %+v %+v", p.kind, x.Late, x.Pushed)
		expect.Is(t, k.shop().Ref("heads/"+x.Pushed.Branch), x.Pushed.Commit)
		d := &driver.Dialogue{T: t, S: b.Stack, User: webapi.Sato, Channel: webapi.HR, Root: k.thread, Timeout: time.Minute}
		d.Shows("Cancelled by", "ringi/")
	}
	expect.That(t, branch, "no branch is made")
}
