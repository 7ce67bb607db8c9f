package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// action is the header that requests for actions have. Forms cannot send it, and scripts of other origins may not.
const action = "X-Sluice-Action"

// cookie has what proves that a visitor knew the token.
const cookie = "sluice_ui"

// guard decides which requests are answered.
type guard struct {
	host   string // that the server listens on
	token  string // empty: none is needed
	ticket string // of visitors who knew the token, of this process alone
}

func newGuard(host, token string) *guard {
	return &guard{host: host, token: token, ticket: rand.Text()}
}

// loopback reports whether a host is this machine and no other.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// wrap answers requests that are in order by next; login is for those that know no token.
func (g *guard) wrap(next, login http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		switch {
		case !g.knows(r.Host):
			fail(w, http.StatusForbidden, "this server does not have the name that the request gives")
		case isForeign(r):
			fail(w, http.StatusForbidden, "the request comes from another site")
		case r.URL.Path == "/login" || isPublic(r.URL.Path):
			login.ServeHTTP(w, r)
		case g.admits(r):
			next.ServeHTTP(w, r)
		case r.URL.Path == "/":
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, "the token is missing or wrong")
		}
	})
}

// protect says to browsers what pages may do: nothing but use what comes from here.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers give forms the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// knows reports whether a Host header names this server. Names of others that lead here may be theirs who want to read the page (DNS rebinding); addresses
// lead nowhere else.
func (g *guard) knows(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]")
	}
	if loopback(host) || g.host != "" && strings.EqualFold(host, g.host) {
		return true
	}
	listens, asked := net.ParseIP(g.host), net.ParseIP(host)
	everywhere := g.host == "" || listens != nil && listens.IsUnspecified()
	return asked != nil && (everywhere || listens != nil && listens.Equal(asked))
}

// isForeign reports whether a browser says that a page of another site asks, and not for the page itself, to which others may link, or for the form that it
// leads to.
func isForeign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if (r.URL.Path == "/" || r.URL.Path == "/login") && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return false
	}
	return site == "cross-site" || site == "same-site"
}

// admits reports whether a request comes with the token, or with what it was exchanged for.
func (g *guard) admits(r *http.Request) bool {
	if g.token == "" {
		return true
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(bearer, g.token)
	}
	given, err := r.Cookie(cookie)
	return err == nil && same(given.Value, g.ticket)
}

// isOwn reports whether a page of this server asks for an action.
func isOwn(r *http.Request) bool {
	return r.Header.Get("Origin") == "http://"+r.Host
}

// enter exchanges the token for a cookie.
func (g *guard) enter(w http.ResponseWriter, given string) bool {
	if g.token == "" || !same(given, g.token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: g.ticket, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return true
}

// same compares in a time that says nothing of where texts differ, nor of their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
