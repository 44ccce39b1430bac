// Package teamconfig reads and checks the files in which people configure teams, contests and evaluators.
package teamconfig

import "ringi/shared/domain/tenancy"

// Team is a leader with the members that it can delegate to.
type Team struct {
	TeamID               string   `json:"team_id" toml:"team_id"`
	TeamName             string   `json:"team_name" toml:"team_name"`
	MaxConcurrentMembers int      `json:"max_concurrent_members" toml:"max_concurrent_members"`
	Leader               Leader   `json:"leader" toml:"leader"`
	Members              []Member `json:"members" toml:"members"` // none: the leader works alone
}

// Leader is the agent that submits.
type Leader struct {
	SystemPrompt *string `json:"system_prompt" toml:"system_prompt"` // nil: the built-in one
	// SystemInstruction is appended to the prompt; nil: nothing is appended.
	SystemInstruction *string `json:"system_instruction" toml:"system_instruction"`
	Model             string  `json:"model" toml:"model"`
	Call
}

// Member is an agent that the leader delegates to.
type Member struct {
	AgentName         string  `json:"agent_name" toml:"agent_name"`
	AgentType         string  `json:"agent_type" toml:"agent_type"`
	ToolName          *string `json:"tool_name" toml:"tool_name"`
	ToolDescription   string  `json:"tool_description" toml:"tool_description"`
	Model             string  `json:"model" toml:"model"`
	SystemInstruction *string `json:"system_instruction" toml:"system_instruction"` // nil: the built-in one of its type
	SystemPrompt      *string `json:"system_prompt" toml:"system_prompt"`           // beside the instruction
	Call
	Config *string `json:"config" toml:"config"` // the file that the rest was read from
}

// Tool is the name of the leader's tool that calls the member.
func (m Member) Tool() string {
	if m.ToolName != nil && *m.ToolName != "" {
		return *m.ToolName
	}
	return "delegate_to_" + m.AgentName
}

// Contest is a contest's complete configuration, including every file that it names.
type Contest struct {
	TeamTimeoutSeconds int       `json:"timeout_per_team_seconds"`
	MaxRounds          int       `json:"max_rounds"`
	MinRounds          int       `json:"min_rounds"`
	Evaluator          Evaluator `json:"evaluator"`
	Judgment           Judgment  `json:"judgment"`
	Teams              []Team    `json:"teams"`
	// Prices are the workspace's own prices of models, as of the contest's beginning.
	Prices []tenancy.ModelPrice `json:"prices,omitempty"`
	Named  []Named              `json:"-"` // where the files name the models
}

// Named is the place where a file names a model, or leaves it out.
type Named struct {
	File, Field, Model string
	Set                bool // otherwise the model is the default
}

// Refused returns a finding about the model.
func (n Named) Refused(why string) Finding {
	if n.Set {
		return Finding{File: n.File, Field: n.Field, Value: written(n.Model), Message: why}
	}
	return Finding{File: n.File, Field: n.Field, Message: "is not set, and the default, " + n.Model + ", " + why}
}

// Evaluator scores submissions.
type Evaluator struct {
	DefaultModel string   `json:"default_model" toml:"default_model"`
	Metrics      []Metric `json:"metrics" toml:"metrics"`
	Call
}

// Call has the settings of an agent's model. A nil field is left to the model, for a metric first to its evaluator.
type Call struct {
	Temperature    *float64 `json:"temperature" toml:"temperature"`
	MaxTokens      *int     `json:"max_tokens" toml:"max_tokens"`
	TimeoutSeconds *int     `json:"timeout_seconds" toml:"timeout_seconds"` // of one call
	MaxRetries     *int     `json:"max_retries" toml:"max_retries"`
	StopSequences  []string `json:"stop_sequences" toml:"stop_sequences"`
	TopP           *float64 `json:"top_p" toml:"top_p"`
	Seed           *int     `json:"seed" toml:"seed"`
}

// Metric is a metric of an evaluator. The weights of an evaluator's metrics sum to 1.
type Metric struct {
	Name              string  `json:"name" toml:"name"`
	Weight            float64 `json:"weight" toml:"weight"`
	Model             string  `json:"model" toml:"model"`                           // the evaluator's where the file has none
	SystemInstruction string  `json:"system_instruction" toml:"system_instruction"` // empty: the built-in one of its name
	Call
}

// Judgment decides whether another round is worth it.
type Judgment struct {
	Model             string `json:"model" toml:"model"`
	SystemInstruction string `json:"system_instruction" toml:"system_instruction"` // empty: the built-in one
	Call
}
