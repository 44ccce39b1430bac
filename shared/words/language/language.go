// Package language lists the languages of cards and messages.
package language

// All are the locales that have texts. A locale that is not among them gets the first one's texts.
var All = []string{"ja", "en"}

// English is the locale of what models and engineers are told. Ringi tells them nothing in any other language.
const English = "en"

// Spoken has one T for each locale of All, in that order.
type Spoken[T any] []T

// InEach makes a Spoken. A new language is a new parameter here: then no package builds whose calls lack its text.
func InEach[T any](ja, en T) Spoken[T] { return Spoken[T]{ja, en} }

// Texts are one text in each language, by locale: what a file says.
type Texts map[string]string

// In is the text of a locale, or the first language's where there is none.
func (t Texts) In(locale string) string {
	if text, ok := t[locale]; ok {
		return text
	}
	return t[All[0]]
}

// In is the T of a locale.
func (s Spoken[T]) In(locale string) T {
	for i, l := range All {
		if l == locale {
			return s[i]
		}
	}
	return s[0]
}
