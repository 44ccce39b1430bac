package rules

import (
	"bytes"
	"reflect"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// filled sets every field below a value, whatever it is.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i))
		}
	case reflect.String:
		v.SetString("no: # 1\n- x")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// A field that rules gain travels in their file, and in the page's draft.
func TestEveryFieldOfRulesTravels(t *testing.T) {
	var all rules.Rules
	filled(reflect.ValueOf(&all).Elem())
	for name, is := range map[string]rules.Rules{"all fields": all, "none": *blank()} {
		is.Rev = 0
		text := expect.Value(file.Write(is, "x\nrev: 3", func(string) string { return "佐藤\n- U0EVIL" }))(t)
		var back rules.Rules
		_, faults := file.Read(text, &back)
		expect.That(t, len(faults) == 0 && same(is, back), "%s: %+v in\n%s", name, faults, text)
		again := expect.Value(draftOf(packed(draft{Rev: 4, Rules: &is})))(t)
		expect.That(t, again.Rev == 4 && same(is, again.Rules), "%s: %+v", name, again)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("rules:\n- name: x\n  route: {stages: [{name: y, who: {kind: people, people: [U1]}}]}\n"))
	f.Add([]byte("last: {reads: {route: null}}\nfloor: {hands_from: {value: 1}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		is, back := *blank(), *blank()
		if _, faults := file.Read(text, &is); len(faults) > 0 {
			return
		}
		nobody := func(string) string { return "" }
		again := expect.Value(file.Write(is, "", nobody))(t)
		_, faults := file.Read(again, &back)
		third := expect.Value(file.Write(back, "", nobody))(t)
		expect.That(t, len(faults) == 0 && bytes.Equal(again, third), "%v of %q, then %q", faults, text, again)
	})
}
