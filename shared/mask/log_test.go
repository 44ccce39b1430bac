package mask_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"ringi/shared/mask"
)

// named gives its text only when it is logged.
type named struct{ text string }

func (n named) LogValue() slog.Value { return slog.StringValue(n.text) }

func TestHandlerMasksAllThatIsLogged(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(mask.Handler(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelInfo})))
	const who, tel = "hanako@example.com", "090-1234-5678"
	log.With("with", who).WithGroup("group").With("in", tel).Warn("to "+who, "text", tel, "err", errors.Join(errors.New("x"), errors.New(who)),
		"value", named{who}, slog.Group("deep", "tel", tel), "task_id", "01KPGG5320ZBWH9ZGPYASHS0V6", "n", 123456789018)
	got := b.String()
	if strings.Contains(got, "hanako") || strings.Contains(got, "1234-56") {
		t.Errorf("logged %s", got)
	}
	for _, want := range []string{
		`"msg":"to h*****@example.com"`, `"with":"h*****@example.com"`, `"in":"***-****-**78"`, `"text":"***-****-**78"`, `"err":"x\nh*****@example.com"`,
		`"value":"h*****@example.com"`, `"deep":{"tel":"***-****-**78"}`, `"task_id":"01KPGG5320ZBWH9ZGPYASHS0V6"`, `"n":123456789018`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("logged %s, which lacks %s", got, want)
		}
	}
	if log.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("the level of the next handler is lost")
	}
}
