package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// The longest request, with an answer of the most steps that is longer than a model may write, fits into the function's
// memory. The answer goes back to the model.
func TestTheLargestPlanFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t)
	template.Fits(t, "PlanProcessFunction", nil, func() {
		var steps []model.StepData
		for i := range task.MaxSteps {
			steps = append(steps, model.StepData{
				StepID: fmt.Sprintf("step-%d", i+1), Order: i + 1, Title: strings.Repeat("長", model.MaxTitle), Tool: "list_employees",
				ToolInput: `{"department":null,"status":"active"}`, Description: strings.Repeat("長", 800), ExpectedOutput: "x",
			})
		}
		answer := expect.Value(json.Marshal(map[string]any{"steps": steps, "missing": []any{}, "remarks": ""}))(t)
		w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{First: string(answer)}
		w.Receive(task.Request{User: pipelinetest.Requester, Channel: "C0HR", ChannelType: "channel",
			Text: strings.Repeat("勤", task.MaxText), MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
		w.Prompted(tenancy.DefaultSettings())
		w.Approve()
		template.Settle(t)
		handle(t, w, g)
		expect.Is(t, g.Calls, 2, "calls of the model")
	})
}
