package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
	"ringi/shared/tool"
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
		last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), `{"n":"a"},{"n":"b"}`, strings.Join(rows, ",")))
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
	last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), `{"n":"a"},{"n":"b"}`, strings.Join(rows, ",")))
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
