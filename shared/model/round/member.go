package round

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
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// executeCode is the tool of members of type code-exec.
const executeCode = "execute_code"

// maxResult is how many bytes of a tool's result a member reads.
const maxResult = 32 << 10

// member runs a member for one call of the leader's. The finished submission is saved, so that a resumed round uses the
// same submission that the leader has read. A member's own failure is part of the submission and no error.
func (p *playing) member(ctx context.Context, m teamconfig.Member, key, task string) (contest.MemberSubmission, error) {
	var was saved
	if ok, err := p.kept(ctx, key+"/submission", &was); err != nil || ok {
		if ok {
			p.spend(was.Spent)
		}
		return was.Submission, err
	}
	var s contest.MemberSubmission
	begun := p.Now()
	t, tools, why, err := p.memberTalk(ctx, m, key)
	if err != nil {
		return s, err
	}
	var text string
	if why == "" {
		t.begin(fenced(map[string]string{"task": task, "today": p.today()}), begun.UTC())
		text, why, err = p.work(ctx, t, tools)
		if err != nil {
			return s, err
		}
	}
	took := float64(p.Now().Sub(begun).Microseconds()) / 1000
	s = contest.MemberSubmission{
		AgentName: m.AgentName, AgentType: contest.AgentType(m.AgentType), Content: text, Status: contest.Success,
		Usage:     t.usage,
		Timestamp: p.Now().UTC(), ExecutionTimeMS: &took, AllMessages: t.messages,
	}
	if why != "" {
		s.Status, s.ErrorMessage = contest.Error, &why
	}
	return s, p.keep(ctx, key+"/submission", saved{s, t.spent}, model.Usage{})
}

// saved is a submission in its saved form. The cost was saved before, with its answers.
type saved struct {
	Submission contest.MemberSubmission `json:"submission"`
	Spent      model.Usage              `json:"spent"`
}

// memberTool is what a member may call. A call is made under the key of its saved result, and tells what it cost.
type memberTool struct {
	model.Tool
	call func(ctx context.Context, key string, input json.RawMessage) (text string, spent model.Usage, err error)
}

// memberTalk prepares the talk with a member and its tools, or says why the member can't work here.
func (p *playing) memberTalk(ctx context.Context, m teamconfig.Member, key string) (
	t *talk, tools []memberTool, why string, err error) {
	system, err := promptIn("member-"+m.AgentType, p.Locale)
	if err != nil {
		return nil, nil, "", err
	}
	system = system.with(m.SystemInstruction).and(m.SystemPrompt)
	t = &talk{playing: p, key: key,
		agent: agent{name: m.AgentName, prompt: system, model: m.Model}.called(m.Call, turn.MaxTokens)}
	switch contest.AgentType(m.AgentType) {
	case contest.WebSearch:
		tools, why, err = p.reads(ctx, t)
	case contest.CodeExec:
		tools, why = p.scripts()
	}
	for _, x := range tools {
		t.tools = append(t.tools, x.Tool)
	}
	return t, tools, why, err
}

// work talks with a member's model until it answers, or returns a sentence about why there is no answer.
func (p *playing) work(ctx context.Context, t *talk, tools []memberTool) (text, why string, err error) {
	w := words.In(p.Locale)
	refused, got := "", false // got: a tool returned something
	for t.turns < memberTurns {
		text, calls, err := t.ask(ctx)
		switch e := new(model.Error); {
		case err != nil && !ofAgent(err):
			return "", "", err
		case errors.As(err, &e):
			return "", w.because(e), nil
		case len(calls) == 0 && refused != "" && !got:
			return "", refused, nil
		case t.cutOff:
			return "", w.CutOff, nil
		case len(calls) == 0 && !language.Legible(text):
			return "", w.NoWords, nil
		case len(calls) == 0:
			return text, "", nil
		}
		var results []result
		for i, c := range calls {
			if t.usage.ToolCalls >= toolCalls {
				results = append(results, result{call: c, text: "No more calls are possible: answer now.", failed: true})
				continue
			}
			r, err := p.use(ctx, t, tools, c, fmt.Sprintf("%s/%d/tool-%d", t.key, t.turns, i+1))
			if err != nil {
				return "", "", err
			}
			t.usage.ToolCalls++
			refused, got = cmp.Or(refused, r.refused), got || !r.failed
			results = append(results, r)
		}
		t.answer(results)
	}
	return "", w.TooLong, nil
}

// use calls a tool. If the result is saved already, use returns it, because the model's next answer was based on it.
func (p *playing) use(ctx context.Context, t *talk, tools []memberTool, c model.Call, key string) (result, error) {
	var r struct {
		Text    string `json:"text"`
		Failed  bool   `json:"failed,omitempty"`
		Refused string `json:"refused,omitempty"`
		// Spent is what a search cost. It was saved before, with the search's answer.
		Spent model.Usage `json:"spent,omitzero"`
	}
	if ok, err := p.kept(ctx, key, &r); err != nil || ok {
		p.spend(r.Spent)
		t.charge(r.Spent)
		return result{c, r.Text, r.Failed, r.Refused}, err
	}
	if err := cmp.Or(p.over(ctx), p.stands(ctx)); err != nil {
		return result{}, err
	}
	at := slices.IndexFunc(tools, func(x memberTool) bool { return x.Name == c.Name }) // a talk has no other calls
	text, spent, err := tools[at].call(ctx, key, c.Input)
	r.Text, r.Spent = text, spent
	t.charge(spent)
	if err != nil {
		if ends := (fatal{}); errors.As(err, &ends) {
			return result{}, ends.error
		}
		if over := p.over(ctx); over != nil {
			return result{}, over
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return result{}, ctx.Err()
		}
		r.Text, r.Failed = "ERROR: "+err.Error(), true
		if refused := Refused(""); errors.As(err, &refused) {
			r.Refused = string(refused)
		}
	}
	if r.Text = language.VisibleCode(r.Text); len(r.Text) > maxResult {
		r.Text = strings.ToValidUTF8(r.Text[:maxResult], "") + "…"
	}
	return result{c, r.Text, r.Failed, r.Refused}, p.keep(ctx, key, r, model.Usage{})
}

// savable removes the longest talks if the submissions are too long to be saved, because the round must be saved.
func savable(all []contest.MemberSubmission) []contest.MemberSubmission {
	sizes, sum := make([]int, len(all)), 0
	for i, s := range all {
		text, err := json.Marshal(s.AllMessages)
		if err != nil {
			return all // saving will fail, and say why
		}
		sizes[i] = len(text)
		sum += sizes[i]
	}
	out := slices.Clone(all)
	for sum > maxSaid {
		longest := slices.Index(sizes, slices.Max(sizes))
		out[longest].AllMessages = nil
		sum, sizes[longest] = sum-sizes[longest], 0
	}
	return out
}

// scripts is the tool of members of type code-exec, or says why there is none.
func (p *playing) scripts() (tools []memberTool, why string) {
	none := words.In(p.Locale).NoSandbox
	if p.Sandbox == nil {
		return nil, none
	}
	return []memberTool{{model.Tool{
		Name: executeCode, Description: "Run a script and get what it prints. It has no files, no network, and nothing of " +
			"it stays. " + p.Sandbox.About(),
		Schema: json.RawMessage(`{"type":"object","properties":{"script":{"type":"string"}},` +
			`"required":["script"],"additionalProperties":false}`),
	}, func(ctx context.Context, _ string, input json.RawMessage) (output string, spent model.Usage, err error) {
		var x struct{ Script string }
		if json.Unmarshal(input, &x) != nil || strings.TrimSpace(x.Script) == "" {
			return "", spent, errors.New("script must be a text that is not empty")
		}
		limited, cancel := context.WithTimeout(ctx, p.limit(ctx, unbounded))
		defer cancel()
		if output, err = p.Sandbox.Run(limited, x.Script); errors.Is(err, ErrNoSandbox) {
			err = Refused(none)
		}
		return output, spent, err
	}}}, ""
}

// Limits of a member's script.
const (
	scriptSeconds = 60
	scriptSpare   = 20 * time.Second // the part of the caller's time that starting and ending the sandbox takes
	beginAgain    = 3                // how often to try when no sandbox is free
)

// Isolated runs members' scripts in the sandboxes that run agents' commands. Each script has its own sandbox, without a
// workspace, and nothing of it is saved. It has no network, because nobody has read the script. programs are those that
// scripts find; see isolated.Installed.
func Isolated(r isolated.Runner, programs string) Sandbox { return separate{r, programs} }

type separate struct {
	isolated.Runner
	programs string
}

func (s separate) About() string { return isolated.Installed(s.programs) }

// Run returns a script's output and exit code. An error means that the script did not run or that its end is unknown,
// and ErrNoSandbox that scripts can't be run here.
func (s separate) Run(ctx context.Context, script string) (string, error) {
	if len(script) > isolated.MaxScript {
		return "", fmt.Errorf("script has %d bytes, the limit is %d", len(script), isolated.MaxScript)
	}
	for try := 1; ; try++ {
		o := isolated.Order{Action: aggregate.NewID(), Type: isolated.ShellCommand, Script: script,
			TimeoutSeconds: scriptSeconds, Deadline: time.Now().Add(scriptSeconds*time.Second + scriptSpare)}
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(o.Deadline) {
			o.Deadline = deadline
			o.TimeoutSeconds = int((time.Until(deadline) - scriptSpare) / time.Second)
		}
		if o.TimeoutSeconds < 1 {
			return "", errors.New("there is no time left to run it")
		}
		p := printed{}
		end, err := s.Runner.Run(ctx, o, p.add)
		switch {
		case err == nil:
			return p.ended(end), nil
		case errors.Is(err, isolated.ErrCannot):
			return "", ErrNoSandbox
		case errors.Is(err, isolated.ErrNotBegun) && try < beginAgain:
			if err := clock.Sleep(ctx, time.Duration(try)*time.Second); err != nil {
				return "", err
			}
		case errors.Is(err, isolated.ErrNotBegun):
			return "", errors.New("the script could not be run")
		default:
			return "", errors.New("nobody knows how the script ended")
		}
	}
}

// printed is the beginning of a script's output.
type printed struct {
	text strings.Builder
	more int // number of lines left out
}

func (p *printed) add(l isolated.Line) error {
	if p.text.Len()+len(l.Text) > maxResult-1024 {
		p.more++
		return nil
	}
	p.text.WriteString(l.Text + "\n")
	return nil
}

func (p *printed) ended(end isolated.End) string {
	if more := p.more + end.Dropped; more > 0 {
		fmt.Fprintf(&p.text, "(%d more lines)\n", more)
	}
	switch {
	case end.TimedOut:
		p.text.WriteString("(it was ended after its time limit)\n")
	case end.Signal != "":
		fmt.Fprintf(&p.text, "(it was ended by the signal %s)\n", end.Signal)
	}
	if end.Missing != "" {
		fmt.Fprintf(&p.text, "(the tool %s is not installed)\n", end.Missing)
	}
	if end.Limit != "" {
		fmt.Fprintf(&p.text, "(%s)\n", end.Limit)
	}
	fmt.Fprintf(&p.text, "exit code: %d", end.ExitCode)
	return p.text.String()
}
