package template

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// tested is the package whose tests made the notes.
const tested = "/module/functions/one"

// noting returns a Bench that writes its notes to a file in folder.
func noting(t *testing.T) (b *Bench, folder, file string) {
	t.Helper()
	folder = t.TempDir()
	f := expect.Value(os.Create(filepath.Join(folder, noteName(tested)+noteEnd+"one.test")))(t)
	return &Bench{Notes: &Notes{seen: map[string]bool{}, file: f}}, folder, f.Name()
}

// Each unused right needs a reason, and each reason must excuse an unused right.
func TestGrantedAndUsed(t *testing.T) {
	bench, folder, file := noting(t)
	managed := expect.Value(policy(t, writes))(t)
	managed.Name, managed.Managed = "Commits", true
	one := role(t, files)
	one.Policies = append(one.Policies, managed)
	roles := map[string]Role{"OneFunction": one, "OtherFunction": {Name: "ringi-OtherRole", Policies: []Policy{managed}}}
	for range 2 {
		bench.judge("OneFunction", one, Request{"s3:PutObject", "arn:aws:s3:::b/1", nil})
		bench.judge("OneFunction", one, Request{"dynamodb:UpdateItem", rows,
			map[string][]string{leadingKeys: {"TASK#t#1"}, attributes: {"PK", "rev"}}})
	}
	noted := string(expect.Value(os.ReadFile(file))(t))
	want := "OneFunction\town\tKeep\ts3:*Object\tb/*\n" +
		"OneFunction\tCommits\tCommit\tdynamodb:UpdateItem\ttable/ringi-Table\n" +
		"OneFunction\tCommits\tCommit\tdynamodb:LeadingKeys=TASK#*\t-\n"
	expect.That(t, noted == want, "noted %q", noted)
	const enough = "Commits Commit dynamodb:PutItem *: why\nCommits Commit dynamodb:LeadingKeys=AUDIT#* -: why\n" +
		"OtherFunction carries Commits/Commit -: why\n"
	for name, tt := range map[string]struct {
		reasons string
		want    []string
	}{
		"without reasons": {"", []string{
			"is granted, and nothing used it: Commits\tCommit\tdynamodb:LeadingKeys=AUDIT#*\t-",
			"is granted, and nothing used it: " +
				"Commits\tCommit\tdynamodb:PutItem\ttable/ringi-Table", "is granted, and nothing used it: " +
				"OtherFunction\tcarries\tCommits/Commit\t-",
		}},
		"with each": {"# A heading.\n\n" + enough, nil},
		"several in one line": {strings.Replace(enough,
			"dynamodb:PutItem *: why\nCommits Commit "+
				"dynamodb:LeadingKeys=AUDIT#* -", "dynamodb:PutItem,dynamodb:LeadingKeys=AUDIT#* *", 1), nil},
		"of what was used": {enough + "Commits Commit dynamodb:UpdateItem *: why\n", []string{
			"is used, and has a reason why not: " +
				"Commits\tCommit\tdynamodb:UpdateItem\ttable/ringi-Table", "no right needs the reason for " +
				"dynamodb:UpdateItem: Commits Commit dynamodb:UpdateItem *: why",
		}},
		"of what chance uses": {enough + "? Commits Commit dynamodb:UpdateItem *: why\n", nil},
		"of what is not there": {enough + "Commits Commit dynamodb:Scan *: why\n",
			[]string{"no right needs the reason for dynamodb:Scan: Commits Commit dynamodb:Scan *: why"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, tt.want, expect.Value(Unused(roles, folder, []string{tested}, tt.reasons))(t))
		})
	}
	bench.judge("OneFunction", one, Request{"s3:GetObject", "arn:aws:s3:::b/prompts/1", nil})
	wrong := expect.Value(Unused(roles, folder, []string{tested}, enough))(t)
	expect.That(t, len(wrong) == 1 && strings.HasPrefix(wrong[0], "was refused: OneFunction\t(refused)\ts3:GetObject"),
		"what was refused is not told: %q", wrong)
	for _, reasons := range []string{"Commits Commit dynamodb:PutItem *\n", "Commits Commit dynamodb:* *: why\n",
		"Commits Commit * *: why\n"} {
		_, err := Unused(roles, folder, []string{tested}, reasons)
		expect.That(t, err != nil, "a reason without words, or for actions that it doesn't name, is taken: %q", reasons)
	}
}

// A statement may be used and still name rows or attributes that nothing writes. A function may have a managed policy
// and use only some of its statements.
func TestRowsAttributesAndFunctionsAreCompared(t *testing.T) {
	bench, folder, _ := noting(t)
	one := role(t, notes)
	managed := expect.Value(policy(t,
		`[{"Sid": "Read", "Effect": "Allow", "Action": "dynamodb:GetItem", `+
			`"Resource": "`+rows+`"}, {"Sid": "Leave", "Effect": "Allow", "Action": "dynamodb:DeleteItem", `+
			`"Resource": "`+rows+`"}]`))(t)
	managed.Name, managed.Managed = "Commits", true
	one.Policies = append(one.Policies, managed)
	other := Role{Name: "ringi-OtherRole", Policies: []Policy{managed}}
	about := map[string][]string{leadingKeys: {"TASK#t#1"}, attributes: {"PK", "rev"}}
	for _, action := range []string{"dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:DeleteItem"} {
		bench.judge("OneFunction", one, Request{action, rows, about})
	}
	bench.judge("OtherFunction", other, Request{"dynamodb:GetItem", rows, about})
	expect.Same(t, []string{
		"is granted, and nothing used it: " +
			"OtherFunction\tcarries\tCommits/Leave\t-", "is granted, and nothing used it: own\tNote\tdynamodb:Attributes=SK\t-",
	}, expect.Value(Unused(map[string]Role{"OneFunction": one, "OtherFunction": other}, folder, []string{tested}, ""))(t))
}

// The notes of packages that no longer exist do not count.
func TestNotesOfPackagesThatAreGone(t *testing.T) {
	bench, folder, _ := noting(t)
	one := role(t, files)
	bench.judge("OneFunction", one, Request{"s3:PutObject", "arn:aws:s3:::b/1", nil})
	if _, err := Unused(map[string]Role{"OneFunction": one}, folder, []string{tested + "s", "/module/functions"},
		""); err == nil {
		t.Error("the notes of a package that is gone are taken for all rights")
	}
	if _, err := Unused(nil, t.TempDir(), []string{tested}, ""); err == nil {
		t.Error("no notes at all are taken for all rights")
	}
}
