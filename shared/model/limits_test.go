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
	for _, text := range []string{
		"2025年1月から2025年9月の残業を確認して", "2025年1月から2025年9月の勤怠をまとめて", "Attendance from January 2025 to September 2025", "2025年1月から2025年12月の残業。シートは不要",
		"営業部と開発部と第一営業課の2025年1月から2025年3月の勤怠をまとめて", "2025年1月から2025年9月の営業部の勤怠を、人が確認してからまとめて",
	} {
		_, _, steps := think(t, text, "ja", nil, nil)
		expect.That(t, card.StepsFit(steps, ""), "the %d steps of %q don't fit a card", len(steps), text)
	}
	for _, text := range []string{"2025年1月から2025年12月の残業を確認して", "2025年1月から2025年12月の勤怠をまとめて", "Check overtime from January 2025 to December 2025"} {
		e, _, err := model.Extract(t.Context(), demo.Layers{}, model.ExtractInput{Text: text, Locale: "ja", Now: now(), Try: 1})
		expect.That(t, err == nil && e.Sentence != "", "%q becomes a task whose steps no card can show", text)
	}
}
