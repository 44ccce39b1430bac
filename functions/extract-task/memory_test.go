package main

import (
	"context"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// longest is a thread of the longest messages, without files.
type longest struct{ Slack }

func (longest) Before(_ context.Context, _, _, _ string, n int) (out []slackapi.Said, _ error) {
	for range n {
		out = append(out, slackapi.Said{User: pipelinetest.Requester, Text: strings.Repeat("勤", task.MaxText)})
	}
	return out, nil
}

// The longest request in a thread of such messages, with an answer longer than a model may write, fits into the
// function's memory. The answer goes back to the model.
func TestTheLongestRequestFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t)
	template.Fits(t, "ExtractTaskFunction", nil, func() {
		w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{First: strings.Repeat("長", 16<<10)}
		w.Receive(task.Request{User: pipelinetest.Requester, Channel: "C0HR", ChannelType: "channel",
			Text: strings.Repeat("勤", task.MaxText), MessageTS: "1775034000.000300", ThreadTS: "1775034000.000200"})
		h := handler(w, g)
		h.Slack = longest{}
		template.Settle(t)
		expect.Value(h.Handle(t.Context(), w.In()))(t)
		expect.Is(t, g.Calls, 2, "calls of the model")
	})
}
