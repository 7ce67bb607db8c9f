//go:build clouds

package cloud

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// amazon is a server that answers batches of SQS and SNS. It keeps the messages but those with a text, which fail.
type amazon struct {
	sync.Mutex
	fails map[string]string // code by text
	kept  map[string]int
}

type entry struct{ ID, Body, Code string }

func (a *amazon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "SendMessageBatch") {
		_ = r.ParseForm()
		fmt.Fprint(w, a.publish(r.Form))
		return
	}
	var batch struct {
		Entries []struct{ Id, MessageBody string } //nolint:revive // Amazon's name
	}
	_ = json.NewDecoder(r.Body).Decode(&batch)
	stored, failed := []map[string]any{}, []map[string]any{}
	for _, e := range batch.Entries {
		if code := a.keep(e.MessageBody); code != "" {
			failed = append(failed, map[string]any{"Id": e.Id, "Code": code, "Message": "no", "SenderFault": true})
		} else {
			stored = append(stored, map[string]any{"Id": e.Id, "MessageId": e.Id, "MD5OfMessageBody": fmt.Sprintf("%x", md5.Sum([]byte(e.MessageBody)))})
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(w).Encode(map[string]any{"Successful": stored, "Failed": failed})
}

func (a *amazon) publish(form url.Values) string {
	stored, failed := "", ""
	for n := 1; ; n++ {
		prefix := fmt.Sprintf("PublishBatchRequestEntries.member.%d.", n)
		id := form.Get(prefix + "Id")
		if id == "" {
			break
		}
		if code := a.keep(form.Get(prefix + "Message")); code != "" {
			failed += fmt.Sprintf("<member><Id>%s</Id><Code>%s</Code><Message>no</Message><SenderFault>true</SenderFault></member>", id, code)
		} else {
			stored += fmt.Sprintf("<member><Id>%s</Id><MessageId>%[1]s</MessageId></member>", id)
		}
	}
	return `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult><Failed>` + failed + "</Failed><Successful>" + stored +
		"</Successful></PublishBatchResult></PublishBatchResponse>"
}

func (a *amazon) keep(body string) (code string) {
	a.Lock()
	defer a.Unlock()
	for text, code := range a.fails {
		if strings.Contains(body, text) {
			return code
		}
	}
	a.kept[body]++
	return ""
}

// TestPartialFailures has batches in which some messages fail, and the others are kept.
func TestPartialFailures(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	for _, address := range []string{"awssqs://sqs.eu-west-1.amazonaws.com/123/shop?", "awssns:///arn:aws:sns:eu-west-1:123:shop?"} {
		cloud := &amazon{fails: map[string]string{`"text":"refused"`: "InvalidMessageContents", `"text":"later"`: "InternalError"}, kept: map[string]int{}}
		server := httptest.NewServer(cloud)
		sink, err := NewSink(relaytest.Context(t), &config.Cloud{URL: address + "region=eu-west-1&endpoint=" + url.QueryEscape(server.URL)})
		if err != nil {
			t.Fatal(err)
		}
		documents := relaytest.Documents(t, wire.Native, "", relaytest.Events(9, 40))
		documents[3].Body, documents[21].Body = []byte(`{"text":"refused"}`), []byte(`{"text":"later"}`)
		for i, err := range sink.Send(relaytest.Context(t), documents) {
			if wire.IsRejected(err) != (i == 3) || (err != nil) != (i == 3 || i == 21) {
				t.Error(address, i, err)
			}
		}
		for i, d := range documents {
			if n := cloud.kept[string(d.Body)]; (n > 0) != (i != 3 && i != 21) || n > 2 {
				t.Errorf("%s: %d is there %d times", address, i, n)
			}
		}
		if err := sink.Close(relaytest.Context(t)); err != nil {
			t.Fatal(err)
		}
		server.Close()
	}
}
