package consoletest

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// MatterForm is the page's form for a decision, filled in.
func (b *Browser) MatterForm(channel string) url.Values {
	_, key, _ := strings.Cut(b.Get("/console/decisions/new").Body, `name="key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	return url.Values{"key": {key}, "matter": {"契約"}, "title": {"倉庫の賃貸"}, "amount": {"３６０万円"},
		"currency": {"JPY"}, "description": {"在庫が\r\n増えたため。"}, "channel": {channel}}
}

// AskForDecision sends such a form, and returns the id of the request that it made.
func (b *Browser) AskForDecision(form url.Values) string { return b.AskWithFiles(form, nil) }

// AskWithFiles sends such a form with files, by their names.
func (b *Browser) AskWithFiles(form url.Values, files map[string][]byte) string {
	t := b.World.T
	t.Helper()
	a := b.UploadAll("/console/decisions", form, files)
	id, done := strings.CutSuffix(strings.TrimPrefix(a.To, "/console/tasks/"), "?done=matter_asked")
	expect.Must(t, a.Status == http.StatusSeeOther && done && aggregate.ValidID(id), "%d %s: %s", a.Status, a.To, a.Body)
	return id
}

// MatterAsked has Sato ask for a decision, and people are asked about it.
func (w *World) MatterAsked() { w.MatterAskedWith(nil) }

// MatterAskedWith is MatterAsked with files, by their names.
func (w *World) MatterAskedWith(files map[string][]byte) {
	w.MatterAskedBy(w.As(webapi.Sato).MatterForm(webapi.HR), files)
}

// MatterAskedBy is MatterAskedWith by a form as it was filled in.
func (w *World) MatterAskedBy(form url.Values, files map[string][]byte) {
	w.Ref = task.RefOf(w.Tenant.ID, w.As(webapi.Sato).AskWithFiles(form, files))
	if len(files) > 0 {
		w.FilesRead()
	}
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		m := a.Matter()
		return a.Extracted(1, task.Extract{Title: m.Title, Description: m.Description, Priority: task.Medium,
			TaskType: task.TypeStandard}, w.Now())
	})
	w.MatterGoesRound(w.Load().Request.Text)
}

// MatterGoesRound has people asked about what a form says, which is this text.
func (w *World) MatterGoesRound(text string) {
	s := w.SettingsNow()
	for _, decide := range []func(a *task.Aggregate) (aggregate.Change, error){
		func(a *task.Aggregate) (aggregate.Change, error) { return a.FinishPrompt(a.Head.Run, text, s, w.Now()) },
		func(a *task.Aggregate) (aggregate.Change, error) { return a.ApproveUnasked(a.Prompt().ID, w.Now()) },
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FinishProcess(a.Head.Run, a.Matter().Steps(s.Locale, "v1"), "", s, w.Now())
		},
	} {
		w.Later(time.Second)
		w.Decide(decide)
	}
}

// FilesRead notes what the files of a form are.
func (w *World) FilesRead() {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		var read []task.ReadFile
		for i, f := range a.Request.Files {
			x := task.ReadFile{SharedFile: f}
			x.Take([]byte(w.Results[storetest.FileKey(w.Ref, task.OwnSum(f))]), i)
			read = append(read, x)
		}
		return a.ReadFiles(a.Head.Run, read, w.Now())
	})
}

// MatterRecorded records a decision that people approved, as the first of its fiscal year, which it returns.
func (w *World) MatterRecorded() (year int) {
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		lack, _ := a.Unnumbered()
		year = w.SettingsNow().FiscalYear(lack.Settled)
		first, err := a.StartNumbered(a.Head.Run, task.Series{Year: year}, w.Now())
		if err != nil {
			return first, err
		}
		step := a.Process().Steps[0]
		return a.ClaimAfter(first, a.Head.Run, task.Call{Order: 1, Arguments: aggregate.Blob{JSON: step.ToolInput},
			ArgumentsHash: aggregate.HashOf(string(step.ToolInput)), Tool: task.ToolRef{Name: step.Tool}})
	})
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "決裁を記録しました。", w.Now())
	})
	return year
}
