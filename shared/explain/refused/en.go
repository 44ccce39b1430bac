package refused

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/errorclass"
)

func english() *words {
	const stale = "Things changed meanwhile. Please look at the newest card and try again."
	return &words{
		unsaved: "It could not be saved. Please try again.",
		notes: map[errorclass.Class]string{
			errorclass.NotLatest:      "This is an old version (the newest is {latest}). Please use the newest card.",
			errorclass.NotAllowed:     "This isn't allowed.",
			errorclass.Field:          "Please check what you entered: {field} {limit}",
			errorclass.InFlight:       "A call is still in flight. Please press again when its outcome is known.",
			errorclass.Uncovered:      "The outcome of the last write is unknown. Please check what the card says, then press [🔄 Run again] once more.",
			errorclass.Unconfirmed:    "It could not be confirmed that this was saved. If the card does not change in a moment, please press again; if it was saved, nothing happens twice.",
			errorclass.NothingToRetry: "There is nothing to try again. Please look at the newest card.",
			errorclass.MaxAttempts:    "This task was tried {max} times, which is the limit. To go on, please send it as a new request.",
			errorclass.MaxRetries:     "This was tried again {max} times, which is the limit. To go on, please send it as a new request.",
			errorclass.NotFound:       "It could not be found: it is gone, or it isn't of this workspace.",
			errorclass.Unverified:     "Slack could not tell us who you are. Please try again in a moment.",
			errorclass.MalformedForm:  "This form is out of date. Close it and use the button of the newest card again.",
			errorclass.Superseded:     stale,
			errorclass.Conflict:       stale,
			errorclass.Changed:        stale,
		},
		reason: "The reason must have 1 to {max} characters.",
		direct: "This was asked in a direct message, so only the person who asked can approve or reject it.",
		rules: map[aggregate.Rule]string{
			aggregate.RuleForeign:   "People of other workspaces can't do this.",
			aggregate.RuleGuest:     "Guests can't approve, reject or try again.",
			aggregate.RuleNotMember: "Only members of the channel where this was asked can approve or reject. Please join it and try again.",
			aggregate.RuleUnlisted:  "Ringi can't see who is a member here, so nobody could approve this. Please ask for it in a channel.",
			aggregate.RuleNotListed: "You aren't listed as an approver. Please ask someone who is.",
			aggregate.RuleNobody:    "No approver is listed, so nobody can approve. Please ask an administrator to add one.",
			aggregate.RuleSelf:      "You can't approve your own request. Please ask another approver.",
			aggregate.RuleAlone:     "Whoever picks another draft counts as its author, and nobody else could approve it, so it was not picked. Please have an administrator add others under “Who may approve” in the settings.",
			aggregate.RuleNotParty:  "Only the person who asked and approvers can do this.",
		},
		decided: map[state]string{
			approved:     "{who} already approved this on {when}.",
			autoApproved: "This was approved automatically on {when}.",
			rejected:     "{who} already rejected this on {when}.",
			picked:       "{who} put another draft in its place on {when}. Please look at the newest card.",
			asReason:     "{who} made it the reason of a rejection on {when}.",
			asRequest:    "{who} made it a new request on {when}.",
			cancelled:    "{who} cancelled this task on {when}. To continue, please ask again.",
			expired:      "Nobody decided in time, so this task was cancelled on {when}. To continue, please ask again.",
			failed:       "This task failed on {when}. {why}",
			isOver:       "This task ended on {when}. {why}",
			otherwise:    "{who} already decided this on {when}.",
		},
		ownRequest:     "You can't approve your own request.",
		canDecide:      "👥 Can approve or reject: {who}",
		may:            "👥 Can do this: {who}",
		nobody:         "nobody (no approver is listed; please ask an administrator to list one)",
		nobodyElse:     "👥 Can approve: nobody under the settings of now (not {who}: nobody approves their own request). Please have an administrator add others under “Who may approve” in the settings, or set “People may approve their own requests” to Yes.",
		members:        "members of {channel}",
		membersOfIt:    "members of this channel",
		notRequester:   " (not {who}: nobody approves their own request)",
		andOthers:      "and {n} more",
		reasonNotTaken: "The reason that you entered was not taken.",
		cancelAccepted: "The task is cancelled. If a call is in flight, the card will show its outcome, and nothing more will run.",
	}
}
