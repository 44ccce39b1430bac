package main

import (
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// approvalsTexts are the texts of the list of what waits for a decision.
type approvalsTexts struct {
	Title, About, Views, Everything, ForMe               string
	Version, Step, AskedBy, Since, Until, Effects, Read  string
	Yours, Untitled, Sorts, Heading, MoreOfMine          string
	Next, Previous, First, Pages                         string
	Nothing, NothingAbout, NothingForMe, NoneYet, Unsaid string
	BadCursor                                            string
	Kinds                                                map[aggregate.CardType]string
}

// whoSorts names those who may say what a message is meant to be.
func (t approvalsTexts) whoSorts(who string) string {
	return strings.ReplaceAll(t.Sorts, "{who}", who)
}

// Number names a version, StepNumber a step.
func (t approvalsTexts) Number(n int) string {
	return strings.ReplaceAll(t.Version, "{n}", strconv.Itoa(n))
}
func (t approvalsTexts) StepNumber(n int) string {
	return strings.ReplaceAll(t.Step, "{n}", strconv.Itoa(n))
}

var approvalsWords = language.InEach(
	approvalsTexts{
		Title: "承認待ち", About: "判断を待っているものを、古い順に並べています。ひとつずつ読んで判断してください。", Views: "表示するもの", Everything: "すべて", ForMe: "あなたの判断を待っているもの",
		Version: "v{n}", Step: "ステップ{n}", AskedBy: "依頼した人", Since: "待ち始め", Until: "期限", Effects: "実行される内容", Read: "読んで判断する",
		Yours: "あなたの判断待ち", Heading: "判断を待っているもの", MoreOfMine: "ほかにもあります。すべて見る", Untitled: "(無題)", Sorts: "👥 新しい依頼にできる人: {who}",
		Next: "次のページ", Previous: "前のページ", First: "最初のページ", Pages: "ページ",
		Nothing: "判断を待っているものはありません", NothingAbout: "実行方針、実行ステップ、実行前の確認が判断を待つと、ここに並びます。", NothingForMe: "あなたの判断を待っているものはありません",
		NoneYet: "ここまでには、表示するものがありませんでした。次のページに続きがあります。",
		Unsaid:  "Slack に確認できないため、あなたが判断できるものをすべて表示できていないかもしれません。", BadCursor: "このページへのリンクは使えません。最初のページから開き直してください。",
		Kinds: map[aggregate.CardType]string{task.CardPrompt: "実行方針", task.CardProcess: "実行ステップ", task.CardStep: "実行前の確認", task.CardTask: "依頼か却下理由かの確認", conversation.CardAction: "エージェントの操作"},
	},
	approvalsTexts{
		Title: "Approvals", About: "What waits for a decision, oldest first. Please read each before you decide.", Views: "What to show", Everything: "Everything", ForMe: "Waiting for you",
		Version: "v{n}", Step: "step {n}", AskedBy: "Asked by", Since: "Waiting since", Until: "Until", Effects: "What it would do", Read: "Read and decide",
		Yours: "Waits for you", Heading: "Waiting for a decision", MoreOfMine: "There is more: see all", Untitled: "(untitled)", Sorts: "👥 Can make it a new request: {who}",
		Next: "Next page", Previous: "Previous page", First: "First page", Pages: "Pages",
		Nothing: "Nothing waits for a decision", NothingAbout: "Policies, steps and checks before running are listed here while they wait.", NothingForMe: "Nothing waits for you",
		NoneYet: "Nothing so far. There is more on the next page.",
		Unsaid:  "Slack does not answer: something that you may decide could be missing here.", BadCursor: "This link to a page can't be used. Please start from the first page.",
		Kinds: map[aggregate.CardType]string{task.CardPrompt: "Policy", task.CardProcess: "Steps", task.CardStep: "Check before running", task.CardTask: "Request or reason?", conversation.CardAction: "Agent’s action"},
	},
)
