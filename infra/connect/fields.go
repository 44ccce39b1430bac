package main

import (
	"encoding/json"
	"reflect"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// shown is a value as set takes it.
func shown(f tenancy.Member) string {
	if f.Value.Kind() == reflect.String {
		return f.Value.String()
	}
	if list, ok := f.Value.Interface().([]string); ok && !strings.Contains(strings.Join(list, ""), ",") {
		return strings.Join(list, ",")
	}
	b, err := json.Marshal(f.Value.Interface())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// set gives a member what a person wrote. It returns aggregate.ErrField for a value of another kind.
func set(f tenancy.Member, text string) error {
	list, ok := f.Value.Addr().Interface().(*[]string)
	switch {
	case f.Value.Kind() == reflect.String:
		f.Value.SetString(text)
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
	f.Value.SetZero() // JSON would leave what it doesn't name
	if text == "null" || json.Unmarshal([]byte(text), f.Value.Addr().Interface()) != nil {
		return tenancy.Unread(f.Name, f.Value).Err()
	}
	return nil
}

// assign sets fields by arguments of the form name=value; unknown says what is wrong with a name.
func assign(fields []tenancy.Member, args []string, unknown func(name string) error) error {
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return aggregate.ErrField{Field: visible(name), Limit: "needs a value: " + visible(name) + "=…"}
		}
		found := false
		for _, f := range fields {
			if f.Name == name {
				found = true
				if err := set(f, text); err != nil {
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
