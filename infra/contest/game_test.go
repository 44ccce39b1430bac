package main

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

func TestTheLaterOfATeamsRoundsAndTheEarlierOfTwoTeamsWins(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2025, 11, 5, 10, 0, second, 0, time.UTC) }
	team := func(id string, rounds ...contest.RoundResult) *outcome {
		return &outcome{TeamID: id, Rounds: rounds}
	}
	scored := func(number int, score float64, second int) contest.RoundResult {
		return contest.RoundResult{RoundNumber: number, EvaluationScore: score, CompletedAt: at(second)}
	}
	teams := []*outcome{
		team("late", scored(1, 0.8, 3), scored(2, 0.8, 9)), team("failed"), team("early", scored(1, 0.8, 5), scored(2, 0.7, 6)), team("best", scored(1, 0.9, 20)),
	}
	var got []string
	for _, o := range ranked(teams) {
		got = append(got, fmt.Sprint(o.TeamID, o.best().RoundNumber))
	}
	expect.Is(t, fmt.Sprint(got), "[best1 early1 late2]")
}
