package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringi/infra/bench/capacity"
	"ringi/infra/bench/recorder"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
)

const (
	sweeper = "SweepTasksFunction"
	relay   = "RelayChangesFunction"
	updater = "UpdateCardFunction"
	// faultOdds is how many of the calls to AWS and Slack fail in the second measurement.
	faultOdds = 0.01
)

// Usage is what a function did, per pipeline.
type Usage struct {
	Invocations float64            `json:"invocations"`
	Calls       map[string]float64 `json:"calls"` // by service and action
	Rows        float64            `json:"rows"`  // written
	Read        float64            `json:"read_units"`
	Write       float64            `json:"write_units"`
	Index       float64            `json:"index_units"`
}

// Pipeline is what one request costs from the message to the finished work: five steps, two stamps.
type Pipeline struct {
	Tasks       int              `json:"tasks"`
	Functions   map[string]Usage `json:"functions"`
	Transitions float64          `json:"transitions"` // of the state machine
	Faults      int              `json:"faults"`      // calls that were made to fail
}

// Total adds up all functions but the sweeper, which works by the minute.
func (p Pipeline) Total() Usage {
	t := Usage{Calls: map[string]float64{}}
	for name, u := range p.Functions {
		if name == sweeper {
			continue
		}
		t.Invocations, t.Rows = t.Invocations+u.Invocations, t.Rows+u.Rows
		t.Read, t.Write, t.Index = t.Read+u.Read, t.Write+u.Write, t.Index+u.Index
		for call, n := range u.Calls {
			t.Calls[call] += n
		}
	}
	return t
}

// Calls measures pipelines undisturbed, one after another; then, unless
// disturbed is 0, that many side by side with faults; then one look of the idle sweeper.
func measureCalls(ctx context.Context, undisturbed, disturbed int, seed uint64) (quiet, faulty Pipeline, sweep Usage, err error) {
	rec := recorder.New(seed)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return quiet, faulty, sweep, err
	}
	defer s.Close()
	rec.Attach(&recorder.Meter{Endpoint: s.AWSEndpoint, Client: &http.Client{}, Indexes: indexes(s.Template.Tables[0])})
	// The first pipeline starts processes and makes the tenant.
	if _, err = pipelines(ctx, s, rec, 1, 1); err != nil {
		return quiet, faulty, sweep, fmt.Errorf("warm up: %w", err)
	}
	if quiet, err = pipelines(ctx, s, rec, undisturbed, 1); err != nil {
		return quiet, faulty, sweep, fmt.Errorf("undisturbed: %w", err)
	}
	if _, err = s.Fire(ctx, sweeper); err != nil {
		return quiet, faulty, sweep, err
	}
	if _, err = rec.Take(); err != nil {
		return quiet, faulty, sweep, err
	}
	if _, err = s.Fire(ctx, sweeper); err != nil {
		return quiet, faulty, sweep, err
	}
	idle, err := rec.Take()
	if err != nil {
		return quiet, faulty, sweep, err
	}
	sweep = usage(idle, 1)[sweeper]
	if disturbed == 0 {
		return quiet, faulty, sweep, nil
	}
	rec.Fail(faultOdds)
	if faulty, err = pipelines(ctx, s, rec, disturbed, 4); err != nil {
		err = fmt.Errorf("with faults of seed %d: %w", seed, err)
	}
	return quiet, faulty, sweep, err
}

func indexes(t template.Table) map[string]capacity.Index {
	out := map[string]capacity.Index{}
	for _, x := range t.Indexes {
		out[x.Name] = capacity.Index{PK: x.Key.Hash, SK: x.Key.Range}
	}
	return out
}

// pipelines runs n requests from end to end, some at once. What faults leave to
// the sweeper it is told to look after every few seconds.
func pipelines(ctx context.Context, s *stack.Stack, rec *recorder.Recorder, n, atOnce int) (Pipeline, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := Pipeline{Tasks: n}
	var mu sync.Mutex
	var failed error
	var asked []*desk
	var under sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for range n {
		slots <- struct{}{}
		under.Go(func() {
			defer func() { <-slots }()
			d, err := ask(s, everyTool, 25*time.Millisecond)
			if err == nil {
				err = d.finish(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			if asked = append(asked, d); err != nil && failed == nil {
				failed = err
				cancel()
			}
		})
	}
	under.Wait()
	if failed != nil {
		return p, failed
	}
	// The last bookkeeping comes after what people see.
	calls, err := settle(ctx, rec)
	if err != nil {
		return p, err
	}
	for _, d := range asked {
		v, err := s.Task(ctx, d.ref.Task)
		if err != nil {
			return p, err
		}
		for _, r := range v.Runs {
			if r.Stopped == nil {
				return p, fmt.Errorf("run %s has not ended", r.Name)
			}
			p.Transitions += float64(len(r.States)) / float64(n)
		}
	}
	p.Transitions = round(p.Transitions)
	p.Functions = usage(calls, n)
	for _, c := range calls {
		if c.Failed {
			p.Faults++
		}
	}
	return p, nil
}

// settle takes what was recorded once nothing more happens for a second.
func settle(ctx context.Context, rec *recorder.Recorder) (all []recorder.Call, err error) {
	tick := time.NewTicker(1500 * time.Millisecond)
	defer tick.Stop()
	for {
		calls, err := rec.Take()
		if err != nil {
			return nil, err
		}
		if all = append(all, calls...); len(calls) == 0 {
			return all, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// usage adds calls up by function. What a process does while it starts is not a pipeline's.
func usage(calls []recorder.Call, n int) map[string]Usage {
	out := map[string]Usage{}
	each := 1 / float64(n)
	for _, c := range calls {
		u, ok := out[c.Function]
		if !ok {
			u.Calls = map[string]float64{}
		}
		switch {
		case c.Name == lambda.KindStart:
			u.Invocations += each
		case c.Name == lambda.KindAnswer, c.Request == "":
		default:
			u.Calls[c.Name] += each
			u.Rows += float64(c.Rows) * each
			u.Read, u.Write, u.Index = u.Read+c.Units.Read*each, u.Write+c.Units.Write*each, u.Index+c.Units.Index*each
		}
		out[c.Function] = u
	}
	for name, u := range out {
		for call, v := range u.Calls {
			u.Calls[call] = round(v)
		}
		u.Invocations, u.Rows, u.Read, u.Write, u.Index = round(u.Invocations), round(u.Rows), round(u.Read), round(u.Write), round(u.Index)
		out[name] = u
	}
	return out
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// kinds adds up an amount of calls by who is called.
func kinds(calls map[string]float64) (aws, slack, vendor float64) {
	for name, n := range calls {
		switch {
		case strings.HasPrefix(name, "slack "):
			slack += n
		case strings.HasPrefix(name, "freee "), strings.HasPrefix(name, "sheets "):
			vendor += n
		default:
			aws += n
		}
	}
	return aws, slack, vendor
}
