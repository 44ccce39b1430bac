package iam

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/expect"
)

// TestGrantedAndUsed: what nothing used needs a reason, and a reason something that needs it.
func TestGrantedAndUsed(t *testing.T) {
	folder := t.TempDir()
	file := expect.Value(os.Create(filepath.Join(folder, "notes")))(t)
	bench := &Bench{Notes: &Notes{seen: map[string]bool{}, file: file}}
	managed := expect.Value(policy(t, writes))(t)
	managed.Name, managed.Managed = "Commits", true
	one := role(t, files)
	one.Policies = append(one.Policies, managed)
	roles := map[string]Role{"OneFunction": one, "OtherFunction": {Name: "ringi-OtherRole", Policies: []Policy{managed}}}
	for range 2 {
		bench.judge("OneFunction", one, Request{"s3:PutObject", "arn:aws:s3:::b/1", nil})
		bench.judge("OneFunction", one, Request{"dynamodb:UpdateItem", rows, map[string][]string{leadingKeys: {"TASK#t#1"}, attributes: {"PK", "rev"}}})
	}
	noted := string(expect.Value(os.ReadFile(file.Name()))(t))
	if want := "OneFunction\town\tKeep\ts3:*Object\tb/*\t\nOneFunction\tCommits\tCommit\tdynamodb:UpdateItem\ttable/ringi-Table\tTASK# PK rev\n"; noted != want {
		t.Errorf("noted %q", noted)
	}
	for name, tt := range map[string]struct {
		reasons string
		want    []string
	}{
		"without reasons": {"", []string{
			"is granted, and nothing used it: Commits\tCommit\tdynamodb:PutItem\ttable/ringi-Table", "is granted, and nothing used it: OtherFunction\tcarries\tCommits\t-",
		}},
		"with each":            {"# A heading.\n\nCommits Commit dynamodb:Put* *: why\nOtherFunction carries * -: why\n", nil},
		"of what was used":     {"Commits Commit * *: why\nOtherFunction carries * -: why\n", []string{"is used, and has a reason why not: Commits\tCommit\tdynamodb:UpdateItem\ttable/ringi-Table"}},
		"of what chance uses":  {"? Commits Commit * *: why\nOtherFunction carries * -: why\n", nil},
		"of what is not there": {"Commits Commit dynamodb:PutItem *: why\nOtherFunction carries * -: why\nCommits Commit dynamodb:Scan *: why\n", []string{"no right needs the reason: Commits Commit dynamodb:Scan *: why"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, tt.want, expect.Value(Unused(roles, folder, tt.reasons))(t))
		})
	}
	bench.judge("OneFunction", one, Request{"s3:GetObject", "arn:aws:s3:::b/prompts/1", nil})
	wrong := expect.Value(Unused(roles, folder, "Commits Commit dynamodb:Put* *: why\nOtherFunction carries * -: why\n"))(t)
	if len(wrong) != 1 || !strings.HasPrefix(wrong[0], "was refused: OneFunction\t(refused)\ts3:GetObject") {
		t.Errorf("what was refused is not told: %q", wrong)
	}
	if _, err := Unused(roles, folder, "Commits Commit dynamodb:PutItem *\n"); err == nil {
		t.Error("a reason without words is taken")
	}
	if _, err := Unused(roles, t.TempDir(), ""); err == nil {
		t.Error("no notes at all are taken for all rights")
	}
}
