package tenancy

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// Tool returns the tool as rules name it. A server's tool that was never allowed keeps the server's name in its own, so
// that it is none of Ringi's.
func (p ToolPermission) Tool() rules.Tool {
	if _, name, foreign := ServerTool(p.ToolName); foreign && p.Pin != nil {
		return rules.Tool{Address: p.Pin.URL, Name: name}
	}
	return rules.Tool{Name: p.ToolName}
}

// Call returns what rules may know of a call of the tool. version and access are those that the step or the proposal
// names; arguments are planned or resolved. A value that an earlier result will replace is unknown.
func (p ToolPermission) Call(version string, access aggregate.Access, arguments aggregate.JSON) rules.Call {
	mark := p.Marked(version)
	c := rules.Call{Tool: p.Tool(), Access: access, Amount: mark.Of(version, access, arguments)}
	if c.Writes() {
		c.Destinations = mark.To(version, arguments)
	}
	return c
}

// Marked returns the tool's mark. Ringi's own tools move no money, in this version, unless an administrator says
// otherwise.
func (p ToolPermission) Marked(version string) *rules.Mark {
	if _, _, foreign := ServerTool(p.ToolName); p.Mark == nil && !foreign {
		return &rules.Mark{Version: version, How: rules.HowNothing}
	}
	return p.Mark
}

// checkMark refuses a mark that can't be, or that says nothing of a currency or unit of the version that is allowed.
func (p ToolPermission) checkMark() error {
	if p.Mark == nil {
		return nil
	}
	if p.Pin != nil && p.Pin.Access == aggregate.Read {
		return aggregate.ErrField{Field: "mark", Limit: "must be absent of a tool that only reads"}
	}
	all := p.Mark.Problems()
	if p.Pin != nil && p.Mark.Version == p.Pin.Version() {
		all = append(all, p.Mark.Unsaid(string(p.Pin.Input))...)
	}
	if len(all) > 0 {
		return aggregate.ErrField{Field: "mark." + all[0].Field, Limit: all[0].Limit}
	}
	return nil
}
