package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Prompts state the same limit of steps that is enforced.
func TestModelsAreToldHowManyStepsThereMayBe(t *testing.T) {
	told, err := filepath.Glob("prompts/plan.*.md")
	expect.Must(t, err == nil && len(told) == len(language.All), "%d prompts, %v", len(told), err)
	for _, file := range append(told, "schemas/plan.json") {
		b := expect.Value(os.ReadFile(file))(t)
		expect.Has(t, string(b), fmt.Sprint(task.MaxSteps), "%s does not say %d", file, task.MaxSteps)
	}
}

// The demo drafts only policies whose steps a card can show.
func TestDemoPlansFitACard(t *testing.T) {
	const mostTold = 10
	told := func(n int) (people string) {
		for i := range n {
			people += fmt.Sprintf("<@U%010d> ", i)
		}
		return people
	}
	for _, request := range []string{"データの検証もして、営業部の2025年9月の勤怠を、%sに送って", "%sに2025年1月の残業を送って",
		"Validate the data and send attendance for January 2025 to %s"} {
		text := fmt.Sprintf(request, told(mostTold))
		_, _, steps := think(t, text, "ja", nil, nil)
		expect.That(t, len(steps) > mostTold && card.StepsFit(steps, ""), "the %d steps of %q don't fit a card",
			len(steps), text)
		text = fmt.Sprintf(request, told(mostTold+1))
		e, _, err := model.Extract(t.Context(), demo.Layers{}, model.ExtractInput{Text: text, Locale: "ja", Now: now(),
			Try: 1})
		expect.That(t, err == nil && e.Sentence != "", "%q becomes a task whose steps no card can show", text)
	}
}
