package ui

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"path"
	"slices"
)

//go:embed static
var static embed.FS

var pages = template.Must(template.ParseFS(static, "static/*.html"))

// files are served to everybody: they hold nothing of the database.
var files = []string{"style.css", "app.js", "dom.js", "tables.js", "detail.js", "icon.svg"}

var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func isPublic(name string) bool {
	return slices.Contains(files, path.Base(name)) && path.Dir(name) == "/static"
}

// public serves files, and the form that asks for the token.
func (s *Server) public() http.Handler {
	paths := http.NewServeMux()
	paths.HandleFunc("GET /static/{file}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		text, err := static.ReadFile("static/" + name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", types[path.Ext(name)])
		_, _ = w.Write(text)
	})
	paths.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		if s.guard.admits(r) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		show(w, http.StatusOK, "login.html", map[string]any{"Wrong": false})
	})
	paths.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 4096)
		if !isOwn(r) || !s.guard.enter(w, r.PostFormValue("token")) {
			show(w, http.StatusUnauthorized, "login.html", map[string]any{"Wrong": true})
			return
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	return paths
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	show(w, http.StatusOK, "index.html", map[string]any{"Actions": s.options.Actions})
}

func show(w http.ResponseWriter, code int, name string, data any) {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, data); err != nil {
		fail(w, http.StatusInternalServerError, "the page cannot be made")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text.Bytes())
}
