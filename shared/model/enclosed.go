package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/large"
)

// Enclosed is what a request forwards and attaches: material, in the words of others.
type Enclosed struct {
	Forwarded []Forwarded `json:"forwarded,omitempty"`
	Files     []File      `json:"files,omitempty"`
}

// Forwarded is a message that a request forwards.
type Forwarded struct {
	By       string `json:"by"` // its author's name and id, or ?
	Where    string `json:"where,omitempty"`
	At       string `json:"at,omitempty"`
	Text     string `json:"text"`
	NotShown string `json:"not_shown,omitempty"`
}

// File is a file of a request.
type File struct {
	Name     string   `json:"name"`
	Type     string   `json:"type,omitempty"`
	Text     string   `json:"text,omitempty"`
	NotShown string   `json:"not_shown,omitempty"`
	NotRead  string   `json:"not_read,omitempty"`
	Remarks  []string `json:"remarks,omitempty"`
}

// ForwardedOf returns what models see of a forwarded message.
func ForwardedOf(q aggregate.Quoted) Forwarded {
	f := Forwarded{By: q.Name, Where: q.Where, Text: q.Text}
	if len(task.Others("", q.User)) > 0 {
		f.By = strings.TrimSpace(q.Name + " <@" + q.User + ">")
	}
	f.By = cmp.Or(f.By, "?")
	if !q.At.IsZero() {
		f.At = stamp(q.At)
	}
	switch {
	case q.Text == "":
		f.NotShown = "Slack does not show its text"
	case q.Cut:
		f.NotShown = "the rest, or further messages that it forwards"
	}
	return f
}

// FileOf returns what models see of a file that has this text.
func FileOf(f task.ReadFile, text string) File {
	out := File{Name: cmp.Or(f.Name, f.ID), Type: f.Type, Text: text, NotRead: f.Why}
	if f.Why == "" && f.Shown < f.Characters {
		out.NotShown = fmt.Sprintf("all after the first %d of %d characters", f.Shown, f.Characters)
	}
	for _, r := range f.Remarks {
		out.Remarks = append(out.Remarks, string(r))
	}
	return out
}

// Opener opens values that may be in the bucket.
type Opener interface {
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Enclose returns what a task's request forwards and attaches, as every layer is shown it.
func Enclose(ctx context.Context, from Opener, a *task.Aggregate) (out Enclosed, err error) {
	for _, q := range a.Request.Forwarded {
		out.Forwarded = append(out.Forwarded, ForwardedOf(q))
	}
	if n := a.Request.MoreFiles; n > 0 {
		out.Files = append(out.Files, File{Name: fmt.Sprint(n, " more"), NotRead: "there are more files than are read"})
	}
	if a.Read() == nil {
		return out, nil
	}
	for _, f := range a.Read().Files {
		text := ""
		if f.Text != nil {
			v, err := from.Open(ctx, a.Ref(), *f.Text)
			if err == nil {
				err = json.Unmarshal(v, &text)
			}
			switch {
			case errors.Is(err, large.ErrExpired):
				f.Why = "it has expired"
			case err != nil:
				return out, fmt.Errorf("open the text of a file: %w", err)
			}
		}
		out.Files = append(out.Files, FileOf(f, text))
	}
	return out, nil
}
