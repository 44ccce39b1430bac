package rules

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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

// everyday are codes that mean a currency in small letters, too. Elsewhere these often are words, such as kgs.
const everyday = `JPY USD EUR GBP CNY RMB CNH KRW TWD NTD HKD SGD THB VND IDR PHP MYR INR AUD NZD CAD CHF SEK NOK
		DKK BRL MXN ZAR RUB AED SAR BTC USDT USDC`

// alsoWords are codes that arguments have for other reasons even in capitals.
const alsoWords = `ALL AMD ANG BAM BOB BSD BTN COP CRC CUP DOP ERN ETH GEL GIP KGS LAK MAD MOP NAD PEN RON SCR SDG
		SHP SOS SSP STD STN SVC TOP TRY XTS XXX`

// Names and signs with the code that they mean. A star marks those that mean something else as often: they count only
// in an argument whose name has to do with money. ¢ stands for small coins, 外 for any other currency.
const (
	// names are of one currency.
	names = `yen JPY yens JPY 円 JPY 日本円 JPY 円貨 JPY 日元 JPY 日圓 JPY 日圆 JPY 엔 JPY* euro EUR euros EUR € EUR ユーロ EUR 欧元 EUR
		歐元 EUR 유로 EUR sterling GBP 英镑 GBP 英鎊 GBP yuan CNY renminbi CNY 人民元 CNY 人民币 CNY 人民幣 CNY 위안 CNY won KRW* ₩ KRW ウォン
		KRW 韩元 KRW 韓元 KRW 원 KRW* 美元 USD 美金 USD 港币 HKD 港元 HKD 港幣 HKD 澳元 AUD 加元 CAD 台币 TWD 台幣 TWD 新台币 TWD 新台幣 TWD 台湾元 TWD
		baht THB ฿ THB バーツ THB rupiah IDR ルピア IDR ringgit MYR リンギット MYR dong VND* đồng VND ₫ VND ドン VND* ₱ PHP ₹ INR ruble
		RUB rubles RUB rouble RUB roubles RUB ₽ RUB ルーブル RUB руб RUB рублей RUB real BRL* reais BRL レアル BRL* lira TRY*
		liras TRY ₺ TRY リラ TRY* rand ZAR* ランド ZAR* zloty PLN zlotys PLN złoty PLN zł PLN ズロチ PLN ズウォティ PLN kč CZK koruna
		CZK コルナ CZK forint HUF フォリント HUF shekel ILS shekels ILS ₪ ILS シェケル ILS hryvnia UAH ₴ UAH dirham AED dirhams AED
		ディルハム AED riyal SAR riyals SAR リヤル SAR naira NGN bitcoin BTC bitcoins BTC ₿ BTC ビットコイン BTC ether ETH* イーサリアム ETH
		foreign 外* 外貨 外 外币 外 外幣 外 cent ¢* cents ¢ セント ¢ pence ¢ penny ¢* pennies ¢ sen ¢* 銭 ¢*`
	// families are of several currencies. The code is meant unless an adjective says another.
	families = `dollar USD dollars USD buck USD* bucks USD $ USD ドル USD 弗 USD* 달러 USD pound GBP* pounds GBP £ GBP ポンド
		GBP 파운드 GBP ¥ JPY 元 CNY* 圓 TWD* franc CHF francs CHF fr CHF* sfr CHF フラン CHF peso MXN pesos MXN ペソ MXN rupee INR
		rupees INR rs INR* ルピー INR krona SEK kronor SEK kr SEK* クローナ SEK krone DKK kroner DKK クローネ DKK dinar KWD dinars
		KWD ディナール KWD rp IDR* rm MYR*`
	// adjectives say which of a family.
	adjectives = `us USD u USD usa USD american USD states USD 米 USD 米国 USD アメリカ USD a AUD au AUD aus AUD australian
		AUD 豪 AUD 豪州 AUD オーストラリア AUD c CAD ca CAD can CAD canadian CAD 加 CAD カナダ CAD hk HKD hong HKD kong HKD 香港 HKD s SGD
		sg SGD singapore SGD シンガポール SGD nz NZD zealand NZD ニュージーランド NZD nt TWD tw TWD taiwan TWD 台湾 TWD 新台湾 TWD cn CNY
		chinese CNY china CNY 中国 CNY korean KRW korea KRW 韓国 KRW ch CHF swiss CHF スイス CHF uk GBP gb GBP british GBP 英 GBP
		英国 GBP イギリス GBP jp JPY japan JPY japanese JPY 日本 JPY mx MXN mexican MXN メキシコ MXN r BRL brazilian BRL ブラジル BRL
		indian INR インド INR thai THB タイ THB swedish SEK スウェーデン SEK norwegian NOK ノルウェー NOK danish DKK デンマーク DKK czech CZK
		チェコ CZK philippine PHP フィリピン PHP turkish TRY トルコ TRY russian RUB ロシア RUB vietnamese VND ベトナム VND indonesian IDR
		インドネシア IDR malaysian MYR マレーシア MYR south ZAR african ZAR 南アフリカ ZAR kuwaiti KWD クウェート KWD`
	// scales multiply: what is no currency here is one.
	scales = `thousand × thousands × million × millions × billion × billions × trillion × trillions × lakh × lakhs ×
		crore × crores × hundred ×* hundreds ×* k ×* m ×* b ×* mm ×* mn ×* mio ×* mil ×* mille ×* bn ×* tn ×* thou ×* 十 ×
		百 × 千 × 万 × 億 × 兆 × 萬 × 亿 × 천 ×* 만 ×* 억 ×* 백만 ×`
	// besides are words that change nothing.
	besides = `in of the and to per new united unit units currency scale amount amounts value values figures rounded
		nearest denominated expressed shown 単位 单位 單位 단위 建て 建 表示 表記 通貨 換算 金額 税込み 税込 税抜き 税抜 税別 額 の で は`
)

// A moneyWord is what a word or sign says of an amount.
type moneyWord struct {
	as   rune   // one of the first letters below
	code string // of a currency
	weak bool
}

const (
	asName, asFamily, asAdjective, asScale, asNothing = 'n', 'f', 'a', 's', '-'
)

// vocabulary has all words by how they are written: codes in capitals, else small letters.
var vocabulary = sync.OnceValue(func() map[string]moneyWord {
	all := map[string]moneyWord{}
	for _, code := range strings.Fields(iso) {
		all[code] = moneyWord{asName, code, false}
		all[strings.ToLower(code)] = moneyWord{asName, code, true}
	}
	for _, code := range strings.Fields(everyday) {
		all[strings.ToLower(code)] = moneyWord{asName, code, false}
	}
	for _, code := range strings.Fields(alsoWords) {
		all[code] = moneyWord{asName, code, true}
	}
	for _, same := range []string{"RMB", "CNH"} {
		all[same], all[strings.ToLower(same)] = moneyWord{asName, "CNY", false}, moneyWord{asName, "CNY", false}
	}
	for as, text := range map[rune]string{asName: names, asFamily: families, asAdjective: adjectives, asScale: scales} {
		list := strings.Fields(text)
		for i := 0; i+1 < len(list); i += 2 {
			code, weak := strings.CutSuffix(list[i+1], "*")
			all[list[i]] = moneyWord{as, code, weak}
		}
	}
	for _, word := range strings.Fields(besides) {
		all[word] = moneyWord{as: asNothing}
	}
	return all
})

// longestWord bounds the words that are looked for in texts without blanks, in characters.
const longestWord = 8

// moneyWords returns the words of a text, and false unless it is nothing but words of money.
func moneyWords(text string) (all []moneyWord, only bool) {
	known := vocabulary()
	rest := legible.Narrow(text)
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		word := rest[:size]
		switch {
		case unicode.Is(unicode.Latin, r):
			word = latin(rest)
		case unicode.IsDigit(r):
			if word = rest[:len(rest)-len(strings.TrimLeft(rest, "0"))]; len(word) < 3 {
				return nil, false
			}
			all = append(all, moneyWord{asScale, "", true}) // ¥000
			rest = rest[len(word):]
			continue
		case unicode.IsLetter(r):
			word = longest(known, rest)
		case unicode.Is(unicode.Sc, r):
			if _, is := known[word]; !is {
				all = append(all, moneyWord{asName, word, false})
			}
		default:
			rest = rest[size:]
			continue
		}
		is, found := known[word]
		if !found {
			is, found = known[strings.ToLower(word)]
		}
		if !found && !unicode.Is(unicode.Sc, r) {
			return nil, false
		}
		if found {
			all = append(all, is)
		}
		rest = rest[len(word):]
	}
	return all, true
}

// latin returns the word with which a text begins: a capital behind a small letter ends it.
func latin(text string) string {
	lower := false
	for i, r := range text {
		if !unicode.Is(unicode.Latin, r) || lower && unicode.IsUpper(r) {
			return text[:i]
		}
		lower = unicode.IsLower(r)
	}
	return text
}

// longest returns the longest known word with which a text begins, or its first character.
func longest(known map[string]moneyWord, text string) string {
	word, n := "", 0
	for i, r := range text {
		if n++; n > longestWord || !unicode.IsLetter(r) {
			break
		}
		if end := i + utf8.RuneLen(r); i == 0 {
			word = text[:end]
		} else if _, is := known[text[:end]]; is {
			word = text[:end]
		}
	}
	return word
}

// another reports whether words of money mean another currency than this one, or a scale. Words that mean something
// else as often count only beside others, or where they are expected.
func another(currency string, all []moneyWord, expected bool) bool {
	says, scaled, adjective, foreign, family := false, false, "", false, ""
	for _, w := range all {
		switch w.as {
		case asNothing:
			continue
		case asAdjective:
			if adjective == "" || w.code != currency {
				adjective = w.code
			}
			continue
		case asScale:
			scaled = true
		case asName:
			foreign = foreign || w.code != currency
		case asFamily:
			if family == "" || w.code != currency {
				family = w.code
			}
		}
		says = says || expected || !w.weak
	}
	if family != "" && adjective != "" {
		family = adjective
	}
	return says && (scaled || foreign || family != "" && family != currency)
}
