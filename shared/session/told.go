package session

import (
	"fmt"
	"strings"

	"ringi/shared/aggregate"
)

// words are what the system says about actions and refusals, in each language. They stand among what is said, for people and
// the agent alike.
type words struct {
	succeeded, failed, unknown, rejected, expired, cancelled string
	exit, dropped, output, stopped                           string
}

var said = map[string]words{
	"ja": {
		succeeded: "操作 #%d が完了しました。", failed: "操作 #%d は失敗しました。", unknown: "操作 #%d の結果は不明です。実行されたかどうかを人が確かめる必要があります。",
		rejected: "操作 #%d は却下されました。理由: %s", expired: "操作 #%d は期限までに承認されませんでした。", cancelled: "操作 #%d は取り消されました。",
		exit: "終了コード: %d", dropped: "(古い %d 行は残っていません)", output: "出力の最後:",
		stopped: "回答を止めました。続けるには、もう一度書いてください。",
	},
	"en": {
		succeeded: "Action #%d is done.", failed: "Action #%d failed.", unknown: "What action #%d did is not known: a person has to look.",
		rejected: "Action #%d was rejected. The reason: %s", expired: "Nobody approved action #%d in time.", cancelled: "Action #%d was withdrawn.",
		exit: "Exit code: %d", dropped: "(the oldest %d lines are gone)", output: "The end of its output:",
		stopped: "The answer was stopped. Write again to go on.",
	},
}

func wordsIn(locale string) words {
	if w, ok := said[locale]; ok {
		return w
	}
	return said["ja"]
}

// told is what became of an action, with the end of its output.
func (x *Action) told(locale, tail string) string {
	w := wordsIn(locale)
	if tail == "" {
		tail = x.tail
	}
	var out []string
	switch {
	case x.Status == ActionSucceeded:
		out = append(out, fmt.Sprintf(w.succeeded, x.Number))
	case x.Outcome == OutcomeUnknown:
		out = append(out, fmt.Sprintf(w.unknown, x.Number))
	case x.Status == ActionFailed:
		out = append(out, fmt.Sprintf(w.failed, x.Number))
	case x.CancelReason == ReasonRejected:
		out = append(out, fmt.Sprintf(w.rejected, x.Number, x.ErrorDetail))
	case x.CancelReason == ReasonExpired:
		out = append(out, fmt.Sprintf(w.expired, x.Number))
	default:
		out = append(out, fmt.Sprintf(w.cancelled, x.Number))
	}
	if x.CancelReason == "" {
		out = append(out, x.ResultSummary, x.ErrorDetail)
	}
	if x.ExitCode != nil {
		out = append(out, fmt.Sprintf(w.exit, *x.ExitCode))
	}
	if tail != "" {
		out = append(out, w.output)
		if x.Dropped > 0 {
			out = append(out, fmt.Sprintf(w.dropped, x.Dropped))
		}
		out = append(out, tail)
	}
	return strings.Join(nonEmpty(out), "\n")
}

func nonEmpty(lines []string) []string {
	out := lines[:0]
	for _, l := range lines {
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}

var _ aggregate.Asking = (*Action)(nil)
