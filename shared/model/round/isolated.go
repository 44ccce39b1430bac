package round

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/isolated"
)

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
