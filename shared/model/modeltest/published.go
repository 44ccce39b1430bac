package modeltest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
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
