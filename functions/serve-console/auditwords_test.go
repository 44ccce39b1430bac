package main

import (
	"reflect"
	"testing"

	"ringi/shared/words/language"
)

func TestNoTextOfTheLogAndTheNumbersIsMissing(t *testing.T) {
	for i, locale := range language.All {
		for _, texts := range []any{auditWords[i], exportWords[i], insightsWords[i]} {
			v := reflect.ValueOf(texts)
			for j := range v.NumField() {
				if f := v.Field(j); f.Kind() == reflect.String && f.String() == "" || f.Kind() == reflect.Map && f.Len() == 0 {
					t.Errorf("%s: %T has no %s", locale, texts, v.Type().Field(j).Name)
				}
			}
		}
	}
}
