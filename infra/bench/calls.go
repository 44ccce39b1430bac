package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
)

const (
	sweeper = "SweepTasksFunction"
	relay   = "RelayChangesFunction"
	updater = "UpdateCardFunction"
	// faultOdds is the share of calls to AWS and Slack that fail in the second measurement.
	faultOdds = 0.01
	// rest is the time before each request, longer than a minute of Slack's at the local stack's pace: so the calls of
	// one request take nothing of what Slack leaves to the next.
	rest = time.Second
)

// Usage is a function's invocations, its calls and the units of DynamoDB's capacity that they took, per pipeline.
type Usage struct {
	Invocations        float64
	AWS, Slack, Vendor float64 `json:",omitzero"`
	Read, Write, Index float64 `json:",omitzero"`
}

// plus adds another usage times a factor.
func (u Usage) plus(o Usage, times float64) Usage {
	return Usage{
		u.Invocations + o.Invocations*times, u.AWS + o.AWS*times, u.Slack + o.Slack*times, u.Vendor + o.Vendor*times,
		u.Read + o.Read*times, u.Write + o.Write*times, u.Index + o.Index*times,
	}
}

func (u Usage) rounded() Usage {
	return Usage{round(u.Invocations), round(u.AWS), round(u.Slack), round(u.Vendor), round(u.Read), round(u.Write),
		round(u.Index)}
}

// Pipeline is what one request costs from the message to the finished work: five steps, two stamps.
type Pipeline struct {
	Functions map[string]Usage   // by folder
	Actions   map[string]float64 `json:",omitempty"` // calls of AWS, by service and action
	// Rows are rows written, by kind and by the function that writes.
	Rows        map[string]map[string]float64 `json:",omitempty"`
	Transitions float64                       `json:",omitzero"` // of the state machine
}

func (p Pipeline) total() (t Usage) {
	for _, u := range p.Functions {
		t = t.plus(u, 1)
	}
	return t
}

// Calls has the usage of undisturbed pipelines, of pipelines with faults, and of one run of the idle sweeper.
type Calls struct{ Quiet, Faulty, Sweep Pipeline }

// metered calls do with a stack whose calls are recorded with their cost.
func meteredStack(ctx context.Context, seed uint64, do func(*stack.Stack, *Recorder) error) error {
	rec := New(seed)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return err
	}
	defer s.Close()
	indexes := map[string]Index{}
	for _, x := range s.Template.Tables[0].Indexes { // as the template has them: HASH, then RANGE
		indexes[*x.IndexName] = Index{PK: *x.KeySchema[0].AttributeName, SK: *x.KeySchema[1].AttributeName}
	}
	rec.Attach(&Meter{Endpoint: s.AWSEndpoint, Indexes: indexes})
	return do(s, rec)
}

// repeated measures n times of do, after one more that starts the processes.
func repeated(ctx context.Context, n int, do func(driver.T, *stack.Stack)) (p Pipeline, err error) {
	err = meteredStack(ctx, 1, func(s *stack.Stack, rec *Recorder) error {
		for _, many := range []int{1, n} {
			if err := crowd(ctx, many, 1, func(t driver.T, _ int) { do(t, s) }); err != nil {
				return err
			}
			calls, err := whenQuiet(ctx, rec)
			if err != nil {
				return err
			}
			p = usage(calls, many)
		}
		return nil
	})
	return p, err
}

// measureCalls measures undisturbed pipelines one after another, then one run of the idle sweeper and, unless disturbed
// is 0, concurrent pipelines with faults.
func measureCalls(ctx context.Context, undisturbed, disturbed int, seed uint64) (*Calls, error) {
	c := &Calls{}
	err := meteredStack(ctx, seed, func(s *stack.Stack, rec *Recorder) (err error) {
		// The first pipeline starts processes and makes the tenant.
		if _, err = pipelines(ctx, s, rec, 1, 1); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
		if c.Quiet, err = pipelines(ctx, s, rec, undisturbed, 1); err != nil {
			return fmt.Errorf("undisturbed: %w", err)
		}
		for range 2 { // the first run has work left over from the pipelines
			if _, err = s.Fire(ctx, sweeper); err != nil {
				return err
			}
			idle, err := rec.Take()
			if err != nil {
				return err
			}
			c.Sweep = added(idle, 1, func(function string) bool { return function == sweeper })
		}
		if disturbed == 0 {
			return nil
		}
		rec.Fail(faultOdds)
		if c.Faulty, err = pipelines(ctx, s, rec, disturbed, 4); err != nil {
			return fmt.Errorf("with faults: %w", err)
		}
		return nil
	})
	return c, err
}

// pipelines runs n requests from end to end, atOnce of them concurrently.
func pipelines(ctx context.Context, s *stack.Stack, rec *Recorder, n, atOnce int) (Pipeline, error) {
	var p Pipeline
	asked := make([]*driver.Request, n)
	err := crowd(ctx, n, atOnce, func(t driver.T, i int) {
		if err := clock.Sleep(ctx, rest); err != nil {
			t.Fatalf("rest: %v", err)
		}
		asked[i] = ask(t, s, 25*time.Millisecond)
		finish(asked[i])
		allShown(asked[i])
	})
	if err != nil {
		return p, err
	}
	// Some rows are written after people have seen the end.
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
	out := usage(calls, n)
	out.Transitions = round(p.Transitions)
	return out, nil
}

// whenQuiet returns the recorded calls after 1.5 seconds without a call.
func whenQuiet(ctx context.Context, rec *Recorder) (all []Call, err error) {
	for {
		calls, err := rec.Take()
		if err != nil {
			return nil, err
		}
		if all = append(all, calls...); len(calls) == 0 {
			return all, nil
		}
		if err := clock.Sleep(ctx, 1500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// usage adds up the calls of all functions except the sweeper, which runs each minute anyway.
func usage(calls []Call, n int) Pipeline {
	return added(calls, n, func(function string) bool { return function != sweeper })
}

// added adds up calls by function, without those that a process makes at its start.
func added(calls []Call, n int, counts func(function string) bool) Pipeline {
	p := Pipeline{Functions: map[string]Usage{}, Actions: map[string]float64{}, Rows: map[string]map[string]float64{}}
	each := 1 / float64(n)
	for _, c := range calls {
		folder := template.Folder(c.Function)
		switch {
		case !counts(c.Function):
		case c.Name == lambda.KindStart:
			p.Functions[folder] = p.Functions[folder].plus(Usage{Invocations: 1}, each)
		case c.Name == lambda.KindAnswer, c.Request == "":
		default:
			one := Usage{Read: c.Units.Read, Write: c.Units.Write, Index: c.Units.Index}
			switch service, _, _ := strings.Cut(c.Name, " "); service {
			case "slack":
				one.Slack = 1
			case "freee", "sheets":
				one.Vendor = 1
			default:
				one.AWS = 1
				p.Actions[c.Name] += each
			}
			p.Functions[folder] = p.Functions[folder].plus(one, each)
			for kind, rows := range c.Rows {
				if p.Rows[kind] == nil {
					p.Rows[kind] = map[string]float64{}
				}
				p.Rows[kind][folder] += float64(rows) * each
			}
		}
	}
	for name, u := range p.Functions {
		p.Functions[name] = u.rounded()
	}
	for _, amounts := range append(slices.Collect(maps.Values(p.Rows)), p.Actions) {
		for name, n := range amounts {
			amounts[name] = round(n)
		}
	}
	return p
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// Contests is the cost of a contest whose teams all play every round.
type Contests struct {
	Teams, Rounds int
	Pipeline
}

// measureContests plays contests one after another, each from its start to its summary.
func measureContests(ctx context.Context, n int) (*Contests, error) {
	c := &Contests{Teams: 3, Rounds: 2}
	var err error
	c.Pipeline, err = repeated(ctx, n, func(t driver.T, s *stack.Stack) {
		all, ref := driver.Compete(t, s, "経費精算の手順を決めて", c.Teams, c.Rounds)
		if a := driver.SummedUp(t, all, ref); a.Summary.Status != contest.SummaryCompleted {
			t.Fatalf("the contest ended as %+v", a.Summary)
		}
	})
	// A Choice state follows each call of RunRound, each team has a final state, and three more states follow the
	// teams.
	c.Transitions = round(2*c.Functions["run-round"].Invocations + float64(c.Teams) + 3)
	return c, err
}

// measureConversations measures conversations one after another: a message, a proposal of two files, a stamp, and the
// agent's answer to the result.
func measureConversations(ctx context.Context, n int) (Pipeline, error) {
	return repeated(ctx, n, func(t driver.T, s *stack.Stack) {
		d := driver.Talk(t, s, webapi.Sato, "codex: ファイルを作って")
		d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
		d.Shows("完了しました: ファイル 2 件を変更")
		d.Status("active")
	})
}

func (m *Measured) measureOthers(ctx context.Context, n int) (err error) {
	if m.Contest, err = measureContests(ctx, n); err != nil {
		return fmt.Errorf("contests: %w", err)
	}
	conversations, err := measureConversations(ctx, n)
	if err != nil {
		return fmt.Errorf("conversations: %w", err)
	}
	m.Conversation = &conversations
	return nil
}
