package language

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Catalog has the words of a package in its embedded files: <Folder>/<locale>.json holds one T. As a variable without a
// call in its value it leaves a binary, files and all, in which nobody asks for its words.
type Catalog[T any] struct {
	Files  *embed.FS
	Folder string
	read   sync.Map // *T by locale
}

// In returns the words of a locale, whose file is read when it is first needed. The result is shared and must not be
// changed. A file that can't be read panics; languagetest.Whole reads them all in a test.
func (c *Catalog[T]) In(locale string) *T {
	if !slices.Contains(All, locale) {
		locale = All[0]
	}
	words, ok := c.read.Load(locale)
	if !ok {
		words, _ = c.read.LoadOrStore(locale, read(c.Files, c.Folder+"/"+locale+".json", new(T)))
	}
	return words.(*T)
}

func read(files *embed.FS, name string, words any) any {
	text, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, words)
	}
	if err != nil {
		panic(fmt.Errorf("read %s: %w", name, err))
	}
	return words
}
