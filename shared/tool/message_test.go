package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// A message that Slack would not take whole is refused before anybody is asked to stamp it, and again before the call.
// The refusal names its longest part and the limit.
func TestAMessageThatIsTooLongIsRefused(t *testing.T) {
	c := expect.Value(tool.Builtin())(t)
	spec, _ := c.Lookup("send_slack_dm")
	detail := func(value any) []any { return []any{map[string]any{"label": "all", "value": value}} }
	for name, tt := range map[string]struct {
		text    string
		details []any
		names   string
	}{
		"it just fits":          {strings.Repeat("a", 3000), detail(strings.Repeat("あ", 992)), ""},
		"one more":              {strings.Repeat("a", 2999), detail(strings.Repeat("あ", 994)), "text"},
		"a value":               {"a", detail(strings.Repeat("あ", 4000)), "details.0.value"},
		"signs that Slack sees": {"a", detail(strings.Repeat("&", 1000)), "details.0.value"},
		"characters outside":    {strings.Repeat("𠮟", 2001), []any{}, "text"},
	} {
		args := aggregate.JSON(expect.Value(json.Marshal(map[string]any{"recipient": "U012", "text": tt.text, "details": tt.details}))(t))
		_, r, err := c.Literal("send_slack_dm", args)
		planned := expect.Value(tool.Parse(args))(t)
		atPlan := c.CheckPlanned("send_slack_dm", planned, nil)
		if tt.names == "" {
			expect.That(t, err == nil && atPlan == nil && spec.Hold(r) == nil, "%s: %v, %v", name, err, atPlan)
			continue
		}
		for _, err := range []error{err, atPlan} {
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.names) && strings.Contains(err.Error(), "4000"), "%s: %v", name, err)
		}
		var e *explain.CallError
		expect.That(t, errors.As(error(spec.Hold(expect.Value(planned.Resolve(nil))(t))), &e) &&
			e.Problem == explain.ProblemTooLong, "%s: %v", name, e)
	}
}
