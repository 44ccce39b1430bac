package rules

import (
	"net/url"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Kind is what asks.
type Kind string

const (
	KindSteps Kind = "steps" // the steps of a request
	KindStep  Kind = "step"  // one of them, before it is made
	KindCall  Kind = "call"  // a call that an outside agent asks for
)

// Kinds are all, in the order in which a request meets them.
var Kinds = []Kind{KindSteps, KindStep, KindCall}

// Facts are what rules may know of a request.
type Facts struct {
	Kind      Kind
	Place     Place
	Requester string
	Askers    []circulation.Person // may not stamp, the requester among them
	// Departments is the requester's department in the organisation and those above it. Groups are the requester's, of
	// those that rules name.
	Organised   bool
	Departments []string
	Groups      []string
	// Unknown are departments of the rules' conditions that the organisation doesn't have: nobody can say who is in them.
	Unknown []string
	// Stranger is an asker whom the organisation that stands doesn't have, the requester first. Whatever the rules say
	// is refused.
	Stranger string
	Calls    []Call
}

// Alone reports whether nobody but the askers is where a request was made.
func (f *Facts) Alone(d Directory) bool {
	return f.Place.Direct || f.Place.Channel != "" && d.Empty(f.Place.Channel, f.Askers)
}

// placed reports whether the organisation says where the requester belongs.
func (f *Facts) placed() bool { return f.Organised && len(f.Departments) > 0 }

// Place is where a request was made.
type Place struct {
	Channel string `json:"channel,omitempty"` // its id
	Direct  bool   `json:"direct,omitempty"`  // in direct messages; Channel doesn't count
}

// Call is one call of a tool that a request makes.
type Call struct {
	Tool   Tool
	Access aggregate.Access // what isn't known to read counts as writing outside
	Amount Amount
	// Labels are the values at each label that the call's mark has; none: they aren't known.
	Labels map[string][]string
}

// Writes reports whether the call changes something outside.
func (c Call) Writes() bool { return c.Access != aggregate.Read }

// Writes reports whether one of the calls changes something outside. What runs where the agent runs has none, and
// may do anything.
func (f *Facts) Writes() bool { return f.uncalled() || slices.ContainsFunc(f.Calls, Call.Writes) }

func (f *Facts) uncalled() bool { return f.Kind == KindCall && len(f.Calls) == 0 }

// Amount is the sum over all calls. Of what runs where the agent runs it is unknown.
func (f *Facts) Amount() Amount {
	if f.uncalled() {
		return Unknown(WhyUnmarked)
	}
	sum := Nothing()
	for _, c := range f.Calls {
		sum = sum.Plus(c.Amount)
	}
	return sum
}

// Tool names a tool by the address of its server, so that a second name for the same server changes nothing. It is
// written as one text.
type Tool struct {
	Address string // of the MCP server; empty: Ringi's own
	Name    string // as the server calls it
}

// String writes a tool: the address, if it has one, a space and the name.
func (t Tool) String() string { return strings.TrimPrefix(t.Address+" "+t.Name, " ") }

// ToolOf reads what String wrote.
func ToolOf(text string) Tool {
	if address, name, two := strings.Cut(text, " "); two && strings.Contains(address, "://") {
		return Tool{address, name}
	}
	return Tool{Name: text}
}

// MarshalText and UnmarshalText are String and ToolOf.
func (t Tool) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

func (t *Tool) UnmarshalText(text []byte) error {
	*t = ToolOf(string(text))
	return nil
}

// Same reports whether two names are of one tool. An address's scheme and host in other letters, its scheme's usual
// port and slashes at the end make no difference.
func (t Tool) Same(other Tool) bool {
	return t.Name == other.Name && plainAddress(t.Address) == plainAddress(other.Address)
}

var usualPorts = map[string]string{"https": ":443", "http": ":80"}

func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, usualPorts[u.Scheme])
	u.Host = strings.TrimSuffix(u.Host, ".")
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u.String()
}
