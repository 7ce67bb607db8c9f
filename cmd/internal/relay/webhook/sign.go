// Package webhook sends events as HTTP requests and receives such requests, signed as Standard Webhooks (standardwebhooks.com) has it.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of Standard Webhooks.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const tolerance = 5 * time.Minute // between the clocks of both sides

// key is the key of a secret: what whsec_ precedes in base64, or the bytes of any other text.
func key(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return decoded
		}
	}
	return []byte(secret)
}

// sign returns the signature of a request.
func sign(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// verify says why a request is not signed by the key, in constant time for one that has a signature.
func verify(key []byte, h http.Header, body []byte, now time.Time) error {
	id, timestamp := h.Get(headerID), h.Get(headerTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	switch {
	case id == "" || err != nil:
		return errors.New("webhook-id or webhook-timestamp is missing")
	case math.Abs(now.Sub(time.Unix(seconds, 0)).Seconds()) > tolerance.Seconds():
		return errors.New("webhook-timestamp is more than five minutes off")
	}
	want := []byte(sign(key, id, timestamp, body))
	for _, given := range strings.Fields(h.Get(headerSignature)) {
		if hmac.Equal([]byte(given), want) {
			return nil
		}
	}
	return errors.New("the signature does not match")
}
