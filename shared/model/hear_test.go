package model_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// heard puts a text together that arrives in pieces of n bytes, and returns all that was shown of it meanwhile.
func heard(text string, n int, asJSON bool, how model.Marking) (out model.Response, shown string) {
	r := model.Request{}
	if asJSON {
		r.Schema = []byte("{}")
	}
	h := model.Hear(&out, r, "", func(s string) { shown += s + "\x00" })
	h.Thoughts = how
	for len(text) > 0 {
		k := min(n, len(text))
		h.Say(text[:k])
		text = text[k:]
	}
	h.Stops("stop")
	_ = h.End(nil)
	return out, shown
}

const final = "<|channel|>final<|message|>"

func TestThoughtsAreToldFromTheText(t *testing.T) {
	for text, want := range map[string]string{
		"<think>SECRET</think> Hello":                                     "Hello",
		"<think>\nSECRET\n</think>\n\nHello":                              "Hello",
		"  <Think>SECRET</THINK>Hello":                                    "Hello",
		"<think></think>Hello":                                            "Hello",
		"<think>SECRET <think> SECRET</think>Hello":                       "Hello",
		"<think>SECRET `</think>` SECRET</think>Hello":                    "Hello",
		"<think>SECRET ```\nSECRET</think>Hello":                          "Hello",
		"<thinking>SECRET </think></thinking>Hello":                       "Hello",
		"<reasoning>SECRET</reasoning>Hello":                              "Hello",
		"[THINK]SECRET[/THINK]Hello":                                      "Hello",
		"<seed:think>SECRET</seed:think>Hello":                            "Hello",
		"◁think▷SECRET◁/think▷Hello":                                      "Hello",
		"<|START_THINKING|>SECRET<|END_THINKING|><|START_RESPONSE|>Hello": "Hello",
		"<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hello": "Hello",
		"<|channel>thought\nSECRET<channel|>Hello":                                                      "Hello",
		"<think>SECRET</think>Never. I read </think> there, and <think>x</think>":                       "Never. I read </think> there, and <think>x</think>",
		"The tag `<think>` begins a thought.":                                                           "The tag `<think>` begins a thought.",
		"I read <think>x, then stop":                                                                    "I read <think>x, then stop",
		"1 < 2, a[0] <thin":                                                                             "1 < 2, a[0] <thin",
		"<b>Hello</b>":                                                                                  "<b>Hello</b>",
		"<thought that counts>":                                                                         "<thought that counts>",
		"<thin":                                                                                         "<thin",
		// the server's template has the first tag
		"SECRET</think>Hello":                          "Hello Begun",
		"SECRET\n</THINK>\n\nHello":                    "Hello Begun",
		"SECRET ```\nSECRET</think>Hello":              "Hello Begun",
		"SECRET ``</think>`` </think>x\n</think>Hello": "Hello Begun",
		"SECRET◁/think▷Hello":                          "Hello Begun",

		"<|START_THINKING|>SECRET<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>": "Hello",
		"<think>\nSECRET\n</think>\n<answer>\nHello\n</answer>":                           "Hello",
		"<think>SECRET</think><answer>Hello</answer>\n":                                   "Hello",
		"<think>SECRET</think><answer>Hello":                                              "Hello",
		"<think>SECRET</think><answer>Put </answer> there </ans":                          "Put </answer> there </ans",
		"<think>SECRET</think>\n<think>\nSECRET</think>Hello":                             "Hello",
		"<think></think><thinking>SECRET</thinking><answer>x</answer>":                    "<answer>x</answer>",
		"</think>\n\nHello":                                        "Hello",
		"<unused94>thought\nSECRET<unused95>Hello":                 "Hello",
		"<mm:think>SECRET</mm:think>Hello":                         "Hello",
		"<longcat_think>SECRET</longcat_think>Hello":               "Hello",
		"analysisSECRET assistantfinal SECRET.assistantfinalHello": "Hello",
		"analysis of assistantfinal":                               "analysis of assistantfinal",
		"analysis: say `assistantfinal`.":                          "analysis: say `assistantfinal`.",
		"Analysis: it is there, assistantfinalHello":               "Analysis: it is there, assistantfinalHello",
		"analysisX": "analysisX",

		"<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>": "Hello",

		"<|begin_of_thought|>SECRET<|end_of_thought|>\n<|begin_of_solution|>Hello<|end_of_solution|>": "Hello",
		"Here are my reasoning steps:\n- SECRET\n[BEGIN FINAL RESPONSE]\nHello\n[END FINAL RESPONSE]": "Hello",
		"Here are my reasoning steps:\n1. I":                            "Here are my reasoning steps:\n1. I",
		"- SECRET\n[BEGIN FINAL RESPONSE]\nHello\n[END FINAL RESPONSE]": "Hello Begun",

		"<think>SECRET</think><response>Hello</response>":                         "Hello",
		"SECRET\n</think>\n\n<response>\nHello\n</response>\n":                    "Hello Begun",
		"Here is my thought process:\n\nSECRET.\n\nHere is my response:\n\nHello": "Hello",
		"Here's my thought process:\nSECRET.\n\nHere's my response:\nHello":       "Hello",

		"<|think|>SECRET<|end|><|begin|>assistant<|content|>Hello<|end|>":                        "Hello",
		"<|content|>Hello<|flush|>":                                                              "Hello",
		"<|channel|>final<|message|>Hello<|end|>":                                                "Hello",
		"<|channel|>commentary<|message|>SECRET<|end|><|start|>assistant" + final + "Hello":      "Hello",
		"<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant" + final + "Hello<|end|>": "Hello",

		"Here is my thought process:\n1. I": "Here is my thought process:\n1. I",
		// special tokens
		"Hello<|im_end|>":                                  "Hello",
		"Hello\n<|im_end|>\n<|endoftext|>":                 "Hello",
		"Hello<|eot_id|>":                                  "Hello",
		"Hello<|EOT|>\n<|EOT|>\n<|EOT|>":                   "Hello",
		"Hello<|user|>":                                    "Hello",
		"Hello<end_of_turn>\n":                             "Hello",
		"Hello<｜end▁of▁sentence｜>":                         "Hello",
		"Hello</s>":                                        "Hello",
		"<think>SECRET</think>Hello<|im_end|>":             "Hello",
		"<think>SECRET</think><answer>Hello</answer><eos>": "Hello",
		"I strike <s>this</s>":                             "I strike <s>this</s>",
		"Qwen ends with <|im_end|>":                        "Qwen ends with <|im_end|>",
		"Qwen ends with `<|im_end|>`":                      "Qwen ends with `<|im_end|>`",
		"<|im_end|> ends Qwen's texts":                     "<|im_end|> ends Qwen's texts",
		"Hello<|im_e":                                      "Hello<|im_e",
	} {
		how := model.Opened
		if begun, is := strings.CutSuffix(want, " Begun"); is {
			want, how = begun, model.Begun
		}
		for n := 1; n <= len(text); n++ {
			for _, how := range []model.Marking{how, model.Begun} {
				got, shown := heard(text, n, false, how)
				if got.Text != want || got.Stop != model.StopEnd || strings.Contains(shown, "SECRET") || !strings.HasSuffix(shown,
					want+"\x00") {
					t.Fatalf("%q by %d bytes: %q (%s), shown %q", text, n, got.Text, got.Stop, shown)
				}
				if want != text && strings.Contains(text, "SECRET") && got.Thought == 0 {
					t.Errorf("%q: its thoughts are not counted", text)
				}
			}
			if got, _ := heard(text, n, false, model.Apart); got.Text != text || got.Stop != model.StopEnd {
				t.Fatalf("%q of a vendor that tells them apart: %q (%s)", text, got.Text, got.Stop)
			}
		}
	}
	for _, text := range []string{"<think>SECRET", "<think>SECRET</thin"} {
		got, shown := heard(text, 3, false, model.Opened)
		expect.That(t, got.Stop == model.StopBroken && !strings.Contains(shown+got.Text, "SECRET"), "%q: %+v, shown %q", text, got, shown)
	}
	const asked = `{"title":"<think> and </think>"}`
	for _, end := range []string{"", "<|im_end|>", "\n<eos>"} {
		got, _ := heard(asked+end, 5, true, model.Begun)
		expect.Is(t, got.Text, asked)
	}
}

// Models that miss their end go on to write it.
func TestThousandsOfTokensAreDroppedInTime(t *testing.T) {
	for _, token := range []string{"\n<|EOT|>", "</s>"} {
		began := time.Now()
		got, shown := heard("Hello"+strings.Repeat(token, 20_000), len(token), false, model.Opened)
		expect.That(t, got.Text == "Hello" && strings.HasSuffix(shown, "Hello\x00"), "%q, shown %.80q", got.Text, shown)
		expect.That(t, time.Since(began) < 10*time.Second, "%q: it took %s", token, time.Since(began))
	}
}

// What a model quotes hides nothing of what it says.
func TestAQuotedTagIsText(t *testing.T) {
	for about, text := range map[string]string{
		"at the end of a line": "Warning: it deletes the table.\nThe last line reads: # end of notes </think>\nI recommend approving.",
		"in backticks":         "Write ``</think>`` behind it, or `</think>`. Then restart.",
		"in a block":           "Use:\n\n~~~\n</think>\n~~~\n\nThen:\n```\nx</think>\n```\nrestart.",
		"both":                 "Gemini writes <thought>Be careful</thought> before it. Only then approve.",
	} {
		for _, how := range []model.Marking{model.Apart, model.Opened, model.Begun} {
			got, shown := heard(text, 7, false, how)
			expect.That(t, got.Text == text && got.Stop == model.StopEnd && strings.HasSuffix(shown, text+"\x00"),
				"%s (%d): %+v, shown %q", about, how, got, shown)
		}
	}
}

// piece is a part of a call as a server sends it.
type piece struct{ index, id, name, input string }

func TestCallsArePutTogether(t *testing.T) {
	for about, tt := range map[string]struct {
		pieces []piece
		want   string // the calls' names and inputs
	}{
		"by index, interleaved":            {[]piece{{"0", "A", "f", ""}, {"1", "B", "g", ""}, {"0", "", "", `{"a":`}, {"1", "", "", `{"b":`}, {"0", "", "", `1}`}, {"1", "", "", `2}`}}, `f{"a":1} g{"b":2}`},
		"with an id that changes":          {[]piece{{"0", "A", "f", ""}, {"0", "B", "", `{"a":`}, {"0", "C", "", `1}`}}, `f{"a":1}`},
		"with a name that is repeated":     {[]piece{{"0", "A", "f", ""}, {"0", "A", "f", `{"a":`}, {"0", "A", "f", `1}`}}, `f{"a":1}`},
		"with both":                        {[]piece{{"0", "A", "f", `{"a"`}, {"0", "B", "f", `:1}`}}, `f{"a":1}`},
		"all of them numbered 0":           {[]piece{{"0", "A", "f", `{"a":1}`}, {"0", "B", "g", `{}`}}, `f{"a":1} g{}`},
		"of one tool, all numbered 0":      {[]piece{{"0", "A", "f", `{"a":1}`}, {"0", "B", "f", `{"a":2}`}}, `f{"a":1} f{"a":2}`},
		"without ids, all numbered 0":      {[]piece{{"0", "", "f", `{"a":1}`}, {"0", "", "f", `{"a":2}`}}, `f{"a":1} f{"a":2}`},
		"without an index":                 {[]piece{{"", "A", "f", `{"a":`}, {"", "", "", `1}`}, {"", "B", "g", ""}, {"", "", "", `{}`}}, `f{"a":1} g{}`},
		"without an index, by id":          {[]piece{{"", "A", "f", ""}, {"", "B", "g", ""}, {"", "A", "", `{"a":1}`}, {"", "B", "", `{}`}}, `f{"a":1} g{}`},
		"without an index, a changed id":   {[]piece{{"", "A", "f", ""}, {"", "B", "", `{"a":1}`}}, `f{"a":1}`},
		"numbered from 1, with no name":    {[]piece{{"1", "A", "", `{"a"`}, {"1", "", "f", `:1}`}}, `f{"a":1}`},
		"without arguments":                {[]piece{{"0", "A", "f", ""}}, `f{}`},
		"with arguments written as a text": {[]piece{{"0", "A", "f", `"{\"a\":1}"`}}, `f{"a":1}`},

		"with {} before the arguments": {
			[]piece{{"0", "A", "f", "{}"}, {"0", "A", "", `{"a":`}, {"0", "", "", `1}`}}, `f{"a":1}`},
		"with {} twice": {[]piece{{"0", "A", "f", "{}"}, {"0", "A", "f", "{}"}}, `f{}`},
		"sent twice":    {[]piece{{"0", "A", "f", `{"a":1}`}, {"0", "A", "f", `{"a":1}`}}, `f{"a":1}`},
		"sent whole behind its pieces": {
			[]piece{{"0", "A", "f", `{"a":`}, {"0", "", "", `1}`}, {"0", "", "", `{"a":1}`}}, `f{"a":1}`},
		"each piece with all before it": {
			[]piece{{"0", "A", "f", `{"a"`}, {"0", "A", "", `{"a":"x`}, {"0", "A", "", `{"a":"xy"}`}}, `f{"a":"xy"}`},
		"whose pieces only look so": {
			[]piece{{"0", "A", "f", `{"a":`}, {"0", "A", "", `{"a":1}`}, {"0", "A", "", `}`}}, `f{"a":{"a":1}}`},
		"one id under two indices": {
			[]piece{{"0", "A", "f", ""}, {"1", "A", "", `{"a":`}, {"1", "", "", `1}`}}, `f{"a":1}`},
		"with an index that comes later": {
			[]piece{{"", "A", "f", ""}, {"0", "A", "", `{"a":`}, {"0", "", "", `1}`}}, `f{"a":1}`},
		"with an index and without an id": {[]piece{{"", "A", "f", ""}, {"0", "", "", `{"a":1}`}}, `f{"a":1}`},
		"a second one numbered on": {
			[]piece{{"0", "A", "f", `{"a":1}`}, {"0", "B", "g", ""}, {"1", "", "", `{"b":`}, {"1", "B", "", `2}`}},
			`f{"a":1} g{"b":2}`},
		"whose arguments are null": {[]piece{{"0", "A", "f", "null"}}, `f{}`},

		"a name in pieces": {
			[]piece{{"0", "A", "read", ""}, {"0", "A", "_fi", ""}, {"0", "A", "le", ""}, {"0", "A", "", `{"a":1}`}},
			`read_file{"a":1}`},
		"a name in pieces, with {}":    {[]piece{{"0", "A", "read_", ""}, {"0", "", "file", "{}"}}, `read_file{}`},
		"a name that grows":            {[]piece{{"0", "A", "read_", ""}, {"0", "A", "read_file", "{}"}}, `read_file{}`},
		"a name that grows into one's": {[]piece{{"0", "A", "read", ""}, {"0", "A", "read_file", ""}}, `read{} read_file{}`},
		"a name twice, as in another":  {[]piece{{"0", "A", "f", ""}, {"0", "A", "f", "{}"}}, `f{}`},
		"two tools without arguments":  {[]piece{{"0", "", "f", ""}, {"0", "", "g", ""}}, `f{} g{}`},
		"pieces that no tool has":      {[]piece{{"0", "A", "list_", ""}, {"0", "A", "all", ""}}, `list_{} all{}`},
	} {
		var out model.Response
		h := model.Hear(&out, model.Request{Tools: []model.Tool{
			{Name: "f"}, {Name: "g"}, {Name: "ff"}, {Name: "read"}, {Name: "read_file"}}}, "", nil)
		for _, p := range tt.pieces {
			h.Call(p.index, p.id, p.name, p.input)
		}
		h.Stops("tool_calls")
		_ = h.End(nil)
		expect.Is(t, out.Stop, model.StopEnd, about)
		var got []string
		for _, c := range out.Calls {
			got = append(got, c.Name+string(c.Input))
		}
		expect.Is(t, strings.Join(got, " "), tt.want, about)
	}
}

// A call of which nobody knows what it is, or with what, is none.
func TestACallThatCantBeReadBreaksTheAnswer(t *testing.T) {
	for about, tt := range map[string]struct {
		pieces []piece
		want   string
	}{
		"two objects":       {[]piece{{"0", "A", "f", `{"a":1}`}, {"0", "A", "", `{"a":2}`}}, "the arguments of f, 14 bytes"},
		"half of one":       {[]piece{{"0", "A", "f", `{"a":`}}, "the arguments of f, 5 bytes"},
		"a list":            {[]piece{{"0", "A", "f", `[1]`}}, "the arguments of f, 3 bytes"},
		"words":             {[]piece{{"0", "A", "f", `himitsu`}}, "the arguments of f, 7 bytes"},
		"a text of words":   {[]piece{{"0", "A", "f", `"himitsu"`}}, "the arguments of f, 9 bytes"},
		"no name":           {[]piece{{"0", "A", "f", `{}`}, {"1", "B", "", `{}`}}, "no name, and 2 bytes of arguments"},
		"a name that isn't": {[]piece{{"0", "A", "himitsu no na", `{`}}, "the arguments of a tool, 1 bytes"},
	} {
		var out model.Response
		h := model.Hear(&out, model.Request{}, "", nil)
		for _, p := range tt.pieces {
			h.Call(p.index, p.id, p.name, p.input)
		}
		h.Stops("tool_calls")
		_ = h.End(nil)
		expect.That(t, out.Stop == model.StopBroken && strings.HasPrefix(out.Why, "a call that can't be read: ") &&
			strings.Contains(out.Why, tt.want) && !strings.Contains(out.Why, "himitsu"), "%s: %s %q", about, out.Stop, out.Why)
	}
}

// An answer is read in whichever form it comes, in pieces of one byte as well.
func TestAnyFormOfAnAnswerIsRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":1}`:                                           `{"a":1}`,
		"\n\n \xef\xbb\xbf":                                 "ERR neither JSON nor events",
		"\xef\xbb\xbf{\"a\":1}":                             `{"a":1}`,
		"\n\n\n{\"a\":1}\n":                                 `{"a":1}`,
		"{\"a\":1}\n{\"a\":2}\n":                            `{"a":1} {"a":2}`,
		`[{"a":1},{"a":2}]`:                                 `{"a":1} {"a":2}`,
		"\xef\xbb\xbfdata: {\"a\":1}\n\n":                   `{"a":1}`,
		"data: {\"a\":1}\r\n\r\ndata:{\"a\":2}\r\n\r\n":     `{"a":1} {"a":2}`,
		"event: x\rdata: {\"a\":1}\r\rdata: {\"a\":2}\r\r":  `x:{"a":1} {"a":2}`,
		"event: x\r\nid: 7\r\ndata: {\"a\":1}\r\n\r\n":      `x:{"a":1}`,
		": keep\n\nretry: 5\n\ndata: {\"a\":1}":             `{"a":1}`,
		"data: {\"a\":\ndata: 1}\n\n":                       `{"a": 1}`,
		"data: {\"a\":1}\ndata: {\"a\":2}\n\n":              `{"a":1} {"a":2}`,
		"data: {\"a\":1}\n\ndata: [DONE]\n\ndata: <html>\n": `{"a":1}`,
		"data:\n\nevent: ping\ndata: now\n\ndata: {}\n\n":   `{}`,
		": PROCESSING\n\n: PROCESSING\n\n{\n\"a\": 1\n}":    "{ \"a\": 1 }",
		"":                             "ERR unexpected EOF",
		": PROCESSING\n\n":             "ERR unexpected EOF",
		"<!doctype html><p>himitsu":    "ERR neither JSON nor events",
		"data: himitsu\n\n":            "ERR an event that is no JSON",
		`{"a":`:                        "ERR JSON without its end",
		`{"himitsu"}`:                  "ERR no JSON",
		"data: {\"a\":1}\n\n{\"a\":2}": `{"a":1} {"a":2}`,
		strings.Repeat("x", 5<<20):     "ERR a line that is too long",
		"data: {\"a\":\"x\\ud83d\"}\n\ndata: {\"a\":\"\\uDE00y\"}\n\ndata: [DONE]\n\n": `{"a":"x"} {"a":"\ud83d\uDE00y"}`,
		"data: {\"a\":\"x\\ud83d\"}\n\ndata: {\"a\":\"y\"}\n\n":                        `{"a":"x\ud83d"} {"a":"y"}`,
		"data: {\"a\":\"x\\ud83d\"}\n\ndata: [DONE]\n\n":                               `{"a":"x\ud83d"}`,

		`{"a":"x\\ud83d"}{"a":"\ude00"}{"a":"\ud83d\ude00"}`: `{"a":"x\\ud83d"} {"a":"\ude00"} {"a":"\ud83d\ude00"}`,
		"data: {\"a\":1}\n\nevent: error\ndata: {}\n\n":      `{"a":1} error:{}`,
	} {
		for name, in := range map[string]io.Reader{"at once": strings.NewReader(body), "in bytes": iotest.OneByteReader(strings.NewReader(body))} {
			if name == "in bytes" && len(body) > 1<<20 {
				continue
			}
			var got []string
			err := model.Values(&http.Response{Header: http.Header{"Content-Type": {"text/x; charset=utf-8"}}, Body: io.NopCloser(in)},
				func(event string, value json.RawMessage) (bool, error) {
					if event != "" {
						event += ":"
					}
					got = append(got, event+strings.Join(strings.Fields(string(value)), " "))
					return false, nil
				})
			if err != nil {
				got = []string{"ERR " + err.Error()}
				expect.That(t, !strings.Contains(err.Error(), "himitsu"), "the error quotes: %v", err)
			}
			text := strings.Join(got, " ")
			expect.That(t, text == want || strings.HasPrefix(want, "ERR ") && strings.HasSuffix(text, strings.TrimPrefix(want, "ERR ")),
				"%.60q %s: %s", body, name, text)
		}
	}
	broke := errors.New("the connection broke")
	err := model.Values(&http.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader("data: {}\n\ndata: {\"a"), iotest.ErrReader(broke)))},
		func(string, json.RawMessage) (bool, error) { return false, nil })
	expect.That(t, errors.Is(err, broke), "%v", err)
}

// An error in an answer of status 200 is judged by its own code.
func TestErrorsInsideOfAnswers(t *testing.T) {
	for about, tt := range map[string]struct {
		said  string
		codes []string
		kind  model.Kind
		again bool
	}{
		"a status":                  {"", []string{"429"}, model.RateLimited, true},
		"a gateway's status":        {"Provider returned error", []string{"502"}, model.Overloaded, true},
		"a status and a code":       {"", []string{"503", "UNAVAILABLE"}, model.Overloaded, true},
		"no credit":                 {"", []string{"402"}, model.NoCredit, false},
		"a used-up quota":           {"", []string{"insufficient_quota"}, model.NoCredit, false},
		"a type alone":              {"", []string{"", "server_error"}, model.Overloaded, true},
		"an unknown code":           {"", []string{"brand_new"}, model.BadRequest, false},
		"an unknown code, its type": {"", []string{"brand_new", "rate_limit_error"}, model.RateLimited, true},
		"a wrong key":               {"", []string{"invalid_api_key"}, model.Unauthorized, false},
		"a number that says less":   {"", []string{"7"}, model.BadRequest, false},
		"too long":                  {"maximum context length is 7", []string{"400"}, model.TooLong, false},
		"a sentence that passes":    {"The engine is currently overloaded, please try again later", nil, model.Overloaded, true},
		"a sentence that does not":  {"himitsu", nil, model.Unreadable, false},
		"a code that is none":       {"", []string{"himitsu no irai"}, model.Unreadable, false},
	} {
		e := model.FromCode("v", tt.said, tt.codes...)
		expect.That(t, e.Kind == tt.kind && e.Retryable == tt.again && !strings.Contains(e.Error(), "himitsu"), "%s: %v", about, e)
	}
}
