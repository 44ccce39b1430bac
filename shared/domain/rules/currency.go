package rules

import (
	"slices"
	"strings"
)

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
