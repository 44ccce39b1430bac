package stories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const clients = 32

// stages are the states in which rounds begin, and the decisions besides cancelling that clients try there.
var stages = []struct {
	name  string
	reach func(t *testing.T, s *contested)
	moves func(s *contested, by aggregate.Actor) []task.Decision
}{
	{
		"the policy waits", func(t *testing.T, s *contested) { s.do(t, s.extract, s.finishPrompt) },
		func(s *contested, by aggregate.Actor) []task.Decision {
			return []task.Decision{s.approvePrompt(by), s.rejectPrompt(by), s.beginProcess, s.beginPrompt}
		},
	},
	{
		"the steps wait", func(t *testing.T, s *contested) {
			s.do(t, s.extract, s.finishPrompt, s.approvePrompt(person("U_FIRST")), s.finishProcess)
		},
		func(s *contested, by aggregate.Actor) []task.Decision {
			return []task.Decision{s.approveProcess(by), s.rejectProcess(by), s.start, s.cancelExecution(by)}
		},
	},
	{
		"a generation is parked", func(t *testing.T, s *contested) {
			s.do(t, s.extract, func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", s.now)
			})
		},
		func(s *contested, by aggregate.Actor) []task.Decision {
			return []task.Decision{s.retryGeneration(by), s.finishPrompt, s.retryGeneration(by)}
		},
	},
	{
		"a call is out", func(t *testing.T, s *contested) {
			s.do(t, s.extract, s.finishPrompt, s.approvePrompt(person("U_FIRST")), s.finishProcess,
				s.approveProcess(person("U_FIRST")), s.start, s.claim)
		},
		func(s *contested, by aggregate.Actor) []task.Decision {
			return []task.Decision{s.finish(task.StepCompleted), s.finish(task.StepFailed), s.claim, s.fail,
				s.cancelExecution(by), s.retry(by)}
		},
	},
	{
		"the execution failed", func(t *testing.T, s *contested) {
			s.do(t, s.extract, s.finishPrompt, s.approvePrompt(person("U_FIRST")), s.finishProcess,
				s.approveProcess(person("U_FIRST")), s.start, s.claim, s.finish(task.StepFailed), s.fail)
		},
		func(s *contested, by aggregate.Actor) []task.Decision {
			return []task.Decision{s.retry(by), s.retry(by), s.start, s.claim, s.cancelExecution(by)}
		},
	},
}

// TestThirtyTwoClientsAtOnce lets clients decide, cancel and retry on one task, round after round.
func TestThirtyTwoClientsAtOnce(t *testing.T) {
	t.Parallel()
	server := storetest.Start(t)
	st, _ := server.Store(t)
	rounds := len(stages)
	if expect.Long() {
		rounds = 200
	}
	t.Logf("seed %d", expect.Seed())
	began, changes := time.Now(), 0
	for i := range rounds {
		r := race(t, st, i)
		changes += r.changes
		if len(r.wrong) > 0 {
			t.Fatalf("seed %d, round %d, %s:\n%s", expect.Seed(), i, r.stage, strings.Join(r.wrong, "\n"))
		}
	}
	t.Logf("%d rounds of %d clients, %d changes, in %s", rounds, clients, changes,
		time.Since(began).Round(time.Millisecond))
}

// TestARaceThatIsLostIsSeen is the control: with a store whose conditions are removed, the same rounds must find
// violations.
func TestARaceThatIsLostIsSeen(t *testing.T) {
	t.Parallel()
	server := storetest.Start(t)
	_, table := server.Store(t)
	st := store.NewTasks(over(server, unconditional{}), table)
	for i := range 40 {
		if r := race(t, st, i); len(r.wrong) > 0 {
			t.Logf("round %d, %s: %s", i, r.stage, r.wrong[0])
			return
		}
	}
	t.Error("40 rounds without conditions, and nothing was seen")
}

// unconditional makes every condition of a transaction true.
type unconditional struct{}

func (unconditional) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	always := []byte(`"ConditionExpression":"attribute_exists(PK) OR attribute_not_exists(PK) OR `)
	body = bytes.ReplaceAll(body, []byte(`"ConditionExpression":"`), always)
	out := r.Clone(r.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return http.DefaultTransport.RoundTrip(out)
}

// result is the result of one round.
type result struct {
	stage   string
	changes int
	wrong   []string
}

// move is a change whose client was told that it is committed.
type move struct {
	by     string
	change aggregate.Change
}

// race lets all clients decide on one task and checks the rows.
func race(t *testing.T, st *store.TaskStore, round int) result {
	t.Helper()
	stage := stages[round%len(stages)]
	draw := rand.New(rand.NewPCG(expect.Seed(), uint64(round)))
	s := begin(t, st)
	stage.reach(t, s)
	before := s.load(t)
	audited := len(audit(t, s))

	var mu sync.Mutex
	var won []move
	wrong := []string{}
	var all sync.WaitGroup
	gun := make(chan struct{})
	for i := range clients {
		by := person(fmt.Sprintf("U_%02d", i))
		moves := append(stage.moves(s, by), s.cancel(by))
		d := moves[draw.IntN(len(moves))]
		if draw.IntN(4) > 0 { // cancels are rare, or nothing else would ever win
			d = moves[draw.IntN(len(moves)-1)]
		}
		all.Go(func() {
			<-gun
			var last aggregate.Change
			_, err := st.Decide(context.Background(), s.ref, func(a *task.Aggregate) (aggregate.Change, error) {
				c, err := d(a)
				last = c
				return c, err
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !last.Empty():
				won = append(won, move{by.ID, last})
			case err != nil && !expected(err):
				wrong = append(wrong, fmt.Sprintf("%s got %v", by.ID, err))
			}
		})
	}
	close(gun)
	all.Wait()
	after := s.load(t)
	wrong = append(wrong, violations(before, after, won)...)
	if diff := cmp.Diff(entries(won), audit(t, s)[audited:], cmpopts.SortSlices(strings.Compare)); diff != "" {
		wrong = append(wrong, "audit log against the changes that were made:\n"+diff)
	}
	return result{stage.name, len(won), wrong}
}

// violations lists the design's invariants that the rows break.
func violations(before, after *task.Aggregate, won []move) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if want := before.Head.Rev + len(won); after.Head.Rev != want {
		complain("the head is at rev %d after %d changes of rev %d", after.Head.Rev, len(won), before.Head.Rev)
	}
	// Every row is as the last change wrote it, and each gate is decided once.
	writers := map[string][]string{}
	for _, m := range won {
		for _, r := range m.change.Rows {
			if verdict(r) != "" && verdict(before.Rows()[r.Key()]) == "" {
				writers[r.Key()] = append(writers[r.Key()], m.by)
			}
		}
	}
	for key, by := range writers {
		if len(by) > 1 {
			complain("%s was decided by %v", key, by)
		}
		if now := verdict(after.Rows()[key]); now == "" {
			complain("%s was decided by %v and is open again", key, by)
		}
	}
	for key, r := range after.Rows() {
		if r.Revision() > after.Head.Rev {
			complain("%s is of rev %d, the head of %d", key, r.Revision(), after.Head.Rev)
		}
	}
	if e := after.Head.Ended; e != nil && e.As == task.TaskCancelled {
		if _, open := after.OpenGate(); open || after.Task.Status != task.TaskCancelled {
			complain("cancelled, and the task is %s", after.Task.Status)
		}
		if x := after.Execution(); x != nil && (x.Status == task.ExecutionRunning || x.Status == task.ExecutionPending) {
			complain("cancelled, and the execution is %s", x.Status)
		}
	}
	for i, x := range after.Executions {
		if x.Attempt != i+1 || i < len(after.Executions)-1 && x.Status != task.ExecutionFailed {
			complain("attempt %d of %d is %s", x.Attempt, len(after.Executions), x.Status)
		}
	}
	return wrong
}

// verdict returns a gate's decision, or "".
func verdict(r aggregate.Row) string {
	status := aggregate.GateStatus("")
	switch r := r.(type) {
	case *task.Prompt:
		status = r.Status
	case *task.Process:
		status = r.Status
	}
	if status == aggregate.Generating || status == aggregate.PendingApproval {
		return ""
	}
	return string(status)
}

// entries returns the audit entries of the changes.
func entries(won []move) []string {
	out := []string{}
	for _, m := range won {
		for _, x := range m.change.Audit {
			out = append(out, string(x.Action)+" by "+x.ActorID)
		}
	}
	return out
}

// audit returns the task's audit log, oldest first.
func audit(t *testing.T, s *contested) []string {
	page := expect.Value(s.store.Audit(context.Background(), s.ref.Tenant, store.AuditFilter{Resource: s.ref.ID}, "",
		100))(t)
	out := []string{}
	for _, x := range slices.Backward(page.Items) {
		out = append(out, string(x.Action)+" by "+x.ActorID)
	}
	return out
}

// TestTheEmulatorKeepsItsWord checks what the other tests rely on. The unpatched emulator fails it: two of 32 clients
// win, or one wins and leaves two entries.
func TestTheEmulatorKeepsItsWord(t *testing.T) {
	t.Parallel()
	server := storetest.Start(t)
	_, table := server.Store(t)
	rounds := 5
	if expect.Long() {
		rounds = 100
	}
	for i := range rounds {
		pk := fmt.Sprint("CONTROL#", i)
		expect.Value(server.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table,
			Item: row(pk, "COUNTER", map[string]string{"v": "0"})}))(t)
		swapped := atOnce(t, func(who int) error {
			_, err := server.DB.TransactWriteItems(context.Background(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Update: &types.Update{TableName: &table, Key: row(pk, "COUNTER", nil),
						UpdateExpression: aws.String("SET v = v + :one"), ConditionExpression: aws.String("v = :old"),
						ExpressionAttributeValues: map[string]types.AttributeValue{":old": number("0"), ":one": number("1")}}},
					{Put: &types.Put{TableName: &table, Item: row(pk, fmt.Sprintf("ENTRY#%02d", who), nil),
						ConditionExpression: aws.String("attribute_not_exists(PK)")}},
				}})
			return err
		})
		put := atOnce(t, func(who int) error {
			_, err := server.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &table,
				Item: row(pk, "ONCE", nil), ConditionExpression: aws.String("attribute_not_exists(PK)")})
			return err
		})
		atOnce(t, func(int) error {
			_, err := server.DB.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{TableName: &table,
				Key: row(pk, "SUM", nil), UpdateExpression: aws.String("ADD v :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": number("1")}})
			return err
		})
		out := expect.Value(server.DB.Query(t.Context(), &dynamodb.QueryInput{TableName: &table,
			ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}}}))(t)
		values := map[string]string{}
		for _, it := range out.Items {
			if v, ok := it["v"].(*types.AttributeValueMemberN); ok {
				values[it["SK"].(*types.AttributeValueMemberS).Value] = v.Value
			}
		}
		expect.That(t, swapped == 1 && put == 1 && len(out.Items) == 4 && values["COUNTER"] == "1" &&
			values["SUM"] == fmt.Sprint(clients),
			"round %d: %d swapped, %d put, %d items, counter %s, sum %s; want 1, 1, 4, 1, %d", i, swapped, put,
			len(out.Items), values["COUNTER"], values["SUM"], clients)
	}
}

// atOnce runs do for all clients at once and counts those whose condition held.
func atOnce(t *testing.T, do func(who int) error) (won int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for who := range clients {
		all.Go(func() {
			err := do(who)
			var cancelled *types.TransactionCanceledException
			var failed *types.ConditionalCheckFailedException
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.As(err, &cancelled) && !errors.As(err, &failed):
				t.Error(err)
			}
		})
	}
	all.Wait()
	return won
}

func row(pk, sk string, numbers map[string]string) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk},
		"SK": &types.AttributeValueMemberS{Value: sk}}
	for name, n := range numbers {
		out[name] = number(n)
	}
	return out
}

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
