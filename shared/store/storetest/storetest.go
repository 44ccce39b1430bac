// Package storetest gives tests of other packages a store over a real DynamoDB API.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// Server is the one database server of a test binary.
type Server struct {
	DB        *dynamodb.Client
	Config    aws.Config        // of the other services that the server emulates
	Transport http.RoundTripper // of both; in a function's tests it checks calls against the role
}

const region, accessKey = "us-east-1", "local"

// tables numbers the tables of all tests, since they share the server.
var tables atomic.Int32

// described is what template.yaml describes, read once: that takes longer than most tests.
var described = sync.OnceValues(func() (*template.Template, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	return template.Read(filepath.Join(root, "template.yaml"), template.Names{}, map[string]string{"Stage": "dev"})
})

// Start starts the server unless an earlier test did. The server is shared with other tests.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, awshttp.NewBuildableClient())
}

// StartForBubble starts the server for tests with testing/synctest: no connection to it outlives its request.
func StartForBubble(t testing.TB) *Server {
	t.Helper()
	closes := func(t *http.Transport) { t.DisableKeepAlives = true }
	return start(t, awshttp.NewBuildableClient().WithTransportOptions(closes))
}

func start(t testing.TB, client *awshttp.BuildableClient) *Server {
	t.Helper()
	endpoint := process.MotoForTests(t)
	cfg := aws.Config{Region: region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "local", "")}
	s := &Server{Transport: judged(t, client.GetTransport())}
	cfg.HTTPClient = &http.Client{Transport: s.Transport}
	s.DB, s.Config = dynamodb.NewFromConfig(cfg), cfg
	return s
}

// Store returns a store over a new table that is created as template.yaml describes it, and the table's name.
func (s *Server) Store(t testing.TB) (*store.TaskStore, string) {
	t.Helper()
	described := expect.Value(described())(t)
	name := fmt.Sprintf("rows-%d", tables.Add(1))
	expect.Value(s.DB.CreateTable(t.Context(), described.Tables[0].Input(name)))(t)
	return store.NewTasks(s.DB, name), name
}

// Rows stores every value in its row, whatever its size.
type Rows struct{}

func (Rows) KeepContest(_ context.Context, _ aggregate.Ref, v json.RawMessage, _ int) (aggregate.Blob, error) {
	return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
}

func (r Rows) KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return r.KeepContest(ctx, ref, v, inline)
}

func (Rows) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	return json.RawMessage(b.JSON), nil
}

func (r Rows) KeepPayload(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return r.KeepContest(ctx, ref, v, 0)
}

func (r Rows) KeepReads(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return r.KeepContest(ctx, ref, v, 0)
}

// Copy fails: rows have no objects.
func (Rows) Copy(context.Context, aggregate.Copy) error { return errors.New("rows have no objects") }

// Store returns a store of contests over a new table.
func Store(t testing.TB, server *Server) *store.ContestStore {
	t.Helper()
	_, table := server.Store(t)
	return Over(server.DB, table)
}

// Over returns a store of contests over an existing table.
func Over(db *dynamodb.Client, table string) *store.ContestStore {
	return store.ContestsOf(store.New(db, table, contest.Kind, contest.TeamKind), Rows{})
}

// Begin begins a contest whose end nobody needs to be told.
func Begin(t testing.TB, s *store.ContestStore, o contest.Order) error {
	t.Helper()
	c := expect.Value(contest.Begin(o, s.Now()))(t)
	c.Rows[0].(*contest.Contest).Told = true
	return s.Create(t.Context(), contest.Ref(o.Tenant, o.Execution), c)
}

// Order returns an order of a contest of these teams without a configuration.
func Order(teams ...string) contest.Order {
	o := contest.Order{
		Execution: contest.NewID(), Tenant: aggregate.TenantID("T1"), Prompt: "経費精算の手順", Locale: "ja", MaxRounds: 5,
		TeamTimeoutSeconds: 300,
		Budget:             aggregate.USD(1), Config: aggregate.Blob{JSON: "{}", Bytes: 2},
		For: task.RefOf(aggregate.TenantID("T1"), aggregate.NewID()), ForRow: task.PromptKey(1),
	}
	for _, t := range teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t, TeamName: "チーム " + t})
	}
	return o
}

// Round returns a scored round of a team with only the required fields.
func Round(execution string, of contest.Entry, number int, text string, score float64, at time.Time) store.Played {
	return store.Played{ScoredRound: contest.ScoredRound{
		Result: contest.RoundResult{
			ExecutionID: execution, TeamID: of.TeamID, TeamName: of.TeamName, RoundNumber: number, SubmissionContent: text,
			EvaluationScore: score, CompletedAt: at,
		},
		Record: contest.MemberSubmissionsRecord{ExecutionID: execution, TeamID: of.TeamID, TeamName: of.TeamName,
			RoundNumber: number},
	}}
}

// Bucket stands in for the bucket of results in tests that only draw cards. It maps keys to large arguments, and counts
// under FetchCount how often they were opened.
type Bucket map[string]aggregate.JSON

// FetchCount is the key under which a Bucket has one digit for each time that arguments were opened.
const FetchCount = "fetched"

func (s Bucket) Opened(_ context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error) {
	out := *a
	out.Gates = slices.Clone(a.Gates)
	for i, g := range out.Gates {
		if g.Arguments.S3Key != "" && (gate == g.ID || gate == g.Key()) {
			opened := *g
			opened.Arguments.JSON = s[g.Arguments.S3Key]
			out.Gates[i] = &opened
			s[FetchCount] += "1"
		}
	}
	return &out, nil
}

// Open is large.Store's Open: a missing object has expired.
func (s Bucket) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if b.S3Key == "" {
		return json.RawMessage(b.JSON), nil
	}
	if v, ok := s[b.S3Key]; ok {
		return json.RawMessage(v), nil
	}
	return nil, large.ErrExpired
}

// FileKey is the key of a request's file, by its hash.
func FileKey(ref aggregate.Ref, sum string) string {
	return "files/" + ref.Tenant + "/" + ref.ID + "/" + sum
}

// KeepFile is large.Store's KeepFile, and attaches the file.
func (s Bucket) KeepFile(_ context.Context, ref aggregate.Ref, file []byte) error {
	s[FileKey(ref, aggregate.HashOf(string(file)))] = aggregate.JSON(file)
	return nil
}

func (s Bucket) Attached(_ context.Context, ref aggregate.Ref, sum string) ([]byte, error) {
	v, ok := s[FileKey(ref, sum)]
	if !ok {
		return nil, large.ErrExpired
	}
	return []byte(v), nil
}

func (s Bucket) AttachedAddress(_ context.Context, ref aggregate.Ref, sum, name string) (string, error) {
	return "https://bucket.example/" + FileKey(ref, sum) + "?as=" + url.QueryEscape(name), nil
}

// Copy is large.Store's Copy, without its check.
func (s Bucket) Copy(_ context.Context, c aggregate.Copy) error {
	v, ok := s[c.From]
	if !ok {
		return large.ErrExpired
	}
	s[c.To] = v
	return nil
}

// KeepPayload is large.Store's KeepPayload, which stores every value as an object.
func (s Bucket) KeepPayload(_ context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	key := "talks/" + ref.Tenant + "/" + ref.ID + "/" + aggregate.HashOf(string(v)) + ".json"
	s[key] = aggregate.JSON(v)
	return aggregate.Blob{Bytes: len(v), S3Key: key}, nil
}

func (s Bucket) KeepContest(_ context.Context, _ aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return s.keep("contests/", v, inline)
}

func (s Bucket) KeepTurn(_ context.Context, _ aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return s.keep("turns/", v, inline)
}

func (s Bucket) keep(below string, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	key := below + aggregate.HashOf(string(v))
	s[key] = aggregate.JSON(v)
	return aggregate.Blob{Bytes: len(v), S3Key: key}, nil
}

// rows has JSON for each setting that is a list of rows.
var rows = map[string]string{
	"mcp_servers": `[{"name":"rooms","url":"https://rooms.example.com/mcp"}]`,
	"prices":      `[{"model":"compatible:box/llama3.2","input":"0.10","output":"0.40"}]`,
	"matters":     `[{"name":"固定資産"}]`,
	"agents": `[{"id":"docs","provider":"anthropic","model":"claude-haiku-5-5","capabilities":["code"],` +
		`"is_default":true}]`,
	"listed_reads": `[{"agent":"docs","tool":"list_employees",` +
		`"version":"0000000000000000000000000000000000000000000000000000000000000000","people":["U012"]}]`,
	"sources": `[{"name":"shop","repository":"acme/shop","ref":"heads/main","people":["everybody"],` +
		`"agents":["docs"],"ci":"skip"}]`,
	"auto_actions": `[{"type":"test_run","argv":["go","test","./..."],"place":"D1"}]`,
}

// Changed returns valid settings that all differ from their defaults.
func Changed(t *testing.T) tenancy.Settings {
	t.Helper()
	s := tenancy.DefaultSettings()
	for _, f := range s.Fields() {
		v := f.Value
		switch f.Kind {
		case tenancy.KindFlag:
			v.SetBool(!v.Bool())
		case tenancy.KindWhole:
			n := int64(f.Min + 1)
			if n == v.Int() {
				n++
			}
			v.SetInt(n)
		case tenancy.KindDollars:
			v.SetFloat(v.Float() + 1.5)
		case tenancy.KindText:
			if v.SetString(v.String() + "2"); f.Code == "channel_id" {
				v.SetString("C0HOME")
			}
			if f.Code == "clock" {
				v.SetString("10:15")
			}
		case tenancy.KindChoice:
			v.SetString(f.Choices[len(f.Choices)-1])
		case tenancy.KindPeople:
			v.Set(reflect.ValueOf([]string{"U0SATO", "U0SUZUKI"}))
		case tenancy.KindGroups:
			v.Set(reflect.ValueOf([]string{"S0HR"}))
		case tenancy.KindRows:
			err := json.Unmarshal([]byte(rows[f.Name]), v.Addr().Interface())
			expect.Must(t, err == nil, "%s needs a row here: %v", f.Name, err)
		default:
			t.Fatalf("%s is of no kind", f.Name)
		}
	}
	all := s.Problems()
	expect.Must(t, all == nil, "%+v", all)
	return s
}
