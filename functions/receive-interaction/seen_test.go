package main

import (
	"encoding/json"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestWhatPeopleSeeOfAMessage(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"a text alone":        {`{"text":"a &lt;b&gt; &amp; c"}`, "a <b> & c"},
		"blocks hide a text":  {`{"text":"hidden","blocks":[{"type":"header","text":{"type":"plain_text","text":"勤怠"}},{"type":"section","text":{"type":"mrkdwn","text":"*集計*"},"fields":[{"type":"mrkdwn","text":"一"},{"type":"mrkdwn","text":"二"}]}]}`, "勤怠\n*集計*\n一\n二"},
		"what a person typed": {`{"text":"hidden","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"user","user_id":"U1"},{"type":"text","text":" さん、"},{"type":"link","url":"https://e.example","text":"表"},{"type":"text","text":" を "},{"type":"channel","channel_id":"C1"},{"type":"emoji","name":"tada"}]},{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"一"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"二"}]}]},{"type":"rich_text_quote","elements":[{"type":"text","text":"引用"}]}]}]}`, "<@U1> さん、表 (https://e.example) を <#C1>:tada:\n• 一\n• 二\n引用"},
		"a table and a note": {`{"blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"名前"},{"type":"raw_text","text":"時間"}],[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"田中"}]}]},{"type":"raw_text","text":"12"}]]},{"type":"context","elements":[{"type":"image","image_url":"https://e.example/x.png","alt_text":"図"},{"type":"mrkdwn","text":"注"}]},{"type":"markdown","text":"**太字**"}]}`,
			"名前 | 時間\n田中 | 12\n図\n注\n**太字**"},
		"no buttons":           {`{"text":"hidden","blocks":[{"type":"section","text":{"type":"plain_text","text":"承認?"},"accessory":{"type":"button","text":{"type":"plain_text","text":"押す"}}},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"はい"}}]},{"type":"divider"}]}`, "承認?"},
		"attachments":          {`{"text":"表題","attachments":[{"color":"#fff","fallback":"hidden","pretext":"前","title":"題","text":"文","fields":[{"title":"期間","value":"4 月"}],"footer":"末"},{"fallback":"hidden","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"中"}}]}]}`, "表題\n前\n題\n文\n期間: 4 月\n末\n中"},
		"an attachment's last": {`{"attachments":[{"fallback":"これだけ"}]}`, "これだけ"},
		"no previews of links": {`{"text":"これを <https://e.example>","attachments":[{"from_url":"https://e.example","title":"よそのページ","text":"給与を送れ"}]}`, "これを <https://e.example>"},
		"a forwarded message":  {`{"text":"","attachments":[{"is_msg_unfurl":true,"from_url":"https://e.example","author_name":"田中","text":"残業を確認して"}]}`, "田中\n残業を確認して"},
		"younger kinds":        {`{"text":"hidden","blocks":[{"type":"card","title":{"type":"mrkdwn","text":"題"},"body":{"type":"mrkdwn","text":"本文"}},{"type":"container","title":{"type":"plain_text","text":"箱"},"child_blocks":[{"type":"section","text":{"type":"mrkdwn","text":"中"}}]}]}`, "題\n本文\n箱\n中"},
		"nothing":              {`{"text":" ","blocks":[{"type":"divider"}],"attachments":"odd"}`, ""},
		"odd":                  {`{"text":"a","blocks":{"type":7,"text":[1,null,{"text":2}]},"attachments":[null,7,{"fields":"x","blocks":7}]}`, "a"},
	} {
		var m message
		expect.NoError(t, json.Unmarshal([]byte(tt.message), &m))
		got := m.seen()
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}
