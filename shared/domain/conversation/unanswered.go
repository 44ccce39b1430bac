package conversation

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// ReasonNoAgent says that the settings don't contain the conversation's agent.
const ReasonNoAgent aggregate.Reason = "agent_not_found"

// Unanswered returns a sentence for people: why the agent did not answer, and what they can do now. It returns false
// for a reason that has its sentence in another package.
func Unanswered(locale string, why aggregate.Reason) (sentence string, known bool) {
	sentence, known = unanswered.In(locale)[why]
	return sentence, known
}

var unanswered = language.InEach(
	map[aggregate.Reason]string{
		ReasonNoAgent:               "このエージェントは、今の設定にありません。管理者が設定に戻すと、この会話を続けられます。",
		task.ReasonModelUnavailable: "AI モデルから応答がないため、答えられませんでした。書いた内容は残っています。少し待ってから、「続けて」などともう一度書いてください。",
		ReasonRunFailed:             "Ringi の内部で問題が起き、答えられませんでした。書いた内容は残っています。少し待ってから、もう一度話しかけてください。続く場合は管理者に連絡してください。",
	},
	map[aggregate.Reason]string{
		ReasonNoAgent:               "The settings don't have this agent now. When an administrator puts it back, this conversation goes on.",
		task.ReasonModelUnavailable: "There is no answer because the AI model could not be reached. What you wrote is kept. Please wait a little, then write again, for example “go on”.",
		ReasonRunFailed:             "Something went wrong inside Ringi, so there is no answer. What you wrote is kept. Please write again in a little while; if it persists, tell an administrator.",
	})
