package rules

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// iso are the codes of ISO 4217 (list one, and those that it dropped since 2015), then codes of the same form that
// people and exchanges use.
const iso = `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BYR
		BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
		GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD
		KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR
		NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STD STN
		SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VEF VES VND VUV WST XAF XAG
		XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG ZWL RMB CNH NTD GBX BTC ETH XRP
		USDT USDC`

// minor are the currencies of ISO 4217 by how many decimals an amount of them has; those that it dropped, metals and
// funds are not among them.
var minor = [...]string{
	0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF`,
	2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP
		CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES
		KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK
		NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
		TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
	3: `BHD IQD JOD KWD LYD OMR TND`,
}

// DecimalsOf returns how many decimals an amount of a currency has, and whether ISO 4217 has it.
func DecimalsOf(currency string) (n int, known bool) {
	for n, codes := range minor {
		if slices.Contains(strings.Fields(codes), currency) {
			return n, true
		}
	}
	return 0, false
}

// everyday are codes that mean a currency wherever they stand, in small letters, too.
const everyday = `JPY USD EUR GBP CNY RMB CNH KRW TWD NTD HKD SGD THB VND IDR MYR INR AUD NZD CHF SEK DKK BRL MXN ZAR
		RUB BTC USDT USDC`

// alsoWords are codes that arguments have for other reasons even in capitals.
const alsoWords = `AED ALL AMD ANG BAM BOB BSD BTN CAD COP CRC CUP DOP ERN ETH GEL GIP GYD HNL KGS LAK MAD MOP MRO NAD
		NOK PEN PHP RON SAR SCR SDG SHP SOS SSP STD STN SVC TOP TRY XTS XXX`

// Names and signs with the code that they mean. A star marks those that mean something else as often. ¢ stands for
// small coins, 外 for any other currency.
const (
	// names are of one currency.
	names = `yen JPY yens JPY 円 JPY 日本円 JPY 円貨 JPY 日元 JPY 日圓 JPY 日圆 JPY 엔 JPY* euro EUR euros EUR € EUR ユーロ EUR 欧元 EUR
		歐元 EUR 유로 EUR евро EUR sterling GBP 英镑 GBP 英鎊 GBP yuan CNY renminbi CNY 人民元 CNY 人民币 CNY 人民幣 CNY 위안 CNY won KRW*
		₩ KRW ウォン KRW 韩元 KRW 韓元 KRW 원 KRW* 美元 USD 美金 USD 港币 HKD 港元 HKD 港幣 HKD 澳元 AUD 加元 CAD 台币 TWD 台幣 TWD 新台币 TWD
		新台幣 TWD 台湾元 TWD baht THB ฿ THB バーツ THB rupiah IDR ルピア IDR ringgit MYR リンギット MYR dong VND* đồng VND ₫ VND ドン VND*
		₱ PHP ₹ INR ₽ RUB руб RUB рублей RUB рубли RUB real BRL* reais BRL レアル BRL* lira TRY* liras TRY ₺ TRY リラ TRY*
		rand ZAR* ランド ZAR* zloty PLN zlotys PLN złoty PLN zł PLN ズロチ PLN ズウォティ PLN kč CZK koruna CZK コルナ CZK forint HUF
		フォリント HUF shekel ILS shekels ILS ₪ ILS シェケル ILS hryvnia UAH ₴ UAH naira NGN bitcoin BTC bitcoins BTC ₿ BTC
		ビットコイン BTC ether ETH* イーサリアム ETH foreign 外* 外貨 外 外币 外 外幣 外 cent ¢* cents ¢ セント ¢ pence ¢ penny ¢*
		pennies ¢ sen ¢* 銭 ¢*`
	// families are of several currencies. The code is meant unless an adjective says another.
	families = `dollar USD dollars USD dólar USD dólares USD доллар USD доллары USD долларов USD buck USD* bucks USD $ USD
		ドル USD 弗 USD* 달러 USD pound GBP* pounds GBP £ GBP ポンド GBP 파운드 GBP ¥ JPY 元 CNY* 圓 TWD* franc CHF francs CHF
		fr CHF* sfr CHF フラン CHF peso MXN pesos MXN ペソ MXN rupee INR rupees INR rs INR* ルピー INR krona SEK kronor SEK
		kr SEK* クローナ SEK krone DKK kroner DKK クローネ DKK dinar KWD dinars KWD ディナール KWD dirham AED dirhams AED ディルハム AED
		riyal SAR riyals SAR リヤル SAR ruble RUB rubles RUB rouble RUB roubles RUB ルーブル RUB shilling KES shillings KES
		シリング KES rp IDR* rm MYR*`
	// endings are names that others end in, such as Family Dollar, ヌードル, サフラン, 水原 (スウォン) and アクセント.
	endings = `dollar pound ドル フラン ウォン セント`
	// adjectives say which of a family. Whatever isn't known before one does, too, unless it is one of the endings.
	adjectives = `us USD u USD usa USD american USD states USD 米 USD 米国 USD アメリカ USD a AUD au AUD aus AUD australian
		AUD 豪 AUD 豪州 AUD オーストラリア AUD c CAD ca CAD can CAD canadian CAD 加 CAD カナダ CAD hk HKD hong HKD kong HKD 香港 HKD s SGD
		sg SGD singapore SGD シンガポール SGD nz NZD zealand NZD ニュージーランド NZD nt TWD tw TWD taiwan TWD 台湾 TWD 新台湾 TWD cn CNY
		chinese CNY china CNY 中国 CNY korean KRW korea KRW 韓国 KRW ch CHF swiss CHF スイス CHF uk GBP gb GBP british GBP 英 GBP
		英国 GBP イギリス GBP jp JPY japan JPY japanese JPY 日本 JPY mx MXN mexican MXN メキシコ MXN r BRL brazilian BRL ブラジル BRL
		indian INR インド INR thai THB タイ THB swedish SEK スウェーデン SEK norwegian NOK ノルウェー NOK danish DKK デンマーク DKK czech CZK
		チェコ CZK philippine PHP フィリピン PHP turkish TRY トルコ TRY russian RUB ロシア RUB vietnamese VND ベトナム VND indonesian IDR
		インドネシア IDR malaysian MYR マレーシア MYR south ZAR african ZAR 南アフリカ ZAR kuwaiti KWD クウェート KWD uae AED saudi SAR サウジ SAR
		サウジアラビア SAR jamaican 外 ジャマイカ 外 バハマ 外 フィジー 外 ブルネイ 外 ベリーズ 外 ナミビア 外 バルバドス 外 トリニダード 外 ガイアナ 外 リベリア 外 スリナム 外
		ケイマン 外 バミューダ 外 ジンバブエ 外 ソロモン 外 東カリブ 外 cfa 外 コンゴ 外 ルワンダ 外 ギニア 外 ジブチ 外`
	// scales multiply: what is no currency here is one.
	scales = `thousand × thousands × million × millions × billion × billions × trillion × trillions × lakh ×
		lakhs × lac ×* lacs × crore × crores × cr ×* hundred ×* hundreds ×* man ×* oku ×* k ×* m ×* b ×* t ×* mm ×*
		mn ×* mio ×* mln ×* mil ×* mille ×* bn ×* tn ×* thou ×* tsd × mrd × mia ×* tkr × mkr × mdkr × tausend ×
		millionen × milliarden × mill ×* milliers × millones × milhões × тыс × тысяч × млн × млрд × 十 ×* 百 ×* 千 ×*
		万 ×* 億 × 兆 ×* 萬 ×* 亿 × 仟 ×* 佰 ×* 阡 ×* 천 ×* 만 ×* 억 ×* 백만 ×`
	// besides are words that change nothing, and units those beside which 1,000 is a scale.
	besides = `in of de d the and to per new united currency scale amount amounts value values figures rounded nearest
		denominated expressed shown show display is use flag paid 建て 建 決済 支払 表示 表記 通貨 換算 金額 税込み 税込 税抜き 税抜 税別 額 の で は
		四捨五入 切捨て 切り捨て 切上げ 切り上げ 未満`
	units = `unit units x × 単位 单位 單位 단위`
)

// A place is where a word stands: what means something else as often counts only where money is expected.
type place int

const (
	elsewhere place = iota
	ofFlag          // in the name of an argument that is answered with yes or no
	ofKind          // under a name such as kind
	ofMoney         // under a name that has to do with money
)

// A moneyWord is what a word or sign says of an amount.
type moneyWord struct {
	as    rune   // one of those below
	code  string // of a currency, or a number
	from  place  // where it counts alone; beside another word it counts anywhere
	head  bool   // a currency even behind what isn't known
	glued bool   // nothing stands between it and the word before
}

const (
	asName, asFamily, asAdjective, asScale, asNothing, asUnit, asNumber, asUnknown = 'n', 'f', 'a', 's', '-', 'u', '0', '?'
)

// vocabulary has all words by how they are written: codes in capitals, else small letters.
var vocabulary = sync.OnceValue(func() map[string]moneyWord {
	all := map[string]moneyWord{}
	for _, code := range strings.Fields(iso) {
		all[code] = moneyWord{as: asName, code: code, from: ofFlag}
		all[strings.ToLower(code)] = moneyWord{as: asName, code: code, from: ofMoney}
	}
	for _, code := range strings.Fields(alsoWords) {
		all[code] = moneyWord{as: asName, code: code, from: ofMoney}
	}
	for _, code := range strings.Fields(everyday) {
		is := moneyWord{as: asName, code: code}
		if code == "RMB" || code == "CNH" {
			is.code = "CNY"
		}
		all[code], all[strings.ToLower(code)] = is, is
	}
	for as, text := range map[rune]string{asName: names, asFamily: families, asAdjective: adjectives, asScale: scales} {
		list := strings.Fields(text)
		for i := 0; i+1 < len(list); i += 2 {
			code, often := strings.CutSuffix(list[i+1], "*")
			is := moneyWord{as: as, code: code}
			switch {
			case often && as == asScale:
				is.from = ofMoney
			case often:
				is.from = ofKind
			}
			r, _ := utf8.DecodeRuneInString(list[i])
			is.head = !often && (syllabic(r) && as != asAdjective && as != asScale || as == asFamily && unicode.IsLetter(r))
			all[list[i]] = is
		}
	}
	for _, word := range strings.Fields(endings) {
		is := all[word]
		is.head = false
		all[word] = is
	}
	for as, text := range map[rune]string{asNothing: besides, asUnit: units} {
		for _, word := range strings.Fields(text) {
			all[word] = moneyWord{as: as}
		}
	}
	return all
})

// moneyWords returns the words of a text, in runs between which something else stands, and whether nothing does.
func moneyWords(text string) (runs [][]moneyWord, only bool) {
	all := wordsOfMoney(legible.Narrow(text))
	multiples(all)
	only, runs = true, [][]moneyWord{nil}
	for i, w := range all {
		if w.as == asUnknown && i+1 < len(all) && all[i+1].head {
			w = moneyWord{as: asName, code: "外"} // Colombian pesos
		}
		if w.as == asUnknown || w.as == asNumber {
			only, runs = false, append(runs, nil)
			continue
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], w)
	}
	return runs, only
}

// round is a number that multiplies: thousands, or ten or a hundred of them.
var round = language.Regexp{Text: `^(10{0,2},?)?000(,?000)*$`}

// multiples makes scales of round numbers beside a unit, such as 1,000円単位, and of zeros alone, such as ¥000. Behind
// another number a scale belongs to that: 10万円.
func multiples(all []moneyWord) {
	unit := false
	for i, w := range all {
		if w.as == asAdjective && w.code == "SGD" && w.glued && all[i-1].as == asNumber {
			all[i].as = asUnit // 1000s
		}
		unit = unit || all[i].as == asUnit
	}
	for i, w := range all {
		switch {
		case w.as == asNumber && (unit || w.code[0] == '0') && round.Get().MatchString(w.code):
			all[i].as, all[i].from = asScale, ofMoney
		case w.as == asNumber && unit && (w.code == "1" || i+1 < len(all) && all[i+1].as == asScale && all[i+1].glued):
			all[i].as = asNothing // 10億円単位
		case w.as == asScale && !unit && i > 0 && all[i-1].as == asNumber:
			all[i] = all[i-1]
		}
	}
}

// wordsOfMoney reads a text word by word.
func wordsOfMoney(text string) (all []moneyWord) {
	glued, before := false, ' '
	add := func(words ...moneyWord) {
		for _, w := range words {
			w.glued, glued = glued, true
			all = append(all, w)
		}
	}
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		word := text[:size]
		switch {
		case cased(r):
			word = casedWord(text)
			add(oneWord(word)...)
		case syllabic(r):
			word = text[:len(text)-len(strings.TrimLeftFunc(text, syllabic))]
			add(compound(word)...)
		case r >= '0' && r <= '9':
			word = text[:len(text)-len(strings.TrimLeft(text, "0123456789,."))]
			word = strings.TrimRight(word, ",.")
			add(moneyWord{as: asNumber, code: word})
		case unicode.IsLetter(r):
			word = cmp.Or(longest(text), word)
			add(oneWord(word)...)
		default:
			is, found := vocabulary()[word]
			switch {
			case found:
				add(is)
			case unicode.Is(unicode.Sc, r):
				add(moneyWord{as: asName, code: word})
			default: // in Korean a blank stands before the unit: 만 원
				glued = glued && r == ' ' && syllabic(before)
			}
		}
		before, _ = utf8.DecodeLastRuneInString(word)
		text = text[len(word):]
	}
	return all
}

// cased reports whether a letter is of a script with capitals and blanks, syllabic whether it is of one whose words are
// written together.
func cased(r rune) bool    { return unicode.In(r, unicode.Latin, unicode.Cyrillic) }
func syllabic(r rune) bool { return r == 'ー' || unicode.In(r, unicode.Katakana, unicode.Hangul) }

// casedWord returns the word with which a text begins: a capital behind a small letter ends it.
func casedWord(text string) string {
	lower := false
	for i, r := range text {
		if !cased(r) || lower && unicode.IsUpper(r) {
			return text[:i]
		}
		lower = unicode.IsLower(r)
	}
	return text
}

// oneWord returns what a word says: one thing, or a scale with its currency, such as TEUR and USDm.
func oneWord(word string) []moneyWord {
	find := func(word string) (moneyWord, bool) {
		is, found := vocabulary()[word]
		if !found {
			is, found = vocabulary()[strings.ToLower(word)]
		}
		return is, found
	}
	if is, found := find(word); found {
		return []moneyWord{is}
	}
	for n := 1; n <= 3 && n < len(word); n++ {
		for _, cut := range [][2]string{{word[:n], word[n:]}, {word[len(word)-n:], word[:len(word)-n]}} {
			scale, is := find(cut[0])
			currency, known := find(cut[1])
			if is && known && scale.as == asScale && currency.from == elsewhere &&
				(currency.as == asName || currency.as == asFamily) {
				return []moneyWord{scale, currency}
			}
		}
	}
	return []moneyWord{{as: asUnknown}}
}

// compound returns the words that are written together, if all are known or if the last one is a currency.
func compound(text string) (all []moneyWord) {
	for rest := text; rest != ""; {
		word := longest(rest)
		if word == "" {
			all = nil
			break
		}
		all = append(all, vocabulary()[word])
		rest = rest[len(word):]
	}
	if all != nil {
		return all
	}
	for i, r := range text {
		if len(text)-i > longestWord*utf8.RuneLen(r) {
			continue
		}
		if is := vocabulary()[text[i:]]; is.head {
			return []moneyWord{{as: asUnknown}, is}
		}
	}
	return []moneyWord{{as: asUnknown}}
}

// longestWord bounds the words that are looked for in texts without blanks, in characters.
const longestWord = 8

// longest returns the longest known word with which a text begins, or "".
func longest(text string) (word string) {
	n := 0
	for i, r := range text {
		if n++; n > longestWord || !unicode.IsLetter(r) {
			break
		}
		if end := i + utf8.RuneLen(r); vocabulary()[text[:end]].as != 0 {
			word = text[:end]
		}
	}
	return word
}

// meaning reports whether words of money say a scale, and whether they say another currency than this one. Words that
// mean something else as often count only at some places, or beside others.
func meaning(currency string, all []moneyWord, at place) (scaled, foreign bool) {
	counts, adjective, family := false, "", ""
	for i, w := range all {
		is := w.as == asScale || w.as == asName || w.as == asFamily
		counts = counts || is && (w.from <= at || i > 0 && w.glued && pair(all[i-1], w))
		switch w.as {
		case asAdjective:
			if adjective == "" || w.code != currency {
				adjective = w.code
			}
		case asScale:
			scaled = true
		case asName:
			foreign = foreign || w.code != currency
		case asFamily:
			if family == "" || w.code != currency {
				family = w.code
			}
		}
	}
	if family != "" && adjective != "" {
		family = adjective
	}
	return counts && scaled, counts && (foreign || family != "" && family != currency)
}

// pair reports whether two words that are written together mean money together: 천원, 仟元, トルコリラ; not M000.
func pair(a, b moneyWord) bool {
	money := b.as == asName || b.as == asFamily
	return a.as == asAdjective && money || (a.as == asScale || a.as == asName || a.as == asFamily) &&
		(money || b.as == asScale && b.code == "×") && !(a.as == asScale && a.code != "×")
}
