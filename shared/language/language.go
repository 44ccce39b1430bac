// Package language has the languages that people are spoken to in.
package language

// All are those that cards and sentences are in. The first stands where a locale is none of them.
var All = []string{"ja", "en"}

// Spoken has one T for each of Languages, in their order.
type Spoken[T any] []T

// InEach is where whatever is said in a language is put together: whoever adds a language adds an argument, and the
// compiler names every place that lacks it.
func InEach[T any](ja, en T) Spoken[T] { return Spoken[T]{ja, en} }

// In is that of a locale.
func (s Spoken[T]) In(locale string) T {
	for i, l := range All {
		if l == locale {
			return s[i]
		}
	}
	return s[0]
}
