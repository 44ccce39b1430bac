package main

import (
	"ringi/functions/serve-console/settingsyaml"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
)

var settingsEN = settingsTexts{
	locale: "en", Admins: "Administrators",
	Title: "Settings", Lead: "Whoever may approve (“Who may approve” and “People may approve their own requests”) may do so as soon as you save, also what already waits. The rest holds for the policies, steps and approvals that begin after you save.", Save: "Save", Search: "Search",
	SearchUsers: "Find people by name", SearchGroups: "Find groups by name", Found: "Found", More: "There are more. Type more of the name.",
	NoneFound: "Nobody was found.", NobodyChosen: "Nobody is chosen yet.", Unlisted: "not in this workspace's list",
	Cut:      "There are many people: only the first 5,000 can be found by name. Find others by their Slack member ID.",
	Problems: "Nothing was saved. Please correct:", MoreProblems: "And %s more.", Conflict: "Nothing was saved. Another administrator saved settings while this page was open. What you had not touched has their new values. Look it over and save again.",
	ConflictBoth: "You both changed the following. What you typed is kept:", Their: "Value now", NoSlack: "Slack does not answer, so names can't be shown. Please change approvers later.",
	Unlimited: "0 means no limit", FurtherDay: "Whatever you set, $%s a day at most: whoever runs Ringi has set that bound. Models whose price nobody knows can’t be used.",
	Columns: map[string]string{
		"mcp_servers.name": "Name", "mcp_servers.url": "Address",
		"agents.id": "ID", "agents.label": "Shown as", "agents.provider": "Provider", "agents.model": "Model", "agents.endpoint": "Address", "agents.capabilities": "May",
		"agents.auth_ref": "Name of the key", "agents.is_default": "Default", "agents.metadata": "Shown as", "agents.entry": "Row",
		"agents.provider=openai": "OpenAI", "agents.provider=anthropic": "Anthropic", "agents.provider=http": "HTTP (a public address)", "agents.provider=local": "Local (an allowed address)",
		"auto_actions.argv": "Command of the test", "auto_actions.workspace": "Work folder",
	},
	Choose: "Decide whether people may approve their own requests", ChooseLead: "Nobody has decided yet. For now they may.", ChooseLink: "Read what it means and decide",
	Client: "App registration", History: "What was changed", HistoryNone: "Nothing was changed yet.", HistoryAll: "All of the history", When: "When", Who: "Who", What: "Setting", Was: "Before", Is: "After", Earlier: "values were not recorded",
	File: "Export and import", FileLead: "For taking settings from a workspace for trials to one in use, for example.", Export: "Export as YAML", Import: "Import YAML",
	ImportLead: "You first see what would change, and save after that. Settings that the file does not have stay as they are.", ImportFile: "File", ImportText: "Or paste it here", ImportShow: "Show what would change",
	ImportTitle: "Look over what you import", ImportSame: "It is the same as the settings now. There is nothing to save.", ImportSave: "Save this", ImportBack: "Back to settings", Line: "Line %d",
	About: "Settings of %s. The slug is not among them: each workspace has its own.", Yes: "Yes", No: "No", Nothing: "(none)", Members: "%d people",
	AdminsLead: "They may open settings, integrations, tools, the audit log and insights.", AdminsAdd: "Make administrator", AdminsRemove: "Take away", AdminsLink: "Change administrators", AdminsNot: "can't be an administrator",
	AdminsChanged: "Nothing was changed: another administrator was faster. Look it over and try again.", AdminsLast: "Nothing was changed: there must be at least one administrator.", AdminsUnfit: "Nothing was changed: %s can't be an administrator. Only full members of the workspace can.",
	Silent: "Nothing was saved. Slack does not answer, so the approvers can't be checked. What you typed is kept: wait a little, then try again.", Spent: "Spent so far: $%s today, $%s this month. A contest begun at the console counts with its whole budget until it ends.",
	ModelUsed: "The model that was really asked last: %s (%s)", ModelUnused: "There is no request yet: which model is really used stands here after the first one.", ModelDemo: "demo, which answers in fixed patterns, to try Ringi out",
	Rules: map[tenancy.Rule]string{
		tenancy.RuleBetween: "It must be from {min} to {max}.", tenancy.RuleLength: "It must have {min} to {max} characters.", tenancy.RuleCount: "At most {max} can be chosen.",
		tenancy.RuleOneOf: "It must be one of: {words}", tenancy.RuleSlug: "It takes up to 63 of a-z, 0-9 and -, beginning with a letter or a digit.",
		tenancy.RuleSlugTaken: "Another workspace uses it.", tenancy.RuleSlugLater: "It can be changed after the first request.",
		tenancy.RuleModel:  "There is no model of this name. It begins with claude-, gpt-, gemini- and so on, or has anthropic:, openai:, bedrock: or compatible: before it.",
		tenancy.RuleUserID: "This is no Slack member ID (U… or W…).", tenancy.RuleGroupID: "This is no ID of a Slack user group (S…).",
		tenancy.RuleServerName: "It takes up to 32 of a-z, 0-9 and -.", tenancy.RuleTaken: "Another server has this name.",
		tenancy.RuleAddress: "It must be an address of up to 500 characters such as https://example.com/mcp.", tenancy.RuleAddressOnly: "Leave out user names, passwords, and what follows ? or #. Secrets belong to the page for integrations.",
		tenancy.RuleHTTPS: "It must begin with https://.", tenancy.RuleAbove: "It must be more than 0.", tenancy.RuleFile: "It must be a place inside of the folder, without a leading / and without ...",
		people.RuleBot: "A bot can't be an approver.", people.RuleGone: "The account was deactivated. It can't be an approver.", people.RuleGuest: "A guest can't be an approver.",
		people.RuleOutsider: "Not a member of this workspace, and so no approver.", people.RuleNoGroup: "This workspace has no such group, or it was disabled.",
		tenancy.Rule(agent.RuleRequired): "This is required.", tenancy.Rule(agent.RuleID): "It takes up to 32 of a-z, 0-9, - and _, beginning with a letter or a digit.", tenancy.Rule(agent.RuleTaken): "Another row has this ID.",
		tenancy.Rule(agent.RuleUnread): "The value is of another type.", tenancy.Rule(agent.RuleProvider): "It must be openai, anthropic, http or local.", tenancy.Rule(agent.RuleAbility): "It must be some of code, shell and test.",
		tenancy.Rule(agent.RuleModel): "A model’s name has up to 150 of A-Z, a-z, 0-9 and . _ : / @ + -", tenancy.Rule(agent.RuleEndpoint): "Enter an address like https://example.com/v1 of up to 500 characters, without a user name, a password or anything after ? or #.",
		tenancy.Rule(agent.RuleSecure): "It must begin with https://, or be an address that is allowed here.", tenancy.Rule(agent.RuleElsewhere): "This address is not allowed here.", tenancy.Rule(agent.RuleNoPlace): "Only the providers HTTP and Local have an address.",
		tenancy.Rule(agent.RuleAuthRef): "Enter the name of a key: up to 64 of A-Z, a-z, 0-9, . _ and -. Never enter a key itself.", tenancy.Rule(agent.RuleMetadata): "There may be 20 such values of up to 500 characters.",
		tenancy.Rule(agent.RuleAutoType): "Only test_run (tests) can go without approval.", tenancy.Rule(agent.RuleAutoArgv): "A command has 1 to 32 words of up to 200 characters; the first one takes no *.",
		tenancy.Rule(agent.RuleAutoStar):   "A * is only for names that these commands are given: " + agent.OpenCommands() + ". Spell every other command without *: code, or another program, in the place of a * would run without anybody's approval.",
		tenancy.Rule(agent.RuleAutoOption): "Beside a * there may only be options like -run, -k or -Dtest, which choose tests or change what is shown. An option's name takes no *.",
		tenancy.Rule(agent.RuleAutoShell):  "Shells, and commands that start other programs, always need approval.", tenancy.Rule(agent.RuleAutoWorkspace): "Enter the name of a work folder of up to 200 characters.",
		settingsyaml.RuleSyntax: "This can't be read as YAML.", settingsyaml.RuleLarge: "The file is too large (at most {max} bytes).", settingsyaml.RuleUnknown: "There is no setting of this name.", settingsyaml.RuleTwice: "The setting is there twice.",
		settingsyaml.RuleAlias: "Anchors and aliases (& and *) are not taken.", settingsyaml.RuleOwn: "Each workspace has its own: a file can't change it. Delete this line.",
		tenancy.RuleFlag: "It must be true or false.", tenancy.RuleWhole: "It must be a whole number.", tenancy.RuleNumber: "It must be a number.", tenancy.RuleText: "It must be a text.",
		tenancy.RuleList: "It must be a list of “- value”.", settingsyaml.RuleFields: "It must be a list of “name: value”.",
	},
}
