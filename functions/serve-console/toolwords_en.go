package main

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/mcp"
)

var toolsEN = toolsTexts{
	Title: "Tools", Lead: "What approved steps may call. Limits hold from the next call on, for steps that were approved before as well.", Search: "Filter", SearchLabel: "Find by name or description", NoneFound: "No tool fits.", All: "Show all",
	Own: "Ringi's tools", Servers: "Tools of MCP servers", NoServers: "There are no MCP servers yet.", NoServersLink: "Add one in the settings",
	Reads: "reads", Writes: "writes", With: "Connects to", Allowed: "May be used", Forbidden: "May not be used", Unread: "The limits that were saved can't be read, so nothing calls it now. Saving replaces them with what stands below.", Wrong: "Nothing was saved. Please correct what is marked below.",
	Conflict: "Nothing was saved. Another administrator changed this tool while the page was open. What you typed is kept: look it over and save again.", Save: "Save", Limits: "Limits", NoLimits: "There are no limits for this tool.", Back: "Back to tools", Look: "Look at its tools",
	On: "may be used", Off: "may not be used", Changed: "stopped, since they changed",
	Server: "MCP server", ServerLead: "This is what the server itself says. Characters that nobody sees stand as their numbers. You allow exactly this: when the server changes it, the tool stops.",
	Silent: "The server could not be asked. Wait a little, then open this page again.", Kept: "This is what was allowed.", Address: "Address", ToolTitle: "Title", Description: "Description", Arguments: "Arguments", Result: "Result", Hash: "Hash (SHA-256)", HashAbout: "You allow what has this hash, and nothing else.",
	Was: "What was allowed", Is: "What it is now", Allow: "Allow exactly this", AllowAgain: "Allow what it is now", Forbid: "Stop its use", Effect: "This tool", ReadOnly: "only reads", Writing: "writes or sends something", EffectAbout: "One that writes is never called twice on its own, and its arguments are shown before approval. If in doubt, choose that it writes.",
	Refused: "That can't be done. Nothing was changed.", SayEffect: "Choose whether it only reads, or writes. Nothing was changed.", Confirm: "Stop the use of this tool?",
	ChangedNow: "Nothing was changed. The server's tool or its permission has changed since it was shown: look at it again.", ChangedAbout: "It stopped, since the server changed it. Look at the difference.", GoneAbout: "The server no longer has it.", NoTools: "This server has no tools.", NotFit: "This tool can't be allowed.",
	Contests: "contests may use it", ContestsAbout: "Those who do the research in a contest (members of type web-search) call tools without waiting for approval, so only tools that read can be given to them. What they read depends on the request's words: it may reach, by a draft, everybody who can read the request, and what the request says may reach the server. One that the server changes, or that is allowed anew, is taken away from them.", ForContests: "Let contests use it too", NotForContests: "Keep it from contests", ContestsNever: "Contests can't use a tool that writes.",
	Providers: map[string]string{"freee": "freee", "google": "Google", "slack": "Slack"},
	Bounds: map[tenancy.Constraint]boundText{
		tenancy.OnlySpreadsheets: {"Spreadsheets it may write to", "The ids that follow /d/ in their addresses, one a line. Empty: any.", "An id has up to 200 of A-Z, a-z, 0-9, _ and -; up to 200 lines."},
		tenancy.OnlyRecipients:   {"People it may write to", "Slack member IDs or e-mail addresses, one a line. Empty: anybody.", "Each line must be a Slack member ID (U…) or an e-mail address; up to 200 lines."},
		tenancy.OnlyDepartments:  {"Departments", "Names or codes, one a line. Empty: all.", "Each line may have up to 100 characters; up to 200 lines."},
		tenancy.MaxRows:          {"Rows in one call", "Empty: as many as the tool takes.", "It must be a whole number from 1 to 1,000,000."},
	},
	States:   map[mcp.State]string{mcp.On: "may be used", mcp.Off: "may not be used", mcp.Changed: "stopped: it changed", mcp.Gone: "gone from the server", mcp.Unfit: "can't be allowed"},
	Accesses: map[aggregate.Access]string{aggregate.Read: "reads", aggregate.Write: "writes"},
	Unfit: [][2]string{
		{"there twice", "Two tools have this name."}, {"its name is not", "Its name has characters that can't be taken, or is too long."}, {"title is over", "Its title is too long (at most 100 characters)."}, {"description is over", "Its description is too long (at most 2,000 characters)."},
		{"schema of it is over", "Its arguments or result are described at too great length (at most 16 KB)."}, {"arguments are no object", "Its arguments are not described as they must be."}, {"arguments can't be checked", "Its arguments can't be checked."}, {"result can't be checked", "Its result can't be checked."},
		{"all allowed tools of servers", "All allowed tools together are described at too great length (at most 128 KB). Stop the use of some."}, {"allowed as one that writes", "Contests can't use a tool that writes."}, {"which is the limit", "Contests can use at most 20 tools. Take away one that is not used."}, {"none that the server has", "The server has no such tool."},
	},
}
