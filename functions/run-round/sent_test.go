package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
)

// saying is the demo's model at a price.
type saying struct{ round.Demo }

func (s saying) Open(string) (model.Wire, error) { return s, nil }

func (s saying) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out, err := s.Demo.Say(ctx, r, onText)
	out.Usage.Calls, out.Usage.Cost = 1, 1000
	return out, err
}

func TestWhatEveryModelOfARoundIsSentIsKeptWithWhatItCost(t *testing.T) {
	w := newWorld(t)
	for name, full := range map[string]error{"kept": nil, "a bucket that is down": errors.New("the bucket is full")} {
		a := w.begin("経費精算の手順 "+name, aggregate.USD(5), "a")
		var mu sync.Mutex
		of := map[aggregate.Ref]int{}
		h := &Handler{Store: w.store, Models: saying{}, Now: time.Now, Prompts: func(ref aggregate.Ref) model.Keep {
			return func(_ context.Context, body []byte) (aggregate.Blob, error) {
				mu.Lock()
				defer mu.Unlock()
				of[ref]++
				return aggregate.Blob{S3Key: "prompts/x", Bytes: len(body)}, full
			}
		}}
		ref := a.Ref()
		for range 3 { // three rounds: nobody judges after the first
			expect.Value(h.Handle(t.Context(), pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run, Team: 1}))(t)
		}
		team := expect.Value(w.store.Teams.Load(t.Context(), contest.TeamRef(ref.Tenant, ref.ID, "a")))(t)
		whose := map[string]bool{}
		for _, u := range team.Uses {
			expect.That(t, (u.Sent == nil) == (full != nil), "%s: %s was sent %+v", name, u.Made, u.Sent)
			whose[strings.Split(u.Prompt, ".")[0]] = true
		}
		for _, want := range []string{"leader", "member-plain", "metric-Coverage", "judge"} {
			expect.That(t, whose[want], "%s: nothing of the %s in %v", name, want, whose)
		}
		expect.That(t, of[ref] == len(team.Uses) && len(of) == 1, "%s: %d calls, kept %v", name, len(team.Uses), of)
	}
}
