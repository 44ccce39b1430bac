package main

import "ringi/shared/words/language"

// contestBeginTexts are the texts of the form that begins a contest.
type contestBeginTexts struct {
	Title, About, Back, Begin, BeginAbout                                   string
	Prompt, PromptHint, File, FileText, FileHint                            string
	MaxRounds, RoundsHint, Budget, BudgetHint, BudgetMost, Seconds, SecHint string
	NotSet, NoFiles, MoreFiles, Unusable, UnusableAbout                     string
	Blank, Long, BadRounds, BadSeconds, BadBudget, BadFile                  string
	NoBudget, OverBudget, NotNow, Wrong                                     string
}

var contestBeginWords = language.InEach(
	contestBeginTexts{
		Title: "新しいコンテスト", About: "複数の AI チームが、同じ依頼の文に案を出して競います。結果は記録に残るだけで、何も実行しません。", Back: "コンテストの履歴に戻る", Begin: "コンテストを始める", BeginAbout: "おおむね予算まで、費用がかかります (予算に達した時に進んでいる呼び出しの分は、超えることがあります)。始めた後は、そのページで中止できます。",
		Prompt: "依頼の文", PromptHint: "チームに伝わるのは、この文だけです。", File: "コンテストのファイル", FileText: "%s (%d チーム、%d ラウンドまで)", FileHint: "チームと採点のしかたを書いたファイルです。",
		MaxRounds: "ラウンド数の上限", RoundsHint: "1〜10。ファイルの回数のほうが少なければ、そちらになります。", Budget: "予算(米ドル)", BudgetHint: "チームの数で等分します。終わるまで、今日の費用に全額を数え、使わなかった分はその後に戻します。", BudgetMost: "今は %s ドルまでです。", Seconds: "制限時間(秒)", SecHint: "10〜3600。ファイルに書かれた 1 チームの持ち時間のほうが短ければ、そちらになります。",
		NotSet: "コンテストのファイルが置かれていないため、始められません。Ringi を設置した人に、ファイルの場所を設定してもらってください。", NoFiles: "使えるコンテストのファイルがありません。", MoreFiles: "ファイルが多いため、すべては調べていません。",
		Unusable: "使えないファイル", UnusableAbout: "次のファイルは、直すまで選べません。",
		Blank: "依頼の文を入力してください。", Long: "依頼の文は 64 KB までです。", BadRounds: "1〜10 の整数を入力してください。", BadSeconds: "10〜3600 の整数を入力してください。", BadBudget: "0.01 以上、%s ドルまでの金額を入力してください。", BadFile: "使えるファイルを選んでください。",
		NoBudget: "今日または今月の予算を使い切っているため、始められません。", OverBudget: "今日または今月の予算の残りを超えています。ほかに進行中のコンテストがあれば、終わったときに、使わなかった分が戻ります。", NotNow: "今はファイルを読めないか、始められたか確かめられません。少し待ってから、もう一度押してください。同じ内容のコンテストが 2 つ始まることはありません。", Wrong: "入力を確かめてください。",
	},
	contestBeginTexts{
		Title: "New contest", About: "Several teams of AI agents compete to answer the same text. What they come to is kept; nothing is carried out.", Back: "Back to the history", Begin: "Begin the contest", BeginAbout: "It costs up to about the budget (calls under way when it is reached come on top). Once begun, it can be cancelled on its page.",
		Prompt: "What is asked", PromptHint: "The teams are told this text and nothing else.", File: "The contest’s file", FileText: "%s (%d teams, up to %d rounds)", FileHint: "It says who takes part, and how drafts are scored.",
		MaxRounds: "Rounds at most", RoundsHint: "1 to 10. Fewer if the file says so.", Budget: "Budget (US dollars)", BudgetHint: "Shared equally by the teams. All of it counts as spent today until the contest ends; what wasn’t spent is given back then.", BudgetMost: "At most $%s for now.", Seconds: "Time (seconds)", SecHint: "10 to 3600. Less if the file gives each team less.",
		NotSet: "No contest can begin, since there are no files of contests. Ask whoever set Ringi up to say where they are.", NoFiles: "There is no file of a contest that can be used.", MoreFiles: "There are many files; not all were looked at.",
		Unusable: "Files that can’t be used", UnusableAbout: "These files can’t be chosen until they are mended.",
		Blank: "Write what is asked.", Long: "It must be at most 64 KB.", BadRounds: "Enter a whole number from 1 to 10.", BadSeconds: "Enter a whole number from 10 to 3600.", BadBudget: "Enter an amount from 0.01 to %s dollars.", BadFile: "Choose a file that can be used.",
		NoBudget: "The budget of the day or the month is spent, so no contest can begin.", OverBudget: "This is more than the budget of the day or the month has left. When other contests under way end, what they didn’t spend comes back.", NotNow: "The files can’t be read, or it isn’t known whether the contest began. Wait a little and press again: the same contest won’t begin twice.", Wrong: "Please check what you entered.",
	},
)
