package demo

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A word that no phrase has, wherever it stands in a request that is planned, is refused by name or stands in the
// policy.
func TestNoWordOfARequestIsDropped(t *testing.T) {
	strange := map[string][]string{"ja": {"ホゲラ", "以外", "ふがふが", "除外"}, "en": {" blorb ", " except ", " not ", " Smith "}}
	for _, name := range language.All {
		planned := 0
		for _, x := range requests(t, name) {
			if strings.HasPrefix(x[1], "refused:") || strings.Contains(x[0], "demo:") {
				continue
			}
			planned++
			for at := 0; at <= len(x[0]); at++ {
				if at < len(x[0]) && !utf8.RuneStart(x[0][at]) {
					continue
				}
				for _, w := range []string{strange[name][at%4]} {
					text := x[0][:at] + w + x[0][at:]
					r := understood(t, text)
					said := r.Cannot()
					if said == "" {
						said = draft(r)
					}
					whole := strings.ContainsAny(said, "「“") && r.Cannot() != "" || strings.Contains(said, strings.TrimSpace(w))
					expect.Must(t, whole, "%q: %s", text, said)
				}
			}
		}
		expect.That(t, planned > 50, "only %d requests of %s are planned", planned, name)
	}
}

// Wishes are done, or refused by name. The second column has the plan, or what of a refusal is named.
func TestWishesAreDoneOrNamed(t *testing.T) {
	for _, tt := range [][2]string{
		{"先月の人事部の残業を確認して、結果は私だけに教えて", "refused: 私だけに"},
		{"Overtime for HR last month, just tell me", "refused: just"},
		{"Overtime for HR last month, only to me", "refused: only to me"},
		{"営業部の先月の残業を調べて、でも書かないで", "2026-10 | 営業部 | U0SANDSATO"},
		{"営業部の先月の残業を調べて、シートには書かないでください", "2026-10 | 営業部 | U0SANDSATO"},
		{"Overtime for Sales for October, but don't write it in a sheet", "2026-10 | Sales | U0SANDSATO"},
		{"Don't write to the sheet: overtime for Sales for October", "2026-10 | Sales | U0SANDSATO"},
		{"No DM please, attendance for September", "Attendance | 2026-09 | all | sheet"},
		{"Attendance for September but no DM", "Attendance | 2026-09 | all | sheet"},
		{"DMなしで9月の勤怠をまとめて", "勤怠 | 2026-09 | all | sheet"},
		{"９月の勤怠をまとめて、ＤＭは不要", "勤怠 | 2026-09 | all | sheet"},
		{"９月分の勤怠、ＤＭ不要", "勤怠 | 2026-09 | all | sheet"},
		{"先月の勤怠をまとめて、ｼｰﾄは不要", "2026-10 | all | U0SANDSATO"},
		{"先月の勤怠をまとめて「」", "refused: 「」"},
		{"先月の「勤怠をまとめて", "refused: 対になっていません"},
		{"<@U0SUZUKI> に「」とDMして", "refused: 送る文面がありません"},
		{"<@U0SUZUKI> に「ＤＭ、 ｼｰﾄ」とDMして", "U0SUZUKI: ＤＭ、 ｼｰﾄ"},
		{"シートだけに書いて。先月の残業", "残業 | 2026-10 | all | sheet"},
		{"sheet only: overtime for October", "Overtime | 2026-10 | all | sheet"},
		{"DMだけで知らせて、先月の勤怠", "2026-10 | all | U0SANDSATO"},
		{"attendance for October, DM only", "2026-10 | all | U0SANDSATO"},
		{"only Sales: overtime for October", "Overtime | 2026-10 | Sales | sheet | U0SANDSATO"},
		{"Overtime for October, Sales and HR only", "refused: only"},
		{"営業だけの残業を10月分でお願いします", "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"開発部以外の残業", "refused: 以外"},
		{"Overtime except for Sales", "refused: except"},
		{"Overtime for all but HR", "refused: but HR"},
		{"金曜までに先月の残業をまとめて", "refused: 金曜"},
		{"今月末までに勤怠をまとめて", "refused: 末"},
		{"Overtime for October by Friday", "refused: by Friday"},
		{"Overtime for October before noon", "refused: before"},
		{"先月の残業を、できるだけ早くまとめて", "refused: 早く"},
		{"先月の残業をまとめて、それから会議室も予約して", "refused: それから"},
		{"先月の残業をまとめて、会議室を明日10時に予約して", "refused: 会議室"},
		{"Overtime for October and book a room tomorrow at 10am", "refused: tomorrow at 10am"},
		{"先月の残業をまとめてグラフにして", "refused: グラフ"},
		{"先月の残業をPDFでください", "refused: PDF"},
		{"先月の残業を英語でまとめて", "refused: 英語で"},
		{"Overtime for October in Japanese", "refused: Japanese"},
		{"先月の残業を承認なしで実行して", "refused: 承認"},
		{"Overtime for October, skip the approval", "refused: skip"},
		{"Overtme for October", "refused: Overtme"},
		{"attendance for Ocotber", "refused: Ocotber"},
		{"先月の残行をまとめて", "refused: 残行"},
		{"先月の勤怠を纏めて", "refused: 纏めて"},
		{"恐れ入りますが、営業部の10月の勤怠を取得していただけますでしょうか。よろしくお願いいたします。", "勤怠 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"Hello, could you please check overtime for Engineering for last month? Thank you very much!",
			"Overtime | 2026-10 | Engineering | sheet | U0SANDSATO"},
		{"10月の残業を確認したいのですが", "残業 | 2026-10 | all | sheet | U0SANDSATO"},
		{"至急！先月の残業を確認してください！", "残業 | 2026-10 | all | sheet | U0SANDSATO"},
		{"10月に在籍した従業員の一覧をまとめて", "従業員一覧 | all | sheet | U0SANDSATO"},
		{"List employees in October", "Employees | all | sheet | U0SANDSATO"},
		{"去年10月の営業部の従業員一覧", "refused: 去年"},
		{"2025年10月の営業部の従業員一覧", "従業員一覧 | 営業部 | sheet | U0SANDSATO"},
		{"役職一覧を10月分", "refused: 10月"},
		{"<@U0SUZUKI> だけに先月の残業を送って", "残業 | 2026-10 | all | sheet | U0SUZUKI"},
		{"先月の残業を <@U0SUZUKI> に秘密で送って", "refused: 秘密で"},
		{"先月の残業を <@U0SUZUKI> には送らないで", "refused: 送らないで"},
		{"Send <@U0SUZUKI> a DM “hi” but not to <@U0TANAKA>", "refused: but not to"},
		{"<@U0SUZUKI> に「了解」とDMして、<@U0TANAKA> には「却下」と", "refused: <@U0TANAKA>"},
		{"会議室を明日10時に予約して、飲み物も", "refused: 飲み物"},
		{"会議室を明日10時から2時間予約して、DMは不要", "room 2026-11-21 10:00–12:00 会議"},
		{"Book a meeting room tomorrow from 10am to noon", "refused: to noon"},
		{"Book a meeting room tomorrow at 10am for 90 minutes, no DM", "room 2026-11-21 10:00–11:30 Meeting"},
		{"取引先アクメに PC 2台 298,000円を発注して、請求書は来月", "refused: 請求書"},
		{"Order 2 PCs from Acme at 149,000 yen each, cash only", "refused: cash only"},
		{"Order 3 PCs from Acme, 447,000 yen in total", "order from Acme: [{PCs 3 149000}] | U0SANDSATO"},
		{"Please order 3 PCs from Acme for a total of ¥447,000", "order from Acme: [{PCs 3 149000}] | U0SANDSATO"},
		{"Order 3 PCs from Acme, 447,000 yen in total or 150,000 yen each", "refused: or 150,000 yen"},
		{"Order 2 monitors at 45,000 yen and 3 keyboards at 8,000 yen from Acme",
			"refused: I order one thing at a time, in yen"},
		{"Order a laptop from Dell for $1,299",
			"refused: $1,299”. I order one thing at a time, in yen. For example: Order 3"},
		{"アクメにモニターを2台とキーボードを3台 120,000円で発注して", "refused: 一度に発注できるのは 1 品目で、金額は円だけです"},
		{"勤怠 10月 営業部", "勤怠 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"先月の残業を確認して、シートには書かず、DMもなしで", "2026-10 | all"},
		{"先月の残業を確認して。ただし営業部だけ", "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"先月の残業を確認して、ただし営業部は除く", "refused: 除く"},
		{"今月の勤怠をまとめて。終わったら連絡して", "勤怠 | 2026-11 | all | sheet | U0SANDSATO"},
		{"先月の残業を教えて（私だけ）", "refused: 私だけ"},
		{"Just me: overtime for October", "refused: Just me"},
		{"Can I get the overtime for Sales in October?", "Overtime | 2026-10 | Sales | sheet | U0SANDSATO"},
		{"データの検証はせずに先月の残業をまとめて", "refused: せずに"},
		{"勤怠と残業、どっちも先月分で", "refused: どっち"},
		{"先月の勤怠をまとめて 🙏", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の勤怠をまとめて 👀", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の勤怠をまとめて 🚫", "refused: 🚫"},
		{"先月の勤怠をまとめてください。:bow:", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の勤怠をまとめてください。🙇‍♀️", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"お疲れ様です！:wave: 先月の勤怠をまとめて！:pray::skin-tone-3:", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の勤怠をまとめて👍🏻 ❤️", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の残業をまとめて。営業部:x:", "refused: 「:x:」が分かりません"},
		{"取引先アクメに PC 2台 298,000円を発注して :x:", "refused: 「:x:」"},
		{"従業員一覧をください :no_mail:", "refused: :no_mail:"},
		{"従業員一覧をください :sales-only:", "refused: :sales-only:"},
		{"Overtime for last month, HR :x:", "refused: :x:"},
		{"【至急】先月の勤怠をまとめて（DMは不要です）", "勤怠 | 2026-10 | all | sheet"},
		{"先月の勤怠をまとめて\n※DMは不要です", "勤怠 | 2026-10 | all | sheet"},
		{"先月の勤怠をまとめて ~営業部だけ~", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の残業をPDFで、グラフと共に、英語で、印刷して、部長に提出、社長にも", "refused: 社長"},
		{"アクメに PC を 2台、1台149,000円で頼む", "refused: 149,000円"},
		{"添付のとおりお願いします", "refused: 「添付のとおりお願いします」"},
		{"この申請書のとおり手配して", "refused: 「この申請書のとおり手配」"},
		{"https://example.com/a の勤怠をまとめて", "refused: https://example.com/a"},
		{"先月の勤怠 (派遣を含む)", "refused: 派遣"},
		{"Attendance for October (incl. interns)", "refused: incl"},
		{"• 先月の残業\n• 営業部だけ\n• DM は不要", "残業 | 2026-10 | 営業部 | sheet"},
		{"1. attendance for October\n2. no DM", "Attendance | 2026-10 | all | sheet"},
		{"*先月* の勤怠をまとめて :pray:", "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の勤怠を a@b.co.jp (mailto:a@b.co.jp) に送って", "勤怠 | 2026-10 | all | sheet | a@b.co.jp"},
		{"はやとの先月の勤怠", "refused: 「はやと"},
		{"モリヤ商事の先月の勤怠", "refused: 「モリヤ商事"},
		{"先月の残業を <@U0SUZUKI> に送って、DMは不要", "refused: <@U0SUZUKI>に"},
		{"シートは不要、シート「残業」に先月の残業を書いて", "refused: シート"},
		{"会議室を11月24日10時に予約して", "refused: 11月24日"},
		{"会議室を「定例」で明日10時に予約して", "refused: 定例"},
	} {
		t.Run(tt[0], func(t *testing.T) {
			reply, policy, steps := planFor(t, tt[0])
			if named, refused := strings.CutPrefix(tt[1], "refused: "); refused {
				expect.That(t, len(steps) == 0 && strings.Contains(reply, named), "%s: %s", scopeOf(steps), reply)
				return
			}
			expect.That(t, scopeOf(steps) == tt[1], "%s: %s\n%s", scopeOf(steps), reply, policy)
		})
	}
}

// What a request forwards is read with it, and narrows it. What of it is not understood is named, and so are files.
func TestWhatARequestEnclosesIsReadOrNamed(t *testing.T) {
	text := func(s string) enclosed { return enclosed{Text: s, Name: "依頼.txt"} }
	unseen := enclosed{Text: "営業だけ", NotShown: "the rest"}
	for _, tt := range []struct {
		text      string
		forwarded []enclosed
		files     []enclosed
		want      string
	}{
		{"今月の勤怠をまとめて", []enclosed{{Text: "対象は営業だけ。DM は送らないでください"}}, nil, "勤怠 | 2026-11 | 営業部 | sheet"},
		{"今月の勤怠をまとめて", []enclosed{{Text: "営業だけ"}, {Text: "シートは不要です"}}, nil, "2026-11 | 営業部 | U0SANDSATO"},
		{"勤怠をまとめて", []enclosed{{Text: "10月分です"}}, nil, "勤怠 | 2026-10 | all | sheet | U0SANDSATO"},
		{"先月の残業をまとめて", []enclosed{{Text: "営業の先月の残業を教えてください"}}, nil, "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"これをお願いします", []enclosed{{Text: "営業の先月の残業を確認して"}}, nil, "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"下記の件、ご対応お願いします", []enclosed{{Text: "<@U0SUZUKI> に「了解」とDMして"}}, nil, "U0SUZUKI: 了解"},
		{"", []enclosed{{Text: "営業の先月の残業を確認して"}}, nil, "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"Can you do this, please?", []enclosed{{Text: "Overtime for Sales for October, no DM"}}, nil,
			"Overtime | 2026-10 | Sales | sheet"},
		{"Attendance for October", []enclosed{{Text: "Only Sales, and no DM please"}}, nil,
			"Attendance | 2026-10 | Sales | sheet"},
		{"これを実行して", []enclosed{{Text: "取引先アクメに PC 2台 298,000円を発注して"}}, nil, "order from アクメ: [{PC 2 149000}] | U0SANDSATO"},
		{"取引先アクメに PC 2台 298,000円を発注して", []enclosed{{Text: "納期は来月末"}}, nil, "refused: 分かりません"},
		{"今月の勤怠をまとめて", []enclosed{{Text: "派遣の人は除いてください"}}, nil, "refused: 」が分かりません。この言葉は、転送されたメッセージにあります。"},
		{"Attendance for October", []enclosed{{Text: "except interns"}}, nil,
			"refused: That stands in the forwarded message."},
		{"対応よろしく", []enclosed{{Text: "経理の10月の残業", By: "鈴木 一郎 <@U0SUZUKI>"}}, nil,
			"refused: 「対応」が分かりません。デモモデルには「経理」が分かりません。この言葉は、転送されたメッセージ (鈴木 一郎)にあります。"},
		{"Overtime for Osaka", []enclosed{{Text: "no interns"}}, nil,
			"refused: “Osaka”. I don't understand “no interns”. That stands in the forwarded message."},
		{"営業の今月の勤怠", []enclosed{{Text: "人事です"}}, nil, "refused: 「人事」は別の依頼に分けてください。この言葉は、転送されたメッセージにあります。"},
		{"今月の勤怠", []enclosed{{Text: "先月"}}, nil, "refused: 「先月」は別の依頼に"},
		{"今月の勤怠", []enclosed{{Text: "「営業"}}, nil, "refused: 対になっていません。この言葉は、転送された"},
		{"今月の勤怠をまとめて", []enclosed{unseen}, nil, "refused: 転送されたメッセージに、見えない部分があります"},
		{"これをお願いします", []enclosed{{}}, nil, "refused: 見えない部分"},
		{"今月の勤怠。これをお願いします", nil, nil, "refused: 「これ」"},
		{"", nil, []enclosed{text("営業の先月の残業を確認して\n")}, "refused: 添付ファイル「依頼.txt」を使えません"},
		{"添付の件、お願いします", nil, []enclosed{text("営業の先月の残業を確認して")}, "refused: 添付ファイル「依頼.txt」を使えません"},
		{"", nil, []enclosed{{Name: "依頼.pdf", NotRead: "pdf"}}, "refused: 添付ファイル「依頼.pdf」を使えません"},
		{"今月の勤怠をまとめて", nil, []enclosed{{Name: "対象者.csv", Text: "田中"}}, "refused: 「対象者.csv」を使えません。必要なことを依頼の文に"},
		{"よろしくお願いします", nil, []enclosed{{Name: "a.csv"}, {Name: "b.csv"}}, "refused: 「a.csv」、「b.csv」を使えません"},
		{"これをお願いします", []enclosed{{Text: "先月の残業"}}, []enclosed{text("x")}, "refused: 「依頼.txt」を使えません"},
		{"取引先アクメに PC 2台 298,000円を発注して", nil, []enclosed{{Name: "見積.pdf"}}, "order from アクメ: [{PC 2 149000}] | U0SANDSATO"},
		{"取引先アクメに PC 2台 298,000円を発注して。見積書を添付します。", nil, []enclosed{{Name: "見積.pdf"}},
			"order from アクメ: [{PC 2 149000}] | U0SANDSATO"},
		{"Order 2 PCs from Acme at 149,000 yen each. The quotation is attached.", nil, []enclosed{{Name: "quotation.pdf"}},
			"order from Acme: [{PCs 2 149000}] | U0SANDSATO"},
		{"a message \"Lunch is on me\" without telling <@U0SUZUKI>", nil, nil,
			"refused: \"Lunch is on me\" without telling"},
		{"Attendance for October", nil, append(make([]enclosed, 8), enclosed{Name: "f8"}),
			"refused: “f8”). Write what you need"},
	} {
		reply, policy, steps := planFor(t, tt.text, tt.forwarded, tt.files)
		if named, refused := strings.CutPrefix(tt.want, "refused: "); refused {
			expect.That(t, len(steps) == 0 && strings.Contains(reply, named), "%s %v: %s: %s", tt.text, tt.forwarded,
				scopeOf(steps), reply)
			continue
		}
		expect.That(t, scopeOf(steps) == tt.want, "%s %v: %s: %s\n%s", tt.text, tt.forwarded, scopeOf(steps), reply, policy)
	}
}

// A task's description quotes what the request encloses by where it stands, without what is struck out of it.
func TestADescriptionSaysWhoseWordsAreWhose(t *testing.T) {
	in := input{Message: "今月の勤怠をまとめて demo: human check", Now: written, Locale: "ja",
		Forwarded: []enclosed{{Text: "営業だけ ~人事も~", By: "鈴木 一郎 <@U0SUZUKI>"}, {Text: "DM は不要", By: "?"}}}
	expect.Is(t, extract(expect.Value(read(in))(t))["description"],
		"依頼内容: 今月の勤怠をまとめて\n転送されたメッセージ (鈴木 一郎): 営業だけ\n転送されたメッセージ: DM は不要")
}

// A question what there is to ask for is answered, also where the demo knows no word of it.
func TestAQuestionIsAnswered(t *testing.T) {
	for text, helps := range map[string]bool{"使い方は?": true, "What can you do?": true, "こんにちは": true, "": true,
		"ありがとうございます": true, "help": true, "何ができますか": true, "使い方と先月の残業": false, "hello, buy a printer": false} {
		expect.Is(t, extract(understood(t, text))["kind"] == "help", helps, text)
	}
}

// Who speaks, is spoken to or gets the result narrows nothing, and what is sent to each is no summary for one: such
// words are named, in requests and remarks. An end behind an open beginning is.
func TestWhoIsAddressedNarrowsNothing(t *testing.T) {
	for _, text := range []string{"先月の残業を人事部だけにDMして", "人事さん、先月の残業をまとめて", "営業です。先月の残業をまとめて",
		"お疲れ様です、営業です。先月の残業をまとめて", "Hi HR, overtime for October please", "Send Sales the overtime for October",
		"先月の残業を個人ごとに送って", "営業だけ、先月の残業を個人ごとにまとめて", "社員ごとに先月の残業を知らせて", "Overtime since September until October",
		"Overtime since September, through last month"} {
		u := understood(t, text)
		expect.That(t, u.Cannot() != "", "%s: %s of %v, %v", text, u.Topic, u.Part, u.Month)
	}
	for text, of := range map[string]string{"営業さんの先月の残業をまとめて": "営業部", "対象は営業です。先月の残業をまとめて": "営業部",
		"営業だけ、先月の残業をまとめて": "営業部", "Send me the HR overtime for October": "HR"} {
		u := understood(t, text)
		expect.That(t, u.Cannot() == "" && u.Part == of, "%s: %q %v", text, u.Cannot(), u.Part)
	}
	policy, _ := carriedOut(t, "先月の残業をまとめて", "人事部だけにDMして")
	expect.Has(t, policy, "反映していません")
}
