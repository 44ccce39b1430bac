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
	var each Spoken[*catalog]
	for _, locale := range All {
		each = append(each, &catalog{files: files, name: folder + "/" + locale + ".json", words: new(T)})
	}
	return func(locale string) *T { return each.In(locale).read().(*T) }
}

// catalog is a file of words. Whatever their type, its code is in a binary once.
type catalog struct {
	files embed.FS
	name  string
	words any // a pointer, empty until the file is read
	once  sync.Once
	err   error
}

func (c *catalog) read() any {
	c.once.Do(func() {
		text, err := c.files.ReadFile(c.name)
		if err == nil {
			err = json.Unmarshal(text, c.words)
		}
		c.err = err
	})
	if c.err != nil {
		panic(fmt.Errorf("read %s: %w", c.name, c.err))
	}
	return c.words
}
