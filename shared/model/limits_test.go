package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/expect"
	"ringi/shared/language"
	"ringi/shared/task"
)

// Models are told the limit that their steps are held against.
func TestModelsAreToldHowManyStepsThereMayBe(t *testing.T) {
	told, err := filepath.Glob("prompts/plan.*.md")
	if err != nil || len(told) != len(language.All) {
		t.Fatalf("%d prompts, %v", len(told), err)
	}
	for _, file := range append(told, "schemas/plan.json") {
		b := expect.Value(os.ReadFile(file))(t)
		if !strings.Contains(string(b), fmt.Sprint(task.MaxSteps)) {
			t.Errorf("%s does not say %d", file, task.MaxSteps)
		}
	}
}
