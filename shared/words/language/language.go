// Package language lists the languages of cards and messages.
package language

import (
	"fmt"
	"strings"
)

// All are the locales that have texts. Other locales get the texts of the first one.
var All = []string{"ja", "en"}

// English is the locale of texts for models and engineers.
const English = "en"

// Spoken has one T for each locale of All, in that order.
type Spoken[T any] []T

// InEach makes a Spoken. A new language becomes a new parameter, so that calls without its text don't compile.
func InEach[T any](ja, en T) Spoken[T] { return Spoken[T]{ja, en} }

// Said has a text for each of some keys. It is constant data, which a map is not: a program that never asks for it
// doesn't build it when it starts.
type Said[K comparable] []struct {
	Of   K
	Text string
}

// Find returns the text for a key.
func (s Said[K]) Find(k K) (text string, known bool) {
	for _, x := range s {
		if x.Of == k {
			return x.Text, true
		}
	}
	return "", false
}

// Text is Find for a key that has a text.
func (s Said[K]) Text(k K) string {
	text, _ := s.Find(k)
	return text
}

// Texts is one text in each language, by locale, as in files.
type Texts map[string]string

// In returns the text of a locale, or the first language's if there is none.
func (t Texts) In(locale string) string {
	if text, ok := t[locale]; ok {
		return text
	}
	return t[All[0]]
}

// In returns the T of a locale.
func (s Spoken[T]) In(locale string) T {
	for i, l := range All {
		if l == locale {
			return s[i]
		}
	}
	return s[0]
}

// Fill replaces the placeholders of a text: Fill("v{version}", "version", 2). It doesn't look for placeholders within
// values.
func Fill(text string, pairs ...any) string {
	var values []string
	for i := 0; i+1 < len(pairs); i += 2 {
		values = append(values, "{"+fmt.Sprint(pairs[i])+"}", fmt.Sprint(pairs[i+1]))
	}
	return strings.NewReplacer(values...).Replace(text)
}
