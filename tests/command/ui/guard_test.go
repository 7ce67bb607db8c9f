package ui

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

// TestReadOnly has no actions unless they are allowed.
func TestReadOnly(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN())
	for _, path := range []string{"/api/replay", "/api/discard", "/api/pause", "/api/resume"} {
		if code, text := s.act(path, `{"inbox": "mail", "ids": ["one"]}`); code != 404 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for _, path := range []string{"/", "/api/status", "/api/history"} {
		if answer, _ := s.request("POST", path, "{}", s.own()...); answer.StatusCode != 405 {
			t.Errorf("POST %s: %d", path, answer.StatusCode)
		}
	}
	if pgtest.One[int](t, db, "select count(*) from pgtrickle.mail_dlq") != 1 {
		t.Error("a dead letter was replayed")
	}
}

// TestHost answers to names of this machine only, so that a name of somebody else's that leads here reads nothing.
func TestHost(t *testing.T) {
	pgtest.Parallel(t)
	s := start(t, database(t).DSN(), "--allow-actions")
	for host, code := range map[string]int{
		"localhost": 200, "localhost:1": 200, "LOCALHOST:80": 200, "127.0.0.1": 200, "127.8.8.8:9": 200, "[::1]:80": 200, "[::1]": 200,
		"evil.example": 403, "evil.example:8765": 403, "localhost.evil.example": 403, "127.0.0.1.nip.io": 403, "10.0.0.1": 403, "0.0.0.0": 403, "[::]": 403,
	} {
		for _, path := range []string{"/api/status", "/", "/static/app.js"} {
			if answer, _ := s.request("GET", path, "", "Host", host); answer.StatusCode != code {
				t.Errorf("%s of host %s: %d and not %d", path, host, answer.StatusCode, code)
			}
		}
	}
}

// TestForgery refuses requests that pages of others can make a browser send.
func TestForgery(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN(), "--allow-actions")
	const body = `{"inbox": "mail", "ids": ["one"]}`
	for name, headers := range map[string][]string{
		"a form":                {"Content-Type", "application/x-www-form-urlencoded", "Origin", s.url},
		"text":                  {"Content-Type", "text/plain", "X-Sluice-Action", "1", "Origin", s.url},
		"no header":             {"Content-Type", "application/json", "Origin", s.url},
		"no origin":             {"Content-Type", "application/json", "X-Sluice-Action", "1"},
		"origin null":           {"Content-Type", "application/json", "X-Sluice-Action", "1", "Origin", "null"},
		"another origin":        {"Content-Type", "application/json", "X-Sluice-Action", "1", "Origin", "http://evil.example"},
		"another port":          {"Content-Type", "application/json", "X-Sluice-Action", "1", "Origin", "http://127.0.0.1:1"},
		"another scheme":        {"Content-Type", "application/json", "X-Sluice-Action", "1", "Origin", strings.Replace(s.url, "http:", "https:", 1)},
		"a site that says so":   append(s.own(), "Sec-Fetch-Site", "cross-site"),
		"a server of localhost": append(s.own(), "Sec-Fetch-Site", "same-site"),
	} {
		if answer, text := s.request("POST", "/api/replay", body, headers...); answer.StatusCode != 403 {
			t.Errorf("%s: %d %s", name, answer.StatusCode, text)
		}
	}
	if pgtest.One[int](t, db, "select count(*) from pgtrickle.mail_dlq") != 1 {
		t.Error("a dead letter was replayed")
	}
	if answer, _ := s.request("GET", "/api/status", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"); answer.StatusCode != 403 {
		t.Errorf("a page of others reads the status: %d", answer.StatusCode)
	}
	for path, code := range map[string]int{"/": 200, "/login": 303, "/api/status": 403} {
		if answer, _ := s.request("GET", path, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); answer.StatusCode != code {
			t.Errorf("a link from elsewhere to %s: %d", path, answer.StatusCode)
		}
	}
	if code, text := s.act("/api/replay", body); code != 200 {
		t.Errorf("the page's own request: %d %s", code, text)
	}
}

// TestHeaders says to browsers that nothing of others has a place in the page, nor the page in one of theirs.
func TestHeaders(t *testing.T) {
	pgtest.Parallel(t)
	s := start(t, database(t).DSN())
	for _, path := range []string{"/", "/login", "/api/status", "/static/app.js", "/api/none"} {
		answer, text := s.request("GET", path, "")
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin",
		} {
			if got := answer.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" || answer.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", path, answer.Header)
		}
		if strings.Contains(text, "style=") || strings.Contains(text, "innerHTML") {
			t.Errorf("%s has styles or HTML within", path)
		}
	}
}

// TestToken shows nothing of the database to those who do not know the token.
func TestToken(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN(), "--allow-actions", "--token", "env:SLUICE_TEST_TOKEN")
	for _, path := range []string{"/api/status", "/api/history", "/api/dead-letters?inbox=mail", "/api/explain?name=public.sums"} {
		for name, headers := range map[string][]string{
			"nothing": nil, "another": {"Authorization", "Bearer " + token + "x"}, "a part": {"Authorization", "Bearer " + token[:10]}, "empty": {"Authorization", "Bearer "},
			"basic": {"Authorization", "Basic " + token}, "a cookie": {"Cookie", "sluice_ui=" + token}, "an empty cookie": {"Cookie", "sluice_ui="},
		} {
			if answer, text := s.request("GET", path, "", headers...); answer.StatusCode != 401 || strings.Contains(text, "mail") {
				t.Errorf("%s with %s: %d %s", path, name, answer.StatusCode, text)
			}
		}
		if answer, _ := s.request("GET", path, "", "Authorization", "Bearer "+token); answer.StatusCode != 200 {
			t.Errorf("%s with the token: %d", path, answer.StatusCode)
		}
	}
	if code, _ := s.act("/api/pause", `{"inbox": "mail"}`); code != 401 {
		t.Errorf("an action without the token: %d", code)
	}
	if answer, _ := s.request("GET", "/api/status?token="+token, ""); answer.StatusCode != 401 {
		t.Errorf("the token in a URL, which logs keep: %d", answer.StatusCode)
	}
	answer, _ := s.request("GET", "/", "")
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/login" {
		t.Errorf("the page: %d %v", answer.StatusCode, answer.Header)
	}

	form := url.Values{"token": {token}}.Encode()
	login := func(body, origin string) *http.Response {
		answer, _ := s.request("POST", "/login", body, "Content-Type", "application/x-www-form-urlencoded", "Origin", origin)
		return answer
	}
	if answer := login("token=wrong", s.url); answer.StatusCode != 401 || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d", answer.StatusCode)
	}
	if answer := login(form, "http://evil.example"); answer.StatusCode != 401 || answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("the form of another site: %d", answer.StatusCode)
	}
	entered := login(form, s.url)
	cookies := entered.Cookies()
	if entered.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || strings.Contains(cookies[0].Value, token) {
		t.Fatalf("the token: %d %v", entered.StatusCode, cookies)
	}
	given := cookies[0].Name + "=" + cookies[0].Value
	if answer, _ := s.request("GET", "/api/status", "", "Cookie", given); answer.StatusCode != 200 {
		t.Errorf("with the cookie: %d", answer.StatusCode)
	}
	if answer, text := s.request("POST", "/api/pause", `{"inbox": "mail"}`, append(s.own(), "Cookie", given)...); answer.StatusCode != 200 {
		t.Errorf("an action with the cookie: %d %s", answer.StatusCode, text)
	}
	if said := s.out.String() + s.log.String(); strings.Contains(said, token) {
		t.Errorf("the token is printed: %s", said)
	}
}

// TestListen refuses to serve others without a token, and tokens that others can see or guess.
func TestListen(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"give --token":              {"--listen", "0.0.0.0:0"},
		"is no loopback address":    {"--listen", ":0"},
		"[::]:0":                    {"--listen", "[::]:0"},
		"16 characters":             {"--token", "file:" + short},
		"not the token itself":      {"--token", "s3cret-s3cret-s3cret"},
		"holds nothing":             {"--token", "env:SLUICE_TEST_NONE"},
		"no such file":              {"--token", "file:" + short + "er"},
		"missing port":              {"--listen", "127.0.0.1"},
		"--log-format is text or j": {"--log-format", "xml"},
	} {
		cmd := program.Command(t, append([]string{"ui", "--schema", "pgtrickle", "--dsn", db.DSN()}, args...)...)
		text, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(text), want) || strings.Contains(string(text), "s3cret") {
			t.Errorf("%v: %v %s", args, err, text)
		}
	}
	cmd := program.Command(t, "ui", "--schema", "nothing", "--dsn", db.DSN())
	if text, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(text), "nothing is installed in schema nothing") {
		t.Errorf("%v %s", err, text)
	}
	s := start(t, db.DSN(), "--listen", "0.0.0.0:0", "--token", "env:SLUICE_TEST_TOKEN")
	for host, code := range map[string]int{"10.1.2.3": 200, "localhost": 200, "evil.example": 403} {
		if answer, _ := s.request("GET", "/api/status", "", "Host", host, "Authorization", "Bearer "+token); answer.StatusCode != code {
			t.Errorf("host %s: %d and not %d", host, answer.StatusCode, code)
		}
	}
}
