package main

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/mcp"
	"ringi/shared/words/language"
)

type toolsTexts struct {
	Title, Lead, Search, SearchLabel, NoneFound, All, Own, Servers, NoServers, NoServersLink                string
	Reads, Writes, With, Allowed, Forbidden, Unread, Wrong, Conflict, Save, Limits, NoLimits, Back, Look    string
	On, Off, Changed                                                                                        string
	Server, ServerLead, Silent, Kept, Address, ToolTitle, Description, Arguments, Result, Hash, HashAbout   string
	Was, Is, Allow, AllowAgain, Forbid, Effect, ReadOnly, Writing, EffectAbout, Refused, SayEffect, Confirm string
	ChangedNow, ChangedAbout, GoneAbout, NoTools, NotFit                                                    string
	Contests, ContestsAbout, ForContests, NotForContests, ContestsNever                                     string
	Providers                                                                                               map[string]string
	Bounds                                                                                                  map[tenancy.Constraint]boundText
	States                                                                                                  map[mcp.State]string
	Accesses                                                                                                map[aggregate.Access]string
	Unfit                                                                                                   [][2]string // part of what is wrong with a tool, and how it is said
}

// unfit says why a tool can't be allowed.
func (t toolsTexts) unfit(problem string) string {
	if problem == "" {
		return ""
	}
	for _, one := range t.Unfit {
		if strings.Contains(problem, one[0]) {
			return one[1]
		}
	}
	return t.NotFit
}

var toolsWords = language.InEach(toolsJA, toolsEN)

var toolsJA = toolsTexts{
	Title: "ツール", Lead: "承認されたステップから呼び出せるものです。制限は、次の呼び出しから使われます。承認済みのステップにも効きます。", Search: "絞り込む", SearchLabel: "名前や説明で探す", NoneFound: "当てはまるツールはありません。", All: "すべて表示",
	Own: "Ringi のツール", Servers: "MCP サーバーのツール", NoServers: "MCP サーバーはまだありません。", NoServersLink: "設定で追加する",
	Reads: "読み取り", Writes: "書き込み", With: "接続先", Allowed: "使える", Forbidden: "使えない", Unread: "保存されている制限を読み取れないため、今は呼び出せません。保存すると、下の内容に置き換わります。", Wrong: "保存していません。下の項目を直してください。",
	Conflict: "保存していません。開いている間に、ほかの管理者がこのツールを変えました。入力は残しています。確かめて、もう一度保存してください。", Save: "保存", Limits: "制限", NoLimits: "このツールに付けられる制限はありません。", Back: "ツールに戻る", Look: "ツールを見る",
	On: "使えるツール", Off: "使えないツール", Changed: "変わったため止まっているツール",
	Server: "MCP サーバー", ServerLead: "サーバーが説明する内容をそのまま表示しています。見えない文字は番号で表示します。許可は、この内容に対してだけ有効です。サーバーが内容を変えると、その時点で使えなくなります。",
	Silent: "サーバーに問い合わせできませんでした。少し待ってから、もう一度開いてください。", Kept: "許可したときの内容を表示しています。", Address: "アドレス", ToolTitle: "表示名", Description: "説明", Arguments: "引数の形", Result: "結果の形", Hash: "ハッシュ (SHA-256)", HashAbout: "許可するのは、このハッシュの内容だけです。",
	Was: "許可した内容", Is: "今の内容", Allow: "この内容で許可", AllowAgain: "変わった内容で許可し直す", Forbid: "使えなくする", Effect: "このツールは", ReadOnly: "読み取るだけ", Writing: "何かを書き込む・送る", EffectAbout: "書き込むものは、自動で二度呼び出すことがなく、承認の前に内容が表示されます。迷うときは「書き込む」にしてください。",
	Refused: "受け付けられない操作でした。何も変わっていません。", SayEffect: "読み取るだけか、書き込むかを選んでください。何も変わっていません。", Confirm: "このツールを使えなくしますか?",
	ChangedNow: "何も変わっていません。表示した後に、サーバーの内容か許可が変わりました。今の内容を確かめてください。", ChangedAbout: "サーバーが内容を変えたため、止まっています。違いを確かめてください。", GoneAbout: "サーバーにはもうありません。", NoTools: "このサーバーにはツールがありません。", NotFit: "このツールは許可できません。",
	Contests: "コンテストで使える", ContestsAbout: "コンテストの調査担当 (web-search のメンバー) は、承認を待たずにツールを呼び出します。読み取りだけのツールに限って許可できます。何を読むかは依頼の文しだいです。読んだ内容は案に載って依頼を読める全員に届くことがあり、依頼の内容は引数としてサーバーに渡ることがあります。サーバーが内容を変えたときや、許可し直したときは、外れます。", ForContests: "コンテストでも使えるようにする", NotForContests: "コンテストでは使わない", ContestsNever: "書き込むツールは、コンテストでは使えません。",
	Providers: map[string]string{"freee": "freee", "google": "Google", "slack": "Slack"},
	Bounds: map[tenancy.Constraint]boundText{
		tenancy.OnlySpreadsheets: {"書き込めるスプレッドシート", "アドレスの /d/ の後にある ID を、1 行に 1 つ。空なら、どれにも書き込めます。", "ID は半角の英数字、_ と - で 200 文字まで、200 行までにしてください。"},
		tenancy.OnlyRecipients:   {"送れる相手", "Slack のメンバー ID かメールアドレスを、1 行に 1 つ。空なら、だれにでも送れます。", "各行を Slack のメンバー ID (U…) かメールアドレスにしてください。200 行までです。"},
		tenancy.OnlyDepartments:  {"対象の部署", "部署の名前かコードを、1 行に 1 つ。空なら、すべての部署です。", "各行を 100 文字まで、200 行までにしてください。"},
		tenancy.MaxRows:          {"1 回の行数の上限", "空なら、ツールの上限までです。", "1 から 1,000,000 までの整数にしてください。"},
	},
	States:   map[mcp.State]string{mcp.On: "使える", mcp.Off: "使えない", mcp.Changed: "変わったため停止", mcp.Gone: "サーバーにない", mcp.Unfit: "許可できない"},
	Accesses: map[aggregate.Access]string{aggregate.Read: "読み取り", aggregate.Write: "書き込み"},
	Unfit: [][2]string{
		{"there twice", "同じ名前のツールが 2 つあります。"}, {"its name is not", "名前に使えない文字があるか、長すぎます。"}, {"title is over", "表示名が長すぎます (100 文字まで)。"}, {"description is over", "説明が長すぎます (2,000 文字まで)。"},
		{"schema of it is over", "引数か結果の形が大きすぎます (16 KB まで)。"}, {"arguments are no object", "引数の形が正しくありません。"}, {"arguments can't be checked", "引数の形を確かめられません。"}, {"result can't be checked", "結果の形を確かめられません。"},
		{"all allowed tools of servers", "許可したツールの説明の合計が大きすぎます (128 KB まで)。使わないツールを止めてください。"}, {"allowed as one that writes", "書き込むツールは、コンテストでは使えません。"}, {"which is the limit", "コンテストで使えるツールは 20 個までです。使わないツールを外してください。"}, {"none that the server has", "サーバーにこのツールはありません。"},
	},
}
