package modeltest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// asked finds how many tokens a request asks for.
var asked = regexp.MustCompile(`"max_?(?:output_?|completion_?)?[tT]okens":\s*(\d+)`)

// lowered lets the server refuse as many tokens as it is asked for. The client obeys the limit that the refusal names,
// once, and says what it asked for in the end.
func (w Vendor) lowered(t *testing.T) {
	for name, named := range map[string]int{"that is named": 500, "that is always below": 0} {
		t.Run(name, func(t *testing.T) {
			var all []int
			r, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				n, _ := strconv.Atoi(append(asked.FindStringSubmatch(string(body)), "", "")[1])
				all = append(all, n)
				limit := cmp.Or(named, n-1)
				rw.Header().Set("Content-Type", "application/json")
				if n <= limit {
					io.WriteString(rw, answer(w.Good))
					return
				}
				said := fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens", n, limit)
				w.refuse(rw, said)
			})
			last := cmp.Or(named, all[0]-1)
			numbers := slices.Compact(slices.Clone(all)) // other parts of the request may be left out meanwhile
			expect.Same(t, []int{all[0], last}, numbers)
			expect.That(t, (err == nil) == (named > 0) && r.Tokens == last && r.Full, "%+v, %v", r, err)
		})
	}
}

// formless lets the server refuse the answer's schema. A single question is asked once more then, with the schema in
// words.
func (w Vendor) formless(t *testing.T) {
	var formed, worded []bool
	r, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form := decode(t, string(body)).(map[string]any)[w.Form]
		formed = append(formed, form != nil)
		worded = append(worded, strings.Contains(string(body), `of this schema and nothing else:\n{\"type\":\"object\"`))
		rw.Header().Set("Content-Type", "application/json")
		if form == nil {
			io.WriteString(rw, answer(w.Good))
			return
		}
		w.refuse(rw, w.Formless)
	})
	expect.That(t, err == nil && r.Text == said, "%+v, %v", r, err)
	expect.Same(t, []bool{true, false}, formed)
	expect.That(t, worded[len(worded)-1], "the schema is not in words")
}

// refuse answers with 400 and a sentence.
func (w Vendor) refuse(rw http.ResponseWriter, said string) {
	code := cmp.Or(w.Codes[http.StatusBadRequest], "invalid_request")
	for name, value := range w.Header {
		rw.Header().Set(name, strings.ReplaceAll(value, "%CODE%", code))
	}
	rw.WriteHeader(http.StatusBadRequest)
	io.WriteString(rw, strings.NewReplacer("%CODE%", code, Content, said).Replace(w.Error))
}
