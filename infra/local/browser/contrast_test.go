package browser

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// legible is the least contrast of text that the Web Content Accessibility Guidelines ask for at level AA.
const legible = 4.5

// TestColorsOfTextAreLegible: in each theme of the console and the sandbox, a color is legible on its soft one, as a
// chip or a badge has it, and on the backgrounds of the page. No page has every state of every chip for axe to find.
func TestColorsOfTextAreLegible(t *testing.T) {
	root := regexp.MustCompile(`(?s):root \{(.*?)\}`)
	color := regexp.MustCompile(`(--[\w-]+): (#[0-9a-f]+);`)
	for _, path := range []string{"../../../functions/serve-console/web/ui/console.css", "../sandbox/ui/style.css"} {
		css := string(expect.Value(os.ReadFile(path))(t))
		themes := root.FindAllStringSubmatch(css, -1)
		expect.Must(t, len(themes) == 2, "%s has %d themes", path, len(themes))
		known := map[string]string{}
		for i, theme := range themes { // the dark one replaces colors of the light one
			for _, c := range color.FindAllStringSubmatch(theme[1], -1) {
				known[c[1]] = c[2]
			}
			pairs := 0
			for _, name := range []string{"--good", "--bad", "--wait", "--calm", "--mention", "--ink", "--ink-2", "--link"} {
				for _, on := range []string{name + "-soft", "--bg", "--raised", "--bg-raised", "--soft", "--bg-soft", "--bg-hover"} {
					if known[name] == "" || known[on] == "" {
						continue
					}
					pairs++
					got := contrast(t, known[name], known[on])
					expect.That(t, got >= legible, "%s, theme %d: %s on %s has a contrast of %.2f", path, i, name, on, got)
				}
			}
			expect.That(t, pairs > 15, "%s, theme %d: %d pairs", path, i, pairs)
		}
	}
}

// contrast is the ratio of two colors' luminances by the guidelines' formula.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, color string) (sum float64) {
	t.Helper()
	hex := strings.TrimPrefix(color, "#")
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := float64(expect.Value(strconv.ParseUint(hex[2*i:2*i+2], 16, 8))(t)) / 255
		if n <= 0.04045 {
			n /= 12.92
		} else {
			n = math.Pow((n+0.055)/1.055, 2.4)
		}
		sum += weight * n
	}
	return sum
}
