package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestALongResultKeepsTheFirstEntriesAndSaysHowMany(t *testing.T) {
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"従業員 %d"}`, i, i))
	}
	list := "[" + strings.Join(rows, ",") + "]"
	for name, value := range map[string]string{
		"in an object": `{"as_of":"2026-11-01","departments":["a","b"],"deeper":{"employees":` + list + `}}`,
		"at the top":   list,
	} {
		r := expect.Value(tool.Given(json.RawMessage(value)))(t)
		expect.That(t, len(r.Value) <= conversation.MaxCallResult && len(r.Value) > conversation.MaxCallResult-100,
			"%s: %d bytes", name, len(r.Value))
		expect.Is(t, r.Entries, 3000)
		expect.Is(t, strings.Count(string(r.Value), `"id"`), r.ShownEntries)
		expect.That(t, json.Valid(r.Value), "%s: no JSON", name)
		expect.That(t, strings.Contains(string(r.Value), "as_of") == (name == "in an object"), "%s: %.80s", name, r.Value)
	}
}

func TestALongTextIsCutAtACharacter(t *testing.T) {
	text := expect.Value(json.Marshal(map[string]string{"text": strings.Repeat("あ\"", 60_000)}))(t)
	r := expect.Value(tool.Given(text))(t)
	var said string
	expect.NoError(t, json.Unmarshal(r.Value, &said))
	expect.That(t, len(r.Value) <= conversation.MaxCallResult && r.ShownBytes == len(said) && r.Bytes > r.ShownBytes &&
		r.ShownBytes > 20_000,
		"%d of %d bytes in %d", r.ShownBytes, r.Bytes, len(r.Value))
	expect.That(t, !strings.Contains(said, "�"), "a character is broken")
}

func TestAResultIsMaskedAndLosesNoMember(t *testing.T) {
	r := expect.Value(tool.Given(json.RawMessage(`{"ab@example.com":1,"ac@example.com":2,"id":12345678901234567890}`)))(t)
	expect.Is(t, string(r.Value), `{"a*@example.com":1,"a*@example.com*":2,"id":12345678901234567890}`)
	_, err := tool.Given(json.RawMessage(`no JSON`))
	expect.That(t, err != nil, "a result that is no JSON was taken")
	r = expect.Value(tool.Given(json.RawMessage(`null`)))(t)
	expect.Is(t, string(r.Value), `null`)
}

// What the agent is told of masking is what is masked, and no more.
func TestTheAgentIsToldWhatIsMasked(t *testing.T) {
	r := expect.Value(tool.Given(json.RawMessage(`{"name":"佐藤花子","mail":"hanako@example.com","tel":"090-1234-5678"}`)))(t)
	for locale, words := range map[string]string{"ja": "メールアドレス、電話番号、マイナンバー",
		"en": "Email addresses, phone numbers and My Numbers"} {
		all := r.Pieces(locale)
		expect.That(t, !all[0].Quoted && strings.Contains(all[0].Text, words), "%s", all[0].Text)
		value := all[1].Text
		expect.That(t, all[1].Quoted && strings.Contains(value, "佐藤花子") && !strings.Contains(value, "hanako@") &&
			!strings.Contains(value, "090-1234"), "%s", value)
	}
}

// Of a server's schema the arguments of a call are known in the order in which it requires them.
func TestWhatASchemaDeclaresKeepsItsOrder(t *testing.T) {
	s := tool.Spec{Pin: &tenancy.Pin{}, InputSchema: `{"properties":{"a":true,"items":{"title":"Rows",` +
		`"items":{"properties":` +
		`{"name":{"title":"Item\u202e"},"price":{"type":"number"}},"required":["price"]}},"to/whom":{"title":"` +
		strings.Repeat("x", 50) + `"},"unused":{}},"required":["to/whom","items"]}`}
	args := expect.Value(tool.Parse(`{"a":1,"items":[],"to/whom":"x"}`))(t)
	expect.Is(t, string(tool.Declared(s, args)), `[["/to~1whom","`+strings.Repeat("x", 39)+`…"],["/items","Rows"],`+
		`["/items/*/price",""],["/items/*/name","Item⟨U+202E⟩"],["/a",""]]`)
	s.InputSchema = `{"properties":{"a":{"properties":{"` + strings.Repeat("x", 2000) + `":{}}}}}`
	expect.Is(t, string(tool.Declared(s, args)), `[["/a",""]]`)
	s.Pin = nil
	expect.Is(t, string(tool.Declared(s, args)), "")
}
