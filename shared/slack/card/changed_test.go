package card

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A change that was seen before an execution began or the request ended is too late for it from then on, and no limit
// of versions is named as the reason.
func TestAChangeIsLateOnceItsTimeIsOver(t *testing.T) {
	change := func(deleted bool) *task.Aggregate {
		return &task.Aggregate{Request: &task.Request{User: "U1", Text: "営業部"}, Task: &task.Task{},
			Correction: &task.Correction{Text: "人事部", Edited: "1.0", Deleted: deleted, Author: "U2"},
			Prompts:    []*task.Prompt{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}},
			Processes:  []*task.Process{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}}}
	}
	same := func(s string) string { return s }
	for deleted, want := range map[bool]string{false: wordsOf.In("ja").ChangedLate, true: wordsOf.In("ja").DeletedLate} {
		running, ended := change(deleted), change(deleted)
		running.Executions = []*task.Execution{{ProcessVersion: 1, Attempt: 1, Status: task.ExecutionCompleted}}
		ended.Head.Ended = &task.Ended{As: task.TaskCancelled, At: time.Now()}
		for _, a := range []*task.Aggregate{running, ended} {
			expect.Is(t, Changed(a, "ja", same, same), fill(want, "text", "人事部"))
		}
	}
}

// What an edited message forwards or has as files, and can't be read, is said beside the change.
func TestWhatCantBeReadOfAnEditIsSaid(t *testing.T) {
	files := []aggregate.SharedFile{{ID: "F1", Name: "名簿.csv"}, {ID: "F2"}}
	a := &task.Aggregate{Request: &task.Request{User: "U1", Text: "営業部"}, Correction: &task.Correction{Text: "人事部",
		Forwarded: []aggregate.Quoted{{User: "U2"}, {Name: "Bot", Text: "長い", Cut: true}, {User: "U3", Text: "全部"}},
		Files:     files, MoreFiles: 3, Edited: "1.0"}}
	same := func(s string) string { return s }
	for locale, want := range map[string]string{
		"ja": "人事部 · 転送: U2。Slack が内容を表示しないため、読めません, Bot 長い。長いため、読むのは先頭の 2 文字までです, U3 全部 · 添付: 名簿.csv, F2 " +
			"⚠️ ほかに 3 件のファイルがありますが、読んでいません。一度に読めるのは 2 件までです。",
		"en": "人事部 · Forwards: U2. Slack doesn’t show its text, so it can’t be read, Bot 長い. It is long: only its first 2 " +
			"characters are read, U3 全部 · Files: 名簿.csv, F2 ⚠️ 3 more files were not read: 2 are read at a time.",
	} {
		expect.Has(t, Changed(a, locale, same, same), want)
	}
}
