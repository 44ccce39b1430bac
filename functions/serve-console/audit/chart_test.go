package audit

import (
	"fmt"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

// The label of the last day ends at the chart's end, so no other one stands right before it.
func TestTheLastLabelOfAChartStandsFree(t *testing.T) {
	for n, want := range map[int][]int{30: {4, 9, 14, 19, 29}, 90: {11, 24, 37, 50, 63, 89}, 7: {0, 1, 2, 3, 4, 5, 6}} {
		bars := make([]bar, n)
		for i := range bars {
			bars[i] = bar{Value: 1, Label: fmt.Sprint(i)}
		}
		var got []int
		for i, label := range chartOf("", bars, web.Count).Columns {
			if label != "" {
				got = append(got, i)
			}
		}
		expect.Same(t, want, got)
	}
}
