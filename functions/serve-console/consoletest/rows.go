package consoletest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Requested describes a request that became a task.
type Requested struct {
	Team, User, Channel, Kind, Title string
	Cancelled                        bool
	Priority                         task.Priority // medium unless said
	After                            time.Duration // the world's beginning
}

// Made makes a task from a request. Later steps of the world continue with that task.
func (w *World) Made(r Requested) string {
	w.T.Helper()
	by, now := w.asked(r)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: r.Title, Description: r.Title,
			Priority: cmp.Or(r.Priority, task.Medium), TaskType: task.TypeStandard}, now)
	})
	if r.Cancelled {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.End(by, aggregate.Policy{Team: by.Team, AllowSelf: true}, now)
		})
	}
	return w.Ref.ID
}

// asked receives a request and accepts it. It returns who asked when.
func (w *World) asked(r Requested) (by aggregate.Actor, now time.Time) {
	w.T.Helper()
	w.Said++
	if r.Team == "" {
		r.Team = w.Tenant.TeamID
	}
	now = w.Now().Add(r.After + time.Duration(w.Said)*time.Millisecond)
	m := task.Request{TeamID: r.Team, User: r.User, Channel: r.Channel, ChannelType: r.Kind, Text: r.Title,
		Source: task.SourceChannel, MessageTS: fmt.Sprintf("%d.%06d", now.Unix(), w.Said)}
	if m.ThreadTS = m.MessageTS; r.Kind == "im" {
		m.Source = task.SourceAgentContainer
	}
	c, ref, err := task.Receive(aggregate.TenantID(r.Team), m, now)
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
	by = aggregate.Actor{Type: aggregate.ActorUser, ID: r.User, Team: r.Team, Member: true}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), now)
	})
	return by, now
}

// Filled writes the rows of n tasks as the store does, one second apart; the last is the newest.
func (w *World) Filled(n int, of func(n int) (user, channel, title string)) {
	w.T.Helper()
	var puts []types.WriteRequest
	for i := range n {
		user, channel, title := of(i)
		made := w.Now().Add(-time.Duration(n-i) * time.Second)
		x := task.Task{ID: fmt.Sprintf("01FILL%020d", i), TenantID: w.Tenant.ID, Title: title, Status: task.TaskCompleted,
			ListedAs: task.StatusDone, SlackChannel: channel, Source: task.SourceChannel}
		at := aggregate.TimeText(made)
		puts = append(puts, w.row(x, at, map[string]any{
			"PK": "TASK#" + w.Tenant.ID + "#" + x.ID, "SK": "TASK", "type": "task", "rev": 2,
			"GSI1PK": task.AllOf(w.Tenant.ID), "GSI1SK": at + "#" + x.ID,
			"GSI2PK": task.WithStatus(w.Tenant.ID, x.ListedAs), "GSI2SK": at + "#" + x.ID,
			"GSI3PK": task.By(w.Tenant.ID, user), "GSI3SK": at + "#" + x.ID,
		}))
	}
	w.put(puts)
}

// row makes a row from a value, the time it was made, and its keys.
func (w *World) row(x any, at string, keys map[string]any) types.WriteRequest {
	w.T.Helper()
	it := map[string]any{"schema_version": 1, "created_at": at, "updated_at": at}
	expect.NoError(w.T, json.Unmarshal(expect.Value(json.Marshal(x))(w.T), &it))
	maps.Copy(it, keys)
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: expect.Value(attributevalue.MarshalMap(it))(w.T)}}
}

func (w *World) put(rows []types.WriteRequest) {
	w.T.Helper()
	for batch := range slices.Chunk(rows, 25) {
		expect.Value(w.DB.BatchWriteItem(w.T.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.Table: batch}}))(w.T)
	}
}

// Competed writes the rows of n contests as the store does, and returns their ids, newest first.
func (w *World) Competed(n int, of func(n int, k *contest.Contest)) []string {
	w.T.Helper()
	var puts []types.WriteRequest
	var ids []string
	for i := range n {
		made := w.Now().Add(-time.Duration(i) * time.Second)
		k := contest.Contest{ExecutionID: contest.NewID(), TenantID: w.Tenant.ID, Locale: "ja", TotalTeams: 3,
			CreatedAt: made}
		of(i, &k)
		at := aggregate.TimeText(made)
		puts = append(puts, w.row(k, at, map[string]any{
			"PK": "CONTEST#" + w.Tenant.ID + "#" + k.ExecutionID, "SK": k.Key(), "type": "contest", "rev": 1,
			"GSI1PK": contest.All(w.Tenant.ID), "GSI1SK": at + "#" + k.ExecutionID,
		}))
		ids = append(ids, k.ExecutionID)
	}
	w.put(puts)
	return ids
}

// Standing makes a request of Sato's for each status, and returns their ids.
func (w *World) Standing() map[task.Status]string {
	w.T.Helper()
	ids := map[task.Status]string{}
	for _, s := range task.Statuses {
		r := Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "営業部の今月の勤怠をまとめて、部長に送って"}
		if kind, plain := map[task.Status]task.ExtractKind{
			task.StatusRefused: task.KindUnsupported, task.StatusAnswered: task.KindHelp,
		}[s]; plain {
			w.asked(r)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: kind, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
			})
		} else {
			w.Made(r)
			w.comes(s)
		}
		ids[s] = w.Ref.ID
		now := w.Load().Head.Noted
		expect.Must(w.T, now == s, "a request that should be %s is %s", s, now)
	}
	return ids
}

// comes brings a new task to a status.
func (w *World) comes(to task.Status) {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	switch to {
	case task.StatusDrafting, task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	default:
		w.Draft(settings)
	}
	switch to {
	case task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
		})
	case task.StatusCancelled:
		w.Cancel()
	case task.StatusExpired:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.Expire(w.Now().Add(1000 * time.Hour)) })
	case task.StatusRunning, task.StatusDone, task.StatusFailed, task.StatusToRetry:
		w.AskForSteps(Message(1, "営業部の勤怠をお送りします。"))
		w.Approve()
		w.Begin()
	}
	switch to {
	case task.StatusDone:
		w.Ran(Inline(string(Message(1, "営業部の勤怠をお送りします。").ToolInput)), Inline(`{"ok":true}`))
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "営業部の勤怠を送りました。", w.Now())
		})
	case task.StatusFailed, task.StatusToRetry:
		why := map[task.Status]aggregate.Reason{
			task.StatusFailed: task.ReasonToolValue, task.StatusToRetry: task.ReasonStepsChanged,
		}[to]
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FailExecution(a.Head.Run, why, "", w.Now())
		})
	}
}

// Sixty makes a request with as many steps as there may be, after three versions of the policy and two of the steps,
// and executes them. Each returns a table.
func (w *World) Sixty() {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	w.Made(Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "全員に今月の勤怠を送って"})
	for n := range 3 {
		if w.Draft(settings); n < 2 {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return decide.Reject("宛先をもう一度確かめてください。")(a, a.Prompt().ID, w.By, w.AnyMember(), w.Now())
			})
		}
	}
	var steps []task.Step
	for n := range task.MaxSteps {
		steps = append(steps, Message(n+1, "今月の勤怠をお送りします。内容に誤りがあれば、金曜日までに人事へお知らせください。"))
	}
	w.AskForSteps(steps...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("送る順に並べてください。")(a, a.Process().ID, w.By, w.AnyMember(), w.Now())
	})
	slices.Reverse(steps)
	for i := range steps {
		steps[i].Order = i + 1
	}
	w.plan(steps)
	w.Approve()
	w.Begin()
	var sent []string
	for n := range 20 {
		sent = append(sent, fmt.Sprintf(`{"employee_id":"E%03d","name":"佐藤 花子","department":"営業部","worked_hours":%d}`, n,
			140+n))
	}
	result := Inline(`{"rows":[` + strings.Join(sent, ",") + `]}`)
	for _, s := range steps {
		w.Ran(Inline(string(s.ToolInput)), result)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "全員に今月の勤怠を送りました。", w.Now())
	})
}
