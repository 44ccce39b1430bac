package explain_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

func TestWhatStepsWriteTo(t *testing.T) {
	step := func(tool string, access aggregate.Access) task.Step { return task.Step{Tool: tool, Access: access} }
	read, sheet := step("list_employees", aggregate.Read), step("write_rows_to_google_sheet", aggregate.Write)
	message, other := step("send_slack_dm", aggregate.Write), step("book_room", aggregate.Write)
	for _, tt := range []struct {
		steps []task.Step
		want  []explain.Written
		en    string
	}{
		{nil, []explain.Written{explain.WritesNothing}, "None"},
		{[]task.Step{read}, []explain.Written{explain.WritesNothing}, "None"},
		{[]task.Step{read, sheet, sheet}, []explain.Written{explain.WritesSheet}, "Sheet ×2"},
		{[]task.Step{message, other}, []explain.Written{explain.WritesMessage, explain.WritesOther}, "Message · book_room"},
	} {
		var got []explain.Written
		for _, to := range []explain.Written{explain.WritesSheet, explain.WritesMessage, explain.WritesOther,
			explain.WritesNothing} {
			if explain.WritesTo(tt.steps, to) {
				got = append(got, to)
			}
		}
		expect.Same(t, tt.want, got)
		expect.Same(t, tt.en, explain.Writes("en", tt.steps))
	}
}
