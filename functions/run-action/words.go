package main

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// words explain a result to people and the agent. The text of an error goes only to the log.
type words struct{ refused, gone, seconds, early, memory, disk, notKept, kept, left string }

var inEach = language.InEach(
	words{
		refused: "書き込めるのは、作業フォルダーの中を相対パスで指すファイルだけです。フォルダーやリンクを上書きするもの、作業フォルダーの件数や大きさの上限を超えるものは書き込めません。",
		gone:    "作業フォルダーのファイルが見つかりません。誰かが「空のフォルダーで続ける」を選ぶまで、操作は実行されません。",
		seconds: "制限時間: %d 秒", early: "実行環境が途中で終わりました。", memory: "メモリーの上限を超えたため、止めました。", disk: "ディスクの上限を超えたため、止めました。",
		notKept: "作業フォルダーの変更は保存できませんでした。作業フォルダーは実行前のままです。", kept: "終わるまでに変わったファイルは、作業フォルダーに残っています。",
		left: "作業フォルダーに残せないもの: ",
	},
	words{
		refused: "Only files inside of the folder, by relative paths, can be written: none in place of a folder or a link, and none beyond what the folder may hold.",
		gone:    "The folder's files can't be found. Nothing is run until somebody chooses to go on with an empty folder.",
		seconds: "Time limit: %d s", early: "The place where it ran ended on the way.",
		memory:  "It used more memory than it may and was stopped.",
		disk:    "It wrote more to the disk than it may and was stopped.",
		notKept: "The changes in the folder could not be kept. The folder is as it was before.",
		kept:    "What it had changed in the folder until then stays.", left: "What the folder can't keep: ",
	})

func (j *job) words() words { return inEach.In(j.session.Locale) }

// limit translates the sandbox's name of a limit.
func (w words) limit(said string) string {
	switch {
	case said == "":
		return ""
	case said == isolated.EndedByMemory:
		return w.memory
	case said == isolated.EndedByDisk:
		return w.disk
	case strings.HasPrefix(said, isolated.NotKept):
		return w.notKept
	}
	return w.early // EndedEarly, and names unknown here
}

// says returns the result of a failed action. People see the reason and the detail, in Ringi's words; the log has the
// error.
func (j *job) says(why aggregate.Reason, detail string, err error) conversation.Result {
	j.cause = err
	return conversation.Result{Status: conversation.ActionFailed, Error: why, ErrorDetail: detail,
		Detail: []conversation.Piece{{Text: detail}}}
}

// detail puts together what people are told of a result; its quoted pieces come from the sandbox.
func detail(r *conversation.Result, pieces ...conversation.Piece) {
	r.Detail, r.ErrorDetail = []conversation.Piece{}, ""
	for _, p := range pieces {
		if p.Text == "" {
			continue
		}
		if r.ErrorDetail != "" && !strings.HasSuffix(r.ErrorDetail, ": ") {
			r.ErrorDetail += "\n"
		}
		r.Detail, r.ErrorDetail = append(r.Detail, p), r.ErrorDetail+p.Text
	}
}
