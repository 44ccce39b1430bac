package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func compiled(t *testing.T, text string) *Schema {
	t.Helper()
	return expect.Value(CompileSchema("s", text))(t)
}

func check(t *testing.T, s *Schema, value string) (said []string) {
	t.Helper()
	v := expect.Value(Decode([]byte(value)))(t)
	for _, p := range s.Check(v) {
		said = append(said, p.String())
	}
	return said
}

const person = `{"type":"object","additionalProperties":false,"required":["name","tags"],
 "properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"integer"}},
  "boss":{"anyOf":[{"type":"null"},{"type":"object","required":["name"],
   "properties":{"name":{"type":"string"},"age":{"$ref":"#/$defs/age"}}}]}},
 "$defs":{"age":{"type":"integer","minimum":1,"maximum":150}}}`

func TestCheckNamesEveryPlace(t *testing.T) {
	s := compiled(t, person)
	for name, test := range map[string]struct {
		value string
		want  []string
	}{
		"fits":            {`{"name":"a","tags":[1],"boss":null}`, nil},
		"missing":         {`{"name":"a"}`, []string{`required: missing properties: ["tags"]`}},
		"inside an array": {`{"name":"a","tags":[1,"x"]}`, []string{"tags.1: got string, want integer"}},
		"several": {`{"tags":[{},1,2.5],"name":null,"a":0}`,
			[]string{"name: got null, want string", "tags.0: got object, want integer", "tags.2: got number, want integer",
				"additional properties 'a' not allowed"}},
		"unknown":       {`{"name":"a","tags":[],"z":1,"y":1}`, []string{"additional properties 'y', 'z' not allowed"}},
		"not an object": {`[]`, []string{"got array, want object"}},
		"the form meant": {`{"name":"a","tags":[],"boss":{"name":1,"age":0}}`,
			[]string{"boss.age: minimum: 0 is beyond the limit of 1", "boss.name: got integer, want string"}},
		"a member that is taken for another": {`{"name":"a","tags":[],"boss":{"name":"b","Age":500}}`,
			[]string{"boss: Age must be written age"}},
		"none of the forms":  {`{"name":"a","tags":[],"boss":[]}`, []string{"boss: got array, want null or object"}},
		"1.0 is whole":       {`{"name":"a","tags":[1.0,1e2]}`, nil},
		"more than 53 bits":  {`{"name":"a","tags":[9007199254740993,123456789012345678901234567890]}`, nil},
		"beyond any machine": {`{"name":"a","tags":[1e999999999]}`, []string{"tags.0: the number is too large"}},
	} {
		t.Run(name, func(t *testing.T) { expect.Same(t, test.want, check(t, s, test.value)) })
	}
}

func TestMultiplesAreDecimal(t *testing.T) {
	s := compiled(t, `{"items":{"multipleOf":0.01}}`)
	want := []string{"1: multipleOf: 0.005 is no multiple of 0.01", "4: multipleOf: 1e-7 is no multiple of 0.01"}
	expect.Same(t, want, check(t, s, `[19.99,0.005,3,"x",1e-7,1e20]`))
}

// As float64, each of these pairs of numbers is the same.
func TestLargeNumbersAreCompared(t *testing.T) {
	s := compiled(t, `{"items":{"enum":[{"id":9007199254740993}]},"uniqueItems":true,"maxItems":2}`)
	expect.Is(t, len(check(t, s, `[{"id":9007199254740993.0}]`)), 0)
	expect.Same(t, []string{`0: enum: map[id:9007199254740992] does not equal any of: [map[id:9007199254740993]]`},
		check(t, s, `[{"id":9007199254740992}]`))
	expect.Same(t, []string{"1: uniqueItems: an earlier element is the same"},
		check(t, s, `[{"id":9007199254740993},{"id":9007199254740993.0}]`))
	expect.Same(t, []string{"maxItems: 3 is beyond the limit of 2"}, check(t, compiled(t, `{"maxItems":2}`), `[1,2,3]`))
}

// A check of many values by many schemas has no result rather than none in time.
func TestAWideCheckIsBounded(t *testing.T) {
	s := compiled(t, `{"items":{"anyOf":[`+strings.Repeat(`{"items":false},`, 500)+`{"items":false}]}}`)
	expect.Within(t, 20*time.Second, func() {
		found := check(t, s, `[`+strings.Repeat(`[1],`, 5_000)+`[]]`)
		expect.Must(t, len(found) == 1, "%v", found)
		expect.That(t, strings.HasPrefix(found[0], "can't be checked: it takes over"), "%s", found[0])
	})
	expect.Is(t, len(check(t, s, `[[]]`)), 0)
}

// A check ends in time, whatever its messages, lists and equal elements are.
func TestACheckOfMuchEndsInTime(t *testing.T) {
	t.Parallel()
	numbers := func(n, from int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strconv.Itoa(from + i)
		}
		return strings.Join(all, ",")
	}
	for about, c := range map[string]struct {
		schema, value string
		fits          bool
	}{
		"in a long enum": {`{"items":{"enum":[` + numbers(3000, 1000) + `]}}`,
			strings.Repeat("3999,", 70_000) + "1000", true},
		"not in a long enum": {`{"items":{"enum":[` + numbers(3000, 1000) + `]}}`,
			strings.Repeat("9,", 35_000) + "9", false},
		"one of many constants": {`{"anyOf":[{"const":` + strings.ReplaceAll(numbers(900, 0), ",", `},{"const":`) + `}]}`,
			strings.Repeat("9,", 170_000) + "9", false},
		"objects of one long name": {`{"items":{"properties":{"` + strings.Repeat("ſ", 6000) + `":{}}}}`,
			strings.Repeat(`{"a":1},`, 14_000) + "0", false},
		"unlike each other, often": {`{"allOf":[` + strings.Repeat(`{"uniqueItems":true},`, 700) + `true]}`,
			numbers(8000, 0), false},
	} {
		expect.Within(t, 10*time.Second, func() {
			expect.That(t, (len(check(t, compiled(t, c.schema), `[`+c.value+`]`)) == 0) == c.fits, "%s", about)
		})
	}
}

func TestASchemaOpensNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "http://127.0.0.1/x", "other.json", "other.json#/x", "//x#", ""} {
		for _, text := range []string{`{"$ref":%q}`, `{"properties":{"a":{"items":{"$ref":%q}}}}`,
			`{"$id":"http://127.0.0.1/","$ref":%q}`} {
			_, err := CompileSchema("s", fmt.Sprintf(text, ref))
			expect.That(t, err != nil && strings.Contains(err.Error(), "may not refer to other documents"), "%s: %v", ref, err)
		}
	}
}

// Each of these schemas would exhaust the stack, the memory or the time of a check.
func TestHostileSchemasAreRefused(t *testing.T) {
	doubling := `{"$ref":"#/$defs/0","$defs":{`
	for i := range 20 {
		doubling += fmt.Sprintf(`"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]},`, i, i+1, i+1)
	}
	doubling += `"20":{"type":"string"}}}`
	for name, test := range map[string]struct{ text, want string }{
		"itself":             {`{"$ref":"#"}`, "may not refer to themselves"},
		"itself, further in": {`{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, "may not refer to themselves"},
		"itself, by turns": {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/%24defs/a"}}}}`,
			"may not refer to themselves"},
		"itself, dynamically":    {`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, "only $ref is followed"},
		"twice two, 20 times":    {doubling, "the limit of 1048576 bytes is passed"},
		"deep":                   {strings.Repeat(`{"not":`, 1000) + `true` + strings.Repeat(`}`, 1000), "nested deeper"},
		"long":                   {`{"description":"` + strings.Repeat("a", 300_000) + `"}`, "the limit is 16384"},
		"a huge pattern":         {`{"pattern":"` + strings.Repeat("a", 2001) + `"}`, "the limit is 2000"},
		"a pattern that is none": {`{"pattern":"(?<=a"}`, "not a pattern of ECMA 262"},
		"a class of nobody":      {`{"pattern":"^\\p{Emojis}$"}`, "is not known"},
		"a type that is none": {`{"properties":{"type":{"type":"nope"}}}`,
			"properties: type: type: there is no type nope"},
		"a list of types in one": {`{"type":[["string"]]}`, "there is no type [string]"},
		"a flag that is a text":  {`{"uniqueItems":"true"}`, "must be true or false"},
		"a schema that is none":  {`{"properties":{"a":null}}`, "must be an object or a boolean"},
		"a bound that is none":   {`{"maxLength":"x"}`, "must be a whole number"},
		"no step at all":         {`{"multipleOf":0}`, "multipleOf must be above 0"},
		"a number beyond any":    {`{"enum":[{"id":1e999999999}]}`, "a number that is too large"},
		"nothing there":          {`{"$ref":"#/$defs/a"}`, "there is no such schema"},
		"two values":             {`{} {}`, "not one JSON value"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Within(t, 5*time.Second, func() {
				_, err := CompileSchema("s", test.text)
				expect.That(t, err != nil && strings.Contains(err.Error(), test.want), "%v, want %s", err, test.want)
			})
		})
	}
}

// The first patterns are published: Figma's server, emails of Zod 4, Pydantic's Decimal, and an email before version 4.
func TestPatternsAreOfECMA262(t *testing.T) {
	for _, test := range []struct {
		pattern string
		fit, no []string
	}{
		{pattern: `^(?!undefined$|null$)`, fit: []string{"key", "nullable"}, no: []string{"null", "undefined"}},
		{pattern: `^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
			fit: []string{"a.b@example.com"}, no: []string{"a..b@example.com", ".a@example.com", "a@example"}},
		{pattern: `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`, fit: []string{"-12.50"}, no: []string{"-", "1.2.3", "12\n"}},
		{pattern: `^([^\x00-\x20\x22\x28\x29\x2c\x2e\x3a-\x3c\x3e\x40\x5b-\x5d\x7f-\xff]+)@\w+$`, fit: []string{"a@b"},
			no: []string{"a b@c"}},
		{pattern: `^[\u3040-\u30ff\u4e00-\u9fff]+$`, fit: []string{"田中かな"}, no: []string{"tanaka", ""}},
		{pattern: `^\p{Script=Hiragana}+$`, fit: []string{"ひらがな"}, no: []string{"カタカナ"}},
		{pattern: `^\p{Letter}\p{Lu}$`, fit: []string{"éA"}, no: []string{"1A"}},
		{pattern: `^(["'])x\1$`, fit: []string{`"x"`, "'x'"}, no: []string{`"x'`}},
		{pattern: `^https?:\/\/[^\s]+$`, fit: []string{"https://a"}, no: []string{"https://a b", "https://a\u00a0"}},
		{pattern: `^.$`, fit: []string{"a", "😀"}, no: []string{"\n", "\u2028", "ab"}},
		{pattern: `^a$`, fit: []string{"a"}, no: []string{"a\n"}},
		{pattern: `^\d+$`, fit: []string{"1"}, no: []string{"１"}},
		{pattern: `^[]$`, no: []string{"", "]"}},
		{pattern: `^[\w-.]+$`, fit: []string{"a-."}, no: []string{"a b"}}, // only without the u flag
	} {
		quoted := string(expect.Value(json.Marshal(test.pattern))(t))
		for kind, text := range map[string]string{
			"value": `{"items":{"pattern":` + quoted + `}}`, "not": `{"items":{"not":{"not":{"pattern":` + quoted + `}}}}`,
			"member": `{"items":{"patternProperties":{` + quoted + `:{"type":"null"}},"additionalProperties":false}}`,
			"name":   `{"items":{"propertyNames":{"pattern":` + quoted + `}}}`,
		} {
			s := compiled(t, text)
			for i, value := range slices.Concat(test.fit, test.no) {
				asked := string(expect.Value(json.Marshal(value))(t))
				if kind == "member" || kind == "name" {
					asked = `{` + asked + `:null}`
				}
				found := check(t, s, `[`+asked+`]`)
				expect.That(t, (len(found) == 0) == (i < len(test.fit)), "%s %s of %s: %v", kind, asked, test.pattern, found)
			}
		}
	}
}

// Neither a check that gave up nor one that would flip its meaning passes a value.
func TestAPatternThatTakesTooLongPassesNothing(t *testing.T) {
	t.Parallel()
	const slow = `{"pattern":"^(?=a)(a+)+$"}`
	for _, text := range []string{slow, `{"not":` + slow + `}`, `{"if":` + slow + `,"then":false}`,
		`{"anyOf":[` + slow + `,{"maxLength":1}]}`, `{"oneOf":[` + slow + `,true]}`, `{"not":{"anyOf":[` + slow + `]}}`} {
		expect.Within(t, 10*time.Second, func() {
			found := check(t, compiled(t, text), `"`+strings.Repeat("a", 60)+`b"`)
			said := len(found) == 1 && strings.HasPrefix(found[0], "can't be checked: the pattern")
			expect.That(t, said, "%s: %v", text, found)
		})
	}
	expect.Within(t, 10*time.Second, func() { // all of them together are bounded
		s := compiled(t, `{"items":`+slow+`}`)
		found := check(t, s, `[`+strings.Repeat(`"`+strings.Repeat("a", 22)+`b",`, 2000)+`""]`)
		expect.Is(t, len(found), 1, "%v", found)
	})
	long := check(t, compiled(t, `{"pattern":"^(?:[A-Za-z0-9+/]{4})*$"}`), `"`+strings.Repeat("QUJD", 60_000)+`"`)
	expect.Is(t, len(long), 0, "a long text: %v", long)
}

// encoding/json would accept $Ref and ITEMS as $ref and items, and hide what stands beside them.
func TestKeywordsAreSpelledExactly(t *testing.T) {
	for text, keyword := range map[string]string{`{"$Ref":"#"}`: "$ref", `{"ITEMS":{"$ref":"#"}}`: "items",
		`{"properties":{"a":{"type":"string","propertieſ":{}}}}`: "properties", `{"Type":"string"}`: "type",
		`{"ｒｅｑｕｉｒｅｄ":["a"]}`: "required", "{\"required\u200b\":[\"a\"]}": "required"} {
		_, err := CompileSchema("x", text)
		expect.Has(t, fmt.Sprint(err), "must be written "+keyword)
	}
	compiled(t, `{"properties":{"Type":{"type":"string"}},"X-Kind":1}`)
}

func TestWhatIsASetHasNoOrder(t *testing.T) {
	const is = `{"properties":{"default":{"type":["string","null"],"enum":["a",1.0,null]}},"required":["a","b"],` +
		`"default":{"required":["a","b"]},"items":{"enum":[1,2],"enumNames":["keep","delete"]},` +
		`"contains":{"enum":[3,4],"labels":{"enum":["keep","delete"]}}}`
	for old, other := range map[string]string{`"string","null"`: `"null","string"`, `"a",1.0,null`: `1,null,"a"`,
		`"required":["a","b"],`: `"required":["b","a"],`} {
		expect.Is(t, CanonicalSchema(strings.Replace(is, old, other, 1)), CanonicalSchema(is))
	}
	for old, other := range map[string]string{`{"required":["a","b"]}`: `{"required":["b","a"]}`, `1.0`: `1.5`,
		`"required":["a","b"],`: `"required":["a"],`, `"enum":[1,2]`: `"enum":[2,1]`, `"enum":[3,4]`: `"enum":[4,3]`,
		`"enum":["keep"`: `"enum":["drop"`, `["keep","delete"]}}}`: `["delete","keep"]}}}`} {
		expect.That(t, CanonicalSchema(strings.Replace(is, old, other, 1)) != CanonicalSchema(is), "%s is as %s", other, old)
	}
}

func TestHostileValuesAreBounded(t *testing.T) {
	s := compiled(t, `{"type":"array","uniqueItems":true,"items":{"type":"string","maxLength":3,"enum":["a"]}}`)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for name, value := range map[string]string{
		"many":   "[" + strings.TrimSuffix(strings.Repeat("{},", 250_000), ",") + "]",
		"long":   `["` + strings.Repeat("長", 1_000_000) + `"]`,
		"nested": "[" + deep + "," + deep + "]",
	} {
		t.Run(name, func(t *testing.T) {
			found := check(t, s, value)
			expect.That(t, len(found) != 0 && len(found) <= 1000, "%d problems", len(found))
			for _, p := range found {
				expect.Must(t, len(p) <= 1000, "%d bytes: %s", len(p), p)
			}
		})
	}
}

func TestDecodeTakesOneValue(t *testing.T) {
	for _, text := range []string{"", "{", `{} {}`, "nope", `{"a":1}x`} {
		v, err := Decode([]byte(text))
		expect.That(t, err != nil, "%q gave %v", text, v)
	}
}

// TestTheOfficialSuite runs the JSON Schema Test Suite, which is a part of the library. A schema may be refused only
// for one of this package's own reasons.
func TestTheOfficialSuite(t *testing.T) {
	dir := expect.Value(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output())(t)
	files := expect.Value(filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "jsonschema", "testdata", "draft*",
		"*.json")))(t)
	reasons := regexp.MustCompile(`may not refer to (other documents|themselves)$|` +
		`values are not held against it$|only \$ref is followed$|` +
		`\$id: only the whole may have one$|\$ref: "#\w+": there is no such schema$`)
	const other = "ref overrides any sibling keywords" // only in draft 7; here they count
	verdicts := 0
	for _, file := range files {
		b := expect.Value(os.ReadFile(file))(t)
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		expect.NoError(t, json.Unmarshal(b, &groups))
		for _, g := range groups {
			s, err := CompileSchema(filepath.Base(file), string(g.Schema))
			if err != nil {
				expect.That(t, reasons.MatchString(err.Error()), "%s: %v", g.Description, err)
				continue
			}
			for _, test := range g.Tests {
				verdicts++
				if found := check(t, s, string(test.Data)); (len(found) == 0) != test.Valid && g.Description != other {
					t.Errorf("%s: %s: %s: %v, but it fits: %v", filepath.Base(file), g.Description, test.Description, found,
						test.Valid)
				}
			}
		}
	}
	expect.That(t, verdicts >= 1400, "only %d verdicts: the suite is not where it was", verdicts)
}

// FuzzCheck checks that for any schema and value a check ends, and that it always has the same result.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"items":{"pattern":"^(?!(a{1000}){1000}$)(.*\\1)+b"},"propertyNames":{"pattern":"(?<=\\p{L})\\u{3042}"}}`,
		person, `false`, `{"const":null}`, `{"enum":[null,1.0,{"a":[]}]}`,
		`{"prefixItems":[true],"items":false,"uniqueItems":true}`,
		`{"oneOf":[{"required":["a"]},{"not":{"multipleOf":0.1}}],"patternProperties":{"^a":{"type":["string","null"]}}}`,
		`{"if":{"minProperties":1},"then":{"propertyNames":{"pattern":"^a"}}}`,
	} {
		for _, v := range []string{`null`, `{"a":null,"b":"x"}`, `[1,[],{},1.0]`, `-1e308`,
			`{"name":"a","tags":[1],"boss":{"age":0}}`} {
			f.Add(s, v)
		}
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := CompileSchema("s", text)
		if err != nil {
			return
		}
		v, err := Decode([]byte(value))
		if err != nil {
			return
		}
		first := s.Check(v)
		expect.Is(t, len(first), len(s.Check(v)), "%v, then", first)
	})
}

// What a model reads of a schema has no references, keeps what they say, and takes the same values.
func TestASchemaIsShownWithoutReferences(t *testing.T) {
	const text = `{"type":"object","$defs":{"id":{"type":"integer","minimum":1,"description":"its number"},
		"person":{"type":"object","properties":{"id":{"$ref":"#/$defs/id"},"$ref":{"type":"string"}},"required":["id"]}},
		"properties":{"who":{"$ref":"#/$defs/person","description":"whom"},
		"all":{"type":"array","items":{"$ref":"#/$defs/person"}},
		"low":{"$ref":"#/$defs/id","minimum":5},"kind":{"enum":["$ref"]}},"additionalProperties":false}`
	shown := string(expect.Value(InlineSchema(text))(t))
	for _, gone := range []string{`"$ref":"#`, "$defs"} {
		expect.That(t, !strings.Contains(shown, gone), "it has %s: %s", gone, shown)
	}
	expect.That(t, strings.Contains(shown, "its number") && strings.Contains(shown, `"whom"`) &&
		strings.Contains(shown, `["$ref"]`) &&
		strings.Contains(shown, `"$ref":{"type":"string"}`), "%s", shown)
	was, is := expect.Value(CompileSchema("was", text))(t), expect.Value(CompileSchema("is", shown))(t)
	for _, value := range []string{`{}`, `{"who":{"id":1}}`, `{"who":{}}`, `{"who":{"id":0}}`,
		`{"all":[{"id":2},{"id":"x"}]}`,
		`{"low":4}`, `{"low":6}`, `{"kind":"$ref"}`, `{"kind":"x"}`, `{"other":1}`, `{"who":{"id":1,"$ref":2}}`} {
		v := expect.Value(Decode([]byte(value)))(t)
		expect.Is(t, len(is.Check(v)) == 0, len(was.Check(v)) == 0, "%s", value)
	}
	for _, wrong := range []string{`{"$ref":"#"}`, `{"$ref":"https://x"}`, `{"$ref":"#/$defs/none"}`, `{`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"items":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`} {
		expect.That(t, expect.Err(InlineSchema(wrong)) != nil, "%s is shown", wrong)
	}
}
