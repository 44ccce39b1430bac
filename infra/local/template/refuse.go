package template

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
)

// refusal returns AWS's message for a request that the role does not allow.
func (a Account) refusal(role Role, caller string, q Request, v Verdict) string {
	action, resource := q.Action, q.Resource
	if strings.HasPrefix(action, "sqs:") { // SQS uses lower case
		action = strings.ToLower(action)
	}
	why := "because no identity-based policy allows the " + action + " action"
	if v.Denied != "" {
		why = "with an explicit deny in an identity-based policy"
	}
	if strings.HasPrefix(action, "s3:") {
		resource = `"` + resource + `"`
	}
	who := fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", a.ID, role.Name, caller)
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", who, action, resource, why)
}

// refuse answers a refused call in the form of its service.
func (c call) refuse(w http.ResponseWriter, message string) {
	switch c.service {
	case "s3":
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if c.Method == http.MethodHead {
			return
		}
		body, _ := xml.Marshal(struct { // marshaling strings can't fail
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: "AccessDenied", Message: message})
		w.Write(append([]byte(xml.Header), body...))
	case "lambda":
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		c.answer(w, http.StatusForbidden, map[string]string{"Message": message})
	case "sqs": // clients read the code of the older protocol first
		w.Header().Set("X-Amzn-Query-Error", "AccessDenied;Sender")
		c.answer(w, http.StatusForbidden, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException", "message": message})
	case "dynamodb":
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException", "Message": message})
	default:
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "AccessDeniedException", "Message": message})
	}
}

func (c call) answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", cmp.Or(c.Header.Get("Content-Type"), "application/json"))
	w.WriteHeader(status)
	text, _ := json.Marshal(body) // marshaling strings can't fail
	w.Write(text)
}
