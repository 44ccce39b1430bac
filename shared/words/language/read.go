package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Read returns a function for the words of a package in its embedded files: <folder>/<locale>.json holds one T. A file
// is read when its language is first needed. The result is shared and must not be changed. A file that can't be read
// panics; languagetest.Whole reads them all in a test.
func Read[T any](files embed.FS, folder string) func(locale string) *T {
	var each Spoken[func() *T]
	for _, locale := range All {
		each = append(each, sync.OnceValue(func() *T {
			name, words := folder+"/"+locale+".json", new(T)
			text, err := files.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(text, words)
			}
			if err != nil {
				panic(fmt.Errorf("read %s: %w", name, err))
			}
			return words
		}))
	}
	return func(locale string) *T { return each.In(locale)() }
}
