package main

import "ringi/shared/words/language"

type welcomeTexts struct {
	Title, Lead, Yes, YesAbout, No, NoAbout, Save, Later, Default, Note string
}

var welcomeWords = language.InEach(
	welcomeTexts{
		Title: "はじめに決めること", Lead: "依頼した本人が、その方針やステップを自分で承認してよいでしょうか。あとから「設定」でいつでも変えられます。",
		Yes: "できる", YesAbout: "1 人でも仕事を進められます。少人数のチームや試用に向いています。依頼と承認が同じ人になりうるため、内部統制の証拠としては弱くなります。",
		No: "できない", NoAbout: "どの依頼も、ほかの人が読んでから進みます。書き込みや送信を 2 人で確かめたいときに向いています。承認できる人が依頼した本人だけのときは、依頼を受け付けません。承認者を指名するまでは、ダイレクトメッセージでの依頼と、エージェントとの会話がそうです。",
		Save: "これで決める", Later: "あとで決める", Default: "今はこちらです", Note: "決めるまでは「できる」のままで、設定のページにお知らせが出ます。だれがいつ決めたかは、監査ログに残ります。",
	},
	welcomeTexts{
		Title: "One thing to decide first", Lead: "May the person who asks for something approve its policy and steps themselves? You can change this under Settings at any time.",
		Yes: "They may", YesAbout: "One person alone can get work done. It suits small teams and trials. Since requester and approver can be the same person, approvals prove less to an auditor.",
		No: "They may not", NoAbout: "Somebody else reads every request before it goes on. It suits you when two people shall look at whatever is written or sent. What the requester alone could approve is not taken: until approvers are named, requests by direct message and conversations with agents.",
		Save: "Decide", Later: "Decide later", Default: "As it is now", Note: "Until you decide they may, and the page of settings reminds you. The audit log keeps who decided, and when.",
	},
)
