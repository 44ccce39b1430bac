package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
)

func TestAModelOfBedrockMayDoEverythingInAContest(t *testing.T) {
	const bedrock = "bedrock:amazon.nova-pro-v1:0"
	for about, models := range map[string][4]string{
		"a leader": {bedrock, "demo", "demo", "demo"}, "a member": {"demo", bedrock, "demo", "demo"}, "an evaluator": {"demo", "demo", bedrock, ""}, "a metric": {"demo", "demo", "demo", bedrock},
	} {
		files := fstest.MapFS{
			"contest.toml":   {Data: []byte("[orchestrator]\nevaluator_config = \"evaluator.toml\"\n[[orchestrator.teams]]\nconfig = \"team.toml\"\n")},
			"team.toml":      {Data: fmt.Appendf(nil, "[team]\nteam_id = \"a\"\nteam_name = \"A\"\n[team.leader]\nmodel = %q\n[[team.members]]\nagent_name = \"m\"\nagent_type = \"plain\"\ntool_description = \"d\"\nmodel = %q\n", models[0], models[1])},
			"evaluator.toml": {Data: fmt.Appendf(nil, "default_model = %q\n[[metrics]]\nname = \"Coverage\"\n", models[2])},
		}
		if models[3] != "" {
			files["evaluator.toml"].Data = fmt.Appendf(files["evaluator.toml"].Data, "model = %q\n", models[3])
		}
		h := &Handler{Workspace: func(context.Context, string) (teamconfig.Workspace, error) {
			return teamconfig.Workspace{FS: files}, nil
		}}
		c, err := h.config(t.Context(), "", tenancy.DraftContest{File: "contest.toml", MaxRounds: 3})
		if err != nil || !slices.Contains(c.Models(), bedrock) {
			t.Errorf("%s: %v, %v", about, c.Models(), err)
		}
	}
}
