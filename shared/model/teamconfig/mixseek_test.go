package teamconfig

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestAMemberIsDescribedByItsNameUnlessItsFileDoes(t *testing.T) {
	const begins = smallTeam + "[[team.members]]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\n"
	for more, want := range map[string]string{
		"": "Delegate task to x", "description = 'd'\n": "d", "tool_description = 'd'\n": "d",
		"description = 'd'\ntool_description = 'd'\n": "d",
	} {
		team, found := read[Team](workspace(map[string]string{"a.toml": begins + more}), "a.toml")
		expect.That(t, len(found) == 0 && team.Members[0].ToolDescription == want, "%q: %+v %v", more, team.Members, found)
	}
	r := Check(workspace(map[string]string{"a.toml": begins + "description = 'shorter'\ntool_description = 'd'\n"}),
		"a.toml")
	team, _ := r.Config.(Team)
	expect.That(t, r.Valid && team.Members[0].ToolDescription == "d", "%+v", r)
	expect.That(t, len(r.Warnings) == 1 && r.Warnings[0] == Said{"members[0].description",
		`has no effect when tool_description is set, got "shorter"`}, "%+v", r.Warnings)
	r = Check(workspace(map[string]string{"a.toml": begins + "description = ' '\n"}), "a.toml")
	expect.That(t, !r.Valid && r.Errors[0].Field == "members[0].tool_description", "a blank one: %+v", r)
	r = Check(workspace(map[string]string{
		"a.toml": smallTeam + "[[team.members]]\nconfig = 'x.toml'\ntool_description = 'own'\n",
		"x.toml": "[agent]\nname = 'x'\ntype = 'plain'\nmodel = 'demo'\ndescription = 'file'\n",
	}), "a.toml")
	team, _ = r.Config.(Team)
	expect.That(t, r.Valid && len(r.Warnings) == 0 && team.Members[0].ToolDescription == "own", "a member's own: %+v", r)
}

func TestWhatHasNoEffectHereIsAWarning(t *testing.T) {
	for name, c := range map[string]struct{ text, field, message string }{
		"capabilities": {smallMember + "capabilities = ['web_search']\n", "members[0].capabilities",
			"has no effect: it is kept for other programs"},
		"retry_config": {smallMember + "[team.members.retry_config]\nmax_retries = 5\n", "members[0].retry_config",
			"has no effect: max_retries and timeout_seconds control retries, got a table"},
		"instructions": {smallMember + "[team.members.instructions]\ntext = 'Do it.'\n", "members[0].instructions",
			"has no effect: write system_instruction, got a table"},
		"instructions of a member's own file": {"[agent]\nname = 'x'\ntype = 'plain'\nmodel = " +
			"'demo'\n[agent.instructions]\ntext = 'Do it.'\n", "instructions",
			"has no effect: write system_instruction, got a table"},
		"a file of prompts": {"[prompt_builder]\nteam_user_prompt = '{{ user_prompt }}'\n", "prompt_builder",
			"has no effect: Ringi writes the prompts itself, got a table"},
		"a judge's only wish": {"judge_on_final_round = false\n", "judge_on_final_round",
			"has no effect: after the last round there is nothing to decide, got false"},
		"xAI's own interface": {smallTeam + "[team.leader]\nmodel = 'grok-responses:grok-4-fast'\n", "leader.model",
			`is called as compatible:grok/grok-4-fast: the model answers, but without xAI's own tools, got "grok-responses:grok-4-fast"`},
	} {
		r := Check(workspace(map[string]string{"a.toml": c.text}), "a.toml")
		expect.That(t, r.Valid && len(r.Warnings) == 1 && r.Warnings[0] == Said{c.field, c.message}, "%s: %+v", name, r)
	}
	r := Check(workspace(map[string]string{"p.toml": "[prompt_builder]\n[other]\n"}), "p.toml")
	expect.That(t, !r.Valid && r.Errors[0].Field == "other", "beside a file's prompts: %+v", r)
}

// A file with [workflow], which mixseek has since 0.1.0a16, is refused by one sentence wherever a file may name it.
func TestAWorkflowIsRefusedByOneSentence(t *testing.T) {
	const noWorkflow = "can't be played: Ringi has no fixed steps. Write a [team] with these executors as members"
	const steps = "[workflow]\nworkflow_id = 'w'\nworkflow_name = 'W'\n[[workflow.steps]]\nid = 's'\n" +
		"[[workflow.steps.executors]]\nname = 'x'\ntype = 'plain'\n"
	for name, files := range map[string]map[string]string{
		"alone":           {"file.toml": steps},
		"beside a team":   {"file.toml": smallTeam + steps},
		"of a contest":    {"file.toml": strings.Replace(smallRun, "a.toml", "w.toml", 1), "w.toml": steps},
		"beside contests": {"file.toml": smallRun + steps, "a.toml": smallTeam},
	} {
		r := Check(workspace(files), "file.toml")
		expect.That(t, !r.Valid && len(r.Errors) == 1 && strings.Contains(r.Errors[0].Message, noWorkflow), "%s: %+v", name, r.Errors)
	}
	_, found := workspace(map[string]string{"file.toml": steps}).ContestOrTeam("file.toml")
	expect.That(t, len(found) == 1 && found[0].Message == noWorkflow && found[0].Field == "workflow", "%v", found)
}

// testdata/mixseek-fields.json has the fields of mixseek-core 0.1.0a22 with their bounds, as config/schema.py of that
// package declares them. Each is read here, is warned of, or is refused by a sentence of its own, and none is unknown;
// what is outside of a published bound is refused here, too.
func TestEveryFieldOfMixseekIsKnown(t *testing.T) {
	var published map[string]map[string]struct{ GE, GT, LE *float64 }
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/mixseek-fields.json"))(t), &published))
	texts := map[string]string{
		"team": "[team]\n%s\n", "leader": smallTeam + "[team.leader]\n%s\n", "member": smallTeam + "[[team.members]]\n%s\n",
		"evaluator": "%s\n" + smallMetric, "judgment": "model = 'demo'\n%s\n", "prompt_builder": "[prompt_builder]\n%s\n",
		"orchestrator": "[orchestrator]\n%s\n[[orchestrator.teams]]\nconfig = 'a.toml'\n", "workflow": "[workflow]\n%s\n",
	}
	check := func(kind, line string) Report {
		return Check(workspace(map[string]string{"file.toml": fmt.Sprintf(texts[kind], line), "a.toml": smallTeam}), "file.toml")
	}
	for kind, fields := range published {
		for name, bounds := range fields {
			if kind == "judgment" && name == "model" || kind == "orchestrator" && name == "teams" {
				continue // in each text already
			}
			r := check(kind, name+" = 'x'")
			for _, e := range r.Errors {
				expect.That(t, !strings.Contains(e.Message, "isn't a known field"), "%s.%s: %+v", kind, name, e)
			}
			outside := map[string]bool{}
			if bounds.GE != nil {
				outside[fmt.Sprint(*bounds.GE-1)] = true
			}
			if bounds.GT != nil {
				outside[fmt.Sprint(*bounds.GT)] = true
			}
			if bounds.LE != nil {
				outside[fmt.Sprint(*bounds.LE+1)] = true
			}
			for value := range outside {
				r := check(kind, name+" = "+value)
				said := fmt.Sprint(r.Errors, r.Warnings)
				expect.That(t, strings.Contains(said, name), "%s.%s = %s is taken: %s", kind, name, value, said)
			}
		}
	}
}
