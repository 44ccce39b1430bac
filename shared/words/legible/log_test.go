package legible_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// named returns its text only when it is logged.
type named struct{ text string }

func (n named) LogValue() slog.Value { return slog.StringValue(n.text) }

func TestHandlerMasksAllThatIsLogged(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(legible.MaskingHandler(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelInfo})))
	const who, tel = "hanako@example.com", "090-1234-5678"
	log.With("with", who).WithGroup("group").With("in", tel).Warn("to "+who, "text", tel, "err", errors.Join(errors.New("x"), errors.New(who)),
		"value", named{who}, slog.Group("deep", "tel", tel), "task_id", "01KPGG5320ZBWH9ZGPYASHS0V6", "n", 123456789018)
	got := b.String()
	expect.That(t, !strings.Contains(got, "hanako") && !strings.Contains(got, "1234-56"), "logged %s", got)
	for _, want := range []string{
		`"msg":"to h*****@example.com"`, `"with":"h*****@example.com"`, `"in":"***-****-**78"`, `"text":"***-****-**78"`, `"err":"x\nh*****@example.com"`,
		`"value":"h*****@example.com"`, `"deep":{"tel":"***-****-**78"}`, `"task_id":"01KPGG5320ZBWH9ZGPYASHS0V6"`, `"n":123456789018`,
	} {
		expect.Has(t, got, want, "logged, which lacks")
	}
	expect.That(t, !log.Enabled(context.Background(), slog.LevelDebug), "the level of the next handler is lost")
}

// The standard library's errors quote the text that they could not parse.
func TestAnErrorQuotesNoNumber(t *testing.T) {
	var into struct {
		N int    `json:"n"`
		S string `json:"s"`
		J json.Number
	}
	var errs []error
	for _, text := range []string{`{"s":4500000}`, `{"n":45000.00}`, `{"n":4500000e9}`, `{"J":"4500000 \" yen"}`} {
		errs = append(errs, json.Unmarshal([]byte(text), &into))
	}
	_, err := strconv.Atoi("4500000円")
	errs = append(errs, err)
	_, err = time.Parse(time.DateOnly, "4500000")
	errs = append(errs, err, fmt.Errorf("read it: %w", errs[0]))
	for _, err := range errs {
		var b bytes.Buffer
		slog.New(legible.MaskingHandler(slog.NewJSONHandler(&b, nil))).Error("x", "err", err, "text", err.Error())
		if err == nil || strings.Contains(b.String(), "45000") || strings.Count(b.String(), "…") != 2 {
			t.Errorf("%v: logged %s", err, &b)
		}
	}
}
