package settings

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/words/language"
)

// Each fault has a text of its own.
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
