package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Read takes the words of a package from its embedded files: <folder>/<locale>.json holds one T. Each file is read when
// its language is first asked for, and what it returns is shared: nobody may change it. A file that can't be read
// panics; a test with languagetest.Whole reads them all.
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
