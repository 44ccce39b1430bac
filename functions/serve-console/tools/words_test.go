package tools

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/words/language"
)

// What a server does wrong is said in words of its own, each of them another text.
func TestEveryFaultOfAServersToolHasWords(t *testing.T) {
	for _, locale := range language.All {
		texts := toolsTexts{web.TextsOf("tools", locale)}
		for _, part := range unfit {
			if said := texts.unfit("… " + part[0] + " …"); said == "" || said != texts.In("unfit", part[1]) {
				t.Errorf("%s says %q for %q", locale, said, part[0])
			}
		}
	}
}
