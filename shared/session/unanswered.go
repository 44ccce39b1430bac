package session

import (
	"ringi/shared/aggregate"
	"ringi/shared/language"
	"ringi/shared/reason"
	"ringi/shared/task"
)

// ReasonNoAgent says that the settings have no agent of a session's id.
const ReasonNoAgent aggregate.Reason = "agent_not_found"

// Unanswered says why an agent did not answer, and what people can do now: there is no button for it in a conversation.
// detail is the agent, the model, a provider, or a sum and its limit. What they wrote stays, and is known to the agent when it answers again.
func Unanswered(locale string, why aggregate.Reason, detail string) string {
	own := unanswered.In(locale)
	if text, ok := own[why]; ok {
		return text + reason.Detail(locale, why, detail)
	}
	if _, known := reason.Known(locale, string(why)); known {
		return reason.InTalk(locale, why, detail)
	}
	return own[ReasonRunFailed]
}

var unanswered = language.InEach(
	map[aggregate.Reason]string{
		ReasonNoAgent:               "このエージェントは、今の設定にありません。管理者が設定に戻すと、この会話を続けられます。",
		task.ReasonModelUnavailable: "AI モデルから応答がないため、答えられませんでした。書いた内容は残っています。少し待ってから、「続けて」などともう一度話しかけてください。",
		ReasonRunFailed:             "Ringi の内部で問題が起き、答えられませんでした。書いた内容は残っています。少し待ってから、もう一度話しかけてください。続く場合は管理者に連絡してください。",
	},
	map[aggregate.Reason]string{
		ReasonNoAgent:               "The settings don't have this agent now. When an administrator puts it back, this conversation goes on.",
		task.ReasonModelUnavailable: "There is no answer because the AI model could not be reached. What you wrote is kept. Please wait a little, then write again, for example “go on”.",
		ReasonRunFailed:             "Something went wrong inside Ringi, so there is no answer. What you wrote is kept. Please write again in a little while; if it persists, tell an administrator.",
	})
