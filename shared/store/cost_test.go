package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// meter counts calls and their read and write units.
type meter struct {
	mu            sync.Mutex
	calls         int
	reads, writes float64
}

func (m *meter) RoundTrip(q *http.Request) (*http.Response, error) {
	asked, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	q.Body = io.NopCloser(bytes.NewReader(asked))
	res, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(said))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.count(asked, said)
	return res, nil
}

func (m *meter) count(asked, said []byte) {
	var in struct {
		ConsistentRead bool
		Item           map[string]any
		TransactItems  []map[string]struct {
			Item, Key, ExpressionAttributeValues map[string]any
		}
	}
	var out struct {
		Item  map[string]any
		Items []map[string]any
	}
	_ = json.Unmarshal(asked, &in)
	_ = json.Unmarshal(said, &out)
	read := 0
	for _, it := range append(out.Items, out.Item) {
		read += weight(it)
	}
	if half := float64((read + 4095) / 4096); in.ConsistentRead {
		m.reads += half
	} else {
		m.reads += half / 2
	}
	kib := func(n int) float64 { return float64((n + 1023) / 1024) }
	m.writes += kib(weight(in.Item))
	for _, x := range in.TransactItems {
		for _, action := range x {
			m.writes += 2 * kib(max(1, weight(action.Item), weight(action.ExpressionAttributeValues)))
		}
	}
}

// weight estimates the size that DynamoDB counts for a JSON value.
func weight(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			n += len(name) + weight(x)
		}
	case []any:
		for _, x := range v {
			n += 1 + weight(x)
		}
	case string:
		n = len(v)
	default:
		n = 1
	}
	return n
}

// TestQueriesCostTheSameHoweverManyRowsThereAre runs the queries over 10, 1,000 and 10,000 scored rounds of one tenant.
func TestQueriesCostTheSameHoweverManyRowsThereAre(t *testing.T) {
	expect.Patience(t)
	server := storetest.Start(t)
	var first map[string]float64
	for _, rows := range []int{10, 1_000, 10_000} {
		w := newWorld(t, server)
		id := w.fill(t, server, rows)
		costs := map[string]float64{}
		for name, ask := range map[string]func(*contestWorld) error{
			"board over all": func(x *contestWorld) error {
				return expect.Err(x.Board(t.Context(), contestTenant, store.ContestFilter{}, "", 0))
			},
			"board of a contest": func(x *contestWorld) error {
				return expect.Err(x.Board(t.Context(), contestTenant, store.ContestFilter{Execution: id}, "", 0))
			},
			"board of a team": func(x *contestWorld) error {
				return expect.Err(x.Board(t.Context(), contestTenant, store.ContestFilter{Team: "a"}, "", 0))
			},
			"round history": func(x *contestWorld) error {
				r, _, err := x.LoadRoundHistory(t.Context(), contestTenant, id, "a", 1)
				expect.That(t, r != nil, "no history")
				return err
			},
			"summary": func(x *contestWorld) error { return expect.Err(x.Summary(t.Context(), contestTenant, id)) },
		} {
			m := &meter{}
			expect.NoError(t, ask(w.through(server, m)))
			costs[name] = m.reads
			expect.That(t, m.calls <= 2, "%s of %d rows: %d calls", name, rows, m.calls)
		}
		t.Logf("%d rows: read units %v", rows, costs)
		if first == nil {
			first = costs
		}
		for name, is := range costs {
			expect.That(t, is <= first[name]+1 && is <= 12, "%s of %d rows reads %v units, of 10 rows %v", name, rows, is,
				first[name])
		}
	}
}

// fill writes one contest with two rounds, and the rows of the given number of further rounds.
func (w *contestWorld) fill(t *testing.T, server *storetest.Server, rows int) string {
	t.Helper()
	id := contest.NewID()
	m := &meter{}
	x := w.through(server, m)
	_, teams := x.begin(t, id, "a", "b")
	m.calls, m.reads, m.writes = 0, 0, 0
	x.save(t, id, "a", 1, 0.9)
	if rows == 10 {
		t.Logf("saving a round: %d calls, %v write units, %v read units", m.calls, m.writes, m.reads)
	}
	x.save(t, id, "b", 1, 0.8)
	expect.Value(x.Settle(t.Context(), contest.Ref(contestTenant, id), 1))(t)
	board := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t).Board[0]
	var writes []types.WriteRequest
	flush := func() {
		if len(writes) > 0 {
			expect.Value(w.db.BatchWriteItem(t.Context(),
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: writes}}))(t)
		}
		writes = nil
	}
	for i := range rows {
		b := *board
		b.EvaluationScore, b.CreatedAt, b.RoundNumber = float64(i%101)/100, board.CreatedAt.Add(time.Duration(i)*time.Second),
			i%5+1
		if i >= 10 && i%20 != 0 { // few rounds in one contest, many contests in the tenant
			b.ExecutionID = contest.NewID()
		}
		it := map[string]types.AttributeValue{
			"PK": text(fmt.Sprintf("TEAM#%s#%s.%d", contestTenant, b.ExecutionID,
				i)), "SK": text(b.Key()), "type": text(b.Type()),
			"team_id": text(b.TeamID), "evaluation_feedback": text(strings.Repeat("とても良い案です。",
				12)), "submission_content": text(strings.Repeat("稟", 300)),
		}
		for _, x := range b.Indexes(nil) {
			it[fmt.Sprintf("GSI%dPK", x.N)], it[fmt.Sprintf("GSI%dSK", x.N)] = text(x.PK), text(x.SK)
		}
		if writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}}); len(writes) == 25 {
			flush()
		}
	}
	flush()
	return id
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
