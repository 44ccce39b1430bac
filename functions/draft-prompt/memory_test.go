package main

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/infra/local/template"
	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// The longest request, with an answer longer than a model may write, fits into the function's memory. The answer goes
// back to the model.
func TestTheLongestDraftFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t)
	template.Fits(t, "DraftPromptFunction", nil, func() {
		w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{First: strings.Repeat("長", 32<<10)}
		receive(w)
		template.Settle(t)
		handle(t, w, g)
		expect.Is(t, g.Calls, 2, "calls of the model")
	})
}

// So does a contest with the largest files.
func TestTheLargestContestFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t)
	template.Fits(t, "DraftPromptFunction", nil, func() {
		w := pipelinetest.Start(t).World(t)
		w.Extracted()
		w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
		h, _ := contested(w)
		files := padded(t)
		h.Workspace = func(context.Context, string) (teamconfig.Workspace, error) {
			return teamconfig.Workspace{FS: files}, nil
		}
		template.Settle(t)
		expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StateAwaitContest)
	})
}

func receive(w *pipelinetest.World) {
	w.Receive(task.Request{User: pipelinetest.Requester, Channel: "C0HR", ChannelType: "channel",
		Text: strings.Repeat("勤", task.MaxText), MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
	w.Extracted()
}

// padded returns the sample's files, each made as large as a file may be, and all as large as all may be.
func padded(t *testing.T) fstest.MapFS {
	out, left := fstest.MapFS{}, 4<<20-64<<10
	expect.NoError(t, fs.WalkDir(models.Sample(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := expect.Value(fs.ReadFile(models.Sample(), path))(t)
		if more := min(1<<20-len(text)-2, left-len(text)); strings.HasSuffix(path, ".toml") && more > 0 {
			text = append(append(text, "\n#"...), strings.Repeat("x", more)...)
		}
		left -= len(text)
		out[path] = &fstest.MapFile{Data: text}
		return nil
	}))
	return out
}
