package model

import "ringi/shared/words/language"

// textAlone asks for a policy as a text, where a schema can't.
var textAlone = language.InEach("実行方針の本文だけを書いてください。前置き、説明、JSON は付けません。",
	"Write the text of the policy and nothing else: no preamble, no remarks, no JSON.")

// Contested is what teams of a contest are asked for in place of Draft: the same policy, of the same data.
func Contested(in DraftInput) (string, error) {
	p, err := promptOf(Drafting, in.Locale)
	if err != nil {
		return "", err
	}
	data, err := fenced(in.data())
	if err != nil {
		return "", err
	}
	return p.Text + "\n\n" + textAlone.In(in.Locale) + "\n\n" + data, nil
}
