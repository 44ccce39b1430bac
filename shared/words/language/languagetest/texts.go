package languagetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ringi/shared/words/language"
)

// Text is one of Ringi's own texts in all languages, with the file that holds it and its place there: a key, or a line
// of Go code.
type Text struct {
	File, Key string
	In        language.Texts
}

// TextsBelow collects the texts below folders: files <locale>.json and <locale>/*.yaml, objects by locale in other JSON
// files, what Go files give to language.InEach or choose by a locale, and i18n.js of the sandbox.
func TextsBelow(t testing.TB, roots ...string) []Text {
	t.Helper()
	texts := &collected{t: t, at: map[string]language.Texts{}}
	for _, root := range roots {
		must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() && !slices.Contains(without, d.Name()):
				return err
			case d.IsDir():
				return fs.SkipDir
			}
			texts.read(path)
			return nil
		}))
	}
	return texts.all
}

// without are folders that hold no texts of Ringi's.
var without = []string{"testdata", "published"}

// collected are texts in the order of their files. at finds one by file and key, to add its next language.
type collected struct {
	t   testing.TB
	all []Text
	at  map[string]language.Texts
}

func (c *collected) add(file, key, locale, text string) {
	name := file + "\x00" + key
	if c.at[name] == nil {
		c.at[name] = language.Texts{}
		c.all = append(c.all, Text{File: file, Key: key, In: c.at[name]})
	}
	c.at[name][locale] = text
}

// read adds the texts of a file.
func (c *collected) read(path string) {
	folder, name := filepath.Split(path)
	kind := filepath.Ext(name)
	switch locale := strings.TrimSuffix(name, kind); {
	case kind == ".go" && !strings.HasSuffix(name, "_test.go"):
		c.code(path)
	case name == "i18n.js":
		c.script(path)
	case kind == ".json" && slices.Contains(language.All, locale):
		c.leaves(folder+"*.json", "", locale, c.parsed(path))
	case kind == ".json":
		c.byLocale(path, "", c.parsed(path))
	case kind == ".yaml" && slices.Contains(language.All, filepath.Base(folder)):
		c.leaves(filepath.Join(filepath.Dir(filepath.Clean(folder)), "*", name), "", filepath.Base(folder), c.parsed(path))
	}
}

// parsed reads a file of JSON or YAML.
func (c *collected) parsed(path string) (v any) {
	text, err := os.ReadFile(path)
	must(c.t, err)
	if filepath.Ext(path) == ".json" {
		must(c.t, json.Unmarshal(text, &v))
	} else {
		must(c.t, yaml.Unmarshal(text, &v))
	}
	return v
}

// leaves adds all texts of a value in one language.
func (c *collected) leaves(file, key, locale string, v any) {
	if text, ok := v.(string); ok {
		c.add(file, key, locale, text)
	}
	for name, x := range members(v) {
		c.leaves(file, strings.TrimPrefix(key+"."+name, "."), locale, x)
	}
}

// byLocale adds the texts below members that are named by locales.
func (c *collected) byLocale(file, key string, v any) {
	for name, x := range members(v) {
		if slices.Contains(language.All, name) {
			c.leaves(file, key, name, x)
			continue
		}
		c.byLocale(file, strings.TrimPrefix(key+"."+name, "."), x)
	}
}

// members returns the members of a map or list in a fixed order, languages in the order of language.All.
func members(v any) func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		named := map[string]any{}
		switch v := v.(type) {
		case []any:
			for i, x := range v {
				named[fmt.Sprintf("%03d", i+1)] = x
			}
		case map[string]any:
			named = v
		case map[any]any: // YAML with keys such as 404
			for name, x := range v {
				named[fmt.Sprint(name)] = x
			}
		}
		order := func(a, b string) int {
			return cmp.Or(cmp.Compare(slices.Index(language.All, a), slices.Index(language.All, b)), cmp.Compare(a, b))
		}
		for _, name := range slices.SortedFunc(maps.Keys(named), order) {
			if !yield(name, named[name]) {
				return
			}
		}
	}
}

var (
	scriptWords = regexp.MustCompile(`(?ms)^const (\w+) = \{$(.*?)^\};$`)
	scriptIn    = regexp.MustCompile(`(?ms)^  (\w+): \{(.*?)\},$`)
	scriptText  = regexp.MustCompile(`(\w+): ("(?:[^"\\]|\\.)*")`)
)

// script adds the texts of the sandbox's i18n.js: objects by locale, whose members are texts in quotation marks.
func (c *collected) script(path string) {
	text, err := os.ReadFile(path)
	must(c.t, err)
	for _, words := range scriptWords.FindAllStringSubmatch(string(text), -1) {
		for _, in := range scriptIn.FindAllStringSubmatch(words[2], -1) {
			for _, m := range scriptText.FindAllStringSubmatch(in[2], -1) {
				var said string
				must(c.t, json.Unmarshal([]byte(m[2]), &said))
				c.add(path, words[1]+"."+m[1], in[1], said)
			}
		}
	}
}
