package turn

import (
	"path"
	"strings"

	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

var (
	demoFile = lazy.Regexp{Text: `(?i)ファイルを(?:作|書)|(?:make|write|create)\s+(?:me\s+)?a\s+(?:new\s+)?file`}
	// demoName matches the name of a file that is to be made.
	demoName = lazy.Regexp{Text: `(?i)(?:make|write|create)\s+(?:me\s+)?(?:(?:a|the)\s+)?(?:new\s+)?(?:file\s+)?(?:(?:called|named)\s+)?[“"'` + "`" + `]?` + fileName + `|[「“"'` + "`" + `]?` + fileName + `[」”"'` + "`" + `]?\s*(?:という(?:名前の)?(?:ファイル)?|のファイル)?\s*を\s*(?:作|書|新規)`}
	// demoBody matches the text of a file that a person wrote: in a fence, or behind a colon or in quotation marks.
	demoBody = lazy.Regexp{Text: "(?s)```(?:[a-z]+\n)?(.*?)```|[:：][ \t]*\n?(.*)$|「([^」]+)」を(?:書|入れ)|\\bwith\\s+[“\"]([^”\"]+)[”\"]"}
)

const fileName = `([\p{L}\p{N}_][\p{L}\p{N}_./-]*\.[A-Za-z][A-Za-z0-9]{0,9})`

// demoNamed returns the file that a message names and what is to stand in it; false: it asks for no file by name.
func demoNamed(text string, ja bool) (name, content string, ok bool) {
	at := demoName.Get().FindStringSubmatchIndex(text)
	if at == nil {
		return "", "", false
	}
	group := 2
	if at[group] < 0 {
		group = 4
	}
	name = text[at[group]:at[group+1]]
	if strings.Contains(name, "..") || strings.Contains(name, "//") {
		return "", "", false
	}
	if m := demoBody.Get().FindStringSubmatch(text[at[1]:]); m != nil {
		if body := strings.Trim(strings.Join(m[1:], ""), "\n "); body != "" {
			return name, body + "\n", true
		}
	}
	return name, demoContent(name, text, ja), true
}

// demoWrites proposes one file. Each time it ends in one more blank line, so that there is a change to approve.
func demoWrites(file, content, summary string, said []model.Message) string {
	return `{"files":[{"path":` + quoted(file) + `,"content":` + quoted(content+strings.Repeat("\n", demoTimes(said))) +
		`}],"edits":[],"delete":[],"summary":` + quoted(summary) + `}`
}

// demoContent is what the demo writes into a file: its draft on the topic that the message names, or a small program or
// text by the file's ending.
func demoContent(name, text string, ja bool) string {
	locale := language.English
	if ja {
		locale = language.All[0]
	}
	ending := strings.ToLower(path.Ext(name))
	if d, knows := demo.DraftsIn(locale).Knows(text); knows && (ending == ".md" || ending == ".txt") {
		lines := d.Text(0, 1)
		return "# " + lines[0] + "\n\n" + lines[1] + "\n\n" + strings.Join(lines[2:], "\n") + "\n"
	}
	if sample := demoSamples[ending]; sample != "" {
		return sample
	}
	title := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if ja {
		return "# " + title + "\n\n- 目的: \n- 対象: \n- 期限: \n- 担当: \n"
	}
	return "# " + title + "\n\n- Purpose: \n- Scope: \n- Due: \n- Owner: \n"
}

// demoSamples are small files, by their ending. Programs greet whoever is named after them.
var demoSamples = map[string]string{
	".py": "import sys\n\n\ndef hello(name: str) -> str:\n    return f\"Hello, {name}\"\n\n\n" +
		"if __name__ == \"__main__\":\n    print(hello(sys.argv[1] if len(sys.argv) > 1 else \"Ringi\"))\n",
	".js": "const hello = (name) => `Hello, ${name}`;\n\n" +
		"if (require.main === module) console.log(hello(process.argv[2] ?? 'Ringi'));\n\nmodule.exports = { hello };\n",
	".sh":   "#!/bin/sh\necho \"Hello, ${1:-Ringi}\"\n",
	".go":   "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tname := \"Ringi\"\n\tif len(os.Args) > 1 {\n\t\tname = os.Args[1]\n\t}\n\tfmt.Println(\"Hello,\", name)\n}\n",
	".json": "{\n  \"name\": \"sample\",\n  \"items\": [1, 2, 3]\n}\n",
	".csv":  "date,item,amount\n2026-11-02,train,480\n2026-11-05,taxi,1960\n2026-11-09,hotel,11800\n",
	".html": "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Hello</title>\n<h1>Hello, Ringi</h1>\n</html>\n",
	".yaml": "name: sample\nitems:\n  - 1\n  - 2\n",
	".yml":  "name: sample\nitems:\n  - 1\n  - 2\n",
	".sql":  "SELECT department, count(*) AS people FROM employees GROUP BY department ORDER BY people DESC;\n",
}
