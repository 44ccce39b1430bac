package conversation

import (
	"cmp"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// whyUnread says why an attachment was not read.
func whyUnread(t web.Texts, why string) string {
	if why == "" {
		return ""
	}
	return explain.Unread(t.Locale(), why)
}

// statusOfAction says how an action stands.
func statusOfAction(t web.Texts, x *conversation.Action) string {
	if x.Status == conversation.ActionPending && x.Gate.Status == aggregate.Generating {
		return t.In("action_status", "looking_up")
	}
	return t.In("action_status", x.Status)
}

// decidedBefore says who decided first.
func decidedBefore(t web.Texts, e aggregate.ErrDecided, who, when string) string {
	status := t.In("action_status", e.Status)
	switch {
	case e.Status == string(aggregate.Rejected) || e.Reason == conversation.ReasonRejected:
		status = t.Say("rejected")
	case e.Reason == conversation.ReasonDenied:
		status = t.Say("denied")
	case e.Reason == conversation.ReasonExpired || e.Reason == conversation.ReasonAged || e.Reason == task.ReasonExpired:
		status = t.In("why", conversation.ReasonExpired)
	case e.Status == string(conversation.Closed):
		status = t.Say("closed")
	}
	return t.Say("decided_before", "status", cmp.Or(status, e.Status), "who", who, "when", when)
}
