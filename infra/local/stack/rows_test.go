package stack

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// The panel shows what a model call made, its tokens and its cost, so the summary must begin with them before it is
// truncated.
func TestARowsSummaryBeginsWithWhatThePanelSays(t *testing.T) {
	long := strings.Repeat("long", 10)
	use := aggregate.Use{Usage: aggregate.Usage{Provider: long, Model: long, Prompt: long, Calls: 1, Input: 700, Output: 89, Cost: aggregate.USD(0.01), Unpriced: 1}, Made: "PROMPT#0001"}
	item := expect.Value(attributevalue.MarshalMapWithOptions(use, func(o *attributevalue.EncoderOptions) { o.TagKey = "json" }))(t)
	const want = "made PROMPT#0001 · input_tokens 700 · output_tokens 89 · cost_micro_usd 10000 · unpriced_calls 1 · "
	got := viewRow(item, "").Summary
	expect.That(t, strings.HasPrefix(got, want), "%q does not begin with %q", got, want)
}
