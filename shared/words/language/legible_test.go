package language_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestWhatIsVisible(t *testing.T) {
	for s, want := range map[string]string{
		"承認\U000e0061\U000e0070\U000e0070してください":       "承認してください",                // tags spell ASCII that nobody sees
		"a\u202eb\u2066c\u2069\u200e":                  "abc",                     // they turn the reading direction
		"se\u200bcr\u2060et\ufeff\u00ad":               "secret",                  // no width
		"a\u3164b\u2800c\u00a0d":                       "a b c d",                 // drawn empty
		"👨\u200d👩\u200d👧 ❤\ufe0f":                      "👨\u200d👩\u200d👧 ❤\ufe0f", // one picture each
		"葛\U000e0100城":                                 "葛\U000e0100城",            // another form of the letter
		"x\ufe01\ufe02\ufe03\ufe04":                    "x",                       // bytes can be hidden in these
		"通\ufe01知\U000e0141a\U000e0142b\u200dc\u200cd": "通\ufe01知\U000e0141abcd",
		strings.Repeat("知\U000e0141", 99):              strings.Repeat("知\U000e0141", 32) + strings.Repeat("知", 67),
		"1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 ℹ\ufe0f क\u094d\u200dष می\u200cخواهم": "1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 " +
			"👩🏽\u200d🚀 ℹ\ufe0f क\u094d\u200dष می\u200cخواهم",
		// models read words that are struck out
		"全\u0336員\u0336に送\u20e0る =\u0338": "全員に送る =\u0338",
		"a\r\nb\u2028c\vd\x00\x1b":        "a\nb\nc\nd",
		"勤怠 <b> & \"q\" \\":               "勤怠 <b> & \"q\" \\",
	} {
		expect.Is(t, language.Visible(s), want, "%+q", s)
	}
}

func TestJSONKeepsItsFormAndLosesWhatNobodySees(t *testing.T) {
	in := "{\"a\\\"\\u200bb\": [\"x\\udb40\\udc61\", \"\\\\\\\"\u202e\", 1e400, 18446744073709551616, true, null, " +
		"\"\\u003c\\n\", \"a\\t\\tb\"]}"
	want := `{"a\"b": ["x", "\\\"", 1e400, 18446744073709551616, true, null, "\u003c\n", "a\t\tb"]}`
	got := string(language.VisibleJSON([]byte(in)))
	expect.That(t, got == want && json.Valid([]byte(got)), "%s, want %s", got, want)
}

func TestEmptyLinesAreOneInARow(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb": "a\nb", "a\n\nb\n": "a\n\nb\n", "a\n\n\n\nb": "a\n\nb", "a\n \n\u2800\n\u3164\nb": "a\n" +
			" \nb", "  - a": "  - a", "": "",
		"a" + strings.Repeat("\u3000", 7000) + "b": "a" + strings.Repeat("\u3000", 8) + "b", strings.Repeat(" \t",
			9) + "a": strings.Repeat(" \t", 4) + "a",
		"a" + strings.Repeat("\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u200d",
			444) + "b": "a" + strings.Repeat("\u3000", 8) + "\u200db",
		"a" + strings.Repeat("\u3000\u200c", 444) + " b": "a" + strings.Repeat("\u3000", 8) + "b",
		"a" + strings.Repeat("\U00013441", 444) + "b":    "a" + strings.Repeat("\U00013441", 8) + "b",
		"a" + strings.Repeat("\u00a0\u034f", 444) + "b":  "a" + strings.Repeat("\u00a0\u034f", 4) + "b",
		"👩\u200d👩 ❤\ufe0f\u200d🔥 क\u094d\u200dष e\u0301 1\ufe0f\u20e3": "👩\u200d👩 ❤\ufe0f\u200d🔥 क\u094d\u200dष e\u0301 " +
			"1\ufe0f\u20e3",
	} {
		expect.Is(t, language.Paragraphs(text), want, "%q became", text)
	}
}

func TestTextsOfNothing(t *testing.T) {
	for name, s := range map[string]string{
		"nothing": "", "spaces": " \t\n\u3000\u00a0\u1680", "Hangul fillers": "\u3164\uffa0\u115f\u1160",
		"Braille without dots": "\u2800\u2800",
		"a null notehead":      "\U0001d159", "joiners": "\u200d\u200c\ufe0f\u034f", "tags": "\U000e0041\U000e007f",
		"unassigned ignorables": "\u2065\U000e0fff",
		"Mongolian separators":  "\u180b\u180e\u180f", "Khmer vowels that are not " +
			"drawn": "\u17b4\u17b5", "a mark alone": "\u0301", "private use": "\ue000\U000f0000",
	} {
		expect.That(t, !language.Legible(s), "%s: %+q is taken for a text", name, s)
	}
	for _, s := range []string{"a", "勤怠", "👍🏽", "e\u0301", "\u0600", "가", "ሀ"} {
		expect.That(t, language.Legible(s), "%q is taken for nothing", s)
	}
}

// Every right-to-left script that Go knows is covered, not only Hebrew and Arabic.
func TestScriptsFromRightToLeft(t *testing.T) {
	for name, script := range map[string]*unicode.RangeTable{
		"Hebrew": unicode.Hebrew, "Arabic": unicode.Arabic, "Syriac": unicode.Syriac, "Thaana": unicode.Thaana,
		"Nko": unicode.Nko, "Adlam": unicode.Adlam,
		"Phoenician": unicode.Phoenician, "Cypriot": unicode.Cypriot, "Kharoshthi": unicode.Kharoshthi,
		"Old Hungarian": unicode.Old_Hungarian,
		"Sogdian":       unicode.Sogdian, "Yezidi": unicode.Yezidi, "Avestan": unicode.Avestan, "Mandaic": unicode.Mandaic,
		"Samaritan":       unicode.Samaritan,
		"Hanifi Rohingya": unicode.Hanifi_Rohingya, "Mende Kikakui": unicode.Mende_Kikakui, "Lydian": unicode.Lydian,
		"Old Turkic": unicode.Old_Turkic,
	} {
		for _, r := range first(script) {
			expect.That(t, !unicode.IsLetter(r) || language.RightToLeft(r), "%s: %U is said to be written from left to right",
				name, r)
		}
	}
	for _, r := range "aБ漢カ가ไअ፩😀" {
		expect.That(t, !language.RightToLeft(r), "%c is said to be written from right to left", r)
	}
}

// first returns the first characters of each range of a script.
func first(script *unicode.RangeTable) (out []rune) {
	for _, r := range script.R16 {
		out = append(out, rune(r.Lo), rune(r.Hi))
	}
	for _, r := range script.R32 {
		out = append(out, rune(r.Lo), rune(r.Hi))
	}
	return out
}

// TestEverydayCharactersAreAsTheTablesSay compares all characters with Unicode's tables, including those for which
// everyday skips the lookup.
func TestEverydayCharactersAreAsTheTablesSay(t *testing.T) {
	for r := ' '; r <= unicode.MaxRune; r++ {
		drawn := unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		ignorable := !drawn && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point)
		expect.Is(t, language.Ignorable(r), ignorable, "%U is ignorable", r)
		shows := drawn || !ignorable && !language.Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
		expect.Is(t, language.Shows(r), shows, "%U shows", r)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		// e-mail
		"hanako.sato@example.com":             "h**********@example.com",
		"a@b.co.jp":                           "a*@b.co.jp",
		"佐藤花子 <hanako@example.com>さん":         "佐藤花子 <h*****@example.com>さん",
		"連絡先はo'neil+hr@mail.example.co.jpです。": "連絡先はo********@mail.example.co.jpです。",
		"hanako＠example.com":                  "h*****＠example.com",
		"mailto:x_y@example.com?subject=a":    "mailto:x**@example.com?subject=a",
		// phones: mobile, IP, landline by length of area code, toll-free
		"090-1234-5678": "***-****-**78",
		"080 1234 5678": "*** **** **78",
		"07012345678":   "*********78",
		"050-1234-5678": "***-****-**78",
		"03-1234-5678":  "**-****-**78",
		"045-123-4567":  "***-***-**67",
		"0466-12-3456":  "****-**-**56",
		"04992-1-2345":  "*****-*-**45",
		"(03)1234-5678": "(**)****-**78",
		"（03）1234-5678": "（**）****-**78",
		"03(1234)5678":  "**(****)**78",
		"0312345678":    "********78",
		"0120-123-456":  "****-***-*56",
		"0800-123-4567": "****-***-**67",
		"０９０－１２３４－５６７８":                              "***－****－**７８",
		"090ー1234ー5678":                              "***ー****ー**78",
		"電話は090-1234-5678です。":                        "電話は***-****-**78です。",
		"TEL:03-1234-5678/FAX":                       "TEL:**-****-**78/FAX",
		"電話/03-1234-5678":                            "電話/**-****-**78",
		"\"tel\":\"03-1234-5678\"":                   "\"tel\":\"**-****-**78\"",
		"+81-90-1234-5678":                           "+**-**-****-**78",
		"+81 3 1234 5678":                            "+** * **** **78",
		"+819012345678":                              "+**********78",
		"+81(0)90-1234-5678":                         "+**(*)**-****-**78",
		"+1 415-555-2671":                            "+* ***-***-**71",
		"+33 1 23 45 67 89":                          "+** * ** ** ** 89",
		"090-1234-5678, 03-1234-5678 / 0120-123-456": "***-****-**78, **-****-**78 / ****-***-*56",
		// My Number
		"123456789018":          "************",
		"1234 5678 9018":        "**** **** ****",
		"1234-5678-9018":        "****-****-****",
		"１２３４５６７８９０１８":          "************",
		"個人番号123456789018を確認":   "個人番号************を確認",
		"マイナンバー: 123456789018。": "マイナンバー: ************。",
	} {
		expect.Is(t, language.Mask(text), want, "%q", text)
		expect.Is(t, language.Mask(want), want, "masked again")
	}
}

func TestWhatIsNoPersonalDataStays(t *testing.T) {
	for _, text := range []string{
		"",
		"2026-03-31", "2026-03-31T09:00:00.000Z", "2026/03/31 " +
			"09:00", "202603311530", "20260331", "01-02-2026", "09:00-18:00", "+09:00",
		"1776522807.123456", "1776522807123", "0.0312345678", "3.0901234567",
		"123,456,789,018円", "123456789018円", "¥123456789018", "￥123456789018", "$123456789018", "123456789018 yen",
		"123456789018 ms", "123456789018件",
		"123456789012", "000000000000", "4242 4242 4242 4242", "4242-4242-4242-4242", "1234567890189", "123456789018-1",
		"01KPGG5320ZBWH9ZGPYASHS0V6", "01KPGG5320ZBWH9ZGPYASHS0V6-3", "U0SANDSATO", "A0101", "0000000001", "3510001",
		"9b1deb4d-0901-2345-6789-2b0d7b3dcb6d", "step-1.result.employees.0.email", "p/step-1/1", "v1.2.3-090-1234-5678",
		"arn:aws:sqs:ap-northeast-1:123456789018:cards.fifo",
		"https://sqs.ap-northeast-1.amazonaws.com/123456789018/cards.fifo", "/0312345678/x",
		"<@U0SANDSATO>", "@Ringi 今月の勤怠をまとめて", "react@18.2.0", "user@localhost", "〒100-0001", "00123-4-567890", "100-0001 " +
			"1-2-3",
		"'勤怠 2026-04'!A1:I43", "120.5 h", "1,234,567,890,123",
	} {
		expect.Is(t, language.Mask(text), text)
	}
}

func TestIdsAndTimesOfAllKindsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "seed")
		sum := sha256.Sum256(seed)
		at := time.UnixMilli(rapid.Int64Range(1_000_000_000_000, 4_102_444_800_000).Draw(t, "ms")).UTC()
		var id ulid.ULID
		copy(id[:], seed)
		for _, text := range []string{
			id.String(), hex.EncodeToString(sum[:]), fmt.Sprintf("%x-%x-%x-%x-%x", seed[:4], seed[4:6], seed[6:8], seed[8:10],
				seed[10:]),
			at.Format(time.RFC3339Nano), at.Format("2006-01-02 " +
				"15:04:05"), at.Format("200601021504"), at.Format("20060102150405"),
			fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000), fmt.Sprint(at.UnixMilli()), fmt.Sprintf("%d円",
				at.UnixMicro()),
		} {
			expect.Is(t, language.Mask(text), text)
		}
	})
}

func TestMyNumberIsFoundByItsCheckDigit(t *testing.T) {
	masked := 0
	for last := range 10 {
		if language.Mask(fmt.Sprintf("12345678901%d", last)) == "************" {
			masked++
		}
	}
	expect.Is(t, masked, 1, "of ten last digits count")
}

func TestJSON(t *testing.T) {
	const text = `{"recipient":"hanako@example.com","cc":["a@example.com","03-1234-5678"],
		"text":"hanako@example.com に電話 090-1234-5678","my_number":"123456789018",
		"rows":[{"email":"b@example.com","tel":"090-1234-5678","n":123456789018,
			"amounts":[123456789012,1234567890180,-123456789018,202604180910,9012345678],
			"ok":true,"none":null}],"b@example.com":"x"}`
	const want = `{"recipient":"h*****@example.com","cc":["a*@example.com","**-****-**78"],
		"text":"h*****@example.com に電話 ***-****-**78","my_number":"************",
		"rows":[{"email":"b*@example.com","tel":"***-****-**78","n":"************",
			"amounts":[123456789012,1234567890180,-123456789018,202604180910,9012345678],
			"ok":true,"none":null}],"b*@example.com":"x"}`
	expect.Same(t, decode(t, want), language.MaskAll(decode(t, text)))
}

// A JSON number has no leading zero and several notations.
func TestANumberThatIsAMyNumberIsMasked(t *testing.T) {
	for n, hidden := range map[string]bool{
		"123456789018": true, "123456789018.0": true, "123456789018.00": true, "1.23456789018e11": true,
		"1.23456789018E+11": true, "1234567890180e-1": true,
		"12345678903": true, "12345678903.0": true, "1.2345678903e10": true, // 012345678903
		"12345678901": false, "12345678902": false, "123456789012.0": false, "123456789018.5": false, "-123456789018": false,
		"-12345678903": false,
		"1234567890":   false, "1776522807": false, "9012345678": false, "1234567892": false, "0": false, "1e11": false,
		"1e999999999": false, "0.12345678903": false, "202604180910": false,
	} {
		want := any(json.Number(n))
		if hidden {
			want = "************"
		}
		expect.Is(t, language.MaskScalar(json.Number(n)), want, "%s is shown", n)
	}
	masked := 0
	for n := range 10_000 {
		if _, number := language.MaskScalar(json.Number(fmt.Sprint(10_000_000_000 + 7_919*n))).(json.Number); !number {
			masked++
		}
	}
	expect.That(t, masked >= 800 && masked <= 1_200, "%d of 10,000 numbers of eleven digits are taken for a My Number",
		masked)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	expect.NoError(t, d.Decode(&v))
	return v
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a@b.co", "090-1234-5678", "1234 5678 9018", "+81(0)90-1234-5678", "０３（１２３４）５６７８",
		"\xff0312345678"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := language.Mask(s)
		expect.That(t, (!utf8.ValidString(s) || utf8.ValidString(got)) &&
			(strings.ContainsAny(s, "@＠") || utf8.RuneCountInString(got) == utf8.RuneCountInString(s)), "%q became %q", s, got)
	})
}

// named returns its text only when it is logged.
type named struct{ text string }

func (n named) LogValue() slog.Value { return slog.StringValue(n.text) }

func TestHandlerMasksAllThatIsLogged(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(language.MaskingHandler(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelInfo})))
	const who, tel = "hanako@example.com", "090-1234-5678"
	log.With("with", who).WithGroup("group").With("in", tel).Warn("to "+who, "text", tel, "err",
		errors.Join(errors.New("x"), errors.New(who)),
		"value", named{who}, slog.Group("deep", "tel", tel), "task_id", "01KPGG5320ZBWH9ZGPYASHS0V6", "n", 123456789018)
	got := b.String()
	expect.That(t, !strings.Contains(got, "hanako") && !strings.Contains(got, "1234-56"), "logged %s", got)
	for _, want := range []string{
		`"msg":"to h*****@example.com"`, `"with":"h*****@example.com"`, `"in":"***-****-**78"`, `"text":"***-****-**78"`,
		`"err":"x\nh*****@example.com"`,
		`"value":"h*****@example.com"`, `"deep":{"tel":"***-****-**78"}`, `"task_id":"01KPGG5320ZBWH9ZGPYASHS0V6"`,
		`"n":123456789018`,
	} {
		expect.Has(t, got, want, "logged, which lacks")
	}
	expect.That(t, !log.Enabled(context.Background(), slog.LevelDebug), "the level of the next handler is lost")
}

// The standard library's errors quote the text that they could not parse.
func TestAnErrorQuotesNoNumber(t *testing.T) {
	var into struct {
		N int    `json:"n"`
		S string `json:"s"`
		J json.Number
	}
	var errs []error
	for _, text := range []string{`{"s":4500000}`, `{"n":45000.00}`, `{"n":4500000e9}`, `{"J":"4500000 \" yen"}`} {
		errs = append(errs, json.Unmarshal([]byte(text), &into))
	}
	_, err := strconv.Atoi("4500000円")
	errs = append(errs, err)
	_, err = time.Parse(time.DateOnly, "4500000")
	errs = append(errs, err, fmt.Errorf("read it: %w", errs[0]))
	for _, err := range errs {
		var b bytes.Buffer
		slog.New(language.MaskingHandler(slog.NewJSONHandler(&b, nil))).Error("x", "err", err, "text", err.Error())
		expect.That(t, err != nil && !strings.Contains(b.String(), "45000") && strings.Count(b.String(), "…") == 2,
			"%v: logged %s", err, &b)
	}
}

func TestUTF8AndShiftJISAreDecoded(t *testing.T) {
	const names = "氏名,部署\r\n髙橋①,㈱営業 ソ能表ｱｲｳ\r\n"
	sjis := expect.Value(japanese.ShiftJIS.NewEncoder().String(names))(t)
	euc := expect.Value(japanese.EUCJP.NewEncoder().String("氏名,部署\r\n佐藤,営業\r\n"))(t)
	for file, want := range map[string][2]string{
		names: {names, language.UTF8}, "\ufeff" + names: {names, language.UTF8}, "": {"", language.UTF8},
		"plain": {"plain", language.UTF8},
		sjis:    {names, language.ShiftJIS},
		euc:     {}, "caf\x8e cr\x8fme": {}, "\xff\xfea\x00": {}, names[:1]: {},
		strings.Repeat(sjis, 3) + "\xf0\x40": {strings.Repeat(names, 3) + "\ufffd", language.ShiftJIS},
		sjis + "\xf0\x40\xf0\x40\xf0\x40":    {},
	} {
		text, as := language.Decode([]byte(file))
		expect.That(t, text == want[0] && as == want[1], "%.20q: %q as %q", file, text, as)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x8e\x81\x96\xbc"))
	f.Fuzz(func(t *testing.T, file []byte) {
		text, as := language.Decode(file)
		expect.That(t, utf8.ValidString(text) && (as != "" || text == ""), "%q as %q", text, as)
	})
}
