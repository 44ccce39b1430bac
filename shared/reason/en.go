package reason

import (
	"ringi/shared/aggregate"
	"ringi/shared/task"
)

func english() words {
	return words{
		detail: " ({detail})", seconds: " ({detail} s)", spent: " (spent ${spent}, limit ${limit})", atMost: " (at most {n})", people: " ({n} people, the limit is {limit})", step: "step {step}",
		sentences: map[aggregate.Reason]string{
			task.ReasonDone:             "The task is complete.",
			task.ReasonByPerson:         "The task was cancelled. To continue, please ask again.",
			task.ReasonMaxVersions:      "The task was cancelled after the last possible rejection. Please ask again with other conditions.",
			task.ReasonExpired:          "Nobody decided in time, so the task was cancelled. To continue, please ask again.",
			task.ReasonStepRejected:     "A step was rejected, so the run was stopped. Completed steps stay as they are.",
			task.ReasonCostLimit:        "It was stopped because it has cost what it may{detail}. Please have an administrator raise the limit (max_cost_usd), then press [🔄 Run again], or ask again if there is no such button.",
			task.ReasonUnsupported:      "No task was made. Ringi takes work that can be done with lists of employees, attendance, overtime, Google Sheets, direct messages in Slack, and the tools that this workspace has added.",
			task.ReasonGreeting:         "This is HR AI Agent. Ask for the work that you want done.",
			task.ReasonThreadHint:       "Replies in a thread are not read as requests. To change what waits for approval, press [❌ Reject] on its card and give the reason, or mention Ringi in this thread. Write a new message outside of the thread to ask for something else; approve, reject and cancel on the cards.",
			task.ReasonBecameReason:     "This message became the reason for rejecting the version that waited in its thread.",
			task.ReasonHelp:             "Ask Ringi for work in plain words: “Sum up this month's attendance”, “Check last month's overtime”, “Get the list of employees”. It is carried out once people have approved the policy and the steps.",
			task.ReasonGuest:            "Guests can't make requests. Please have a member of the workspace ask.",
			task.ReasonStranger:         "People of other workspaces can't make requests here. Please have a member of this workspace ask.",
			task.ReasonWorkspace:        "Ringi is not set up for this workspace and can't take requests from it. Please ask an administrator of Ringi.",
			task.ReasonOpenPerson:       "You have as many open tasks as you may have{detail}. Approve, reject or cancel one of them, then ask again. An administrator can change the limit (max_open_tasks).",
			task.ReasonOpenTenant:       "This workspace has as many open tasks as it may have{detail}. Please ask again once others have ended. An administrator can change the limit (max_open_tasks).",
			task.ReasonHourPerson:       "You have asked for as much as you may within this hour{detail}. Please ask again after the time below. An administrator can change the limit (max_tasks_per_hour).",
			task.ReasonHourTenant:       "This workspace has asked for as much as it may within this hour{detail}. Please ask again after the time below. An administrator can change the limit (max_tasks_per_hour).",
			task.ReasonAsked:            "Nobody has said yet whether your message before this one, in this thread, is a reason for rejecting or a new request. Please press a button on its card, then write again.",
			task.ReasonModelUnavailable: "The AI model could not be reached{detail}. Please wait a moment, then press [🔄 Try again].",
			task.ReasonModelRefused:     "The AI model declined this request{detail}. Please word it differently and ask again.",
			task.ReasonModelBadOutput:   "The AI model's answer could not be used{detail}. Press [🔄 Try again], or ask again in more detail.",
			task.ReasonModelCutOff:      "The AI model's answer was too long and was cut off{detail}. Please split the request and ask again.",
			task.ReasonModelBadRequest:  "The AI model's vendor did not accept what was sent{detail}. Ask more briefly, or have an administrator choose another model, then press [🔄 Try again].",
			task.ReasonModelKey:         "The AI model's API key is missing or not valid{detail}. Please have whoever runs Ringi add it to the model secret, then press [🔄 Try again].",
			task.ReasonModelForbidden:   "This model may not be used{detail}. Please have whoever runs Ringi allow it at the vendor, then press [🔄 Try again].",
			task.ReasonModelNoCredit:    "The account with the AI model's vendor has no credit or quota left{detail}. Please have whoever holds the contract look at it, then press [🔄 Try again].",
			task.ReasonModelMisplaced:   "The AI model's endpoint may not be called{detail}. It must be a public https address. Please have whoever runs Ringi check the endpoint in the model secret.",
			task.ReasonModelUnknown:     "The configured AI model can't be used{detail}. Please have an administrator check the settings, then press [🔄 Try again].",
			task.ReasonModelUnpriced:    "A task's cost is limited (max_cost_usd), but nobody knows this model's price, so it was not called{detail}. Please have an administrator choose another model or set the limit to 0, then press [🔄 Try again].",
			task.ReasonModelDemo:        "The demo model failed, as it was asked to{detail}. Press [🔄 Try again] to go on.",
			task.ReasonTooManyPeople:    "The policy that the AI model wrote mentions more people than it may{detail}. Name fewer people, or split the request, and ask again.",
			task.ReasonPlanNever:        "No steps were made, because something that the request needs can't be done{detail}. Trying again would not change that. Ask again for what can be done, and cancel this task in its menu “⋯”.",
			task.ReasonPlanLacks:        "No steps were made, because something that the request needs can't be done{detail}. Press [🔄 Try again] once an administrator allows it, or ask again for what can be done.",
			task.ReasonRunFailed:        "Something went wrong inside Ringi{detail}. Please try again with the button below; if it persists, tell an administrator.",
			task.ReasonToolValue:        "This can't be done as it was approved{detail}. Running it again gives the same result; please ask again with the right values.",
			task.ReasonToolFailed:       "A tool call failed{detail}. Please check the service it calls, then press [🔄 Run again]. Completed steps are not repeated.",
			task.ReasonToolUnknown:      "Nobody knows whether a write took effect{detail}. Please check, then press [🔄 Run again]: that calls the step of unknown outcome once more.",
			task.ReasonToolNotAllowed:   "This tool isn't allowed in this workspace{detail}. Once an administrator allows it, press [🔄 Run again].",
			task.ReasonToolConstraint:   "The tool's constraints, which an administrator set, do not allow the call, so it was not made{detail}. Ask again within the constraints, or have an administrator change them, then press [🔄 Run again].",
			task.ReasonToolChanged:      "The tool changed after the approval, so it was not called{detail}. Please ask again and approve the new steps.",
			task.ReasonBadArguments:     "The arguments could not be made from the earlier results{detail}. Please check what was asked, and ask again.",
			task.ReasonResultExpired:    "The result of an earlier step has expired and was deleted, so that the rest can't be run{detail}. Please ask again.",
			task.ReasonStepsChanged:     "What was about to run isn't what was approved, so it did not run{detail}. Please ask again and approve anew.",
			task.ReasonTimeout:          "The time limit was exceeded{detail}. [🔄 Run again] goes on after the completed steps.",
			task.ReasonInterruptedRead:  "A read was interrupted{detail}. Please press [🔄 Run again].",
			task.ReasonSessionModel:     "Running with Claude Managed Agents needs a model of Anthropic's{detail}. Ask an administrator to set a claude-… model, or to let Ringi run the steps; then make the request again.",
			task.ReasonSessionEnded:     "The session with Claude ended on the way{detail}. Press [🔄 Run again]: it goes on after the completed steps.",
			task.ReasonStepsNotDone:     "Claude finished and left approved steps undone{detail}. Press [🔄 Run again]: it goes on after the completed steps.",
		},
	}
}
