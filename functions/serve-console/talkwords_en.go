package main

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
)

var talkEN = talkTexts{
	Untitled: "(untitled)", Ringi: "Ringi", System: "Ringi", ThatChannel: "the conversation’s channel", Made: "Requests made of it",
	OpenedBy: "Started by", Agent: "Agent", AgentGone: "There is no such agent in the settings any more.", Where: "Where", Began: "Started", Active: "Last activity", Closed: "Closed", Trouble: "Why it can’t answer", Open: "Open in Slack",
	Workspace: "Work folder", NoWorkspace: "of this conversation alone", Kept: "This conversation is kept after it was closed.", KeptNot: "Nobody finds this conversation from about a day after it was closed, and what was written is deleted after about three months. Approved actions and the audit log stay.", Forgotten: "This conversation goes at",
	Cost: "Cost", Limit: "limit", Calls: "Calls of models", Input: "Input", Output: "Output", Cached: "Cached", Unpriced: "calls without a known price", Tokens: "tokens", Sent: "What the model was sent",
	Acts: "What can be done", Reason: "Reason for rejecting", ReasonHint: "1 to 1,000 characters. The agent learns it.", Typed: "The reason you had written",
	NotWhole: "Not all of it is shown here.", Unapprovable: "Not all of it can be shown, so it can’t be approved here.", ShowWhole: "Show all of it", Busy: "An action is running or about to. Please withdraw that one first.",
	Said: "Messages", Older: "Earlier messages", Newest: "Back to the newest messages", Folded: "Earlier messages that were summed up", Originals: "Read the original messages", Summary: "Summary of what was before", Anew: "A new conversation begins here. The agent knows nothing of what was said before.",
	Waits: "not answered yet", Answering: "Messages without an answer: %d", NothingSaid: "There is no message to show.", Unread: "not read", Bytes: "bytes", About: "Action",
	Actions: "Actions", NoActions: "Nothing was proposed yet.", Settled: "No longer waits", ProposedBy: "Proposed by", DecideBy: "Until", Files: "Files to write", Command: "Command, word by word", Script: "Command", EmptyArgument: "(empty)", Seconds: "at most %d seconds",
	Approved: "Approved", ByRule: "Approved by a rule", Rejected: "Rejected", Cancelled: "Withdrawn", Via: "Where", Started: "Began", Completed: "Ended", Took: "Took", Exit: "Exit code",
	Result: "Result", Failure: "Why it failed", Unknown: "Outcome unknown", UnknownAbout: "What became of it is not known. It is not run again. Please look at the work folder.", Late: "What turned out after it was withdrawn",
	Output2: "Output", Dropped: "The oldest %d lines are gone: the newest 500 are kept.", ShowOutput: "Show the output", NoOutput: "There is no output.", Running: "It is running. The output is fetched every few seconds.", ErrorLine: "error output", Element: "Word",
	Log: "Audit log", LogMore: "What came after is on the page of the audit log.", LogAll: "See it in the audit log", At: "Time", By: "By", Action2: "Action", Resource: "Resource", Details: "Details",
	Was: "It was decided before: {status} ({who}, {when})", WasBy: "By",
	Action: map[conversation.ActionStatus]string{
		conversation.ActionPending: "Waits for approval", conversation.ActionApproved: "Approved, about to begin", conversation.ActionExecuting: "Running", conversation.ActionSucceeded: "Done", conversation.ActionFailed: "Failed", conversation.ActionCancelled: "Withdrawn",
	},
	Act:     map[aggregate.Act]string{aggregate.ActApprove: "✅ Approve", aggregate.ActReject: "❌ Reject", conversation.ActCancel: "⏹️ Withdraw the action", conversation.ActClose: "Close the conversation", conversation.ActReopen: "Begin this conversation again"},
	Confirm: map[aggregate.Act]string{conversation.ActCancel: "Withdraw this action? This can’t be undone.", conversation.ActClose: "Close this conversation? An action that waits is withdrawn with it."},
	ActAbout: map[aggregate.Act]string{
		aggregate.ActApprove: "What is shown above is run, word for word.", conversation.ActCancel: "If it is running it is stopped. Files that it changed so far don’t reach the work folder.", conversation.ActClose: "To go on, write anew in Slack, or begin it again here.",
		conversation.ActReopen: "The work folder is as it was left. The agent remembers nothing of what was said.",
	},
	Surface: map[aggregate.Surface]string{aggregate.SurfaceSlack: "Slack", aggregate.SurfaceConsole: "console"},
	Why: map[aggregate.Reason]string{
		conversation.ReasonClosed: "because the conversation was closed", conversation.ReasonIdle: "because nothing had happened for a while", conversation.ReasonRejected: "because it was rejected", conversation.ReasonExpired: "Nobody decided in time", conversation.ReasonWithdrawn: "because somebody withdrew it",
	},
	WhyUnread: map[conversation.Cause]string{
		conversation.TooLarge: "Too large to be read: the limit is 64 KB for text and 3 MB for images.", conversation.OtherType: "Only text and images are read.", conversation.TooMany: "Not read, because newer files came first.",
		conversation.Altered: "Not read, because it was changed after an answer had been made of it.", conversation.Silent: "Slack did not give it. The next answer tries again.", conversation.Unreadable: "It could not be read. It may have been deleted, or be kept outside of Slack.",
	},
}
