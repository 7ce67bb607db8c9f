package webhook

import "strings"

// isEncoded reports whether a header is one of a format, whose value is percent-encoded.
func isEncoded(name string) bool {
	return strings.HasPrefix(name, "ce-") || strings.HasPrefix(name, "event-")
}

// isOfEvent tells the headers that an event may have from those that are about the request, both ways.
func isOfEvent(name string) bool {
	for _, prefix := range []string{"x-forwarded-", "x-real-", "x-original-", "x-rewrite-", "x-http-method"} { // which proxies and servers obey
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	switch name {
	case "traceparent", "tracestate", "baggage":
		return true
	}
	return isEncoded(name) || strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "dead-letter-")
}
