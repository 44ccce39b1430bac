package storetest

import (
	"encoding/json"
	"reflect"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// rows has JSON for each setting that is a list of rows.
var rows = map[string]string{
	"mcp_servers":  `[{"name":"rooms","url":"https://rooms.example.com/mcp"}]`,
	"prices":       `[{"model":"compatible:box/llama3.2","input":"0.10","output":"0.40","cached":"","date":"2026-11-20"}]`,
	"agents":       `[{"id":"docs","provider":"anthropic","model":"claude-haiku-5-5","capabilities":["code"],"is_default":true}]`,
	"listed_reads": `[{"agent":"docs","tool":"list_employees","version":"0000000000000000000000000000000000000000000000000000000000000000","people":["U012"]}]`,
	"sources":      `[{"name":"shop","repository":"acme/shop","ref":"heads/main","people":["everybody"],"agents":["docs"],"ci":"skip"}]`,
	"auto_actions": `[{"type":"test_run","argv":["go","test","./..."],"place":"D1"}]`,
}

// Changed returns valid settings that all differ from their defaults.
func Changed(t *testing.T) tenancy.Settings {
	t.Helper()
	s := tenancy.DefaultSettings()
	for _, f := range s.Fields() {
		v := f.Value
		switch f.Kind {
		case tenancy.KindFlag:
			v.SetBool(!v.Bool())
		case tenancy.KindWhole:
			n := int64(f.Min + 1)
			if n == v.Int() {
				n++
			}
			v.SetInt(n)
		case tenancy.KindDollars:
			v.SetFloat(v.Float() + 1.5)
		case tenancy.KindText:
			if v.SetString(v.String() + "2"); f.Rule == tenancy.RuleChannelID {
				v.SetString("C0HOME")
			}
		case tenancy.KindChoice:
			v.SetString(f.Choices[len(f.Choices)-1])
		case tenancy.KindPeople:
			v.Set(reflect.ValueOf([]string{"U0SATO", "U0SUZUKI"}))
		case tenancy.KindGroups:
			v.Set(reflect.ValueOf([]string{"S0HR"}))
		case tenancy.KindRows:
			err := json.Unmarshal([]byte(rows[f.Name]), v.Addr().Interface())
			expect.Must(t, err == nil, "%s needs a row here: %v", f.Name, err)
		default:
			t.Fatalf("%s is of no kind", f.Name)
		}
	}
	all := s.Problems()
	expect.Must(t, all == nil, "%+v", all)
	return s
}
