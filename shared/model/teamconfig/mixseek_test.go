package teamconfig

import (
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
