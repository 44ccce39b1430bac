package turn

import (
	"embed"

	"ringi/shared/model"
)

//go:embed prompts/*.md
var prompts embed.FS

func promptIn(locale string) (model.Prompt, error) { return model.ReadPrompt(prompts, "chat", locale) }
func foldPromptIn(locale string) (model.Prompt, error) {
	return model.ReadPrompt(prompts, "fold", locale)
}
