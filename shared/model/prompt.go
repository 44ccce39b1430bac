package model

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

//go:embed prompts/*.md
var prompts embed.FS

// Prompt is a file of instructions for a model. Its first line is "version: <n>": the number
// goes up with each change of the words, is logged with every call and kept with what it cost.
type Prompt struct {
	Purpose Purpose
	Locale  string
	Version int
	Text    string
}

// Name is how logs and usage name a prompt: extract.ja.2.
func (p Prompt) Name() string { return fmt.Sprintf("%s.%s.%d", p.Purpose, p.Locale, p.Version) }

func promptOf(purpose Purpose, locale string) (Prompt, error) {
	return ReadPrompt(prompts, purpose, locale)
}

// ReadPrompt reads the prompt of a purpose in the language of a locale: prompts/<purpose>.<locale>.md.
func ReadPrompt(files embed.FS, purpose Purpose, locale string) (Prompt, error) {
	if !slices.Contains(language.All, locale) {
		locale = language.All[0]
	}
	name := "prompts/" + string(purpose) + "." + locale + ".md"
	file, err := files.ReadFile(name)
	if err != nil {
		return Prompt{}, fmt.Errorf("prompt of %s: %w", purpose, err)
	}
	first, text, _ := strings.Cut(string(file), "\n")
	digits, found := strings.CutPrefix(first, "version: ")
	version, err := strconv.Atoi(digits)
	if !found || err != nil {
		return Prompt{}, fmt.Errorf("%s must begin with a line such as version: 1", name)
	}
	return Prompt{purpose, locale, version, strings.TrimSpace(text)}, nil
}

// SchemaPrompt is a sentence that asks for JSON of a schema, for vendors that do not enforce one.
func SchemaPrompt(schema []byte) string {
	return "Answer with one JSON value of this schema and nothing else:\n" + string(schema)
}
