package legible_test

import (
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// Radicals, as PDFs give them, are kanji; but for two, of which Unicode knows none.
func TestARadicalIsItsKanji(t *testing.T) {
	for r := '\u2e80'; r <= '\u2fd5'; r++ {
		if !unicode.Is(unicode.Radical, r) || r == '\u2e80' {
			continue
		}
		got := legible.Narrow(string(r))
		expect.That(t, unicode.Is(unicode.Unified_Ideograph, []rune(got)[0]), "%c is %s", r, got)
	}
	expect.Is(t, legible.Narrow("\u2ed1\u2ed8\u2ef3"), "長青龟")
}

func TestACutTextEndsWithAWholeWord(t *testing.T) {
	for _, x := range [][2]string{
		{"short", "short"}, {"Tell Alex and Kim that we meet", "Tell Alex and Kim…"},
		{"会議室を変えます。明日の十時です", "会議室を変えます。…"}, {"長い、ほんとうに区切りのない文です", "長い、ほんとうに区…"},
	} {
		most := 20
		if x[0][0] > 'z' {
			most = 10
		}
		got := legible.ClipWords(x[0], most)
		expect.Is(t, got, x[1], x[0])
	}
}

// A name with a kanji in place of a kana, or the other way round, is another name.
func TestKanaAndKanjiAreToldApart(t *testing.T) {
	for _, forged := range strings.Fields(`力ネコ商事 株式会社力ネコ へルス部 口ート製薬 二チイ 夕カラ 工ース データ一 サーバ一の更新 ゼ口 ア力ウント
		ア二メ オ一プン ハ一ト パ卜ロール 才ムロン ラジ才 コス卜 厶ラタ プログラ厶 人ロ 加エ エ場 ロ座 カ仕事 タ食 千ヨダ
		チ代田 ミ菱商事 ニ名 第ニ章 ー名 十ー月 曰本 曰経 東京ヘいく ヘや タ方 ト占 サ一ビス プロジェク卜 デー夕 モニ夕ー
		g` + "\u1040\u1040" + `gle.com c` + "\U000104ea" + `op ` + "\U00010300" + `CME 1` + "\u0b66\u0b66" + `0 l` +
		"\u0661" + ` o` + "\u0665" + ` ` + "\u15c5" + `cme pay` + "\u30fc" + `roll x` + "\u2571" + `y ac` +
		"\u0e41" + `me ac` + "\u0271" + `e`) {
		expect.That(t, strings.Contains(legible.OneLine(forged), "⟨U+"), "%s stands as it is", forged)
	}
}

// What people write every day stays as it is.
func TestEverydayWordsHaveNoNumbers(t *testing.T) {
	words := strings.Fields(`工場 一人 口座 力仕事 日本 人口 入口 出口 窓口 口コミ 口パク 力コブ 夕食 夕方 夕刊 二人 三人 八百屋 千円 千葉 天才
		三菱商事 三井物産 八千代 二子玉川 千代田 一覧 一式 一部 一括 一般 統一 第一 第二 第三者 二次会 三月 八月 千人 一千万 二段階
		カ月 三カ月 3カ月 三ヶ月 二ヵ所 カ所 五カ年計画 霞ヶ関 一ヶ月 八ヶ岳 三ツ矢サイダー ト書き ハ短調 ニ長調 メ切 〆切 日ロ関係 米ロ首脳
		日テレ 日ハム 日産ホーム 日立システムズ 口頭 口調 力士 力点 工事 工業 工具 加工 施工 人工知能 着工 大工 才能 多才 卜占
		データ一覧 サービス一式 リスト一括 チーム力強化 プレゼン力 コミュ力 マネジメント力向上 プレゼン力アップ エネルギー タイル工 ライン工
		ベスト八 トップ三 二メートル 三キロ 八ミリ 千ドル 二チーム 三ページ 一パック 二ケース 三ステップ 八コマ 二トントラック
		ニチイ タカラ エース カネコ商事 株式会社カネコ ロート製薬 ヘルス部 データー サーバー センター ナンバー コーヒー メーカー モニター
		ヘルプデスク ベネッセ ペット トイレへ 部へ提出 サーバーへアクセス 東京へ 本社へのお届け べき へん ぺら 会議室へ 部長へメール
		ハローワーク 生ハム 焼きハム 大トロ 中トロ 株式会社トヨタ トヨタ自動車 ニコン 日本ハム 東京ガス 関西エアポート 大阪メトロ 新エネ
		オムロン ミツカン チヨダ ムラタ製作所 村田製作所 オリックス ミズノ エーザイ ロッテ ロフト カルビー タニタ ニトリ ハウス食品 メルカリ
		在庫切れ 曰く 日曜 毎日 日経 日程 末日 白日 一日 二日 三日 八日 千日 年一回 週二日 月三回 第八回 十一月 二十日 三十一日
		営業一課 総務二課 開発三部 第二営業部 経理一グループ 八王子 三鷹 二宮 千歳 一宮 力石 夕張 工藤 口田 才川 三浦 八木 千田
		オフィス カレンダー タスク トラック ニュース ハードウェア チケット ミーティング ムービー メール エクセル ロゴ カード ワード
		PC部門 Web会議 IT推進室 SNS運用 A4用紙 USBメモリ Wi-Fi e-Tax 10月分 2台 No.3 v2 R&D α版 μm Ａ社 １０月 ①番 ㈱山田
		東京ー大阪 スーパー一号店 あーあ らーめん えー よーく ケーキ二個 リンゴ三個 ペン八本 カメラ二台 パソコン一台 ビール千本
		アクメに発注 佐藤さんへ 田中へ 株主へ お客様へ グローバル ローカル エコ タオル ペン立て 給与一覧 タブ一覧 タスク一覧 エラー一覧`)
	expect.That(t, len(words) > 200, "only %d words", len(words))
	for _, word := range words {
		expect.Is(t, legible.OneLine(word), word)
	}
}

// Beside another text only what that text has nowhere is marked.
func TestALineThatOnlyMovedIsNoDifference(t *testing.T) {
	got := legible.Beside("order\nask first\n\npay", "ask first\norder\norder")
	expect.Same(t, got, []legible.Line{{Text: "order"}, {Text: "ask first"}, {}, {Text: "pay", Alone: true}})
}
