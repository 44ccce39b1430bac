package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"ringi/infra/bench/capacity"
	"ringi/infra/bench/recorder"
	"ringi/infra/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
	"ringi/shared/runtime/sleep"
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
	Invocations        float64
	Calls              map[string]float64 // by service and action
	Kinds              map[string]float64 // of rows that are written
	Rows               float64            // all of them
	Read, Write, Index float64            // units
}

// Pipeline is what one request costs from the message to the finished work: five steps, two stamps.
type Pipeline struct {
	Functions   map[string]Usage
	Transitions float64 // of the state machine
}

// Calls is what pipelines call, undisturbed and with faults, and what one look of the idle sweeper does.
type Calls struct {
	Quiet, Faulty Pipeline
	Sweep         Usage
}

// Total adds up all functions but the sweeper, which works by the minute.
func (p Pipeline) Total() Usage {
	t := Usage{Calls: map[string]float64{}, Kinds: map[string]float64{}}
	for name, u := range p.Functions {
		if name == sweeper {
			continue
		}
		t.Invocations, t.Rows = t.Invocations+u.Invocations, t.Rows+u.Rows
		t.Read, t.Write, t.Index = t.Read+u.Read, t.Write+u.Write, t.Index+u.Index
		for call, n := range u.Calls {
			t.Calls[call] += n
		}
		for kind, n := range u.Kinds {
			t.Kinds[kind] += n
		}
	}
	return t
}

// measureCalls measures pipelines undisturbed, one after another; then one look of the
// idle sweeper; then, unless disturbed is 0, that many side by side with faults.
func measureCalls(ctx context.Context, undisturbed, disturbed int, seed uint64) (*Calls, error) {
	rec := recorder.New(seed)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec.Attach(&recorder.Meter{Endpoint: s.AWSEndpoint, Indexes: indexes(s.Template.Tables[0])})
	// The first pipeline starts processes and makes the tenant.
	if _, err = pipelines(ctx, s, rec, 1, 1); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	c := &Calls{}
	if c.Quiet, err = pipelines(ctx, s, rec, undisturbed, 1); err != nil {
		return nil, fmt.Errorf("undisturbed: %w", err)
	}
	var idle []recorder.Call
	for range 2 { // the first looks after what the pipelines left
		if _, err = s.Fire(ctx, sweeper); err != nil {
			return nil, err
		}
		if idle, err = rec.Take(); err != nil {
			return nil, err
		}
	}
	if c.Sweep = usage(idle, 1)[sweeper]; disturbed == 0 {
		return c, nil
	}
	rec.Fail(faultOdds)
	if c.Faulty, err = pipelines(ctx, s, rec, disturbed, 4); err != nil {
		return nil, fmt.Errorf("with faults: %w", err)
	}
	return c, nil
}

func indexes(t template.Table) map[string]capacity.Index {
	out := map[string]capacity.Index{}
	for _, x := range t.Indexes {
		out[x.Name] = capacity.Index{PK: x.Key.Hash, SK: x.Key.Range}
	}
	return out
}

// pipelines runs n requests from end to end, some at once.
func pipelines(ctx context.Context, s *stack.Stack, rec *recorder.Recorder, n, atOnce int) (Pipeline, error) {
	var p Pipeline
	asked := make([]*driver.Request, n)
	err := crowd(ctx, n, atOnce, func(t driver.T, i int) {
		asked[i] = ask(t, s, 25*time.Millisecond)
		finish(asked[i])
	})
	if err != nil {
		return p, err
	}
	// The last bookkeeping comes after what people see.
	calls, err := whenQuiet(ctx, rec)
	if err != nil {
		return p, err
	}
	for _, r := range asked {
		v, err := s.Task(ctx, r.Ref.ID)
		if err != nil {
			return p, err
		}
		for _, run := range v.Runs {
			if run.Stopped == nil {
				return p, fmt.Errorf("run %s has not ended", run.Name)
			}
			p.Transitions += float64(len(run.States)) / float64(n)
		}
	}
	p.Transitions, p.Functions = round(p.Transitions), usage(calls, n)
	return p, nil
}

// whenQuiet takes what was recorded once nothing more happens for a second and a half.
func whenQuiet(ctx context.Context, rec *recorder.Recorder) (all []recorder.Call, err error) {
	for {
		calls, err := rec.Take()
		if err != nil {
			return nil, err
		}
		if all = append(all, calls...); len(calls) == 0 {
			return all, nil
		}
		if err := sleep.For(ctx, 1500*time.Millisecond); err != nil {
			return nil, err
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
			u.Calls, u.Kinds = map[string]float64{}, map[string]float64{}
		}
		switch {
		case c.Name == lambda.KindStart:
			u.Invocations += each
		case c.Name == lambda.KindAnswer, c.Request == "":
		default:
			u.Calls[c.Name] += each
			for kind, n := range c.Rows {
				u.Kinds[kind] += float64(n) * each
				u.Rows += float64(n) * each
			}
			u.Read, u.Write, u.Index = u.Read+c.Units.Read*each, u.Write+c.Units.Write*each, u.Index+c.Units.Index*each
		}
		out[c.Function] = u
	}
	for name, u := range out {
		for call, v := range u.Calls {
			u.Calls[call] = round(v)
		}
		for kind, v := range u.Kinds {
			u.Kinds[kind] = round(v)
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
