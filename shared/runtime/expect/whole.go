package expect

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/words/language"
)

var place = regexp.MustCompile(`\{[a-z]+\}`)

// Whole fails the test if a language's file has a text that W has no field for, or lacks a text that W or another
// language's file has, or a placeholder in it, unless each language has its own.
func Whole[W any](t T, files fs.ReadFileFS, folder string, own ...string) {
	t.Helper()
	var all []reflect.Value
	for _, locale := range language.All {
		name, words := folder+"/"+locale+".json", new(W)
		d := json.NewDecoder(bytes.NewReader(Value(files.ReadFile(name))(t)))
		d.DisallowUnknownFields()
		err := d.Decode(words)
		Must(t, err == nil, "%s: %v", name, err)
		all = append(all, reflect.ValueOf(words).Elem())
	}
	for i, v := range all {
		for _, other := range all {
			for _, missing := range lacks("", v, other) {
				if strings.HasPrefix(missing, "{") && own != nil {
					continue
				}
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
			return append(missing, at)
		}
		for _, p := range place.FindAllString(other.String(), -1) {
			if !strings.Contains(v.String(), p) {
				missing = append(missing, p+" in "+at)
			}
		}
	}
	return missing
}

// Sentences are the texts of Ringi's catalogs by locale, cut at their placeholders. Texts that another language has too
// are left out.
type Sentences map[string][]string

// SentencesBelow cuts the texts of the files <locale>.json below a folder.
func SentencesBelow(t testing.TB, root string) Sentences {
	t.Helper()
	texts := map[string][]string{}
	NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		locale, is := strings.CutSuffix(filepath.Base(path), ".json")
		if err != nil || !is || !slices.Contains(language.All, locale) || strings.Contains(path, "/testdata/") {
			return err
		}
		var v any
		NoError(t, json.Unmarshal(Value(os.ReadFile(path))(t), &v))
		texts[locale] = append(texts[locale], leaves(v)...)
		return nil
	}))
	out := Sentences{}
	for _, locale := range language.All {
		var others string
		for other, said := range texts {
			if other != locale {
				others += strings.Join(said, "\n")
			}
		}
		for _, text := range texts[locale] {
			for _, part := range placeholder.Split(text, -1) {
				if part = strings.TrimFunc(part, mark); tells(part) && !strings.Contains(others, part) {
					out[locale] = append(out[locale], part)
				}
			}
		}
		Must(t, len(out[locale]) >= 300, "only %d texts in %s", len(out[locale]), locale)
	}
	return out
}

// leaves returns the texts in a decoded JSON value.
func leaves(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			all = append(all, leaves(x)...)
		}
	case map[string]any:
		for _, x := range v {
			all = append(all, leaves(x)...)
		}
	}
	return all
}

// placeholder matches what a text is filled with, and marks around it.
var placeholder = regexp.MustCompile("\\{\\w+\\}|%[+#]?[0-9.]*[a-z]|[\\n`*“”「」<>]")

func mark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// tells reports whether a text is long enough to be nobody else's: three words, or five letters with hiragana.
func tells(part string) bool {
	if strings.ContainsFunc(part, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }) {
		return len([]rune(part)) >= 5
	}
	return len(strings.Fields(part)) >= 3 && len(part) >= 12 && part[0] < unicode.MaxASCII
}

// Japanese reports whether a text has Japanese letters.
func Japanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
	})
}

// Foreign returns the sentences of other languages in a text. data is what people and vendors wrote, which may be in
// any language.
func (s Sentences) Foreign(locale, text string, data ...string) (found []string) {
	theirs := strings.Join(data, "\n")
	for other, parts := range s {
		for _, part := range parts {
			if other != locale && strings.Contains(text, part) && !strings.Contains(theirs, part) {
				found = append(found, part)
			}
		}
	}
	return found
}
