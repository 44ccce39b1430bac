package consoletest

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// MatterAsked has Sato ask for a decision, and people are asked about it.
func (w *World) MatterAsked() { w.MatterAskedWith(nil) }

// MatterAskedWith is MatterAsked with files, by their names.
func (w *World) MatterAskedWith(files map[string][]byte) {
	m := task.Matter{Kind: "契約", Title: "倉庫の賃貸", Amount: "3600000", Description: "在庫が\n増えたため。"}
	text, s := card.MatterText(language.Detect(m.Title, ""), m), w.SettingsNow()
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	r := task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts,
		Text: text, Matter: &m}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r.Files = append(r.Files, aggregate.SharedFile{ID: "F" + strconv.Itoa(len(r.Files)), Name: name,
			Bytes: int64(len(files[name])), User: webapi.Sato})
	}
	w.Receive(r)
	if len(files) > 0 {
		w.filesRead(files)
	}
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: m.Title, Description: m.Description, Priority: task.Medium,
			TaskType: task.TypeStandard}, w.Now())
	})
	w.FormGoesOn()
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, a.Matter().Steps(s.Locale, "v1"), "", s, w.Now())
	})
}

// filesRead keeps the files of a form, by their names, and notes what they are.
func (w *World) filesRead(files map[string][]byte) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		var read []task.ReadFile
		for i, f := range a.Listed() {
			x := task.ReadFile{SharedFile: f}
			x.Take(files[f.Name], i)
			w.Results[storetest.FileKey(w.Ref, x.SHA256)] = aggregate.JSON(files[f.Name])
			read = append(read, x)
		}
		return a.ReadFiles(a.Head.Run, read, w.Now())
	})
}

// MatterRecorded records a decision that people approved, as the first of its fiscal year, which it returns.
func (w *World) MatterRecorded() (year int) {
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		year = w.SettingsNow().FiscalYear(settled)
		first, err := a.StartExecution(a.Head.Run, task.Series{Year: year}, w.Now())
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
