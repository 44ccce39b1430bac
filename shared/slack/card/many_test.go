package card_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// The line of many reads may go on in another section, below their numbers.
func TestTheLineOfManyReadsFitsSections(t *testing.T) {
	for _, long := range []int{20, 45, 80, 130} {
		var steps []task.Step
		for n := range task.MaxSteps {
			args := fmt.Sprintf(`{"a":"%s %d","b":"%s"}`, strings.Repeat("x", long), n, strings.Repeat("y ", 1300))
			steps = append(steps, task.Step{StepID: fmt.Sprintf("step-%d", n+1), Order: n + 1, Title: "t",
				Tool: "rooms.find", Access: aggregate.Read, ToolInput: aggregate.JSON(args)})
		}
		text, _ := shownOf(t, steps)
		expect.Has(t, text, "60.", "their numbers")
	}
}
