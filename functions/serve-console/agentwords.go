package main

import (
	"maps"
	"slices"

	"ringi/shared/domain/agent"
	"ringi/shared/words/language"
)

// agentsTexts are the texts of the page of agents and of the conversations with them.
type agentsTexts struct {
	Title, About, Views, All, Mine                                    string
	Status, Person, Anything, Anybody, Myself, Filter, Clear          string
	Talk, Agent, Where, Began, Active, Cost, Untitled, Talks          string
	Next, Previous, First, Pages, NoneYet, NoneFound                  string
	Empty, EmptyAbout, EmptyThread, Example, EmptyMine, Short         string
	Unsaid, BadCursor                                                 string
	Agents, AgentsAbout, ID, Model, May, MayNothing, Default, BuiltIn string
	Custom, Endpoint, Key, KeyAbout, NoKey, ChangeAgents              string
	Warnings, Row, KeepsBuiltIn, LeftOut                              string
	Rules, RulesAbout, NoRules, Command, Workspace, ChangeRules       string
	Demo                                                              string
	Sandbox, SandboxAbout, SandboxLimits, SandboxOff                  string
	Bad                                                               map[string]string
	Statuses                                                          map[string]string
	Types                                                             map[agent.ActionType]string
}

// problems are the sentences on what an address says wrong.
func (t agentsTexts) problems(bad badFilter) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, t.Bad[field])
	}
	return out
}

var agentsWords = language.InEach(
	agentsTexts{
		Title: "エージェント", About: "Slack でエージェントと話した会話を、新しい順に並べています。", Views: "表示する会話", All: "すべて", Mine: "自分の会話",
		Status: "状態", Person: "始めた人", Anything: "すべての状態", Anybody: "すべての人", Myself: "自分", Filter: "絞り込む", Clear: "条件を外す",
		Talk: "会話", Agent: "エージェント", Where: "場所", Began: "始まり", Active: "最後の動き", Cost: "費用", Untitled: "(無題)", Talks: "会話の一覧",
		Next: "次のページ", Previous: "前のページ", First: "最初のページ", Pages: "ページ",
		NoneYet: "ここまでに、条件に合う会話はありませんでした。次のページに続きがあります。", NoneFound: "条件に合う会話はありません",
		Empty: "まだ会話がありません", EmptyAbout: "Slack で Ringi へのダイレクトメッセージを開き、エージェントの ID と「:」に続けて書くと、会話が始まります。", EmptyThread: "続きは、そのスレッドに書いてください。",
		Example: "例: %s: 集計用のスクリプトを書いて", EmptyMine: "ここに並ぶのは、あなたの会話と、あなたが参加しているチャンネルの会話です。", Short: "新しい 1,000 件だけを調べました。",
		Unsaid: "Slack に確認できないため、今はあなた自身の会話だけを表示しています。", BadCursor: "このページへのリンクは使えません。最初のページから開き直してください。",
		Agents: "話せるエージェント", AgentsAbout: "エージェントは、したいことを提案するだけです。ファイルの作成もコマンドの実行も、人が承認するまで行われません。",
		ID: "ID", Model: "モデル", May: "提案できること", MayNothing: "会話だけ", Default: "既定", BuiltIn: "標準", Custom: "このワークスペースの設定", Endpoint: "アドレス",
		Key: "鍵の名前", KeyAbout: "鍵そのものは、このページからは見えません。鍵がないか間違っていると、会話が「応答なし」になり、その会話のページに理由が出ます。", NoKey: "不要", ChangeAgents: "エージェントを変える",
		Demo:     "いちばん新しい会話には、デモが答えています。下のモデルの代わりに、決まった言葉にだけ決まった答えを返します。本物のモデルが答えるのは、鍵を登録し、デモを外した環境です。",
		Warnings: "使われていない設定があります", Row: "%d 行目", KeepsBuiltIn: "標準のエージェントをそのまま使っています。", LeftOut: "この行は使われていません。",
		Rules: "承認なしで始まるテスト", RulesAbout: "管理者が決めたこのコマンドのテストだけが、承認なしで始まります。使われたことは監査ログに残ります。", NoRules: "ありません。すべての提案が承認を待ちます。",
		Command: "コマンド", Workspace: "作業フォルダー", ChangeRules: "規則を変える",
		Sandbox:       "コマンドが実行される場所",
		SandboxAbout:  "承認されたテストとコマンドは、1 件ごとに、ほかから切り離された使い捨ての環境で実行されます。",
		SandboxLimits: "社内のシステムにもインターネットにもつながらず、見えるのはその会話の作業フォルダーだけです。長くても 10 分で止まります。",
		SandboxOff:    "コマンドの実行は、Ringi を設置した人が有効にした環境だけで使えます。有効でない環境では、エージェントはそう答え、できるのは会話と、承認されたファイルの作成です。",
		Bad:           map[string]string{"status": "状態: 一覧にない値です。選び直してください。", "person": "始めた人: Slack のユーザー ID ではありません。選び直してください。"},
		Statuses:      map[string]string{"open": "会話中", "executing": "実行中", "closed": "終了", "error": "応答なし", waitsFor: "承認待ち"},
		Types:         agent.Called("ja"),
	},
	agentsTexts{
		Title: "Agents", About: "Conversations with agents in Slack, newest first.", Views: "Which conversations", All: "All", Mine: "My conversations",
		Status: "Status", Person: "Started by", Anything: "Any status", Anybody: "Anybody", Myself: "Me", Filter: "Filter", Clear: "Clear filters",
		Talk: "Conversation", Agent: "Agent", Where: "Where", Began: "Started", Active: "Last activity", Cost: "Cost", Untitled: "(untitled)", Talks: "Conversations",
		Next: "Next page", Previous: "Previous page", First: "First page", Pages: "Pages",
		NoneYet: "None of these fits the filters. There are older ones on the next page.", NoneFound: "No conversation fits these filters",
		Empty: "No conversations yet", EmptyAbout: "Open a direct message with Ringi in Slack and begin it with an agent’s ID and a colon.", EmptyThread: "Go on in that message’s thread.",
		Example: "For example: %s: write a script that adds up the columns", EmptyMine: "Listed here are your own conversations, and those of channels that you are in.", Short: "Only the latest 1,000 were looked at.",
		Unsaid: "Slack does not answer: for now you see only your own conversations.", BadCursor: "This link to a page can't be used. Please start from the first page.",
		Agents: "Who can be talked with", AgentsAbout: "Agents only propose. No file is written and no command is run before a person approves it.",
		ID: "ID", Model: "Model", May: "May propose", MayNothing: "Nothing, only talk", Default: "Default", BuiltIn: "Built in", Custom: "From this workspace’s settings", Endpoint: "Address",
		Key: "Name of the key", KeyAbout: "This page can’t see keys. Where one is missing or wrong, conversations show “No answer”, and their pages say why.", NoKey: "none needed", ChangeAgents: "Change the agents",
		Demo:     "The newest conversation was answered by the demo, in place of the models below: it gives fixed answers to fixed phrases. Real models answer where their keys are entered and the demo is taken away.",
		Warnings: "Some of the settings are not used", Row: "Row %d", KeepsBuiltIn: "The built-in agent is used as it is.", LeftOut: "This row is not used.",
		Rules: "Tests that begin without approval", RulesAbout: "Only tests with these commands, which an administrator chose, begin without approval. That a rule was used is recorded in the audit log.", NoRules: "None. Every proposal waits for approval.",
		Command: "Command", Workspace: "Work folder", ChangeRules: "Change the rules",
		Sandbox:       "Where commands are run",
		SandboxAbout:  "Each approved test or command is run in an environment of its own that is apart from everything else and thrown away afterwards.",
		SandboxLimits: "It reaches neither your systems nor the internet, sees nothing but the conversation’s work folder, and ends after 10 minutes at most.",
		SandboxOff:    "Commands are run only where whoever installed Ringi has turned that on. Elsewhere agents say so; they can talk, and write files that were approved.",
		Bad:           map[string]string{"status": "Status: there is no such status. Choose one of the list.", "person": "Started by: that is no Slack user id. Choose one of the list."},
		Statuses:      map[string]string{"open": "Open", "executing": "Running", "closed": "Closed", "error": "No answer", waitsFor: "Waits for approval"},
		Types:         agent.Called("en"),
	},
)
