package chat

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/language"
)

//go:embed prompts/*.md
var prompts embed.FS

// prompt is one of the files in prompts/, whose first line is its version.
type prompt struct{ name, text string }

func promptIn(locale string) (prompt, error)     { return promptOf("chat", locale) }
func foldPromptIn(locale string) (prompt, error) { return promptOf("fold", locale) }

func promptOf(purpose, locale string) (prompt, error) {
	if !slices.Contains(language.All, locale) {
		locale = language.All[0]
	}
	file, err := prompts.ReadFile("prompts/" + purpose + "." + locale + ".md")
	if err != nil {
		return prompt{}, fmt.Errorf("prompt of %s: %w", purpose, err)
	}
	first, text, _ := strings.Cut(string(file), "\n")
	version, found := strings.CutPrefix(first, "version: ")
	if !found {
		return prompt{}, fmt.Errorf("the prompt of %s must begin with a line such as version: 1", purpose)
	}
	return prompt{fmt.Sprintf("%s.%s.%s", purpose, locale, version), strings.TrimSpace(text)}, nil
}
