package teamconfig

import (
	"embed"
	"errors"
	"fmt"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Finding is a mistake in a file.
type Finding struct {
	File    string `json:"file"`  // relative to the workspace
	Field   string `json:"field"` // relative to the file that was asked for: members[0].model; empty: the file as a whole
	Message string `json:"message"`
	Err     error  `json:"-"` // why a file can't be read; nil: it was
}

// maxSaid bounds a finding's text, in characters, because rows and answers hold findings and a name may be very long.
const maxSaid = 1000

// String returns the file, the field and the mistake as one line.
func (f Finding) String() string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	return language.Clip(language.OneLine(s+": "+f.Message), maxSaid)
}

// Texts returns the texts of the first most mistakes, and then how many more there are. It returns
// explain.ErrUnavailable if a file can't be read now, which is no mistake in it.
func Texts(found []Finding, most int, locale string) (all []string, err error) {
	for _, f := range found {
		if errors.Is(f.Err, explain.ErrUnavailable) {
			return nil, fmt.Errorf("read %.200s: %w", f.File, f.Err)
		}
		all = append(all, f.String())
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], say(locale, "and %d more", n))
	}
	return all, nil
}

// refuse records a mistake.
func (t table) refuse(field, format string, a ...any) {
	t.found = append(t.found, Finding{File: t.file, Field: strings.TrimSuffix(t.path+field, "."),
		Message: say(t.locale, format, a...)})
}

// written returns a text as a file would write it, short enough for a message.
func written(s string) string {
	if tenancy.LikeKey(strings.TrimSpace(s)) {
		return "what looks like a key"
	}
	return fmt.Sprintf("%q", language.Beginning(s, maxShown))
}

// maxShown is how much of a value a message quotes, in characters.
const maxShown = 80

const outside = "must be a relative path inside the workspace"

// say writes a message in a language. What has no translation stays English.
func say(locale, format string, a ...any) string {
	if in := (*translated.In(locale))[format]; in != "" {
		format = in
	}
	return fmt.Sprintf(format, a...)
}

//go:embed texts/*.json
var texts embed.FS

// translated are messages in another language, with the same values in the same order, by the English ones.
var translated = language.Catalog[map[string]string]{Files: &texts, Folder: "texts"}

// Named is the place where a file names a model, or leaves it out.
type Named struct {
	File, Field, Model string
	Set                bool // otherwise the model is the default
}

// Refused returns a finding about the model.
func (n Named) Refused(locale, why string) Finding {
	if n.Set {
		return Finding{File: n.File, Field: n.Field, Message: say(locale, "%s, got %s", why, written(n.Model))}
	}
	return Finding{File: n.File, Field: n.Field,
		Message: say(locale, "is not set, and the default, %s, %s", n.Model, why)}
}
