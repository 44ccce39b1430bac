package charset_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/charset"
)

var (
	sampleJapanese = []string{"氏名,部署", "氏名,部署\r\n佐藤,営業\r\n開発,鈴木\r\n", "社員番号,氏名\r\n1001,佐藤 誠\r\n",
		"部署,氏名,金額\r\n営業,高橋,1200\r\n山田,ソ能表,-5\r\n", "品名,単価,数量\r\n会議用椅子,12000,4\r\n",
		"勤怠表\n氏名,出勤日,残業時間\n高橋誠,20,15\n渡辺真理,19,3\n", "東京都千代田区霞が関", "こんにちは", "テスト計画", "請求書 御中",
		"議事録\n本日の会議では予算について話し合いました。\n結論として、来月から新しい規則を適用します。\n", "経費精算,交通費,宿泊費\n",
		"渡邊,齋藤,濱田は営業部と総務部の担当です\n", "PC用マウス 3個", "営業"}
	sampleWindows = []string{"社員番号,氏名\r\n1001,髙橋 誠①\r\n", "№,㈱山田,ソ能表,Ⅲ\n", "ｼｬｲﾝ,ﾌﾞｼｮ\r\nｻﾄｳ,ｴｲｷﾞｮｳ\r\n", "株式会社,ｶﾌﾞｼｷ\n",
		"振込先 ﾐﾂﾋﾞｼ ﾎﾝﾃﾝ 普通\n"}
	sampleWestern = []string{"Prénom", "Prénom,Nom\nRené,Müller\n", "café crème", "Größe;Straße\n", "10 € – “quoted”\n",
		"el señor, un año\n", "Prénom,Département\nHélène,Ventes\nFrançois,Développement\n", "it’s a “test”, isn’t it – yes\n",
		"MÜLLER", "été à Paris\n", "São Paulo: avaliações nº 3\n", "perché è così\n", "Åse Ødegård og Bjørn\n", "Kosten: 5 €\n",
		"Señor Muñoz, mañana\n", "A\u00a0B\n"}
	sampleProse = []string{
		"Le maître d'hôtel a goûté la crème brûlée, puis il a reçu le garçon naïf près du château où l'été finit à Noël.\n",
		"La reunión será el miércoles próximo; el año pasado también asistió la señora Núñez. ¿Qué día podrá venir Ángel?\n",
		"A reunião será na próxima terça-feira; não há ações em São Paulo. Três pessoas virão também, após o almoço.\n",
		"La città è bella perché c'è più sole; però lunedì pioverà, così andrò al caffè con papà e la società.\n",
		"Die Größe der Straßen ist für Fußgänger nötig; schöne Grüße aus Köln und Düsseldorf.\n",
		"De financiële coördinatie in België is geïntegreerd; één collega uit Zoë's team heeft ideeën.\n",
		"Blåbærgrød på en ø: Århus og Ålborg får små børn, og året går. Kjære gjester, velkommen på møtet.\n",
		"Han går på gatan och får åka båt; smörgåsar är gott, säger fröken Åsa i Malmö.\n",
		"Työntekijän nimi on tärkeä; määrä näkyy päivän lopussa. Äiti söi jäätelöä.\n",
		"Combien\u00a0? Vingt\u00a0euros, c’est l’été\u00a0: voilà… et 19” d’écran • ¡Olé!\n",
		"Nom;Prénom;Âge;Métier\nBenoît;Anaïs;30;Élève\nGérard;Zoë;41;Maçon\n"}
	sampleKorean = []string{"이름,부서\n김철수,영업부\n", "똠방각하 펲시콜라\n", "안녕하세요. 오늘 회의에서는 예산에 대해 논의했습니다.",
		"사원번호,성명,부서\n1001,박영희,인사부\n"}
	sampleChinese = []string{"姓名,部门\n张三,销售部\n", "我们今天开会讨论预算问题,下个月开始适用新的规定。", "员工编号,姓名,部门\n1001,李伟,人事部\n"}
	sampleTaiwan  = []string{"姓名,部門\n王小明,業務部\n", "我們今天開會討論預算問題,下個月開始適用新的規定。"}
)

// Each text is decoded as its program wrote it, or not at all: texts of few characters may be in several encodings.
// known says how many of the texts must be decoded.
func TestATextIsDecodedAsItsProgramWroteIt(t *testing.T) {
	for _, c := range []struct {
		as       string
		encoding encoding.Encoding
		texts    []string
		known    int
	}{
		{charset.ShiftJIS, japanese.ShiftJIS, append(sampleJapanese, sampleWindows...), 20},
		{charset.ISO2022JP, japanese.ISO2022JP, sampleJapanese, 15},
		{charset.EUCJP, japanese.EUCJP, sampleJapanese, 10},
		{charset.Windows1252, charmap.Windows1252, sampleWestern, 14},
		{charset.Windows1252, charmap.Windows1252, sampleProse, 11},
		{charset.CP949, korean.EUCKR, sampleKorean, 4},
		{charset.GB18030, simplifiedchinese.GB18030, sampleChinese, 3},
		{charset.Big5, traditionalchinese.Big5, sampleTaiwan, 2},
		{charset.UTF16LE, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), sampleJapanese, 15},
		{charset.UTF16BE, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM), sampleJapanese, 15},
		{charset.UTF16LE, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), []string{"氏名,部署\r\n", "a\u3000b\n", "ab",
			"Prénom,営業", "了解です😀✅\r\n"}, 5},
		{charset.UTF16BE, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
			[]string{"氏名,部署\r\n", "a\u3000b\n", "ab", "Prénom,営業"}, 4},
		{charset.UTF8, unicode.UTF8, append(sampleJapanese, ""), 16},
		{charset.UTF8, unicode.UTF8BOM, sampleJapanese, 15},
		{"", charmap.Windows1251, []string{"Имя,Отдел\nИван,Продажи\n", "Сегодня на совещании мы обсудили бюджет."}, 2},
		{"", charmap.Windows1250, []string{"Příjmení,Jméno\n", "Zażółć gęślą jaźń\n", "dzień", "imię", "Novák, Dvořák, Černý",
			"Erdős Árpád", "člověk", "dům",
			"Name;Dept\nKovač;Sales\n", "Novak;Marija;Kovač\n", "Babić,Horvat,Perić\n", "Popović\n",
			"Nume,Prenume\nMihăilescu,Ion\n", "był już na liście", "Čech\n",
			"Ana Ilić;Ivan Babić;Marko Perić", "Café Kovač", "noćni rad", "coś"}, 19},
		{"", charmap.Windows1250, []string{"Plzeň", "stĺpec", "çeşit"}, 3},
		{"", charmap.Windows1257, []string{"Pavardė", "Vardas;Pavardė\nJonas;Petraitė\n", "Mėnuo,Suma\nKovas,12\n",
			"ėjo namo",
			"Įmonė;Suma", "Jānis,Rīga", "Vārds,Uzvārds", "Jūrmala", "diena, mēnesis, gads", "ēka", "Ķekava", "Pēteris",
			"nodaļa", "Liepāja;Ventspils", "Kārlis un Līga", "Dział;Kwota", "świat"}, 17},
		{"", charmap.Windows1253, []string{"Όνομα,Τμήμα\n", "ID;Όνομα\n1;Νίκος"}, 2},
		{"", charmap.Windows1254, []string{"Ad,Soyad\nAyşe,Yılmaz\n", "İsim", "Ağrı", "çeşit", "Işık", "Doğum"}, 6},
		{"", charmap.KOI8R, []string{"Имя,Отдел", "Сумма", "январь 2026", "ID;ФИО\n1;Иванов"}, 4},
		{"", charmap.CodePage866, []string{"Имя,Отдел", "Сумма", "январь 2026", "ID;ФИО\n1;Иванов"}, 4},
		{"", charmap.ISO8859_5, []string{"Имя,Отдел", "ООО Ромашка", "ID;ФИО\n1;Иванов"}, 3},
		{"", charmap.ISO8859_4, []string{"Pavardė", "Kęstutis", "Ķekava"}, 3},
		{"", charmap.Macintosh, []string{"Prénom", "café à Paris", "Größe", "œuvre", "Così", "Élève", "ühik;hind"}, 7},
		{"", charmap.CodePage437, []string{"señor", "Straße", "città", "à Paris", "Élève", "Malmö", "está aquí"}, 7},
		{"", charmap.CodePage850, []string{"Prénom", "café à Paris", "Straße", "città", "à Paris", "Élève", "Malmö",
			"col·legi"}, 8},
		{"", charmap.CodePage852, []string{"Košice", "vŕba", "Gdańsk", "Poznań", "Đuro", "šeštadienis", "čia", "Plzeň"}, 8},
	} {
		known := 0
		for _, text := range c.texts {
			file := expect.Value(c.encoding.NewEncoder().String(text))(t)
			got, as, torn := charset.Decode([]byte(file))
			switch {
			case as == c.as && (c.as == "" || got == text) && !torn:
				known++
			case as == "" && got == "":
				t.Logf("%s: %.30q is not known", c.as, text)
			default:
				t.Errorf("%s: %.30q is read as %s: %.40q, torn: %t", c.as, text, as, got, torn)
			}
		}
		expect.Is(t, known, c.known, "%s: known", c.as)
	}
}

// What could be several texts is none.
func TestWhatCantBeToldIsNotGuessed(t *testing.T) {
	for _, file := range []string{"\xb1", "a,\xb1\n", "\x95\x5c", "a\xff\xfe\xfd", "\x00\x01\x02\x00", "abc\xe3\x81",
		"caf\x8e",
		"\x1b$)C\x0eabc\x0f", "\xc9\xc8", "\x1b$B\x40\x1b(B", strings.Repeat("\xe9\xe8", 40), "\x89PNG\r\n\x1a\n",
		// 姓名,部門 and 佢哋嘅嘢喺邊度, in EUC-TW and Big5-HKSCS
		"\xcc\xef\xc7\xd8,\xdd\xe5\xcf\xdc\n\xc5\xde\xc4\xd1\xcd\xfc,\xe4\xc6\xd9\xad\xdd\xe5\n",
		"\xca\\x92]\x9d\xef\x9d\xcf\x9d\xf6\xc3\xe4\xab\xd7"} {
		got, as, torn := charset.Decode([]byte(file))
		expect.That(t, as == "" && got == "" && !torn, "%q is read as %s: %q", file, as, got)
	}
	got, as, _ := charset.Decode([]byte("\x1b[31mred\x1b[0m\n"))
	expect.That(t, as == charset.UTF8 && got == "\x1b[31mred\x1b[0m\n", "%s %q", as, got)
}

func TestATornTextIsReadAsFarAsItGoes(t *testing.T) {
	long := strings.Repeat("氏名,部署\n", 20)
	sjis := expect.Value(japanese.ShiftJIS.NewEncoder().String(long))(t)
	people := strings.Repeat("氏名,部署\n佐藤,営業\n開発,鈴木\n", 10)
	wide := expect.Value(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(long))(t)
	euc := expect.Value(japanese.EUCJP.NewEncoder().String(people))(t)
	mail := expect.Value(japanese.ISO2022JP.NewEncoder().String("氏名"))(t)
	for _, c := range []struct{ file, text, as string }{
		{"氏名,部署\xe6\xb0", "氏名,部署", charset.UTF8}, {"氏名\xe6", "氏名", charset.UTF8}, {"\x90\x8d氏名", "氏名", charset.UTF8},
		{"\ufeff氏名\xf0\x9f\x98", "氏名", charset.UTF8}, {long + "\xe6\n" + long, long + "\ufffd\n" + long, charset.UTF8},
		{sjis + "\x8e", long, charset.ShiftJIS}, {"\xff\xfe\x0fl", "氏", charset.UTF16LE}, {"\xff\xfe\x0fl\x0d", "氏",
			charset.UTF16LE},
		{sjis + "\xf0\x40\x93\x63\n" + sjis, long + "\ufffd田\n" + long, charset.ShiftJIS}, // a character of a company's own
		{sjis + "\xf0\x40", long + "\ufffd", charset.ShiftJIS},
		{"\xff\xfe" + wide + "\x00\xe0\x30\x75", long + "\ufffd田", charset.UTF16LE},
		{wide + "\x00\xe0\x30\x75", long + "\ufffd田", charset.UTF16LE},
		{euc + "\xf5\xa1\n", people + "\ufffd\n", charset.EUCJP},
		{strings.TrimSuffix(mail, "\x1b(B") + "\x30", "氏名", charset.ISO2022JP},
	} {
		got, as, torn := charset.Decode([]byte(c.file))
		expect.Is(t, got, c.text, "%.40q", c.file)
		expect.That(t, as == c.as && torn == (c.file != "\xff\xfe\x0fl"), "%.40q as %s, torn: %t", c.file, as, torn)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"氏名", "\x8e\x81\x96\xbc", "\xff\xfea\x00", "a\x00b", "\x1b$B;aL>\x1b(B", "Pr\xe9nom",
		"\xc0\xcc\xb8\xa7"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		text, as, torn := charset.Decode(file)
		expect.That(t, utf8.ValidString(text) && (as != "" || text == "" && !torn), "%q as %q", text, as)
	})
}
