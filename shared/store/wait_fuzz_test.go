package store

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// FuzzWait checks that any task token is stored unchanged, in a row that can't be mistaken for another row of the task.
func FuzzWait(f *testing.F) {
	f.Add("AQCEAAAAKgAAAAMAAAAAAAAAAcF0b2tlbg==", "PROMPT#0001", 1, 0, int64(1776490200000))
	f.Add("\x00\u202e token", "GATE#0001#001#02", 1<<30, 99, int64(-1))
	f.Add("", "", 0, 0, int64(0))
	f.Add("#", "HEAD", -1, -1, int64(253402300799999))
	f.Fuzz(func(t *testing.T, token, gate string, run, retry int, millis int64) {
		const limit = 253402300799999 // the year 9999 ends
		if millis < -limit || millis > limit {
			return
		}
		want := aggregate.Wait{Gate: gate, Token: token, Run: run, Entered: time.UnixMilli(millis).UTC(), Retry: retry}
		want.DeleteAfter = max(1<<40, millis) // in seconds: never
		if want.Entered.Year() < 0 {
			return
		}
		it := expect.Value(table.Pack("wait", "TASK#t#1", want.Key(), want))(t)
		a := task.Aggregate{Head: task.Head{TaskID: "1"}}
		r, err := New(nil, "").unpackRow(task.Kind, it)
		expect.Must(t, err == nil, "%+v: %v", want, err)
		a.Add(r)
		expect.Same(t, []aggregate.Wait{want}, a.Waits)
		if len(a.Rows()) != 0 || a.Head.TaskID != "1" || want.Key() != "WAIT#"+gate {
			t.Errorf("%q is taken for another row: %v", want.Key(), a.Rows())
		}
	})
}
