package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
)

// The library is given a large answer without what it would decode for nobody.
func TestALargeAnswerIsGivenOnWithoutItsStructuredContent(t *testing.T) {
	answer := func(list string) string {
		return `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"booked","type":"text"}],"structuredContent":{"more":[` +
			list + `]}}}`
	}
	large, small := answer(strings.TrimSuffix(strings.Repeat("1,", slimFrom), ",")), answer("1")
	slim := strings.Replace(small, `{"more":[1]}`, `{}`, 1)
	for name, tt := range map[string]struct{ kind, body, want string }{
		"one message":            {"application/json; charset=utf-8", large, slim},
		"a small one":            {"application/json", small, small},
		"no JSON":                {"application/json", large + "}", large + "}"},
		"no result":              {"application/json", strings.Replace(large, `"result"`, `"other"`, 1), strings.Replace(large, `"result"`, `"other"`, 1)},
		"no structured content":  {"application/json", strings.Replace(large, "structuredC", "c", 1), strings.Replace(large, "structuredC", "c", 1)},
		"a stream":               {eventStream, "event: message\ndata: " + large + "\n\ndata: " + small + "\n\n", "event: message\ndata:" + slim + "\n\ndata: " + small + "\n\n"},
		"a stream without end":   {eventStream, "data: " + large, "data:" + slim},
		"a stream of other ends": {eventStream, "data: " + large + "\r\n\r\n", "data:" + slim + "\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := slimmed(io.NopCloser(iotest.HalfReader(strings.NewReader(tt.body))), tt.kind)
			expect.Same(t, tt.want, string(expect.Value(io.ReadAll(in))(t)))
		})
	}
}

func TestAnAnswerThatIsCutOffStaysSo(t *testing.T) {
	for _, kind := range []string{"application/json", eventStream} {
		cut := io.MultiReader(strings.NewReader(`data: {"result"`), iotest.ErrReader(outbound.ErrTooLarge))
		got, err := io.ReadAll(slimmed(io.NopCloser(cut), kind))
		expect.That(t, errors.Is(err, outbound.ErrTooLarge) && string(got) == `data: {"result"` && !json.Valid(got), "%s: %s, %v", kind, got, err)
	}
}
