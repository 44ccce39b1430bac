package main

import (
	"maps"
	"slices"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// tasksTexts are the texts of the list of requests.
type tasksTexts struct {
	Title, About                                         string
	Status, Person, From, To, Search, SearchHint, Filter string
	Anything, Anybody, Myself, All, Mine, Clear          string
	Request, Where, Made, Changed, Untitled, Direct      string
	Next, Previous, First, Pages, Views                  string
	Waiting, WaitingAbout, WaitingLink                   string
	Empty, EmptyAbout, EmptyExample, EmptyMine           string
	NoneFound, NoneYet, OnlyLatest, Narrow, Unsaid       string
	BadCursor                                            string
	Bad                                                  map[string]string
	Statuses                                             map[task.TaskStatus]string
	Priorities                                           map[task.Priority]string
}

// problems are the sentences on what an address says wrong.
func (t tasksTexts) problems(bad badFilter) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, t.Bad[field])
	}
	return out
}

var tasksWords = language.InEach(
	tasksTexts{
		Title: "依頼", About: "Slack で受け付けた依頼を、新しい順に並べています。",
		Status: "状態", Person: "依頼した人", From: "開始日", To: "終了日", Search: "件名を検索", SearchHint: "検索は、新しい 1,000 件の件名が対象です。日付は日本時間です。", Filter: "絞り込む",
		Anything: "すべての状態", Anybody: "すべての人", Myself: "自分", All: "すべて", Mine: "自分の依頼", Clear: "条件を外す",
		Request: "件名", Where: "場所", Made: "依頼日時", Changed: "更新日時", Untitled: "(無題)", Direct: "ダイレクトメッセージ",
		Next: "次のページ", Previous: "前のページ", First: "最初のページ", Pages: "ページ", Views: "表示する依頼",
		Waiting: "あなたの判断を待っているもの", WaitingAbout: "承認や選択をお願いしているものがあるか、確かめられます。", WaitingLink: "判断を待っているものを見る",
		Empty: "まだ依頼がありません", EmptyAbout: "Slack のチャンネルで Ringi にメンションするか、ダイレクトメッセージで話しかけると、ここに並びます。", EmptyExample: "例: @Ringi 今月の勤怠をまとめて",
		EmptyMine: "ここに並ぶのは、あなたの依頼と、あなたが参加しているチャンネルの依頼です。",
		NoneFound: "条件に合う依頼はありません", NoneYet: "ここまでに、条件に合う依頼はありませんでした。次のページに続きがあります。",
		OnlyLatest: "新しい 1,000 件だけを調べました。古い依頼は、日付や状態で絞り込むと見つかります。", Narrow: "条件に合う依頼が多いため、新しい 100 件だけを表示しています。",
		Unsaid:    "Slack に確認できないため、今はあなた自身の依頼だけを表示しています。",
		BadCursor: "このページへのリンクは使えません。最初のページから開き直してください。",
		Bad: map[string]string{
			"status": "状態: 一覧にない値です。選び直してください。", "person": "依頼した人: Slack のユーザー ID ではありません。選び直してください。",
			"from": "開始日: 2026-04-01 のような日付にしてください。", "to": "終了日: 開始日以降の、2026-04-30 のような日付にしてください。", "q": "件名: 100 文字までにしてください。",
		},
		Statuses: map[task.TaskStatus]string{
			task.TaskExtracted: "計画・承認中", task.TaskRunning: "実行中", task.TaskCompleted: "完了", task.TaskFailed: "失敗", task.TaskCancelled: "取り消し",
		},
		Priorities: map[task.Priority]string{task.High: "優先度 高", task.Urgent: "緊急"},
	},
	tasksTexts{
		Title: "Requests", About: "What was asked for in Slack, newest first.",
		Status: "Status", Person: "Asked by", From: "From", To: "To", Search: "Search titles", SearchHint: "Search looks at the titles of the latest 1,000 requests. Days are Japan's.", Filter: "Filter",
		Anything: "Any status", Anybody: "Anybody", Myself: "Me", All: "All", Mine: "My requests", Clear: "Clear filters",
		Request: "Title", Where: "Where", Made: "Asked", Changed: "Changed", Untitled: "(untitled)", Direct: "Direct message",
		Next: "Next page", Previous: "Previous page", First: "First page", Pages: "Pages", Views: "Which requests",
		Waiting: "Waiting for you", WaitingAbout: "See whether anything waits for your approval or your choice.", WaitingLink: "See what waits for you",
		Empty: "No requests yet", EmptyAbout: "Mention Ringi in a Slack channel, or write to it directly: what you ask for is listed here.", EmptyExample: "For example: @Ringi summarize this month's attendance",
		EmptyMine: "Listed here are your own requests, and those of channels that you are in.",
		NoneFound: "No request fits these filters", NoneYet: "None of these fits the filters. There are older ones on the next page.",
		OnlyLatest: "Only the latest 1,000 were looked at. Narrow by dates or status to find older ones.", Narrow: "Many requests fit: these are the latest 100.",
		Unsaid:    "Slack does not answer: for now you see only your own requests.",
		BadCursor: "This link to a page can't be used. Please start from the first page.",
		Bad: map[string]string{
			"status": "Status: there is no such status. Choose one of the list.", "person": "Asked by: that is no Slack user id. Choose one of the list.",
			"from": "From: write a date such as 2026-04-01.", "to": "To: write a date such as 2026-04-30, not before the first one.", "q": "Title: at most 100 characters.",
		},
		Statuses: map[task.TaskStatus]string{
			task.TaskExtracted: "Planning", task.TaskRunning: "Running", task.TaskCompleted: "Completed", task.TaskFailed: "Failed", task.TaskCancelled: "Cancelled",
		},
		Priorities: map[task.Priority]string{task.High: "High priority", task.Urgent: "Urgent"},
	},
)
