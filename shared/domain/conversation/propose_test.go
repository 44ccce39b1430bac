package conversation

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// A form that is sent twice makes one proposal; another one waits until that is over; the agent is told what it is.
func TestAPersonsProposalIsMadeOnce(t *testing.T) {
	tb := opened(t)
	own := expect.Value(Own("make", agent.Definition{Capabilities: agent.Capabilities}, On{}, "en"))(t)
	own.Terms = terms(tb.now)
	by := person("U7")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Propose(own, by, policy, tb.now) })
	x := tb.load().Current()
	expect.Must(t, x != nil && x.RequestedBy == RequestedByUser && fmt.Sprint(x.Askers) == "[U7]" &&
		x.Status == ActionPending, "%+v", x)
	c, err := tb.load().Propose(own, by, policy, tb.now)
	expect.That(t, err == nil && c.Empty(), "twice: %+v, %v", c, err)
	for _, other := range []struct {
		by  aggregate.Actor
		own Proposal
	}{{person("U8"), own}, {by, Proposal{Type: own.Type, Payload: aggregate.Blob{JSON: "{}"}, Terms: own.Terms}}} {
		_, err := tb.load().Propose(other.own, other.by, policy, tb.now)
		expect.That(t, errors.Is(err, ErrPending) && errors.Is(err, aggregate.ErrInFlight), "%v", err)
	}
	self := policy
	self.AllowSelf = false
	_, err = tb.load().Approve(x.ActionID, by, self, tb.now)
	expect.That(t, errors.As(err, new(aggregate.ErrNotAllowed)), "their own is approved: %v", err)
}

func TestWhatAPersonTypesIsChecked(t *testing.T) {
	all := agent.Definition{Capabilities: agent.Capabilities}
	for name, c := range map[string]struct {
		command string
		def     agent.Definition
		want    string
	}{
		"a command":         {"make\ngo test ./...", all, ""},
		"as long as may be": {strings.Repeat("あ", MaxScript), all, ""},
		"too long":          {strings.Repeat("あ", MaxScript+1), all, "Use up to 16000 characters."},
		"nothing":           {" \n", all, "This is required."},
		"no text":           {"echo \x00", all, "This has characters that can’t be read as text."},
		"an agent that may not": {"make", agent.Definition{Capabilities: []agent.Capability{agent.Code}},
			"This conversation’s agent isn’t allowed to do that."},
	} {
		p, err := Own(c.command, c.def, On{Base: "v1"}, "en")
		if c.want != "" {
			expect.Is(t, fmt.Sprint(err), OwnCommand+" Command: "+c.want, name)
			continue
		}
		kept, problems := ReadKept(ShellCommand, []byte(p.Payload.JSON))
		expect.That(t, err == nil && problems == nil && kept.Script == c.command && *kept.Base == "v1" && p.Base == "v1",
			"%s: %+v, %v", name, p, err)
	}
}
