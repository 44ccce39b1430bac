package teamconfig

import (
	"encoding/json"
	"errors"
)

// Report is the result of checking one file.
type Report struct {
	File     string `json:"file"`
	Valid    bool   `json:"valid"`
	Errors   []Said `json:"errors"`
	Warnings []Said `json:"warnings"`
	// Config is a Team, Contest, Evaluator, Judgment, Member, Unused or list of Server, as configured by the files. A field
	// that is neither set nor has a default is null. If there are errors, all of Config is null.
	Config any `json:"config"`
	// Set has the file of each field of Config that a file sets: leader.model. The others have their defaults.
	Set map[string]string `json:"-"`
}

// Said is one error or warning of a report.
type Said struct {
	Field   string `json:"field"`   // "" of the file as a whole
	Message string `json:"message"` // names the file too when it is another than the report's
}

// Check reads a file of any kind. Its first table determines the kind.
func Check(w Workspace, file string) Report {
	r := &reading{w: w}
	config := r.any(file)
	found := r.found
	report := Report{File: file, Valid: Valid(found), Errors: []Said{}, Warnings: []Said{}, Set: r.set}
	for _, f := range found {
		said := Said{Field: f.Field, Message: f.Message}
		if f.Value != "" {
			said.Message += ", got " + f.Value
		}
		if f.File != file {
			said.Message = f.File + ": " + said.Message
		}
		if f.Warning {
			report.Warnings = append(report.Warnings, said)
		} else {
			report.Errors = append(report.Errors, said)
		}
	}
	if report.Valid {
		report.Config = config
	}
	return report
}

var errKind = errors.New("isn't a configuration file: it must have [team], [orchestrator], [agent], [prompt_builder] or [servers.<name>], [[metrics]] for an evaluator, or model for a judge")

func (r *reading) any(file string) (config any) {
	tables := r.file(file, "")
	if tables == nil {
		return nil
	}
	has := func(key string) bool { _, ok := tables[key]; return ok }
	switch {
	case has("team"), has("workflow"):
		config = r.team(file, "", tables)
	case has("orchestrator"):
		config = r.contest(file, tables)
	case has("prompt_builder"):
		s := r.section(file, "", tables)
		s.ignored(ownPrompts, "prompt_builder")
		s.end()
		config = Unused{}
	case has("servers"):
		config = r.servers(file, tables)
	case has("agent"):
		config = r.agentFile(file, "", tables).orNone()
	case has("metrics"), has("default_model"), has("llm_default"):
		config = r.evaluator(file, "", tables)
	case has("model"), has("system_instruction"), has("judge_on_final_round"):
		config = r.judgment(file, "", tables)
	default:
		r.found = append(r.found, Finding{File: file, Message: errKind.Error()})
	}
	return config
}

// Unused is a file of mixseek that has no effect in Ringi.
type Unused struct{}

const ownPrompts = "Ringi writes the prompts itself"

// orNone returns the member, or nil for a file without the table.
func (s *section) orNone() any {
	if s == nil {
		return nil
	}
	return s.agent()
}

// MarshalJSON writes an unset instruction as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name              string  `json:"name"`
		Weight            float64 `json:"weight"`
		Model             *string `json:"model"`
		SystemInstruction *string `json:"system_instruction"`
		Call
	}{m.Name, m.Weight, orNull(m.Model), orNull(m.SystemInstruction), m.Call})
}

// MarshalJSON writes an unset instruction as null.
func (j Judgment) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Model             string  `json:"model"`
		SystemInstruction *string `json:"system_instruction"`
		Call
	}{j.Model, orNull(j.SystemInstruction), j.Call})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
