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
	return unanswered.In(locale).Find(why)
}

var unanswered = language.InEach(
	language.Said[aggregate.Reason]{
		{ReasonNoAgent, "このエージェントは設定から削除されています。管理者が設定に戻すと、この会話を続けられます。"},
		{task.ReasonModelUnavailable, "AI モデルから応答がなく、回答できませんでした。メッセージは保存されています。しばらくしてから、「続けて」など、もう一度書いてください。"},
		{ReasonRunFailed, "Ringi の内部で問題が起き、回答できませんでした。メッセージは保存されています。しばらくしてから、もう一度送信してください。続く場合は管理者に連絡してください。"},
	},
	language.Said[aggregate.Reason]{
		{ReasonNoAgent, "This agent was removed from the settings. To continue this conversation, ask an administrator to restore it."},
		{task.ReasonModelUnavailable, "The AI model didn't respond, so there's no answer. Your message is saved. Wait a moment, then write again, e.g. “go on”."},
		{ReasonRunFailed, "Something went wrong inside Ringi, so there's no answer. Your message is saved. Wait a moment, then write again. If it keeps happening, tell an administrator."},
	})
