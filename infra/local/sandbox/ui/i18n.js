// The page's own words in Japanese and English. What the app writes is not here.

const words = {
  ja: {
    skip: "メッセージ入力欄へ", channels: "チャンネル", dms: "ダイレクトメッセージ", actAs: "この人として操作", you: "操作中", app: "アプリ", guest: "ゲスト",
    external: "社外", menu: "メニュー", close: "閉じる", unread: "未読", language: "表示言語", homeTab: "ホーム",
    console: "稟議コンソール", shortcuts: "アプリのショートカット", homeEmpty: "ホームを読み込んでいます…", messageTo: "{name} へのメッセージ",
    replyTo: "返信する…", replyHere: "スレッドに返信", send: "送信", mention: "@Ringi にメンション", hint: "@Ringi を付けると Ringi に届きます",
    hintDM: "ここに書くとそのまま Ringi に届きます", reply: "1 件の返信", replies: "{n} 件の返信", hide: "返信をたたむ", today: "今日",
    edited: "(編集済み)", deleted: "このメッセージは削除されました", onlyYou: "あなただけに表示されています", dismiss: "非表示にする",
    more: "その他の操作", timeout: "アプリが 3 秒以内に応答しませんでした", failed: "アプリがエラーを返しました",
    noConnection: "アプリに接続できませんでした", noButton: "カードが更新されたため、このボタンは使えません。", trouble: "エラーが発生しました。もう一度お試しください。",
    emptyTitle: "Ringi に依頼してみましょう", emptyText: "メッセージがタスクになり、実行方針と実行ステップが承認されると作業が始まります。例を選ぶか、@Ringi に続けて書いてください。",
    emptyDM: "依頼したい業務を、普段の言葉で書いてください。", emptyQuiet: "まだメッセージはありません。", s1: "勤怠集計", s1m: "今月の勤怠をまとめて", s2: "残業確認",
    s2m: "先月の残業時間を確認して", s3: "従業員一覧", s3m: "従業員一覧を取得して", processing: "Ringi が作業しています…", stop: "停止",
    suspended: "承認を待っています", required: "この項目は必須です", tooShort: "{n} 文字以上で入力してください", tooLong: "{n} 文字以内で入力してください",
    choose: "選択してください", optional: "任意", gone: "サンドボックスに接続できません。",
    goneText: "起動したターミナルで動作しているか確認してください。停止している場合は go run ./infra/local で再起動します。このページは自動で再接続します。",
    attach: "ファイルを添付", fileOff: "{name} を外す",
    fileUnread: "{name} を読み取れません。フォルダーは添付できません", notSent: "送信できませんでした: {e}",
    active: "障害: オン", twice: "イベントを 2 回届ける", twiceText: "同じ event_id が同時に届きます",
    drop_answers: "アプリの応答を捨てる", drop_answersText: "タイムアウトとして扱い、イベントを再送します", rate_limited: "書き込みに 429 を返す",
    rate_limitedText: "Retry-After: 1 · 何も書き込まれません", lose_answers: "書き込みの応答を失う", lose_answersText: "書き込まれますが、接続が切れます",
    fail_writes: "ツールの書き込みを失敗させる", fail_writesText: "シートへの書き込み、会議室の予約、発注がエラーになります", faults: "障害",
    faultsText: "意図的に失敗させて動作を確認できます。すぐに反映されます。",
  },
  en: {
    skip: "Skip to the message box", channels: "Channels", dms: "Direct messages", actAs: "Act as", you: "you",
    app: "APP", guest: "Guest", external: "External", menu: "Menu", close: "Close", unread: "unread",
    language: "Language", homeTab: "Home", console: "Ringi console", shortcuts: "App shortcuts",
    homeEmpty: "Loading the Home tab…", messageTo: "Message {name}", replyTo: "Reply…", replyHere: "Reply in thread",
    send: "Send", mention: "Mention @Ringi", hint: "Ringi hears messages that mention @Ringi",
    hintDM: "Ringi hears everything you write here", reply: "1 reply", replies: "{n} replies", hide: "Hide replies",
    today: "Today", edited: "(edited)", deleted: "This message was deleted",
    onlyYou: "Only visible to you", dismiss: "Dismiss", more: "More actions",
    timeout: "The app didn't respond within 3 seconds", failed: "The app returned an error",
    noConnection: "Couldn't connect to the app", noButton: "This button is gone; the card has changed.",
    trouble: "Something went wrong. Please try again.", emptyTitle: "Ask Ringi for something",
    emptyText: "Your message becomes a task. Work starts once its policy and steps are approved. Pick " +
      "an example, or write after @Ringi.",
    emptyDM: "Write what you need done, in plain words.", emptyQuiet: "No messages yet.", s1: "Attendance",
    s1m: "Summarize this month's attendance", s2: "Overtime", s2m: "Check last month's overtime hours",
    s3: "Employees", s3m: "Get the list of employees", processing: "Ringi is working…", stop: "Stop",
    suspended: "Waiting for an approval", required: "This field is required", tooShort: "Use at least {n} characters",
    tooLong: "Use up to {n} characters", choose: "Choose", optional: "optional",
    gone: "Can't connect to the sandbox.",
    goneText: "Check that it's still running in its terminal. If not, start it again with go run " +
      "./infra/local. This page reconnects by itself.",
    attach: "Attach files", fileOff: "Remove {name}", fileUnread: "{name} can't be read. Folders can't be attached",
    notSent: "Not sent: {e}", active: "Faults are on",
    twice: "Deliver every event twice", twiceText: "The same event_id arrives twice at once",
    drop_answers: "Drop the app's responses", drop_answersText: "Counts as a timeout; events are retried",
    rate_limited: "Respond to writes with 429", rate_limitedText: "Retry-After: 1, nothing is written",
    lose_answers: "Lose responses to writes", lose_answersText: "Written, but the connection drops",
    fail_writes: "Make tools fail to write", fail_writesText: "Writing to sheets, booking rooms and ordering fail",
    faults: "Faults", faultsText: "Make things fail on purpose. Takes effect immediately.",
  },
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

/** sizeText is a file's size. */
export const sizeText = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB`
  : `${(bytes / 1e6).toFixed(1)} MB`);

const locale = () => (lang === "ja" ? "ja-JP" : "en-US");

export const clockTime = (ms) =>
  new Intl.DateTimeFormat(locale(), { hour: lang === "ja" ? "2-digit" : "numeric", minute: "2-digit" }).format(ms);

/** nameIn is the name of a shortcut in the page's language. */
export const nameIn = (x) => (lang === "en" && x.name_en) || x.name;

/** slackDate fills the tokens of <!date^…> that the app uses, like {date_short_pretty} {time}. */
export function slackDate(seconds, format) {
  const at = new Date(seconds * 1000);
  const short = new Intl.DateTimeFormat(locale(), { year: "numeric", month: "short", day: "numeric" }).format(at);
  const near = at.toDateString() === new Date().toDateString();
  const tokens = { date_num: at.toLocaleDateString("sv"), date_short: short, date_short_pretty: near ? t("today")
    : short,
    time: clockTime(at) };
  return format.replace(/\{(\w+)\}/g, (whole, name) => tokens[name] ?? whole);
}
