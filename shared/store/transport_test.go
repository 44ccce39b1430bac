package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// fault meets calls of one operation, or of all if that is empty, as often as left says, and lets all others through.
type fault struct {
	operation string
	meet      func(*http.Request) (*http.Response, error)
	left, met atomic.Int32
}

func faulty(operation string, times int32, meet func(*http.Request) (*http.Response, error)) *fault {
	f := &fault{operation: operation, meet: meet}
	f.left.Store(times)
	return f
}

func (f *fault) RoundTrip(r *http.Request) (*http.Response, error) {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if f.operation != "" && name != f.operation || f.left.Add(-1) < 0 {
		return http.DefaultTransport.RoundTrip(r)
	}
	f.met.Add(1)
	return f.meet(r)
}

// always is more often than any test calls.
const always = 1 << 30

// counting only counts calls.
func counting() *fault { return faulty("", always, http.DefaultTransport.RoundTrip) }

// dropping lets calls through and drops their answers.
func dropping(operation string, answers int32) *fault {
	return faulty(operation, answers, func(r *http.Request) (*http.Response, error) {
		if res, err := http.DefaultTransport.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		return nil, errors.New("connection reset by peer")
	})
}

// refusing answers calls itself.
func refusing(operation, body string, times int32) *fault {
	return faulty(operation, times, func(r *http.Request) (*http.Response, error) {
		return answer(r, http.StatusBadRequest, []byte(body)), nil
	})
}

// unreachable fails transactions before they are sent.
func unreachable() *fault {
	return faulty("TransactWriteItems", always, func(*http.Request) (*http.Response, error) {
		return nil, errors.New("no route to host")
	})
}

// editing changes the answers of queries.
func editing(edit func([]byte) []byte) *fault {
	return faulty("Query", always, func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return answer(r, res.StatusCode, edit(body)), err
	})
}

func answer(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: r}
}

var token = regexp.MustCompile(`,"ClientRequestToken":"[^"]*"|"ClientRequestToken":"[^"]*",`)

// forgetting removes the token by which DynamoDB recognises a repeated transaction.
func forgetting(next *fault) *fault {
	return changing(func(body []byte) []byte { return token.ReplaceAll(body, nil) }, next)
}

// changing changes the bodies of transactions.
func changing(change func([]byte) []byte, next *fault) *fault {
	return faulty("", always, func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = change(body)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		return next.RoundTrip(r)
	})
}

// A query is no snapshot: it may return a row from before a commit together with the head from after it. No decision
// over such rows may be committed.
func testTornReads(t *testing.T, st *taskStore) {
	toPrompt := []decision{extract, beginPrompt, finishPrompt}
	toExecution := append(append([]decision{}, toPrompt...), approvePrompt, beginProcess, finishProcess(1),
		approveProcess, start)
	toResult := append(append([]decision{}, toExecution...), claim(1), finishStep(1))

	for i, c := range []struct {
		name   string
		before []decision
		row    func(*task.Aggregate) aggregate.Row // row of which the query returns the old version
		moves  decision                            // decision that changes that row between the reads
		torn   decision                            // decision over the old row and the new head
	}{
		{
			"a claim that did not see the cancelled execution", toExecution,
			func(a *task.Aggregate) aggregate.Row { return a.Execution() }, cancel, forgetEnd(claim(1)),
		},
		{
			"an approval that did not see the rejection", toPrompt,
			func(a *task.Aggregate) aggregate.Row { return a.Prompt() }, rejectPrompt, approvePrompt,
		},
		{
			"a completion that did not see the cancellation", toResult,
			func(a *task.Aggregate) aggregate.Row { return a.Execution() }, cancel,
			forgetEnd(func(a *task.Aggregate) (aggregate.Change, error) {
				open := *a.Task
				open.Status = task.TaskRunning
				a.Task = &open
				return a.CompleteExecution(a.Head.Run, "", at())
			}),
		},
		{
			"a prompt that only relied on the task and did not see it cancelled", []decision{extractLast},
			func(a *task.Aggregate) aggregate.Row { return a.Task }, cancel, forgetEnd(beginPrompt),
		},
	} {
		t.Run(c.name+" fails", func(t *testing.T) {
			ref := created(t, st, i)
			decided(t, st, ref, c.before...)
			old := &wire{}
			a := expect.Value(st.over(editing(old.keep)).Load(t.Context(), ref))(t)
			decided(t, st, ref, c.moves)
			before := loaded(t, st, ref)

			tear := editing(func(b []byte) []byte { return old.into(b, c.row(a).Key()) })
			torn := expect.Value(st.over(tear).Load(t.Context(), ref))(t)
			expect.Must(t, torn.Head.Rev == before.Head.Rev && c.row(torn).Revision() == c.row(a).Revision() &&
				c.row(before).Revision() != c.row(a).Revision(), "the read was not torn")
			change, err := c.torn(torn)
			expect.Must(t, err == nil, "the torn rows refuse by themselves, which proves nothing: %v", err)
			wantError(t, expect.Err(st.Commit(t.Context(), torn, change)), aggregate.ErrConflict)
			after := headOf(t, st, ref)
			expect.Is(t, after.Rev, before.Head.Rev, "the head moved from rev %d to", before.Head.Rev)
		})
	}
}

// forgetEnd hides the head's end, so that not only the end refuses the decision.
func forgetEnd(d decision) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		open := *a
		open.Head.Ended = nil
		return d(&open)
	}
}

// wire is the raw answer to a query.
type wire struct{ items []map[string]json.RawMessage }

func (w *wire) keep(body []byte) []byte {
	var answer struct {
		Items []map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err == nil {
		w.items = answer.Items
	}
	return body
}

// into replaces one row of another answer by its saved version.
func (w *wire) into(body []byte, sortKey string) []byte {
	var now wire
	now.keep(body)
	same := func(it map[string]json.RawMessage) bool {
		var sk struct{ S string }
		return json.Unmarshal(it["SK"], &sk) == nil && sk.S == sortKey
	}
	for i := range now.items {
		for _, old := range w.items {
			if same(now.items[i]) && same(old) {
				now.items[i] = old
			}
		}
	}
	out, err := json.Marshal(map[string]any{"Items": now.items, "Count": len(now.items), "ScannedCount": len(now.items)})
	if err != nil {
		return body
	}
	return out
}

func testLostAnswers(t *testing.T, st *taskStore) {
	for i, c := range []struct {
		name    string
		lose    int32
		options []func(*dynamodb.Options)
	}{
		{"once, and the call is repeated", 1, nil},
		{"once, and the call is not repeated", 1, []func(*dynamodb.Options){oneTry}},
		{"each time", 100, nil},
	} {
		losing := func(operation string) (*taskStore, *fault) {
			d := dropping(operation, c.lose)
			return st.over(d, c.options...), d
		}
		t.Run("of a commit, "+c.name, func(t *testing.T) {
			ref := waitingPrompt(t, st, 10*i)
			through, d := losing("TransactWriteItems")
			after := committed(t, through, ref, approvePrompt)
			loaded := loaded(t, st, ref)
			expect.That(t, d.met.Load() != 0, "no answer was lost: the test proves nothing")
			expect.That(t, after.Head.Rev == loaded.Head.Rev && loaded.Prompt().Status == aggregate.Approved,
				"rev %d returned, %d in the table, prompt %s", after.Head.Rev, loaded.Head.Rev, loaded.Prompt().Status)
			expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
		})
		t.Run("of a claim of a card, "+c.name, func(t *testing.T) {
			if c.lose > 1 || c.options != nil {
				return // the answer to this call is lost too
			}
			ref := created(t, st, 10*i+1)
			through, _ := losing("UpdateItem")
			expect.Value(through.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at()))(t)
		})
	}

	st.parts(t, []part{
		{"of a create that is repeated", testLostCreate},
		{"and the table has forgotten the token", testForgottenToken},
		{"a commit that did not arrive is an error", testNoArrival},
	})
}

func testLostCreate(t *testing.T, st *taskStore) {
	d := dropping("TransactWriteItems", 1)
	c, _ := received(t, 100)
	expect.NoError(t, st.over(d).Create(t.Context(), c))
	expect.Is(t, d.met.Load(), 1, "no answer was lost")
}

func testForgottenToken(t *testing.T, st *taskStore) {
	// The repeated call finds its own earlier write.
	ref := waitingPrompt(t, st, 101)
	d := dropping("TransactWriteItems", 1)
	committed(t, st.over(forgetting(d)), ref, approvePrompt)
	expect.Is(t, d.met.Load(), 1, "no answer was lost")
	expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
	d.left.Store(1)
	c, _ := received(t, 102)
	err := st.over(forgetting(d)).Create(t.Context(), c)
	expect.That(t, err == nil, "create: %v", err)
}

func testNoArrival(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 103)
	_, err := st.over(unreachable(), oneTry).Decide(t.Context(), ref, approvePrompt)
	expect.That(t, err != nil && !errors.Is(err, aggregate.ErrConflict), "%v, want an error that is no conflict", err)
	if a, err := st.Load(t.Context(), ref); err != nil || a.Prompt().Status != aggregate.PendingApproval {
		t.Errorf("prompt %s, %v", a.Prompt().Status, err)
	}
}

// committed commits a decision in one try: deciding again would hide the commit's error.
func committed(t *testing.T, s *taskStore, ref aggregate.Ref, d decision) *task.Aggregate {
	t.Helper()
	a := loaded(t, s, ref)
	c := expect.Value(d(a))(t)
	return expect.Value(s.Commit(t.Context(), a, c))(t)
}

func countAudit(t *testing.T, s *taskStore, ref aggregate.Ref, action aggregate.Action) int {
	t.Helper()
	n := 0
	for _, it := range rows(t, s, "AUDIT#"+ref.Tenant+"#2026-04") {
		if table.TextOf(it, "task_id") == ref.ID && table.TextOf(it, "action") == string(action) {
			n++
		}
	}
	return n
}
