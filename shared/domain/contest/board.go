package contest

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// Limits on long texts, in bytes. Longer texts are shortened.
const (
	maxShown         = 1 << 10  // of a submission on the board; ten rows then are a few pages to read
	maxShownFeedback = 4 << 10  // of a round's feedback on the board
	maxFeedback      = 16 << 10 // of a round's feedback and of a metric's comment in the round's row
	maxDetail        = 1 << 10  // of a sentence about a failure
)

// RankAll returns the index partition that ranks all of a tenant's scored rounds.
func RankAll(tenant string) string { return "TENANT#" + tenant + "#BOARD" }

// RankIn returns the partition that ranks one contest's rounds.
func RankIn(tenant, execution string) string { return "BOARD#" + tenant + "#" + execution }

// RankOf returns the partition that ranks one team's rounds.
func RankOf(tenant, teamID string) string { return "BOARD#" + tenant + "#" + TeamHash(teamID) }

// Indexes ranks a scored round: higher scores first, and the earlier of equal scores.
func (b *Board) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{
		{N: 1, PK: RankAll(b.TenantID), SK: b.place()},
		{N: 2, PK: RankIn(b.TenantID, b.ExecutionID), SK: b.place()},
		{N: 3, PK: RankOf(b.TenantID, b.TeamID), SK: b.place()},
	}
}

// place returns a sort key in the board's order.
func (b *Board) place() string {
	return fmt.Sprintf("%07d#%s#%02d", 1_000_000-Millionths(b.EvaluationScore), aggregate.TimeText(b.CreatedAt), b.RoundNumber)
}

// Millionths returns a score in millionths, so that sums of scores are exact.
func Millionths(score float64) int { return int(math.Round(score * 1e6)) }

// Counts returns what a scored round adds to its team's statistics.
func (b *Board) Counts() (of string, adds map[string]int) {
	return TeamHash(b.TeamID), map[string]int{
		SumRounds: 1, SumScore: Millionths(b.EvaluationScore), SumInput: int(b.UsageInfo.InputTokens), SumOutput: int(b.UsageInfo.OutputTokens),
	}
}

// Names of a team's sums.
const (
	SumRounds = "rounds"
	SumScore  = "score_millionths"
	SumInput  = "input_tokens"
	SumOutput = "output_tokens"
)

// ByRank compares rows by the board's order, then by team.
func ByRank(a, b *Board) int {
	return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.TeamID, b.TeamID))
}

// best returns the number of the team's round with the highest score, the later of equal ones, or 0 without rounds.
func best(board []*Board) (number int) {
	score := -1
	for _, b := range board { // sorted by number
		if s := Millionths(b.EvaluationScore); s >= score {
			score, number = s, b.RoundNumber
		}
	}
	return number
}

// onBoard returns the board's row of a round. It keeps the id, team name and creation time of an existing row.
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

// shortened cuts a text to at most most bytes, between characters, and marks the cut with an ellipsis.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return legible.FirstBytes(s, most-len("…")) + "…"
}
