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
	other := strings.Replace(large, "structuredC", "otherC", 1)
	slim := strings.Replace(small, `{"more":[1]}`, `{}`, 1)
	for name, tt := range map[string]struct{ kind, body, want string }{
		"one message": {"application/json; charset=utf-8", large, slim},
		"a small one": {"application/json", small, small},
		"no JSON":     {"application/json", large + "}", large + "}"},
		"no result": {"application/json", strings.Replace(large, `"result"`, `"other"`, 1),
			strings.Replace(large, `"result"`, `"other"`, 1)},
		"no structured content": {"application/json", other, other},
		"a stream": {eventStream, "event: message\ndata: " + large + "\n\ndata: " + small + "\n\n",
			"data:" + slim + "\nevent: message\n\ndata: " + small + "\n\n"},
		"a stream without end":   {eventStream, "data: " + large, "data:" + slim + "\n"},
		"a stream of other ends": {eventStream, "data: " + large + "\r\n\r\n", "data:" + slim + "\n\r\n"},
		"a message in lines": {eventStream, "data: " + strings.Replace(large, "[", "[\ndata:", 2) + "\n\n",
			"data:" + slim + "\n\n"},
		"metadata": {"application/json", strings.Replace(large, "structuredContent", "_meta", 1),
			strings.Replace(small, `,"structuredContent":{"more":[1]}`, "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			in := slimmed(body(iotest.HalfReader(strings.NewReader(tt.body))), tt.kind)
			expect.Same(t, tt.want, string(expect.Value(io.ReadAll(in))(t)))
		})
	}
}

func body(r io.Reader) *tee { return &tee{io.NopCloser(r), new(record)} }

// What takes too much anyway is no answer: the library would decode it.
func TestAnAnswerOfTooManyValuesIsRefused(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":""},`, mostWeight/400), ",")
	for name, tt := range map[string]struct{ kind, body string }{
		"content": {"application/json", `{"id":7,"jsonrpc":"2.0","result":{"content":[` + many + `]}}`},
		"an id":   {"application/json", `{"id":[` + many + `],"jsonrpc":"2.0","result":{}}`},
		"what something follows": {"application/json", `{"id":7,"result":{"content":[],"structuredContent":{"a":[` +
			many + `]}}}}`},
		"an event of several lines": {eventStream, "data: {\"id\":[\ndata: " + many + "\ndata: ]}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := body(strings.NewReader(tt.body))
			got, err := io.ReadAll(slimmed(in, tt.kind))
			expect.That(t, errors.Is(err, outbound.ErrTooLarge) && len(got) == 0, "%d bytes, %v", len(got), err)
			expect.That(t, errors.Is(in.record.err, outbound.ErrTooLarge), "the record has %v", in.record.err)
		})
	}
}

func TestAnAnswerThatIsCutOffStaysSo(t *testing.T) {
	for _, kind := range []string{"application/json", eventStream} {
		cut := io.MultiReader(strings.NewReader(`data: {"result"`), iotest.ErrReader(outbound.ErrTooLarge))
		got, err := io.ReadAll(slimmed(body(cut), kind))
		expect.That(t, errors.Is(err, outbound.ErrTooLarge) && string(got) == `data: {"result"` && !json.Valid(got),
			"%s: %s, %v", kind, got, err)
	}
}
