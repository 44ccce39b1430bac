package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

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
	record := `{"employee_id":%d,"num":"%[1]d","display_name":"山田 %[1]d","start_date":"2026-04-01","end_date":"2026-04-30","work_days":20,"total_work_mins":9600,` +
		`"total_normal_work_mins":9000,"total_excess_statutory_work_mins":60,"total_overtime_except_normal_work_mins":600,"total_latenight_work_mins":0,"num_absences":0,"num_paid_holidays":1}`
	var records []string
	for i := range people {
		records = append(records, fmt.Sprintf(record, i+1))
	}
	attendance := aggregate.Blob{JSON: aggregate.JSON(`{"year":2026,"month":4,"records":[` + strings.Join(records, ",") + `]}`)}
	step := task.Step{StepID: "step-2", Order: 2, Tool: name, Access: aggregate.Read, ToolInput: `{"mode":"calculate","records":{"$ref":"step-1.result.records"}}`}
	e := &task.Execution{ProcessVersion: 1, Attempt: 1}
	a := &task.Aggregate{
		Prompts: []*task.Prompt{{}}, Processes: []*task.Process{{Version: 1, Steps: []task.Step{{StepID: "step-1", Order: 1}, step}}}, Executions: []*task.Execution{e},
		Steps: []*task.StepResult{{ProcessVersion: 1, Attempt: 1, Order: 1, StepID: "step-1", Status: task.StepCompleted, Result: &attendance}},
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
