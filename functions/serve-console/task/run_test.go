package task

import (
	"testing"

	"ringi/shared/runtime/expect"
)

// The partitions for GovCloud and China have their own AWS consoles.
func TestARunIsShownWhereItsPartitionShowsIt(t *testing.T) {
	for machine, want := range map[string]string{
		"arn:aws:states:us-east-1:210987654321:stateMachine:Pipeline":            "https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#/v2/executions/details/arn:aws:states:us-east-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws-us-gov:states:us-gov-west-1:210987654321:stateMachine:Pipeline": "https://us-gov-west-1.console.amazonaws-us-gov.com/states/home?region=us-gov-west-1#/v2/executions/details/arn:aws-us-gov:states:us-gov-west-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws-cn:states:cn-north-1:210987654321:stateMachine:Pipeline":        "https://cn-north-1.console.amazonaws.cn/states/home?region=cn-north-1#/v2/executions/details/arn:aws-cn:states:cn-north-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws:states:us-east-1:" + localAccount + ":stateMachine:Pipeline":    "",
	} {
		got := runAt(machine, "01TASK", 2)
		expect.That(t, got == want, "%s is shown at %q, not %q", machine, got, want)
	}
}
