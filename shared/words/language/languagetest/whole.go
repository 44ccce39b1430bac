// Package languagetest checks the files of a language.Catalog.
package languagetest

import (
	"bytes"
	"embed"
	"encoding/json"
	"reflect"
	"testing"

	"ringi/shared/words/language"
)

// Whole fails the test if a language's file has a text that T has no field for, or lacks a text that T or another
// language's file has.
func Whole[T any](t *testing.T, files embed.FS, folder string) {
	t.Helper()
	var all []reflect.Value
	for _, locale := range language.All {
		name, words := folder+"/"+locale+".json", new(T)
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(words); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, reflect.ValueOf(words).Elem())
	}
	for i, v := range all {
		for _, other := range all {
			for _, missing := range lacks("", v, other) {
				t.Errorf("%s/%s.json has no %s", folder, language.All[i], missing)
			}
		}
	}
}

// lacks returns the missing texts: those that are always required, and those that the other language has.
func lacks(at string, v, other reflect.Value) (missing []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			missing = append(missing, lacks(at+"."+v.Type().Field(i).Name, v.Field(i), other.Field(i))...)
		}
	case reflect.Map:
		for _, key := range other.MapKeys() {
			said := v.MapIndex(key)
			if !said.IsValid() {
				said = reflect.Zero(v.Type().Elem())
			}
			missing = append(missing, lacks(at+"."+key.String(), said, other.MapIndex(key))...)
		}
		if v.Len() == 0 {
			missing = append(missing, at)
		}
	case reflect.Slice, reflect.Array:
		for i := range other.Len() {
			if i >= v.Len() {
				return append(missing, at)
			}
			missing = append(missing, lacks(at, v.Index(i), other.Index(i))...)
		}
	default:
		if v.IsZero() {
			missing = append(missing, at)
		}
	}
	return missing
}
