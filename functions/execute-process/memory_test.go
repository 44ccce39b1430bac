package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/infra/local/template"
	"ringi/infra/local/vendors"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/runner"
)

// vendorOf names, for the process that is measured, the address of what stands in for vendors.
const vendorOf = "RINGI_TEST_VENDOR"

// An execution whose steps return and write the largest results fits into the function's memory.
func TestTheLargestResultsFitIntoTheMemory(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "/largest") {
			_, _ = io.WriteString(w, largest())
			return
		}
		_, _ = io.WriteString(w, `{"updates":{"updatedRows":1,"updatedRange":"A1:B2"},`+
			`"sheets":[{"properties":{"sheetId":1,"title":"名簿"}}]}`)
	}))
	defer s.Close()
	template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() { executeLargest(t) })
}

// numbered is a server whose results are the largest, each with a content of its own.
func numbered() *httptest.Server {
	var calls atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"call":%d,%s`, calls.Add(1), largest()[1:])
	}))
}

// So does a step that refers to as many of the largest results, each with a content of its own.
func TestAStepThatRefersToLargestResultsFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t) // TestTheLargestResultsFitIntoTheMemory is a sample
	const reads = 5
	s := numbered()
	defer s.Close()
	template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() {
		w := newWorld(t, pipelinetest.Start(t))
		w.tools.Tools = fetched{w.tools.Tools, os.Getenv(vendorOf)}
		var steps []task.Step
		var rows []string
		var want []task.StepStatus
		for i := range reads {
			steps, want = append(steps, w.read(i+1)), append(want, task.StepCompleted)
			rows = append(rows, fmt.Sprintf(`{"n":{"$ref":"step-%d.result.employees.0.display_name"}}`, i+1))
		}
		last := w.lone(reads + 1)
		last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), `{"n":"a"},{"n":"b"}`,
			strings.Join(rows, ",")))
		w.approved(append(steps, last)...)
		template.Settle(t)
		w.run()
		w.ends(task.ExecutionCompleted, "", append(want, task.StepCompleted)...)
	})
}

// The summary of many such results needs no more than one of them at a time.
func TestTheSummaryOfManyLargestResultsFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t) // TestTheLargestResultsFitIntoTheMemory is a sample
	s := numbered()
	defer s.Close()
	template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() {
		w := newWorld(t, pipelinetest.Start(t))
		w.tools.Tools = fetched{w.tools.Tools, os.Getenv(vendorOf)}
		var steps []task.Step
		var want []task.StepStatus
		for i := range 24 {
			steps, want = append(steps, w.read(i+1)), append(want, task.StepCompleted)
		}
		w.approved(steps...)
		template.Settle(t)
		w.run()
		w.ends(task.ExecutionCompleted, "", want...)
	})
}

// Neither do arguments take more than it has that refer to much, several times or of many small values: they are too
// large to be called with.
func TestReferencesToMuchFitIntoTheMemory(t *testing.T) {
	expect.AtNight(t) // TestTheLargestResultsFitIntoTheMemory is a sample
	small := strings.TrimSuffix(strings.Repeat(`{"id":123456},`, (3500<<10)/14), ",")
	for name, tt := range map[string]struct {
		result string
		steps  []int // that the last one refers to
	}{
		"small values, which a check copies": {`"employees":[` + small + `]`, []int{1}},
		"small values of two results":        {`"employees":[` + small + `]`, []int{1, 2}},
		"the same result fifty times":        {largest()[1:], slices.Repeat([]int{1}, 50)},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprintf(w, `{"call":%d,%s}`, calls.Add(1), strings.TrimSuffix(tt.result, "}"))
			}))
			defer s.Close()
			template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() { refersTo(t, tt.steps) })
		})
	}
}

func refersTo(t *testing.T, results []int) {
	w := newWorld(t, pipelinetest.Start(t))
	w.tools.Tools = fetched{w.tools.Tools, os.Getenv(vendorOf)}
	var steps []task.Step
	var rows []string
	var want []task.StepStatus
	for i := range slices.Max(results) {
		steps, want = append(steps, w.read(i+1)), append(want, task.StepCompleted)
	}
	for _, n := range results {
		rows = append(rows, fmt.Sprintf(`{"n":{"$ref":"step-%d.result.employees"}}`, n))
	}
	last := w.lone(len(steps) + 1)
	last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), `{"n":"a"},{"n":"b"}`,
		strings.Join(rows, ",")))
	w.approved(append(steps, last)...)
	template.Settle(t)
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonBadArguments, want...)
}

// largest is the largest result that can be stored: a list of which as much as arguments may hold is used.
func largest() string {
	row := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"num":"%[1]d","display_name":"山田 %[1]d","entry_date":"2026-04-01","department":"人事",`+
			`"position":"社員","address":"東京都千代田区丸の内一丁目一番一号 本社ビル十五階","phone":"03-0000-0000",`+
			`"note":null,"email":"taro%[1]d@example.com","retire_date":null}`, i)
	}
	list := func(bytes int) string {
		var rows []string
		for size := 0; size < bytes; size += len(rows[len(rows)-1]) + 1 {
			rows = append(rows, row(len(rows)))
		}
		return strings.Join(rows, ",")
	}
	rows := list(tool.MaxResolved - 2048)
	return `{"employees":[` + rows + `],"more":[` + list(large.MaxBytes-len(rows)-1024) + `]}`
}

// fetched are tools whose reads return the largest result.
type fetched struct {
	Tools
	url string
}

func (f fetched) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	if c.Tool != listing {
		return f.Tools.Run(ctx, c)
	}
	res, err := http.Get(f.url + "/largest")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return text, err
}

func executeLargest(t *testing.T) {
	url := os.Getenv(vendorOf)
	w := newWorld(t, pipelinetest.Start(t))
	real := expect.Value(runner.New(w.h.Catalog, runner.Config{
		SheetsURL: url + "/sheets", Credentials: tokens{w.vendors}, Now: w.h.Now,
	}))(t)
	w.tools.Tools = fetched{real, url}
	last := w.write(4)
	last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), "step-1", "step-3"))
	w.approved(w.read(1), w.write(2), w.read(3), last)
	template.Settle(t)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted, task.StepCompleted, task.StepCompleted)
}

// talkative is the rooms server, whose answers to bookings are changed.
type talkative struct {
	change func(answer string) string
	stream bool // they are events
}

func (s talkative) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	vendors.NewRooms().ServeHTTP(rec, r) // each try books anew
	answer, kind := rec.Body.String(), rec.Header().Get("Content-Type")
	if strings.Contains(answer, `"structuredContent":{"`) {
		if answer = s.change(strings.TrimSpace(answer)); s.stream {
			answer, kind = "data: "+answer+"\n\n", "text/event-stream"
		}
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(rec.Code)
	_, _ = io.WriteString(w, answer)
}

// beside adds members to the structured content.
func beside(members string) func(string) string {
	return func(answer string) string {
		return strings.Replace(answer, `"structuredContent":{"`, `"structuredContent":{`+members+`,"`, 1)
	}
}

// A server that answers with as many small values as an answer can hold, or as are decoded at all, does not end the
// function after its write was made.
func TestADenseAnswerFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t) // TestTheLargestResultsFitIntoTheMemory is a sample
	const most = 7900 << 10
	of := func(value string, bytes int) string {
		return strings.TrimSuffix(strings.Repeat(value+",", bytes/(len(value)+1)), ",")
	}
	more := func(value string, bytes int) func(string) string { return beside(`"more":[` + of(value, bytes) + `]`) }
	var few, named []string
	for n := range 1000 {
		few = append(few, fmt.Sprintf(`"m%d":{"":1}`, n))
	}
	for n := range most / len(strings.Join(few, ",")) {
		named = append(named, fmt.Sprintf(`"n%d":{%s}`, n, strings.Join(few, ",")))
	}
	for name, tt := range map[string]struct {
		server talkative
		kept   bool
	}{
		"small objects":                  {talkative{change: more(`{"id":123456}`, most)}, true},
		"empty objects":                  {talkative{change: more(`{}`, most)}, true},
		"numbers":                        {talkative{change: more(`1`, most)}, true},
		"as many objects as are decoded": {talkative{change: more(`{"id":123456}`, 3580<<10)}, true},
		"objects in objects":             {talkative{change: beside(strings.Join(named, ","))}, true},
		"a message in several lines": {talkative{stream: true,
			change: more("\ndata: "+of(`{"id":123456}`, 8<<10), most)}, true},
		"metadata": {talkative{change: func(answer string) string {
			return strings.Replace(answer, `"structuredContent":`,
				`"_meta":{"more":[`+of(`{"id":123456}`, most)+`]},"structuredContent":`, 1)
		}}, true},
		"many icons": {talkative{change: func(answer string) string {
			return strings.Replace(answer, `"content":[`, `"content":[{"type":"text","text":"","icons":[`+of(`{}`, most)+`]},`,
				1)
		}}, false},
		"what something follows": {talkative{change: func(answer string) string {
			return more(`{"id":123456}`, most)(answer) + "}"
		}}, false},
	} {
		t.Run(name, func(t *testing.T) { bookAtTalkative(t, tt.server, tt.kept) })
	}
}

func bookAtTalkative(t *testing.T, server talkative, kept bool) {
	s := httptest.NewServer(server)
	defer s.Close()
	template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() {
		url := os.Getenv(vendorOf)
		m := &meeting{world: newWorld(t, pipelinetest.Start(t))}
		reach := outbound.Dialer{Allow: []string{strings.TrimPrefix(url, "http://")}}.Client()
		m.tools.Tools = expect.Value(runner.New(m.h.Catalog, runner.Config{
			Credentials: tokens{m.vendors}, Outbound: reach, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}))(t)
		settings := tenancy.DefaultSettings()
		settings.MCPServers = []tenancy.MCPServer{{Name: "rooms", URL: url}}
		expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, pipelinetest.Approver(), m.Now()))(t)
		m.admin = mcp.Admin{Rows: m.Store, Credentials: tokens{m.vendors}, Client: mcp.Client{HTTP: reach}, Now: time.Now}
		m.allow(booking, aggregate.Write)
		m.approved(m.book(1))
		template.Settle(t)
		m.run()
		if kept {
			m.ends(task.ExecutionCompleted, "", task.StepCompleted)
		} else {
			m.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
		}
	})
}

// taken is a bucket that accepts everything.
type taken struct{}

func (taken) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

// BenchmarkCall measures the function's own work for one call of a tool that calls nobody: it inserts an earlier result
// into the arguments, checks them, previews them, and lets the runner call.
func BenchmarkCall(b *testing.B) {
	for _, people := range []int{1, 200, 1000} {
		b.Run(fmt.Sprint(people), func(b *testing.B) { benchmarkCall(b, people) })
	}
}

func benchmarkCall(b *testing.B, people int) {
	catalog := expect.Value(tool.Builtin())(b)
	tools := expect.Value(runner.New(catalog, runner.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}))(b)
	const name = "calculate_overtime"
	spec, _ := catalog.Lookup(name)
	record := `{"employee_id":%d,"num":"%[1]d","display_name":"山田 %[1]d","start_date":"2026-04-01",` +
		`"end_date":"2026-04-30","work_days":20,"total_work_mins":9600,"total_normal_work_mins":9000,` +
		`"total_excess_statutory_work_mins":60,"total_overtime_except_normal_work_mins":600,` +
		`"total_latenight_work_mins":0,"num_absences":0,"num_paid_holidays":1}`
	var records []string
	for i := range people {
		records = append(records, fmt.Sprintf(record, i+1))
	}
	attendance := aggregate.Blob{JSON: aggregate.JSON(`{"year":2026,"month":4,"records":[` + strings.Join(records, ",") +
		`]}`)}
	step := task.Step{StepID: "step-2", Order: 2, Tool: name, Access: aggregate.Read,
		ToolInput: `{"mode":"calculate","records":{"$ref":"step-1.result.records"}}`}
	e := &task.Execution{ProcessVersion: 1, Attempt: 1}
	a := &task.Aggregate{
		Prompts: []*task.Prompt{{}}, Processes: []*task.Process{{Version: 1,
			Steps: []task.Step{{StepID: "step-1", Order: 1}, step}}}, Executions: []*task.Execution{e},
		Steps: []*task.StepResult{{ProcessVersion: 1, Attempt: 1, Order: 1, StepID: "step-1", Status: task.StepCompleted,
			Result: &attendance}},
	}
	cfg := aws.Config{Region: "us-east-1", HTTPClient: taken{}, Credentials: aws.AnonymousCredentials{}}
	h := &Handler{Results: large.Open(cfg, boot.Results{ResultsBucket: "bucket"}), Tools: tools, Catalog: catalog,
		Now: time.Now}
	j := &job{Handler: h, results: &remembering{Results: h.Results}}
	for b.Loop() {
		_, arguments, err := j.prepare(b.Context(), a, j.fill(b.Context(), a, step), found{spec: spec, catalog: catalog})
		expect.NoError(b, err)
		expect.Value(j.run(b.Context(), tool.Call{Tool: name, Arguments: arguments, Locale: "ja"}))(b)
	}
}
