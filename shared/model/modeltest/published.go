package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Differences compares an answer with T, a type of the vendor's SDK that is generated from the vendor's API
// description. It reports missing required members, unpublished members, and members of another type.
func Differences[T any](body string) []string {
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return []string{fmt.Sprintf("%T: %v", v, err)}
	}
	found := compare("", reflect.ValueOf(v))
	slices.Sort(found)
	return found
}

// member is the description of an answer's member that both SDKs share.
type member interface {
	Raw() string // empty: the member is missing
	Valid() bool // the member is present, not null, and of the published type
}

func compare(at string, v reflect.Value) (found []string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, compare(fmt.Sprintf("%s[%d]", at, i), v.Index(i))...)
		}
		return found
	case reflect.Struct:
	default:
		return nil
	}
	if variant := v.MethodByName("AsAny"); variant.IsValid() {
		one := variant.Call(nil)[0]
		if one.IsNil() {
			return []string{at + " is of no published kind"}
		}
		return compare(at, one.Elem())
	}
	said := v.FieldByName("JSON")
	switch {
	case !said.IsValid(): // the test's own type around the vendor's
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				found = append(found, compare(at+"."+f.Name, v.Field(i))...)
			}
		}
		return found
	case !said.FieldByName("ExtraFields").IsValid(): // one of several types that nothing tells apart
		return nil
	}
	for _, name := range said.FieldByName("ExtraFields").MapKeys() {
		found = append(found, at+"."+name.String()+" is not published")
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kept := said.FieldByName(f.Name)
		if name == "" || name == "-" || !kept.IsValid() {
			continue
		}
		m := kept.Interface().(member)
		always, constant := f.Tag.Lookup("default")
		required := constant || f.Tag.Get("api") == "required"
		switch path := at + "." + name; {
		case m.Raw() == "" && required:
			found = append(found, path+" is missing")
		case m.Raw() == "":
		case m.Raw() == "null" && f.Tag.Get("api") == "":
			found = append(found, path+" is null")
		case m.Raw() == "null":
		case !m.Valid():
			found = append(found, path+" is of another type: "+m.Raw())
		case constant && m.Raw() != `"`+always+`"`:
			found = append(found, path+" is "+m.Raw()+", published as "+always)
		default:
			found = append(found, compare(path, v.Field(i))...)
		}
	}
	return found
}

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
