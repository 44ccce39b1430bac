package card_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/explain/line"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryStateLooksAsItDid(t *testing.T) {
	for _, locale := range language.All {
		for _, s := range slices.Concat(states, againStates, routeStates, stepRouteStates) {
			t.Run(locale+"/"+s.name, func(t *testing.T) {
				scenario := s.scenario(t)
				m := render(scenario.Aggregate, scenario.card(s.card), locale, scenario.now)
				err := cardtest.Check(m)
				expect.That(t, err == nil, "%v", err)
				golden(t, filepath.Join("testdata", "golden", locale, s.name+".json"), m)
			})
		}
	}
}

// For each tool of the catalog, some state shows its planned call among the steps that wait for approval. A tool whose
// line is a template in its file needs no state of its own: the card shows that line in each language.
func TestACardShowsEachTool(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range states {
		if p := s.scenario(t).Process(); s.card == processCard && p != nil {
			for _, step := range p.Steps {
				shown[step.Tool] = shown[step.Tool] || step.ToolInput != ""
			}
		}
	}
	for _, s := range expect.Value(tool.Builtin())(t).Planned().All() {
		if f, _ := catalog.Of(s.Name); f.Demo != nil && f.Line != nil {
			input := aggregate.JSON(expect.Value(json.Marshal(f.Demo.Input))(t))
			steps := []task.Step{{StepID: "step-1", Order: 1, Title: s.Title("ja"), Tool: s.Name, Access: aggregate.Read,
				ToolInput: input}}
			st := state{then: func(s *scenario) *scenario { return planned(s, steps, defaults) }}.scenario(t)
			for _, locale := range language.All {
				m := render(st.Aggregate, st.card(processCard), locale, st.now)
				said := ""
				for _, p := range line.Of(locale, steps)[0] {
					said += p.Text
				}
				drawn := string(expect.Value(json.Marshal(m))(t))
				expect.That(t, cardtest.Check(m) == nil && said != "" && strings.Contains(drawn, said),
					"the card of %s does not say %q: %s", s.Name, said, drawn)
			}
			continue
		}
		expect.That(t, shown[s.Name],
			"no card shows a call of %s: put one, with its arguments, into a state of shared/slack/card/states_test.go, and write its golden files by go test ./shared/slack/card -run TestEveryStateLooksAsItDid -update", s.Name)
	}
}

// golden compares v with a golden file, both as decoded JSON.
func golden(t *testing.T, path string, v any) {
	t.Helper()
	if *update {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		expect.NoError(t, enc.Encode(decoded(t, v)))
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	b, err := os.ReadFile(path)
	expect.Must(t, err == nil, "%v; run the test with -update", err)
	var want any
	expect.NoError(t, json.Unmarshal(b, &want))
	diff := cmp.Diff(want, decoded(t, v))
	expect.That(t, diff == "", "(-%s +rendered)\n%s", path, diff)
}

func decoded(t *testing.T, v any) any {
	t.Helper()
	b := expect.Value(json.Marshal(v))(t)
	var out any
	expect.NoError(t, json.Unmarshal(b, &out))
	return out
}
