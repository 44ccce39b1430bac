package contest

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// How much of long texts is shown and kept, in bytes.
const (
	maxShown         = 1 << 10  // of a submission on the board: ten rows are a few pages to read
	maxShownFeedback = 4 << 10  // of its feedback there
	maxFeedback      = 16 << 10 // of a round's feedback, and of a metric's comment
	maxDetail        = 1 << 10  // of a sentence about a failure
)

// RankAll is the partition of the index that ranks a tenant's scored rounds.
func RankAll(tenant string) string { return "TENANT#" + tenant + "#BOARD" }

// RankIn is RankAll of one contest.
func RankIn(tenant, execution string) string { return "BOARD#" + tenant + "#" + execution }

// RankOf is RankAll of one team.
func RankOf(tenant, teamID string) string { return "BOARD#" + tenant + "#" + TeamHash(teamID) }

// Indexes put a scored round into its ranks: the highest score first, of equal ones the earlier.
func (b *Board) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{
		{N: 1, PK: RankAll(b.TenantID), SK: b.place()},
		{N: 2, PK: RankIn(b.TenantID, b.ExecutionID), SK: b.place()},
		{N: 3, PK: RankOf(b.TenantID, b.TeamID), SK: b.place()},
	}
}

// place sorts as the board does.
func (b *Board) place() string {
	return fmt.Sprintf("%07d#%s#%02d", 1_000_000-Millionths(b.EvaluationScore), aggregate.TimeText(b.CreatedAt), b.RoundNumber)
}

// Millionths is a score in millionths, so that sums of scores are exact.
func Millionths(score float64) int { return int(math.Round(score * 1e6)) }

// Counts is what a scored round adds to its team's statistics.
func (b *Board) Counts() (of string, adds map[string]int) {
	return TeamHash(b.TeamID), map[string]int{
		SumRounds: 1, SumScore: Millionths(b.EvaluationScore), SumInput: int(b.UsageInfo.InputTokens), SumOutput: int(b.UsageInfo.OutputTokens),
	}
}

// The names of a team's sums.
const (
	SumRounds = "rounds"
	SumScore  = "score_millionths"
	SumInput  = "input_tokens"
	SumOutput = "output_tokens"
)

// ByRank compares rows in the board's order, and rows that are equal in it by their teams.
func ByRank(a, b *Board) int {
	return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.TeamID, b.TeamID))
}

// best is the number of a team's best round: the highest score, of equal ones the later round. 0: there is none.
func best(board []*Board) (number int) {
	score := -1
	for _, b := range board { // by number
		if s := Millionths(b.EvaluationScore); s >= score {
			score, number = s, b.RoundNumber
		}
	}
	return number
}

// onBoard is the board's row of a round; of one that is there already its identity stays.
func (r *Round) onBoard(tenant, content string, was *Board) *Board {
	b := Board{ID: aggregate.Derive(r.CreatedAt, "board", r.ExecutionID, r.TeamID, fmt.Sprint(r.RoundNumber)), TeamName: r.TeamName, CreatedAt: r.CreatedAt}
	if was != nil {
		b = *was
	}
	b.TenantID, b.ExecutionID, b.TeamID, b.RoundNumber = tenant, r.ExecutionID, r.TeamID, r.RoundNumber
	b.EvaluationScore, b.EvaluationFeedback = r.EvaluationScore, shortened(r.EvaluationFeedback, maxShownFeedback)
	b.SubmissionContent, b.SubmissionFormat, b.UsageInfo = shortened(content, maxShown), Format, r.Usage.Info()
	b.SubmissionBytes, b.SubmissionHash, b.SubmissionAt, b.SubmissionS3Key = len(content), aggregate.HashOf(content), r.Key(), r.SubmissionContent.S3Key
	return &b
}

// shortened is a text that is no longer than most bytes; it ends with an ellipsis where it was, never inside of a
// character.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return legible.FirstBytes(s, most-len("…")) + "…"
}
