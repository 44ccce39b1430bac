package line_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/line"
	"ringi/shared/runtime/expect"
)

func TestWhatStepsWriteTo(t *testing.T) {
	step := func(tool string, access aggregate.Access) task.Step { return task.Step{Tool: tool, Access: access} }
	read, sheet := step("list_employees", aggregate.Read), step("write_rows_to_google_sheet", aggregate.Write)
	message, other := step("send_slack_dm", aggregate.Write), step("book_room", aggregate.Write)
	for _, tt := range []struct {
		steps []task.Step
		want  []line.Written
		en    string
	}{
		{nil, []line.Written{line.WritesNothing}, "None"},
		{[]task.Step{read}, []line.Written{line.WritesNothing}, "None"},
		{[]task.Step{read, sheet, sheet}, []line.Written{line.WritesSheet}, "Sheet ×2"},
		{[]task.Step{message, other}, []line.Written{line.WritesMessage, line.WritesOther}, "Message · book_room"},
	} {
		var got []line.Written
		for _, to := range []line.Written{line.WritesSheet, line.WritesMessage, line.WritesOther, line.WritesNothing} {
			if line.WritesTo(tt.steps, to) {
				got = append(got, to)
			}
		}
		expect.Same(t, tt.want, got)
		expect.Same(t, tt.en, line.Writes("en", tt.steps))
	}
}
