package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// PlanInput is the input of the third layer, which plans the steps.
type PlanInput struct {
	Task    task.Task
	Request string // the message
	Enclosed
	Policy    string // as approved
	Earlier   []PlanVersion
	Tools     *tool.Catalog // only those that the tenant's tasks may call
	Forbidden []string      // names of the tools that the tenant's tasks may not call
	Requester string        // Slack user id
	Locale    string
	Now       time.Time // when the message was written
	Try       int
	// Fits reports whether a card can show all of the steps, as DraftInput.Fits does for a policy.
	Fits func(steps []task.Step, remarks string) bool
}

// PlanVersion is a rejected list of steps and the reason.
type PlanVersion struct {
	Steps  []task.Step
	Reason string
}

// Plan makes the steps that people approve, with the current effects and versions of the tools. It returns the same
// errors as Extract, or a *LackError that names the parts of the policy that can't be done. remarks are the model's
// answer to the reasons for which earlier steps were rejected.
func Plan(ctx context.Context, w Wire, in PlanInput) (steps []task.Step, remarks string, usage Usage, err error) {
	var lacks []LackData
	usage, err = ask(ctx, w, question{
		purpose: Planning, locale: in.Locale, try: in.Try, tokens: 16_384,
		standing: Standing{toolData(in), slices.Concat([]string{}, in.Forbidden)}, data: planData(in),
		accept: func(answer []byte) (problems []string) {
			steps, remarks, lacks, problems = readPlan(answer, in)
			if len(problems) == 0 && len(lacks) == 0 && in.Fits != nil && !in.Fits(steps, remarks) {
				problems = []string{tooLong + ": use fewer steps, shorter titles and shorter arguments"}
			}
			return problems
		},
	})
	if err == nil && len(lacks) > 0 {
		err = &LackError{lacks, in.Locale, allowed(lacks, in.Tools, in.Locale)}
	}
	if err != nil {
		return nil, "", usage, err
	}
	return steps, remarks, usage, nil
}

// PlanData is what the model sees of a PlanInput.
type PlanData struct {
	Task    TaskData `json:"task"`
	Message string   `json:"message"`
	Enclosed
	Policy    string    `json:"policy"`
	Earlier   []PlanTry `json:"rejected_versions"`
	Requester string    `json:"requester"`
	Now       string    `json:"now"`
	Locale    string    `json:"locale"`
}

// Standing is what the model sees of the tools.
type Standing struct {
	Tools     []ToolData `json:"tools"`
	Forbidden []string   `json:"forbidden"`
}

// PlanTry is what the model sees of a PlanVersion. Only the newest one includes its steps.
type PlanTry struct {
	Steps  []StepData `json:"steps,omitempty"`
	Reason string     `json:"reason"`
}

// ToolData is what the model sees of a tool.
type ToolData struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Access      aggregate.Access `json:"effect"`
	Input       json.RawMessage  `json:"input"`
	Output      json.RawMessage  `json:"output"`
	// Constraints are the limits set by an administrator; nil if there are none.
	Constraints *tenancy.Constraints `json:"constraints,omitempty"`
}

// StepData is a step as the model writes it. ToolInput is JSON as text, because vendors'
// strict schemas allow no objects with arbitrary members.
type StepData struct {
	StepID             string `json:"stepId"`
	Order              int    `json:"order"`
	Title              string `json:"title"`
	Tool               string `json:"tool"`
	ToolInput          string `json:"toolInput"`
	Description        string `json:"description"`
	ExpectedOutput     string `json:"expectedOutput"`
	RequiresHumanCheck bool   `json:"requiresHumanCheck"`
}

func planData(in PlanInput) PlanData {
	d := PlanData{
		Task: taskData(in.Task), Message: in.Request, Enclosed: in.Enclosed, Policy: in.Policy,
		Earlier: []PlanTry{}, Requester: in.Requester, Now: stamp(in.Now), Locale: in.Locale,
	}
	for i, v := range in.Earlier {
		try := PlanTry{Reason: shortened(v.Reason, i, len(in.Earlier))}
		if i < len(in.Earlier)-1 {
			v.Steps = nil
		}
		for _, s := range v.Steps {
			try.Steps = append(try.Steps, StepData{
				StepID: s.StepID, Order: s.Order, Title: s.Title, Tool: s.Tool, ToolInput: string(s.ToolInput),
				Description: s.Description, ExpectedOutput: s.ExpectedOutput, RequiresHumanCheck: s.RequiresHumanCheck,
			})
		}
		d.Earlier = append(d.Earlier, try)
	}
	return d
}

func toolData(in PlanInput) []ToolData {
	tools := []ToolData{}
	for _, s := range in.Tools.All() {
		d := ToolData{
			Name: s.Name, Title: s.Title(in.Locale), Description: s.Description, Access: s.Access,
			Input: json.RawMessage(s.InputSchema), Output: json.RawMessage(s.OutputSchema),
		}
		if !s.Bounds.None() {
			d.Constraints = &s.Bounds
		}
		tools = append(tools, d)
	}
	return tools
}

// readPlan reads steps that fit the schema. problems lists everything that would keep them from running: order, unknown
// tools, arguments, constraints, references, lengths. Whatever the model says, a step gets a human check if it passes
// results to an MCP server, or if it writes to a destination that the approved policy does not name (without an
// approval: the request). If the model says that something is missing, its steps are ignored.
func readPlan(answer []byte, in PlanInput) ([]task.Step, string, []LackData, []string) {
	var a struct {
		Steps   []StepData `json:"steps"`
		Missing []LackData `json:"missing"`
		Remarks string     `json:"remarks"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, "", nil, []string{err.Error()}
	}
	if len(a.Missing) > 0 {
		lacks, problems := readLacks(a.Missing, in)
		return nil, "", lacks, problems
	}
	count := fmt.Sprintf("there are %d steps, there must be 1 to %d", len(a.Steps), task.MaxSteps)
	switch {
	case len(a.Steps) == 0:
		return nil, "", nil, []string{count}
	case len(a.Steps) > task.MaxSteps:
		return nil, "", nil, []string{tooLong + ": " + count}
	}
	var steps []task.Step
	remarks, problems := "", []string(nil)
	if len(in.Earlier) > 0 { // else there is nothing to answer
		remarks = prose(a.Remarks)
		if problems = bounded("remarks", remarks, MaxRemarks); len(problems) > 0 {
			problems[0] += ": say in one line each what became of the reasons for which steps were rejected"
		}
	}
	before := map[string]string{} // step id → tool
	for i, d := range a.Steps {
		s, found := readStep(i, d, in, before)
		problems = append(problems, found...)
		steps = append(steps, s)
		before[s.StepID] = s.Tool
	}
	if n := task.StepsBytes(steps); n > task.MaxStepsBytes {
		problems = append(problems, fmt.Sprintf("%s: the steps are %d bytes, the limit is %d", tooLong, n,
			task.MaxStepsBytes))
	}
	return steps, remarks, nil, problems
}

func readStep(i int, d StepData, in PlanInput, before map[string]string) (task.Step, []string) {
	s := task.Step{
		StepID: d.StepID, Order: d.Order, Title: line(d.Title), Tool: d.Tool, Description: prose(d.Description),
		ExpectedOutput: prose(d.ExpectedOutput), RequiresHumanCheck: d.RequiresHumanCheck, ToolInput: "{}",
	}
	at := fmt.Sprintf("steps.%d", i)
	var problems []string
	if want := fmt.Sprintf("step-%d", i+1); d.StepID != want || d.Order != i+1 {
		problems = append(problems, fmt.Sprintf("%s must have stepId %q and order %d", at, want, i+1))
	}
	problems = append(problems, bounded(at+".title", s.Title, MaxTitle)...)
	problems = append(problems, bounded(at+".description", s.Description, MaxStepText)...)
	problems = append(problems, bounded(at+".expectedOutput", s.ExpectedOutput, MaxStepText)...)
	spec, known := in.Tools.Lookup(d.Tool)
	if !known {
		return s, append(problems, fmt.Sprintf("%s.tool: there is no tool %.100q", at, d.Tool))
	}
	args, err := tool.Parse(aggregate.JSON(d.ToolInput))
	if err != nil {
		return s, append(problems, fmt.Sprintf("%s.toolInput: %s", at, err))
	}
	if s, err = spec.Step(s, args, before); err != nil {
		return s, append(problems, fmt.Sprintf("%s.toolInput: %s", at, err))
	}
	earlier := func(id string) (string, bool) { name, ok := before[id]; return name, ok }
	if err := in.Tools.CheckPlanned(d.Tool, args, earlier); err != nil {
		problems = append(problems, fmt.Sprintf("%s.toolInput: %s", at, err))
	}
	return s, problems
}

// Enclosed is what a request forwards and attaches: material, in the words of others.
type Enclosed struct {
	Forwarded []Forwarded `json:"forwarded,omitempty"`
	Files     []File      `json:"files,omitempty"`
}

// Forwarded is a message that a request forwards.
type Forwarded struct {
	By       string `json:"by"` // its author's name and id, or ?
	Where    string `json:"where,omitempty"`
	At       string `json:"at,omitempty"`
	Text     string `json:"text"`
	NotShown string `json:"not_shown,omitempty"`
}

// File is a file of a request.
type File struct {
	Name     string   `json:"name"`
	Type     string   `json:"type,omitempty"`
	Text     string   `json:"text,omitempty"`
	NotShown string   `json:"not_shown,omitempty"`
	NotRead  string   `json:"not_read,omitempty"`
	Remarks  []string `json:"remarks,omitempty"`
}

// ForwardedOf returns what models see of a forwarded message.
func ForwardedOf(q aggregate.Quoted) Forwarded {
	f := Forwarded{By: q.Name, Where: q.Where, Text: q.Text}
	if aggregate.IsPerson(q.User) {
		f.By = strings.TrimSpace(q.Name + " <@" + q.User + ">")
	}
	f.By = cmp.Or(f.By, "?")
	if !q.At.IsZero() {
		f.At = stamp(q.At)
	}
	switch {
	case q.Text == "":
		f.NotShown = "Slack does not show its text"
	case q.Cut:
		f.NotShown = "the rest, or further messages that it forwards"
	}
	return f
}

// FileOf returns what models see of a file that has this text.
func FileOf(f task.ReadFile, text string) File {
	out := File{Name: cmp.Or(f.Name, f.ID), Type: f.Type, Text: text, NotRead: f.Why}
	if f.Why == "" && f.Shown < f.Characters {
		out.NotShown = fmt.Sprintf("all after the first %d of %d characters", f.Shown, f.Characters)
	}
	for _, r := range f.Remarks {
		out.Remarks = append(out.Remarks, string(r))
	}
	return out
}

// Enclose returns what a task's request forwards and attaches, as every layer is shown it.
func Enclose(ctx context.Context, from aggregate.Opener, a *task.Aggregate) (out Enclosed, err error) {
	for _, q := range a.Request.Forwarded {
		out.Forwarded = append(out.Forwarded, ForwardedOf(q))
	}
	if n := a.Request.MoreFiles; n > 0 {
		out.Files = append(out.Files, File{Name: fmt.Sprint(n, " more"), NotRead: "there are more files than are read"})
	}
	if a.Read() == nil {
		return out, nil
	}
	for _, f := range a.Read().Files {
		text := ""
		if f.Text != nil {
			v, err := from.Open(ctx, a.Ref(), *f.Text)
			if err == nil {
				err = json.Unmarshal(v, &text)
			}
			switch {
			case errors.Is(err, large.ErrExpired):
				f.Why = "it has expired"
			case err != nil:
				return out, fmt.Errorf("open the text of a file: %w", err)
			}
		}
		out.Files = append(out.Files, FileOf(f, text))
	}
	return out, nil
}
