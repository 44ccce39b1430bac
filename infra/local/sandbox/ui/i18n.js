// The page's own words in Japanese and English. What the app writes is not here.

const words = {
  ja: {
    skip: "メッセージ入力欄へ", channels: "チャンネル", dms: "ダイレクトメッセージ", actAs: "この人として操作", you: "操作中", app: "アプリ", guest: "ゲスト",
      external: "社外",
    menu: "メニュー", close: "閉じる", run: "実行", runPanel: "実行の様子を表示", members: "{n} 人のメンバー", unread: "未読", language: "表示言語",
    homeTab: "ホーム", console: "稟議コンソール", messagesTab: "メッセージ", shortcuts: "アプリのショートカット", homeEmpty: "ホームを読み込んでいます…",
    messageTo: "{name} へのメッセージ", replyTo: "返信する…", replyHere: "スレッドに返信", send: "送信", mention: "@Ringi にメンション",
    hint: "<b>@Ringi</b> を付けると Ringi に届きます", hintDM: "ここに書くとそのまま Ringi に届きます", keys: "Enter で送信 · Shift+Enter で改行",
    reply: "1 件の返信", replies: "{n} 件の返信", hide: "返信をたたむ", today: "今日", yesterday: "昨日", edited: "(編集済み)",
      deleted: "このメッセージは削除されました",
    onlyYou: "あなただけに表示されています", dismiss: "非表示にする", more: "その他の操作", showRun: "実行の様子を表示", copyLink: "リンクをコピー",
      edit: "メッセージを編集", save: "変更を保存", cancel: "キャンセル", remove: "メッセージを削除", removeText: "このメッセージを削除しますか? 元に戻せません。",
      removeYes: "削除", forward: "転送", forwardTo: "転送先", forwardText: "メッセージを追加 (任意)", original: "元のメッセージ",
      copied: "リンクをコピーしました",
    timeout: "アプリが 3 秒以内に応答しませんでした", failed: "アプリがエラーを返しました", noConnection: "アプリに接続できませんでした",
      noButton: "カードが更新されたため、このボタンは使えません。", retrying: "再送中 ({n}/3)", gaveUp: "再送を終了",
      trouble: "エラーが発生しました。もう一度お試しください。",
    emptyTitle: "Ringi に依頼してみましょう", emptyText: "メッセージがタスクになり、実行方針と実行ステップが承認されると作業が始まります。例を選ぶか、@Ringi に続けて書いてください。",
    emptyDM: "依頼したい業務を、普段の言葉で書いてください。", emptyQuiet: "まだメッセージはありません。",
    s1: "勤怠集計", s1m: "今月の勤怠をまとめて", s2: "残業確認", s2m: "先月の残業時間を確認して", s3: "従業員一覧", s3m: "従業員一覧を取得して",
    processing: "Ringi が作業しています…", stop: "停止", suspended: "承認を待っています", required: "この項目は必須です",
      tooShort: "{n} 文字以上で入力してください", tooLong: "{n} 文字以内で入力してください", choose: "選択してください", optional: "任意", submit: "送信",
    gone: "サンドボックスに接続できません。",
      goneText: "起動したターミナルで動作しているか確認してください。停止している場合は go run ./infra/local で再起動します。このページは自動で再接続します。",
      goneRetry: "再接続する", anew: "{t} に再起動されました。それより前のメッセージと依頼はなく、設定も初期状態に戻っています。",
    draft: "下書き", news: "新しいメッセージ {n} 件", toEnd: "最新のメッセージへ",
      foldAll: "すべてたたむ", openAll: "すべて開く",
    waits: "あなたの対応待ち", instead: "{name}さんの代理", noWaits: "あなたの対応待ちのものはありません",
      noWaitsText: "承認できる実行方針や実行ステップ、再試行できる依頼が、古い順に並びます。",
      waitsText: "あなたの対応を待っているもの (古い順) です。選ぶとその場所に移動します。", writes: "すること: {what}",
      due: "期限: {when}",
    discardTitle: "入力した内容を破棄しますか?", discardText: "閉じると、入力した内容は失われます。", discardYes: "破棄して閉じる", discardNo: "入力に戻る",
    panels: "実行・配信・あなたの対応待ち", newestTask: "最新のタスク", whichTask: "表示するタスク",
      usage: "AI モデル: {calls} 回 · {n} トークン · {cost}", usageTokens: "入力 {in} (うちキャッシュ {cached})、出力 {out}",
      unpriced: "料金が不明な呼び出し: {n} 回", payloads: "入力と出力", input: "入力", output: "出力",
    whole: "行全体", sentPrompt: "送信したプロンプト", object: "保存された内容", see: "{what}を見る", loading: "読み込み中…", payload: "送信内容",
      answer: "アプリの応答", emptyAnswer: "(空)",
    attach: "ファイルを添付", fileOff: "{name} を外す", download: "{name} をダウンロード", filesMany: "1 つのメッセージに添付できるファイルは {n} 個までです",
      fileEmpty: "{name} は空のため添付できません", fileUnread: "{name} を読み取れません。フォルダーは添付できません",
      filesLarge: "{name} を添付できません。ファイルは合計 {n} MB までです",
    notSent: "送信できませんでした: {e}",
    tabRun: "実行", tabDeliveries: "配信", noRun: "まだ実行はありません", noRunText: "Ringi に依頼すると、通過した状態、承認待ち、書き込まれた行が表示されます。",
      task: "タスク", states: "状態", rows: "書き込まれた行", waitingFor: "承認待ち", waitingForContest: "コンテストの結果待ち", since: "{t} から",
      executions: "実行 {n}",
    noDeliveries: "まだ配信はありません", deliveriesText: "アプリに送信した、署名付きのイベントと操作です。応答の期限は 3 秒です。", retry: "再送 {n}",
    setTools: "ツールを失敗させる", setToolsText: "オンの間、そのツールの呼び出しはエラーになります。", setSlack: "Slack の障害",
      setSlackText: "すぐに反映されます。実際の Slack で起こる障害を再現します。",
    tgTwice: "イベントを 2 回届ける", tgLate: "イベントを遅らせて届ける (秒)", tgLoseEvents: "イベントを届けない", tgLoseEventsText: "再送もされません",
      tgDrop: "アプリの応答を捨てる", tgRate: "書き込みに 429 を返す", tgLose: "書き込みの応答を失う", tgPace: "Slack の速度制限を守らせる",
    tgTwiceText: "同じ event_id が同時に届きます", tgDropText: "タイムアウトとして扱い、イベントを再送します",
      tgRateText: "Retry-After: 1 · 何も書き込まれません", tgLoseText: "書き込まれますが、接続が切れます", tgPaceText: "投稿は 1 チャンネルあたり毎秒約 1 件",
      active: "Slack の障害: オン",
    rowRequest: "依頼", rowAnswer: "返答", rowChoice: "却下理由か新しい依頼か", rowCorrection: "依頼の変更", rowFiles: "添付ファイル",
      rowSaid: "「{text}」", rowTask: "タスク", rowPrompt: "実行方針 v{n}", rowProcess: "実行ステップ v{n}",
      rowGate: "ステップ {n} の確認", rowStep: "ステップ {n}", rowAttempt: "実行 {n} 回目", rowExecution: "実行", rowCard: "カード: {of}",
      rowCopy: "{who}さんへの DM: {of}", rowOutcome: "結果のお知らせ", rowWait: "待機中の実行", rowHead: "現在の状態", rowSession: "会話",
      rowMessage: "メッセージ", rowInbox: "未回答のメッセージ", rowAction: "操作 {n}", rowCall: "外部エージェントの呼び出し", rowTyped: "入力された提案",
      rowOffered: "依頼の提案 {n}", rowContest: "コンテスト", rowSummary: "コンテストの結果", rowTeam: "チーム", rowRound: "ラウンド {n}",
      rowBoard: "順位表 ラウンド {n}", rowAuto: "システム", rowRevision: "変更 {n} 回 · 実行 {run}", rowWaitFor: "{of} が決まり次第再開",
      rowUsage: "AI モデルの使用量", rowTokens: "{n} トークン", rowLease: "担当: {of}", rowLeaseUntil: "{at} まで",
    rowsText: "DynamoDB のテーブルにある、このタスクの行です。選ぶと属性を表示します。",
    setTitle: "設定と障害", setText: "意図的に失敗させて動作を確認できます。Ringi の設定はコンソールで変更します。", setConsole: "Ringi の設定",
      setConsoleText: "承認、上限、ツールのルールは、管理者がコンソールで変更します。最初の管理者は{name}さんです。", setConsoleOpen: "コンソールの設定を開く",
      cardsKeep: "カードは依頼と同じ言語のままです。",
  },
  en: {
    skip: "Skip to the message box", channels: "Channels", dms: "Direct messages", actAs: "Act as", you: "you",
      app: "APP", guest: "Guest", external: "External",
    menu: "Menu", close: "Close", run: "Run", runPanel: "Show the run", members: "{n} members", unread: "unread",
      language: "Language",
    homeTab: "Home", console: "Ringi console", messagesTab: "Messages", shortcuts: "App shortcuts",
      homeEmpty: "Loading the Home tab…",
    messageTo: "Message {name}", replyTo: "Reply…", replyHere: "Reply in thread", send: "Send",
      mention: "Mention @Ringi",
    hint: "Ringi hears messages that mention <b>@Ringi</b>", hintDM: "Ringi hears everything you write here",
      keys: "Enter to send · Shift+Enter for a new line",
    reply: "1 reply", replies: "{n} replies", hide: "Hide replies", today: "Today", yesterday: "Yesterday",
      edited: "(edited)", deleted: "This message was deleted",
    onlyYou: "Only visible to you", dismiss: "Dismiss", more: "More actions", showRun: "Show the run",
      copyLink: "Copy link", edit: "Edit message", save: "Save changes", cancel: "Cancel", remove: "Delete message",
      removeText: "Are you sure you want to delete this message? This can't be undone.", removeYes: "Delete",
      forward: "Forward", forwardTo: "Forward to", forwardText: "Add a message (optional)",
      original: "Original message", copied: "Link copied",
    timeout: "The app didn't respond within 3 seconds", failed: "The app returned an error",
      noConnection: "Couldn't connect to the app", noButton: "This button is gone; the card has changed.",
      retrying: "retrying ({n}/3)", gaveUp: "gave up retrying", trouble: "Something went wrong. Please try again.",
    emptyTitle: "Ask Ringi for something",
      emptyText: "Your message becomes a task. Work starts once its policy and steps are approved. Pick an example, " +
      "or write after @Ringi.",
    emptyDM: "Write what you need done, in plain words.", emptyQuiet: "No messages yet.",
    s1: "Attendance", s1m: "Summarize this month's attendance", s2: "Overtime",
      s2m: "Check last month's overtime hours", s3: "Employees", s3m: "Get the list of employees",
    processing: "Ringi is working…", stop: "Stop", suspended: "Waiting for an approval",
      required: "This field is required", tooShort: "Use at least {n} characters", tooLong: "Use up to {n} characters",
      choose: "Choose", optional: "optional", submit: "Submit",
    gone: "Can't connect to the sandbox.",
      goneText: "Check that it's still running in its terminal. If not, start it again with go run ./infra/local. " +
      "This page reconnects by itself.", goneRetry: "Reconnect",
      anew: "The sandbox was restarted at {t}. Earlier messages and requests are gone, and settings are back to " +
      "their defaults.",
    draft: "Draft", news: "New messages: {n}", toEnd: "Jump to latest",
      foldAll: "Collapse all", openAll: "Expand all",
    waits: "Waiting for you", instead: "For {name}", noWaits: "Nothing is waiting for you",
      noWaitsText: "Policies and steps you can approve, and requests you can retry, appear here, oldest first.",
      waitsText: "Waiting for you, oldest first. Select one to open it.", writes: "Does: {what}",
        due: "Due {when}",
    discardTitle: "Discard what you typed?", discardText: "If you close this, what you typed is lost.",
      discardYes: "Discard and close", discardNo: "Keep typing",
    panels: "Run, deliveries, waiting for you", newestTask: "Latest task", whichTask: "Task shown",
      usage: "Models: {calls} calls · {n} tokens · {cost}", usageTokens: "{in} in ({cached} cached), {out} out",
      unpriced: "Calls with an unknown price: {n}", payloads: "Input and output", input: "Input", output: "Output",
    whole: "full row", sentPrompt: "prompt as sent", object: "stored content", see: "Show {what}", loading: "Loading…",
      payload: "request payload", answer: "app's response", emptyAnswer: "(empty)",
    attach: "Attach files", fileOff: "Remove {name}", download: "Download {name}",
      filesMany: "A message can have up to {n} files", fileEmpty: "{name} is empty and can't be attached",
      fileUnread: "{name} can't be read. Folders can't be attached",
      filesLarge: "{name} can't be attached: files can be up to {n} MB in total",
    notSent: "Not sent: {e}",
    tabRun: "Run", tabDeliveries: "Deliveries", noRun: "No run yet",
      noRunText: "Ask Ringi for something. States, pending approvals and the rows written appear here.", task: "Task",
      states: "States", rows: "Rows written", waitingFor: "Waiting for approval",
      waitingForContest: "Waiting for the contest", since: "since {t}", executions: "Run {n}",
    noDeliveries: "No deliveries yet",
      deliveriesText: "Signed events and interactions sent to the app, which has 3 seconds to respond.",
      retry: "retry {n}",
    setTools: "Make a tool fail", setToolsText: "While on, calls to that tool fail.", setSlack: "Slack trouble",
      setSlackText: "Takes effect immediately. Simulates what happens in real Slack.",
    tgTwice: "Deliver every event twice", tgLate: "Deliver events late (seconds)", tgLoseEvents: "Lose events",
      tgLoseEventsText: "They aren't retried either", tgDrop: "Drop the app's responses",
      tgRate: "Respond to writes with 429", tgLose: "Lose responses to writes", tgPace: "Enforce Slack's rate limits",
    tgTwiceText: "The same event_id arrives twice at once", tgDropText: "Counts as a timeout; events are retried",
      tgRateText: "Retry-After: 1, nothing is written", tgLoseText: "Written, but the connection drops",
      tgPaceText: "Posts: about one per second per channel", active: "Slack trouble is on",
    rowRequest: "Request", rowAnswer: "Answer", rowChoice: "Reason or new request?",
      rowCorrection: "Edit of the request", rowFiles: "Files", rowSaid: "“{text}”", rowTask: "Task",
      rowPrompt: "Policy v{n}", rowProcess: "Steps v{n}", rowGate: "Step {n} check",
      rowStep: "Step {n}", rowAttempt: "Run, attempt {n}", rowExecution: "Run", rowCard: "Card: {of}",
      rowCopy: "DM to {who}: {of}", rowOutcome: "Outcome", rowWait: "Waiting run", rowHead: "Current state",
      rowSession: "Conversation", rowMessage: "Message", rowInbox: "Unanswered message", rowAction: "Action {n}",
      rowCall: "Call of an agent outside", rowTyped: "Proposal as typed", rowOffered: "Suggested request {n}",
      rowContest: "Contest", rowSummary: "Contest result", rowTeam: "Team", rowRound: "Round {n}",
      rowBoard: "Leaderboard, round {n}", rowAuto: "System", rowRevision: "changes: {n} · run {run}",
      rowWaitFor: "resumes once {of} is decided", rowUsage: "Model usage", rowTokens: "{n} tokens",
      rowLease: "Lease: {of}", rowLeaseUntil: "until {at}",
    rowsText: "This task's rows in the DynamoDB table. Select one to see its attributes.",
    setTitle: "Settings & faults",
      setText: "Make things fail on purpose. To change Ringi's settings, use the console.",
      setConsole: "Ringi settings",
      setConsoleText: "Administrators set approvals, limits and tool rules in the console. The first administrator " +
      "is {name}.", setConsoleOpen: "Open console settings", cardsKeep: "Cards stay in their request's language.",
  },
};

// What each state of the pipeline does, for people who don't read state machines.
const stateWords = {
  ja: { ResumeTask: "行を読み、次の処理を決める", Route: "次の状態に分岐する", ExtractTask: "依頼をタスクにする", DraftPrompt: "実行方針を書く",
    AwaitContest: "コンテストを待つ", AwaitPromptApproval: "実行方針の承認を待つ", PlanProcess: "実行ステップを作る",
    AwaitProcessApproval: "実行ステップの承認を待つ", ExecuteProcess: "ステップを実行する", AwaitStepApproval: "実行前の確認を待つ", Pause: "少し待つ", CloseTask: "失敗の後処理をする",
    Finish: "完了", Fail: "失敗", TaskFailed: "失敗" },
  en: { ResumeTask: "reads the rows", Route: "decides where to go", ExtractTask: "turns the request into a task",
    DraftPrompt: "writes the policy", AwaitContest: "waits for the contest",
    AwaitPromptApproval: "waits for policy approval", PlanProcess: "plans the steps",
    AwaitProcessApproval: "waits for step approval", ExecuteProcess: "runs the steps",
    AwaitStepApproval: "waits for a check before a step", Pause: "waits a moment",
    CloseTask: "cleans up after a failure", Finish: "done", Fail: "failed", TaskFailed: "failed" },
};

// How a row or a run stands.
const statusWords = {
  ja: { extracted: "承認中", running: "実行中", completed: "完了", failed: "失敗", cancelled: "キャンセル", generating: "生成中",
    pending_approval: "承認待ち", approved: "承認済み", rejected: "却下", expired: "期限切れ", pending: "開始待ち", unknown: "結果不明",
    parked: "再試行待ち", none: "未投稿", posting: "投稿中", posted: "表示中", unreachable: "表示できません", succeeded: "終了",
    timed_out: "タイムアウト", aborted: "停止", answered: "返答済み", refused: "受け付けず", superseded: "別の実行が引き継ぎ",
    waiting: "承認待ち", open: "会話中", executing: "実行中", closed: "終了", error: "応答なし", ended: "終了" },
  en: { extracted: "in approval", running: "running", completed: "completed", failed: "failed", cancelled: "cancelled",
    generating: "drafting", pending_approval: "waiting for approval", approved: "approved", rejected: "rejected",
    expired: "expired", pending: "starting soon", unknown: "outcome unknown", parked: "waiting for a retry",
    none: "not posted", posting: "posting", posted: "shown", unreachable: "can't be shown", succeeded: "finished",
    timed_out: "timed out", aborted: "stopped", answered: "answered", refused: "declined",
    superseded: "another run took over", waiting: "waiting for approval", open: "open",
    executing: "running", closed: "ended", error: "no answer", ended: "ended" },
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
export const sizeText = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB`
  : `${(bytes / 1e6).toFixed(1)} MB`);

const locale = () => (lang === "ja" ? "ja-JP" : "en-US");

export const clockTime = (ms, seconds) =>
  new Intl.DateTimeFormat(locale(), seconds
    ? { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }
    : { hour: lang === "ja" ? "2-digit" : "numeric", minute: "2-digit" }).format(ms);

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
