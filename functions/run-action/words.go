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
		refused: "書き込めるのは、相対パスで指定した作業フォルダー内のファイルだけです。フォルダーやリンクの上書き、件数や容量の上限を超える書き込みはできません。",
		gone:    "作業フォルダーのファイルが見つかりません。誰かが「空のフォルダーで続ける」を選ぶまで、操作は実行されません。",
		seconds: "制限時間: %d 秒", early: "実行環境が途中で停止しました。", memory: "メモリーの上限を超えたため、中止しました。", disk: "ディスクの上限を超えたため、中止しました。",
		notKept: "変更を保存できませんでした。作業フォルダーは実行前のままです。", kept: "終了までの変更は、作業フォルダーに残っています。",
		left: "作業フォルダーに保存できないもの: ",
	},
	words{
		refused: "Files must be inside the folder, with relative paths. They can't replace folders or links, or exceed the folder's limits.",
		gone:    "The folder's files can't be found. Nothing runs until someone chooses to continue with an empty folder.",
		seconds: "Time limit: %d s", early: "Its environment shut down before it finished.",
		memory:  "It was stopped for using too much memory.",
		disk:    "It was stopped for using too much disk space.",
		notKept: "The changes couldn't be saved. The folder is unchanged.",
		kept:    "Changes made before that are kept.", left: "Couldn't be saved in the folder: ",
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
