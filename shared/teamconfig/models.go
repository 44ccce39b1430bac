package teamconfig

import (
	"cmp"
	"fmt"
	"slices"

	"ringi/shared/modelname"
)

// Models are the names of all models that a contest calls, each once.
func (c Contest) Models() (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range c.Teams {
		add(t.Leader.Model)
		for _, m := range t.Members {
			add(m.Model)
		}
	}
	for _, m := range c.Evaluator.Metrics {
		add(cmp.Or(m.Model, c.Evaluator.DefaultModel))
	}
	if c.MinRounds < c.MaxRounds { // else nobody judges
		add(c.Judgment.Model)
	}
	return names
}

// CanTalk returns an error that names a model of a contest which holds no conversation here, if there is one.
func (c Contest) CanTalk() error {
	for _, name := range c.Models() {
		if n, err := modelname.Parse(name); err == nil && n.Provider == modelname.Bedrock {
			return fmt.Errorf("%.100s: models of Amazon Bedrock can't take part in contests", name)
		}
	}
	return nil
}
