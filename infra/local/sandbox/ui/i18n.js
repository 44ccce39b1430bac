// The page's own words in Japanese and English. What the app writes is not here.

const words = {
  ja: {
    skip: "メッセージ入力欄へ", channels: "チャンネル", dms: "ダイレクトメッセージ", actAs: "この人として操作", you: "操作中", app: "アプリ", guest: "ゲスト", external: "社外",
    menu: "メニュー", close: "閉じる", run: "実行", runPanel: "実行の様子を表示", members: "{n} 人のメンバー", unread: "未読", language: "表示言語",
    homeTab: "ホーム", console: "稟議コンソール", messagesTab: "メッセージ", shortcuts: "アプリのショートカット", homeEmpty: "ホームを読み込んでいます…",
    messageTo: "{name} へのメッセージ", replyTo: "返信する…", replyHere: "スレッドに返信", send: "送信", mention: "@Ringi にメンション",
    hint: "<b>@Ringi</b> を付けると Ringi に届きます", hintDM: "ここに書くとそのまま Ringi に届きます", keys: "Enter で送信 · Shift+Enter で改行",
    replies: "{n} 件の返信", hide: "返信をたたむ", today: "今日", yesterday: "昨日", edited: "(編集済み)", deleted: "このメッセージは削除されました",
    onlyYou: "あなただけに表示されています", dismiss: "消す", more: "その他の操作", showRun: "実行の様子を見る", copyLink: "リンクをコピー", copied: "リンクをコピーしました",
    timeout: "アプリが 3 秒以内に応答しませんでした", failed: "アプリの応答がエラーでした", noConnection: "アプリにつながりませんでした", noButton: "このボタンは、もうありません。カードが変わっています。", retrying: "再送します ({n}/3)", gaveUp: "再送を終えました", trouble: "うまくいきませんでした。もう一度お試しください。",
    emptyTitle: "Ringi に頼んでみましょう", emptyText: "メッセージがタスクになり、方針と手順に承認のはんこが押されてから、作業が始まります。まずはひとつ選ぶか、@Ringi に続けて書いてください。",
    emptyDM: "頼みたい業務を、ふだんの言葉で書いてください。", emptyQuiet: "まだメッセージはありません。",
    s1: "勤怠集計", s1m: "今月の勤怠をまとめて", s2: "残業確認", s2m: "先月の残業時間を確認して", s3: "従業員一覧", s3m: "従業員一覧を取得して",
    processing: "Ringi が作業しています…", stop: "停止", suspended: "承認を待っています", required: "この項目は必須です", tooShort: "{n} 文字以上で入力してください", tooLong: "{n} 文字以内で入力してください", choose: "選択してください", optional: "任意", submit: "送信",
    gone: "サンドボックスにつながりません。", goneText: "起動したターミナルで動いているか確かめてください。止まっていたら go run ./infra/local でもう一度起動します。自動でも再接続しています。", goneRetry: "再接続する", anew: "{t} に起動し直されたため、それより前のメッセージと依頼は残っていません。設定も初期状態に戻っています。",
    draft: "下書き", news: "新しいメッセージ {n} 件", toEnd: "最新のメッセージへ", searchIn: "{name} を検索", found: "{n} 件見つかりました", foldAll: "すべてたたむ", openAll: "すべて開く",
    waits: "あなた待ち", noWaits: "あなたを待っているものはありません", noWaitsText: "承認できる方針やステップ、やり直せる依頼がここに古い順で並びます。", waitsText: "あなたの操作を待っているものです。古い順に並びます。押すとその場所へ移ります。j と k で移動、Enter で開き、a で承認、r で却下のボタンに移ります。", writes: "書き込み: {what}", unplanned: "未定", due: "期限: {when}",
    discardTitle: "入力した内容を破棄しますか?", discardText: "閉じると、入力した内容は失われます。", discardYes: "破棄して閉じる", discardNo: "入力に戻る",
    panels: "実行・配信・あなた待ち", newestTask: "いちばん新しいタスク", whichTask: "表示するタスク", usage: "AI モデル: {calls} 回 · {n} トークン · {cost}", usageTokens: "入力 {in} (うちキャッシュ {cached})、出力 {out}", unpriced: "料金が分からない呼び出しが {n} 回あります", payloads: "入力と出力", input: "入力", output: "出力",
    whole: "行のすべて", sentPrompt: "送ったプロンプト", object: "保存された内容", see: "{what}を見る", loading: "読み込み中…", payload: "送った内容", answer: "アプリの応答", emptyAnswer: "(空)",
    attach: "ファイルを添付", fileOff: "{name} を外す", download: "{name} をダウンロード", filesMany: "1 つのメッセージに添付できるファイルは {n} 個までです", fileEmpty: "{name} は空のため添付できません", fileUnread: "{name} を読み取れません。フォルダは添付できません", filesLarge: "{name} を添付できません。ファイルは合わせて {n} MB までです",
    notSent: "送信できませんでした: {e}",
    tabRun: "実行", tabDeliveries: "配信", noRun: "まだ実行はありません", noRunText: "Ringi に頼むと、通過した状態・待っている承認・書き込まれた行がここに並びます。", task: "タスク", states: "状態", rows: "書き込まれた行", waitingFor: "承認待ち", waitingForContest: "コンテストの結果待ち", since: "{t} から", executions: "実行 {n}",
    noDeliveries: "まだ配信はありません", deliveriesText: "アプリへ送られたイベントと操作。署名付きで、応答の期限は 3 秒です。", retry: "再送 {n}",
    setTools: "ツールを失敗させる", setToolsText: "オンの間、そのツールの呼び出しはエラーになります。", setSlack: "Slack の不調", setSlackText: "すぐに効きます。現実の Slack で起きることを再現します。",
    tgTwice: "イベントを 2 回届ける", tgLate: "イベントを遅れて届ける(秒)", tgDrop: "アプリの応答を捨てる", tgRate: "書き込みに 429 を返す", tgLose: "書き込みの応答を失う", tgPace: "Slack の速度制限を守らせる",
    tgTwiceText: "同じ event_id が同時に届きます", tgDropText: "タイムアウトとみなし、イベントは再送します", tgRateText: "Retry-After: 1 · 何も書かれません", tgLoseText: "書かれますが、接続が切れます", tgPaceText: "投稿は 1 チャンネル毎秒約 1 件", active: "Slack の不調: オン",
    rowRequest: "依頼", rowAnswer: "返答", rowChoice: "却下理由か新しい依頼か", rowSaid: "「{text}」", rowTask: "タスク", rowPrompt: "実行方針 v{n}", rowProcess: "実行ステップ v{n}", rowGate: "ステップ {n} の確認", rowStep: "ステップ {n}", rowAttempt: "実行 {n} 回目", rowExecution: "実行", rowCard: "カード: {of}", rowWait: "待機中の実行", rowHead: "いまの状態", rowSession: "会話", rowMessage: "メッセージ", rowInbox: "まだ答えていないメッセージ", rowAction: "操作 {n}", rowHandover: "稟議への引き継ぎ", rowTyped: "入力された提案", rowOffered: "引き継ぎの提案 {n}", rowContest: "コンテスト", rowSummary: "コンテストの結果", rowTeam: "チーム", rowRound: "ラウンド {n}", rowBoard: "順位表 ラウンド {n}", rowStream: "書きかけの返答", rowAuto: "システム", rowRevision: "変更 {n} 回 · 実行 {run}", rowWaitFor: "{of} が決まりしだい再開", rowUsage: "AI モデルの使用量", rowTokens: "{n} トークン", rowLease: "担当: {of}", rowLeaseUntil: "{at} まで",
    rowsText: "DynamoDB の 1 テーブルにある、このタスクの行です。押すと属性が見えます。",
    setTitle: "設定と障害", setText: "わざと失敗させて確かめます。Ringi の設定はコンソールで変えます。", setConsole: "Ringi の設定", setConsoleText: "承認・上限・ツールの決まりは、コンソールで管理者が変えます。最初の管理者は{name}さんです。", setConsoleOpen: "コンソールの設定を開く", cardsKeep: "カードの言語は変わりません。「設定と障害」で変えられます。", setCards: "カードの言語", setCardsText: "カードは全員が同じものを読みます。ここで選ぶと、すぐに切り替わります。ホーム、フォーム、本人だけに表示されるメッセージは、このページの言語です。",
  },
  en: {
    skip: "Skip to the message box", channels: "Channels", dms: "Direct messages", actAs: "Act as", you: "you", app: "APP", guest: "Guest", external: "External",
    menu: "Menu", close: "Close", run: "Run", runPanel: "Show the run", members: "{n} members", unread: "unread", language: "Language",
    homeTab: "Home", console: "Ringi console", messagesTab: "Messages", shortcuts: "Shortcuts of apps", homeEmpty: "Loading the Home tab…",
    messageTo: "Message {name}", replyTo: "Reply…", replyHere: "Reply in thread", send: "Send", mention: "Mention @Ringi",
    hint: "Ringi hears messages that mention <b>@Ringi</b>", hintDM: "Ringi hears everything you write here", keys: "Enter to send · Shift+Enter for a new line",
    replies: "{n} replies", hide: "Hide replies", today: "Today", yesterday: "Yesterday", edited: "(edited)", deleted: "This message was deleted",
    onlyYou: "Only visible to you", dismiss: "Dismiss", more: "More actions", showRun: "Show the run", copyLink: "Copy link", copied: "Link copied",
    timeout: "The app did not answer within 3 seconds", failed: "The app answered with an error", noConnection: "The app could not be reached", noButton: "This button is not there any more: the card has changed.", retrying: "sending again ({n}/3)", gaveUp: "not sent again", trouble: "That did not work. Please try again.",
    emptyTitle: "Ask Ringi for something", emptyText: "A message becomes a task; once its policy and its steps carry a stamp of approval, the work begins. Pick one, or write after @Ringi.",
    emptyDM: "Write what you need done, in plain words.", emptyQuiet: "No messages yet.",
    s1: "Attendance", s1m: "Summarize this month's attendance", s2: "Overtime", s2m: "Check last month's overtime hours", s3: "Employees", s3m: "Get the list of employees",
    processing: "Ringi is working…", stop: "Stop", suspended: "Waiting for an approval", required: "This field is required", tooShort: "At least {n} characters", tooLong: "At most {n} characters", choose: "Choose", optional: "optional", submit: "Submit",
    gone: "The sandbox can't be reached.", goneText: "See whether it still runs in its terminal; if not, start it again with go run ./infra/local. This page also tries by itself.", goneRetry: "Connect again", anew: "Everything from before {t} is gone: the stack was started anew. Messages, requests and settings begin again.",
    draft: "Draft", news: "{n} new messages", toEnd: "To the newest message", searchIn: "Search {name}", found: "{n} found", foldAll: "Fold all", openAll: "Open all",
    waits: "Waiting for you", noWaits: "Nothing waits for you", noWaitsText: "Policies and steps that you may approve, and requests that you can try again, stand here, the oldest first.", waitsText: "What waits for you, the oldest first. Press one to go there. Keys: j and k move, Enter opens, a goes to Approve, r to Reject.", writes: "Writes: {what}", unplanned: "not planned yet", due: "Due {when}",
    discardTitle: "Discard what you typed?", discardText: "It is lost when this closes.", discardYes: "Discard and close", discardNo: "Keep typing",
    panels: "Run, deliveries, what waits for you", newestTask: "The newest task", whichTask: "Task shown", usage: "Models: {calls} calls · {n} tokens · {cost}", usageTokens: "{in} in (of them {cached} cached), {out} out", unpriced: "The price of {n} calls is not known", payloads: "Input and output", input: "Input", output: "Output",
    whole: "the whole row", sentPrompt: "the prompt as sent", object: "what is kept", see: "Show {what}", loading: "Loading…", payload: "what was sent", answer: "the app's answer", emptyAnswer: "(empty)",
    attach: "Attach files", fileOff: "Remove {name}", download: "Download {name}", filesMany: "A message can have up to {n} files", fileEmpty: "{name} is empty and can't be attached", fileUnread: "{name} can't be read. A folder can't be attached", filesLarge: "{name} can't be attached: files have up to {n} MB together",
    notSent: "Not sent: {e}",
    tabRun: "Run", tabDeliveries: "Deliveries", noRun: "No run yet", noRunText: "Ask Ringi for something: the states passed, the approval it waits for and the rows written show up here.", task: "Task", states: "States", rows: "Rows written", waitingFor: "Waiting for approval", waitingForContest: "Waiting for the contest", since: "since {t}", executions: "Run {n}",
    noDeliveries: "No deliveries yet", deliveriesText: "Events and interactions sent to the app: signed, with three seconds to answer.", retry: "retry {n}",
    setTools: "Make a tool fail", setToolsText: "While on, calls of that tool end in an error.", setSlack: "Slack's bad days", setSlackText: "Takes effect at once: what happens with the real Slack, on demand.",
    tgTwice: "Deliver every event twice", tgLate: "Deliver events late (seconds)", tgDrop: "Drop the app's answers", tgRate: "Answer writes with 429", tgLose: "Lose the answer to writes", tgPace: "Enforce Slack's rate limits",
    tgTwiceText: "The same event_id arrives twice at once", tgDropText: "Counts as a timeout; events are sent again", tgRateText: "Retry-After: 1, nothing is written", tgLoseText: "Written, but the connection drops", tgPaceText: "Posts: about one a second and channel", active: "Slack has a bad day",
    rowRequest: "Request", rowAnswer: "Answer", rowChoice: "A reason or a request?", rowSaid: "“{text}”", rowTask: "Task", rowPrompt: "Policy v{n}", rowProcess: "Steps v{n}", rowGate: "Check of step {n}", rowStep: "Step {n}", rowAttempt: "Execution, attempt {n}", rowExecution: "Execution", rowCard: "Card: {of}", rowWait: "Waiting run", rowHead: "How it stands", rowSession: "Conversation", rowMessage: "message", rowInbox: "Message not answered yet", rowAction: "Action {n}", rowHandover: "Handed over as a request", rowTyped: "Proposal as typed", rowOffered: "Offered hand-over {n}", rowContest: "Contest", rowSummary: "Outcome of the contest", rowTeam: "Team", rowRound: "Round {n}", rowBoard: "Leader board, round {n}", rowStream: "Answer being written", rowAuto: "the system", rowRevision: "{n} changes · run {run}", rowWaitFor: "goes on when {of} is settled", rowUsage: "Model usage", rowTokens: "{n} tokens", rowLease: "Lease: {of}", rowLeaseUntil: "until {at}",
    rowsText: "This task's rows in the one DynamoDB table. Press one to see its attributes.",
    setTitle: "Settings & faults", setText: "Make things fail on purpose. Ringi's settings are changed in the console.", setConsole: "Ringi's settings", setConsoleText: "An administrator changes approval, limits and rules for tools in the console. The first administrator is {name}.", setConsoleOpen: "Open the console's settings", cardsKeep: "Cards keep their language. Change it under Settings & faults.", setCards: "Language of cards", setCardsText: "Everybody reads the same cards, and they switch as soon as you choose. Home, dialogs and messages only you can see follow this page's language.",
  },
};

// What each state of the pipeline does, for people who don't read state machines.
const stateWords = {
  ja: { ResumeTask: "行を読み、次を決める", Route: "分岐", ExtractTask: "依頼をタスクにする", DraftPrompt: "実行方針を書く", AwaitContest: "コンテストを待つ", AwaitPromptApproval: "実行方針の承認を待つ", PlanProcess: "実行ステップを立てる", AwaitProcessApproval: "実行ステップの承認を待つ", ExecuteProcess: "ステップを実行する", AwaitStepApproval: "実行前の確認を待つ", Pause: "少し待つ", CloseTask: "失敗を片付ける", Finish: "完了", Fail: "失敗", TaskFailed: "失敗" },
  en: { ResumeTask: "reads the rows", Route: "decides where to go", ExtractTask: "turns the request into a task", DraftPrompt: "writes the policy", AwaitContest: "waits for the contest", AwaitPromptApproval: "waits for the policy's approval", PlanProcess: "plans the steps", AwaitProcessApproval: "waits for the steps' approval", ExecuteProcess: "executes the steps", AwaitStepApproval: "waits for a check before a step", Pause: "waits a moment", CloseTask: "cleans up after a failure", Finish: "done", Fail: "failed", TaskFailed: "failed" },
};

// How a row or a run stands.
const statusWords = {
  ja: { extracted: "承認中", running: "実行中", completed: "完了", failed: "失敗", cancelled: "キャンセル", generating: "生成中", pending_approval: "承認待ち", approved: "承認済み", rejected: "却下", expired: "期限切れ", pending: "開始待ち", unknown: "結果不明", parked: "再試行待ち", none: "未投稿", posting: "投稿中", posted: "表示中", unreachable: "表示できません", succeeded: "終了", timed_out: "時間切れ", aborted: "停止", answered: "返答済み", refused: "受け付けず", superseded: "別の実行に交代", asked: "選択待ち", waiting: "承認待ち", open: "会話中", executing: "実行中", closed: "終了", error: "応答なし", ended: "終了" },
  en: { extracted: "in approval", running: "running", completed: "completed", failed: "failed", cancelled: "cancelled", generating: "being written", pending_approval: "awaits approval", approved: "approved", rejected: "rejected", expired: "expired", pending: "about to start", unknown: "outcome unknown", parked: "awaits a retry", none: "not posted", posting: "being posted", posted: "shown", unreachable: "can't be shown", succeeded: "finished", timed_out: "timed out", aborted: "stopped", answered: "answered", refused: "refused", superseded: "another run took over", asked: "awaits a choice", waiting: "awaits approval", open: "open", executing: "running", closed: "closed", error: "no answer", ended: "ended" },
};

// preferred is the first of the browser's languages that the page has; whoever reads neither rather reads English.
const preferred = () => navigator.languages.map((l) => l.slice(0, 2)).find((l) => words[l]) || "en";

let lang = localStorage.getItem("lang") || preferred();
document.documentElement.lang = lang;

/** language is the page's language, "ja" or "en". */
export const language = () => lang;

export function setLanguage(next) {
  lang = next;
  localStorage.setItem("lang", next);
  document.documentElement.lang = next;
}

/** t is a word or sentence, {name} replaced from values. */
export function t(key, values = {}) {
  const text = words[lang][key];
  if (text === undefined) throw new Error(`no word for ${key} in ${lang}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export const describeState = (name) => stateWords[lang][name] || "";

/** statusWord is a status in words; one that has none stays as it is. */
export const statusWord = (status) => statusWords[lang][status.toLowerCase()] || status;

/** dollars are millionths of a US dollar as money: two digits behind the point, or as many as there are. */
export const dollars = (millionths) => `$${(millionths / 1e6).toFixed(6).replace(/0{1,4}$/, "")}`;

/** sizeText is a file's size. */
export const sizeText = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);

const locale = () => (lang === "ja" ? "ja-JP" : "en-US");

export const clockTime = (ms, seconds) =>
  new Intl.DateTimeFormat(locale(), seconds ? { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } : { hour: lang === "ja" ? "2-digit" : "numeric", minute: "2-digit" }).format(ms);

export function dayName(ms) {
  const day = new Date(ms).toDateString();
  if (day === new Date().toDateString()) return t("today");
  if (day === new Date(Date.now() - 864e5).toDateString()) return t("yesterday");
  return new Intl.DateTimeFormat(locale(), { month: "long", day: "numeric", weekday: "long" }).format(ms);
}

/** slackDate fills the tokens of <!date^…>, like {date_short} {time}. */
export function slackDate(seconds, format) {
  const at = new Date(seconds * 1000);
  const date = (o) => new Intl.DateTimeFormat(locale(), o).format(at);
  const near = at.toDateString() === new Date().toDateString();
  const long = { year: "numeric", month: "long", day: "numeric" };
  const short = { year: "numeric", month: "short", day: "numeric" };
  const tokens = {
    date_num: () => date({ year: "numeric", month: "2-digit", day: "2-digit" }).replaceAll("/", "-"),
    date: () => date(long), date_short: () => date(short), date_long: () => date({ ...long, weekday: "long" }),
    date_pretty: () => (near ? t("today") : date(long)), date_short_pretty: () => (near ? t("today") : date(short)),
    date_long_pretty: () => (near ? t("today") : date({ ...long, weekday: "long" })),
    time: () => clockTime(at), time_secs: () => clockTime(at, true),
    ago: () => {
      const minutes = Math.round((Date.now() - at) / 60000);
      return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-minutes, "minute");
    },
  };
  return format.replace(/\{(\w+)\}/g, (whole, name) => (tokens[name] ? tokens[name]() : whole));
}
