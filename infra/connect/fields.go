package main

import (
	"encoding/json"
	"reflect"
	"strings"

	"ringi/shared/domain/aggregate"
)

// field is a value of a row under its name there; a member of an object is named
// after it, with a dot between.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf are the fields of the struct that row points to, and those of structs within.
func fieldsOf(row any) []field { return fieldsUnder("", reflect.ValueOf(row).Elem()) }

func fieldsUnder(before string, v reflect.Value) (out []field) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case name == "-":
		case f.Kind() == reflect.Struct:
			out = append(out, fieldsUnder(before+name+".", f)...)
		default:
			out = append(out, field{before + name, f})
		}
	}
	return out
}

// String is the value as set takes it.
func (f field) String() string {
	if f.value.Kind() == reflect.String {
		return f.value.String()
	}
	if list, ok := f.value.Interface().([]string); ok && !strings.Contains(strings.Join(list, ""), ",") {
		return strings.Join(list, ",")
	}
	b, err := json.Marshal(f.value.Interface())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// set takes what a person wrote. It returns aggregate.ErrField for a value of another kind.
func (f field) set(text string) error {
	list, ok := f.value.Addr().Interface().(*[]string)
	switch {
	case f.value.Kind() == reflect.String:
		f.value.SetString(text)
		return nil
	case ok && !strings.HasPrefix(text, "["):
		*list = []string{}
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				*list = append(*list, one)
			}
		}
		return nil
	}
	f.value.SetZero() // JSON would leave what it doesn't name
	if text == "null" || json.Unmarshal([]byte(text), f.value.Addr().Interface()) != nil {
		return aggregate.ErrField{Field: f.name, Limit: "must be " + kinds[f.value.Kind()]}
	}
	return nil
}

var kinds = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Float64: "a number", reflect.Slice: "a list",
}

// assign sets fields by arguments of the form name=value; unknown says what is wrong with a name.
func assign(fields []field, args []string, unknown func(name string) error) error {
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return aggregate.ErrField{Field: visible(name), Limit: "needs a value: " + visible(name) + "=…"}
		}
		found := false
		for _, f := range fields {
			if f.name == name {
				found = true
				if err := f.set(text); err != nil {
					return err
				}
			}
		}
		if !found {
			return unknown(visible(name))
		}
	}
	return nil
}
